/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kept.h - the records of publications and web pages that are kept from one fetch to the next: whether two
 * are of one publication, and what both become together. A record is the JSON object of a result
 * (README.md); members may be missing, or of any kind. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"
#include "worker/model/refetch.h"
#include "worker/publication/freshness.h"

/* The members in their order, with null for what is missing; parts that are none are null, identifiers that
 * are too long to be keys are dropped; `empty`, `usable`, `final` and `totallyFinal` are those of the
 * parts. New reference. */
json_t *ing_publication_settled(const json_t *record);
/* The same of a web page. `broken`, too; it has no parts. */
json_t *ing_webpage_settled(const json_t *record);

/* Content of the identifier ("pmid", "pmcid", "doi") of a record, or NULL. */
const char *ing_kept_id(const json_t *record, const char *name);
bool ing_kept_has_id(const json_t *record);

enum ing_kept_relation {
	ING_KEPT_SAME,  /* nothing says otherwise */
	ING_KEPT_STALE, /* an identifier of the kept one has turned out to be wrong: replace it */
	ING_KEPT_OTHER_LOSES, /* two publications: what identifiers they share are the fresh one's */
	ING_KEPT_OTHER_STAYS, /* the same, they are the kept one's */
};
/* Of a record that shares an identifier (or its URL) with a fresh one. */
enum ing_kept_relation ing_kept_relation(const json_t *kept, const json_t *fresh);
/* Take the identifiers that `from` has away from a record. */
void ing_kept_take_ids(json_t *record, const json_t *from);

/* Both in one: of each part and field the better one, of equally good ones the fresh one, so that a fetch
 * that failed takes nothing away. Counters by how and rules, whose fetch was at the fresh one's
 * fetchTime. New reference. */
json_t *ing_publication_merged(const json_t *kept, const json_t *fresh, enum ing_keep how,
	const struct ing_refetch_rules *rules);
/* PubFetcher's rule: a final page replaces any, one that is not empty an empty one or one that is not final,
 * an empty one an empty one. */
json_t *ing_webpage_merged(const json_t *kept, const json_t *fresh, enum ing_keep how,
	const struct ing_refetch_rules *rules);
/* A record of which there was none: a partial one was never fetched. Changes it. */
void ing_kept_first(json_t *record, enum ing_keep how);

/* Counters and state of a record. */
struct ing_freshness_state ing_kept_state(const json_t *record);
