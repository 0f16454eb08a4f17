/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * upsert.h - the statements that write a batch of items over a connection, in one transaction:
 * upkeep (upkeep.h), fences (fence.h), answers (outbox.h), then COPY into a staging table and
 * INSERT … ON CONFLICT out of it for each table that has rows; then publications and web pages (records.h);
 * last, what is not queued any more (queued.h).
 *
 * Owns the statements and a buffer for rows, not the connection. Used by one thread at a time.
 */
#pragma once
#include "common/data/pg.h"
#include "worker/store/table.h"

struct ing_store_item;
struct ing_upkeep;
struct ing_upsert;

struct ing_upsert *ing_upsert_new(struct ing_upkeep *upkeep); /* borrowed */
void ing_upsert_free(struct ing_upsert *u);                   /* NULL is fine */

/* Make a new connection ready: settings, the schema's version, staging tables. max_attempts: results of that many attempts
 * are not worth asking again. Error: as ing_schema_prepare(). */
int ing_upsert_prepare(
	struct ing_pg *pg, unsigned max_attempts, struct ing_error *err) ING_MUST_CHECK;

/* Beside the tables of rows: of a report, and bits of `without`. */
#define ING_STORE_OUTBOX ING_TABLES
#define ING_STORE_RECORDS (ING_TABLES + 1) /* publications and web pages */

/* How a write went. */
struct ing_upsert_report {
	uint64_t rows;       /* of ing_tables, written */
	uint64_t skipped;    /* rows without a usable key */
	int table;           /* of a failure: the one at fault, -1 when it showed at COMMIT */
	unsigned slowest_ms; /* the statement that took longest, COMMIT aside */
	size_t pruned;       /* rows of result_outbox that were to be deleted */
};

/* Write all rows of the items but those of the tables whose bit (1 << index in ing_tables, or
 * ING_STORE_OUTBOX, ING_STORE_RECORDS) is in `without`, in one transaction, with the limits that the connection has;
 * upkeep is done with it. Sets ends and answers of the items. After ING_PG_CONFLICT,
 * ING_PG_REFUSED, ING_PG_SLOW and ING_PG_LOCKED the transaction has been rolled back (should that
 * fail, the code is ING_PG_LOST). After any other failure the connection must be closed. */
enum ing_pg_rc ing_upsert_write(struct ing_upsert *u, struct ing_pg *pg,
	struct ing_store_item *const *items, size_t count, unsigned without,
	struct ing_upsert_report *ret, struct ing_error *err) ING_MUST_CHECK;
