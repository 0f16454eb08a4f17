/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ruleset.h - the rules of a folder as the worker holds them: read once, loaded to be checked,
 * named and asked about URLs, and ready to be handed to examiners.
 *
 * Owns everything in it. Loading touches nothing else, so a set can be made beside the one in use.
 * One thread at a time.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/report.h"

struct ing_host_rules;
struct ing_rules;
struct ing_url_rules;

struct ing_ruleset {
	struct ing_rules *rules; /* journals, webpages, links, sites, walls by their looks */
	struct ing_url_rules *url_rules;   /* blocklist, walls by their URLs */
	struct ing_host_rules *host_rules; /* what is said of single hosts */
	int fd;                            /* the files, for ing_pool_conf.rules_fd; -1: none */
};

/* Load all that is in a folder, each file of which may be absent. -CONFIG: what is wrong is in the
 * report (initialised by the caller, who also has its warnings), all of it, or there is no such
 * folder; -SYSTEM and others: err says why, the report nothing. On failure *ret is empty. */
int ing_ruleset_load(const char *dir, struct ing_ruleset *ret, struct ing_report *report,
	struct ing_error *err) ING_MUST_CHECK;
void ing_ruleset_done(struct ing_ruleset *set); /* zeroed or done before is fine */
size_t ing_ruleset_count(const struct ing_ruleset *set);

/* Every line of a report to the log, at its level: FILE:LINE:COLUMN: TEXT. */
void ing_ruleset_log_report(const struct ing_report *report);
