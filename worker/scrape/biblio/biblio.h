/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * biblio.h - the bibliographic record of a page from its <meta> elements and JSON-LD: citation_*
 * (HighWire), bepress, EPrints, PRISM, Dublin Core, Open Graph, schema.org.
 *
 * Pure; any thread that owns the view. README.md has the table of fields and sources, and the
 * decided differences.
 */
#pragma once
#include "common/data/json.h"
#include "worker/scrape/view.h"

/* Returns the record as a JSON object with every key of the contract (unknown: null), a new
 * reference, never NULL. *ret_any: whether any key has a value. Values are trimmed and valid UTF-8,
 * each at most ING_MAX_BIBLIO_VALUE bytes, lists at most ING_MAX_BIBLIO_LIST entries. */
json_t *ing_biblio_json(const struct ing_view *v, bool *ret_any);
/* Keys, in order: title subtitle doi pmid pmcid abstract container_name container_abbrev
 * container_issn isbn isbn13 volume issue number first_page last_page publisher lang license
 * contrib_names contribs ({name, given_name, surname, orcid, affiliations, email}) raw_references
 * raw_identifiers keywords release_type release_date release_year raw_release_type raw_date. */

#define ING_MAX_BIBLIO_VALUE ((size_t)64 << 10)
#define ING_MAX_BIBLIO_LIST 5000
