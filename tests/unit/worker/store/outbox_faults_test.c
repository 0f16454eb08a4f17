/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whatever happens to a batch on its way, its outcome is the same: each request has one answer, the
 * rows that go with it, and is told so once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "common/base/clock.h"
#include "tests/unit/worker/store/answers.h"
#include "tests/unit/worker/store/relay.h"

#define N 50

/* A batch on its way: N requests of two partitions. */
struct load {
	struct bench b;
	const char *dsn;
	struct partition p[2];
	struct request r[N];
};

static struct load *open_load(const char *store_dsn, const char *dsn)
{
	struct load *l = ing_alloc(sizeof(*l));
	l->dsn = dsn;
	bench_open(&l->b, store_dsn, N);
	claim_partition(&l->b, &l->p[0], "requests", 0);
	claim_partition(&l->b, &l->p[1], "requests", 1);
	return l;
}

static struct load *begin(void)
{
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	return open_load(dsn, dsn);
}

static void put_all(struct load *l)
{
	for (unsigned i = 0; i < N; i++)
		put_request(&l->b, &l->p[i % 2], &l->r[i], i, "{\"status\":\"success\"}");
}

/* Ends the load. `answered`: whether an item may have found an answer, which is then its own. */
static void check_outcome(struct load *l, bool answered)
{
	static const char *const tables[] = {"result_outbox", "ingest_request",
		"ingest_file_result", "file_meta", "cdx", "pdf_meta"};
	bench_wait(&l->b, N);
	assert_false(ing_store_blocked(l->b.store));
	for (unsigned i = 0; i < N; i++) {
		struct ing_store_item *item = &l->r[i].entry.item;
		if (item->end == ING_STORE_STORED) {
			assert_null(item->answer);
			continue;
		}
		assert_true(answered);
		assert_int_equal(item->end, ING_STORE_ANSWERED);
		assert_answers(item->answer, &l->r[i]);
		ing_answer_free(item->answer);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(tables); i++) {
		char sql[128];
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		assert_int_equal(bench_number(l->dsn, sql), N);
	}
	/* Whatever was repeated, each result was stored once. */
	assert_int_equal(bench_number(l->dsn, "SELECT sum(attempts) FROM ingest_file_result"), N);
	assert_int_equal(bench_number(l->dsn, "SELECT sum(n) FROM result_counts"), N);
	assert_int_equal(bench_number(l->dsn, "SELECT sum(n) FROM request_counts WHERE hit"), N);
	assert_int_equal(bench_number(l->dsn, "SELECT sum(n) FROM file_counts"), N);
	bench_close(&l->b);
	free(l);
}

/* The first `times` times that a row of the table is written, the statement does something. */
static void disturb(const char *dsn, const char *table, unsigned times, const char *what)
{
	char sql[1024];
	snprintf(sql, sizeof(sql),
		"CREATE SEQUENCE tries; CREATE FUNCTION disturb() RETURNS trigger LANGUAGE plpgsql"
		" AS $$ BEGIN IF nextval('tries') <= %u THEN %s; END IF; RETURN NEW; END $$;"
		"CREATE TRIGGER disturb BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION disturb()",
		times, what, table);
	bench_sql(dsn, sql);
}

static long tries(const struct load *l)
{
	return bench_number(l->dsn, "SELECT last_value FROM tries");
}

static void a_serialization_failure_is_repeated(void **state)
{
	(void)state;
	struct load *l = begin();
	disturb(l->dsn, "cdx", 3, "RAISE EXCEPTION 'no' USING ERRCODE = '40001'");
	put_all(l);
	bench_wait(&l->b, N);
	assert_true(tries(l) >= 4);
	check_outcome(l, false);
}

static void a_connection_cut_in_the_middle_of_a_batch_is_repeated(void **state)
{
	(void)state;
	static const char *const tables[] = {"result_outbox", "ingest_file_result", "pdf_meta"};
	for (size_t i = 0; i < ING_ARRAY_LEN(tables); i++) {
		struct load *l = begin();
		disturb(l->dsn, tables[i], 2, "PERFORM pg_terminate_backend(pg_backend_pid())");
		put_all(l);
		bench_wait(&l->b, N);
		assert_true(tries(l) >= 3);
		check_outcome(l, false);
	}
}

/* Another transaction has a row that the batch wants, and wants the row of the fence. The batch is the
 * one that is ended: it looks for a deadlock 2 s after it began to wait, a second before its
 * lock_timeout, and the other much later. */
static void a_deadlock_is_repeated(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_sql(dsn,
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''2s''',"
		" current_database()); END $$");
	struct load *l = open_load(dsn, dsn);
	PGconn *other = PQconnectdb(l->dsn);
	assert_int_equal(PQstatus(other), CONNECTION_OK);
	PQclear(PQexec(other, "SET deadlock_timeout = '1h'"));
	PQclear(PQexec(other, "BEGIN"));
	PQclear(PQexec(other, "INSERT INTO file_meta (sha1hex) VALUES (lpad('7', 40, '0'))"));
	put_all(l);
	await_number(&l->b, l->dsn,
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
		" AND wait_event_type = 'Lock'",
		1);
	assert_int_equal(PQsendQuery(other, "UPDATE partition_owner SET updated = now()"), 1);
	await_number(&l->b, l->dsn,
		"SELECT deadlocks FROM pg_stat_database"
		" WHERE datname = current_database()",
		1);
	PGresult *res;
	while ((res = PQgetResult(other)) != NULL)
		PQclear(res);
	PQclear(PQexec(other, "ROLLBACK"));
	PQfinish(other);
	check_outcome(l, false);
}

static struct load *begin_behind(struct relay **ret)
{
	char through[1024];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	*ret = relay_start(dsn, through, sizeof(through));
	return open_load(through, dsn);
}

/* The item finds its own answer, and it is told that one. */
static void a_commit_whose_answer_is_lost_is_repeated(void **state)
{
	(void)state;
	struct relay *relay;
	if (!bench_cluster.own)
		skip();
	struct load *l = begin_behind(&relay);
	relay_cut(relay, RELAY_ANSWER, 3);
	put_all(l);
	bench_wait(&l->b, N);
	assert_int_equal(relay_cuts_left(relay), 0);
	struct ing_store_stats st;
	ing_store_stats(l->b.store, &st);
	assert_in_range(st.answered, 1, N);
	check_outcome(l, true);
	relay_stop(relay);
}

/* The server still waits for its standby when the batch is repeated: no second answer, and nothing
 * is said before it has it. */
static void a_commit_that_outlives_its_connection_is_waited_for(void **state)
{
	(void)state;
	struct relay *relay;
	if (!bench_cluster.own)
		skip();
	struct load *l = begin_behind(&relay);
	bench_sql(l->dsn, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
	bench_sql(l->dsn, "SELECT pg_reload_conf()");
	relay_cut(relay, RELAY_ASKED, 1);
	put_all(l);
	uint64_t until = ing_now_ms() + 6000; /* more than a lock is waited for */
	while (ing_now_ms() < until)
		uv_run(&l->b.loop, UV_RUN_ONCE);
	assert_int_equal(relay_cuts_left(relay), 0);
	assert_int_equal(l->b.done, 0);
	assert_true(ing_store_blocked(l->b.store));
	bench_sql(l->dsn, "ALTER SYSTEM RESET synchronous_standby_names");
	bench_sql(l->dsn, "SELECT pg_reload_conf()");
	check_outcome(l, true);
	relay_stop(relay);
}

static void a_claim_whose_answer_is_lost_is_repeated(void **state)
{
	(void)state;
	struct relay *relay;
	struct partition p;
	if (!bench_cluster.own)
		skip();
	struct load *l = begin_behind(&relay);
	relay_cut(relay, RELAY_ANSWER, 2);
	claim_partition(&l->b, &p, "requests", 5);
	assert_int_equal(relay_cuts_left(relay), 0);
	assert_int_equal(
		bench_number(l->dsn, "SELECT fence FROM partition_owner WHERE partition = 5"),
		p.claim.fence);
	relay_cut(relay, RELAY_ANSWER, 1);
	recover_partition(&l->b, &p);
	assert_false(p.claim.superseded);
	put_all(l);
	check_outcome(l, false);
	relay_stop(relay);
}

/* From then on nothing is done. What was before is for check_outcome() to judge: a setting of the server reaches its
 * sessions a little later than us. */
static void wait_blocked(struct load *l)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (!ing_store_blocked(l->b.store) && ing_now_ms() < until)
		uv_run(&l->b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(l->b.store));
	unsigned done = l->b.done;
	until = ing_now_ms() + 1000; /* several tries */
	while (ing_now_ms() < until)
		uv_run(&l->b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(l->b.store));
	assert_int_equal(l->b.done, done);
}

static void a_read_only_database_is_waited_for(void **state)
{
	(void)state;
	if (!bench_cluster.own)
		skip();
	struct load *l = begin();
	bench_sql(l->dsn, "ALTER SYSTEM SET default_transaction_read_only = on");
	bench_sql(l->dsn, "SELECT pg_reload_conf()");
	put_all(l);
	wait_blocked(l);
	bench_sql(l->dsn, "ALTER SYSTEM RESET default_transaction_read_only");
	bench_sql(l->dsn, "SELECT pg_reload_conf()");
	check_outcome(l, false);
}

static void a_full_disk_is_waited_for(void **state)
{
	(void)state;
	struct load *l = begin();
	disturb(l->dsn, "result_outbox", 1000000, "RAISE EXCEPTION 'no' USING ERRCODE = '53100'");
	put_all(l);
	wait_blocked(l);
	bench_sql(l->dsn, "DROP TRIGGER disturb ON result_outbox");
	check_outcome(l, false);
}

/* The server ends the session of a worker that stands still in the middle of a batch; here by hand,
 * not after ten seconds. */
static void a_batch_of_an_owner_that_is_cut_off_is_fenced_when_repeated(void **state)
{
	(void)state;
	struct bench other;
	struct partition later;
	struct load *l = begin();
	bench_open(&other, l->dsn, 100);
	struct ing_pg *pg = lock_table(l->dsn, "pdf_meta");
	put_all(l);
	await_number(&l->b, l->dsn,
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
		" AND wait_event_type = 'Lock'",
		1);
	start_claim(&other, &later, "requests", 1);
	bench_sql(l->dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
			  " datname = current_database() AND wait_event_type = 'Lock'"
			  " AND query LIKE '%pdf_meta%'");
	await_claim(&other, &later, 1);
	ing_pg_close(pg);
	bench_wait(&l->b, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(
			l->r[i].entry.item.end, i % 2 == 1 ? ING_STORE_FENCED : ING_STORE_STORED);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM result_outbox"), N / 2);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM pdf_meta"), N / 2);
	bench_close(&other);
	bench_close(&l->b);
	free(l);
}

static void a_refused_row_does_not_lose_its_answer(void **state)
{
	(void)state;
	struct load *l = begin();
	bench_sql(l->dsn, "ALTER TABLE file_meta ADD CHECK (sha1hex <> lpad('7', 40, '0'))");
	put_all(l);
	bench_wait(&l->b, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(l->r[i].entry.item.end, ING_STORE_STORED);
	struct ing_store_stats st;
	ing_store_stats(l->b.store, &st);
	assert_int_equal(st.refused, 1);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM file_meta"), N - 1);
	bench_sql(l->dsn, "INSERT INTO file_meta VALUES (lpad('8', 40, 'f'))");
	check_outcome(l, false);
}

/* What is refused at COMMIT has no table: its rows go, the answer stays, and the fence counts. */
static void rows_refused_at_commit_do_not_lose_their_answer(void **state)
{
	(void)state;
	struct load *l = begin();
	bench_sql(l->dsn,
		"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
		" RAISE EXCEPTION 'no' USING ERRCODE = '23514'; END $$;"
		"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON pdf_meta DEFERRABLE INITIALLY"
		" DEFERRED FOR EACH ROW WHEN (NEW.sha1hex = lpad('7', 40, '0'))"
		" EXECUTE FUNCTION refuse()");
	put_all(l);
	bench_wait(&l->b, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(l->r[i].entry.item.end, ING_STORE_STORED);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM result_outbox"), N);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM ingest_file_result"), N - 1);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM pdf_meta"), N - 1);
	bench_close(&l->b);
	free(l);
}

static void a_refused_answer_does_not_lose_its_rows(void **state)
{
	(void)state;
	struct load *l = begin();
	bench_sql(l->dsn, "ALTER TABLE result_outbox ADD CHECK (\"offset\" <> 7)");
	put_all(l);
	bench_wait(&l->b, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(l->r[i].entry.item.end, ING_STORE_STORED);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM result_outbox"), N - 1);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM ingest_file_result"), N);
	assert_int_equal(bench_number(l->dsn, "SELECT count(*) FROM pdf_meta"), N);
	bench_close(&l->b);
	free(l);
}

/* Pruning goes with batches, and must be as done as they are. */
static void what_was_to_be_pruned_is_pruned_after_a_fault(void **state)
{
	(void)state;
	struct load *l = begin();
	put_all(l);
	bench_wait(&l->b, N);
	bench_sql(l->dsn,
		"CREATE SEQUENCE tries; CREATE FUNCTION disturb() RETURNS trigger LANGUAGE plpgsql"
		" AS $$ BEGIN IF nextval('tries') <= 2 THEN"
		" PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN OLD; END $$;"
		"CREATE TRIGGER disturb BEFORE DELETE ON result_outbox FOR EACH ROW"
		" EXECUTE FUNCTION disturb()");
	for (unsigned i = 0; i < N; i++)
		ing_store_prune(l->b.store, &l->r[i].source);
	await_number(&l->b, l->dsn, "SELECT count(*) FROM result_outbox", 0);
	assert_true(tries(l) >= 3);
	struct ing_store_stats st;
	ing_store_stats(l->b.store, &st);
	assert_int_equal(st.pruned, N);
	bench_close(&l->b);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_serialization_failure_is_repeated),
		WITH_SERVER(a_connection_cut_in_the_middle_of_a_batch_is_repeated),
		WITH_SERVER(a_deadlock_is_repeated),
		WITH_SERVER(a_commit_whose_answer_is_lost_is_repeated),
		WITH_SERVER(a_commit_that_outlives_its_connection_is_waited_for),
		WITH_SERVER(a_claim_whose_answer_is_lost_is_repeated),
		WITH_SERVER(a_read_only_database_is_waited_for),
		WITH_SERVER(a_full_disk_is_waited_for),
		WITH_SERVER(a_batch_of_an_owner_that_is_cut_off_is_fenced_when_repeated),
		WITH_SERVER(a_refused_row_does_not_lose_its_answer),
		WITH_SERVER(rows_refused_at_commit_do_not_lose_their_answer),
		WITH_SERVER(a_refused_answer_does_not_lose_its_rows),
		WITH_SERVER(what_was_to_be_pruned_is_pruned_after_a_fault),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
