/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_reader.h - what the loaders of all rule files have in common: values of a map with their types
 * checked, and every error at its place in the file.
 *
 * A reader is plain data on the loader's stack; nothing here owns anything. Each function notes in
 * the report what is wrong and answers as if the key were absent, so that the loader goes on.
 * Selectors and regular expressions are compiled by worker/scrape/rules/read_selector.h. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/report.h"
#include "common/data/yaml.h"
#include "common/net/url_match.h"

struct ing_rule_file;

struct ing_rule_reader {
	const char *file; /* as messages call it */
	struct ing_report *report;
	struct ing_arena *arena; /* of the rules: what is read and has to live on */
};

/* At a node; for a key that is missing, at the map. */
void ing_rule_read_error(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *fmt, ...) ING_PRINTF(3, 4);
void ing_rule_read_warning(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *fmt, ...) ING_PRINTF(3, 4);
/* At a character (1-based) of a scalar: the file's line and column of it where the scalar stands in
 * one line and without escapes, else the scalar's. */
void ing_rule_read_error_in(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	int character, const char *fmt, ...) ING_PRINTF(4, 5);

/* A file as a stream of documents, as PubFetcher's formats need it, or (links.yaml and the others
 * of ours) as one document without aliases and doubled keys. Errors and warnings go to the report.
 * NULL: it cannot be read. Free with ing_yaml_free(); of rules, ing_rules_read() keeps it. */
struct ing_yaml *ing_rule_read_yaml(const struct ing_rule_file *file, struct ing_report *report);
/* The one document of a file that has one, something null when there is none; NULL, with an error,
 * when there are more. */
const struct ing_yaml_node *ing_rule_read_root(
	const struct ing_rule_reader *rd, const struct ing_yaml *doc);

/* Every key of `map` is one of `known`; others are errors, with the likely meant one. False when
 * there was one, or when map is no map (an error, which calls it `what`: "an entry"). */
bool ing_rule_read_keys(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *what, const char *const *known, size_t count);

/* The scalar of a key: not null, not empty, no NUL inside. As long as the document. */
const struct ing_yaml_node *ing_rule_read_scalar(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);
/* Its text, copied to the arena. */
const char *ing_rule_read_text(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);
/* The same; absence is an error too. `what` is the map: "an entry". */
const char *ing_rule_read_required_text(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *what, const char *key);
/* true or false without quotes. */
bool ing_rule_read_bool(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, bool fallback);
/* Decimal, min to max. */
unsigned ing_rule_read_number(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, unsigned min, unsigned max, unsigned fallback);
/* A list or a map as value; NULL when absent. */
const struct ing_yaml_node *ing_rule_read_node(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *key, enum ing_yaml_kind kind);
/* One of `words`: its index; -1 when absent or none of them. */
int ing_rule_read_enum(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, const char *const *words, size_t count);

/* The keys that say which URLs; for lists of known keys. */
#define ING_URL_KEYS "host", "path", "path_contains", "path_ends", "query", "contains"
/* Those of them that stand in `map`, whose other keys are the caller's business. The number of keys
 * there, good or bad. */
unsigned ing_rule_read_url_keys(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_url_pattern *ret);
/* A key whose value is a map of nothing but them, at least one: `page:`, `link:`. In the arena;
 * NULL when absent. */
const struct ing_url_pattern *ing_rule_read_url_pattern(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);

/* Of an entry's `tests:` that need no page, for ingestctl rules test. */
struct ing_url_test {
	const struct ing_url_test *next;
	int line;
	const char *url;
	bool matches; /* must the entry match? */
};

/* The `tests` of an entry about URLs alone, in the arena; NULL: none. hosts: a test may name a
 * `host` instead of a `url`, and is then of http://HOST/. */
const struct ing_url_test *ing_rule_read_url_tests(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, bool hosts);
