/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elements by id and by class, an index each, made when a search first asks for one. Elements share
 * their class attributes, so that the words of a value are looked up once and then known by the value,
 * in a table of fixed size: values that share a slot are divided again. One thread, the matcher's.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/unicode.h"

#define FIRST_SLOTS 512
#define VALUE_BITS 8

struct ing_sel_word {
	const char *text; /* classes: any case of ASCII, lower case otherwise */
	uint32_t bytes;
	uint32_t hash;
	uint32_t first, count; /* in list */
	uint32_t last_value;   /* while counting: the value it was last seen in */
	char *owned;           /* text, when it had to be lowered */
};

/* --- words --- */

/* All of at most eight bytes; equal for equal ones of a length. */
static uint64_t load(const char *s, size_t bytes, bool fold)
{
	const unsigned char *u = (const unsigned char *)s;
	uint64_t eight = 0;
	if (bytes >= 8) {
		memcpy(&eight, s, 8);
	} else if (bytes >= 4) {
		uint32_t front, back;
		memcpy(&front, s, 4);
		memcpy(&back, s + bytes - 4, 4);
		eight = (uint64_t)back << 32 | front;
	} else if (bytes > 0) {
		eight = (uint64_t)u[0] << 16 | (uint64_t)u[bytes / 2] << 8 | u[bytes - 1];
	}
	return fold ? ing_sel_lower_eight(eight) : eight;
}

/* With a secret seed, so that pages cannot be written whose words collide. */
static uint32_t hash_word(uint64_t seed, const char *s, uint32_t bytes, bool fold)
{
	uint64_t h = seed ^ bytes;
	for (uint32_t i = 0; i < bytes; i += 8) {
		h ^= load(s + i, bytes - i, fold);
		h *= 0x9fb21c651e98df25u;
		h ^= h >> 32;
	}
	return (uint32_t)(h ^ h >> 29);
}

static bool same_word(const struct ing_sel_word *w, const char *s, uint32_t bytes, bool fold)
{
	if (w->bytes != bytes)
		return false;
	for (uint32_t i = 0; i < bytes; i += 8) {
		if (load(w->text + i, bytes - i, fold) != load(s + i, bytes - i, fold))
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
	uint32_t count = x->slot_count == 0 ? FIRST_SLOTS : x->slot_count * 2;
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
		x->word_cap = x->word_cap == 0 ? FIRST_SLOTS / 2 : x->word_cap * 2;
		x->words = ing_realloc(x->words, x->word_cap * sizeof(*x->words));
	}
	x->words[x->word_count] = (struct ing_sel_word){.text = s, .bytes = bytes, .hash = hash};
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

/* A value of class and its words. */
struct value {
	const char *text; /* NULL: none; the tree's */
	uint32_t bytes;
	uint32_t first, count; /* in words */
};

struct maker {
	struct ing_matcher *m;
	struct ing_sel_index *x;
	struct pair *pairs; /* in document order */
	size_t pair_count, pair_cap;
	uint32_t *words; /* of the values in slots and of some that were */
	uint32_t word_count, word_cap;
	uint32_t value_number; /* of values divided */
	struct value slots[1 << VALUE_BITS];
};

static void add_pair(struct maker *mk, uint32_t word, ing_node n)
{
	mk->x->words[word].count++;
	if (mk->pair_count == mk->pair_cap) {
		mk->pair_cap = mk->pair_cap == 0 ? 1024 : mk->pair_cap * 2;
		mk->pairs = ing_realloc(mk->pairs, mk->pair_cap * sizeof(*mk->pairs));
	}
	mk->pairs[mk->pair_count++] = (struct pair){word, n};
}

/* A word of the value that is divided. */
static void add_value_word(struct maker *mk, uint32_t word)
{
	if (mk->x->words[word].last_value == mk->value_number)
		return; /* twice in one attribute */
	mk->x->words[word].last_value = mk->value_number;
	if (mk->word_count == mk->word_cap) {
		mk->word_cap = mk->word_cap == 0 ? 256 : mk->word_cap * 2;
		mk->words = ing_realloc(mk->words, mk->word_cap * sizeof(*mk->words));
	}
	mk->words[mk->word_count++] = word;
}

static void divide(struct maker *mk, const struct ing_tree_attr *a, struct value *ret)
{
	const char *s = a->value, *end = s + a->bytes;
	*ret = (struct value){.text = s, .bytes = a->bytes, .first = mk->word_count};
	mk->value_number++;
	while (s < end) {
		if (ing_sel_is_space(*s)) {
			s++;
			continue;
		}
		const char *from = s;
		unsigned char seen = 0;
		while (s < end && !ing_sel_is_space(*s))
			seen |= (unsigned char)*s++;
		add_value_word(
			mk, intern_class(mk->m, mk->x, from, (uint32_t)(s - from), seen < 0x80));
	}
	ret->count = mk->word_count - ret->first;
}

/* By the length and the ends of a value, whatever its length. */
static struct value *slot_of(struct maker *mk, const struct ing_tree_attr *a)
{
	uint32_t less = a->bytes > 8 ? a->bytes - 8 : 0;
	uint64_t ends = load(a->value, a->bytes, false) ^
			load(a->value + less, a->bytes - less, false) * 31;
	return &mk->slots[(ends ^ a->bytes) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - VALUE_BITS)];
}

static void add_classes(struct maker *mk, const struct ing_tree_attr *a, ing_node n)
{
	struct value *v = slot_of(mk, a);
	if (v->text == NULL || v->bytes != a->bytes || memcmp(v->text, a->value, a->bytes) != 0)
		divide(mk, a, v);
	for (uint32_t i = 0; i < v->count; i++)
		add_pair(mk, mk->words[v->first + i], n);
}

/* Pairs come in document order; sorted by word, they stay so within it. */
static void sort_pairs(const struct maker *mk)
{
	struct ing_sel_index *x = mk->x;
	x->list = ing_alloc((mk->pair_count + 1) * sizeof(*x->list));
	uint32_t at = 0;
	for (uint32_t i = 0; i < x->word_count; i++) {
		x->words[i].first = at;
		at += x->words[i].count;
		x->words[i].count = 0;
	}
	for (size_t i = 0; i < mk->pair_count; i++) {
		struct ing_sel_word *w = &x->words[mk->pairs[i].word];
		x->list[w->first + w->count++] = mk->pairs[i].node;
	}
}

/* The attribute of an element, not pseudo; NULL when it has none, or an empty one. */
static const struct ing_tree_attr *find_attr(const struct ing_tree *t, ing_node n, uint32_t name)
{
	const struct ing_tree_node *node = &t->nodes[n];
	if (node->kind != ING_NODE_ELEMENT)
		return NULL;
	for (unsigned i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		if (a->name == name)
			return a->bytes > 0 ? a : NULL;
	}
	return NULL;
}

static void make_index(struct ing_matcher *m, struct ing_sel_index *x, uint32_t name, bool classes)
{
	const struct ing_tree *t = m->t;
	struct maker mk = {.m = m, .x = x};
	x->ready = true;
	grow_slots(x);
	for (ing_node n = 0; n < t->count && name != ING_SEL_NONE; n++) {
		const struct ing_tree_attr *a = find_attr(t, n, name);
		if (a == NULL)
			continue;
		if (!ing_sel_tick(m, 2 + (int32_t)(a->bytes >> 4)) && m->fail != 0)
			break; /* the search fails; the next bind starts again */
		if (classes)
			add_classes(&mk, a, n);
		else
			add_pair(&mk, intern(m, x, a->value, a->bytes, false), n);
	}
	sort_pairs(&mk);
	free(mk.pairs);
	free(mk.words);
}

/* -------------------------------------------------------------------------------------------- */

void ing_sel_look_up(struct ing_matcher *m, struct ing_sel_index *x, bool classes,
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

void ing_sel_drop_words(struct ing_sel_index *x)
{
	for (uint32_t i = 0; i < x->word_count; i++)
		free(x->words[i].owned);
	free(x->words);
	free(x->slots);
	free(x->list);
	*x = (struct ing_sel_index){0};
}
