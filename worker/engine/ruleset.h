/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ruleset.h - all rules of a folder as the worker holds them: loaded and checked, with their names,
 * asked about URLs and hosts, and ready to be passed to examiners.
 *
 * Owns everything in it. Loading has no side effects, so a set can be made beside the one in use.
 * One thread at a time.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/report.h"

struct ing_host_rules;
struct ing_rules;
struct ing_url_rules;

struct ing_ruleset {
	struct ing_rules *rules;           /* journals, webpages, links, sites, wall signatures */
	struct ing_url_rules *url_rules;   /* blocklist, walls by their URLs */
	struct ing_host_rules *host_rules; /* hosts.yaml */
	int fd;                            /* the files, for ing_pool_conf.rules_fd; -1: none */
};

/* Load the rule files of a folder; each may be absent. The report (initialised by the caller) gets
 * all errors and warnings. Returns 0; -CONFIG when there are errors or no such folder; -SYSTEM and
 * others, with nothing in the report. On failure err is set and *ret is empty. */
int ing_ruleset_load(const char *dir, struct ing_ruleset *ret, struct ing_report *report,
	struct ing_error *err) ING_MUST_CHECK;
/* The same with filter lists (NULL-terminated; NULL: none), which are only passed on; -NOT_FOUND when one
 * of them is not there. */
int ing_ruleset_load_filtered(const char *dir, char *const *filters, struct ing_ruleset *ret,
	struct ing_report *report, struct ing_error *err) ING_MUST_CHECK;
void ing_ruleset_done(struct ing_ruleset *set); /* NULL members are fine; may be repeated */
size_t ing_ruleset_count(const struct ing_ruleset *set);

/* Log every line of a report at its level, as FILE:LINE:COLUMN: TEXT. */
void ing_ruleset_log_report(const struct ing_report *report);
