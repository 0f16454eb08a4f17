/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Maps by the keys given, lists whole, scalars as text.
 */
#include "worker/ctl/rules_compare.h"

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

static void record_difference(struct ing_rule_difference *d, const char *path,
	const struct ing_yaml_node *wanted, const json_t *came)
{
	char *text = came != NULL ? ing_json_dump(came, NULL) : NULL;
	snprintf(d->path, sizeof(d->path), "%s", path);
	if (wanted == NULL)
		snprintf(d->wanted, sizeof(d->wanted), "nothing more");
	else if (wanted->kind == ING_YAML_SCALAR)
		snprintf(d->wanted, sizeof(d->wanted), "%s",
			ing_yaml_is_null(wanted) ? "null" : wanted->text);
	else
		snprintf(d->wanted, sizeof(d->wanted), "%s of %zu", ing_yaml_kind_name(wanted),
			wanted->count);
	snprintf(d->came, sizeof(d->came), "%s", text != NULL ? text : "nothing");
	free(text);
}

/* The depth is bounded by YAML's. */
static bool agrees(const struct ing_yaml_node *wanted, const json_t *came, const char *path,
	struct ing_rule_difference *d)
{
	char buf[64];
	char below[ING_RULE_PATH_BYTES];
	bool same = came != NULL;
	if (same && wanted->kind == ING_YAML_SCALAR) {
		const char *text = text_of_json(came, buf, sizeof(buf));
		same = ing_yaml_is_null(wanted) ? json_is_null(came)
						: text != NULL && strcmp(text, wanted->text) == 0;
	} else if (same && wanted->kind == ING_YAML_LIST) {
		same = json_is_array(came) && json_array_size(came) == wanted->count;
		size_t i = 0;
		for (const struct ing_yaml_node *n = wanted->first; same && n != NULL;
			n = n->next) {
			snprintf(below, sizeof(below), "%s[%zu]", path, i);
			if (!agrees(n, json_array_get(came, i++), below, d))
				return false;
		}
	} else if (same) {
		same = json_is_object(came);
		for (const struct ing_yaml_node *k = wanted->first; same && k != NULL;
			k = k->next) {
			snprintf(below, sizeof(below), "%s%s%s", path, *path != '\0' ? "." : "",
				k->text);
			if (!agrees(k->value, json_object_get(came, k->text), below, d))
				return false;
		}
	}
	if (!same)
		record_difference(d, path, wanted, came);
	return same;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_rule_agrees(
	const struct ing_yaml_node *wanted, const json_t *came, struct ing_rule_difference *d)
{
	return agrees(wanted, came, "", d);
}
