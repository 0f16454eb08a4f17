/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts of requests, results and files, against a real server: they are what counting the rows would give, whoever writes
 * them and however often.
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

/* How many counts a recount has to change. */
static long recount(const char *dsn)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int64_t n = -1;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	bench_check(
		(int)ing_pg_exec(pg,
			"SELECT pg_advisory_lock(x'696e67'::integer, x'666c64'::integer)", &err),
		&err);
	bench_check((int)ing_pg_exec(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ", &err), &err);
	bench_check((int)ing_pg_number(pg, "SELECT recount()", &n, &err), &err);
	bench_check((int)ing_pg_exec(pg, "COMMIT", &err), &err);
	ing_pg_close(pg);
	return (long)n;
}

static long counted(const char *dsn, const char *condition)
{
	char sql[1024];
	snprintf(sql, sizeof(sql), "SELECT coalesce(sum(n), 0) FROM request_counts WHERE %s",
		condition);
	return bench_number(dsn, sql);
}

static long results_counted(const char *dsn, const char *condition)
{
	char sql[1024];
	snprintf(sql, sizeof(sql), "SELECT coalesce(sum(n), 0) FROM result_counts WHERE %s",
		condition);
	return bench_number(dsn, sql);
}

static void put(struct bench *b, struct entry *e, unsigned i, const char *status)
{
	unsigned done = b->done;
	bench_put_result(b, e, i, status);
	bench_wait(b, done + 1);
}

static void what_a_worker_stores_is_counted(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[4];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open_for(&b, dsn, 3, WAIT_LIMIT_MS);
	bench_put_result(&b, &e[0], 1, "timeout");
	bench_put_result(&b, &e[1], 2, "success");
	bench_fill(&b, &e[2], 3); /* a request that says not where it is from */
	e[2].rows.request.present = false;
	ing_store_put(b.store, &e[2].item);
	bench_wait(&b, 3);
	assert_int_equal(counted(dsn, "status = 'timeout' AND NOT hit AND list_id = 0 AND first"
				      " AND host = 'a.example' AND doi_prefix = '10.123'"
				      " AND ingest_request_source = 'test' AND ingest_type = 'pdf'"
				      " AND link_source = 'doi'"),
		1);
	assert_int_equal(counted(dsn, "status = 'success' AND hit"), 1);
	assert_int_equal(counted(dsn, "true"), 2);
	assert_int_equal(results_counted(dsn, "ingest_request_source = 'test'"), 2);
	assert_int_equal(results_counted(dsn, "ingest_request_source = '' AND hit"), 1);
	assert_int_equal(results_counted(dsn, "true"), 3);
	assert_int_equal(bench_number(dsn,
				 "SELECT sum(n) FROM file_counts WHERE mimetype = 'application/pdf'"
				 " AND day = (now() AT TIME ZONE 'UTC')::date"
				 " AND bytes = n * 1234567890123"),
		3);
	assert_int_equal(recount(dsn), 0);
	bench_close(&b);
}

static void repetitions_count_once(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	put(&b, &e, 1, "timeout");
	put(&b, &e, 1, "no-pdf-link");
	put(&b, &e, 1, "success");
	put(&b, &e, 1, "timeout"); /* changes nothing: it is no result that is stored */
	assert_int_equal(counted(dsn, "true"), 1);
	assert_int_equal(counted(dsn, "status = 'success'"), 1);
	assert_int_equal(results_counted(dsn, "true"), 3);
	assert_int_equal(results_counted(dsn, "status = 'timeout'"), 1);
	assert_int_equal(recount(dsn), 0);
	bench_close(&b);
}

/* Requests of lists: stored before they are asked, and one of them by two lists. */
static void requests_of_lists_are_counted_for_each(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	put(&b, &e, 1, "timeout");
	bench_sql(dsn,
		"INSERT INTO request_list (name) VALUES ('a'), ('b');"
		"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id,"
		" document, host, list_id) SELECT '', '', 'pdf', 'https://a.example/' || i,"
		" lpad(i::text, 32, 'f')::uuid, lpad(i::text, 32, 'f')::uuid, 'a.example', 1"
		" FROM generate_series(1, 10) i;"
		"INSERT INTO request_list_member SELECT request_id, 2 FROM ingest_request"
		" WHERE base_url <= 'https://a.example/3'");
	/* 1 to 3 and 10 by the list, and that of the worker. */
	assert_int_equal(counted(dsn, "list_id = 1 AND first"), 10);
	assert_int_equal(counted(dsn, "list_id = 1 AND status = ''"), 9);
	assert_int_equal(counted(dsn, "list_id = 1 AND status = 'timeout'"), 1);
	assert_int_equal(counted(dsn, "list_id = 2 AND NOT first"), 5);
	assert_int_equal(counted(dsn, "list_id = 2 AND status = 'timeout'"), 2);
	assert_int_equal(recount(dsn), 0);
	put(&b, &e, 2, "success");
	put(&b, &e, 1, "success");
	assert_int_equal(counted(dsn, "list_id = 1 AND hit"), 2);
	assert_int_equal(counted(dsn, "list_id = 2 AND hit"), 3);
	assert_int_equal(counted(dsn, "list_id = 0 AND hit"), 2);
	assert_int_equal(counted(dsn, "status = 'timeout'"), 0);
	assert_int_equal(counted(dsn, "first"), 12);
	assert_int_equal(results_counted(dsn, "list_id = 1 AND first"), 2);
	assert_int_equal(results_counted(dsn, "list_id = 2 AND NOT first"), 3);
	/* Of the worker's own: two of start 1 and one of start 2, which others had asked for before. */
	assert_int_equal(results_counted(dsn, "list_id = 0 AND ingest_request_source = 'test'"), 3);
	assert_int_equal(results_counted(dsn, "ingest_request_source = '' AND list_id = 0"), 0);
	assert_int_equal(recount(dsn), 0);
	bench_close(&b);
}

/* Rows that were there before there were counts, and their columns that are filled in later. */
static void rows_from_before_count_once_they_are_filled(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url)"
		" SELECT 'a', i, 'pdf', 'https://a.example/' || i FROM generate_series(1, 5) i;"
		"INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		" VALUES ('pdf', 'https://a.example/1', false, 'timeout')");
	assert_int_equal(counted(dsn, "true"), 0);
	bench_open(&b, dsn, 100);
	bench_fill(&b, &e, 1);
	e.rows.request.present = false;
	ing_store_put(b.store, &e.item);
	bench_wait(&b, 1);
	assert_int_equal(counted(dsn, "true"), 0);
	assert_int_equal(recount(dsn), 0);
	bench_sql(dsn,
		"UPDATE ingest_request SET request_id = gen_random_uuid(), host = 'a.example';"
		"UPDATE ingest_file_result SET host = 'a.example', attempts = 1");
	assert_int_equal(counted(dsn, "status = '' AND host = 'a.example'"), 4);
	assert_int_equal(counted(dsn, "status = 'success' AND hit"), 1);
	assert_int_equal(results_counted(dsn, "true"), 2);
	bench_sql(dsn, "UPDATE ingest_request SET host = 'b.example' WHERE link_source_id = '2'");
	assert_int_equal(counted(dsn, "status = '' AND host = 'b.example'"), 1);
	assert_int_equal(counted(dsn, "true"), 5);
	assert_int_equal(recount(dsn), 0);
	bench_close(&b);
}

static void a_recount_mends_what_was_done_by_hand(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[20];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < 20; i++)
		bench_put_result(&b, &e[i], i, i % 2 == 0 ? "success" : "timeout");
	bench_wait(&b, 20);
	bench_sql(dsn, "SELECT fold_counts(); DELETE FROM ingest_file_result WHERE hit;"
		       "DELETE FROM file_meta WHERE sha1hex < lpad('5', 40, '0');"
		       "ALTER TABLE file_meta DISABLE TRIGGER USER;"
		       "INSERT INTO file_meta (sha1hex, size_bytes) VALUES (repeat('f', 40), 7)");
	assert_int_equal(recount(dsn), 4);
	assert_int_equal(counted(dsn, "status = ''"), 10);
	assert_int_equal(counted(dsn, "hit"), 0);
	assert_int_equal(counted(dsn, "true"), 20);
	assert_int_equal(bench_number(dsn, "SELECT sum(n) FROM file_counts"), 16);
	assert_int_equal(bench_number(dsn, "SELECT sum(bytes) FROM file_counts WHERE mimetype = ''"
					   " AND day = '-infinity'"),
		7);
	assert_int_equal(recount(dsn), 0);
	bench_close(&b);
}

static void counts_are_folded_while_they_change(void **state)
{
	(void)state;
	enum { N = 2000 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 50);
	for (unsigned i = 0; i < N; i++)
		bench_put_result(&b, &e[i], i, i % 3 == 0 ? "success" : "timeout");
	while (b.done < N) {
		bench_sql(dsn, "SELECT fold_counts(20)");
		uv_run(&b.loop, UV_RUN_ONCE);
	}
	bench_close(&b);
	assert_int_equal(counted(dsn, "status = 'success'"), (N + 2) / 3);
	assert_int_equal(counted(dsn, "true"), N);
	bench_sql(dsn, "SELECT fold_counts()");
	assert_int_equal(bench_number(dsn, "SELECT (SELECT count(*) FROM request_count_delta) +"
					   " (SELECT count(*) FROM result_count_delta) +"
					   " (SELECT count(*) FROM file_count_delta)"),
		0);
	assert_int_equal(bench_number(dsn, "SELECT sum(n) FROM request_count"), N);
	assert_int_equal(bench_number(dsn, "SELECT sum(n) FROM result_count"), N);
	assert_int_equal(recount(dsn), 0);
	free(e);
}

static void a_fold_takes_no_more_than_it_may(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"INSERT INTO request_count_delta SELECT i, true, '', '', 'pdf', '', '', '', false, 1"
		" FROM generate_series(1, 100) i;"
		"INSERT INTO file_count_delta SELECT '2020-01-01', '', 1, 1 FROM generate_series(1, 100)");
	assert_int_equal(bench_number(dsn, "SELECT fold_counts(30)"), 60);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM request_count_delta"), 70);
	assert_int_equal(bench_number(dsn, "SELECT fold_counts()"), 140);
	assert_int_equal(bench_number(dsn, "SELECT sum(n) FROM request_count"), 100);
	assert_int_equal(bench_number(dsn, "SELECT fold_counts()"), 0);
	bench_sql(dsn,
		"INSERT INTO file_count_delta SELECT '2020-01-01', '', 1, 1 FROM generate_series(1, 250000)");
	assert_int_equal(bench_number(dsn, "SELECT fold_counts(200000)"), 200000);
	assert_int_equal(bench_number(dsn, "SELECT fold_counts()"), 50000);
}

/* Until the number is as wanted. */
static void wait_for(struct bench *b, const char *sql, long want)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (bench_number(b->dsn, sql) != want && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_int_equal(bench_number(b->dsn, sql), want);
}

static void the_store_folds_counts_without_being_asked(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[20];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < 20; i++)
		bench_put_result(&b, &e[i], i, "timeout");
	bench_wait(&b, 20);
	wait_for(&b, "SELECT coalesce(sum(n), 0) FROM request_count WHERE status = 'timeout'", 20);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM request_count_delta"), 0);
	bench_close(&b);
}

static void counts_that_cannot_be_folded_stop_nobody(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[2];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"CREATE SEQUENCE tried; DROP FUNCTION fold_counts;"
		"CREATE FUNCTION fold_counts(most bigint) RETURNS bigint LANGUAGE plpgsql AS"
		" $$ BEGIN PERFORM nextval('tried'); RAISE 'disk full' USING ERRCODE = '53100'; END $$");
	bench_open(&b, dsn, 100);
	put(&b, &e[0], 1, "timeout");
	wait_for(&b, "SELECT is_called::integer FROM tried", 1);
	put(&b, &e[1], 2, "timeout");
	assert_int_equal(counted(dsn, "status = 'timeout'"), 2);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(bench_number(dsn, "SELECT last_value FROM tried"), 1);
	bench_close(&b);
}

/* Two workers with the same URLs, each for a request of its own. */
static void workers_at_the_same_urls_are_counted_exactly(void **state)
{
	(void)state;
	enum { N = 1500 };
	static const char *const statuses[] = {"timeout", "no-pdf-link", "connect-error"};
	struct bench b[2];
	struct entry *e = ing_alloc(2 * N * sizeof(*e));
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b[0], dsn, 20);
	bench_open(&b[1], dsn, 20);
	for (unsigned i = 0; i < N; i++) {
		for (unsigned k = 0; k < 2; k++) {
			struct entry *one = &e[k * N + i];
			bench_fill(&b[k], one, i);
			one->rows.request.link_source = k == 0 ? "a" : "b";
			one->rows.request.link_source_id = one->doi;
			one->id[0] = (char)('a' + (int)k);
			snprintf(one->url, sizeof(one->url), "https://a.example/%u", i % 300);
			one->rows.result.hit = false;
			one->rows.result.status = statuses[(i + k) % 3];
			ing_store_put(b[k].store, &one->item);
		}
	}
	bench_wait(&b[0], N);
	bench_wait(&b[1], N);
	assert_int_equal(counted(dsn, "true"), 2 * N);
	assert_int_equal(counted(dsn, "status = ''"), 0);
	assert_int_equal(recount(dsn), 0);
	bench_close(&b[0]);
	bench_close(&b[1]);
	free(e);
}

#define ADD(id, url)                                                                                           \
	"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id, list_id)" \
	" VALUES ('a', '" #id "', 'pdf', '" url "', lpad('" #id "', 32, '0')::uuid, 1)"
#define MEMBER(id) "INSERT INTO request_list_member VALUES (lpad('" #id "', 32, '0')::uuid, 2)"
#define RESULT(status, url)                                                                             \
	"INSERT INTO ingest_file_result AS t (ingest_type, base_url, hit, status) VALUES ('pdf', '" url \
	"', false, '" status "')"                                                                       \
	" ON CONFLICT (ingest_type, base_url) DO UPDATE SET updated = clock_timestamp(), status = excluded.status"

/* A, B: sessions that add requests; V, W: that store results. */
static const struct {
	const char *name;
	const char *steps[12];
	long timeouts, others; /* requests and members that are counted as such */
} meetings[] = {
	{"neither sees the other",
		{"ABEGIN", "A" ADD(1, "u"), "W" RESULT("timeout", "u"), "ACOMMIT"}, 1, 0},
	{"the result first, and its end last",
		{"WBEGIN", "W" RESULT("timeout", "u"), "A" ADD(1, "u"), "WCOMMIT"}, 1, 0},
	{"the request sees the result",
		{"ABEGIN", "W" RESULT("timeout", "u"), "A" ADD(1, "u"), "ACOMMIT"}, 1, 0},
	{"the result sees the request",
		{"WBEGIN", "A" ADD(1, "u"), "W" RESULT("timeout", "u"), "WCOMMIT"}, 1, 0},
	{"several results beside one request",
		{"ABEGIN", "A" ADD(1, "u"), "W" RESULT("no-pdf-link", "u"),
			"V" RESULT("timeout", "u"), "ACOMMIT", "W" RESULT("no-pdf-link", "u"),
			"W" RESULT("timeout", "u")},
		1, 0},
	{"a request that sees one result of two",
		{"ABEGIN", "W" RESULT("no-pdf-link", "u"), "A" ADD(1, "u"),
			"W" RESULT("timeout", "u"), "ACOMMIT"},
		1, 0},
	{"two that add, and a result that sees one",
		{"ABEGIN", "A" ADD(1, "u"), "B" ADD(2, "u"), "W" RESULT("timeout", "u"), "ACOMMIT"},
		2, 0},
	{"members and requests, and who had been there",
		{"A" ADD(3, "u"), "ABEGIN", "A" ADD(1, "u"), "A" MEMBER(3),
			"W" RESULT("timeout", "u"), "ACOMMIT", "B" MEMBER(1)},
		4, 0},
	{"folded in the middle",
		{"ABEGIN", "A" ADD(1, "u"), "W" RESULT("timeout", "u"), "VSELECT fold_counts()",
			"VSELECT fold_counts()", "ACOMMIT", "VSELECT fold_counts()",
			"B" ADD(2, "v")},
		1, 1},
};

static void run_step(struct ing_pg *const sessions[4], const char *step)
{
	static const char names[] = "ABVW";
	struct ing_error err = {0};
	struct ing_pg *pg = sessions[strchr(names, step[0]) - names];
	bench_check((int)ing_pg_exec(pg, step + 1, &err), &err);
}

static void open_sessions(const char *dsn, struct ing_pg *sessions[4])
{
	struct ing_error err = {0};
	for (int i = 0; i < 4; i++) {
		bench_check(ing_pg_open(dsn, -1, 30000, &sessions[i], &err), &err);
		if (i < 2)
			bench_check(
				(int)ing_pg_exec(sessions[i], "SELECT count_adding()", &err), &err);
	}
}

static void requests_and_results_of_one_moment_are_counted_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(meetings); i++) {
		struct ing_pg *sessions[4];
		const char *dsn = cluster_database(&bench_cluster);
		bench_migrate(dsn);
		open_sessions(dsn, sessions);
		for (size_t k = 0;
			k < ING_ARRAY_LEN(meetings[i].steps) && meetings[i].steps[k] != NULL; k++)
			run_step(sessions, meetings[i].steps[k]);
		for (int k = 0; k < 4; k++)
			bench_sql(dsn, "SELECT fold_counts(1)");
		bench_sql(dsn, "SELECT fold_counts()");
		long timeouts = counted(dsn, "status = 'timeout'");
		long others = counted(dsn, "status <> 'timeout'");
		if (timeouts != meetings[i].timeouts || others != meetings[i].others)
			fail_msg("%s: %ld and %ld", meetings[i].name, timeouts, others);
		assert_int_equal(recount(dsn), 0);
		assert_int_equal(bench_number(dsn, "SELECT count(*) FROM count_late"), 0);
		for (int k = 0; k < 4; k++)
			ing_pg_close(sessions[k]);
	}
}

/* What a recount has mended is not mended again when it would be its turn. */
static void a_recount_and_what_was_missed_do_not_both_mend(void **state)
{
	(void)state;
	struct ing_pg *sessions[4];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	open_sessions(dsn, sessions);
	run_step(sessions, "ABEGIN");
	run_step(sessions, "A" ADD(1, "u"));
	run_step(sessions, "W" RESULT("timeout", "u"));
	run_step(sessions, "BBEGIN");
	run_step(sessions, "B" ADD(2, "u"));
	run_step(sessions, "ACOMMIT");
	assert_int_equal(recount(dsn), 2);
	run_step(sessions, "W" RESULT("no-pdf-link", "u"));
	run_step(sessions, "BCOMMIT");
	for (int k = 0; k < 4; k++)
		bench_sql(dsn, "SELECT fold_counts()");
	assert_int_equal(counted(dsn, "status = 'no-pdf-link'"), 2);
	assert_int_equal(counted(dsn, "true"), 2);
	assert_int_equal(recount(dsn), 0);
	for (int k = 0; k < 4; k++)
		ing_pg_close(sessions[k]);
}

/* What the tables of a dump say of transactions is about another server's, which may have had more of them. */
static void a_restored_dump_counts_what_was_missed(void **state)
{
	(void)state;
	struct ing_pg *sessions[4];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"UPDATE count_horizon SET seen = '9000000000:9000000001:9000000000',"
		" before = '8000000000:8000000000:', recounted = '9000000000:9000000000:';"
		"INSERT INTO count_adder VALUES ('9000000000', false, '9000000000:9000000000:');"
		"INSERT INTO count_late VALUES ('9000000002', '9000000000:9000000000:', 'pdf', 'u', '',"
		" false, 'timeout', false)");
	open_sessions(dsn, sessions);
	run_step(sessions, "ABEGIN");
	run_step(sessions, "A" ADD(1, "u"));
	run_step(sessions, "W" RESULT("timeout", "u"));
	run_step(sessions, "ACOMMIT");
	for (int k = 0; k < 5; k++)
		bench_sql(dsn, "SELECT fold_counts()");
	assert_int_equal(counted(dsn, "status = 'timeout'"), 1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM count_late"), 0);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM count_adder"), 0);
	assert_int_equal(recount(dsn), 0);
	for (int k = 0; k < 4; k++)
		ing_pg_close(sessions[k]);
}

/* Triggers must not need more than who fires them has. */
static void who_may_write_rows_need_not_know_of_counts(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"DO $$ BEGIN CREATE ROLE ing_count_tester; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
		"GRANT ing_count_tester TO CURRENT_USER;"
		"GRANT INSERT, UPDATE, SELECT ON ingest_request, ingest_file_result, file_meta TO ing_count_tester;"
		"SET ROLE ing_count_tester; SET search_path = '';"
		"INSERT INTO public.ingest_request (link_source, link_source_id, ingest_type, base_url, request_id)"
		" VALUES ('a', 'b', 'pdf', 'https://a.example/', gen_random_uuid());"
		"INSERT INTO public.ingest_file_result (ingest_type, base_url, hit, status)"
		" VALUES ('pdf', 'https://a.example/', false, 'timeout');"
		"UPDATE public.ingest_file_result SET updated = now() + '1 s', status = 'success', hit = true;"
		"INSERT INTO public.file_meta (sha1hex) VALUES (repeat('0', 40));"
		"RESET ROLE; REVOKE ALL ON public.ingest_request, public.ingest_file_result, public.file_meta"
		" FROM ing_count_tester; DROP ROLE ing_count_tester");
	assert_int_equal(counted(dsn, "hit"), 1);
	assert_int_equal(results_counted(dsn, "true"), 2);
	assert_int_equal(recount(dsn), 0);
}

/* They run as the owner: what is taken for a table of theirs must not be the caller's own. */
static void temporary_tables_do_not_stand_in_for_counts(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"CREATE TEMP TABLE request_count_delta (LIKE public.request_count_delta);"
		"CREATE TEMP TABLE result_count_delta (LIKE public.result_count_delta);"
		"CREATE TEMP TABLE file_count_delta (LIKE public.file_count_delta);"
		"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id)"
		" VALUES ('a', 'b', 'pdf', 'https://a.example/', gen_random_uuid());"
		"INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		" VALUES ('pdf', 'https://a.example/', false, 'timeout');"
		"INSERT INTO file_meta (sha1hex) VALUES (repeat('0', 40))");
	assert_int_equal(counted(dsn, "status = 'timeout'"), 1);
	assert_int_equal(results_counted(dsn, "true"), 1);
	assert_int_equal(recount(dsn), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(what_a_worker_stores_is_counted),
		WITH_SERVER(repetitions_count_once),
		WITH_SERVER(requests_of_lists_are_counted_for_each),
		WITH_SERVER(rows_from_before_count_once_they_are_filled),
		WITH_SERVER(a_recount_mends_what_was_done_by_hand),
		WITH_SERVER(counts_are_folded_while_they_change),
		WITH_SERVER(a_fold_takes_no_more_than_it_may),
		WITH_SERVER(the_store_folds_counts_without_being_asked),
		WITH_SERVER(counts_that_cannot_be_folded_stop_nobody),
		WITH_SERVER(workers_at_the_same_urls_are_counted_exactly),
		WITH_SERVER(requests_and_results_of_one_moment_are_counted_together),
		WITH_SERVER(a_recount_and_what_was_missed_do_not_both_mend),
		WITH_SERVER(a_restored_dump_counts_what_was_missed),
		WITH_SERVER(who_may_write_rows_need_not_know_of_counts),
		WITH_SERVER(temporary_tables_do_not_stand_in_for_counts),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
