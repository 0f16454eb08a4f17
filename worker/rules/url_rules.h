/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_rules.h - which URLs are not asked for, whatever their hosts would say: the blocklist, login
 * walls, captchas, bot challenges, pages about cookies. By the URL alone; rules/README.md has the
 * files' format. Entries of walls.yaml that look at the page itself are
 * worker/scrape/rules/wall_signatures.h's.
 *
 * Owns: the rules of blocklist.yaml and walls.yaml. They do not change once loaded, so any thread
 * may ask. A question costs one parse of the URL, one look-up for each label of its host, and the
 * short list of rules that are for every host.
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

/* In the order in which they are asked; when several rules match, the first of these counts. */
enum ing_url_rule_kind {
	ING_URL_RULE_BLOCKLIST = 1,
	ING_URL_RULE_WALL, /* this kind and those below: met, it blocks; known beforehand, it is
			    * skipped */
	ING_URL_RULE_CAPTCHA,
	ING_URL_RULE_LOGIN,
	ING_URL_RULE_CHALLENGE,
	ING_URL_RULE_COOKIE,
	ING_URL_RULE_NONE = 100,
};

struct ing_url_decision {
	enum ing_url_rule_kind rule;
	/* Sites also send visitors through here who then get on: fetch it, and only a chain that
	 * ends here with a page has met the wall. */
	bool only_at_end;
	const char *detail; /* the rule's own words, as long as the rules live; NULL: none */
};

struct ing_url_entry {
	const struct ing_url_entry *next;
	const char *file;
	int line;
	const char *why, *source; /* source: NULL when not said */
	const struct ing_url_pattern *pattern;
	const struct ing_url_test *tests; /* worker/rules/rule_reader.h */
};

/* Load the blocklist and walls among the files. What is wrong goes to the report, and -CONFIG. Free
 * with ing_url_rules_free(). */
int ing_url_rules_load_files(const struct ing_rule_files *files, struct ing_url_rules **ret,
	struct ing_report *report) ING_MUST_CHECK;
void ing_url_rules_free(struct ing_url_rules *r); /* NULL is fine */
size_t ing_url_rules_count(const struct ing_url_rules *r);
/* All entries, in the order of loading; NULL: none. */
const struct ing_url_entry *ing_url_rules_entries(const struct ing_url_rules *r);

/* What the rules say about an absolute URL. r NULL, or something that is no URL: NONE. */
struct ing_url_decision ing_url_rules_decide(const struct ing_url_rules *r, const char *url);
