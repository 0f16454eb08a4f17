/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Migrations against a real PostgreSQL, and how the connection tells failures apart.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/pg.h"
#include "schemas/migrations.h"
#include "worker/database/schema.h"
#include "tests/unit/worker/store/bench.h"

static void a_schema_is_made_once(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&bench_cluster);
	struct ing_error err = {0};
	uv_loop_t loop;
	struct ing_store *store = NULL;
	int version = -1;
	int from = -1;
	int to = -1;
	assert_int_equal(uv_loop_init(&loop), 0);
	const struct ing_postgres_settings conf = {.dsn = dsn, .batch_rows = 10};
	bench_check(ing_schema_version(dsn, &version, &err), &err);
	assert_int_equal(version, 0);
	assert_int_equal(ing_store_new(&loop, &conf, &store, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "ingestctl db migrate"));
	ing_error_clear(&err);
	bench_check(ing_schema_migrate(dsn, &from, &to, &err), &err);
	assert_int_equal(from, 0);
	assert_int_equal(to, ing_schema_newest());
	bench_check(ing_schema_migrate(dsn, &from, &to, &err), &err);
	assert_int_equal(from, ing_schema_newest());
	bench_check(ing_schema_version(dsn, &version, &err), &err);
	assert_int_equal(version, ing_schema_newest());
	uv_loop_close(&loop);
}

static void a_schema_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&bench_cluster);
	struct ing_error err = {0};
	uv_loop_t loop;
	struct ing_store *store = NULL;
	int from;
	int to;
	assert_int_equal(uv_loop_init(&loop), 0);
	const struct ing_postgres_settings conf = {.dsn = dsn, .batch_rows = 10};
	bench_migrate(dsn);
	bench_sql(dsn, "INSERT INTO schema_version VALUES (999, '0999_future')");
	assert_int_equal(ing_store_new(&loop, &conf, &store, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "version 999, newer than"));
	ing_error_clear(&err);
	assert_int_equal(ing_schema_migrate(dsn, &from, &to, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "version 999, newer than"));
	ing_error_clear(&err);
	bench_sql(dsn, "DELETE FROM schema_version WHERE version > 1");
	assert_int_equal(ing_store_new(&loop, &conf, &store, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "older than"));
	ing_error_clear(&err);
	/* Half a migration is none: 0002's tables exist already, so it fails and leaves the
	 * version. */
	assert_int_not_equal(ing_schema_migrate(dsn, &from, &to, &err), 0);
	assert_non_null(strstr(err.msg, "migration 0002_"));
	assert_int_equal(bench_number(dsn, "SELECT max(version) FROM schema_version"), 1);
	uv_loop_close(&loop);
}

struct migrator {
	const char *dsn;
	int from, rc;
	struct ing_error err;
};

static void *migrate_thread(void *ctx)
{
	struct migrator *m = ctx;
	int to;
	m->rc = ing_schema_migrate(m->dsn, &m->from, &to, &m->err);
	return NULL;
}

static void migrators_take_turns(void **state)
{
	(void)state;
	struct migrator all[6] = {0};
	pthread_t threads[6];
	const char *dsn = cluster_database(&bench_cluster);
	for (int i = 0; i < 6; i++) {
		all[i].dsn = dsn;
		assert_int_equal(pthread_create(&threads[i], NULL, migrate_thread, &all[i]), 0);
	}
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], NULL);
		bench_check(all[i].rc, &all[i].err);
	}
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM schema_version"), ing_schema_newest());
}

/* As a worker's batch does it: results, then requests. */
static void a_worker_at_work_and_the_migration_of_lists_wait_for_one_another(void **state)
{
	(void)state;
	enum { BEFORE = 8 };
	const char *dsn = cluster_database(&bench_cluster);
	struct migrator m = {.dsn = dsn};
	struct ing_error err = {0};
	struct ing_pg *worker = NULL;
	pthread_t thread;
	bench_sql(dsn,
		"CREATE TABLE schema_version (version integer PRIMARY KEY,"
		" name text NOT NULL, applied timestamptz NOT NULL DEFAULT now());"
		"INSERT INTO schema_version (version, name) SELECT i, '' FROM generate_series(1, 8) i");
	for (int i = 0; i < BEFORE; i++)
		bench_sql(dsn, ing_migrations[i].sql);
	bench_check(ing_pg_open(dsn, -1, 30000, &worker, &err), &err);
	bench_check(
		(int)ing_pg_exec(worker,
			"BEGIN; INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
			" VALUES ('pdf', 'https://a.example/', false, 'timeout')",
			&err),
		&err);
	assert_int_equal(pthread_create(&thread, NULL, migrate_thread, &m), 0);
	while (bench_number(dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
		usleep(10000);
	bench_check(
		(int)ing_pg_exec(worker,
			"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url)"
			" VALUES ('a', 'b', 'pdf', 'https://a.example/');"
			"INSERT INTO file_meta (sha1hex) VALUES (repeat('0', 40)); COMMIT",
			&err),
		&err);
	pthread_join(thread, NULL);
	bench_check(m.rc, &m.err);
	assert_int_equal(m.from, BEFORE);
	ing_pg_close(worker);
}

static void an_address_that_is_none_is_refused(void **state)
{
	(void)state;
	struct ing_error err = {0};
	int version;
	assert_int_equal(ing_schema_version("postgresql://[", &version, &err), -ING_FAIL_CONFIG);
	ing_error_clear(&err);
	/* Port 1 of the loopback address: nobody listens there. */
	assert_int_equal(
		ing_schema_version("host=127.0.0.1 port=1", &version, &err), -ING_FAIL_UNAVAILABLE);
}

/* A frozen server keeps its TCP alive, so nothing but a clock of our own notices it. */
static void a_server_that_does_not_answer_is_lost(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(bench_cluster.dsn, -1, 200, &pg, &err), &err);
	uint64_t start = ing_now_ms();
	assert_int_equal(ing_pg_exec(pg, "SELECT pg_sleep(20)", &err), ING_PG_SILENT);
	assert_in_range(ing_now_ms() - start, 190, 5000);
	assert_non_null(strstr(err.msg, "no answer"));
	ing_pg_close(pg);
}

static void kinds_of_failure_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		enum ing_pg_rc want;
	} cases[] = {
		{"SELECT 1", ING_PG_OK},
		{"", ING_PG_OK},
		{"SELECT 1/0", ING_PG_REFUSED},
		{"SELECT 'x'::int", ING_PG_REFUSED},
		{"SELECT nothing_such()", ING_PG_TROUBLE},
		{"nonsense", ING_PG_TROUBLE},
		{"SET statement_timeout = '50ms'; SELECT pg_sleep(20)", ING_PG_SLOW},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '55P03'; END $$", ING_PG_LOCKED},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$",
			ING_PG_CONFLICT},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END $$",
			ING_PG_CONFLICT},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '53100'; END $$", ING_PG_TROUBLE},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '23514'; END $$", ING_PG_REFUSED},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = 'XX001'; END $$", ING_PG_TROUBLE},
		{"SELECT pg_terminate_backend(pg_backend_pid())", ING_PG_LOST},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		struct ing_pg *pg = NULL;
		bench_check(ing_pg_open(bench_cluster.dsn, -1, 30000, &pg, &err), &err);
		enum ing_pg_rc rc = ing_pg_exec(pg, cases[i].sql, &err);
		if (rc != cases[i].want)
			fail_msg("%s: %d, not %d: %s", cases[i].sql, rc, cases[i].want, err.msg);
		assert_int_equal(err.code == ING_FAIL_NONE, rc == ING_PG_OK);
		/* A COMMIT that the server turns into a ROLLBACK is no commit. */
		if (rc == ING_PG_OK) {
			assert_int_equal(ing_pg_exec(pg, "BEGIN", &err), ING_PG_OK);
			assert_int_equal(ing_pg_exec(pg, "nonsense", NULL), ING_PG_TROUBLE);
			assert_int_equal(ing_pg_commit(pg, &err), ING_PG_TROUBLE);
		}
		ing_pg_close(pg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_schema_is_made_once),
		WITH_SERVER(a_schema_that_does_not_fit_is_refused),
		WITH_SERVER(migrators_take_turns),
		WITH_SERVER(a_worker_at_work_and_the_migration_of_lists_wait_for_one_another),
		cmocka_unit_test(an_address_that_is_none_is_refused),
		WITH_SERVER(a_server_that_does_not_answer_is_lost),
		WITH_SERVER(kinds_of_failure_are_told_apart),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
