/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * siterules.h - what the rules and the operator say of a URL that is about to be asked for, be it a
 * request's or robots.txt. Pure, but hostblocks are the loop's.
 */
#pragma once
#include "worker/rules/hostrules.h"
#include "worker/rules/urlrules.h"

/* A block of the URL's host comes first, as an entry of the blocklist. Any of the rules may be
 * NULL. `why` is borrowed from the rules, or from the blocks until they are set anew. */
struct ing_url_finding ing_site_judge(const struct ing_urlrules *urlrules,
	const struct ing_hostblocks *hostblocks, const char *url);
/* May the certificate of the URL's host go unverified? `otherwise`: where hostrules do not say. */
bool ing_site_tls_fallback(const struct ing_hostrules *hostrules, bool otherwise, const char *url);
