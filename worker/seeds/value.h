/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * value.h - values of a source's file, evaluated for a record, and the rules about them.
 *
 * A scope is what paths lead into; it borrows the record, and has buffers of its own. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/seeds/source_priv.h"

/* What the record or the item is: an object (or a text in one), or a text by itself. */
struct ing_seed_node {
	const json_t *json; /* NULL: text */
	const char *text;
	size_t bytes;
};

struct ing_seed_scope {
	const json_t *object; /* the record; NULL: it is a row */
	const struct ing_seed_cell *cells;
	size_t cell_count;
	size_t *columns; /* of each path's id: the column that it names; SIZE_MAX: none. Owned */
	struct ing_seed_node item;
	struct ing_buf scratch[2];
};

void ing_seed_scope_init(struct ing_seed_scope *scope, const struct ing_seed_source *source);
void ing_seed_scope_done(struct ing_seed_scope *scope);
/* Finds the columns of a path and its alternatives, and of all paths of a value. */
void ing_seed_path_columns(struct ing_seed_scope *scope, const struct ing_seed_path *path,
	const struct ing_seed_cell *names, size_t count);
void ing_seed_value_columns(struct ing_seed_scope *scope, const struct ing_seed_value *v,
	const struct ing_seed_cell *names, size_t count);

/* A value in its normal form, borrowed. True: enough. */
typedef bool ing_seed_value_f(void *ctx, const char *s, size_t bytes);
/* Each value of the first path that has any; of parts none. */
void ing_seed_each_value(struct ing_seed_scope *scope, const struct ing_seed_value *v,
	ing_seed_value_f *fn, void *ctx);
/* The first value, with what stands before and after it, or the default. It is written to *ret, which is cleared
 * first. escape: where there is something before or after, what would end a URL's path in the value is escaped. False: there is
 * none. */
bool ing_seed_first_value(struct ing_seed_scope *scope, const struct ing_seed_value *v, bool escape,
	struct ing_buf *ret);
/* Each item of a template's `each`. */
typedef bool ing_seed_item_f(void *ctx, const struct ing_seed_node *item);
void ing_seed_each_item(struct ing_seed_scope *scope, const struct ing_seed_path *each,
	ing_seed_item_f *fn, void *ctx);

/* Whether a rule about paths matches. */
bool ing_seed_rule_matches(struct ing_seed_scope *scope, const struct ing_seed_rule *rule);
/* The same of a field's text, NULL for none; host: its URL's, or NULL. */
bool ing_seed_rule_matches_text(
	const struct ing_seed_rule *rule, const char *s, size_t bytes, const char *host);
