/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session.h - a connection made ready for the store: right schema, staging tables, prepared
 * upserts; and the transaction that writes a batch through it. Used by one thread at a time.
 */
#pragma once
#include "common/data/pace.h"
#include "common/data/pg.h"

struct ing_store_item;
struct ing_session;

/* Connect, check the schema's version, make the staging tables. stop_fd: as in ing_pg_open().
 * Error: -CONFIG, -UNAVAILABLE, -INVALID (schema missing, older or newer; the message says what to
 * do). */
int ing_session_open(const char *dsn, int stop_fd, struct ing_session **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_session_close(struct ing_session *ses); /* NULL is fine */

/* How a write went. */
struct ing_session_report {
	uint64_t skipped;    /* rows without a usable key */
	int table;           /* of a failure: the one at fault, -1 when it showed at COMMIT */
	unsigned slowest_ms; /* the statement that took longest, COMMIT aside */
};

/* Write all rows of the items but those of the tables whose bit (1 << index in ing_tables) is in
 * `without`, in one transaction, with the pace's limits on each statement. After ING_PG_CONFLICT,
 * ING_PG_REFUSED, ING_PG_SLOW and ING_PG_LOCKED the transaction has been rolled back (should that
 * fail, the code is ING_PG_LOST). After any other failure: close. */
enum ing_pg_rc ing_session_write(struct ing_session *ses, const struct ing_pace *pace,
	struct ing_store_item *const *items, size_t count, unsigned without,
	struct ing_session_report *ret, struct ing_error *err) ING_MUST_CHECK;
