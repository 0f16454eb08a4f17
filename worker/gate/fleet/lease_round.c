/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds on the database thread: each is carried out as a whole, repeated until the database has
 * answered all of it, and handed back. While the database is away no answers come, so nothing is
 * granted.
 */
#include <stdlib.h>
#include <unistd.h>

#include "worker/gate/fleet/lease_priv.h"

#define REMIND_MS 60000 /* a slow database is logged again after this long */

/* Of a slow database rounds are short, so that leases are extended between two of them. */
static unsigned batch_of(const struct ing_pace *pace)
{
	return ING_MAX(
		ING_MIN(4 * pace->rows, (unsigned)ING_LEASE_BATCH), (unsigned)ING_LEASE_BATCH_MIN);
}

static void record_pace(struct ing_lease_rounds *rs)
{
	bool slow = rs->pace.rows < ING_LEASE_BATCH_MIN;
	atomic_store(&rs->batch, batch_of(&rs->pace));
	if (slow)
		ing_log_throttled(&rs->slow_gate, REMIND_MS, ING_LOG_WARNING,
			"database: slow: hosts are leased %u at a time", rs->pace.rows);
}

struct attempt {
	struct ing_lease_rounds *rs;
	struct ing_lease_round *r;
};

static enum ing_pg_rc execute(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	const struct attempt *a = ctx;
	enum ing_pg_rc rc = ing_lease_execute(pg, &a->rs->session, &a->rs->pace, a->r, err);
	record_pace(a->rs);
	/* What we send cannot be refused; if it is, the table is not as we know it. */
	return rc == ING_PG_REFUSED ? ING_PG_TROUBLE : rc;
}

static void work(void *ctx)
{
	struct ing_lease_rounds *rs = ctx;
	struct ing_node *node = ing_pg_thread_take(rs->thread, -1);
	while (node != NULL) {
		struct ing_node *next = node->next;
		struct ing_error err = {0};
		struct attempt a = {rs, ING_CONTAINER(node, struct ing_lease_round, node)};
		a.r->done = ing_pg_thread_run(rs->thread, execute, &a, &err) == ING_PG_OK;
		ing_pg_thread_hand_back(rs->thread, node);
		node = next;
	}
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_lease_prepare(pg, err);
}

static void trouble(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	if (err == NULL)
		ing_log(ING_LOG_INFO, "database: leases of hosts again");
	else
		ing_log(ING_LOG_WARNING,
			"%s; no leases of hosts, so nothing new is fetched; retrying", err->msg);
}

/* @locality loop */
static void finished(void *ctx, struct ing_node *node)
{
	struct ing_lease_rounds *rs = ctx;
	ing_must(node->next == NULL);
	ing_leases_take_round(rs->leases, ING_CONTAINER(node, struct ing_lease_round, node));
}

/* @locality loop */
static void blocked(void *ctx, bool is_blocked)
{
	struct ing_lease_rounds *rs = ctx;
	ing_leases_set_away(rs->leases, is_blocked);
}

static void drop(void *ctx, struct ing_node *node)
{
	(void)ctx;
	ing_lease_round_free(ING_CONTAINER(node, struct ing_lease_round, node));
}

static int take_over(struct ing_lease_rounds *rs, struct ing_error *err)
{
	struct ing_pg *pg = ing_pg_thread_connection(rs->thread);
	enum ing_pg_rc rc;
	do {
		ing_error_clear(err);
		rc = ing_lease_take_over(pg, &rs->session, &rs->pace, err);
	} while (rc == ING_PG_CONFLICT);
	return rc == ING_PG_OK ? 0 : -ING_FAIL_UNAVAILABLE;
}

/* ------------------------------------------------------------------------------------------ */

int ing_lease_rounds_start(
	struct ing_lease_rounds *rs, struct uv_loop_s *loop, const char *dsn, struct ing_error *err)
{
	const struct ing_pg_thread_conf conf = {.name = "ing-lease",
		.dsn = dsn,
		.ctx = rs,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.blocked = blocked,
		.drop = drop};
	atomic_store(&rs->batch, batch_of(&rs->pace));
	int rc = ing_pg_thread_new(&conf, &rs->thread, err);
	if (rc != 0)
		return rc;
	rc = take_over(rs, err);
	if (rc == 0)
		ing_pg_thread_start(rs->thread, loop);
	else
		ing_pg_thread_free(ING_TAKE(rs->thread));
	return rc;
}

void ing_lease_rounds_stop(struct ing_lease_rounds *rs)
{
	ing_pg_thread_free(rs->thread);
	rs->thread = NULL;
}

void ing_lease_rounds_send(struct ing_lease_rounds *rs, struct ing_lease_round *r)
{
	ing_pg_thread_push(rs->thread, &r->node);
}

struct ing_lease_round *ing_lease_rounds_wait(struct ing_lease_rounds *rs, int timeout_ms)
{
	struct ing_node *node = ing_pg_thread_wait(rs->thread, timeout_ms);
	return node == NULL ? NULL : ING_CONTAINER(node, struct ing_lease_round, node);
}
