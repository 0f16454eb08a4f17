/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules.h - what the files of `ingestctl rules` and `scrape` share: the configured rules with the
 * user's own files behind them. One thread.
 */
#pragma once
#include "common/base/report.h"
#include "worker/ctl/ctl.h"
#include "worker/rules/rule_files.h"

struct ing_host_rules;
struct ing_rules;
struct ing_url_rules;

/* The arguments of --journals and --webpages, in the order in which they were given. */
struct ing_ctl_rule_options {
	struct {
		enum ing_rule_kind kind;
		const char *path;
	} items[ING_MAX_RULE_FILES];
	size_t count;
	bool filters;  /* read the lists of resources.filters, too */
	bool thorough; /* warn of slow regular expressions: takes seconds */
};

struct ing_ctl_rules {
	struct ing_rule_files files;
	struct ing_report report;     /* sorted */
	struct ing_rules *rules;      /* NULL: errors */
	struct ing_url_rules *urls;   /* NULL: errors */
	struct ing_host_rules *hosts; /* NULL: errors */
};

/* Note one --journals or --webpages. False, with a message, when there are too many. */
bool ing_ctl_rules_option(
	struct ing_ctl_rule_options *o, enum ing_rule_kind kind, const char *path);
/* Read the files of rules.dir and the options, load and check them. ING_CTL_OK also when there are
 * errors in them; another exit code, with a message, when they cannot be read. Release with
 * ing_ctl_rules_done() in any case. */
int ing_ctl_rules_load(const struct ing_ctl *ctl, const struct ing_ctl_rule_options *o,
	const char *verb, struct ing_ctl_rules *ret);
void ing_ctl_rules_done(struct ing_ctl_rules *r);

/* rules_test.c: run all tests, or those of the entries named; failures and a summary go to stdout.
 * An exit code. */
int ing_ctl_rules_test(const struct ing_ctl_rules *r, char *const *names, size_t count);
