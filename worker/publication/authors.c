/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names are compared by a key: their words without accents and case, sorted, so that "Müller, A. B."
 * and "A B Muller" are one.
 */
#include "worker/publication/authors.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/hash.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/unicode.h"

/* Longer names are compared by their beginning: making a key of 6,000 names is a turn's work, whatever
 * is in them. */
#define MAX_NAME_WORDS 8
#define MAX_WORD_BYTES 24
#define MAX_KEY_LETTERS 96 /* in bytes; one more word of any length may follow */
#define MAX_KEY_BYTES 1024

struct known_author { /* by its key */
	UT_hash_handle hh;
	uint32_t index;
};

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words of a name, each in letters alone, with a NUL behind it. Returns how many. */
static size_t split_name(const char *name, struct ing_buf *out)
{
	static const char between[] = " \t\n.,;-";
	size_t count = 0, tried = 0;
	while (count < MAX_NAME_WORDS && tried++ < 2 * MAX_NAME_WORDS &&
		out->len < MAX_KEY_LETTERS) {
		size_t before = out->len;
		name += strspn(name, between);
		size_t bytes = strcspn(name, between);
		if (bytes == 0)
			break;
		ing_unicode_letters(name, ing_utf8_cut(name, bytes, MAX_WORD_BYTES), out);
		if (out->len > before && ing_buf_add_char(out, '\0'))
			count++;
		name += bytes;
	}
	return count;
}

/* The key of a name, heap. */
static char *make_key(const char *name)
{
	const char *words[MAX_NAME_WORDS];
	struct ing_buf letters, key;
	ing_buf_init(&letters, MAX_KEY_BYTES); /* NFKD makes text longer */
	ing_buf_init(&key, MAX_KEY_BYTES * 2);
	size_t count = split_name(name, &letters);
	const char *at = ing_buf_str(&letters);
	for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
		words[i] = at;
	qsort(words, count, sizeof(*words), compare_words);
	for (size_t i = 0; i < count; i++) {
		ing_buf_add_str(&key, words[i]);
		ing_buf_add_char(&key, ' ');
	}
	char *made = ing_strdup(ing_buf_str(&key));
	ing_buf_done(&letters);
	ing_buf_done(&key);
	return made;
}

/* What is left of a list's bytes while it is merged. */
struct room {
	size_t bytes;
	bool is_short; /* something did not fit */
};

static size_t length_or_none(const char *s)
{
	return s != NULL ? strlen(s) : 0;
}

static size_t author_bytes(const struct ing_publication_author *a)
{
	return length_or_none(a->name) + length_or_none(a->orcid) + length_or_none(a->email) +
	       length_or_none(a->phone) + length_or_none(a->uri);
}

static void fill(char **field, const char *value, struct room *room)
{
	if (*field != NULL || value == NULL || *value == '\0')
		return;
	size_t bytes = strlen(value);
	if (bytes > room->bytes) {
		room->is_short = true;
		return;
	}
	*field = ing_strdup(value);
	room->bytes -= bytes;
}

static void fill_author(struct ing_publication_author *a,
	const struct ing_publication_author *other, struct room *room)
{
	fill(&a->name, other->name, room);
	fill(&a->orcid, other->orcid, room);
	fill(&a->email, other->email, room);
	fill(&a->phone, other->phone, room);
	fill(&a->uri, other->uri, room);
	a->corresponding = a->corresponding || other->corresponding;
}

/* All of one, or neither that one nor any after it. */
static void append_author(struct ing_author_list *list, const struct ing_publication_author *other,
	const char *key, struct room *room)
{
	if (room->is_short || author_bytes(other) > room->bytes) {
		room->is_short = true;
		return;
	}
	bool is_full = (list->count & (list->count - 1)) == 0; /* room in powers of two */
	if (is_full) {
		size_t most = list->count == 0 ? 1 : (size_t)list->count * 2;
		list->items = ing_realloc(list->items, most * sizeof(*list->items));
		list->keys = ing_realloc(list->keys, most * sizeof(*list->keys));
	}
	list->items[list->count] = (struct ing_publication_author){0};
	list->keys[list->count] = ing_strdup(key);
	fill_author(&list->items[list->count++], other, room);
}

static struct known_author *find_author(struct known_author *known, const char *key)
{
	struct known_author *found = NULL;
	if (*key != '\0')
		HASH_FIND(hh, known, key, strlen(key), found);
	return found;
}

/* Those of a list, by their keys. Returns an array, whose first is the table's head unless *ret_known is
 * NULL. */
static struct known_author *index_authors(
	const struct ing_author_list *list, struct known_author **ret_known)
{
	*ret_known = NULL;
	struct known_author *all = ing_alloc((list->count + (size_t)1) * sizeof(*all));
	for (uint32_t i = 0; i < list->count; i++) {
		const char *key = list->keys[i];
		all[i].index = i;
		if (*key != '\0' && find_author(*ret_known, key) == NULL)
			HASH_ADD_KEYPTR(hh, *ret_known, key, strlen(key), &all[i]);
	}
	return all;
}

/* One with the same address; for sources that give addresses without names. */
static struct ing_publication_author *same_address(
	struct ing_author_list *list, const struct ing_publication_author *other)
{
	for (uint32_t i = 0; i < list->count && i < 100; i++) {
		struct ing_publication_author *a = &list->items[i];
		bool nameless = a->name == NULL || other->name == NULL;
		if (nameless && a->email != NULL && other->email != NULL &&
			strcasecmp(a->email, other->email) == 0)
			return a;
	}
	return NULL;
}

static bool is_appended(const struct ing_publication_author *a, enum ing_author_append append)
{
	return append == ING_APPEND_ALL || (append == ING_APPEND_CORRESPONDING && a->corresponding);
}

/* -------------------------------------------------------------------------------------------- */

char **ing_author_keys(const struct ing_publication_author *authors, uint32_t count)
{
	char **keys = ing_alloc((count + (size_t)1) * sizeof(*keys));
	for (uint32_t i = 0; i < count; i++)
		keys[i] = make_key(authors[i].name != NULL ? authors[i].name : "");
	return keys;
}

void ing_author_keys_free(char **keys, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(keys[i]);
	free(keys);
}

void ing_author_list_done(struct ing_author_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		free(list->items[i].name);
		free(list->items[i].orcid);
		free(list->items[i].email);
		free(list->items[i].phone);
		free(list->items[i].uri);
	}
	free(list->items);
	ing_author_keys_free(list->keys, list->count);
	*list = (struct ing_author_list){0};
}

bool ing_author_list_merge(struct ing_author_list *list,
	const struct ing_publication_author *others, char *const *keys, uint32_t count,
	enum ing_author_append append, size_t max_bytes)
{
	struct room room = {.bytes = max_bytes > list->bytes ? max_bytes - list->bytes : 0};
	size_t before = room.bytes;
	struct known_author *known, *all = index_authors(list, &known);
	for (uint32_t i = 0; i < count; i++) {
		const struct known_author *k = find_author(known, keys[i]);
		struct ing_publication_author *same =
			k != NULL ? &list->items[k->index] : same_address(list, &others[i]);
		if (same != NULL) {
			fill_author(same, &others[i], &room);
		} else if (is_appended(&others[i], append) &&
			   list->count < ING_MAX_PUBLICATION_AUTHORS) {
			/* Two of one name in one list are two people: only those of before are known. */
			append_author(list, &others[i], keys[i], &room);
		}
	}
	list->bytes += before - room.bytes;
	HASH_CLEAR(hh, known);
	free(all);
	return !room.is_short;
}

json_t *ing_author_json(const struct ing_publication_author *a)
{
	json_t *o = json_object();
	ing_json_set_text(o, "name", a->name);
	ing_json_set_text(o, "orcid", a->orcid);
	ing_json_set_text(o, "email", a->email);
	ing_json_set_text(o, "phone", a->phone);
	ing_json_set_text(o, "uri", a->uri);
	return o;
}
