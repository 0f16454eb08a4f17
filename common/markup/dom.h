/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dom.h - walking a parsed tree, whatever parsed it.
 *
 * Nodes belong to their document (html.h) and are gone when it is parsed into or freed again;
 * strings handed out live as long. All text in a tree is valid UTF-8 without NUL. Nothing here
 * recurses, so depth costs no stack. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

struct ing_dom_node; /* a document, element, text, comment… */

/* Neighbours; NULL where there is none. */
const struct ing_dom_node *ing_dom_parent(const struct ing_dom_node *n);
const struct ing_dom_node *ing_dom_first_child(const struct ing_dom_node *n);
const struct ing_dom_node *ing_dom_next_sibling(const struct ing_dom_node *n);

/* The node behind n in document order, inside root's subtree; begin with n == root. NULL at the
 * end. The contents of <template> are not part of the tree. */
const struct ing_dom_node *ing_dom_next(
	const struct ing_dom_node *n, const struct ing_dom_node *root);
/* The same, stopping only at elements. */
const struct ing_dom_node *ing_dom_next_element(
	const struct ing_dom_node *n, const struct ing_dom_node *root);
/* The first HTML element of that name (lower case) below root, or NULL. */
const struct ing_dom_node *ing_dom_first(const struct ing_dom_node *root, const char *name);

bool ing_dom_is_element(const struct ing_dom_node *n);
/* An element of the HTML namespace with that name (lower case): not a <title> inside <svg>. */
bool ing_dom_is_html(const struct ing_dom_node *n, const char *name);
/* Local name of an element, in lower case as HTML compares names; "" for other nodes. */
const char *ing_dom_name(const struct ing_dom_node *n);

/* Value of an attribute (name in lower case), entities already decoded; "" when it has none, NULL
 * when there is no such attribute or n is no element. ret_bytes may be NULL. */
const char *ing_dom_attr(const struct ing_dom_node *n, const char *name, size_t *ret_bytes);
/* The value without white space around it equals `lower`, ASCII case aside. */
bool ing_dom_attr_is(const struct ing_dom_node *n, const char *name, const char *lower);
/* The value, taken as a list divided by white space, holds `lower`, ASCII case aside. */
bool ing_dom_attr_has_word(const struct ing_dom_node *n, const char *name, const char *lower);

/* Append the text below n (n itself, if it is text); false at the buffer's ceiling. */
bool ing_dom_text(const struct ing_dom_node *n, struct ing_buf *out);
