/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * authors.h - lists of authors that several sources know, merged by name.
 *
 * Ownership: everything is copied. Thread: any one.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/data/json.h"
#include "worker/model/found_publication.h"

struct ing_author_list {
	struct ing_publication_author *items;
	char **keys;    /* of each: what its name is compared by; "": it has no letters */
	uint32_t count; /* at most ING_MAX_PUBLICATION_AUTHORS */
	size_t bytes;   /* of what is known of them */
};

/* Of what is known of the authors of a list; the largest collaborations have 400 KB. */
#define ING_MAX_AUTHOR_LIST_BYTES ((size_t)1 << 20)
/* The same, of corresponding authors alone. */
#define ING_MAX_CORRESPONDING_BYTES ((size_t)128 << 10)

/* Which of those that a list has not are appended to it. */
enum ing_author_append { ING_APPEND_NONE, ING_APPEND_CORRESPONDING, ING_APPEND_ALL };

/* What the names of authors are compared by: the first letters of their first words, in any order. An array, to
 * be freed with ing_author_keys_free(). This is what merging costs: it is done once for an answer. */
char **ing_author_keys(const struct ing_publication_author *authors, uint32_t count);
void ing_author_keys_free(char **keys, uint32_t count);

void ing_author_list_done(struct ing_author_list *list);
/* What `others` say of authors that the list has, by the words of their names in any order and without
 * accents, fills what is not known of them. keys: theirs. Linear in both. Returns false when something was
 * left out, because the list would have had more than max_bytes. */
bool ing_author_list_merge(struct ing_author_list *list,
	const struct ing_publication_author *others, char *const *keys, uint32_t count,
	enum ing_author_append append, size_t max_bytes);
/* {"name","orcid","email","phone","uri"} of a corresponding author, null where it is not known. A new
 * reference. */
json_t *ing_author_json(const struct ing_publication_author *a);
