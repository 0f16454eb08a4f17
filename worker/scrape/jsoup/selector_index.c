/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a search looks: elements by name, id and class (selector_words.c), positions among siblings,
 * which are counted when a search first needs them. They stay valid when :matchText makes pseudo
 * elements, except for the positions below the parent, which are dropped then; a pseudo element has
 * its parent's id and classes, so it is found by its parent. One thread, the matcher's.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdlib.h>
#include <string.h>

/* --- places among siblings --- */

static uint32_t name_of(const struct ing_tree *t, ing_node n)
{
	return t->nodes[ing_tree_attr_owner(t, n)].el.name;
}

/* Places of one direction: forward first, then what is left of the total behind each. */
static void place_children(struct ing_matcher *m, ing_node parent)
{
	uint32_t *first = m->places[ING_SEL_CHILD], *last = m->places[ING_SEL_LAST_CHILD];
	uint32_t total = 0;
	ing_node n;
	for (n = ing_sel_first_element(m, parent); n != ING_NODE_NONE;
		n = ing_sel_next_element(m, n))
		first[n] = ++total;
	for (n = ing_sel_first_element(m, parent); n != ING_NODE_NONE;
		n = ing_sel_next_element(m, n))
		last[n] = total + 1 - first[n];
}

/* The same by name; type_counts is all zero between calls. */
static void place_types(struct ing_matcher *m, ing_node parent)
{
	uint32_t *first = m->places[ING_SEL_OF_TYPE], *last = m->places[ING_SEL_LAST_OF_TYPE];
	uint32_t *counts = m->type_counts;
	ing_node n;
	for (n = ing_sel_first_element(m, parent); n != ING_NODE_NONE;
		n = ing_sel_next_element(m, n))
		first[n] = ++counts[name_of(m->t, n)];
	for (n = ing_sel_first_element(m, parent); n != ING_NODE_NONE;
		n = ing_sel_next_element(m, n))
		last[n] = counts[name_of(m->t, n)] + 1 - first[n];
	for (n = ing_sel_first_element(m, parent); n != ING_NODE_NONE;
		n = ing_sel_next_element(m, n))
		counts[name_of(m->t, n)] = 0;
}

static void make_places(struct ing_matcher *m, enum ing_sel_place pair)
{
	if (m->placed == NULL)
		m->placed = ing_alloc(m->t->count);
	for (unsigned i = 0; i < 2; i++) {
		if (m->places[pair + i] == NULL)
			m->places[pair + i] = ing_alloc(m->t->count * sizeof(uint32_t));
	}
	if (pair == ING_SEL_OF_TYPE && m->type_counts == NULL)
		m->type_counts = ing_alloc((m->t->name_count + (size_t)1) * sizeof(uint32_t));
}

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_sel_place(struct ing_matcher *m, ing_node n, enum ing_sel_place place)
{
	ing_node parent = m->t->nodes[n].parent;
	if (parent == ING_NODE_NONE)
		return 1; /* the document */
	enum ing_sel_place pair = place < ING_SEL_OF_TYPE ? ING_SEL_CHILD : ING_SEL_OF_TYPE;
	uint8_t bit = pair == ING_SEL_CHILD ? 1 : 2;
	if (m->places[pair] == NULL)
		make_places(m, pair);
	if ((m->placed[parent] & bit) == 0) {
		m->placed[parent] |= bit;
		if (pair == ING_SEL_CHILD)
			place_children(m, parent);
		else
			place_types(m, parent);
	}
	return m->places[place][n];
}

void ing_sel_forget_places(struct ing_matcher *m, ing_node parent)
{
	if (m->placed != NULL)
		m->placed[parent] = 0;
}

bool ing_sel_make_bounds(struct ing_matcher *m, const struct ing_selector *sel)
{
	if (sel->bindings > m->bound_cap) {
		m->bound_cap = sel->bindings;
		m->bounds = ing_realloc(m->bounds, m->bound_cap * sizeof(*m->bounds));
	}
	struct ing_sel_bound *ret = m->bounds;
	for (const struct ing_sel_binding *b = sel->first_binding; b != NULL; b = b->next, ret++) {
		*ret = (struct ing_sel_bound){.name = ING_SEL_NONE};
		switch (b->kind) {
		case ING_SEL_NAME:
			ret->name = ing_tree_find_name(m->t, b->text, b->bytes);
			if (ret->name != ING_SEL_NONE)
				ret->list = ing_tree_named(m->t, ret->name, &ret->count);
			break;
		case ING_SEL_ID_VALUE:
			ing_sel_look_up(m, &m->ids, false, b, ret);
			break;
		case ING_SEL_CLASS_VALUE:
			ing_sel_look_up(m, &m->classes, true, b, ret);
			break;
		}
	}
	return m->fail == 0;
}

uint32_t ing_sel_list_from(const ing_node *list, uint32_t count, ing_node n)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list[middle] < n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool ing_sel_list_has(const ing_node *list, uint32_t count, ing_node n)
{
	uint32_t at = ing_sel_list_from(list, count, n);
	return at < count && list[at] == n;
}

static int compare_nodes(const void *a, const void *b)
{
	const ing_node *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* A list of the page with the pseudo elements that share the names of its elements. */
static void add_pseudo(struct ing_matcher *m, struct ing_sel_source *s)
{
	const struct ing_tree *t = m->t;
	size_t count = 0, cap = (size_t)s->count * 2 + 16;
	ing_node *list = ing_alloc(cap * sizeof(*list));
	for (uint32_t i = 0; i < s->count; i++) {
		ing_node n = s->list[i];
		for (; n != ING_NODE_NONE; n = n == s->list[i] ? ing_tree_first_child(t, n)
							       : ing_tree_next_sibling(t, n)) {
			if (n != s->list[i] && !t->nodes[n].pseudo)
				continue;
			if (count == cap) {
				cap *= 2;
				list = ing_realloc(list, cap * sizeof(*list));
			}
			list[count++] = n;
		}
		ing_sel_tick(m, 1);
	}
	qsort(list, count, sizeof(*list), compare_nodes);
	if (m->list_count == m->list_cap) {
		m->list_cap = m->list_cap == 0 ? 8 : m->list_cap * 2;
		m->lists = ing_realloc(m->lists, m->list_cap * sizeof(*m->lists));
	}
	m->lists[m->list_count++] = list;
	s->list = list;
	s->count = (uint32_t)count;
}

void ing_sel_find_source(
	struct ing_matcher *m, const struct ing_sel_step *step, struct ing_sel_source *ret)
{
	*ret = (struct ing_sel_source){.count = m->t->count};
	for (uint32_t i = 0; i < step->cheap; i++) {
		const struct ing_sel_simple *x = step->tests[i];
		if (x->op != ING_SEL_TAG && x->op != ING_SEL_ID && x->op != ING_SEL_CLASS)
			continue;
		const struct ing_sel_bound *b = &m->bounds[x->binding];
		if (b->count < ret->count) {
			ret->list = b->list;
			ret->count = b->count;
			ret->empty = b->count == 0;
		}
	}
	if (ret->list != NULL && m->t->has_pseudo)
		add_pseudo(m, ret);
}

void ing_sel_drop_index(struct ing_matcher *m)
{
	ing_sel_drop_words(&m->ids);
	ing_sel_drop_words(&m->classes);
	for (unsigned i = 0; i < ING_SEL_PLACES_; i++) {
		free(m->places[i]);
		m->places[i] = NULL;
	}
	free(m->placed);
	free(m->type_counts);
	m->placed = NULL;
	m->type_counts = NULL;
}
