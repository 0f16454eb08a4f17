/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions to several sets of rules at once. No state.
 */
#include "worker/rules/siterules.h"

#include "common/net/url.h"

struct ing_url_finding ing_site_judge(const struct ing_urlrules *urlrules,
	const struct ing_hostblocks *hostblocks, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	if (hostblocks != NULL && ing_url_host(url, host, sizeof(host))) {
		const char *why = ing_hostblocks_find(hostblocks, host);
		if (why != NULL)
			return (struct ing_url_finding){.verdict = ING_URL_BLOCKLIST, .why = why};
	}
	return ing_urlrules_judge(urlrules, url);
}

bool ing_site_tls_fallback(const struct ing_hostrules *hostrules, bool otherwise, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	const struct ing_host_rule *rule = NULL;
	if (hostrules != NULL && ing_url_host(url, host, sizeof(host)))
		rule = ing_hostrules_find(hostrules, host);
	if (rule == NULL || rule->tls_fallback == ING_CHOICE_UNSAID)
		return otherwise;
	return rule->tls_fallback == ING_CHOICE_YES;
}
