/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * registry.h - the set of scraping rules while its files are loaded: the rules' numbers, names,
 * sources and tests, the YAML documents that they were read from, and a pointer to each table.
 *
 * For the loaders of single files; others include rules.h. Owns all of it but the tables, which
 * rules.c creates and frees through their loaders. One thread while it is filled; then immutable,
 * any thread.
 *
 * Rules are numbered from 0 in the order of loading and have names such as "journals.yaml plos
 * title" or "links.yaml pdf/embed", which are the same for the same files: examiners report by
 * number, the worker counts by name. Equal digests mean equal files.
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
struct ing_slow_patterns;
struct ing_wall_signatures;
struct ing_yaml;

struct ing_rule_test { /* an item of an entry's `tests`, for `ingestctl rules test` */
	const struct ing_rule_test *next;
	uint32_t rule;    /* number of the entry's rule */
	const char *file; /* the rule file */
	int line;
	const char
		*page; /* file of the page, relative to the folder of the rule file; NULL: text */
	struct ing_rule_page_text {
		const char *text; /* the page itself, in the rules' documents; NULL: page */
		size_t bytes;
	} inline_page;
	bool xml; /* the page is read as XML */
	const char *url;
	bool matches; /* whether the rule has to match */
	const struct ing_yaml_node
		*expect; /* a part of the output of `ingestctl scrape`; NULL: not given */
};

struct ing_rules {
	struct ing_arena arena;
	const char **names;   /* count */
	const char **sources; /* count; `source:` of the entry, or NULL */
	uint32_t
		*entries; /* count; number of the entry that the rule is a part of, often its own */
	size_t count, cap;
	size_t entry_count; /* rules that are whole entries */
	const struct ing_rule_test *tests;
	size_t test_count;
	uint64_t digest;
	struct ing_journals *journals; /* the tables: never NULL once loaded, may be empty */
	struct ing_webpages *webpages;
	struct ing_links *links;
	struct ing_sites *sites;
	struct ing_wall_signatures *wall_signatures;
	struct ing_yaml **documents; /* kept, because tests point into them */
	size_t document_count;
	const struct ing_rule_test **last_test;
	struct ing_slow_patterns *slow; /* while loading: to warn of slow expressions, or NULL */
};

/* Initialise an empty set. */
void ing_rules_init(struct ing_rules *r);
/* Free all but the tables, which are to be freed before. */
void ing_rules_done(struct ing_rules *r);

/* Parse a file. Returns its document, which lives as long as the rules, or NULL when it cannot be
 * parsed; errors go to the report. */
const struct ing_yaml *ing_rules_read(
	struct ing_rules *r, const struct ing_rule_file *file, struct ing_report *report);
/* Returns the file's name without its folder, with which the names of its rules begin. */
const char *ing_rules_file_name(const struct ing_rule_file *file);
/* Add a rule; the name is copied, source may be NULL. Returns its number. */
uint32_t ing_rules_add(struct ing_rules *r, const char *source, const char *fmt, ...)
	ING_PRINTF(3, 4);
/* Add a part of an entry as a rule of its own, with its own statistics. */
uint32_t ing_rules_add_part(struct ing_rules *r, uint32_t entry, const char *fmt, ...)
	ING_PRINTF(3, 4);
/* The keys that ing_rules_read_tests() reads; for lists of known keys. */
#define ING_ENTRY_KEYS "source", "tests"
/* Read `tests` of an entry (a map), and `source` unless ing_rules_add() was given one. */
void ing_rules_read_tests(struct ing_rules *r, uint32_t rule, const struct ing_rule_file *file,
	const struct ing_yaml_node *entry, struct ing_report *report);
