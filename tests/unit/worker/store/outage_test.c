/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every item comes back, whatever the server does meanwhile.
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

static void a_database_that_goes_away_is_waited_for(void **state)
{
	(void)state;
	enum { N = 500 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	if (!bench_cluster.own) {
		free(e);
		skip();
	}
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < N; i++)
		bench_fill(&b, &e[i], i);
	for (unsigned i = 0; i < 100; i++)
		ing_store_put(b.store, &e[i].item);
	bench_wait(&b, 100);
	assert_false(ing_store_blocked(b.store));
	cluster_stop(&bench_cluster);
	for (unsigned i = 100; i < N; i++)
		ing_store_put(b.store, &e[i].item);
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (!ing_store_blocked(b.store) && ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b.store));
	until = ing_now_ms() + 1000; /* some attempts to connect fail */
	while (ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b.store));
	assert_int_equal(b.done, 100);
	cluster_resume(&bench_cluster);
	bench_wait(&b, N);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM cdx"), N);
	bench_close(&b);
	free(e);
}

static void a_connection_lost_between_batches_is_made_again(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[2];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	bench_fill(&b, &e[0], 0);
	bench_fill(&b, &e[1], 1);
	ing_store_put(b.store, &e[0].item);
	bench_wait(&b, 1);
	bench_sql(dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		       " WHERE datname = current_database() AND pid <> pg_backend_pid()");
	ing_store_put(b.store, &e[1].item);
	bench_wait(&b, 2);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), 2);
	bench_close(&b);
}

/* The server ends our session in the middle of COMMIT, twice: whether it happened is unknown, so it
 * is repeated. */
static void a_connection_lost_while_committing_loses_nothing(void **state)
{
	(void)state;
	enum { N = 50 };
	struct bench b;
	struct entry e[N];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"CREATE SEQUENCE tries;"
		"CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
		" IF nextval('tries') <= 2 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
		" RETURN NULL; END $$;"
		"CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON pdf_meta DEFERRABLE INITIALLY DEFERRED"
		" FOR EACH ROW WHEN (NEW.sha1hex = '0000000000000000000000000000000000000005')"
		" EXECUTE FUNCTION cut()");
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < N; i++) {
		bench_fill(&b, &e[i], i);
		ing_store_put(b.store, &e[i].item);
	}
	bench_wait(&b, N);
	assert_int_equal(bench_number(dsn, "SELECT last_value FROM tries"), 3);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM pdf_meta"), N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_request"), N);
	bench_close(&b);
}

/* Not the rows' fault: nothing may be dropped, however often it is said. */
static void trouble_in_the_database_is_waited_out(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	bench_sql(dsn, "ALTER TABLE file_meta RENAME TO elsewhere");
	bench_fill(&b, &e, 0);
	ing_store_put(b.store, &e.item);
	uint64_t until = ing_now_ms() + 1500;
	while (ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b.store));
	assert_int_equal(b.done, 0);
	bench_sql(dsn, "ALTER TABLE elsewhere RENAME TO file_meta");
	bench_wait(&b, 1);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM file_meta"), 1);
	bench_close(&b);
}

static void a_store_that_waits_can_be_freed(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	bench_check((int)ing_pg_exec(pg, "BEGIN; LOCK TABLE ingest_request", &err), &err);
	bench_fill(&b, &e, 0);
	ing_store_put(b.store, &e.item);
	for (int i = 0; i < 60; i++)
		uv_run(&b.loop,
			UV_RUN_ONCE); /* now in the middle of a statement that waits for the lock */
	uint64_t start = ing_now_ms();
	bench_close(&b);
	assert_in_range(ing_now_ms() - start, 0, 2000);
	assert_int_equal(b.done, 0);
	ing_pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_database_that_goes_away_is_waited_for),
		WITH_SERVER(a_connection_lost_between_batches_is_made_again),
		WITH_SERVER(a_connection_lost_while_committing_loses_nothing),
		WITH_SERVER(trouble_in_the_database_is_waited_out),
		WITH_SERVER(a_store_that_waits_can_be_freed),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
