/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queued.h - documents that were queued (table document_queued, worker/store/requests) and have an answer now.
 *
 * Without state. Thread: the store's.
 */
#pragma once
#include "common/data/pg.h"

struct ing_store_item;

/* Inside a batch's transaction: the documents that its items answer (ing_rows.answers) are not queued any more, whatever
 * the answer is. Of items that are not STORED nothing is done. Rows that a planner has locked are left: it queues them
 * again, and may take an hour to commit. */
enum ing_pg_rc ing_queued_forget(struct ing_pg *pg, struct ing_store_item *const *items,
	size_t count, struct ing_error *err) ING_MUST_CHECK;
