/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statements of operators' tools. No state.
 */
#include "worker/fleet/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

#define MAX_LISTED 20000

#define MS_SINCE(column) "ceil(extract(epoch FROM clock_timestamp() - " column ") * 1000)::bigint"

/* $1 instance, or NULL. */
static const char workers_sql[] = "SELECT instance, host, version, rules, state, held_by, status, " MS_SINCE(
	"updated") ","
		   " ceil(extract(epoch FROM updated - started) * 1000)::bigint, " MS_SINCE(
			   "orders_read") ","
					  " lag, oldest_ms, pid, partitions, transfers, jobs, waiting, results, hits, rate"
					  " FROM worker_state WHERE $1::text IS NULL OR instance = $1 ORDER BY instance";
enum {
	WORKER_INSTANCE,
	WORKER_MACHINE,
	WORKER_VERSION,
	WORKER_RULES,
	WORKER_STATE,
	WORKER_HELD_BY,
	WORKER_STATUS,
	WORKER_AGE_MS,
	WORKER_UP_MS,
	WORKER_ORDERS_MS,
	WORKER_LAG,
	WORKER_OLDEST_MS,
	WORKER_PID,
	WORKER_PARTITIONS,
	WORKER_TRANSFERS,
	WORKER_JOBS,
	WORKER_WAITING,
	WORKER_RESULTS,
	WORKER_HITS,
	WORKER_RATE,
	WORKER_COLUMNS
};

/* $1 how many. */
static const char orders_sql[] = "SELECT kind, target, action, why, created_by, " MS_SINCE(
	"created_at") " FROM fleet_order ORDER BY array_position(ARRAY['instance', 'lane', 'host'], kind), target"
		      " LIMIT $1::bigint";
enum { ORDER_KIND, ORDER_TARGET, ORDER_ACTION, ORDER_WHY, ORDER_BY, ORDER_AGE_MS, ORDER_COLUMNS };

/* $1 kind, $2 target, $3 action, $4 why, $5 by, $6 how many there may be. */
static const char order_sql[] =
	"INSERT INTO fleet_order (kind, target, action, why, created_by)"
	" SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM (SELECT FROM fleet_order"
	" LIMIT $6::bigint) AS f) < $6::bigint"
	" OR EXISTS (SELECT FROM fleet_order WHERE kind = $1 AND target = $2)"
	" ON CONFLICT (kind, target) DO UPDATE SET action = excluded.action, why = excluded.why,"
	" created_by = excluded.created_by, created_at = clock_timestamp() RETURNING kind";
static const char resume_sql[] =
	"DELETE FROM fleet_order WHERE kind = $1 AND target = $2 RETURNING kind";

static int query(struct ing_pg *pg, const char *sql, const char *const *params, int count,
	ing_pg_row_f *each, void *ctx, struct ing_error *err)
{
	switch (ing_pg_query(pg, NULL, sql, params, count, each, ctx, err)) {
	case ING_PG_OK:
		return 0;
	case ING_PG_REFUSED:
		return -ING_FAIL_INVALID;
	default:
		return -ING_FAIL_UNAVAILABLE;
	}
}

/* --- rows --- */

static int64_t positive(const char *text)
{
	return ING_MAX(ing_pg_int64(text), (int64_t)0);
}

static int64_t positive_or_none(const char *text)
{
	return text != NULL ? positive(text) : -1;
}

struct row_reader {
	ing_worker_row_f *fn;
	void *ctx;
};

static void read_worker(void *ctx, const char *const *v, int count)
{
	const struct row_reader *to = ctx;
	ing_must(count == WORKER_COLUMNS);
	to->fn(to->ctx, &(struct ing_worker_row){
				.instance = v[WORKER_INSTANCE],
				.machine = v[WORKER_MACHINE],
				.version = v[WORKER_VERSION],
				.rules = v[WORKER_RULES],
				.state = v[WORKER_STATE],
				.held_by = v[WORKER_HELD_BY],
				.status = v[WORKER_STATUS],
				.age_ms = positive(v[WORKER_AGE_MS]),
				.up_ms = positive(v[WORKER_UP_MS]),
				.orders_ms = positive_or_none(v[WORKER_ORDERS_MS]),
				.lag = positive_or_none(v[WORKER_LAG]),
				.oldest_ms = positive_or_none(v[WORKER_OLDEST_MS]),
				.pid = ing_pg_unsigned(v[WORKER_PID]),
				.partitions = ing_pg_unsigned(v[WORKER_PARTITIONS]),
				.transfers = ing_pg_unsigned(v[WORKER_TRANSFERS]),
				.jobs = (uint64_t)positive(v[WORKER_JOBS]),
				.waiting = (uint64_t)positive(v[WORKER_WAITING]),
				.results = (uint64_t)positive(v[WORKER_RESULTS]),
				.hits = (uint64_t)positive(v[WORKER_HITS]),
				.rate = strtod(v[WORKER_RATE], NULL),
			});
}

struct order_reader {
	ing_order_f *fn;
	void *ctx;
};

static void read_order(void *ctx, const char *const *v, int count)
{
	const struct order_reader *to = ctx;
	struct ing_order order = {.target = v[ORDER_TARGET],
		.why = v[ORDER_WHY],
		.by = v[ORDER_BY],
		.age_ms = positive(v[ORDER_AGE_MS])};
	ing_must(count == ORDER_COLUMNS);
	if (ing_order_kind_from_name(v[ORDER_KIND], &order.kind) &&
		ing_order_action_from_name(v[ORDER_ACTION], &order.action))
		to->fn(to->ctx, &order);
}

static void set_true(void *ctx, const char *const *v, int count)
{
	bool *is = ctx;
	(void)v;
	(void)count;
	*is = true;
}

static int check_text(const char *what, const char *text, size_t most, struct ing_error *err)
{
	size_t bytes = text != NULL ? strlen(text) : 1;
	if (bytes == 0 || bytes > most)
		return ing_error_set(
			err, ING_FAIL_INVALID, "%s must have 1 to %zu bytes", what, most);
	if (text != NULL && !ing_utf8_valid(text, bytes))
		return ing_error_set(err, ING_FAIL_INVALID, "%s is not UTF-8", what);
	return 0;
}

static int check_order(const struct ing_order *order, struct ing_error *err)
{
	int rc = check_text("the target", order->target, ING_ORDER_TARGET_BYTES - 1, err);
	if (rc == 0)
		rc = check_text("the reason", order->why, ING_ORDER_WHY_BYTES - 1, err);
	if (rc == 0)
		rc = check_text("the user's name", order->by, ING_ORDER_TARGET_BYTES - 1, err);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_worker_condition(const struct ing_worker_row *row)
{
	if (strcmp(row->state, "stopped") == 0 || row->age_ms <= ING_WORKER_SILENT_MS)
		return row->state;
	return row->age_ms <= ING_WORKER_DEAD_MS ? "silent" : "dead";
}

int ing_fleet_table_workers(struct ing_pg *pg, const char *instance, ing_worker_row_f *fn,
	void *ctx, struct ing_error *err)
{
	struct row_reader to = {fn, ctx};
	const char *params[] = {instance};
	return query(pg, workers_sql, params, 1, read_worker, &to, err);
}

int ing_fleet_table_orders(struct ing_pg *pg, ing_order_f *fn, void *ctx, struct ing_error *err)
{
	char most[16];
	struct order_reader to = {fn, ctx};
	const char *params[] = {most};
	snprintf(most, sizeof(most), "%d", MAX_LISTED);
	return query(pg, orders_sql, params, 1, read_order, &to, err);
}

int ing_fleet_table_order(struct ing_pg *pg, const struct ing_order *order, struct ing_error *err)
{
	char most[16];
	bool given = false;
	const char *params[] = {ing_order_kind_name(order->kind), order->target,
		ing_order_action_name(order->action), order->why, order->by, most};
	snprintf(most, sizeof(most), "%d", ING_MAX_ORDERS);
	int rc = check_order(order, err);
	if (rc == 0)
		rc = query(pg, order_sql, params, ING_ARRAY_LEN(params), set_true, &given, err);
	if (rc != 0 || given)
		return rc;
	return ing_error_set(err, ING_FAIL_INVALID,
		"%d orders are in force already: take some of them back", ING_MAX_ORDERS);
}

int ing_fleet_table_resume(struct ing_pg *pg, enum ing_order_kind kind, const char *target,
	bool *ret_was, struct ing_error *err)
{
	bool was = false;
	const char *params[] = {ing_order_kind_name(kind), target};
	int rc = query(pg, resume_sql, params, ING_ARRAY_LEN(params), set_true, &was, err);
	if (rc == 0)
		*ret_was = was;
	return rc;
}
