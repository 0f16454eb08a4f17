/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Leases when something dies: a worker, a connection, the server, its data.
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
#include "tests/unit/worker/gate/lease_client.h"
#include "tests/unit/worker/store/bench.h"

static const char *const one_host[] = {"a.example"};

static void a_dead_workers_lease_ends_when_it_said(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client b;
	uint64_t until_ms = 0;
	fleet_open_dead(&f, &(struct ing_lease_conf){.lease_ms = 2500, .expired_rest_ms = 700}, &b,
		"b", &until_ms);
	const struct client_event *t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_HELD);
	assert_string_equal(t->holder, "a");
	assert_in_range(t->retry_ms, 50, 2500);
	fleet_run(&f, t->retry_ms);
	t = client_acquire(&f, &b, "a.example");
	/* Not before its holder would have stopped believing in it, and rested from then on. */
	assert_true(t->at_ms >= until_ms);
	assert_in_range(t->at_ms - until_ms, 0, 5000);
	assert_true(t->backoff.rest_until_ms >= until_ms + 700);
	assert_in_range(t->backoff.rest_until_ms - until_ms, 700, 2500);
	solo_close(&f, &b);
}

static void a_dead_workers_host_rests_for_its_crawl_delay(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client b;
	uint64_t until_ms = 0;
	fleet_open(&f);
	f.conf.lease_ms = 1500;
	f.conf.expired_rest_ms = 100;
	f.conf.takeover_rest_ms = 9000;
	client_kill(&f, "a", one_host, 1, &until_ms);
	bench_sql(f.dsn, "UPDATE host_state SET crawl_delay_ms = 30000");
	client_open(&f, &b, "b");
	fleet_run(&f, 2000);
	const struct client_event *t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_RESTING);
	assert_in_range(t->backoff.rest_until_ms, until_ms + 9000, until_ms + 11000);
	assert_int_equal(t->backoff.rest, ING_REST_WORKER_DIED);
	solo_close(&f, &b);
}

static void a_worker_that_comes_back_has_its_hosts_at_once(void **state)
{
	(void)state;
	static const char *const hosts[] = {"a.example", "b.example"};
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	uint64_t until_ms = 0;
	fleet_open(&f);
	f.conf.takeover_rest_ms = 1500;
	client_kill(&f, "a", hosts, 2, &until_ms);
	client_open(&f, &b, "b");
	assert_int_equal(client_request(&f, &b, "b.example")->type, ING_LEASE_HELD);
	uint64_t restarted = ing_now_ms();
	client_open(&f, &a, "a");
	const struct client_event *t = client_request(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_GRANTED);
	assert_true(t->backoff.rest_until_ms >= restarted + 1500);
	assert_int_equal(t->backoff.rest, ING_REST_WORKER_DIED);
	/* The other host is free for whoever asked first. */
	assert_int_equal(client_request(&f, &a, "b.example")->type, ING_LEASE_HELD);
	t = client_acquire(&f, &b, "b.example");
	assert_true(t->backoff.rest_until_ms >= restarted + 1500);
	assert_in_range(t->at_ms - restarted, 0, 10000);
	pair_close(&f, &a, &b);
}

static void a_long_rest_after_a_takeover_is_told(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	uint64_t until_ms = 0;
	fleet_open_dead(
		&f, &(struct ing_lease_conf){.takeover_rest_ms = 20000}, &a, "a", &until_ms);
	const struct client_event *t = client_request(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_RESTING);
	assert_in_range(t->retry_ms, 15000, 18000);
	solo_close(&f, &a);
}

static void hosts_nobody_meets_are_forgotten(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	fleet_open(&f);
	bench_sql(f.dsn,
		"INSERT INTO host_state (host, updated, next_fetch_at, holder, session, expires_at)"
		" VALUES ('old.example', now() - interval '91 days', now(), NULL, NULL, NULL),"
		" ('younger.example', now() - interval '89 days', now(), NULL, NULL, NULL),"
		" ('resting.example', now() - interval '91 days', now() + interval '1 h', NULL, NULL, NULL),"
		" ('held.example', now() - interval '91 days', now(), 'b', 1, now())");
	client_open(&f, &a, "a");
	assert_int_equal(fleet_rows(&f), 3);
	assert_int_equal(
		bench_number(f.dsn, "SELECT count(*) FROM host_state WHERE host = 'old.example'"),
		0);
	solo_close(&f, &a);
}

static void what_is_held_is_extended(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	struct ing_lease_stats stats;
	pair_open(&f, &(struct ing_lease_conf){.lease_ms = 1500}, &a, &b);
	uint64_t until_ms = client_request(&f, &a, "a.example")->until_ms;
	for (int i = 0; i < 8; i++) {
		const struct client_event *t = client_wait(&f, &a, "a.example");
		if (t->type == ING_LEASE_WANTED)
			continue;
		assert_int_equal(t->type, ING_LEASE_GRANTED);
		assert_false(t->has_backoff);
		assert_true(t->until_ms > until_ms);
		assert_true(t->at_ms < until_ms); /* it never ran out */
		until_ms = t->until_ms;
		assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	}
	ing_leases_stats(a.l, &stats);
	assert_in_range(stats.extended, 6, 20);
	pair_close(&f, &a, &b);
}

static void a_database_that_lost_our_leases_says_so(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, &(struct ing_lease_conf){.lease_ms = 1200}, &a);
	client_request(&f, &a, "a.example");
	bench_sql(f.dsn, "TRUNCATE host_state");
	assert_int_equal(client_wait(&f, &a, "a.example")->type, ING_LEASE_LOST);
	/* And another's word is the last, whoever it is. */
	client_request(&f, &a, "b.example");
	bench_sql(f.dsn,
		"UPDATE host_state SET session = 7, holder = 'other',"
		" expires_at = clock_timestamp() + interval '1 h', next_fetch_at = '2021-01-01'");
	const struct ing_host_backoff p = resting(60000);
	ing_leases_update(a.l, "b.example", &p);
	assert_int_equal(client_wait(&f, &a, "b.example")->type, ING_LEASE_LOST);
	ing_leases_release(a.l, "b.example", &p);
	fleet_run(&f, 200);
	assert_int_equal(
		bench_number(f.dsn, "SELECT count(*) FROM host_state WHERE holder = 'other'"
				    " AND next_fetch_at = '2021-01-01'"),
		1);
	solo_close(&f, &a);
}

/* What was learnt while an emptied database has no row for it is not lost. */
static void a_hold_survives_the_loss_of_its_row(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	bench_sql(f.dsn, "TRUNCATE host_state");
	client_release(&f, &a, "a.example", resting(60000));
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_RESTING);
	pair_close(&f, &a, &b);
}

static void await_state(struct fleet *f, const struct lease_client *w, bool away)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (ing_leases_away(w->l) != away && ing_now_ms() < until)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(ing_leases_away(w->l), away);
}

static void a_server_that_goes_away_is_waited_for(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	if (!bench_cluster.own)
		skip();
	solo_open(&f, &(struct ing_lease_conf){.lease_ms = 3000}, &a);
	client_request(&f, &a, "kept.example");
	cluster_stop(&bench_cluster);
	ing_leases_request(a.l, "new.example");
	await_state(&f, &a, true);
	assert_int_equal(a.went_away, 1);
	size_t before = a.event_count;
	fleet_run(&f, 3500); /* the lease that is kept runs out, and nobody says so */
	ing_leases_request(a.l, "later.example");
	ing_leases_request(a.l, "never.example");
	ing_leases_cancel(a.l, "never.example");
	fleet_run(&f, 200);
	assert_int_equal(a.event_count, before);
	cluster_resume(&bench_cluster);
	assert_int_equal(client_wait(&f, &a, "new.example")->type, ING_LEASE_GRANTED);
	assert_int_equal(client_wait(&f, &a, "later.example")->type, ING_LEASE_GRANTED);
	const struct client_event *t =
		client_wait(&f, &a, "kept.example"); /* nobody else took it */
	assert_int_equal(t->type, ING_LEASE_GRANTED);
	assert_true(t->until_ms > t->at_ms);
	assert_int_equal(a.came_back, 1);
	assert_false(ing_leases_away(a.l));
	fleet_run(&f, 300);
	assert_int_equal(fleet_rows(&f), 3);
	solo_close(&f, &a);
}

static void leaving_does_not_wait_for_a_server_that_is_away(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	if (!bench_cluster.own)
		skip();
	solo_open(&f, NULL, &a);
	client_request(&f, &a, "a.example");
	cluster_stop(&bench_cluster);
	ing_leases_request(a.l, "b.example");
	await_state(&f, &a, true);
	uint64_t start = ing_now_ms();
	client_close(&a);
	assert_in_range(ing_now_ms() - start, 0, 4000);
	fleet_close(&f);
	cluster_resume(&bench_cluster);
}

/* Until the connection does something else, or is closed. */
static struct ing_pg *lock_hosts(const struct fleet *f)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(f->dsn, -1, 30000, &pg, &err), &err);
	bench_check((int)ing_pg_exec(pg, "BEGIN; LOCK TABLE host_state", &err), &err);
	return pg;
}

#define CUT_OTHERS                                                                                 \
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"                                   \
	" WHERE datname = current_database() AND pid <> pg_backend_pid()"

static void a_connection_that_is_cut_is_made_again(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct ing_error err = {0};
	solo_open(&f, NULL, &a);
	client_request(&f, &a, "a.example");
	bench_sql(f.dsn, CUT_OTHERS);
	assert_int_equal(client_request(&f, &a, "b.example")->type, ING_LEASE_GRANTED);
	/* In the middle of a statement, which waits for us. */
	struct ing_pg *pg = lock_hosts(&f);
	const struct ing_host_backoff p = resting(0);
	ing_leases_release(a.l, "a.example", &p);
	ing_leases_request(a.l, "a.example");
	ing_leases_request(a.l, "c.example");
	fleet_run(&f, 300);
	bench_check((int)ing_pg_exec(pg, CUT_OTHERS, &err), &err);
	await_state(&f, &a, true);
	bench_check((int)ing_pg_exec(pg, "ROLLBACK", &err), &err);
	ing_pg_close(pg);
	assert_int_equal(client_wait(&f, &a, "a.example")->type, ING_LEASE_GRANTED);
	assert_int_equal(client_wait(&f, &a, "c.example")->type, ING_LEASE_GRANTED);
	assert_int_equal(client_unread(&a), 0);
	assert_int_equal(
		bench_number(f.dsn, "SELECT count(*) FROM host_state WHERE holder = 'a'"), 3);
	solo_close(&f, &a);
}

static void a_database_that_hangs_is_left_in_time(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, NULL, &a);
	struct ing_pg *pg = lock_hosts(&f);
	ing_leases_request(a.l, "a.example");
	fleet_run(&f, 300);
	uint64_t start = ing_now_ms();
	client_close(&a);
	assert_in_range(ing_now_ms() - start, 2500, 6000);
	ing_pg_close(pg);
	fleet_close(&f);
}

static void make_slow(const struct fleet *f, const char *seconds)
{
	char sql[512];
	snprintf(sql, sizeof(sql),
		"CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS"
		" $$ BEGIN PERFORM pg_sleep(%s); RETURN NEW; END $$;"
		"CREATE TRIGGER rest BEFORE INSERT OR UPDATE ON host_state FOR EACH ROW"
		" EXECUTE FUNCTION rest()",
		seconds);
	bench_sql(f->dsn, sql);
}

static void ask_many(struct fleet *f, struct lease_client *w, unsigned from, unsigned to)
{
	char host[32];
	for (unsigned i = from; i < to; i++) {
		snprintf(host, sizeof(host), "h%u.example", i);
		ing_leases_request(w->l, host);
	}
	for (unsigned i = from; i < to; i++) {
		snprintf(host, sizeof(host), "h%u.example", i);
		assert_int_equal(client_wait(f, w, host)->type, ING_LEASE_GRANTED);
	}
}

/* When it gets slow, one statement about all that is asked would take 4 s, eight times its limit.
 * The worker that is started then has as much to take over. */
static void a_slow_database_is_asked_for_less_at_a_time(void **state)
{
	(void)state;
	enum { N = 200 };
	static char names[N][32];
	static const char *hosts[N];
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	uint64_t until_ms = 0;
	fleet_open(&f);
	f.conf.statement_ms = 500;
	for (unsigned i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "dead%u.example", i);
		hosts[i] = names[i];
	}
	client_kill(&f, "b", hosts, N, &until_ms);
	client_open(&f, &a, "a");
	for (unsigned i = 0; i < 5; i++)
		ask_many(&f, &a, i * N, (i + 1) * N);
	make_slow(&f, "0.02");
	ask_many(&f, &a, 5 * N, 6 * N);
	assert_false(ing_leases_away(a.l));
	client_open(&f, &b, "b");
	assert_int_equal(
		bench_number(f.dsn, "SELECT count(*) FROM host_state WHERE holder = 'b'"), 0);
	bench_sql(f.dsn, "DROP TRIGGER rest ON host_state");
	pair_close(&f, &a, &b);
}

static void one_host_that_takes_longer_than_the_limit_is_granted_at_last(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, &(struct ing_lease_conf){.statement_ms = 100}, &a);
	make_slow(&f, "0.5");
	assert_int_equal(client_request(&f, &a, "a.example")->type, ING_LEASE_GRANTED);
	assert_false(ing_leases_away(a.l));
	bench_sql(f.dsn, "DROP TRIGGER rest ON host_state");
	solo_close(&f, &a);
}

static void a_lock_beyond_the_limit_is_waited_for(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, &(struct ing_lease_conf){.statement_ms = 200}, &a);
	struct ing_pg *pg = lock_hosts(&f);
	ing_leases_request(a.l, "a.example");
	await_state(&f, &a, true);
	fleet_run(&f, 500);
	assert_int_equal(client_unread(&a), 0);
	ing_pg_close(pg);
	assert_int_equal(client_wait(&f, &a, "a.example")->type, ING_LEASE_GRANTED);
	assert_false(ing_leases_away(a.l));
	solo_close(&f, &a);
}

/* A statement that was refused by no fault of its own is repeated. */
static void a_conflict_is_tried_again(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, NULL, &a);
	bench_sql(f.dsn,
		"CREATE SEQUENCE tries;"
		"CREATE FUNCTION clash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
		" IF nextval('tries') <= 3 THEN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END IF;"
		" RETURN NEW; END $$;"
		"CREATE TRIGGER clash BEFORE INSERT ON host_state FOR EACH ROW EXECUTE FUNCTION clash()");
	assert_int_equal(client_request(&f, &a, "a.example")->type, ING_LEASE_GRANTED);
	assert_int_equal(bench_number(f.dsn, "SELECT last_value FROM tries"), 4);
	assert_int_equal(a.went_away, 0);
	solo_close(&f, &a);
}

static void a_database_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_leases *l = NULL;
	uv_loop_t loop;
	struct ing_lease_conf conf = {.instance = "a", .lease_ms = 1000, .round_ms = 10};
	assert_int_equal(uv_loop_init(&loop), 0);
	conf.dsn = cluster_database(&bench_cluster);
	assert_int_equal(ing_leases_new(&loop, &conf, &l, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "ingestctl db migrate"));
	ing_error_clear(&err);
	bench_migrate(conf.dsn);
	bench_sql(conf.dsn, "DELETE FROM schema_version WHERE version > 3");
	assert_int_equal(ing_leases_new(&loop, &conf, &l, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "run ingestctl db migrate"));
	ing_error_clear(&err);
	conf.dsn = "host=127.0.0.1 port=1";
	assert_int_equal(ing_leases_new(&loop, &conf, &l, &err), -ING_FAIL_UNAVAILABLE);
	ing_error_clear(&err);
	conf.dsn = "postgresql://[";
	assert_int_equal(ing_leases_new(&loop, &conf, &l, &err), -ING_FAIL_CONFIG);
	ing_leases_free(NULL);
	assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_dead_workers_lease_ends_when_it_said),
		WITH_SERVER(a_worker_that_comes_back_has_its_hosts_at_once),
		WITH_SERVER(a_dead_workers_host_rests_for_its_crawl_delay),
		WITH_SERVER(a_long_rest_after_a_takeover_is_told),
		WITH_SERVER(hosts_nobody_meets_are_forgotten),
		WITH_SERVER(what_is_held_is_extended),
		WITH_SERVER(a_database_that_lost_our_leases_says_so),
		WITH_SERVER(a_hold_survives_the_loss_of_its_row),
		WITH_SERVER(a_server_that_goes_away_is_waited_for),
		WITH_SERVER(leaving_does_not_wait_for_a_server_that_is_away),
		WITH_SERVER(a_connection_that_is_cut_is_made_again),
		WITH_SERVER(a_database_that_hangs_is_left_in_time),
		WITH_SERVER(a_slow_database_is_asked_for_less_at_a_time),
		WITH_SERVER(one_host_that_takes_longer_than_the_limit_is_granted_at_last),
		WITH_SERVER(a_lock_beyond_the_limit_is_waited_for),
		WITH_SERVER(a_conflict_is_tried_again),
		WITH_SERVER(a_database_that_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
