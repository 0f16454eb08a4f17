/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ids.h - the identifiers of a record: in normal form, against those that are known.
 *
 * Strings are in the arena. Pure; any thread.
 */
#pragma once
#include "common/base/arena.h"
#include "worker/model/found_publication.h"

/* In normal form: PMCID with its prefix, DOI in upper case without one. NULL: the record has none. */
struct ing_publication_ids {
	const char *pmid, *pmcid, *doi;
};

/* Returns the identifier (PMID, PMCID, DOI) that the text is, whatever prefix it has or lacks, in normal form; NULL
 * when it is none. text may be NULL. */
const char *ing_publication_id(struct ing_arena *ar, enum ing_part_key key, const char *text);
/* Whether two DOIs name the same work: the same, or but for a version at its end ("/X.1.v2", versions of F1000). NULL
 * is not the same as anything. */
bool ing_publication_same_doi(const char *a, const char *b);
/* Returns the known identifier that the record's own one differs from ("PMID 5"), or NULL when they agree. */
const char *ing_publication_contradiction(struct ing_arena *ar,
	const struct ing_publication_ask *ask, const struct ing_publication_ids *ids);
/* Offer all that there are, as the ask's type. */
void ing_publication_offer_ids(const struct ing_publication_ask *ask,
	const struct ing_publication_ids *ids, struct ing_publication_found *ret);
