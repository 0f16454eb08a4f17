/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How often a start was tried, and when it is worth trying again, against a real server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/worker/store/bench.h"

#define MAX_ATTEMPTS 5

static void open_with_limit(struct bench *b, const char *dsn, unsigned batch_rows)
{
	const struct ing_postgres_settings conf = {
		.dsn = dsn, .batch_rows = batch_rows, .batch_ms = 10, .max_attempts = MAX_ATTEMPTS};
	bench_open_with(b, &conf);
}

/* Put a result and wait for it. */
static void put(struct bench *b, struct entry *e, const char *status)
{
	unsigned done = b->done;
	bench_put_result(b, e, 1, status);
	bench_wait(b, done + 1);
}

#define ROWS_WHERE(condition) "SELECT count(*) FROM ingest_file_result WHERE " condition

static void each_failure_waits_twice_as_long(void **state)
{
	(void)state;
	static const struct {
		const char *status;
		long retry_after; /* -1: NULL */
	} steps[] = {{"connect-error", 3600}, {"connect-error", 7200}, {"timeout", 4 * 86400},
		{"skip-robots", 15552000}, {"connect-error", -1}, {"connect-error", -1}};
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	open_with_limit(&b, dsn, 100);
	for (size_t i = 0; i < ING_ARRAY_LEN(steps); i++) {
		char sql[512];
		put(&b, &e, steps[i].status);
		if (i == 0)
			bench_sql(dsn, "CREATE TABLE first AS SELECT * FROM ingest_file_result");
		snprintf(sql, sizeof(sql),
			"SELECT count(*) FROM ingest_file_result r, first f WHERE r.attempts = %zu"
			" AND coalesce(r.retry_after, -1) = %ld AND r.first_seen = f.updated"
			" AND r.next_try IS NOT DISTINCT FROM"
			" r.updated + make_interval(secs => r.retry_after)",
			i + 1, steps[i].retry_after);
		if (bench_number(dsn, sql) != 1)
			fail_msg("attempt %zu: %s", i + 1, steps[i].status);
	}
	bench_close(&b);
}

static void a_hit_ends_the_waiting_and_later_failures_are_no_attempts(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	open_with_limit(&b, dsn, 100);
	put(&b, &e, "connect-error");
	put(&b, &e, "success");
	assert_int_equal(bench_number(dsn, ROWS_WHERE("attempts = 2 AND retry_after IS NULL"
						      " AND next_try IS NULL")),
		1);
	put(&b, &e, "connect-error");
	assert_int_equal(bench_number(dsn, ROWS_WHERE("attempts = 2 AND hit")), 1);
	put(&b, &e, "success");
	assert_int_equal(bench_number(dsn, ROWS_WHERE("attempts = 3 AND hit")), 1);
	bench_close(&b);
}

static void what_will_not_change_is_not_worth_asking_again(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100); /* no limit */
	put(&b, &e, "skip-url-blocklist");
	assert_int_equal(
		bench_number(dsn, ROWS_WHERE("retry_after IS NULL AND next_try IS NULL")), 1);
	put(&b, &e, "of another program");
	assert_int_equal(bench_number(dsn, ROWS_WHERE("retry_after IS NULL AND attempts = 2")), 1);
	bench_sql(dsn, "UPDATE ingest_file_result SET attempts = 2000000000");
	put(&b, &e, "connect-error");
	assert_int_equal(bench_number(dsn, ROWS_WHERE("retry_after = 15552000")), 1);
	bench_close(&b);
}

static void rows_from_before_count_as_one_attempt(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"INSERT INTO ingest_file_result (ingest_type, base_url, updated, hit, status)"
		" VALUES ('pdf', 'https://a.example/1', '2020-01-01Z', false, 'timeout')");
	open_with_limit(&b, dsn, 100);
	put(&b, &e, "connect-error");
	assert_int_equal(bench_number(dsn, ROWS_WHERE("attempts = 2 AND retry_after = 7200"
						      " AND first_seen = '2020-01-01Z'")),
		1);
	bench_close(&b);
}

static unsigned next_random(unsigned *x)
{
	*x = *x * 1103515245u + 12345u;
	return *x >> 16;
}

#define RESULTS 300
#define STARTS 12

/* The same results in the same order; seeds make the batches differ. */
static void store_in_batches(const char *dsn, unsigned batch_rows)
{
	static const char *const statuses[] = {"connect-error", "timeout", "no-pdf-link",
		"skip-url-blocklist", "connect-error", "success"};
	struct bench b;
	struct entry *e = ing_alloc(RESULTS * sizeof(*e));
	unsigned x = 7;
	bench_migrate(dsn);
	open_with_limit(&b, dsn, batch_rows);
	for (unsigned i = 0; i < RESULTS; i++) {
		unsigned start = next_random(&x) % STARTS;
		/* Some starts never have a hit, so that all that is said of failures is seen. */
		bench_put_result(
			&b, &e[i], start, statuses[next_random(&x) % (start % 2 == 0 ? 5 : 6)]);
	}
	bench_wait(&b, RESULTS);
	bench_close(&b);
	free(e);
}

static void it_does_not_matter_where_a_batch_ends(void **state)
{
	(void)state;
	static const char summary[] =
		"SELECT sum(('x' || substr(md5(format('%s %s %s %s', base_url, status, attempts,"
		" retry_after)), 1, 12))::bit(48)::bigint)::bigint FROM ingest_file_result";
	const char *single = cluster_database(&bench_cluster);
	store_in_batches(single, 1);
	assert_int_equal(bench_number(single, "SELECT count(*) FROM ingest_file_result"), STARTS);
	for (unsigned rows = 3; rows <= RESULTS; rows *= 4) {
		const char *dsn = cluster_database(&bench_cluster);
		store_in_batches(dsn, rows);
		assert_int_equal(bench_number(dsn, summary), bench_number(single, summary));
	}
}

static void error_messages_are_any_bytes(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	char *words = ing_alloc(1 << 20);
	memset(words, 'x', (1 << 20) - 1);
	memcpy(words, "\xff\\\t\x01", 4);
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	bench_fill(&b, &e, 1);
	e.rows.result.error_message = words;
	ing_store_put(b.store, &e.item);
	bench_wait(&b, 1);
	assert_int_equal(
		bench_number(dsn,
			ROWS_WHERE("octet_length(error_message) = 1600"
				   " AND error_message LIKE U&'\\FFFD' || E'\\\\\\\\\\t\\x01x%'"
				   " AND host = 'a.example'"
				   " AND document = '00000000-0000-0000-0001-000000000001'")),
		1);
	put(&b, &e, "success"); /* the latest result has none */
	assert_int_equal(bench_number(dsn, ROWS_WHERE("error_message IS NULL")), 1);
	bench_close(&b);
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(each_failure_waits_twice_as_long),
		WITH_SERVER(a_hit_ends_the_waiting_and_later_failures_are_no_attempts),
		WITH_SERVER(what_will_not_change_is_not_worth_asking_again),
		WITH_SERVER(rows_from_before_count_as_one_attempt),
		WITH_SERVER(it_does_not_matter_where_a_batch_ends),
		WITH_SERVER(error_messages_are_any_bytes),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
