/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Maps by the keys given, lists whole, scalars as text.
 */
#include "worker/ctl/rules/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of_json(const json_t *o, char *buf, size_t bytes)
{
	switch (json_typeof(o)) {
	case JSON_STRING:
		return json_string_value(o);
	case JSON_INTEGER:
		snprintf(buf, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(o));
		return buf;
	case JSON_REAL:
		snprintf(buf, bytes, "%g", json_real_value(o));
		return buf;
	case JSON_TRUE:
		return "true";
	case JSON_FALSE:
		return "false";
	default:
		return NULL;
	}
}

struct comparison {
	ing_rule_differs_fn *differs;
	void *ctx;
};

static void tell_difference(const struct comparison *c, const char *path,
	const struct ing_yaml_node *wanted, const json_t *came)
{
	struct ing_rule_difference d;
	char *text = came != NULL ? ing_json_dump(came, NULL) : NULL;
	snprintf(d.path, sizeof(d.path), "%s", path);
	if (wanted->kind == ING_YAML_SCALAR)
		snprintf(d.wanted, sizeof(d.wanted), "%s",
			ing_yaml_is_null(wanted) ? "null" : wanted->text);
	else
		snprintf(d.wanted, sizeof(d.wanted), "%s of %zu", ing_yaml_kind_name(wanted),
			wanted->count);
	snprintf(d.came, sizeof(d.came), "%s", text != NULL ? text : "nothing");
	free(text);
	c->differs(c->ctx, &d);
}

static bool is_same_scalar(const struct ing_yaml_node *wanted, const json_t *came)
{
	char buf[64];
	const char *text = came != NULL ? text_of_json(came, buf, sizeof(buf)) : NULL;
	return ing_yaml_is_null(wanted) ? json_is_null(came)
					: text != NULL && strcmp(text, wanted->text) == 0;
}

/* The depth is bounded by YAML's. */
static bool agrees(const struct comparison *c, const struct ing_yaml_node *wanted,
	const json_t *came, const char *path)
{
	char below[ING_RULE_PATH_BYTES];
	bool is_list = wanted->kind == ING_YAML_LIST;
	bool good = wanted->kind == ING_YAML_SCALAR ? is_same_scalar(wanted, came)
		    : is_list ? json_is_array(came) && json_array_size(came) == wanted->count
			      : json_is_object(came);
	if (!good)
		tell_difference(c, path, wanted, came);
	if (!good || wanted->kind == ING_YAML_SCALAR)
		return good;
	size_t i = 0;
	for (const struct ing_yaml_node *n = wanted->first; n != NULL; n = n->next, i++) {
		if (is_list)
			snprintf(below, sizeof(below), "%s[%zu]", path, i);
		else
			snprintf(below, sizeof(below), "%s%s%s", path, *path != '\0' ? "." : "",
				n->text);
		good &= is_list ? agrees(c, n, json_array_get(came, i), below)
				: agrees(c, n->value, json_object_get(came, n->text), below);
	}
	return good;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_rule_agrees(
	const struct ing_yaml_node *wanted, const json_t *came, ing_rule_differs_fn *fn, void *ctx)
{
	return agrees(&(struct comparison){.differs = fn, .ctx = ctx}, wanted, came, "");
}
