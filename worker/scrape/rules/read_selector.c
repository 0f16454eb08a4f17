/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compiles selectors and regular expressions of rule files.
 */
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/rules/read_selector.h"

struct ing_selector *ing_rule_read_selector_at(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node)
{
	struct ing_selector *s = NULL;
	struct ing_error err = {0};
	if (ing_selector_compile(node->text, node->bytes, &s, &err) == 0)
		return s;
	ing_rule_read_error_in(
		rd, node, err.column, "selector: %s (character %d)", err.msg, err.column);
	return NULL;
}

struct ing_regex *ing_rule_read_regex_at(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node, unsigned flags)
{
	struct ing_regex *r = NULL;
	struct ing_error err = {0};
	if (ing_regex_compile(node->text, node->bytes, flags, &r, &err) == 0)
		return r;
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
