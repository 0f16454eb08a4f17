/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans against a real server: their batches are numbered without gaps, whoever plans at the same time, and a document is in
 * one of them.
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

#include "tests/unit/worker/store/bench.h"
#include "worker/store/requests/plan.h"
#include "worker/store/requests/plan_batches.h"

#define TOPIC "requests-bulk"

struct planner { /* a connection with a transaction open, and a writer */
	struct ing_pg *pg;
	struct ing_plan_writer *w;
};

static const char *fresh(void)
{
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	return dsn;
}

static struct planner open_planner(const char *dsn, const char *name)
{
	struct planner p = {0};
	struct ing_error err = {0};
	bench_check(ing_pg_open(dsn, -1, 30000, &p.pg, &err), &err);
	bench_check((int)ing_pg_exec(p.pg, "BEGIN", &err), &err);
	bench_check(ing_plan_writer_open(p.pg, name, TOPIC, &p.w, &err), &err);
	return p;
}

static void add(struct planner *p, unsigned from, unsigned to)
{
	struct ing_error err = {0};
	for (unsigned i = from; i < to; i++) {
		char document[40];
		char line[64];
		snprintf(document, sizeof(document), "00000000-0000-0000-0000-%012u", i);
		int n = snprintf(line, sizeof(line), "{\"n\":%u,\"text\":\"a \\\"b\\\" \\n\"}", i);
		bench_check(ing_plan_writer_add(p->w, document, line, (size_t)n, &err), &err);
	}
}

static uint64_t end(struct planner *p)
{
	struct ing_error err = {0};
	uint64_t requests = 0;
	bench_check(ing_plan_writer_end(p->w, &requests, &err), &err);
	return requests;
}

static void commit(struct planner *p)
{
	struct ing_error err = {0};
	bench_check((int)ing_pg_commit(p->pg, &err), &err);
	ing_plan_writer_free(p->w);
	ing_pg_close(p->pg);
}

static uint64_t plan_all(const char *dsn, const char *name, unsigned from, unsigned to)
{
	struct planner p = open_planner(dsn, name);
	add(&p, from, to);
	uint64_t requests = end(&p);
	commit(&p);
	return requests;
}

/* The documents of all batches, in the order of sending; the lines must be theirs. */
static void expect_lines(const char *dsn, const char *name, const char *want)
{
	char sql[2000];
	snprintf(sql, sizeof(sql),
		"SELECT count(*) FROM (SELECT string_agg(n, ',' ORDER BY batch, nth) AS all_of FROM"
		" (SELECT batch, nth, line::json->>'n' AS n, right(document::text, 12)::bigint AS d"
		" FROM enqueue_batch JOIN enqueue_plan p USING (plan_id),"
		" unnest(documents, string_to_array(lines, E'\\n')) WITH ORDINALITY AS l (document, line, nth)"
		" WHERE p.name = '%s') AS x HAVING bool_and(n::bigint = d)) AS y WHERE all_of = '%s'",
		name, want);
	assert_int_equal(bench_number(dsn, sql), 1);
}

static struct ing_plan find(struct ing_pg *pg, const char *name)
{
	struct ing_error err = {0};
	struct ing_plan plan = {0};
	bool found = false;
	bench_check((int)ing_plan_find(pg, name, &plan, &found, &err), &err);
	assert_true(found);
	return plan;
}

/* ---- The tests ---- */

static void batches_are_numbered_in_the_order_of_their_requests(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct planner p = open_planner(dsn, "a list");
	struct ing_error err = {0};
	add(&p, 0, 1500);
	bench_check(ing_plan_writer_flush(p.w, &err), &err);
	add(&p, 1500, 2100);
	bench_check(ing_plan_writer_flush(p.w, &err), &err);
	assert_int_equal(end(&p), 2100);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM enqueue_batch"), 0);
	commit(&p);
	assert_int_equal(plan_all(dsn, "a list", 5000, 5001), 1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM enqueue_plan WHERE name = 'a list' AND planned = 4"
			" AND sent = 0 AND begun = 0 AND requests = 2101 AND topic = '" TOPIC "'"),
		1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM document_queued"), 2101);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM enqueue_batch WHERE (batch, requests) IN"
			" ((0, 1000), (1, 1000), (2, 100), (3, 1)) AND requests = cardinality(documents)"
			" AND requests = cardinality(string_to_array(lines, E'\\n'))"),
		4);
	assert_int_equal(
		bench_number(dsn,
			"SELECT (lines::json->>'n')::int FROM enqueue_batch WHERE batch = 3"
			" AND lines::json->>'text' = E'a \"b\" \\n'"),
		5000);
}

static void what_is_not_committed_leaves_nothing(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct planner p = open_planner(dsn, "a");
	add(&p, 0, 3000);
	end(&p);
	ing_plan_writer_free(p.w);
	ing_pg_close(p.pg);
	assert_int_equal(bench_number(dsn, "SELECT (SELECT count(*) FROM enqueue_plan)"
					   " + (SELECT count(*) FROM enqueue_batch)"
					   " + (SELECT count(*) FROM document_queued)"),
		0);
	assert_int_equal(plan_all(dsn, "a", 0, 3000), 3000);
}

/* Both have seen a database in which nothing is queued. */
static void a_document_is_planned_once_whoever_plans_at_the_same_time(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct planner one = open_planner(dsn, "one");
	struct planner other = open_planner(dsn, "other");
	add(&one, 3, 8);
	add(&other, 0, 10);
	assert_int_equal(end(&one), 5);
	commit(&one);
	assert_int_equal(end(&other), 5);
	commit(&other);
	expect_lines(dsn, "one", "3,4,5,6,7");
	expect_lines(dsn, "other", "0,1,2,8,9");
	assert_int_equal(bench_number(dsn, "SELECT sum(requests) FROM enqueue_plan"), 10);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM document_queued"), 10);
}

/* The other has begun to mark documents before this one looks, and ends after that. */
static void a_document_that_is_being_marked_while_another_looks_is_planned_once(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct planner one = open_planner(dsn, "one");
	add(&one, 0, 5);
	assert_int_equal(end(&one), 5);
	struct planner other = open_planner(dsn, "other");
	add(&other, 0, 6);
	commit(&one);
	assert_int_equal(end(&other), 1);
	commit(&other);
	expect_lines(dsn, "other", "5");
}

static void a_batch_of_which_nothing_is_left_leaves_no_gap(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct planner one = open_planner(dsn, "one");
	struct planner other = open_planner(dsn, "other");
	struct planner empty = open_planner(dsn, "empty");
	add(&one, 1000, 2000);
	end(&one);
	commit(&one);
	add(&other, 0, 2500);
	assert_int_equal(end(&other), 1500);
	commit(&other);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM enqueue_batch b JOIN enqueue_plan p"
				  " USING (plan_id) WHERE p.name = 'other' AND p.planned = 2"
				  " AND (batch, b.requests) IN ((0, 1000), (1, 500))"),
		2);
	add(&empty, 0, 10);
	assert_int_equal(end(&empty), 0);
	commit(&empty);
	assert_int_equal(
		bench_number(dsn, "SELECT planned FROM enqueue_plan WHERE name = 'empty'"), 0);
}

static void a_document_that_is_added_twice_is_planned_once(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct planner p = open_planner(dsn, "a");
	add(&p, 0, 3);
	add(&p, 1, 5);
	assert_int_equal(end(&p), 5);
	commit(&p);
	expect_lines(dsn, "a", "0,1,2,3,4");
}

/* What was queued before the writer was opened is the caller's business: it may be due again. */
static void a_document_may_be_planned_again_later(void **state)
{
	(void)state;
	const char *dsn = fresh();
	assert_int_equal(plan_all(dsn, "a", 0, 3), 3);
	assert_int_equal(plan_all(dsn, "b", 2, 5), 3);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM document_queued JOIN enqueue_plan"
					   " USING (plan_id) WHERE name = 'b'"),
		3);
}

static void writers_of_one_plan_share_its_numbers(void **state)
{
	(void)state;
	const char *dsn = fresh();
	plan_all(dsn, "a", 0, 1);
	struct planner one = open_planner(dsn, "a");
	struct planner other = open_planner(dsn, "a");
	struct ing_error err = {0};
	add(&one, 1, 1501);
	add(&other, 2001, 3501);
	bench_check(ing_plan_writer_flush(one.w, &err), &err);
	bench_check(ing_plan_writer_flush(other.w, &err), &err);
	end(&other);
	commit(&other);
	end(&one);
	commit(&one);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM enqueue_batch WHERE batch BETWEEN 0 AND 4"),
		5);
	assert_int_equal(bench_number(dsn, "SELECT planned FROM enqueue_plan"), 5);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM enqueue_batch WHERE batch = 1"
				  " AND documents[1] = '00000000-0000-0000-0000-000000002001'"),
		1);
}

static void a_plan_changes_its_topic_when_all_of_it_is_sent(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct ing_error err = {0};
	struct ing_plan_writer *w = NULL;
	struct ing_pg *pg = NULL;
	plan_all(dsn, "a", 0, 3);
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	assert_int_equal(ing_plan_writer_open(pg, "a", "another", &w, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "plan a: "));
	ing_error_clear(&err);
	struct ing_plan plan = find(pg, "a");
	bench_check((int)ing_plan_note_sent(pg, &plan, 1, &err), &err);
	bench_check(ing_plan_writer_open(pg, "a", "another", &w, &err), &err);
	ing_plan_writer_free(w);
	ing_plan_done(&plan);
	plan = find(pg, "a");
	assert_string_equal(plan.topic, "another");
	assert_int_equal(plan.sent, 1);
	ing_plan_done(&plan);
	ing_pg_close(pg);
}

static void a_request_that_is_no_line_is_refused(void **state)
{
	(void)state;
	const char *dsn = fresh();
	static const struct {
		const char *line;
		size_t bytes;
	} cases[] = {{"", 0}, {"{\n}", 3}, {"{}\n", 3}, {"{\0}", 3}};
	struct planner p = open_planner(dsn, "a");
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		assert_int_equal(ing_plan_writer_add(p.w, "00000000-0000-0000-0000-000000000001",
					 cases[i].line, cases[i].bytes, &err),
			-ING_FAIL_INVALID);
	}
	assert_int_equal(end(&p), 0);
	commit(&p);
}

static void a_sender_reads_batches_and_says_how_far_it_is(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	struct ing_buf lines;
	unsigned requests = 0;
	ing_buf_init(&lines, 1 << 20);
	plan_all(dsn, "a", 0, 2001);
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	struct ing_plan plan = find(pg, "a");
	assert_int_equal(plan.planned, 3);
	assert_int_equal(strlen(plan.lineage), 36);
	bench_check((int)ing_plan_note_begun(pg, &plan, 3, &err), &err);
	bench_check((int)ing_plan_read_batch(pg, &plan, 2, &lines, &requests, &err), &err);
	assert_int_equal(requests, 1);
	assert_string_equal(ing_buf_str(&lines), "{\"n\":2000,\"text\":\"a \\\"b\\\" \\n\"}\n");
	bench_check((int)ing_plan_read_batch(pg, &plan, 3, &lines, &requests, &err), &err);
	assert_int_equal(requests, 0);
	/* Said twice, as after a lost answer, and out of order. */
	for (int64_t end_of = 2; end_of > 0; end_of--) {
		bench_check((int)ing_plan_note_sent(pg, &plan, end_of, &err), &err);
		ing_plan_done(&plan);
		plan = find(pg, "a");
		assert_int_equal(plan.sent, 2);
		assert_int_equal(plan.begun, 3);
		assert_int_equal(plan.requests_sent, 2000);
		assert_int_equal(plan.requests, 2001);
	}
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM enqueue_batch WHERE batch = 2"), 1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM enqueue_batch"), 1);
	ing_plan_done(&plan);
	ing_buf_done(&lines);
	ing_pg_close(pg);
}

static void abandoned_documents_are_not_queued_any_more(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	uint64_t requests = 0;
	plan_all(dsn, "a", 0, 2500);
	plan_all(dsn, "b", 2499, 2501); /* has taken one over */
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	struct ing_plan plan = find(pg, "a");
	bench_check((int)ing_plan_note_sent(pg, &plan, 1, &err), &err);
	plan_all(dsn, "a", 9000, 9001); /* after the sender has looked */
	bench_check((int)ing_plan_abandon(pg, &plan, &requests, &err), &err);
	assert_int_equal(requests, 1500);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM document_queued"), 1003);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM enqueue_plan WHERE name = 'a' AND sent = 3"
				  " AND planned = 4 AND requests = 1001 AND requests_sent = 1000"),
		1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM enqueue_batch JOIN enqueue_plan p"
					   " USING (plan_id) WHERE p.name = 'a' AND batch = 3"),
		1);
	bench_check((int)ing_plan_abandon(pg, &plan, &requests, &err), &err);
	assert_int_equal(requests, 0);
	ing_plan_done(&plan);
	ing_pg_close(pg);
}

struct abandoning {
	struct ing_pg *pg;
	struct ing_plan plan;
	enum ing_pg_rc rc;
	struct ing_error err;
};

static void *abandon_thread(void *ctx)
{
	struct abandoning *a = ctx;
	uint64_t requests;
	a->rc = ing_plan_abandon(a->pg, &a->plan, &requests, &a->err);
	return NULL;
}

/* Both take the documents in the order of the key, and then the plan. */
static void abandoning_and_planning_wait_for_one_another(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct ing_error err = {0};
	struct abandoning a = {0};
	struct ing_pg *planner = NULL;
	pthread_t thread;
	struct planner p = open_planner(dsn, "a");
	add(&p, 2, 3);
	add(&p, 1, 2);
	end(&p);
	commit(&p);
	bench_check(ing_pg_open(dsn, -1, 30000, &a.pg, &err), &err);
	a.plan = find(a.pg, "a");
	bench_check(ing_pg_open(dsn, -1, 30000, &planner, &err), &err);
	bench_check((int)ing_pg_exec(planner,
			    "BEGIN; UPDATE document_queued SET queued = now()"
			    " WHERE document = '00000000-0000-0000-0000-000000000001'",
			    &err),
		&err);
	assert_int_equal(pthread_create(&thread, NULL, abandon_thread, &a), 0);
	while (bench_number(dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
		usleep(10000);
	enum ing_pg_rc rc = ing_pg_exec(planner,
		"UPDATE document_queued SET queued = now()"
		" WHERE document = '00000000-0000-0000-0000-000000000002';"
		"UPDATE enqueue_plan SET updated = now(); COMMIT",
		&err);
	pthread_join(thread, NULL);
	bench_check((int)rc, &err);
	bench_check((int)a.rc, &a.err);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM document_queued"), 0);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM enqueue_batch"), 0);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM enqueue_plan WHERE sent = 1"
					   " AND planned = 1 AND requests = 0"),
		1);
	ing_plan_done(&a.plan);
	ing_pg_close(planner);
	ing_pg_close(a.pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(batches_are_numbered_in_the_order_of_their_requests),
		WITH_SERVER(what_is_not_committed_leaves_nothing),
		WITH_SERVER(a_document_is_planned_once_whoever_plans_at_the_same_time),
		WITH_SERVER(a_document_that_is_being_marked_while_another_looks_is_planned_once),
		WITH_SERVER(a_batch_of_which_nothing_is_left_leaves_no_gap),
		WITH_SERVER(a_document_that_is_added_twice_is_planned_once),
		WITH_SERVER(a_document_may_be_planned_again_later),
		WITH_SERVER(writers_of_one_plan_share_its_numbers),
		WITH_SERVER(a_plan_changes_its_topic_when_all_of_it_is_sent),
		WITH_SERVER(a_request_that_is_no_line_is_refused),
		WITH_SERVER(a_sender_reads_batches_and_says_how_far_it_is),
		WITH_SERVER(abandoned_documents_are_not_queued_any_more),
		WITH_SERVER(abandoning_and_planning_wait_for_one_another),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
