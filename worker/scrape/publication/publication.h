/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication.h - the parts of a publication (PubFetcher's model) that a page has: by the site's
 * rules, then by the <meta> schemes. Each part has the type of its source and is replaced only by a
 * better one.
 *
 * Pure; any thread that owns the view. JSON is returned as new references.
 */
#pragma once
#include "common/data/json.h"
#include "worker/model/part_type.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/view.h"
#include "worker/scrape/rules/webpages.h"

struct ing_publication_fields;

/* What of the <meta> elements counts. */
enum ing_metas_use { ING_METAS_ALL, ING_METAS_IDENTIFIERS };

struct ing_text_value {
	const char *text; /* UTF-8, NUL-terminated */
	size_t bytes;
};

/* Returns the parts, links and authors (meta_schemes.h), in the arena, never NULL. `type`: of the page
 * (doi: reached from a DOI). site may be NULL: then title and full text come from the cleaned page,
 * as type webpage. */
const struct ing_publication_fields *ing_publication_fields_read(const struct ing_view *v,
	const struct ing_journal_site *site, enum ing_part_type type, enum ing_metas_use metas);
/* Returns the PDF URL by the site's rules: the first link of pdf_a to another http(s) URL, else the
 * page's URL rewritten by pdf_src and pdf_dst; in the arena, or NULL when there is none. *ret_rule
 * is the number of the rule. */
const char *ing_publication_pdf_url(
	const struct ing_view *v, const struct ing_journal_site *site, uint32_t *ret_rule);

struct ing_webpage_fields { /* texts in the arena; text NULL: not found; "": the rule says so */
	struct ing_text_value title, content, license, language;
};

/* Returns what any web page has; rule may be NULL. */
struct ing_webpage_fields ing_webpage_fields_read(
	const struct ing_view *v, const struct ing_webpage_rule *rule);
/* {"title","content","license","language"} */
json_t *ing_webpage_fields_json(const struct ing_webpage_fields *fields);
/* The licence that the page says, a URL or words, in the arena; NULL: none. */
const char *ing_webpage_license(const struct ing_view *v);
/* The language that the page declares (BCP 47, not checked), in the arena; NULL: none. */
const char *ing_webpage_language(const struct ing_view *v);
