/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * load.h - lists of requests on their way into ingest_request: the statements of `ingestctl requests load`.
 *
 * A list is read in blocks of lines. Its requests are dealt out to streams by their key, so that no two streams
 * have the same request, and each stream writes its share of the blocks in their order: what comes of the list
 * does not depend on which stream is faster. A stream's transaction has its share of some consecutive blocks, and in request_load
 * how far it has come with that, by the digest of the input up to there, with the counts so far: a load that is broken off goes on there.
 *
 * Two loads, or a load and a worker, that have keys in common cannot deadlock: each transaction inserts into ingest_request once, in the
 * order of the key, and then into request_list_member, where only loads of one list meet, of which there is one at a time.
 *
 * No state but the position, which the caller has. The connection's thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"
#include "common/data/pg.h"
#include "worker/store/requests/load_rows.h"

struct ing_load_plan;

#define ING_LOAD_MAX_STREAMS 16
#define ING_LOAD_DIGEST_BYTES 20

struct ing_load_counts {
	int64_t added; /* requests that were not stored before */
	int64_t known; /* that the list had already; of a load without a list: that were stored before */
	int64_t elsewhere; /* that another list or a worker had brought: they are in this list, too, now */
	int64_t bad; /* lines */
};

/* How far a stream has come. */
struct ing_load_position {
	int64_t block;                               /* blocks of the input whose share is stored */
	unsigned char digest[ING_LOAD_DIGEST_BYTES]; /* of the input up to there; zeros of none */
	struct ing_load_counts counts;
};

struct ing_load_list {
	/* What was asked for: */
	const char *name;   /* borrowed; NULL: requests without a list */
	const char *source; /* or NULL: as it was */
	int64_t priority;   /* -1: as it was */
	bool anew;          /* forget how far a load has come that was broken off */
	/* What there is; the number of streams is the caller's, but when a load goes on that had another. */
	int64_t list_id; /* negative: none, but a name for its positions */
	unsigned streams;
	bool resumed;
	struct ing_load_position at[ING_LOAD_MAX_STREAMS];
};

/* A connection that writes: its settings, the schema's version, the staging table. Error: as ing_schema_prepare(). */
int ing_load_prepare(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;
/* Keep other loads of the list out as long as this connection lives. Error: -BUSY: there is one. */
int ing_load_lock(struct ing_pg *pg, const char *name, struct ing_error *err) ING_MUST_CHECK;
/* Make the list if there is none of the name, and find out how far a load has come that was broken off. Error: -INVALID, -UNAVAILABLE. */
int ing_load_begin(
	struct ing_pg *pg, struct ing_load_list *l, struct ing_error *err) ING_MUST_CHECK;

/* One transaction of a stream: the rows of blocks behind `from`, the bad lines in them, and the position behind them. */
struct ing_load_write {
	const struct ing_load_list *list;
	unsigned stream;
	const struct ing_load_position *from;
	int64_t block; /* behind the last of its blocks, and the input's digest there */
	const unsigned char *digest;
	const struct ing_load_batch *batch; /* sorted */
	const struct ing_load_plan *plan;   /* NULL: nothing is planned */
	int64_t bad;
};

/* *ret: the position reached, also when it turns out that the same was committed before, by an attempt whose answer was lost. REFUSED: somebody else
 * loads the list. All but LOST, SILENT and STOPPED leave the connection without a transaction. */
enum ing_pg_rc ing_load_write(struct ing_pg *pg, const struct ing_load_write *w,
	struct ing_load_position *ret, unsigned *ret_slowest_ms,
	struct ing_error *err) ING_MUST_CHECK;

/* All streams have come to the end: the list is loaded. Harmless to repeat. */
enum ing_pg_rc ing_load_end(
	struct ing_pg *pg, const struct ing_load_list *l, struct ing_error *err) ING_MUST_CHECK;
/* Add up counts that are differences so far, about ING_LOAD_FOLD_STEP of them; *ret: how many there were, less than that: that was all. */
#define ING_LOAD_FOLD_STEP 100000
enum ing_pg_rc ing_load_fold(struct ing_pg *pg, int64_t *ret, struct ing_error *err) ING_MUST_CHECK;
