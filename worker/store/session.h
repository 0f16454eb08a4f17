/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session.h - a connection made ready for the store: right schema, staging tables, prepared
 * upserts; and the transaction that writes a batch through it. Used by one thread at a time.
 */
#pragma once
#include "common/data/pg.h"

struct ing_store_item;
struct ing_session;

/* Connect, check the schema's version, make the staging tables. stop_fd: as in ing_pg_open().
 * Error: -CONFIG, -UNAVAILABLE, -INVALID (schema missing, older or newer; the message says what to
 * do). */
int ing_session_open(const char *dsn, int stop_fd, struct ing_session **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_session_close(struct ing_session *ses); /* NULL is fine */

/* Write all rows of the items but those of the tables whose bit (1 << index in ing_tables) is in
 * `without`, in one transaction. *ret_skipped: rows without a usable key. After ING_PG_CONFLICT and
 * ING_PG_REFUSED the transaction has been rolled back (should that fail, the code is ING_PG_LOST)
 * and *ret_table is the table at fault, -1 when it showed at COMMIT. After any other failure:
 * close. */
enum ing_pg_rc ing_session_write(struct ing_session *ses, struct ing_store_item *const *items,
	size_t count, unsigned without, uint64_t *ret_skipped, int *ret_table,
	struct ing_error *err) ING_MUST_CHECK;
