/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * known.h - one publication as far as it is known: its parts and fields, where each is from, and the
 * rules by which a later one replaces it.
 *
 * Sizes are UTF-16 code units of text and entries of lists, the units of PubFetcher's thresholds.
 * Ownership: everything is copied and freed with it. Thread: any one.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/found_publication.h"
#include "worker/publication/authors.h"

/* Of one record. What is longer or more is cut, at a character, or dropped. */
#define ING_MAX_KNOWN_FULLTEXT_BYTES ((size_t)4 << 20) /* a book; writing it takes 6 ms */
#define ING_MAX_KNOWN_TITLE_BYTES ((size_t)16 << 10)
#define ING_MAX_KNOWN_ABSTRACT_BYTES ((size_t)1 << 20)
#define ING_MAX_KNOWN_FIELD_BYTES ((size_t)4 << 10)
#define ING_MAX_KNOWN_TERM_BYTES ((size_t)500) /* the longest MeSH term has 104 */
/* Of a list, with its URIs: 2,000 of the longest MeSH terms have 210 KB. */
#define ING_MAX_KNOWN_LIST_BYTES ((size_t)256 << 10)
#define ING_MAX_KNOWN_SITES 64u

/* An exchange that something is from. */
struct ing_known_source {
	enum ing_part_type type;
	const char *url; /* NULL: given by whoever asked */
	int64_t time_ms; /* since 1970 */
	unsigned ask;    /* number of the ask; 0: none */
};

struct ing_known_origin { /* the same, owned */
	enum ing_part_type type;
	char *url;
	int64_t time_ms;
	unsigned ask;
};

struct ing_known_part {
	char *text; /* NULL: a list, or nothing */
	struct ing_publication_term *terms;
	uint32_t term_count;
	size_t size; /* 0: nothing */
	struct ing_known_origin from;
};

struct ing_known_field {
	char *text; /* NULL: unknown */
	struct ing_known_origin from;
};

enum ing_known_field_key {
	ING_KNOWN_JOURNAL_TITLE,
	ING_KNOWN_PUB_DATE,
	ING_KNOWN_LICENCE,
	ING_KNOWN_PUBLISHER,
	ING_KNOWN_OPENALEX_ID,
	ING_KNOWN_OA,        /* "true", "false" */
	ING_KNOWN_PREPRINT,  /* the same */
	ING_KNOWN_CITATIONS, /* a number */
	ING_KNOWN_FIELDS_
};

struct ing_known_site { /* a page that was read */
	char *url, *from;
	enum ing_part_type type;
	int64_t time_ms;
};

struct ing_known {
	struct ing_known_part parts[ING_PARTS_];
	struct ing_known_field fields[ING_KNOWN_FIELDS_];
	struct ing_author_list authors, corresponding;
	struct ing_known_site *sites;
	uint32_t site_count;
	bool cut; /* what was offered was too long; for the owner to clear */
};

void ing_known_init(struct ing_known *r);
void ing_known_done(struct ing_known *r);
/* Everything but the identifiers goes. */
void ing_known_clear(struct ing_known *r);

bool ing_known_has(const struct ing_known *r, enum ing_part_key key);
bool ing_known_usable(const struct ing_known *r, enum ing_part_key key);
/* Usable and of a final type, so that it is not replaced any more. */
bool ing_known_final(const struct ing_known *r, enum ing_part_key key);
/* No part but identifiers. */
bool ing_known_empty(const struct ing_known *r);
/* A part other than the identifiers is usable. */
bool ing_known_any_usable(const struct ing_known *r);
/* The text of a part, or NULL. */
const char *ing_known_text(const struct ing_known *r, enum ing_part_key key);

enum ing_known_change { ING_KNOWN_KEPT, ING_KNOWN_SET, ING_KNOWN_CHANGED };

/* Offers an identifier: KEPT, SET (there was none, or its type got better), CHANGED (there was
 * another, which is replaced: the publication is another one, too). It has to be valid; versions of
 * one work are the same work, and the one that came first stays. */
enum ing_known_change ing_known_offer_id(struct ing_known *r, enum ing_part_key key, const char *s,
	const struct ing_known_source *source);
/* Drops an identifier. */
void ing_known_drop_id(struct ing_known *r, enum ing_part_key key);
/* Whether text or a list of this type and size replaces the part. */
bool ing_known_would_set(
	const struct ing_known *r, enum ing_part_key key, enum ing_part_type type, size_t size);
/* Offers another part; text is trimmed, empty and repeated entries of a list are dropped. */
bool ing_known_offer(struct ing_known *r, const struct ing_publication_offer *offer,
	const struct ing_known_source *source);
/* Sets a field that is not known yet; NULL and "" are nothing. */
void ing_known_set_field(struct ing_known *r, enum ing_known_field_key key, const char *text,
	const struct ing_known_source *source);
/* Open access, preprint: what said that it is wins over what said that it is not. */
void ing_known_set_flag(struct ing_known *r, enum ing_known_field_key key, bool is_so,
	const struct ing_known_source *source);
bool ing_known_is_oa(const struct ing_known *r);
void ing_known_add_site(struct ing_known *r, const char *url, const char *from,
	enum ing_part_type type, int64_t time_ms);
/* Whether a page of that host was read. */
bool ing_known_visited(const struct ing_known *r, const char *url);
