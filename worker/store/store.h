/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store.h - rows to PostgreSQL in grouped transactions.
 *
 * Owns: a database thread (common/data/pg_thread.h). Put and callbacks: loop thread. An item is
 * called back only after the transaction that holds its rows has committed. Database away: items
 * wait, the connection is retried for ever with back-off, `blocked` is true meanwhile (intake
 * stops), everything resumes by itself. A row that PostgreSQL refuses (which the cleaning in here
 * should make impossible) is isolated by splitting the batch, logged, counted, and its item called
 * back, so that one row never stops the others. Keys, limits of columns and what stands when two
 * rows meet: README.md.
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

int ing_store_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_store **ret,
	struct ing_error *err) ING_MUST_CHECK; /* connects, checks the schema version; -UNAVAILABLE
						  when the server is away, -INVALID when the schema
						  is missing, older or newer (say what to do) */
/* NULL is fine; call when nothing is outstanding, else those items are dropped. Waits for the
 * thread, which gives up whatever it does at once; run the loop once more to close its handle. */
void ing_store_free(struct ing_store *s);
void ing_store_put(struct ing_store *s, struct ing_store_item *item);
bool ing_store_blocked(const struct ing_store *s);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_store_stats(const struct ing_store *s, struct ing_store_stats *ret);
