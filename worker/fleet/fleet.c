/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds: every few seconds the loop describes the worker, the database thread reads the orders and writes the
 * row, and the loop obeys what has changed. While a round is under way no other begins, so that an
 * absent database costs one of them. When orders have changed no row is written, and the next round follows at once: its
 * row says since when they are obeyed.
 */
#include "worker/fleet/fleet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/fleet/fleet_priv.h"

#define EVERY_MS 5000
#define PRUNE_MS 3600000u
#define LAST_ROW_MS 2000 /* a stop waits for so long */
#define REFUSED_LOG_MS 60000

struct ing_fleet {
	unsigned every_ms;
	struct ing_fleet_session session;
	struct ing_fleet_user user;
	struct ing_pg_thread *thread;
	struct uv_loop_s *loop;
	uv_timer_t *timer;             /* heap; NULL: not started */
	struct ing_fleet_round *first; /* orders as read at the start */
	bool under_way;
	char mark[ING_FLEET_MARK_BYTES]; /* of the orders that are obeyed */

	/* database thread */
	struct ing_pace pace;
	uint64_t prune_due_ms;
	struct ing_log_throttle refused_throttle;
};

/* --- the database thread --- */

struct attempt {
	struct ing_fleet *f;
	struct ing_fleet_round *r;
};

/* A row that is refused (a text that PostgreSQL does not take) is written without its free texts. */
static enum ing_pg_rc write_row(
	struct ing_fleet *f, struct ing_pg *pg, struct ing_fleet_round *r, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_fleet_write_row(pg, &f->session, r, err);
	if (rc != ING_PG_REFUSED)
		return rc;
	ing_log_throttled(&f->refused_throttle, REFUSED_LOG_MS, ING_LOG_WARNING,
		"worker_state: %s; written without details", err->msg);
	ing_error_clear(err);
	free(ING_TAKE(r->state.status));
	free(ING_TAKE(r->state.held_by));
	return ing_fleet_write_row(pg, &f->session, r, err);
}

/* Orders that have changed go to the loop at once: the row may be repeated for long (it is locked, the server's disk is
 * full), and the next round writes it. */
static enum ing_pg_rc execute(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	const struct attempt *a = ctx;
	struct ing_fleet *f = a->f;
	enum ing_pg_rc rc = ing_pg_set_limits(pg, &f->pace, err);
	if (rc == ING_PG_OK)
		rc = ing_fleet_read_orders(pg, &f->session, a->r, err);
	if (rc != ING_PG_OK || a->r->changed)
		return rc;
	if (a->r->describes)
		rc = write_row(f, pg, a->r, err);
	if (rc == ING_PG_OK && ing_now_ms() >= f->prune_due_ms) {
		f->prune_due_ms = ing_now_ms() + PRUNE_MS;
		rc = ing_fleet_prune(pg, &f->session, err);
	}
	return rc;
}

static void work(void *ctx)
{
	struct ing_fleet *f = ctx;
	struct ing_node *node = ing_pg_thread_take(f->thread, -1);
	while (node != NULL) {
		struct ing_node *next = node->next;
		struct ing_error err = {0};
		struct attempt a = {f, ING_CONTAINER(node, struct ing_fleet_round, node)};
		enum ing_pg_rc rc = ing_pg_thread_run(f->thread, execute, &a, &err);
		if (rc == ING_PG_REFUSED)
			ing_log_throttled(&f->refused_throttle, REFUSED_LOG_MS, ING_LOG_ERROR,
				"worker_state: %s", err.msg);
		ing_pg_thread_hand_back(f->thread, node);
		node = next;
	}
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_fleet_prepare(pg, err);
}

static void trouble(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	if (err == NULL)
		ing_log(ING_LOG_INFO, "database: the fleet's tables are reachable again");
	else
		ing_log(ING_LOG_WARNING,
			"%s; orders stay as they were, and the fleet sees this worker as silent; "
			"retrying",
			err->msg);
}

/* --- the loop --- */

static struct ing_fleet_round *new_round(const struct ing_fleet *f)
{
	struct ing_fleet_round *r = ing_alloc(sizeof(*r));
	ing_arena_init(&r->ar);
	memcpy(r->mark, f->mark, sizeof(r->mark));
	return r;
}

static void begin_round(struct ing_fleet *f)
{
	if (f->under_way)
		return;
	struct ing_fleet_round *r = new_round(f);
	r->describes = true;
	f->user.describe(f->user.ctx, &r->state);
	f->under_way = true;
	ing_pg_thread_push(f->thread, &r->node);
}

static void obey(struct ing_fleet *f, const struct ing_fleet_round *r)
{
	memcpy(f->mark, r->mark, sizeof(f->mark));
	f->user.ordered(f->user.ctx, r->orders, r->order_count);
}

/* A round that was stopped in the middle has changed nothing. */
static void finished(void *ctx, struct ing_node *node)
{
	struct ing_fleet *f = ctx;
	struct ing_fleet_round *r = ING_CONTAINER(node, struct ing_fleet_round, node);
	bool changed = r->changed;
	ing_must(node->next == NULL);
	f->under_way = false;
	if (changed)
		obey(f, r);
	ing_fleet_round_free(r);
	if (changed)
		begin_round(f);
}

static void drop(void *ctx, struct ing_node *node)
{
	(void)ctx;
	ing_fleet_round_free(ING_CONTAINER(node, struct ing_fleet_round, node));
}

static void on_timer(uv_timer_t *timer)
{
	begin_round(timer->data);
}

static void on_timer_closed(uv_handle_t *timer)
{
	free(timer);
}

static int read_first_orders(struct ing_fleet *f, struct ing_error *err)
{
	struct ing_pg *pg = ing_pg_thread_connection(f->thread);
	enum ing_pg_rc rc;
	f->first = new_round(f);
	do {
		ing_error_clear(err);
		rc = ing_pg_set_limits(pg, &f->pace, err);
		if (rc == ING_PG_OK)
			rc = ing_fleet_read_orders(pg, &f->session, f->first, err);
	} while (rc == ING_PG_CONFLICT);
	return rc == ING_PG_OK ? 0 : -ING_FAIL_UNAVAILABLE;
}

/* Of a worker that stops: as it stands now. */
static void write_last_row(struct ing_fleet *f)
{
	uint64_t until_ms = ing_now_ms() + LAST_ROW_MS;
	bool last_sent = false;
	if (ing_pg_thread_blocked(f->thread))
		return;
	for (;;) {
		if (!f->under_way && last_sent)
			return;
		if (!f->under_way) {
			struct ing_fleet_round *r = new_round(f);
			r->describes = true;
			f->user.describe(f->user.ctx, &r->state);
			r->state.state = "stopped";
			r->state.partitions = 0;
			ing_pg_thread_push(f->thread, &r->node);
			f->under_way = last_sent = true;
		}
		uint64_t now_ms = ing_now_ms();
		struct ing_node *node = ing_pg_thread_wait(
			f->thread, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);
		if (node == NULL)
			return;
		struct ing_fleet_round *done = ING_CONTAINER(node, struct ing_fleet_round, node);
		memcpy(f->mark, done->mark, sizeof(f->mark));
		last_sent = last_sent && !done->changed; /* then it has written nothing */
		ing_fleet_round_free(done);
		f->under_way = false;
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_fleet_new(struct uv_loop_s *loop, const struct ing_fleet_conf *conf, struct ing_fleet **ret,
	struct ing_error *err)
{
	struct ing_fleet *f = ing_alloc(sizeof(*f));
	f->every_ms = conf->every_ms > 0 ? conf->every_ms : EVERY_MS;
	f->loop = loop;
	f->session = (struct ing_fleet_session){
		.instance = ing_strdup(conf->instance),
		.machine = ing_strdup(conf->machine),
		.version = ing_strdup(conf->version),
		.started_ms = ing_now_ms(),
	};
	if (getrandom(&f->session.id, sizeof(f->session.id), 0) != sizeof(f->session.id))
		f->session.id = (int64_t)ing_now_ms();
	f->session.id &= INT64_MAX;
	ing_pace_init(&f->pace, 1, conf->statement_ms);
	const struct ing_pg_thread_conf thread = {.name = "ing-fleet",
		.dsn = conf->dsn,
		.ctx = f,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.drop = drop};
	int rc = ing_pg_thread_new(&thread, &f->thread, err);
	if (rc == 0)
		rc = read_first_orders(f, err);
	if (rc == 0)
		*ret = f;
	else
		ing_fleet_free(f);
	return rc;
}

void ing_fleet_start(struct ing_fleet *f, const struct ing_fleet_user *user)
{
	f->user = *user;
	f->timer = ing_alloc(sizeof(*f->timer));
	uv_timer_init(f->loop, f->timer);
	f->timer->data = f;
	uv_timer_start(f->timer, on_timer, f->every_ms, f->every_ms);
	ing_pg_thread_start(f->thread, f->loop);
	obey(f, f->first);
	ing_fleet_round_free(ING_TAKE(f->first));
	begin_round(f);
}

void ing_fleet_hurry(struct ing_fleet *f)
{
	begin_round(f);
}

void ing_fleet_free(struct ing_fleet *f)
{
	if (f == NULL)
		return;
	if (f->timer != NULL) {
		write_last_row(f);
		uv_close((uv_handle_t *)f->timer, on_timer_closed);
	}
	ing_pg_thread_free(f->thread);
	ing_fleet_round_free(f->first);
	free(f->session.instance);
	free(f->session.machine);
	free(f->session.version);
	free(f);
}
