/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kept_condition.h - conditions on what is kept, as people write them, as SQL with parameters:
 *
 *	abstract.size > 200 and host = 'nature.com' and not oa
 *	fulltext.type better citation or (title ~* 'crab' and pub_date >= 2016-01)
 *
 * Names are those of a table, never of columns; values become parameters, so that no text of a
 * condition is ever SQL. What is unknown (null) fulfils no comparison: `not` of it is true. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"
#include "common/base/error.h"

#define ING_CONDITION_VALUES 30 /* of all conditions together */

enum ing_kept_table { ING_TABLE_PUBLICATION, ING_TABLE_WEBPAGE };

struct ing_condition {
	enum ing_kept_table table;
	struct ing_buf sql; /* "true AND (…) AND (…)" */
	char *values[ING_CONDITION_VALUES];
	int value_count;
};

void ing_condition_init(struct ing_condition *c, enum ing_kept_table table);
void ing_condition_done(struct ing_condition *c);
/* Both that holds already and this. Returns 0, or -ING_FAIL_SYNTAX with words and the place. */
int ing_condition_add(
	struct ing_condition *c, const char *text, struct ing_error *err) ING_MUST_CHECK;
/* "name op 'value'" with any text as the value. name and op are constants. */
int ing_condition_add_value(struct ing_condition *c, const char *name, const char *op,
	const char *value, struct ing_error *err) ING_MUST_CHECK;

/* Append ORDER BY's list for names between commas, each with ":desc" behind it or not. Same errors. */
int ing_condition_order(enum ing_kept_table table, const char *text, struct ing_buf *ret,
	struct ing_error *err) ING_MUST_CHECK;
/* For --help: a row "  NAME\tKIND" for every name. */
void ing_condition_add_names(enum ing_kept_table table, struct ing_buf *to);
