/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * registry.h - a set of rules as the loaders of the single files build on it: the rules' numbers, names,
 * sources and tests, the documents that they were read from, and a place for each table.
 *
 * Owns all of it but what is behind the tables, which are their loaders' (journals.h, webpages.h,
 * links.h, sites.h, wall_signatures.h) and only rules.c puts there and frees. Whoever wants rules,
 * not to add some, includes rules.h. One thread while it is filled; then immutable, any number of
 * threads.
 *
 * Rules have numbers, 0 to count-1, in the order of loading, and names such as
 * "journals.yaml plos title" or "links.yaml pdf/embed", which are the same for the same files:
 * examiners report what rules did by number, the worker counts by name. `digest` tells whether two
 * sets come from the same bytes.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/report.h"
#include "worker/rules/rule_files.h"

struct ing_journals;
struct ing_webpages;
struct ing_links;
struct ing_sites;
struct ing_wall_signatures;
struct ing_yaml;

struct ing_rule_test { /* of an entry's `tests:`, for ingestctl rules test */
	const struct ing_rule_test *next;
	uint32_t rule;    /* of the entry */
	const char *file; /* rule file it stands in, and where */
	int line;
	const char *page; /* file of the page, relative to the rule file's folder */
	const char *url;
	bool matches;                       /* must the rule match? (`matches: false`) */
	const struct ing_yaml_node *expect; /* what scrape must say, a part of it; NULL: nothing */
};

struct ing_rules {
	struct ing_arena arena;
	const char **names;   /* count */
	const char **sources; /* count; `source:` of the entry, or NULL */
	uint32_t *entries; /* count; the entry that the rule is a part of: its own number, mostly */
	size_t count, cap;
	size_t entry_count; /* rules that are entries */
	const struct ing_rule_test *tests;
	size_t test_count;
	uint64_t digest;
	struct ing_journals *journals; /* never NULL once loaded: may be empty */
	struct ing_webpages *webpages;
	struct ing_links *links;
	struct ing_sites *sites;
	struct ing_wall_signatures *wall_signatures;
	struct ing_yaml **documents; /* alive as long as the rules: tests point into them */
	size_t document_count;
	const struct ing_rule_test **last_test;
};

/* In place: a set without rules, tables and documents. */
void ing_rules_init(struct ing_rules *r);
/* Frees the documents and all that is known of rules, not the tables, whose turn is before. */
void ing_rules_done(struct ing_rules *r);

/* Parse a file; errors in the report. NULL: it cannot be read. Lives as long as the rules. */
const struct ing_yaml *ing_rules_read(
	struct ing_rules *r, const struct ing_rule_file *file, struct ing_report *report);
/* "journals.yaml" of a path, with which rules' names begin. */
const char *ing_rules_file_name(const struct ing_rule_file *file);
/* Number of a new rule. The name is copied. source may be NULL. */
uint32_t ing_rules_add(struct ing_rules *r, const char *source, const char *fmt, ...)
	ING_PRINTF(3, 4);
/* The same of a part of an entry, whose hits are counted separately. */
uint32_t ing_rules_add_part(struct ing_rules *r, uint32_t entry, const char *fmt, ...)
	ING_PRINTF(3, 4);
/* Keys of any entry that ing_rules_read_tests() reads; for lists of known keys. */
#define ING_ENTRY_KEYS "source", "tests"
/* Read `source` (unless ing_rules_add() was given one) and `tests` of an entry (a map), if it has
 * them. */
void ing_rules_read_tests(struct ing_rules *r, uint32_t rule, const struct ing_rule_file *file,
	const struct ing_yaml_node *entry, struct ing_report *report);
