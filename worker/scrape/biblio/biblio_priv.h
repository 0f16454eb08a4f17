/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * biblio_priv.h - what the files that make the bibliographic record share: biblio.c (<meta>
 * elements and the record), contribs.c (persons), jsonld.c, biblio_text.c (values within budgets),
 * release_type.c.
 *
 * One record is made at a time, by one thread; the context has its scratch memory and budgets.
 */
#pragma once
#include "common/data/json.h"
#include "worker/scrape/view.h"

struct ing_biblio_ctx {
	const struct ing_view *v;
	char *scratch; /* ING_MAX_BIBLIO_VALUE bytes */
	size_t left;   /* budget of JSON bytes */
	size_t work;   /* budget of bytes to clean: JSON-LD can refer to a text many times */
};

/* Strip markup from s (strip_markup.h), valid UTF-8 that is first cut at ING_MAX_BIBLIO_VALUE, into
 * ctx->scratch, which it does not overlap. Returns the bytes written, without a NUL; 0 when nothing
 * is left or the budget is used up. */
size_t ing_biblio_clean(struct ing_biblio_ctx *ctx, const char *s, size_t bytes);
/* The same as a JSON string, a new reference; NULL when nothing is left or the budget is used
 * up. */
json_t *ing_biblio_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes);
/* The same of a text that is already clean (an identifier). NULL when the budget is used up. */
json_t *ing_biblio_clean_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes);
/* Append to a list and take value. Returns false when value is NULL or the list is full. */
bool ing_biblio_append(json_t *list, json_t *value);
/* Append the parts of s between ';' and '|', or ',' if it has none of these, each once. */
void ing_biblio_append_split(struct ing_biblio_ctx *ctx, json_t *list, const char *s, size_t bytes);

/* Returns the type (a name of CSL or Fatcat, static) for a site's own word for it, or NULL. */
const char *ing_release_type(const char *raw, size_t bytes);

/* A person of the record: name (not NULL) and empty fields. Takes name; new reference. NULL:
 * budget. */
json_t *ing_contrib_new(struct ing_biblio_ctx *ctx, json_t *name);
/* Set name parts from "Surname, Given names", if it is of that form. */
void ing_contrib_split_name(struct ing_biblio_ctx *ctx, json_t *contrib);
/* Set the ORCID iD if s is one or the URL of one. */
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
