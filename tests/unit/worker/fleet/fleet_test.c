/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Workers' rows and operators' orders in a real PostgreSQL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/database/schema.h"
#include "worker/fleet/fleet.h"
#include "worker/fleet/table.h"

#define EVERY_MS 50
#define WAIT_MS 20000

struct member { /* a worker of the fleet */
	struct ing_fleet *f;
	unsigned described, ordered;
	size_t order_count;
	char first_target[64], first_why[64];
	const char *state, *held_by, *status;
};

struct bed {
	uv_loop_t loop;
	uv_timer_t tick;
	const char *dsn;
};

static void nothing(uv_timer_t *t)
{
	(void)t;
}

static void bed_open(struct bed *b)
{
	*b = (struct bed){.dsn = cluster_database(&bench_cluster)};
	bench_migrate(b->dsn);
	assert_int_equal(uv_loop_init(&b->loop), 0);
	uv_timer_init(&b->loop, &b->tick);
	uv_timer_start(&b->tick, nothing, 5, 5);
}

static void bed_close(struct bed *b)
{
	uv_close((uv_handle_t *)&b->tick, NULL);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&b->loop), 0);
}

static void describe(void *ctx, struct ing_fleet_state *ret)
{
	struct member *m = ctx;
	m->described++;
	*ret = (struct ing_fleet_state){
		.state = m->state != NULL ? m->state : "running",
		.held_by = m->held_by != NULL ? ing_strdup(m->held_by) : NULL,
		.rules = ing_strdup("abc"),
		.status = m->status != NULL ? ing_strdup(m->status) : NULL,
		.partitions = 3,
		.transfers = 4,
		.lag = 5,
		.jobs = 6,
		.waiting = 7,
		.results = 8,
		.hits = 9,
		.oldest_ms = -1,
		.rate = 1.5,
	};
}

static void ordered(void *ctx, const struct ing_order *list, size_t count)
{
	struct member *m = ctx;
	m->ordered++;
	m->order_count = count;
	m->first_target[0] = m->first_why[0] = '\0';
	if (count == 0)
		return;
	snprintf(m->first_target, sizeof(m->first_target), "%s", list[0].target);
	snprintf(m->first_why, sizeof(m->first_why), "%s", list[0].why != NULL ? list[0].why : "-");
}

static void member_open(struct bed *b, struct member *m, const char *instance)
{
	struct ing_error err = {0};
	const struct ing_fleet_conf conf = {.dsn = b->dsn,
		.instance = instance,
		.machine = "machine.example",
		.version = "1.2",
		.every_ms = EVERY_MS};
	bench_check(ing_fleet_new(&b->loop, &conf, &m->f, &err), &err);
	ing_fleet_start(m->f, &(struct ing_fleet_user){m, describe, ordered});
}

/* So many rounds have begun: all but the last are through. */
static void wait_for_rounds(struct bed *b, const struct member *m, unsigned rounds)
{
	uint64_t until = ing_now_ms() + WAIT_MS;
	unsigned want = m->described + rounds;
	while (m->described < want && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_true(m->described >= want);
}

static void wait_for_orders(struct bed *b, const struct member *m, size_t count)
{
	uint64_t until = ing_now_ms() + WAIT_MS;
	while (m->order_count != count && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_int_equal(m->order_count, count);
}

static struct ing_pg *table_open(const struct bed *b)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_schema_open(b->dsn, &pg, &err), &err);
	return pg;
}

static int give(const struct bed *b, enum ing_order_kind kind, const char *target,
	enum ing_order_action action, const char *why)
{
	struct ing_error err = {0};
	struct ing_pg *pg = table_open(b);
	int rc = ing_fleet_table_order(pg,
		&(struct ing_order){
			.kind = kind, .action = action, .target = target, .why = why, .by = "anna"},
		&err);
	ing_pg_close(pg);
	ing_error_clear(&err);
	return rc;
}

static bool take_back(const struct bed *b, enum ing_order_kind kind, const char *target)
{
	struct ing_error err = {0};
	struct ing_pg *pg = table_open(b);
	bool was = false;
	bench_check(ing_fleet_table_resume(pg, kind, target, &was, &err), &err);
	ing_pg_close(pg);
	return was;
}

struct seen {
	unsigned rows;
	char instance[32], condition[16], held_by[64];
	bool has_status;
	struct ing_worker_row row; /* its strings are gone */
};

static void see(void *ctx, const struct ing_worker_row *row)
{
	struct seen *s = ctx;
	s->rows++;
	s->row = *row;
	snprintf(s->instance, sizeof(s->instance), "%s", row->instance);
	snprintf(s->condition, sizeof(s->condition), "%s", ing_worker_condition(row));
	snprintf(s->held_by, sizeof(s->held_by), "%s", row->held_by != NULL ? row->held_by : "");
	s->has_status = row->status != NULL;
}

static struct seen look(const struct bed *b, const char *instance)
{
	struct ing_error err = {0};
	struct seen s = {0};
	struct ing_pg *pg = table_open(b);
	bench_check(ing_fleet_table_workers(pg, instance, see, &s, &err), &err);
	ing_pg_close(pg);
	return s;
}

/* ---------------------------------------------------------------------------------------------- */

static void a_worker_writes_its_row(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {.held_by = "the disk is full", .status = "{\"a\": 1}"};
	bed_open(&b);
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	struct seen s = look(&b, NULL);
	assert_int_equal(s.rows, 1);
	assert_string_equal(s.instance, "one");
	assert_string_equal(s.condition, "running");
	assert_string_equal(s.held_by, "the disk is full");
	assert_true(s.has_status);
	assert_int_equal(s.row.partitions, 3);
	assert_int_equal(s.row.transfers, 4);
	assert_int_equal(s.row.lag, 5);
	assert_int_equal(s.row.jobs, 6);
	assert_int_equal(s.row.waiting, 7);
	assert_int_equal(s.row.results, 8);
	assert_int_equal(s.row.hits, 9);
	assert_int_equal(s.row.oldest_ms, -1);
	assert_true(s.row.rate > 1.4 && s.row.rate < 1.6);
	assert_true(s.row.orders_ms >= 0);
	assert_int_equal(look(&b, "two").rows, 0);
	ing_fleet_free(one.f);
	s = look(&b, "one");
	assert_string_equal(s.condition, "stopped");
	assert_int_equal(s.row.partitions, 0);
	bed_close(&b);
}

/* A worker that should have written and did not; one that has stopped need not. */
static void silence_is_seen_by_age(void **state)
{
	(void)state;
	static const struct {
		const char *state;
		int64_t age_ms;
		const char *want;
	} cases[] = {
		{"running", 0, "running"},
		{"paused", ING_WORKER_SILENT_MS, "paused"},
		{"running", ING_WORKER_SILENT_MS + 1, "silent"},
		{"running", ING_WORKER_DEAD_MS + 1, "dead"},
		{"stopped", ING_WORKER_DEAD_MS + 1, "stopped"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_worker_row row = {
			.state = cases[i].state, .age_ms = cases[i].age_ms};
		assert_string_equal(ing_worker_condition(&row), cases[i].want);
	}
}

static void the_next_process_takes_over_the_row(void **state)
{
	(void)state;
	struct bed b;
	struct member new = {.state = "paused"};
	bed_open(&b);
	bench_sql(b.dsn,
		"INSERT INTO worker_state VALUES ('one', 1, 'h', 1, 'v', NULL,"
		" now() - interval '1 day', now() - interval '1 h', now(), 'running', 'x', 1,"
		" NULL, 0, 0, 0, NULL, 0, 0, 0, NULL)");
	assert_true(look(&b, "one").row.up_ms > 3600000);
	member_open(&b, &new, "one");
	wait_for_rounds(&b, &new, 2);
	struct seen s = look(&b, NULL);
	assert_int_equal(s.rows, 1);
	assert_string_equal(s.condition, "paused");
	assert_true(s.row.up_ms < 60000);
	ing_fleet_free(new.f);
	bed_close(&b);
}

static void rows_of_workers_long_gone_are_deleted(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	bed_open(&b);
	bench_sql(b.dsn,
		"INSERT INTO worker_state SELECT 'w' || d, 1, 'h', 1, 'v', NULL, now(),"
		" now() - d * interval '1 day', NULL, 'running', NULL, 1, NULL, 0, 0, 0, NULL, 0, 0,"
		" 0, NULL FROM unnest(ARRAY[1, 6, 8, 30]) d");
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	assert_int_equal(bench_number(b.dsn, "SELECT count(*) FROM worker_state"), 3);
	assert_string_equal(look(&b, "w6").condition, "dead");
	ing_fleet_free(one.f);
	bed_close(&b);
}

/* Before the first row: a worker that is restarted must not do what it was told to leave undone. */
static void orders_are_there_at_the_start(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	bed_open(&b);
	assert_int_equal(give(&b, ING_TARGET_HOST, "a.example", ING_ACTION_PAUSE, "they asked"), 0);
	assert_int_equal(give(&b, ING_TARGET_INSTANCE, "two", ING_ACTION_DRAIN, NULL), 0);
	member_open(&b, &one, "one");
	assert_int_equal(one.ordered, 1);
	assert_int_equal(one.order_count, 1);
	assert_string_equal(one.first_target, "a.example");
	assert_string_equal(one.first_why, "they asked");
	ing_fleet_free(one.f);
	bed_close(&b);
}

static void orders_reach_every_worker(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	struct member two = {0};
	bed_open(&b);
	member_open(&b, &one, "one");
	member_open(&b, &two, "two");
	wait_for_rounds(&b, &one, 2);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE, NULL), 0);
	assert_int_equal(give(&b, ING_TARGET_INSTANCE, "two", ING_ACTION_PAUSE, NULL), 0);
	wait_for_orders(&b, &one, 1);
	wait_for_orders(&b, &two, 2);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_DRAIN, "other"), 0);
	uint64_t until = ing_now_ms() + WAIT_MS;
	while (strcmp(one.first_why, "other") != 0 && ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_string_equal(one.first_why, "other");
	assert_true(take_back(&b, ING_TARGET_LANE, "bulk"));
	assert_false(take_back(&b, ING_TARGET_LANE, "bulk"));
	wait_for_orders(&b, &one, 0);
	wait_for_orders(&b, &two, 1);
	unsigned before = one.ordered;
	wait_for_rounds(&b, &one, 3);
	assert_int_equal(one.ordered, before); /* nothing new */
	ing_fleet_free(one.f);
	ing_fleet_free(two.f);
	bed_close(&b);
}

/* The row of the round that has found new orders does not say that they are obeyed. */
static void the_row_says_since_when_orders_are_obeyed(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	bed_open(&b);
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE, NULL), 0);
	for (int i = 0; i < 200; i++) {
		bool says = bench_number(b.dsn, "SELECT count(*) FROM worker_state, fleet_order"
						" WHERE orders_read > created_at") > 0;
		if (says)
			assert_int_equal(one.order_count, 1);
		if (says)
			break;
		uv_run(&b.loop, UV_RUN_ONCE);
	}
	assert_int_equal(one.order_count, 1);
	ing_fleet_free(one.f);
	bed_close(&b);
}

/* A forgotten transaction, a table that is being rewritten, a full disk. */
static void orders_are_obeyed_while_the_row_cannot_be_written(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	struct ing_error err = {0};
	static const char lock[] = "BEGIN; SELECT FROM worker_state FOR UPDATE";
	bed_open(&b);
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	struct ing_pg *other = table_open(&b);
	assert_int_equal(ing_pg_exec(other, lock, &err), ING_PG_OK);
	for (int i = 0; i < 60; i++)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE, NULL), 0);
	wait_for_orders(&b, &one, 1);
	ing_pg_close(other);
	ing_fleet_free(one.f);
	bed_close(&b);
}

static void the_last_row_is_written_though_orders_change(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	bed_open(&b);
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE, NULL), 0);
	ing_fleet_free(one.f);
	assert_string_equal(look(&b, "one").condition, "stopped");
	bed_close(&b);
}

static void a_row_that_is_refused_is_written_without_details(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {.status = "{\"a\": \"\\u0000\"}", .held_by = "something"};
	bed_open(&b);
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	struct seen s = look(&b, "one");
	assert_int_equal(s.rows, 1);
	assert_false(s.has_status);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE, NULL), 0);
	wait_for_orders(&b, &one, 1);
	ing_fleet_free(one.f);
	bed_close(&b);
}

static void orders_are_checked_and_bounded(void **state)
{
	(void)state;
	struct bed b;
	char longest[ING_ORDER_WHY_BYTES + 1];
	bed_open(&b);
	memset(longest, 'x', sizeof(longest));
	longest[ING_ORDER_WHY_BYTES] = '\0';
	assert_int_equal(give(&b, ING_TARGET_HOST, "", ING_ACTION_PAUSE, NULL), -ING_FAIL_INVALID);
	assert_int_equal(give(&b, ING_TARGET_HOST, "a", ING_ACTION_PAUSE, ""), -ING_FAIL_INVALID);
	assert_int_equal(
		give(&b, ING_TARGET_HOST, "a", ING_ACTION_PAUSE, "\xff"), -ING_FAIL_INVALID);
	assert_int_equal(
		give(&b, ING_TARGET_HOST, "a", ING_ACTION_PAUSE, longest), -ING_FAIL_INVALID);
	longest[ING_ORDER_WHY_BYTES - 1] = '\0';
	assert_int_equal(give(&b, ING_TARGET_HOST, "a", ING_ACTION_PAUSE, longest), 0);
	bench_sql(b.dsn, "INSERT INTO fleet_order (kind, target, action)"
			 " SELECT 'host', 'h' || i, 'pause' FROM generate_series(2, 10000) i");
	assert_int_equal(give(&b, ING_TARGET_HOST, "b", ING_ACTION_PAUSE, NULL), -ING_FAIL_INVALID);
	assert_int_equal(give(&b, ING_TARGET_HOST, "a", ING_ACTION_DRAIN, "changed"), 0);
	assert_int_equal(bench_number(b.dsn, "SELECT count(*) FROM fleet_order"), 10000);
	bed_close(&b);
}

/* Whatever somebody has put into the table. */
static void a_table_of_very_many_orders_is_read_in_part(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	bed_open(&b);
	bench_sql(b.dsn,
		"INSERT INTO fleet_order (kind, target, action) SELECT"
		" CASE i % 3 WHEN 0 THEN 'host' WHEN 1 THEN 'lane' ELSE 'instance' END,"
		" 'h' || i, 'pause' FROM generate_series(1, 150000) i;"
		"INSERT INTO fleet_order (kind, target, action) VALUES"
		" ('lane', 'bulk', 'pause'), ('instance', 'one', 'drain'); ANALYZE fleet_order");
	member_open(&b, &one, "one");
	assert_int_equal(one.order_count, ING_MAX_ORDERS + 1 + 2);
	wait_for_rounds(&b, &one, 3);
	ing_fleet_free(one.f);
	bed_close(&b);
}

static void an_absent_database_delays_everything_and_nothing_else(void **state)
{
	(void)state;
	struct bed b;
	struct member one = {0};
	if (!bench_cluster.own)
		skip();
	bed_open(&b);
	member_open(&b, &one, "one");
	wait_for_rounds(&b, &one, 2);
	cluster_stop(&bench_cluster);
	for (int i = 0; i < 60; i++) /* the loop goes on */
		uv_run(&b.loop, UV_RUN_ONCE);
	unsigned before = one.described;
	for (int i = 0; i < 60; i++)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(one.described <= before + 1); /* one round waits */
	cluster_resume(&bench_cluster);
	assert_int_equal(give(&b, ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE, NULL), 0);
	wait_for_orders(&b, &one, 1);
	cluster_stop(&bench_cluster);
	for (int i = 0; i < 60; i++)
		uv_run(&b.loop, UV_RUN_ONCE);
	ing_fleet_free(one.f); /* does not wait for it */
	cluster_resume(&bench_cluster);
	assert_string_equal(look(&b, "one").condition, "running");
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_worker_writes_its_row),
		cmocka_unit_test(silence_is_seen_by_age),
		WITH_SERVER(the_next_process_takes_over_the_row),
		WITH_SERVER(rows_of_workers_long_gone_are_deleted),
		WITH_SERVER(orders_are_there_at_the_start),
		WITH_SERVER(orders_reach_every_worker),
		WITH_SERVER(the_row_says_since_when_orders_are_obeyed),
		WITH_SERVER(orders_are_obeyed_while_the_row_cannot_be_written),
		WITH_SERVER(the_last_row_is_written_though_orders_change),
		WITH_SERVER(a_row_that_is_refused_is_written_without_details),
		WITH_SERVER(orders_are_checked_and_bounded),
		WITH_SERVER(a_table_of_very_many_orders_is_read_in_part),
		WITH_SERVER(an_absent_database_delays_everything_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
