/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * identifiers.h - identifiers of a publication: PMID, PMCID, DOI, as they stand in URLs, and whether two
 * of them are one work's. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"
#include "worker/model/part_type.h"

#define ING_MAX_PUBLICATION_ID_BYTES 2048 /* a DOI is the longest */

static inline bool ing_identifier_is(enum ing_part_key key)
{
	return key == ING_PART_PMID || key == ING_PART_PMCID || key == ING_PART_DOI;
}

/* Appends the identifier in its normal form: PMC with its prefix, the DOI in upper case and without
 * one. False, and nothing appended: it is none. */
bool ing_identifier_normal(enum ing_part_key key, const char *s, size_t bytes, struct ing_buf *ret);
/* Whether a URL is of a site that has nothing but what its services give better: PMC, PubMed and
 * Europe PMC. Then *ret_key is the identifier in it, which is appended, or ING_PARTS_ if there is
 * none. */
bool ing_identifier_of_url(const char *url, enum ing_part_key *ret_key, struct ing_buf *ret);
/* Whether a URL is of a DOI resolver. */
bool ing_identifier_is_resolver(const char *url);
/* Whether two identifiers that differ are versions of one work: X and X.2 or X.v2, F1000's, and whatever a
 * page at Zenodo says. url: of the page, or NULL. */
bool ing_identifier_same_work(const char *a, const char *b, const char *url);
