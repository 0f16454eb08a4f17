/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A database that is slow, locked or waits for its standby: every item comes back once its rows are
 * committed, and none before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"

#define ROWS 100

/* A store whose statements may take limit_ms, in a database of its own. */
static const char *begin(struct bench *b, unsigned limit_ms)
{
	const char *dsn = cluster_database(&bench_cluster);
	const struct ing_postgres_settings conf = {
		.dsn = dsn, .batch_rows = ROWS, .batch_ms = 10, .statement_ms = limit_ms};
	bench_migrate(dsn);
	bench_open_with(b, &conf);
	return dsn;
}

static void put(struct bench *b, struct entry *e, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		bench_fill(b, &e[i], i);
		ing_store_put(b->store, &e[i].item);
	}
}

/* Enough for the batches to have grown to their full size. */
static unsigned warm_up(struct bench *b, struct entry *e)
{
	for (unsigned n = 0; n < 4; n++) {
		put(b, e, n * ROWS, (n + 1) * ROWS);
		bench_wait(b, (n + 1) * ROWS);
	}
	return 4 * ROWS;
}

static uint64_t batches(const struct bench *b)
{
	struct ing_store_stats stats;
	ing_store_stats(b->store, &stats);
	return stats.batches;
}

static void turn_for(struct bench *b, unsigned ms)
{
	uint64_t until = ing_now_ms() + ms;
	while (ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
}

static void wait_blocked(struct bench *b)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (!ing_store_blocked(b->store) && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b->store));
}

static void sleep_in_trigger(const char *dsn, const char *when, const char *seconds)
{
	char sql[512];
	snprintf(sql, sizeof(sql),
		"CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS"
		" $$ BEGIN PERFORM pg_sleep(%s); RETURN NEW; END $$;"
		"CREATE TRIGGER rest BEFORE INSERT ON ingest_file_result FOR EACH ROW WHEN (%s)"
		" EXECUTE FUNCTION rest()",
		seconds, when);
	bench_sql(dsn, sql);
}

/* A full batch would take 2 s, four times what a statement may. */
static void a_batch_that_takes_too_long_is_split_and_goes_on(void **state)
{
	(void)state;
	struct bench b;
	struct entry *e = ing_alloc(5 * ROWS * sizeof(*e));
	const char *dsn = begin(&b, 500);
	unsigned before = warm_up(&b, e);
	sleep_in_trigger(dsn, "true", "0.02");
	uint64_t written = batches(&b);
	put(&b, e, before, before + ROWS);
	bench_wait(&b, before + ROWS);
	assert_false(ing_store_blocked(b.store));
	assert_true(batches(&b) - written > 4);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), before + ROWS);
	bench_close(&b);
	free(e);
}

static void one_row_that_takes_longer_than_the_limit_is_written_at_last(void **state)
{
	(void)state;
	enum { N = 20 };
	struct bench b;
	struct entry e[N];
	const char *dsn = begin(&b, 200);
	sleep_in_trigger(dsn, "NEW.base_url = 'https://a.example/7'", "1");
	put(&b, e, 0, N);
	bench_wait(&b, N);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), N);
	bench_close(&b);
}

/* Nothing is gained by smaller batches: when the lock is gone, all is written in one. */
static void a_lock_is_waited_for_and_splits_nothing(void **state)
{
	(void)state;
	struct bench b;
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	struct entry *e = ing_alloc(5 * ROWS * sizeof(*e));
	const char *dsn = begin(&b, 300);
	unsigned before = warm_up(&b, e);
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	bench_check((int)ing_pg_exec(pg,
			    "BEGIN; LOCK TABLE ingest_file_result IN ACCESS EXCLUSIVE MODE", &err),
		&err);
	uint64_t written = batches(&b);
	put(&b, e, before, before + ROWS);
	wait_blocked(&b);
	turn_for(&b, 1500); /* several tries */
	assert_true(ing_store_blocked(b.store));
	assert_int_equal(b.done, before);
	ing_pg_close(pg);
	bench_wait(&b, before + ROWS);
	assert_false(ing_store_blocked(b.store));
	assert_in_range(batches(&b) - written, 1, 2);
	bench_close(&b);
	free(e);
}

/* PostgreSQL answers a COMMIT that is called off while it waits as if the standby had it; its time
 * limit does not call it off. */
static void a_commit_counts_only_when_the_synchronous_standby_has_it(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[2];
	if (!bench_cluster.own)
		skip();
	const char *dsn = begin(&b, 200);
	put(&b, e, 0, 1);
	bench_wait(&b, 1);
	bench_sql(dsn, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
	bench_sql(dsn, "SELECT pg_reload_conf()");
	put(&b, e, 1, 2);
	wait_blocked(&b);
	turn_for(&b, 1000);
	assert_int_equal(b.done, 1);
	bench_sql(dsn, "ALTER SYSTEM RESET synchronous_standby_names");
	bench_sql(dsn, "SELECT pg_reload_conf()");
	bench_wait(&b, 2);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_batch_that_takes_too_long_is_split_and_goes_on),
		WITH_SERVER(one_row_that_takes_longer_than_the_limit_is_written_at_last),
		WITH_SERVER(a_lock_is_waited_for_and_splits_nothing),
		WITH_SERVER(a_commit_counts_only_when_the_synchronous_standby_has_it),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
