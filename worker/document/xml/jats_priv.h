/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jats_priv.h - reading the tree of a JATS document; for the files jats*.c only.
 */
#pragma once
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/markup/tree.h"
#include "worker/scrape/publication/corresponding_authors.h"

/* Returns the first child element of that name, or NONE; parent may be NONE. */
ing_node ing_jats_child(const struct ing_tree *t, ing_node parent, const char *name);
/* Returns the next sibling element of that name, or NONE. */
ing_node ing_jats_sibling(const struct ing_tree *t, ing_node n, const char *name);
/* Returns the first element of that name below n, or NONE; n may be NONE. */
ing_node ing_jats_below(const struct ing_tree *t, ing_node n, const char *name);
/* Whether n's attribute has this value, in any ASCII case. */
bool ing_jats_attr_is(const struct ing_tree *t, ing_node n, const char *name, const char *value);
/* Append the text of n, white space folded. Returns whether there was any. */
bool ing_jats_text(const struct ing_tree *t, ing_node n, struct ing_buf *out);
/* The same in the arena, at most max_bytes; NULL when there is none. n may be NONE. */
const char *ing_jats_text_dup(
	const struct ing_tree *t, ing_node n, struct ing_arena *ar, size_t max_bytes);

/* Make formulas that are written twice have one text, and TeX no preamble (jats_math.c). */
void ing_jats_tidy_math(struct ing_tree *t, ing_node article, struct ing_arena *ar);
/* The corresponding authors that the front names (jats_authors.c). */
struct ing_authors ing_jats_authors(
	const struct ing_tree *t, ing_node article_meta, struct ing_arena *ar);
