/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules_compare.h - whether a JSON value is as a rule's test expects it. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"
#include "common/data/yaml.h"

#define ING_RULE_SHOWN_BYTES 200 /* of a value in a message */
#define ING_RULE_PATH_BYTES 300  /* of a value's place in the object */

/* Where two values differ, and how. */
struct ing_rule_difference {
	char path[ING_RULE_PATH_BYTES];
	char wanted[ING_RULE_SHOWN_BYTES], came[ING_RULE_SHOWN_BYTES];
};

typedef void ing_rule_differs_fn(void *ctx, const struct ing_rule_difference *d);

/* Compare maps by the keys given, lists whole, scalars as text; null with null only. Returns false after
 * calling fn for each difference; came may be NULL. */
bool ing_rule_agrees(
	const struct ing_yaml_node *wanted, const json_t *came, ing_rule_differs_fn *fn, void *ctx);
