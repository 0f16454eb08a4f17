/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When a document stops being queued, against a real server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"

#define QUEUED "SELECT count(*) FROM document_queued"

static const char *queue_all(unsigned count)
{
	const char *dsn = cluster_database(&bench_cluster);
	char sql[256];
	bench_migrate(dsn);
	snprintf(sql, sizeof(sql),
		"INSERT INTO document_queued SELECT ('00000000-0000-0000-0001-' ||"
		" lpad(to_hex(n), 12, '0'))::uuid, now(), 1 FROM generate_series(1, %u) n",
		count);
	bench_sql(dsn, sql);
	return dsn;
}

static void put_answer(struct bench *b, struct entry *e, unsigned i, const char *status)
{
	bench_fill(b, e, i);
	e->rows.result.status = status;
	e->rows.result.hit = false;
	e->rows.answers = e->document;
	ing_store_put(b->store, &e->item);
}

static void an_answered_document_is_not_queued_any_more(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[3];
	const char *dsn = queue_all(5);
	bench_open(&b, dsn, 100);
	put_answer(&b, &e[0], 2, "connect-error");
	put_answer(&b, &e[1], 4, "no-pdf-link");
	put_answer(&b, &e[2], 9, "timeout"); /* was not queued */
	bench_wait(&b, 3);
	assert_int_equal(bench_number(dsn, QUEUED), 3);
	assert_int_equal(
		bench_number(dsn, QUEUED " WHERE right(document::text, 1) IN ('1', '3', '5')"), 3);
	bench_close(&b);
}

/* A failure after a hit changes no row of ingest_file_result; `existing` has none. */
static void an_answer_without_a_row_of_its_own_counts(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = queue_all(2);
	bench_open(&b, dsn, 100);
	bench_put_result(&b, &e, 1, "success"); /* of another request: no document is answered */
	bench_wait(&b, 1);
	assert_int_equal(bench_number(dsn, QUEUED), 2);
	put_answer(&b, &e, 1, "connect-error");
	bench_wait(&b, 2);
	assert_int_equal(bench_number(dsn, QUEUED), 1);
	bench_fill(&b, &e, 2);
	e.rows = (struct ing_rows){.answers = e.document};
	ing_store_put(b.store, &e.item);
	bench_wait(&b, 3);
	assert_int_equal(bench_number(dsn, QUEUED), 0);
	bench_close(&b);
}

/* It may hold its locks for an hour: the worker must not wait for it. */
static void what_a_planner_is_queueing_again_stays_queued(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	struct ing_error err = {0};
	struct ing_pg *planner = NULL;
	const char *dsn = queue_all(2);
	bench_check(ing_pg_open(dsn, -1, 30000, &planner, &err), &err);
	bench_check((int)ing_pg_exec(planner,
			    "BEGIN; UPDATE document_queued SET queued = now() WHERE"
			    " document = '00000000-0000-0000-0001-000000000001'",
			    &err),
		&err);
	bench_open(&b, dsn, 100);
	put_answer(&b, &e, 1, "connect-error");
	bench_wait(&b, 1);
	bench_check((int)ing_pg_exec(planner, "COMMIT", &err), &err);
	ing_pg_close(planner);
	assert_int_equal(bench_number(dsn, QUEUED), 2);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(an_answered_document_is_not_queued_any_more),
		WITH_SERVER(an_answer_without_a_row_of_its_own_counts),
		WITH_SERVER(what_a_planner_is_queueing_again_stays_queued),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
