/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compiles selectors and regular expressions of rule files.
 */
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/rules/read_selector.h"

#include <string.h>

#include "worker/scrape/rules/slow_patterns.h"

#define MAX_SHOWN 200 /* bytes of an expression in a message */

static void check_selector(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const struct ing_selector *s)
{
	bool in_text;
	const char *pattern = ing_selector_regex(s, 0, &in_text);
	for (size_t i = 1; pattern != NULL; pattern = ing_selector_regex(s, i++, &in_text))
		ing_rule_check_speed(
			rd, node, pattern, strlen(pattern), in_text ? ING_RULE_REGEX_PAGE : 0);
}

/* -------------------------------------------------------------------------------------------- */

void ing_rule_check_speed(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *pattern, size_t bytes, unsigned flags)
{
	enum ing_pattern_scope scope =
		(flags & ING_RULE_REGEX_PAGE) != 0 ? ING_PATTERN_PAGE : ING_PATTERN_SHORT;
	const char *why = rd->slow != NULL ? ing_slow_patterns_judge(rd->slow, scope, pattern,
						     bytes, flags & ~ING_RULE_REGEX_PAGE)
					   : NULL;
	if (why != NULL)
		ing_rule_read_warning(rd, node, "slow regular expression \"%.*s\": %s",
			(int)ING_MIN(bytes, (size_t)MAX_SHOWN), pattern, why);
}

struct ing_selector *ing_rule_read_selector_at(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node)
{
	struct ing_selector *s = NULL;
	struct ing_error err = {0};
	if (ing_selector_compile(node->text, node->bytes, &s, &err) == 0) {
		if (rd->slow != NULL)
			check_selector(rd, node, s);
		return s;
	}
	ing_rule_read_error_in(
		rd, node, err.column, "selector: %s (character %d)", err.msg, err.column);
	return NULL;
}

struct ing_regex *ing_rule_read_regex_at(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node, unsigned flags)
{
	struct ing_regex *r = NULL;
	struct ing_error err = {0};
	if (ing_regex_compile(node->text, node->bytes, flags & ~ING_RULE_REGEX_PAGE, &r, &err) ==
		0) {
		ing_rule_check_speed(rd, node, node->text, node->bytes, flags);
		return r;
	}
	ing_rule_read_error_in(
		rd, node, err.column, "regular expression: %s (character %d)", err.msg, err.column);
	return NULL;
}

struct ing_selector *ing_rule_read_selector(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key)
{
	const struct ing_yaml_node *node = ing_rule_read_scalar(rd, map, key);
	return node != NULL ? ing_rule_read_selector_at(rd, node) : NULL;
}

struct ing_regex *ing_rule_read_regex(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *key, unsigned flags)
{
	const struct ing_yaml_node *node = ing_rule_read_scalar(rd, map, key);
	return node != NULL ? ing_rule_read_regex_at(rd, node, flags) : NULL;
}

bool ing_rule_read_value_at(const struct ing_rule_reader *rd, const char *key,
	const struct ing_yaml_node *node, struct ing_rule_value *ret)
{
	static const char *const known[] = {"selector", "attr", "parents"};
	*ret = (struct ing_rule_value){0};
	if (node->kind == ING_YAML_SCALAR) {
		ret->selector = ing_rule_read_selector_at(rd, node);
		return ret->selector != NULL;
	}
	if (node->kind == ING_YAML_LIST) {
		ing_rule_read_error(rd, node, "%s must be a selector, not a list", key);
		return false;
	}
	ing_rule_read_keys(rd, node, key, known, ING_ARRAY_LEN(known));
	if (ing_yaml_get(node, "selector") == NULL)
		ing_rule_read_error(rd, node, "%s needs a selector", key);
	ret->selector = ing_rule_read_selector(rd, node, "selector");
	ret->attr = ing_rule_read_text(rd, node, "attr");
	ret->parents = ing_rule_read_number(rd, node, "parents", 0, ING_MAX_PARENTS, 0);
	return ret->selector != NULL;
}
