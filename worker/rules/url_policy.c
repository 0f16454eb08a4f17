/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looks a URL up in several sets of rules. No state.
 */
#include "worker/rules/url_policy.h"

#include "common/net/url.h"

struct ing_url_decision ing_url_policy_decide(const struct ing_url_rules *url_rules,
	const struct ing_blocked_hosts *blocked_hosts, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	if (blocked_hosts != NULL && ing_url_host(url, host, sizeof(host))) {
		const char *why = ing_blocked_hosts_find(blocked_hosts, host);
		if (why != NULL)
			return (struct ing_url_decision){
				.rule = ING_URL_RULE_BLOCKLIST, .detail = why};
	}
	return ing_url_rules_decide(url_rules, url);
}

bool ing_url_policy_tls_fallback(
	const struct ing_host_rules *host_rules, bool otherwise, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	const struct ing_host_rule *rule = NULL;
	if (host_rules != NULL && ing_url_host(url, host, sizeof(host)))
		rule = ing_host_rules_find(host_rules, host);
	if (rule == NULL || rule->tls_fallback == ING_CHOICE_UNSET)
		return otherwise;
	return rule->tls_fallback == ING_CHOICE_YES;
}
