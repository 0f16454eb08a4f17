/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * elements.h - elements of an XML document and their text, for whoever knows its vocabulary.
 *
 * Names of elements are in lower case, as in the tree, with their prefix; those of attributes too. Pure; any
 * thread that owns the tree.
 */
#pragma once
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/markup/tree.h"

/* Returns the first child element of that name, or NONE; parent may be NONE. */
ing_node ing_element_child(const struct ing_tree *t, ing_node parent, const char *name);
/* Returns the next sibling element of that name, or NONE. */
ing_node ing_element_sibling(const struct ing_tree *t, ing_node n, const char *name);
/* Returns the first element of that name below n, or NONE; n may be NONE. */
ing_node ing_element_below(const struct ing_tree *t, ing_node n, const char *name);
/* Whether n's attribute has this value, in any ASCII case. */
bool ing_element_attr_is(const struct ing_tree *t, ing_node n, const char *name, const char *value);
/* Append the text of n, white space folded. Returns whether there was any. */
bool ing_element_text(const struct ing_tree *t, ing_node n, struct ing_buf *out);
/* The same in the arena, at most max_bytes; NULL when there is none. n may be NONE. */
const char *ing_element_text_dup(
	const struct ing_tree *t, ing_node n, struct ing_arena *ar, size_t max_bytes);
