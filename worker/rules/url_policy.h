/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_policy.h - what the rules and the operator say of a URL that is about to be asked for, be it
 * a request's or robots.txt. Pure, but blocked_hosts are the loop's.
 */
#pragma once
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"

/* A block of the URL's host comes first, as an entry of the blocklist. Any of the rules may be
 * NULL. `why` is borrowed from the rules, or from the blocks until they are set anew. */
struct ing_url_decision ing_url_policy_decide(const struct ing_url_rules *url_rules,
	const struct ing_blocked_hosts *blocked_hosts, const char *url);
/* May the certificate of the URL's host go unverified? `otherwise`: where host_rules do not say. */
bool ing_url_policy_tls_fallback(
	const struct ing_host_rules *host_rules, bool otherwise, const char *url);
