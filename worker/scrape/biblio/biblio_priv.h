/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * biblio_priv.h - what the makers of the bibliographic record share: biblio.c (the <meta> families
 * and the record), contribs.c (its people), jsonld.c, biblio_text.c (values within the record's
 * budgets) and release_type.c.
 *
 * One record is made at a time, by one thread; the context is its scratch memory and its budget.
 */
#pragma once
#include "common/data/json.h"
#include "worker/scrape/view.h"

struct ing_biblio_ctx {
	const struct ing_view *v;
	char *scratch; /* ING_MAX_BIBLIO_VALUE bytes */
	size_t left;   /* bytes of JSON that the record may still grow */
	size_t work;   /* bytes that may still be cleaned: JSON-LD can name a text many times */
};

/* s made plain (strip_markup.h), in ctx->scratch, with which it does not overlap; cut at
 * ING_MAX_BIBLIO_VALUE before. s is valid UTF-8. Returns its bytes; 0: nothing is left, or the
 * budget is used up. No NUL behind. */
size_t ing_biblio_clean(struct ing_biblio_ctx *ctx, const char *s, size_t bytes);
/* The same as a JSON string, a new reference; NULL when nothing is left or the budget is used
 * up. */
json_t *ing_biblio_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes);
/* A JSON string of what needs no cleaning (an identifier). NULL: budget. */
json_t *ing_biblio_clean_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes);
/* Append to a list, unless value is NULL or the list is full. Takes value. False: not appended. */
bool ing_biblio_append(json_t *list, json_t *value);
/* Append the parts of s between ';' and '|', or ',' if it has none of these, each once. */
void ing_biblio_append_split(struct ing_biblio_ctx *ctx, json_t *list, const char *s, size_t bytes);

/* The type (CSL's and Fatcat's names) that a site's own word for it means, or NULL. Static. */
const char *ing_release_type(const char *raw, size_t bytes);

/* A person of the record: name (not NULL) and empty fields. Takes name; new reference. NULL:
 * budget. */
json_t *ing_contrib_new(struct ing_biblio_ctx *ctx, json_t *name);
/* Set name parts from "Surname, Given names", if it is of that form. */
void ing_contrib_split_name(struct ing_biblio_ctx *ctx, json_t *contrib);
/* Set the iD if s is one or is its URL. */
void ing_contrib_set_orcid(
	struct ing_biblio_ctx *ctx, json_t *contrib, const char *s, size_t bytes);
void ing_contrib_set_email(
	struct ing_biblio_ctx *ctx, json_t *contrib, const char *s, size_t bytes);
void ing_contrib_add_affiliation(
	struct ing_biblio_ctx *ctx, json_t *contrib, const char *s, size_t bytes);
/* The people of the elements named `author` and what follows each about it
 * (author_institution, author_orcid…). */
json_t *ing_contribs_of_metas(struct ing_biblio_ctx *ctx, const char *author);
/* Fill what `list` does not know of its people from the same ones in `more`. */
void ing_contribs_enrich(json_t *list, const json_t *more);

/* What the page's JSON-LD says, by the record's keys, but `date` for the raw date; only what there
 * is. NULL: nothing. New reference. */
json_t *ing_jsonld_read(struct ing_biblio_ctx *ctx);
