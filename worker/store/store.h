/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store.h - rows to PostgreSQL in grouped transactions.
 *
 * Owns: two database threads (common/data/pg_thread.h), for rows and for claims. Put and callbacks: loop thread. An item is
 * called back only after the transaction with its rows has committed. The transaction holds what
 * answers the request, too (result_outbox), and holds the partition of the request's message against
 * other owners (partition_owner). While the database is away
 * items wait and `blocked` is true (intake stops); writing resumes by itself. A row that PostgreSQL
 * refuses (which the cleaning of values should make impossible) is found by splitting the batch,
 * logged, counted and left out, and its item is called back like others. Keys, limits of columns,
 * and which of two rows with one key stays: README.md.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/queue.h"
#include "worker/model/metrics.h"
#include "worker/model/positions.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_answer;
struct ing_output_message;
struct ing_rows;
struct ing_source;
struct ing_store;

enum ing_store_end {
	ING_STORE_STORED,
	/* The request had an answer before, in item->answer; nothing of the item was written. */
	ING_STORE_ANSWERED,
	/* The partition has another owner; nothing of the item was written. */
	ING_STORE_FENCED,
};

/* Rows to be written together, and the message that answers their request. All borrowed until
 * done. */
struct ing_store_item {
	struct ing_node node;
	void (*done)(struct ing_store_item *item);
	const struct ing_rows *rows; /* may have none */
	const struct ing_source
		*source; /* NULL: rows without a request, never ANSWERED or FENCED */
	/* Somebody waits for the answer: its batch waits for nothing, and it goes ahead of others. */
	bool urgent;
	/* A result or a parked request: goes to result_outbox. NULL: it has no row there. */
	const struct ing_output_message *message;
	/* Set before done(); the answer is the callee's. */
	enum ing_store_end end;
	struct ing_answer *answer;
};

/* Connects and checks the schema's version. conf is not kept. Error: -CONFIG, -UNAVAILABLE (server
 * away), -INVALID (schema missing, older, newer: the message says what to do). */
int ing_store_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_store **ret, struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine. Items that are outstanding are dropped: done() is not called. Ends the thread at
 * once; run the loop once more to close its handle. */
void ing_store_free(struct ing_store *s);
void ing_store_put(struct ing_store *s, struct ing_store_item *item);
/* The answer is committed with its position: its row of result_outbox goes with a later batch, or
 * within half a second. Copied. */
void ing_store_prune(struct ing_store *s, const struct ing_source *source);
/* Claims do not wait for batches: they have a connection of their own. */
struct ing_claim_ops ing_store_claim_ops(struct ing_store *s);
bool ing_store_blocked(const struct ing_store *s);
/* Why rows are not written, or partitions not claimed; valid until the next call. NULL: they are. Loop. */
const char *ing_store_trouble(const struct ing_store *s);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_store_stats(const struct ing_store *s, struct ing_store_stats *ret);
