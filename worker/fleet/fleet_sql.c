/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The statements of a round. Each is a transaction of its own, short, and may be repeated whatever became of it
 * before. All times are the database's. Database thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/database/schema.h"
#include "worker/fleet/fleet_priv.h"

#define STATEMENT_TIMEOUT "15s" /* while the connection is made; then the limits hold */
#define FORGET_AFTER "7 days"

/* $1 instance, $2 the mark known, $3 how many for hosts. One row with the mark of the orders; or, when it is another
 * than $2, a row with mark and order for each order. The limit keeps the statement small whatever the table holds. */
static const char orders_sql[] =
	"WITH o AS MATERIALIZED ("
	" SELECT kind, target, action, why, created_by, created_at FROM fleet_order"
	"  WHERE kind = 'instance' AND target = $1"
	" UNION ALL SELECT kind, target, action, why, created_by, created_at FROM fleet_order"
	"  WHERE kind = 'lane' AND target IN ('priority', 'requests', 'daily', 'bulk')"
	" UNION ALL (SELECT kind, target, action, why, created_by, created_at FROM fleet_order"
	"  WHERE kind = 'host' ORDER BY target LIMIT $3::bigint)),"
	" m AS (SELECT encode(sha256(convert_to(coalesce(string_agg(format('%L %L %L %L %L %L', kind,"
	"  target, action, why, created_by, created_at), ',' ORDER BY kind, target), ''), 'UTF8')),"
	"  'hex') AS mark FROM o)"
	" SELECT m.mark, o.kind, o.target, o.action, o.why, o.created_by,"
	"  ceil(extract(epoch FROM clock_timestamp() - o.created_at) * 1000)::bigint"
	" FROM m LEFT JOIN o ON m.mark <> $2";
enum {
	ORDER_MARK,
	ORDER_KIND,
	ORDER_TARGET,
	ORDER_ACTION,
	ORDER_WHY,
	ORDER_BY,
	ORDER_AGE_MS,
	ORDER_COLUMNS
};

/* A process that was started under the name of another takes over its row. */
static const char row_sql[] =
	"INSERT INTO worker_state AS w (instance, session, host, pid, version, rules, started, updated,"
	" orders_read, state, held_by, partitions, lag, jobs, waiting, transfers, oldest_ms, results,"
	" hits, rate, status)"
	" VALUES ($1, $2::bigint, $3, $4::integer, $5, $6,"
	" clock_timestamp() - $7::bigint * interval '1 ms', clock_timestamp(),"
	" CASE WHEN $8::boolean THEN clock_timestamp() END, $9, $10, $11::integer, $12::bigint,"
	" $13::bigint, $14::bigint, $15::integer, $16::bigint, $17::bigint, $18::bigint, $19::real,"
	" $20::jsonb)"
	" ON CONFLICT (instance) DO UPDATE SET session = excluded.session, host = excluded.host,"
	" pid = excluded.pid, version = excluded.version, rules = excluded.rules,"
	" started = CASE WHEN w.session = excluded.session THEN w.started ELSE excluded.started END,"
	" updated = excluded.updated,"
	" orders_read = coalesce(excluded.orders_read,"
	"  CASE WHEN w.session = excluded.session THEN w.orders_read END),"
	" state = excluded.state, held_by = excluded.held_by, partitions = excluded.partitions,"
	" lag = excluded.lag, jobs = excluded.jobs, waiting = excluded.waiting,"
	" transfers = excluded.transfers, oldest_ms = excluded.oldest_ms, results = excluded.results,"
	" hits = excluded.hits, rate = excluded.rate, status = excluded.status";

static const char prune_sql[] = "DELETE FROM worker_state WHERE instance <> $1"
				" AND updated < clock_timestamp() - interval '" FORGET_AFTER "'";

struct number { /* as a parameter */
	char text[32];
};

static const char *say(struct number *n, int64_t value)
{
	snprintf(n->text, sizeof(n->text), "%" PRId64, value);
	return n->text;
}

static const char *say_count(struct number *n, uint64_t value)
{
	return say(n, (int64_t)ING_MIN(value, (uint64_t)INT64_MAX));
}

static const char *say_unless_negative(struct number *n, int64_t value)
{
	return value >= 0 ? say(n, value) : NULL;
}

/* --- orders --- */

static void forget_orders(struct ing_fleet_round *r)
{
	free(ING_TAKE(r->orders));
	ing_arena_done(&r->ar);
	ing_arena_init(&r->ar);
	r->order_count = 0;
	r->changed = false;
}

struct orders_answer {
	struct ing_fleet_round *r;
	char mark[ING_FLEET_MARK_BYTES];
};

/* Arrays double whenever their count is a power of two. */
static void add_order(struct ing_fleet_round *r, const struct ing_order *order)
{
	size_t n = r->order_count;
	if ((n & (n - 1)) == 0)
		r->orders = ing_realloc(r->orders, (n == 0 ? 1 : 2 * n) * sizeof(*r->orders));
	r->orders[r->order_count++] = *order;
}

static void take_order(void *ctx, const char *const *v, int count)
{
	struct orders_answer *got = ctx;
	struct ing_order order = {0};
	ing_must(count == ORDER_COLUMNS);
	snprintf(got->mark, sizeof(got->mark), "%s", v[ORDER_MARK]);
	if (v[ORDER_KIND] == NULL || !ing_order_kind_from_name(v[ORDER_KIND], &order.kind) ||
		!ing_order_action_from_name(v[ORDER_ACTION], &order.action))
		return;
	order.target = ing_arena_strdup(&got->r->ar, v[ORDER_TARGET]);
	order.why = v[ORDER_WHY] != NULL ? ing_arena_strdup(&got->r->ar, v[ORDER_WHY]) : NULL;
	order.by = v[ORDER_BY] != NULL ? ing_arena_strdup(&got->r->ar, v[ORDER_BY]) : NULL;
	order.age_ms = ING_MAX(ing_pg_int64(v[ORDER_AGE_MS]), (int64_t)0);
	add_order(got->r, &order);
}

/* -------------------------------------------------------------------------------------------- */

void ing_fleet_round_free(struct ing_fleet_round *r)
{
	if (r == NULL)
		return;
	forget_orders(r);
	ing_arena_done(&r->ar);
	free(r->state.held_by);
	free(r->state.rules);
	free(r->state.status);
	free(r);
}

int ing_fleet_prepare(struct ing_pg *pg, struct ing_error *err)
{
	static const char settings[] = "SET statement_timeout = '" STATEMENT_TIMEOUT "';"
				       "SET default_transaction_isolation = 'read committed';"
				       "SET client_min_messages = 'error'";
	return ing_schema_prepare(pg, settings, err);
}

enum ing_pg_rc ing_fleet_read_orders(struct ing_pg *pg, const struct ing_fleet_session *ses,
	struct ing_fleet_round *r, struct ing_error *err)
{
	struct orders_answer got = {.r = r};
	struct number most;
	/* One more than are obeyed, so that the loop notices that there are too many. */
	const char *params[] = {ses->instance, r->mark, say(&most, ING_MAX_ORDERS + 1)};
	forget_orders(r);
	enum ing_pg_rc rc = ing_pg_query(
		pg, "orders", orders_sql, params, ING_ARRAY_LEN(params), take_order, &got, err);
	if (rc != ING_PG_OK)
		return rc;
	r->changed = strcmp(got.mark, r->mark) != 0;
	memcpy(r->mark, got.mark, sizeof(r->mark));
	return ING_PG_OK;
}

enum ing_pg_rc ing_fleet_write_row(struct ing_pg *pg, const struct ing_fleet_session *ses,
	const struct ing_fleet_round *r, struct ing_error *err)
{
	const struct ing_fleet_state *s = &r->state;
	struct number n[11];
	char rate[32];
	snprintf(rate, sizeof(rate), "%.3f", s->rate);
	const char *params[] = {
		ses->instance,
		say(&n[0], ses->id),
		ses->machine,
		say(&n[1], getpid()),
		ses->version,
		s->rules,
		say_count(&n[2], ing_now_ms() - ses->started_ms),
		r->changed ? "false" : "true",
		s->state,
		s->held_by,
		say(&n[3], s->partitions),
		say_unless_negative(&n[4], s->lag),
		say_count(&n[5], s->jobs),
		say_count(&n[6], s->waiting),
		say(&n[7], s->transfers),
		say_unless_negative(&n[8], s->oldest_ms),
		say_count(&n[9], s->results),
		say_count(&n[10], s->hits),
		rate,
		s->status,
	};
	return ing_pg_query(
		pg, "worker state", row_sql, params, ING_ARRAY_LEN(params), NULL, NULL, err);
}

enum ing_pg_rc ing_fleet_prune(
	struct ing_pg *pg, const struct ing_fleet_session *ses, struct ing_error *err)
{
	const char *params[] = {ses->instance};
	return ing_pg_query(pg, NULL, prune_sql, params, ING_ARRAY_LEN(params), NULL, NULL, err);
}
