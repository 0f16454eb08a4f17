/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_rules.h - which URLs are not fetched: the blocklist, and login walls, captchas, bot
 * challenges and cookie pages that are known by their URLs. The format of the files is in
 * rules/README.md. Entries of walls.yaml that look at the page itself are in
 * worker/scrape/rules/wall_signatures.h.
 *
 * Owns the rules of blocklist.yaml and walls.yaml. They do not change once loaded: any thread. A
 * decision costs one parse of the URL, one hash look-up for each label of its host, and a walk over
 * the short list of rules that hold for every host.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct ing_report;
struct ing_rule_files;
struct ing_url_pattern;
struct ing_url_test;
struct ing_url_rules;

/* The kind of rule that matched. When several match, the first of these counts. */
enum ing_url_rule_kind {
	ING_URL_RULE_BLOCKLIST = 1,
	ING_URL_RULE_WALL, /* from here on: skipped when known beforehand, "blocked" when a
			    * redirect ends there */
	ING_URL_RULE_CAPTCHA,
	ING_URL_RULE_LOGIN,
	ING_URL_RULE_CHALLENGE,
	ING_URL_RULE_COOKIE,
	ING_URL_RULE_NONE = 100,
};

struct ing_url_decision {
	enum ing_url_rule_kind rule;
	/* Visitors are also redirected through this URL and get further: fetch it; only a page
	 * that the chain ends with here is a wall. */
	bool only_at_end;
	const char *detail; /* `why` of the rule, valid as long as the rules; NULL: none */
};

struct ing_url_entry {
	const struct ing_url_entry *next;
	const char *file;
	int line;
	const char *why, *source; /* source: NULL when not given */
	const struct ing_url_pattern *pattern;
	const struct ing_url_test *tests; /* worker/rules/rule_reader.h */
};

/* Load blocklist.yaml and walls.yaml from the files. Returns 0, or -CONFIG when there are errors,
 * which are in the report. Free with ing_url_rules_free(). */
int ing_url_rules_load_files(const struct ing_rule_files *files, struct ing_url_rules **ret,
	struct ing_report *report) ING_MUST_CHECK;
void ing_url_rules_free(struct ing_url_rules *r); /* NULL is fine */
size_t ing_url_rules_count(const struct ing_url_rules *r);
/* All entries, in the order of loading; NULL: none. */
const struct ing_url_entry *ing_url_rules_entries(const struct ing_url_rules *r);

/* Returns the rule that matches an absolute URL; ING_URL_RULE_NONE also when url is no URL, or r is
 * NULL. */
struct ing_url_decision ing_url_rules_decide(const struct ing_url_rules *r, const char *url);
