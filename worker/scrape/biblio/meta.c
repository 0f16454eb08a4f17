/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The elements are in one array in document order. Each attribute that can name one is an entry of
 * a chained hash table; chains are in document order too. Reading is linear whatever the names are,
 * because nothing is searched while chains are built, and a search walks one chain at most.
 *
 * Names are hashed with ':' as '.', so that both ways of comparing use the same chains.
 */
#include "worker/scrape/biblio/meta.h"

#include <string.h>
#include <strings.h>

#define KEYS 5 /* of enum ing_meta_key */
#define MIN_SLOTS 64

struct entry {
	struct entry *next; /* in its slot, in document order */
	const struct ing_meta *meta;
	const char *value; /* of the attribute, in lower case */
	uint32_t hash;
	uint32_t key;
};

struct slot {
	struct entry *first, *last;
};

/* An element and its entries side by side, so that a search can go on where it was. */
struct item {
	struct ing_meta meta; /* first: the two have the same address */
	struct entry entries[KEYS];
};

struct ing_metas {
	struct item *items;
	size_t count;
	struct slot *slots;
	size_t mask; /* slots less one; a power of two less one */
};

static uint32_t hash_name(const char *s)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	for (; *s != '\0'; s++)
		hash = (hash ^ (unsigned char)(*s == ':' ? '.' : *s)) * 16777619U;
	return hash ^ hash >> 15;
}

static bool is_space(char c)
{
	return c != '\0' && (unsigned char)c <= ' ';
}

/* Trimmed and in lower case: the tree's own string when it is that already. NULL for an empty
 * one. */
static const char *normal_name(struct ing_arena *ar, const char *s, size_t bytes)
{
	bool changed = false;
	for (; bytes > 0 && is_space(s[bytes - 1]); bytes--)
		changed = true;
	for (; bytes > 0 && is_space(*s); bytes--)
		s++;
	for (size_t i = 0; i < bytes && !changed; i++)
		changed = s[i] >= 'A' && s[i] <= 'Z';
	if (bytes == 0)
		return NULL;
	if (!changed)
		return s;
	char *copy = ing_arena_strndup(ar, s, bytes);
	for (size_t i = 0; i < bytes; i++) {
		if (copy[i] >= 'A' && copy[i] <= 'Z')
			copy[i] = (char)(copy[i] | 0x20);
	}
	return copy;
}

static const char *key_value(const struct ing_meta *m, enum ing_meta_key key)
{
	switch (key) {
	case ING_META_NAME:
		return m->name;
	case ING_META_PROPERTY:
		return m->property;
	case ING_META_ITEMPROP:
		return m->itemprop;
	case ING_META_ID:
		return m->id;
	case ING_META_HTTP_EQUIV:
		return m->http_equiv;
	}
	return NULL;
}

static void read_attrs(
	const struct ing_tree *t, ing_node n, struct ing_arena *ar, struct ing_meta *m)
{
	const struct ing_tree_node *node = &t->nodes[n];
	m->node = n;
	for (uint32_t i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		const char *name = t->names[a->name].text;
		const char **value = NULL;
		if (strcmp(name, "content") == 0) {
			m->content = a->value;
			m->content_bytes = a->bytes;
		} else if (strcmp(name, "name") == 0) {
			value = &m->name;
		} else if (strcmp(name, "property") == 0) {
			value = &m->property;
		} else if (strcmp(name, "itemprop") == 0) {
			value = &m->itemprop;
		} else if (strcmp(name, "id") == 0) {
			value = &m->id;
		} else if (strcmp(name, "http-equiv") == 0) {
			value = &m->http_equiv;
		} else if (strcmp(name, "scheme") == 0) {
			value = &m->scheme;
		}
		if (value != NULL)
			*value = normal_name(ar, a->value, a->bytes);
	}
}

static void add_entries(struct ing_metas *ms, struct item *it)
{
	for (uint32_t key = 0; key < KEYS; key++) {
		struct entry *e = &it->entries[key];
		*e = (struct entry){.meta = &it->meta, .key = key};
		e->value = key_value(&it->meta, (enum ing_meta_key)key);
		if (e->value == NULL)
			continue;
		e->hash = hash_name(e->value);
		struct slot *slot = &ms->slots[e->hash & ms->mask];
		if (slot->last == NULL)
			slot->first = e;
		else
			slot->last->next = e;
		slot->last = e;
	}
}

/* `dotted`, each of whose '.' may be ':' in s. */
static bool equals_dotted(const char *s, const char *dotted)
{
	for (; *dotted != '\0'; s++, dotted++) {
		if (*s != *dotted && !(*dotted == '.' && *s == ':'))
			return false;
	}
	return *s == '\0';
}

/* Where the search behind `after` begins: at one of its own entries, if it has that name, else at
 * the chain's front (`*ret_skip` elements of which are not behind it). */
static const struct entry *begin_search(const struct ing_metas *ms, const struct ing_meta *after,
	uint32_t keys, uint32_t hash, ing_node *ret_behind)
{
	*ret_behind = 0;
	if (after == NULL)
		return ms->slots[hash & ms->mask].first;
	*ret_behind = after->node;
	const struct item *it = (const struct item *)after;
	for (uint32_t key = 0; key < KEYS; key++) {
		const struct entry *e = &it->entries[key];
		if ((keys & 1U << key) != 0 && e->value != NULL && e->hash == hash)
			return e->next;
	}
	return ms->slots[hash & ms->mask].first;
}

/* -------------------------------------------------------------------------------------------- */

void ing_metas_read(struct ing_view *v)
{
	struct ing_metas *ms = ing_arena_alloc(v->arena, sizeof(*ms));
	uint32_t count = 0, id = ing_tree_find_name(v->tree, "meta", 4);
	const ing_node *nodes = id == UINT32_MAX ? NULL : ing_tree_named(v->tree, id, &count);
	size_t slots = MIN_SLOTS;
	while (slots < (size_t)count * 2)
		slots *= 2;
	ms->mask = slots - 1;
	ms->slots = ing_arena_alloc(v->arena, slots * sizeof(*ms->slots));
	ms->count = count;
	ms->items = ing_arena_alloc(v->arena, (count + (size_t)1) * sizeof(*ms->items));
	for (size_t i = 0; i < count; i++) {
		struct item *it = &ms->items[i];
		read_attrs(v->tree, nodes[i], v->arena, &it->meta);
		it->meta.next = i + 1 < count ? &it[1].meta : NULL;
		add_entries(ms, it);
	}
	v->metas = ms;
}

const struct ing_meta *ing_metas_first(const struct ing_view *v)
{
	return v->metas->count == 0 ? NULL : &v->metas->items[0].meta;
}

const struct ing_meta *ing_metas_find(const struct ing_view *v, const struct ing_meta *after,
	enum ing_meta_key key, const char *lower)
{
	uint32_t hash = hash_name(lower);
	ing_node behind;
	const struct entry *e = begin_search(v->metas, after, 1U << key, hash, &behind);
	for (; e != NULL; e = e->next) {
		if (e->key == key && e->hash == hash && e->meta->node > behind &&
			strcmp(e->value, lower) == 0)
			return e->meta;
	}
	return NULL;
}

const struct ing_meta *ing_metas_find_dotted(
	const struct ing_view *v, const struct ing_meta *after, const char *dotted)
{
	uint32_t hash = hash_name(dotted);
	const uint32_t keys = 1U << ING_META_NAME | 1U << ING_META_PROPERTY;
	ing_node behind;
	const struct entry *e = begin_search(v->metas, after, keys, hash, &behind);
	for (; e != NULL; e = e->next) {
		if ((keys & 1U << e->key) != 0 && e->hash == hash && e->meta->node > behind &&
			equals_dotted(e->value, dotted))
			return e->meta;
	}
	return NULL;
}
