/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * service_json.h - what readers of services' answers in JSON have in common: parsing within limits, text
 * without markup, identifiers in normal form, links, dates, authors. For the files of this room only.
 *
 * Members that are absent, null or of another type are nothing. One thread.
 */
#pragma once
#include "common/data/json.h"
#include "worker/document/publication/readers_priv.h"

/* Returns the answer, an object (new reference), or NULL with ret's status set. */
json_t *ing_service_parse(
	const struct ing_publication_body *body, struct ing_publication_found *ret);

/* Returns the member's text, or that of the first of its list. Borrowed; NULL: none. */
const char *ing_service_first(const json_t *object, const char *key);
/* Returns text without markup, white space folded, on the heap; NULL when nothing is left. s may be
 * NULL. */
char *ing_service_plain(const char *s);
/* Set a field that is NULL to such a text. */
void ing_service_set(char **field, const char *s);
/* Offer such a text. Of an abstract a heading that only says so is left out. */
void ing_service_offer(struct ing_publication_found *ret, enum ing_part_key key,
	enum ing_part_type type, const char *s);
/* Offer "title : subtitle"; both may be NULL. */
void ing_service_offer_title(struct ing_publication_found *ret, enum ing_part_type type,
	const char *title, const char *subtitle);
/* Offer a list of texts, each once: strings, or objects with a string `key` (NULL: strings). */
void ing_service_offer_keywords(struct ing_publication_found *ret, enum ing_part_type type,
	const json_t *list, const char *key);

/* Offer an identifier that stands in s, also in the URL of one, in normal form. */
void ing_service_offer_id(struct ing_publication_found *ret, enum ing_part_key key,
	enum ing_part_type type, const char *s);
/* Whether two DOIs are those of one work: the same, or versions of one another. A NULL and what is no
 * DOI differs from nothing. */
bool ing_service_same_doi(const char *a, const char *b);
/* Whether the record with this DOI is the one that is asked for; else ret says "wrong-record". */
bool ing_service_is_asked(
	const struct ing_publication_ask *ask, const char *doi, struct ing_publication_found *ret);

/* Add a link, if it is one that can be followed. */
void ing_service_add_link(
	struct ing_publication_found *ret, const char *url, enum ing_part_type type);
/* Whether the path of a URL ends in ".pdf". */
bool ing_service_is_pdf_url(const char *url);
/* Set pub_date, if it is not known, to a date that is known to the day. */
void ing_service_set_date(struct ing_publication_found *ret, const char *s);
/* Whether it is NULL, or the first of January: Unpaywall and OpenAlex have that for a date of which they know no
 * more than the year. */
bool ing_service_is_year_only(const char *date);
/* Add an author. name: without markup or with; NULL or empty: family and given names, each may be NULL.
 * orcid: bare or a URL; NULL. One without a name is left out. */
void ing_service_add_author(struct ing_publication_found *ret, const char *name, const char *given,
	const char *family, const char *orcid, bool corresponding);
/* Set the licence, if it is not known; a licence of Creative Commons is open access. */
void ing_service_set_licence(struct ing_publication_found *ret, const char *s);
