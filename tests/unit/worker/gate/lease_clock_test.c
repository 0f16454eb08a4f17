/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Leases when the database's clock is set back, or another server takes its place whose clock is
 * behind: nobody can set the clock of a test's server, so its rows are written a day later than
 * they were, which is the same to whoever compares them with that clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/pg.h"
#include "tests/unit/worker/gate/lease_client.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/gate/fleet/host_table.h"

static const char *const one_host[] = {"a.example"};

static void set_clock_back_a_day(const struct fleet *f)
{
	bench_sql(f->dsn, "UPDATE host_state SET expires_at = expires_at + interval '24 h',"
			  " next_fetch_at = next_fetch_at + interval '24 h',"
			  " wanted_at = wanted_at + interval '24 h',"
			  " answered_at = answered_at + interval '24 h',"
			  " updated = updated + interval '24 h'");
}

/* No time of any row is beyond so many milliseconds from now. */
static void assert_all_within(const struct fleet *f, long ms)
{
	long latest = bench_number(f->dsn,
		"SELECT ceil(extract(epoch FROM max(greatest(expires_at, next_fetch_at, wanted_at,"
		" answered_at, updated)) - clock_timestamp()) * 1000)::bigint FROM host_state");
	if (latest > ms)
		fail_msg("%ld ms from now, not %ld", latest, ms);
}

static struct ing_host_row find(const struct fleet *f)
{
	struct ing_host_row row;
	struct ing_error err = {0};
	bench_check(ing_host_table_find(f->dsn, "a.example", &row, &err), &err);
	return row;
}

static void a_dead_workers_lease_is_no_longer_than_it_was_meant(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client b;
	uint64_t until_ms = 0;
	fleet_open(&f);
	f.conf.lease_ms = 2500;
	client_kill(&f, "a", one_host, 1, &until_ms);
	set_clock_back_a_day(&f);
	client_open(&f, &b, "b");
	const struct client_event *t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_HELD);
	assert_string_equal(t->holder, "a");
	assert_all_within(&f, 2500);
	t = client_acquire(&f, &b, "a.example");
	assert_true(t->at_ms >= until_ms);
	solo_close(&f, &b);
}

static void a_rest_is_no_longer_than_it_was_meant(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	client_release(&f, &a, "a.example", resting(30000));
	set_clock_back_a_day(&f);
	const struct client_event *t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_RESTING);
	assert_in_range(t->retry_ms, 20000, 28000);
	assert_in_range(t->backoff.rest_until_ms, t->at_ms + 20000, t->at_ms + 30000);
	assert_in_range(t->backoff.answered_ms, t->at_ms - 10000, t->at_ms);
	assert_all_within(&f, 30000);
	/* The everyday pause is over as soon. */
	client_request(&f, &a, "b.example");
	client_release(&f, &a, "b.example", resting(500));
	set_clock_back_a_day(&f);
	assert_int_equal(client_request(&f, &b, "b.example")->type, ING_LEASE_GRANTED);
	pair_close(&f, &a, &b);
}

static void who_holds_a_host_keeps_it(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, &(struct ing_lease_conf){.lease_ms = 3000}, &a, &b);
	client_request(&f, &a, "a.example");
	const struct ing_host_backoff p = resting(20000);
	ing_leases_update(a.l, "a.example", &p);
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	set_clock_back_a_day(&f);
	for (int extended = 0; extended < 3;) {
		const struct client_event *t = client_wait(&f, &a, "a.example");
		if (t->type == ING_LEASE_WANTED)
			continue;
		assert_int_equal(t->type, ING_LEASE_GRANTED);
		assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
		extended++;
	}
	assert_all_within(&f, 20000);
	pair_close(&f, &a, &b);
}

/* The holder writes before anybody else asks: what it leaves alone is set back with the rest. */
static void extensions_notes_and_takeovers_set_back_what_they_keep(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	uint64_t until_ms = 0;
	solo_open(&f, &(struct ing_lease_conf){.lease_ms = 900}, &a);
	client_request(&f, &a, "a.example");
	const struct ing_host_backoff p = resting(5000);
	ing_leases_update(a.l, "a.example", &p);
	fleet_run(&f, 200);
	set_clock_back_a_day(&f);
	assert_int_equal(client_wait(&f, &a, "a.example")->type, ING_LEASE_GRANTED);
	assert_all_within(&f, 5000);
	client_close(&a);

	f.conf.lease_ms = 60000;
	client_open(&f, &a, "a");
	client_open(&f, &b, "b");
	client_acquire(&f, &a, "a.example");
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	set_clock_back_a_day(&f);
	ing_leases_update(a.l, "a.example", &p);
	fleet_run(&f, 500);
	assert_all_within(&f, 60000);
	client_release(&f, &a, "a.example", (struct ing_host_backoff){0});
	client_close(&a);
	bench_sql(f.dsn, "DELETE FROM host_state");

	client_kill(&f, "c", one_host, 1, &until_ms);
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	set_clock_back_a_day(&f);
	client_open(&f, &a, "c");
	assert_all_within(&f, (long)f.conf.takeover_rest_ms);
	pair_close(&f, &a, &b);
}

static void a_place_in_the_line_is_lost_as_soon(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	client_release(&f, &a, "a.example", resting(0));
	set_clock_back_a_day(&f);
	const struct client_event *t = client_request(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_HELD);
	assert_string_equal(t->holder, "b");
	assert_all_within(&f, 0);
	/* b, who never comes, has its five seconds. */
	client_acquire(&f, &a, "a.example");
	pair_close(&f, &a, &b);
}

/* The asker takes its time before it has the lock: a row that was written meanwhile is none that
 * was written in the future. */
static void waiting_for_a_row_makes_no_lease_shorter(void **state)
{
	(void)state;
#define EXPIRES "SELECT (extract(epoch FROM expires_at) * 1000000)::bigint FROM host_state"
	struct fleet f;
	struct lease_client b;
	uint64_t until_ms = 0;
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	fleet_open_dead(&f, NULL, &b, "b", &until_ms);
	long expires = bench_number(f.dsn, EXPIRES);
	bench_check(ing_pg_open(f.dsn, -1, 30000, &pg, &err), &err);
	bench_check(
		(int)ing_pg_exec(pg, "BEGIN; UPDATE host_state SET updated = updated", &err), &err);
	ing_leases_request(b.l, "a.example");
	fleet_run(&f, 500);
	bench_check((int)ing_pg_exec(
			    pg, "UPDATE host_state SET updated = clock_timestamp(); COMMIT", &err),
		&err);
	ing_pg_close(pg);
	assert_int_equal(client_wait(&f, &b, "a.example")->type, ING_LEASE_HELD);
	assert_int_equal(bench_number(f.dsn, EXPIRES), expires);
	solo_close(&f, &b);
}

static void operators_see_what_workers_will_do(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	const struct ing_host_backoff p = resting(30000);
	ing_leases_update(a.l, "a.example", &p);
	fleet_run(&f, 300);
	set_clock_back_a_day(&f);
	struct ing_host_row row = find(&f);
	assert_string_equal(row.holder, "a");
	assert_in_range(row.lease_ms, 30000, 60000);
	assert_in_range(row.rest_ms, 20000, 30000);
	assert_in_range(row.answered_ms, 0, 10000);
	assert_int_equal(row.updated_ms, 0);
	pair_close(&f, &a, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_dead_workers_lease_is_no_longer_than_it_was_meant),
		WITH_SERVER(a_rest_is_no_longer_than_it_was_meant),
		WITH_SERVER(who_holds_a_host_keeps_it),
		WITH_SERVER(extensions_notes_and_takeovers_set_back_what_they_keep),
		WITH_SERVER(a_place_in_the_line_is_lost_as_soon),
		WITH_SERVER(waiting_for_a_row_makes_no_lease_shorter),
		WITH_SERVER(operators_see_what_workers_will_do),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
