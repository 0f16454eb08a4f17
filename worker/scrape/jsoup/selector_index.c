/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Indexes of a page, each made when a search first needs it: elements by id and by class, positions
 * among siblings. They stay valid when :matchText makes pseudo elements, except for the positions
 * below the parent, which are dropped then; a pseudo element has its parent's id and classes, so it
 * is found by its parent. One thread, the matcher's.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/unicode.h"
#include "worker/scrape/jsoup/text.h"

struct ing_sel_word {
	const char *text; /* classes: any case of ASCII, lower case otherwise */
	uint32_t bytes;
	uint32_t hash;
	uint32_t first, count; /* in list */
	ing_node last;         /* while counting: the element it was last seen in */
	char *owned;           /* text, when it had to be lowered */
};

/* --- words --- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* With a secret seed, so that pages cannot be written whose words collide. */
static uint32_t hash_word(uint64_t seed, const char *s, uint32_t bytes, bool fold)
{
	uint64_t h = seed ^ bytes;
	for (uint32_t i = 0; i < bytes; i++) {
		h ^= (unsigned char)(fold ? lower(s[i]) : s[i]);
		h *= 0x9fb21c651e98df25u;
		h ^= h >> 32;
	}
	return (uint32_t)(h ^ h >> 29);
}

static bool same_word(const struct ing_sel_word *w, const char *s, uint32_t bytes, bool fold)
{
	if (w->bytes != bytes)
		return false;
	if (!fold)
		return memcmp(w->text, s, bytes) == 0;
	for (uint32_t i = 0; i < bytes; i++) {
		if (lower(w->text[i]) != lower(s[i]))
			return false;
	}
	return true;
}

static uint32_t *find_slot(
	struct ing_sel_index *x, const char *s, uint32_t bytes, uint32_t hash, bool fold)
{
	uint32_t mask = x->slot_count - 1, i = hash & mask;
	while (x->slots[i] != 0) {
		const struct ing_sel_word *w = &x->words[x->slots[i] - 1];
		if (w->hash == hash && same_word(w, s, bytes, fold))
			break;
		i = (i + 1) & mask;
	}
	return &x->slots[i];
}

static void grow_slots(struct ing_sel_index *x)
{
	uint32_t count = x->slot_count == 0 ? 256 : x->slot_count * 2;
	free(x->slots);
	x->slots = ing_alloc(count * sizeof(*x->slots));
	x->slot_count = count;
	for (uint32_t k = 0; k < x->word_count; k++) {
		uint32_t i = x->words[k].hash & (count - 1);
		while (x->slots[i] != 0)
			i = (i + 1) & (count - 1);
		x->slots[i] = k + 1;
	}
}

/* Returns the number of a word, which is added when it is new. */
static uint32_t intern(
	struct ing_matcher *m, struct ing_sel_index *x, const char *s, uint32_t bytes, bool fold)
{
	if (x->word_count * 2 >= x->slot_count)
		grow_slots(x);
	uint32_t hash = hash_word(m->seed, s, bytes, fold);
	uint32_t *slot = find_slot(x, s, bytes, hash, fold);
	if (*slot != 0)
		return *slot - 1;
	if (x->word_count == x->word_cap) {
		x->word_cap = x->word_cap == 0 ? 256 : x->word_cap * 2;
		x->words = ing_realloc(x->words, x->word_cap * sizeof(*x->words));
	}
	x->words[x->word_count] = (struct ing_sel_word){
		.text = s, .bytes = bytes, .hash = hash, .last = ING_NODE_NONE};
	*slot = ++x->word_count;
	return x->word_count - 1;
}

/* The number of a class as written: what is not ASCII is compared in lower case. */
static uint32_t intern_class(
	struct ing_matcher *m, struct ing_sel_index *x, const char *s, uint32_t bytes, bool ascii)
{
	if (ascii)
		return intern(m, x, s, bytes, true);
	struct ing_buf b;
	ing_buf_init(&b, 4 * (size_t)bytes + 16);
	ing_unicode_lower(s, bytes, &b);
	uint32_t before = x->word_count;
	char *owned = ing_buf_steal(&b);
	uint32_t number = intern(m, x, owned, (uint32_t)strlen(owned), true);
	if (x->word_count > before)
		x->words[number].owned = owned;
	else
		free(owned);
	return number;
}

/* --- elements by word --- */

struct pair {
	uint32_t word;
	ing_node node;
};

struct pairs {
	struct pair *list;
	size_t count, cap;
};

static void add_pair(struct ing_sel_index *x, struct pairs *p, uint32_t word, ing_node n)
{
	if (x->words[word].last == n)
		return; /* twice in one attribute */
	x->words[word].last = n;
	x->words[word].count++;
	if (p->count == p->cap) {
		p->cap = p->cap == 0 ? 1024 : p->cap * 2;
		p->list = ing_realloc(p->list, p->cap * sizeof(*p->list));
	}
	p->list[p->count++] = (struct pair){word, n};
}

static void add_classes(struct ing_matcher *m, struct ing_sel_index *x, struct pairs *p,
	const struct ing_tree_attr *a, ing_node n)
{
	const char *s = a->value, *end = s + a->bytes;
	while (s < end) {
		if (ing_sel_is_space(*s)) {
			s++;
			continue;
		}
		const char *from = s;
		unsigned char seen = 0;
		while (s < end && !ing_sel_is_space(*s))
			seen |= (unsigned char)*s++;
		add_pair(x, p, intern_class(m, x, from, (uint32_t)(s - from), seen < 0x80), n);
	}
}

/* Pairs come in document order; sorted by word, they stay so within it. */
static void sort_pairs(struct ing_sel_index *x, const struct pairs *p)
{
	x->list = ing_alloc((p->count + 1) * sizeof(*x->list));
	uint32_t at = 0;
	for (uint32_t i = 0; i < x->word_count; i++) {
		x->words[i].first = at;
		at += x->words[i].count;
		x->words[i].count = 0;
	}
	for (size_t i = 0; i < p->count; i++) {
		struct ing_sel_word *w = &x->words[p->list[i].word];
		x->list[w->first + w->count++] = p->list[i].node;
	}
}

static void make_index(struct ing_matcher *m, struct ing_sel_index *x, uint32_t name, bool classes)
{
	const struct ing_tree *t = m->t;
	struct pairs p = {0};
	x->ready = true;
	grow_slots(x);
	for (ing_node n = 0; n < t->count && name != ING_SEL_NONE; n++) {
		if (t->nodes[n].kind != ING_NODE_ELEMENT || t->nodes[n].attr_count == 0)
			continue;
		const struct ing_tree_attr *a = ing_tree_attr_of(t, n, name);
		if (a == NULL || a->bytes == 0)
			continue;
		if (!ing_sel_tick(m, 2 + (int32_t)(a->bytes >> 4)) && m->fail != 0)
			break; /* the search fails; the next bind starts again */
		if (classes)
			add_classes(m, x, &p, a, n);
		else
			add_pair(x, &p, intern(m, x, a->value, a->bytes, false), n);
	}
	sort_pairs(x, &p);
	free(p.list);
}

static void drop(struct ing_sel_index *x)
{
	for (uint32_t i = 0; i < x->word_count; i++)
		free(x->words[i].owned);
	free(x->words);
	free(x->slots);
	free(x->list);
	*x = (struct ing_sel_index){0};
}

static void look_up(struct ing_matcher *m, struct ing_sel_index *x, bool classes,
	const struct ing_sel_binding *b, struct ing_sel_bound *ret)
{
	if (!x->ready)
		make_index(m, x, classes ? m->class_name : m->id_name, classes);
	uint32_t hash = hash_word(m->seed, b->text, b->bytes, classes);
	uint32_t *slot = find_slot(x, b->text, b->bytes, hash, classes);
	if (*slot == 0)
		return;
	const struct ing_sel_word *w = &x->words[*slot - 1];
	ret->list = x->list + w->first;
	ret->count = w->count;
}

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
			look_up(m, &m->ids, false, b, ret);
			break;
		case ING_SEL_CLASS_VALUE:
			look_up(m, &m->classes, true, b, ret);
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
	drop(&m->ids);
	drop(&m->classes);
	for (unsigned i = 0; i < ING_SEL_PLACES_; i++) {
		free(m->places[i]);
		m->places[i] = NULL;
	}
	free(m->placed);
	free(m->type_counts);
	m->placed = NULL;
	m->type_counts = NULL;
}
