/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parts.h - the parts of one publication while its page is read, and the rules by which a part is
 * replaced.
 *
 * Sizes are UTF-16 code units of text and entries of lists, the units of PubFetcher's thresholds.
 * Memory is in the arena. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/data/json.h"
#include "worker/scrape/publication/publication.h"

#define ING_MAX_KEYWORDS 1000 /* of one publication; real ones have up to 60 */

struct ing_part {
	struct ing_text_value content;     /* unused for a list */
	const struct ing_text_value *list; /* of keywords, MeSH terms */
	const bool *majors; /* of MeSH terms: which are major topics; NULL of keywords */
	size_t size;
	enum ing_part_type type; /* ING_PART_TYPE_NA: no value yet */
};

struct ing_parts {
	struct ing_arena *arena;
	struct ing_part items[ING_PARTS_];
};

void ing_parts_init(struct ing_parts *ps, struct ing_arena *arena);
/* Whether a part is large enough: any identifier, a title of 4, 2 keywords, an abstract of 200, a
 * full text of 2,000 and of a better type than webpage. */
bool ing_part_usable(const struct ing_parts *ps, enum ing_part_key key);
/* Whether it is usable and of a final type, so that it is not replaced any more. */
bool ing_part_is_final(const struct ing_parts *ps, enum ing_part_key key);

/* Offer a value, which is trimmed. It replaces the part, and true is returned, if it is not empty,
 * the part is not final, and the value is of a better type, or of a final type and longer. */
bool ing_parts_offer(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *s, size_t bytes);
/* The same for keywords, which are trimmed; empty ones and repetitions are dropped. */
bool ing_parts_offer_list(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const struct ing_text_value *values, size_t count);
/* The same for MeSH terms; majors has an entry for each. */
bool ing_parts_offer_mesh(struct ing_parts *ps, enum ing_part_type type,
	const struct ing_text_value *terms, const bool *majors, size_t count);
/* The same for an identifier, valid and in normal form, from a page at url (or NULL): it replaces
 * the part if it is of a better type. Where it differs from the former one by a version only (X.1
 * and X.1.v2; F1000; versions at Zenodo) the former one is kept with the better type. */
bool ing_parts_offer_id(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *id, size_t bytes, const char *url);

/* Returns {"content","type"}, {"list","type"}, or null, as a new reference. A list is of keywords, or
 * of MeSH terms {"term","majorTopic","uniqueId"}. */
json_t *ing_part_json(const struct ing_parts *ps, enum ing_part_key key);
/* Returns a JSON string, or null when text is NULL, as a new reference. */
json_t *ing_text_value_json(const char *text, size_t bytes);
