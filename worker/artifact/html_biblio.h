/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_biblio.h - the bibliographic record of a page, checked: examiners read hostile bytes, and
 * what they send is not trusted. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"

/* The result's html_biblio: the members of `json` that schemas/ingest-result.schema.json has, if
 * their types are right. JSON that is invalid, larger than ING_MAX_BIBLIO_BYTES or nested too deep
 * is ignored; NULL: there is none. page_title (the <title>, or NULL) is used when the record has no
 * title. Returns a new reference, or NULL when there is no title at all. *ret_own_title: it is the
 * record's. */
json_t *ing_html_biblio_new(const char *json, const char *page_title, bool *ret_own_title);

/* Remove the references, or else the abstract, to make a result smaller. Returns false when there
 * is neither. */
bool ing_html_biblio_shrink(json_t *biblio);
