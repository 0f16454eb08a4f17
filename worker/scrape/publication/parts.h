/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parts.h - the parts of one publication while its page is read, and the rules by which a part is
 * replaced.
 *
 * Sizes are UTF-16 code units for text and numbers of entries for lists, as everything that was
 * measured with the reference system is. Memory is the arena's. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/data/json.h"
#include "worker/scrape/publication/publication.h"

#define ING_MAX_KEYWORDS 1000 /* of one publication; real ones have 60 at most */

enum ing_part_key {
	ING_PART_PMID,
	ING_PART_PMCID,
	ING_PART_DOI,
	ING_PART_TITLE,
	ING_PART_KEYWORDS, /* a list */
	ING_PART_ABSTRACT,
	ING_PART_FULLTEXT,
	ING_PARTS_
};

struct ing_text_value {
	const char *text; /* UTF-8, NUL-terminated */
	size_t bytes;
};

struct ing_part {
	struct ing_text_value content;     /* of a list: unused */
	const struct ing_text_value *list; /* of keywords */
	size_t size;
	enum ing_part_type type; /* ING_PART_TYPE_NA: nothing yet */
};

struct ing_parts {
	struct ing_arena *arena;
	struct ing_part items[ING_PARTS_];
};

void ing_parts_init(struct ing_parts *ps, struct ing_arena *arena);
/* Large enough to be believed: an identifier that is there, a title of 4, 2 keywords, an abstract
 * of 200, a full text of 2,000 that is more than a web page's. */
bool ing_part_usable(const struct ing_parts *ps, enum ing_part_key key);
/* Usable and of a final type: is not replaced any more. */
bool ing_part_is_final(const struct ing_parts *ps, enum ing_part_key key);

/* Offer a value, trimmed here. It is taken (true) unless the part is final, if it is not empty and
 * either of a better type, or of a final type and longer. */
bool ing_parts_offer(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *s, size_t bytes);
/* The same for keywords: trimmed, empty ones and repetitions dropped. */
bool ing_parts_offer_list(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const struct ing_text_value *values, size_t count);
/* An identifier, valid and in normal form, from a page at url (or NULL). Taken unless the part is
 * final, if of a better type; but where another identifier stands that differs by a version only
 * (ING.1, ING.1.v2; F1000; versions at Zenodo) the old one is kept and gets the type. */
bool ing_parts_offer_id(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *id, size_t bytes, const char *url);

/* {"content","type"}, {"list","type"}, or null. New reference. */
json_t *ing_part_json(const struct ing_parts *ps, enum ing_part_key key);
/* A JSON string, or null when text is NULL. New reference. */
json_t *ing_text_value_json(const char *text, size_t bytes);
