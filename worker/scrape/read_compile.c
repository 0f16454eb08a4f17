/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Selectors and regular expressions of rule files, compiled, with what is wrong in them pointed at
 * in the file.
 */
#include "common/data/regex.h"
#include "common/markup/selector.h"
#include "worker/scrape/read.h"

struct ing_selector *ing_read_selector_at(
	const struct ing_reader *rd, const struct ing_yaml_node *node)
{
	struct ing_selector *s = NULL;
	struct ing_error err = {0};
	if (ing_selector_compile(node->text, node->bytes, &s, &err) == 0)
		return s;
	ing_read_error_in(rd, node, err.column, "selector: %s (character %d)", err.msg, err.column);
	return NULL;
}

struct ing_regex *ing_read_regex_at(
	const struct ing_reader *rd, const struct ing_yaml_node *node, unsigned flags)
{
	struct ing_regex *r = NULL;
	struct ing_error err = {0};
	if (ing_regex_compile(node->text, node->bytes, flags, &r, &err) == 0)
		return r;
	ing_read_error_in(
		rd, node, err.column, "regular expression: %s (character %d)", err.msg, err.column);
	return NULL;
}

struct ing_selector *ing_read_selector(
	const struct ing_reader *rd, const struct ing_yaml_node *map, const char *key)
{
	const struct ing_yaml_node *node = ing_read_scalar(rd, map, key);
	return node != NULL ? ing_read_selector_at(rd, node) : NULL;
}

struct ing_regex *ing_read_regex(const struct ing_reader *rd, const struct ing_yaml_node *map,
	const char *key, unsigned flags)
{
	const struct ing_yaml_node *node = ing_read_scalar(rd, map, key);
	return node != NULL ? ing_read_regex_at(rd, node, flags) : NULL;
}
