/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_reader.h - what the loaders of all rule files share: values of a map with their types
 * checked, and errors with their position in the file.
 *
 * A reader is plain data on the loader's stack and owns nothing. Each function reports what is
 * wrong and then answers as if the key were absent, so that the loader goes on and one report has
 * all errors. Selectors and regular expressions are compiled in
 * worker/scrape/rules/read_selector.h. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/report.h"
#include "common/data/yaml.h"
#include "common/net/url_match.h"

struct ing_rule_file;
struct ing_slow_patterns;

struct ing_rule_reader {
	const char *file; /* its name in messages */
	struct ing_report *report;
	struct ing_arena *arena;        /* of the rules; values are copied to it */
	struct ing_slow_patterns *slow; /* worker/scrape/rules/slow_patterns.h; NULL: not asked */
};

/* Report at a node's position; for a missing key, pass its map. */
void ing_rule_read_error(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *fmt, ...) ING_PRINTF(3, 4);
void ing_rule_read_warning(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *fmt, ...) ING_PRINTF(3, 4);
/* Report at a character (counted from 1) of a scalar. The position is exact when the scalar is
 * written in one line without escapes; otherwise it is the scalar's. */
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

/* Report every key of `map` that is not one of `known`, with the most similar known one. Returns
 * false when there was one, or when `map` is not a map; `what` names it ("an entry"). */
bool ing_rule_read_keys(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *what, const char *const *known, size_t count);

/* Returns the scalar of a key, borrowed from the document; NULL when it is absent, or invalid:
 * null, empty or with a NUL inside. */
const struct ing_yaml_node *ing_rule_read_scalar(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);
/* Returns its text, copied to the arena, or NULL. */
const char *ing_rule_read_text(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);
/* The same; a missing key is an error. `what` names the map: "an entry". */
const char *ing_rule_read_required_text(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *what, const char *key);
/* true or false, not in quotes; `fallback` when absent or invalid. */
bool ing_rule_read_bool(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, bool fallback);
/* A decimal number from min to max; `fallback` when absent or invalid. */
unsigned ing_rule_read_number(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, unsigned min, unsigned max, unsigned fallback);
/* Returns the value, a list or a map as `kind` says; NULL when absent or of another kind. */
const struct ing_yaml_node *ing_rule_read_node(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *key, enum ing_yaml_kind kind);
/* Returns the index of the value in `words`; -1 when absent or invalid. */
int ing_rule_read_enum(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, const char *const *words, size_t count);

/* The keys of a URL pattern; for lists of known keys. */
#define ING_URL_KEYS "host", "path", "path_contains", "path_ends", "query", "contains"
/* Read these keys of `map`, whose other keys are left to the caller. Returns how many of them there
 * are, valid or not. */
unsigned ing_rule_read_url_keys(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_url_pattern *ret);
/* Read a key whose value is a map of these keys alone, at least one. Returns the pattern, in the
 * arena; NULL when absent. */
const struct ing_url_pattern *ing_rule_read_url_pattern(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);

/* An item of `tests` of an entry about URLs alone, for `ingestctl rules test`. */
struct ing_url_test {
	const struct ing_url_test *next;
	int line;
	const char *url;
	bool matches; /* whether the entry has to match */
};

/* Returns the list of `tests` of such an entry, in the arena, or NULL. hosts: a test may have
 * `host` in place of `url` and is then about http://HOST/. */
const struct ing_url_test *ing_rule_read_url_tests(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, bool hosts);
