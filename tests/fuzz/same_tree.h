/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * same_tree.h - whether two trees are the same, for targets and tests that read a page in two ways.
 */
#pragma once
#include <string.h>

#include "common/markup/tree.h"

static inline bool same_name(
	const struct ing_tree *a, uint32_t x, const struct ing_tree *b, uint32_t y)
{
	return strcmp(a->names[x].text, b->names[y].text) == 0;
}

static inline bool same_element(const struct ing_tree *a, const struct ing_tree_node *x,
	const struct ing_tree *b, const struct ing_tree_node *y)
{
	if (!same_name(a, x->el.name, b, y->el.name) ||
		!same_name(a, x->el.written, b, y->el.written) || x->el.ordinal != y->el.ordinal ||
		x->attr_count != y->attr_count)
		return false;
	for (unsigned i = 0; i < x->attr_count; i++) {
		const struct ing_tree_attr *p = &a->attrs[x->el.attrs + i];
		const struct ing_tree_attr *q = &b->attrs[y->el.attrs + i];
		if (!same_name(a, p->name, b, q->name) || p->bytes != q->bytes ||
			memcmp(p->value, q->value, p->bytes) != 0)
			return false;
	}
	return true;
}

/* Returns the first node that differs, or NONE. */
static inline ing_node first_difference(const struct ing_tree *a, const struct ing_tree *b)
{
	ing_node n = 0;
	for (; n < a->count && n < b->count; n++) {
		const struct ing_tree_node *x = &a->nodes[n], *y = &b->nodes[n];
		if (x->parent != y->parent || x->end != y->end || x->prev != y->prev ||
			x->kind != y->kind)
			return n;
		if (x->kind == ING_NODE_ELEMENT
				? !same_element(a, x, b, y)
				: x->text.bytes != y->text.bytes ||
					  memcmp(x->text.data, y->text.data, x->text.bytes) != 0)
			return n;
	}
	return a->count == b->count && a->element_count == b->element_count ? ING_NODE_NONE : n;
}
