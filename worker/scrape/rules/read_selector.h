/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_selector.h - selectors and regular expressions of rule files, compiled, with errors at their
 * position in the file (worker/rules/rule_reader.h).
 *
 * One thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/rules/rule_reader.h"

struct ing_regex;
struct ing_selector;

/* Beside the flags of worker/scrape/jsoup/regex.h: the expression is looked for in a page's source or
 * in the text of elements, not in a URL, an attribute or a title. */
#define ING_RULE_REGEX_PAGE 0x100u

/* Compile the scalar of a key; the caller's to free. NULL when absent. */
struct ing_selector *ing_rule_read_selector(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key);
struct ing_regex *ing_rule_read_regex(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *key, unsigned flags);
/* The same of a scalar node at hand. */
struct ing_selector *ing_rule_read_selector_at(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node);
struct ing_regex *ing_rule_read_regex_at(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node, unsigned flags);

/* Warn when an expression, which compiles with these flags, is slow, if the reader asks for that. */
void ing_rule_check_speed(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *pattern, size_t bytes, unsigned flags);

/* A value of journals.yaml or webpages.yaml: a selector, or a map of ours
 * {selector: SELECTOR, attr: NAME, parents: 1}. */
struct ing_rule_value {
	struct ing_selector *selector;
	const char *attr; /* the attribute that is wanted instead of text; NULL */
	unsigned parents; /* steps up from what was found */
};

#define ING_MAX_PARENTS 20
/* At a node that is the value of `key`. False: wrong, and said so; else the selector is the
 * caller's to free. */
bool ing_rule_read_value_at(const struct ing_rule_reader *rd, const char *key,
	const struct ing_yaml_node *node, struct ing_rule_value *ret);
