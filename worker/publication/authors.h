/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * authors.h - lists of authors that several sources know, merged by name.
 *
 * Ownership: everything is copied. Thread: any one.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/model/found_publication.h"

struct ing_author_list {
	struct ing_publication_author *items;
	uint32_t count; /* at most ING_MAX_PUBLICATION_AUTHORS */
};

void ing_author_list_done(struct ing_author_list *list);
/* What `others` say of authors that the list has, by the words of their names in any order and without
 * accents, fills what is not known of them. append: those that it has not are appended. Linear in
 * both. */
void ing_author_list_merge(struct ing_author_list *list,
	const struct ing_publication_author *others, uint32_t count, bool append);
