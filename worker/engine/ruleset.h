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
	uint64_t digest;                   /* of all the files */
	int fd;                            /* the files, for ing_pool_conf.rules_fd; -1: none */
};

/* Load the rule files of a folder, each of which may be absent, and filter lists (NULL-terminated; NULL:
 * none), which may not, and are only passed on. The report (initialised by the caller) gets all errors and
 * warnings. Returns 0; -CONFIG when there are errors, no such folder or list; -SYSTEM and others, with
 * nothing in the report. On failure err is set and *ret is empty. */
int ing_ruleset_load(const char *dir, char *const *filters, struct ing_ruleset *ret,
	struct ing_report *report, struct ing_error *err) ING_MUST_CHECK;
void ing_ruleset_done(struct ing_ruleset *set); /* NULL members are fine; may be repeated */
size_t ing_ruleset_count(const struct ing_ruleset *set);

/* Log every line of a report at its level, as FILE:LINE:COLUMN: TEXT. */
void ing_ruleset_log_report(const struct ing_report *report);
