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
#include "common/data/unicode.h"

#define MAX_NAME_WORDS 16
#define MAX_NAME_BYTES 512 /* longer ones are compared by their beginning */

struct known_author { /* by its key */
	UT_hash_handle hh;
	uint32_t index;
	size_t key_bytes;
	char key[];
};

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words of a name, each in letters alone, with a NUL behind it. Returns how many. */
static size_t split_name(const char *name, struct ing_buf *out)
{
	static const char between[] = " \t\n.,;-";
	size_t count = 0, left = ING_MIN(strlen(name), (size_t)MAX_NAME_BYTES);
	while (left > 0 && count < MAX_NAME_WORDS) {
		size_t gap = strspn(name, between), before = out->len;
		gap = ING_MIN(gap, left);
		size_t bytes = ING_MIN(strcspn(name + gap, between), left - gap);
		ing_unicode_letters(name + gap, bytes, out);
		if (out->len > before && ing_buf_add_char(out, '\0'))
			count++;
		name += gap + bytes;
		left -= gap + bytes;
	}
	return count;
}

/* The key of a name; empty: it has no letters. */
static void make_key(const char *name, struct ing_buf *out)
{
	const char *words[MAX_NAME_WORDS];
	struct ing_buf letters;
	ing_buf_init(&letters, (size_t)MAX_NAME_BYTES * 8); /* NFKD makes text longer */
	size_t count = split_name(name, &letters);
	const char *at = ing_buf_str(&letters);
	for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
		words[i] = at;
	qsort(words, count, sizeof(*words), compare_words);
	for (size_t i = 0; i < count; i++)
		ing_buf_printf(out, "%s ", words[i]);
	ing_buf_done(&letters);
}

static void fill(char **field, const char *value)
{
	if (*field == NULL && value != NULL && *value != '\0')
		*field = ing_strdup(value);
}

static void fill_author(
	struct ing_publication_author *a, const struct ing_publication_author *other)
{
	fill(&a->name, other->name);
	fill(&a->orcid, other->orcid);
	fill(&a->email, other->email);
	fill(&a->phone, other->phone);
	fill(&a->uri, other->uri);
	a->corresponding = a->corresponding || other->corresponding;
}

static void append_author(struct ing_author_list *list, const struct ing_publication_author *other)
{
	bool is_full = (list->count & (list->count - 1)) == 0; /* room in powers of two */
	if (is_full)
		list->items = ing_realloc(list->items,
			(list->count == 0 ? 1 : (size_t)list->count * 2) * sizeof(*list->items));
	list->items[list->count] = (struct ing_publication_author){0};
	fill_author(&list->items[list->count++], other);
}

static struct known_author *find_author(struct known_author *known, const struct ing_buf *key)
{
	struct known_author *found = NULL;
	if (key->len > 0)
		HASH_FIND(hh, known, key->data, key->len, found);
	return found;
}

static void add_known(struct known_author **known, const struct ing_buf *key, uint32_t index)
{
	if (key->len == 0 || find_author(*known, key) != NULL)
		return;
	struct known_author *k = ing_alloc(sizeof(*k) + key->len);
	k->index = index;
	k->key_bytes = key->len;
	memcpy(k->key, key->data, key->len);
	HASH_ADD_KEYPTR(hh, *known, k->key, k->key_bytes, k);
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

/* -------------------------------------------------------------------------------------------- */

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
	*list = (struct ing_author_list){0};
}

void ing_author_list_merge(struct ing_author_list *list,
	const struct ing_publication_author *others, uint32_t count, bool append)
{
	struct known_author *known = NULL, *k, *next;
	struct ing_buf key;
	ing_buf_init(&key, MAX_NAME_BYTES * 8);
	for (uint32_t i = 0; i < list->count; i++) {
		ing_buf_clear(&key);
		make_key(list->items[i].name != NULL ? list->items[i].name : "", &key);
		add_known(&known, &key, i);
	}
	for (uint32_t i = 0; i < count; i++) {
		ing_buf_clear(&key);
		make_key(others[i].name != NULL ? others[i].name : "", &key);
		k = find_author(known, &key);
		struct ing_publication_author *same =
			k != NULL ? &list->items[k->index] : same_address(list, &others[i]);
		if (same != NULL) {
			fill_author(same, &others[i]);
		} else if (append && list->count < ING_MAX_PUBLICATION_AUTHORS) {
			/* Two of one name in one list are two people: only those of before are known. */
			append_author(list, &others[i]);
		}
	}
	HASH_ITER (hh, known, k, next) {
		HASH_DEL(known, k);
		free(k);
	}
	ing_buf_done(&key);
}
