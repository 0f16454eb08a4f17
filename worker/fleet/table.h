/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.h - the fleet's tables, for operators' tools: the rows of worker_state, which the workers write
 * (fleet.h), and the orders of fleet_order.
 *
 * Each call runs one statement on the caller's connection (ing_schema_open()): synchronous; any thread.
 * Nothing to free. Times are by the database's clock, relative to now.
 *
 * Errors of all: -UNAVAILABLE, -INVALID (the database does not take the values).
 */
#pragma once
#include <stdbool.h>
#include "common/data/pg.h"
#include "worker/fleet/orders.h"

#define ING_WORKER_SILENT_MS 30000 /* a row that is older was not written as it should have been */
#define ING_WORKER_DEAD_MS 300000

/* A row of worker_state. Strings are borrowed during the call; NULL: nothing to say. */
struct ing_worker_row {
	const char *instance, *machine, *version;
	const char *rules;   /* digest */
	const char *state;   /* as written */
	const char *held_by; /* sentence */
	const char *status;  /* JSON */
	int64_t age_ms;      /* since it was written */
	int64_t up_ms;       /* from the start of the process to that */
	int64_t orders_ms;   /* since it last read the orders that it obeys; -1: never */
	int64_t lag;         /* -1: not known */
	int64_t oldest_ms;   /* -1: there is none */
	unsigned pid, partitions, transfers;
	uint64_t jobs, waiting, results, hits;
	double rate;
};

/* What is to be thought of it: its own state; "silent" or "dead" when it should have written since. */
const char *ing_worker_condition(const struct ing_worker_row *row);

/* All of them, in the order of their instances; with instance, that one. */
typedef void ing_worker_row_f(void *ctx, const struct ing_worker_row *row);
int ing_fleet_table_workers(struct ing_pg *pg, const char *instance, ing_worker_row_f *fn,
	void *ctx, struct ing_error *err) ING_MUST_CHECK;

/* All orders, by kind and target; at most 20,000. since_ms and read_ms are 0. */
typedef void ing_order_f(void *ctx, const struct ing_order *order);
int ing_fleet_table_orders(
	struct ing_pg *pg, ing_order_f *fn, void *ctx, struct ing_error *err) ING_MUST_CHECK;
/* Give an order, instead of one for the same target. Of it kind, action, target, why and by count; they are checked.
 * -INVALID also when ING_MAX_ORDERS are in force. */
int ing_fleet_table_order(
	struct ing_pg *pg, const struct ing_order *order, struct ing_error *err) ING_MUST_CHECK;
/* Take an order back. *ret_was: there was one. */
int ing_fleet_table_resume(struct ing_pg *pg, enum ing_order_kind kind, const char *target,
	bool *ret_was, struct ing_error *err) ING_MUST_CHECK;
