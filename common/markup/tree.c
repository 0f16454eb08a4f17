/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three arrays that grow by half, an intern table for names, and chunks for copied strings.
 *
 * While an element is open, its `end` is its last child, from which the next child gets its
 * previous sibling; closing sets the true end. So building needs no stack.
 */
#include "common/markup/tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "common/data/unicode.h"
#include "common/markup/tree_priv.h"

#define SPACE "\t\n\f\r "
#define MAX_NODES ((uint32_t)1 << 31)
#define MAX_NAMES ((uint32_t)1 << 24)
#define MAX_NAME_BYTES ((size_t)64 << 10) /* longer names are cut */
#define FIRST_NODES 1024
#define FIRST_NAMES 128
/* What is kept from page to page: about 3.5 MiB together, an article page of 500 KB. */
#define KEEP_NODES ((uint32_t)64 << 10)
#define KEEP_ATTRS ((uint32_t)64 << 10)
#define KEEP_NAMES ((uint32_t)4 << 10)
#define CHUNK_BYTES ((size_t)16 << 10)

struct ing_tree_chunk {
	struct ing_tree_chunk *next;
	size_t used, size;
	char data[];
};

/* --- memory --- */

/* Make room in *array for one more than `count`; false when memory is short. */
static bool grow_array(void **array, uint32_t *cap, uint32_t count, size_t each, uint32_t first)
{
	if (count < *cap)
		return true;
	uint32_t want = *cap == 0 ? first : *cap + *cap / 2;
	void *p = realloc(*array, (size_t)want * each);
	if (p == NULL)
		return false;
	*array = p;
	*cap = want;
	return true;
}

static void shrink_array(void *array, uint32_t *cap, uint32_t keep)
{
	if (*cap <= keep)
		return;
	void **a = array;
	free(*a);
	*a = NULL;
	*cap = 0;
}

/* Copy into the page's strings, with a NUL behind; NULL when memory is short. Sanitized builds give
 * every string memory of its own, so that overruns are seen. */
static char *keep_string(struct ing_tree_priv *priv, const char *s, size_t bytes)
{
	struct ing_tree_chunk *c = priv->chunks;
#ifdef ING_SANITIZED
	c = NULL;
#endif
	if (c == NULL || c->size - c->used <= bytes) {
#ifdef ING_SANITIZED
		size_t size = bytes + 1;
#else
		size_t size = bytes >= CHUNK_BYTES / 4 ? bytes + 1 : CHUNK_BYTES;
#endif
		c = malloc(sizeof(*c) + size);
		if (c == NULL)
			return NULL;
		*c = (struct ing_tree_chunk){.size = size};
		priv->chunk_bytes += sizeof(*c) + size;
		/* A string with a chunk of its own goes behind the one being filled. */
		if (size != CHUNK_BYTES && priv->chunks != NULL) {
			c->next = priv->chunks->next;
			priv->chunks->next = c;
		} else {
			c->next = priv->chunks;
			priv->chunks = c;
		}
	}
	char *to = c->data + c->used;
	if (bytes > 0)
		memcpy(to, s, bytes);
	to[bytes] = '\0';
	c->used += bytes + 1;
	return to;
}

static void free_strings(struct ing_tree_priv *priv)
{
	struct ing_tree_chunk *c = priv->chunks;
	while (c != NULL) {
		struct ing_tree_chunk *next = c->next;
		free(c);
		c = next;
	}
	priv->chunks = NULL;
	priv->chunk_bytes = 0;
}

/* --- names --- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_name(uint64_t seed, const char *s, size_t bytes)
{
	uint64_t h = seed ^ bytes;
	while (bytes > 0) {
		uint64_t word = 0;
		size_t n = ING_MIN(bytes, sizeof(word));
		memcpy(&word, s, n);
		h = mix(h ^ word, UINT64_C(0x9e3779b97f4a7c15) ^ seed);
		s += n;
		bytes -= n;
	}
	return mix(h, UINT64_C(0xd6e8feb86659fd93));
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *find_slot(const struct ing_tree *t, const char *name, size_t bytes)
{
	const struct ing_tree_priv *priv = t->priv;
	uint32_t mask = priv->slot_count - 1;
	uint32_t i = (uint32_t)hash_name(priv->seed, name, bytes) & mask;
	for (;; i = (i + 1) & mask) {
		uint32_t id = priv->slots[i];
		if (id == 0)
			break;
		const struct ing_tree_name *n = &t->names[id - 1];
		if (n->bytes == bytes && memcmp(n->text, name, bytes) == 0)
			break;
	}
	return &priv->slots[i];
}

static bool set_slots(struct ing_tree *t, uint32_t slot_count)
{
	uint32_t *slots = calloc(slot_count, sizeof(*slots));
	if (slots == NULL)
		return false;
	free(t->priv->slots);
	t->priv->slots = slots;
	t->priv->slot_count = slot_count;
	for (uint32_t i = 0; i < t->name_count; i++)
		*find_slot(t, t->names[i].text, t->names[i].bytes) = i + 1;
	return true;
}

/* Append a name that is not there; UINT32_MAX when there are too many or memory is short. */
static uint32_t add_name(struct ing_tree *t, const char *name, size_t bytes)
{
	struct ing_tree_priv *priv = t->priv;
	if (t->name_count >= MAX_NAMES || !grow_array((void **)&t->names, &priv->name_cap,
						  t->name_count, sizeof(t->names[0]), FIRST_NAMES))
		return UINT32_MAX;
	if (t->name_count >= priv->slot_count / 2 && !set_slots(t, priv->slot_count * 2))
		return UINT32_MAX;
	const char *text = keep_string(priv, name, bytes);
	if (text == NULL)
		return UINT32_MAX;
	uint32_t id = t->name_count++;
	t->names[id] = (struct ing_tree_name){
		.text = text,
		.bytes = (uint32_t)bytes,
		.lower = id,
	};
	*find_slot(t, text, bytes) = id + 1;
	return id;
}

static bool is_lower_ascii(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)s[i] >= 0x80 || (s[i] >= 'A' && s[i] <= 'Z'))
			return false;
	}
	return true;
}

static uint32_t intern_lower(struct ing_tree *t, const char *name, size_t bytes)
{
	struct ing_buf lower;
	ing_buf_init(&lower, MAX_NAME_BYTES * 2);
	ing_unicode_lower(name, bytes, &lower);
	bool same = lower.len == bytes && memcmp(ing_buf_str(&lower), name, bytes) == 0;
	uint32_t id = UINT32_MAX;
	if (!same)
		id = ing_tree_intern(t, ing_buf_str(&lower), lower.len);
	ing_buf_done(&lower);
	return id;
}

/* --- nodes --- */

/* A node behind the last one, child of the open element; NULL at the ceiling. */
static struct ing_tree_node *add_node(struct ing_tree *t, enum ing_node_kind kind)
{
	struct ing_tree_priv *priv = t->priv;
	if (priv->open == ING_NODE_NONE) {
		if (t->count > 1)
			return NULL;
		priv->open = ING_NODE_DOCUMENT; /* the first node of a page */
		t->nodes[ING_NODE_DOCUMENT].end = ING_NODE_NONE;
	}
	if (t->count >= MAX_NODES || !grow_array((void **)&t->nodes, &priv->node_cap, t->count,
					     sizeof(t->nodes[0]), FIRST_NODES))
		return NULL;
	struct ing_tree_node *n = &t->nodes[t->count];
	struct ing_tree_node *parent = &t->nodes[priv->open];
	n->parent = priv->open;
	n->end = t->count + 1;
	n->prev = parent->end;
	n->kind = (uint8_t)kind;
	n->pseudo = 0;
	n->attr_count = 0;
	parent->end = t->count++;
	return n;
}

/* Have the attributes of n at the end of all. */
static bool move_attrs(struct ing_tree *t, struct ing_tree_node *n)
{
	uint32_t from = n->el.attrs, to = t->attr_count;
	if (from + n->attr_count == to)
		return true;
	for (uint32_t i = 0; i < n->attr_count; i++) {
		if (to + i >= MAX_NODES || !grow_array((void **)&t->attrs, &t->priv->attr_cap,
						   to + i, sizeof(t->attrs[0]), FIRST_NODES))
			return false;
		t->attrs[to + i] = t->attrs[from + i];
	}
	n->el.attrs = to;
	t->attr_count = to + n->attr_count;
	return true;
}

/* An empty page; there is room for the document. */
static void start_page(struct ing_tree *t)
{
	struct ing_tree_priv *priv = t->priv;
	ing_must(grow_array(
		(void **)&t->nodes, &priv->node_cap, 0, sizeof(t->nodes[0]), FIRST_NODES));
	memset(priv->slots, 0, priv->slot_count * sizeof(*priv->slots));
	t->name_count = 0;
	uint32_t root = ing_tree_intern(t, "#root", 5);
	ing_must(root != UINT32_MAX);
	t->nodes[ING_NODE_DOCUMENT] = (struct ing_tree_node){
		.parent = ING_NODE_NONE,
		.prev = ING_NODE_NONE,
		.end = 1,
		.kind = ING_NODE_ELEMENT,
		.el = {.name = root, .written = root},
	};
	t->count = 1;
	t->attr_count = 0;
	t->element_count = 1;
	t->xml = t->has_pseudo = false;
	t->encoding = "UTF-8";
	priv->open = ING_NODE_NONE;
}

static void drop_index(struct ing_tree_priv *priv)
{
	free(priv->by_name);
	free(priv->name_first);
	priv->by_name = NULL;
	priv->name_first = NULL;
	priv->has_index = false;
}

/* Counting sort of the elements by name. */
static void make_index(const struct ing_tree *t)
{
	struct ing_tree_priv *priv = t->priv;
	uint32_t *first = ing_alloc((t->name_count + (size_t)2) * sizeof(*first));
	ing_node *by_name = ing_alloc(t->element_count * sizeof(*by_name));
	/* Counts are kept two places up: after the sums, first[name + 1] is where the name's next
	 * element goes, and once all went, where the next name begins. */
	for (ing_node n = 0; n < t->count; n++) {
		if (t->nodes[n].kind == ING_NODE_ELEMENT)
			first[t->nodes[n].el.name + 2]++;
	}
	for (uint32_t i = 2; i < t->name_count + 2; i++)
		first[i] += first[i - 1];
	for (ing_node n = 0; n < t->count; n++) {
		if (t->nodes[n].kind == ING_NODE_ELEMENT)
			by_name[first[t->nodes[n].el.name + 1]++] = n;
	}
	priv->name_first = first;
	priv->by_name = by_name;
	priv->indexed_names = t->name_count;
	priv->has_index = true;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_tree *ing_tree_new(void)
{
	struct ing_tree *t = ing_alloc(sizeof(*t));
	t->priv = ing_alloc(sizeof(*t->priv));
	if (getrandom(&t->priv->seed, sizeof(t->priv->seed), 0) != sizeof(t->priv->seed))
		t->priv->seed = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)t;
	t->priv->seed |= 1;
	ing_must(set_slots(t, FIRST_NAMES * 4));
	start_page(t);
	return t;
}

void ing_tree_free(struct ing_tree *t)
{
	if (t == NULL)
		return;
	free_strings(t->priv);
	drop_index(t->priv);
	free(t->priv->slots);
	free(t->priv->url);
	free(t->priv->base);
	free(t->priv);
	free(t->nodes);
	free(t->attrs);
	free(t->names);
	free(t);
}

void ing_tree_clear(struct ing_tree *t)
{
	struct ing_tree_priv *priv = t->priv;
	free_strings(priv);
	drop_index(priv);
	shrink_array(&t->nodes, &priv->node_cap, KEEP_NODES);
	shrink_array(&t->attrs, &priv->attr_cap, KEEP_ATTRS);
	t->name_count = 0;
	if (priv->name_cap > KEEP_NAMES) {
		shrink_array(&t->names, &priv->name_cap, 0);
		ing_must(set_slots(t, FIRST_NAMES * 4));
	}
	ing_tree_set_url(t, NULL);
	start_page(t);
}

size_t ing_tree_bytes(const struct ing_tree *t)
{
	const struct ing_tree_priv *priv = t->priv;
	size_t bytes = sizeof(*t) + sizeof(*priv) + priv->chunk_bytes +
		       priv->node_cap * sizeof(t->nodes[0]) + priv->attr_cap * sizeof(t->attrs[0]) +
		       priv->name_cap * sizeof(t->names[0]) +
		       priv->slot_count * sizeof(priv->slots[0]);
	if (priv->has_index)
		bytes += (t->element_count + t->name_count + (size_t)2) * sizeof(uint32_t);
	return bytes;
}

void ing_tree_set_url(struct ing_tree *t, const char *url)
{
	struct ing_tree_priv *priv = t->priv;
	free(priv->url);
	free(priv->base);
	priv->url = url != NULL ? ing_strdup(url) : NULL;
	priv->base = NULL;
	priv->has_base = false;
	t->url = priv->url;
}

uint32_t ing_tree_intern(struct ing_tree *t, const char *name, size_t bytes)
{
	if (bytes > MAX_NAME_BYTES)
		bytes = MAX_NAME_BYTES;
	uint32_t found = *find_slot(t, name, bytes);
	if (found != 0)
		return found - 1;
	uint32_t id = add_name(t, name, bytes);
	if (id == UINT32_MAX)
		return id;
	if (!is_lower_ascii(name, bytes)) {
		uint32_t lower = intern_lower(t, name, bytes);
		if (lower != UINT32_MAX)
			t->names[id].lower = lower;
	}
	const struct ing_tree_name *lower = &t->names[t->names[id].lower];
	t->names[id].flags = ing_tree_name_flags(lower->text, lower->bytes);
	return id;
}

bool ing_tree_open(struct ing_tree *t, uint32_t name)
{
	if (name >= t->name_count)
		return false;
	struct ing_tree_node *n = add_node(t, ING_NODE_ELEMENT);
	if (n == NULL)
		return false;
	t->priv->open = n->end - 1;
	n->end = ING_NODE_NONE;
	n->el.name = t->names[name].lower;
	n->el.written = name;
	n->el.attrs = t->attr_count;
	n->el.ordinal = t->element_count++;
	return true;
}

bool ing_tree_add_attr(
	struct ing_tree *t, uint32_t name, const char *value, size_t bytes, bool borrowed)
{
	return t->priv->open != ING_NODE_NONE &&
	       ing_tree_add_attr_to(t, t->priv->open, name, value, bytes, borrowed);
}

bool ing_tree_add_attr_to(struct ing_tree *t, ing_node element, uint32_t name, const char *value,
	size_t bytes, bool borrowed)
{
	struct ing_tree_node *n = &t->nodes[element];
	if (name >= t->name_count || n->attr_count == UINT16_MAX || bytes > UINT32_MAX ||
		!move_attrs(t, n) || t->attr_count >= MAX_NODES ||
		!grow_array((void **)&t->attrs, &t->priv->attr_cap, t->attr_count,
			sizeof(t->attrs[0]), FIRST_NODES))
		return false;
	if (!borrowed)
		value = keep_string(t->priv, value, bytes);
	if (value == NULL)
		return false;
	t->attrs[t->attr_count++] = (struct ing_tree_attr){
		.value = value,
		.bytes = (uint32_t)bytes,
		.name = t->names[name].lower,
	};
	n->attr_count++;
	return true;
}

bool ing_tree_add_text(
	struct ing_tree *t, enum ing_node_kind kind, const char *data, size_t bytes, bool borrowed)
{
	if (bytes > UINT32_MAX)
		return false;
	if (!borrowed)
		data = keep_string(t->priv, data, bytes);
	if (data == NULL)
		return false;
	struct ing_tree_node *n = add_node(t, kind);
	if (n == NULL)
		return false;
	n->text.data = data;
	n->text.bytes = (uint32_t)bytes;
	return true;
}

void ing_tree_close(struct ing_tree *t)
{
	struct ing_tree_priv *priv = t->priv;
	if (priv->open == ING_NODE_NONE)
		return;
	struct ing_tree_node *n = &t->nodes[priv->open];
	n->end = t->count;
	priv->open = n->parent;
}

void ing_tree_finish(struct ing_tree *t)
{
	while (t->priv->open != ING_NODE_NONE)
		ing_tree_close(t);
}

const char *ing_tree_name(const struct ing_tree *t, ing_node n)
{
	if (!ing_tree_is_element(t, n))
		return "";
	return t->names[t->nodes[ing_tree_attr_owner(t, n)].el.name].text;
}

bool ing_tree_is(const struct ing_tree *t, ing_node n, const char *name)
{
	return t->nodes[n].kind == ING_NODE_ELEMENT &&
	       strcmp(t->names[t->nodes[n].el.name].text, name) == 0;
}

uint32_t ing_tree_find_name(const struct ing_tree *t, const char *lower, size_t bytes)
{
	return *find_slot(t, lower, ING_MIN(bytes, MAX_NAME_BYTES)) - 1;
}

const struct ing_tree_attr *ing_tree_attr_of(const struct ing_tree *t, ing_node n, uint32_t name)
{
	const struct ing_tree_node *face = &t->nodes[ing_tree_attr_owner(t, n)];
	if (face->kind != ING_NODE_ELEMENT)
		return NULL;
	const struct ing_tree_attr *a = t->attrs + (face->attr_count > 0 ? face->el.attrs : 0);
	for (unsigned i = 0; i < face->attr_count; i++) {
		if (a[i].name == name)
			return &a[i];
	}
	return NULL;
}

const char *ing_tree_attr(const struct ing_tree *t, ing_node n, const char *name, size_t *ret_bytes)
{
	const struct ing_tree_node *face = &t->nodes[ing_tree_attr_owner(t, n)];
	if (face->kind != ING_NODE_ELEMENT || face->attr_count == 0)
		return NULL;
	uint32_t id = ing_tree_find_name(t, name, strlen(name));
	const struct ing_tree_attr *a = id != UINT32_MAX ? ing_tree_attr_of(t, n, id) : NULL;
	if (a == NULL)
		return NULL;
	if (ret_bytes != NULL)
		*ret_bytes = a->bytes;
	return a->value;
}

bool ing_tree_attr_has_word(
	const struct ing_tree *t, ing_node n, const char *name, const char *lower)
{
	const char *value = ing_tree_attr(t, n, name, NULL);
	size_t want = strlen(lower);
	while (value != NULL && *value != '\0') {
		value += strspn(value, SPACE);
		size_t bytes = strcspn(value, SPACE);
		if (bytes > 0 && bytes == want && strncasecmp(value, lower, bytes) == 0)
			return true;
		value += bytes;
	}
	return false;
}

ing_node ing_tree_next_named(const struct ing_tree *t, ing_node n, ing_node root, const char *lower)
{
	uint32_t name = ing_tree_find_name(t, lower, strlen(lower));
	uint32_t count;
	const ing_node *list = ing_tree_named(t, name, &count);
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list[middle] <= n)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && list[low] < t->nodes[root].end ? list[low] : ING_NODE_NONE;
}

const ing_node *ing_tree_named(const struct ing_tree *t, uint32_t name, uint32_t *ret_count)
{
	const struct ing_tree_priv *priv = t->priv;
	*ret_count = 0;
	if (name >= t->name_count)
		return NULL;
	if (!priv->has_index)
		make_index(t);
	if (name >= priv->indexed_names)
		return NULL;
	uint32_t from = priv->name_first[name], to = priv->name_first[name + 1];
	*ret_count = to - from;
	return to > from ? priv->by_name + from : NULL;
}

ing_node ing_tree_body(const struct ing_tree *t)
{
	ing_node body = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "body");
	return body != ING_NODE_NONE ? body : ING_NODE_DOCUMENT;
}
