/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * originals.h - records of earlier answers that a revisit record may refer to: the newest of each URL
 * that this process has archived lately, in memory; and what the table cdx has.
 *
 * Owns: the cache, which has a fixed number of URLs, of which those not asked for longest are
 * forgotten. An original is on stable storage with its whole payload. Thread: loop only.
 */
#pragma once
#include <stdbool.h>
#include "common/data/digest.h"
#include "worker/archive/archive.h"
#include "worker/model/rows.h"

struct ing_arena;
struct ing_capture;
struct ing_exchange;
struct ing_originals;

struct ing_original {
	struct ing_archive_original record;
	/* As the table has it; of one that is not `indexed`, without the digests. */
	struct ing_row_cdx row;
	bool indexed; /* the table has its row */
	bool coded;   /* the body had a content coding; not known of one from the table */
};

/* settings: revisits, revisit_min_bytes and revisit_cache are used; copied. */
struct ing_originals *ing_originals_new(const struct ing_archive_settings *settings);
void ing_originals_free(struct ing_originals *o); /* NULL is fine */

/* Is this an answer of which a revisit record may be made, and to which one may refer: a whole body,
 * large enough, of status 200 or 226? */
bool ing_originals_want(const struct ing_originals *o, const struct ing_exchange *ex);
/* The one that the cache has of the URL, in the arena; or NULL. */
const struct ing_original *ing_originals_find(
	struct ing_originals *o, const char *url, bool coded, struct ing_arena *ar);
/* The same of a row of the table; NULL when the row lacks something. */
const struct ing_original *ing_original_of_row(const struct ing_row_cdx *row, struct ing_arena *ar);
/* A capture that ing_originals_want() and whose record is on stable storage; ignored when that is a
 * revisit record itself, or nothing was written. */
void ing_originals_add(struct ing_originals *o, const struct ing_capture *c);
