/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fleet_priv.h - between the loop's half of the room (fleet.c) and the statements (fleet_sql.c). A round passes
 * between the threads: the loop writes the row, the thread the orders. There is one at a time.
 */
#pragma once
#include "common/base/arena.h"
#include "common/data/pace.h"
#include "common/data/pg_thread.h"
#include "worker/fleet/fleet.h"

#define ING_FLEET_MARK_BYTES 72

struct ing_fleet_round {
	struct ing_node node;
	bool describes; /* there is a row to write */
	struct ing_fleet_state state;
	char mark[ING_FLEET_MARK_BYTES]; /* of the orders that the loop obeys; "": none were read */

	/* the answer */
	bool changed; /* then these are all of them, with their mark */
	struct ing_arena ar;
	struct ing_order *orders; /* heap; strings in ar */
	size_t order_count;
};

struct ing_fleet_session { /* who we are to the database; constant */
	char *instance, *machine, *version;
	int64_t id; /* random, positive: this process */
	uint64_t started_ms;
};

void ing_fleet_round_free(struct ing_fleet_round *r); /* NULL is fine */

/* Settings of a new connection, and the schema's version. Error: as ing_schema_prepare(). */
int ing_fleet_prepare(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;
/* Read the orders that concern the instance, if they are others than the round's mark says. Harmless to repeat, as the
 * others. */
enum ing_pg_rc ing_fleet_read_orders(struct ing_pg *pg, const struct ing_fleet_session *ses,
	struct ing_fleet_round *r, struct ing_error *err) ING_MUST_CHECK;
/* Write the round's row. REFUSED: it has something in it that the database does not take. */
enum ing_pg_rc ing_fleet_write_row(struct ing_pg *pg, const struct ing_fleet_session *ses,
	const struct ing_fleet_round *r, struct ing_error *err) ING_MUST_CHECK;
/* Delete the rows of workers that have been gone for days. */
enum ing_pg_rc ing_fleet_prune(struct ing_pg *pg, const struct ing_fleet_session *ses,
	struct ing_error *err) ING_MUST_CHECK;
