/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fleet.h - how a worker stands beside the others of its database: its row of worker_state, written every
 * few seconds, and the orders of fleet_order, read as often.
 *
 * Owns: a database thread (common/data/pg_thread.h) and a timer. Calls and callbacks: loop thread; no callback
 * comes from inside a call but ing_fleet_start().
 *
 * While the database is away nothing happens but that the row gets old, and orders stay as they were last
 * read. Orders are obeyed about five seconds after they were given, and at a start before anything is done.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "worker/fleet/orders.h"

struct uv_loop_s;
struct ing_fleet;

struct ing_fleet_conf {
	const char *dsn, *instance;
	const char *machine, *version;
	unsigned statement_ms; /* limit of a statement; 0: 5 s */
	unsigned every_ms;     /* between two rows; 0: 5 s */
};

/* A row, as the loop knows it. Strings are heap, the taker's; NULL: nothing to say. */
struct ing_fleet_state {
	const char *state; /* static: "running", … */
	char *held_by;     /* sentence */
	char *rules;       /* digest */
	char *status;      /* JSON */
	unsigned partitions, transfers;
	int64_t lag; /* -1: not known */
	uint64_t jobs, waiting, results, hits;
	int64_t oldest_ms; /* -1: there is none */
	double rate;       /* results per second */
};

struct ing_fleet_user {
	void *ctx;
	/* *ret is zero-initialised. */
	void (*describe)(void *ctx, struct ing_fleet_state *ret);
	/* All orders of the database, borrowed; called at the start, and when they have changed. */
	void (*ordered)(void *ctx, const struct ing_order *list, size_t count);
};

/* Connects, checks the schema, reads the orders. conf is copied. Error: -CONFIG, -UNAVAILABLE, -INVALID (schema
 * missing, older, newer: the message says what to do). */
int ing_fleet_new(struct uv_loop_s *loop, const struct ing_fleet_conf *conf, struct ing_fleet **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Calls ordered(), writes the first row; user is copied. */
void ing_fleet_start(struct ing_fleet *f, const struct ing_fleet_user *user);
/* Write a row and read the orders now, if that is not under way. */
void ing_fleet_hurry(struct ing_fleet *f);
/* Writes a last row, in state "stopped", unless that takes over 2 s or the database is away. No callbacks any more.
 * NULL is fine. Run the loop once more. */
void ing_fleet_free(struct ing_fleet *f);
