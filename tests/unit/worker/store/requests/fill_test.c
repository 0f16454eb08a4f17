/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of a database of version 8, migrated and filled: they have what rows of today have, and are counted once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/arena.h"
#include "common/data/pg.h"
#include "schemas/migrations.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/model/request.h"
#include "worker/model/request_row.h"
#include "worker/store/requests/fill.h"

/* As releases before lists left it. */
static void migrate_to_version_8(const char *dsn)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	for (size_t i = 0; i < 8; i++)
		bench_check((int)ing_pg_exec(pg, ing_migrations[i].sql, &err), &err);
	ing_pg_close(pg);
	bench_sql(dsn,
		"CREATE TABLE schema_version (version integer PRIMARY KEY, name text NOT NULL,"
		" applied timestamptz NOT NULL DEFAULT now());"
		"INSERT INTO schema_version (version, name) SELECT i, i FROM generate_series(1, 8) i");
}

static struct ing_filled filled(const char *dsn)
{
	struct ing_error err = {0};
	struct ing_filled n;
	const struct ing_fill_progress progress = {0};
	bench_check(ing_requests_fill(dsn, &progress, &n, &err), &err);
	return n;
}

static long recounted(const char *dsn)
{
	struct ing_error err = {0};
	int64_t n = -1;
	bench_check(ing_requests_recount(dsn, &n, &err), &err);
	return (long)n;
}

static void old_rows_get_what_new_rows_have(void **state)
{
	(void)state;
	static const char line[] =
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://www.A.example/x\","
		"\"link_source\":\"doi\",\"link_source_id\":\"10.1234/x\",\"ext_ids\":{\"doi\":\"10.1234/x\"}}";
	const char *dsn = cluster_database(&bench_cluster);
	struct ing_error err = {0};
	struct ing_request *r = NULL;
	struct ing_row_request row;
	struct ing_arena ar;
	char sql[1024];
	migrate_to_version_8(dsn);
	bench_sql(dsn,
		"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request)"
		" VALUES ('doi', '10.1234/x', 'pdf', 'https://www.A.example/x', '{\"ext_ids\":{\"doi\":\"10.1234/x\"}}'),"
		" ('a', 'odd \"host\"', 'of another', 'foo://a\"b\\c/', NULL), ('a', '1', 'pdf', 'no url', '[]');"
		"INSERT INTO ingest_file_result (ingest_type, base_url, updated, hit, status, terminal_url) VALUES"
		" ('pdf', 'https://www.A.example/x', '2020-01-01Z', false, 'connect-error', 'https://b.example/y'),"
		" ('pdf', 'no url', '2020-01-01Z', false, 'of nobody', NULL),"
		" ('pdf', 'https://c.example/', '2020-01-01Z', true, 'success', 'https://c.example/')");
	bench_migrate(dsn);
	struct ing_filled n = filled(dsn);
	assert_int_equal(n.requests, 3);
	assert_int_equal(n.results, 3);
	bench_check(ing_request_parse(line, strlen(line), &r, &err), &err);
	ing_arena_init(&ar);
	ing_request_row(r, &ar, &row);
	snprintf(sql, sizeof(sql),
		"SELECT count(*) FROM ingest_request WHERE request_id = '%s' AND document = '%s'"
		" AND host = '%s' AND doi_prefix = '%s' AND link_source = 'doi'",
		row.request_id, row.document, row.host, row.doi_prefix);
	assert_int_equal(bench_number(dsn, sql), 1);
	snprintf(sql, sizeof(sql),
		"SELECT count(*) FROM ingest_file_result WHERE document = '%s' AND host = 'b.example'"
		" AND attempts = 1 AND first_seen = '2020-01-01Z' AND retry_after = 3600"
		" AND next_try = '2020-01-01T01:00:00Z' AND updated = first_seen",
		row.document);
	assert_int_equal(bench_number(dsn, sql), 1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"
					   " WHERE attempts = 1 AND next_try IS NULL"),
		2);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM ingest_file_result r JOIN ingest_request q"
				  " USING (ingest_type, base_url) WHERE r.document = q.document"),
		2);
	assert_int_equal(bench_number(dsn, "SELECT sum(n) FROM request_counts"), 3);
	assert_int_equal(
		bench_number(dsn, "SELECT sum(n) FROM request_counts WHERE host = 'a.example'"
				  " AND doi_prefix = '10.1234' AND status = 'connect-error'"),
		1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_counts"), 0);
	n = filled(dsn);
	assert_int_equal(n.requests + n.results, 0);
	assert_int_equal(recounted(dsn), 0);
	ing_request_free(r);
	ing_arena_done(&ar);
}

#define OLD 20000

/* Many rows, while workers store results for them. */
static void a_fill_beside_workers_counts_each_once(void **state)
{
	(void)state;
	enum { N = 400 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	const char *dsn = cluster_database(&bench_cluster);
	migrate_to_version_8(dsn);
	bench_sql(dsn,
		"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url)"
		" SELECT 'old', i, 'pdf', 'https://a.example/' || i FROM generate_series(0, 19999) i;"
		"INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		" SELECT 'pdf', 'https://a.example/' || i, false, 'timeout' FROM generate_series(0, 19999, 2) i;"
		"INSERT INTO file_meta (sha1hex, size_bytes) VALUES (repeat('f', 40), 5)");
	bench_migrate(dsn);
	bench_open(&b, dsn, 10);
	for (unsigned i = 0; i < N; i++)
		bench_put_result(&b, &e[i], i * 50, i % 2 == 0 ? "success" : "no-pdf-link");
	struct ing_filled n = filled(dsn);
	bench_wait(&b, N);
	assert_int_equal(n.requests, OLD);
	assert_true(n.results > OLD / 2 - 2 * N && n.results <= OLD / 2);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM ingest_file_result WHERE attempts IS NULL"),
		0);
	for (int i = 0; i < 4; i++)
		bench_sql(dsn, "SELECT fold_counts()");
	assert_int_equal(recounted(dsn), 1); /* the file */
	assert_int_equal(bench_number(dsn, "SELECT sum(n) FROM request_counts"), OLD + N);
	assert_int_equal(
		bench_number(dsn, "SELECT sum(n) FROM request_counts WHERE status = 'success'"), N);
	assert_int_equal(
		bench_number(dsn, "SELECT sum(n) FROM request_counts WHERE status = ''"), OLD / 2);
	assert_int_equal(
		bench_number(dsn, "SELECT sum(bytes) FROM file_counts WHERE day = '-infinity'"), 5);
	assert_int_equal(recounted(dsn), 0);
	bench_close(&b);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(old_rows_get_what_new_rows_have),
		WITH_SERVER(a_fill_beside_workers_counts_each_once),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
