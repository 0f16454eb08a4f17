/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_policy.h - whether a URL may be fetched, by the URL rules and the hosts that are blocked, and
 * how its certificate is checked. Asked before each fetch, robots.txt included.
 *
 * Pure functions; blocked hosts belong to the loop.
 */
#pragma once
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"

/* Returns the decision on a URL. A blocked host counts as an entry of the blocklist and is looked
 * at first. Any of the rules may be NULL. `detail` is borrowed from the rules, or from the blocked
 * hosts until they are set anew. */
struct ing_url_decision ing_url_policy_decide(const struct ing_url_rules *url_rules,
	const struct ing_blocked_hosts *blocked_hosts, const char *url);
/* Returns whether the transfer may be repeated without checking the host's certificate;
 * `otherwise` where the host rules do not say. */
bool ing_url_policy_tls_fallback(
	const struct ing_host_rules *host_rules, bool otherwise, const char *url);
