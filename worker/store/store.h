/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store.h - rows to PostgreSQL in grouped transactions.
 *
 * Owns: a database thread (common/data/pg_thread.h). Put and callbacks: loop thread. An item is
 * called back only after the transaction with its rows has committed. While the database is away
 * items wait and `blocked` is true (intake stops); writing resumes by itself. A row that PostgreSQL
 * refuses (which the cleaning of values should make impossible) is found by splitting the batch,
 * logged, counted and left out, and its item is called back like others. Keys, limits of columns,
 * and which of two rows with one key stays: README.md.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/queue.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_rows;
struct ing_store;

/* Rows to be written together. Borrowed until done. */
struct ing_store_item {
	struct ing_node node;
	void (*done)(struct ing_store_item *item);
	const struct ing_rows *rows;
};

/* Connects and checks the schema's version. conf is not kept. Error: -CONFIG, -UNAVAILABLE (server
 * away), -INVALID (schema missing, older, newer: the message says what to do). */
int ing_store_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_store **ret, struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine. Items that are outstanding are dropped: done() is not called. Ends the thread at
 * once; run the loop once more to close its handle. */
void ing_store_free(struct ing_store *s);
void ing_store_put(struct ing_store *s, struct ing_store_item *item);
bool ing_store_blocked(const struct ing_store *s);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_store_stats(const struct ing_store *s, struct ing_store_stats *ret);
