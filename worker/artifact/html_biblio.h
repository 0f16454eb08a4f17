/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_biblio.h - the bibliographic record of a result, out of what an examiner says that a page
 * says. Pure; any thread.
 */
#pragma once
#include <jansson.h>
#include <stdbool.h>

/* The record as an object of the result: of the keys that schemas/ingest-result.schema.json knows,
 * those with a value of the right type. The bytes come from a process that read hostile ones: more
 * than ING_MAX_BIBLIO_BYTES, nested deeper than a record can be, or not JSON counts as nothing.
 * Without a title the page's own (<title>, NULL: none) stands for it. json NULL: none. A new
 * reference; NULL when there is nothing at all, or no title. *ret_own: the title is the record's
 * own. */
json_t *ing_html_biblio_new(const char *json, const char *page_title, bool *ret_own);

/* Drop the largest thing that is still in it, to make a result fit: references, then the abstract.
 * False when neither is there any more. */
bool ing_html_biblio_shrink(json_t *biblio);
