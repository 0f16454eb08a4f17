/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Leases against a real PostgreSQL: who gets a host, when, and what is known of it then.
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
#include "tests/unit/worker/gate/lease_client.h"
#include "tests/unit/worker/store/bench.h"

static void a_host_is_one_workers_at_a_time(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client w[3];
	fleet_open(&f);
	client_open(&f, &w[0], "one");
	client_open(&f, &w[1], "two");
	client_open(&f, &w[2], "three");
	uint64_t before = ing_now_ms();
	const struct client_event *t = client_request(&f, &w[0], "a.example");
	assert_int_equal(t->type, ING_LEASE_GRANTED);
	assert_in_range(t->until_ms, before + 60000, t->at_ms + 60000);
	assert_true(t->has_backoff);
	assert_int_equal(t->backoff.rest_until_ms, 0);
	assert_null(t->backoff.outcome);
	for (int i = 1; i < 3; i++) {
		t = client_request(&f, &w[i], "a.example");
		assert_int_equal(t->type, ING_LEASE_HELD);
		assert_string_equal(t->holder, "one");
		assert_in_range(t->retry_ms, 50, 3000);
	}
	/* Given back, it is for the first who asked; then for anybody. */
	client_release(&f, &w[0], "a.example", resting(0));
	t = client_request(&f, &w[2], "a.example");
	assert_int_equal(t->type, ING_LEASE_HELD);
	assert_string_equal(t->holder, "two");
	assert_int_equal(client_request(&f, &w[1], "a.example")->type, ING_LEASE_GRANTED);
	client_release(&f, &w[1], "a.example", resting(0));
	assert_int_equal(client_request(&f, &w[2], "a.example")->type, ING_LEASE_GRANTED);
	/* Other hosts are other leases. */
	assert_int_equal(client_request(&f, &w[0], "b.example")->type, ING_LEASE_GRANTED);
	for (int i = 0; i < 3; i++)
		client_close(&w[i]);
	fleet_close(&f);
}

/* Three workers contend for a few hosts, acquiring and releasing them as fast as they can. */
enum { CONTENTION_HOSTS = 8, CONTENTION_REST_MS = 30 };
static struct {
	int owner[CONTENTION_HOSTS]; /* 0: nobody */
	uint64_t released_ms[CONTENTION_HOSTS];
	unsigned grants[4];
	bool over;
} contention;

static void contention_event(struct lease_client *w, const struct client_event *t)
{
	int i = t->host[1] - '0';
	if (contention.over || t->type == ING_LEASE_LOST)
		return;
	if (t->type == ING_LEASE_WANTED || t->type == ING_LEASE_HELD ||
		t->type == ING_LEASE_RESTING) {
		if (t->type != ING_LEASE_WANTED)
			ing_leases_request(w->l, t->host);
		return;
	}
	assert_int_equal(contention.owner[i], 0);
	uint64_t may_start = ING_MAX(t->at_ms, t->backoff.rest_until_ms);
	if (contention.released_ms[i] != 0)
		assert_true(may_start >= contention.released_ms[i] + CONTENTION_REST_MS);
	contention.owner[i] = (int)w->id;
	contention.grants[w->id]++;
}

static void contention_tick(struct lease_client *w)
{
	for (int i = 0; i < CONTENTION_HOSTS; i++) {
		char host[] = "h0.example";
		host[1] = (char)('0' + i);
		if (contention.owner[i] != (int)w->id || rand() % 2 == 0)
			continue;
		const struct ing_host_backoff p = resting(CONTENTION_REST_MS);
		contention.owner[i] = 0;
		contention.released_ms[i] = ing_now_ms();
		ing_leases_release(w->l, host, &p);
		ing_leases_request(w->l, host);
	}
}

static void a_quarrel_never_gives_a_host_to_two(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client w[3];
	memset(&contention, 0, sizeof(contention));
	fleet_open(&f);
	for (unsigned k = 0; k < 3; k++) {
		static const char *const names[] = {"one", "two", "three"};
		client_open(&f, &w[k], names[k]);
		w[k].id = k + 1;
		w[k].on_event = contention_event;
		for (int i = 0; i < CONTENTION_HOSTS; i++) {
			char host[] = "h0.example";
			host[1] = (char)('0' + i);
			ing_leases_request(w[k].l, host);
		}
	}
	uint64_t until = ing_now_ms() + 4000;
	while (ing_now_ms() < until) {
		fleet_run(&f, 10);
		for (int k = 0; k < 3; k++)
			contention_tick(&w[k]);
	}
	contention.over = true;
	for (unsigned k = 0; k < 3; k++) {
		assert_in_range(contention.grants[k + 1], 10, 1000000); /* nobody starves */
		client_close(&w[k]);
	}
	assert_int_equal(fleet_held(&f), 0);
	fleet_close(&f);
}

static void what_one_learns_the_next_knows(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	uint64_t now = ing_now_ms();
	const struct ing_host_backoff p = {.rest_until_ms = now + 10000,
		.rest = ING_REST_RETRY_AFTER,
		.breaker = ING_BREAKER_OPEN,
		.failures = 7,
		.opens = 2,
		.crawl_delay_ms = 1234,
		.response_ms = 567,
		.http_status = 429,
		.outcome = "terminal-bad-status",
		.answered_ms = now};
	/* A hold is written at once; who has the host keeps it. */
	ing_leases_update(a.l, "a.example", &p);
	fleet_run(&f, 200);
	const struct client_event *t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_HELD);
	assert_int_equal(t->backoff.rest, ING_REST_RETRY_AFTER);
	client_release(&f, &a, "a.example", p);
	t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_RESTING);
	assert_in_range(t->retry_ms, 6000, 8000);
	assert_in_range(t->backoff.rest_until_ms, p.rest_until_ms, p.rest_until_ms + 1000);
	assert_in_range(t->backoff.answered_ms, p.answered_ms - 1, p.answered_ms + 1000);
	assert_int_equal(t->backoff.rest, ING_REST_RETRY_AFTER);
	assert_int_equal(t->backoff.breaker, ING_BREAKER_OPEN);
	assert_int_equal(t->backoff.failures, 7);
	assert_int_equal(t->backoff.opens, 2);
	assert_int_equal(t->backoff.crawl_delay_ms, 1234);
	assert_int_equal(t->backoff.response_ms, 567);
	assert_int_equal(t->backoff.http_status, 429);
	assert_string_equal(t->backoff.outcome, "terminal-bad-status");
	/* Also for who comes later, and for the one who had it. */
	t = client_request(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_RESTING);
	pair_close(&f, &a, &b);
}

static void a_rest_that_ends_soon_is_granted_with(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	const struct ing_host_backoff p = resting(1500);
	client_release(&f, &a, "a.example", p);
	const struct client_event *t = client_request(&f, &b, "a.example");
	assert_int_equal(t->type, ING_LEASE_GRANTED);
	assert_in_range(t->backoff.rest_until_ms, p.rest_until_ms, p.rest_until_ms + 1000);
	assert_int_equal(t->backoff.rest, ING_REST_DELAY);
	/* Long over, it is nothing. */
	client_release(&f, &b, "a.example", (struct ing_host_backoff){0});
	t = client_request(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_GRANTED);
	assert_int_equal(t->backoff.rest, ING_REST_NONE);
	assert_int_equal(t->backoff.rest_until_ms, 0);
	assert_int_equal(t->backoff.answered_ms, 0);
	assert_null(t->backoff.outcome);
	pair_close(&f, &a, &b);
}

static void who_waits_is_told_of_and_served_first(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	uint64_t asked = ing_now_ms();
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	const struct client_event *t = client_wait(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_WANTED);
	assert_false(t->has_backoff);
	assert_in_range(t->at_ms - asked, 0, 3000);
	fleet_run(&f, 1500);
	assert_int_equal(client_unread(&a), 0); /* once is enough */
	const struct ing_host_backoff p = resting(100);
	ing_leases_release(a.l, "a.example", &p);
	t = client_request(&f, &a, "a.example");
	assert_int_equal(t->type, ING_LEASE_HELD);
	assert_string_equal(t->holder, "b");
	assert_int_equal(client_acquire(&f, &b, "a.example")->type, ING_LEASE_GRANTED);
	assert_int_equal(client_request(&f, &a, "a.example")->type, ING_LEASE_HELD);
	assert_int_equal(client_wait(&f, &b, "a.example")->type, ING_LEASE_WANTED);
	ing_leases_release(b.l, "a.example", &p);
	assert_int_equal(client_acquire(&f, &a, "a.example")->type, ING_LEASE_GRANTED);
	pair_close(&f, &a, &b);
}

static void who_does_not_come_loses_its_place(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	client_request(&f, &a, "a.example");
	assert_int_equal(client_request(&f, &b, "a.example")->type, ING_LEASE_HELD);
	const struct ing_host_backoff p = resting(0);
	uint64_t returned = ing_now_ms();
	assert_int_equal(client_wait(&f, &a, "a.example")->type, ING_LEASE_WANTED);
	ing_leases_release(a.l, "a.example", &p);
	const struct client_event *t = client_acquire(&f, &a, "a.example");
	assert_in_range(t->at_ms - returned, 3000, 12000);
	pair_close(&f, &a, &b);
}

static void ask_all(struct lease_client *w, unsigned count, bool upwards)
{
	for (unsigned i = 0; i < count; i++) {
		char host[32];
		snprintf(host, sizeof(host), "h%04u.example", upwards ? i : count - 1 - i);
		ing_leases_request(w->l, host);
	}
}

static void await_events(struct fleet *f, const struct lease_client *w, size_t count)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (w->event_count < count && ing_now_ms() < until)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_true(w->event_count >= count);
}

/* Releases everything granted since event number `from`; returns how many. */
static unsigned return_all(struct lease_client *w, size_t from)
{
	const struct ing_host_backoff p = resting(0);
	unsigned n = 0;
	for (size_t i = from; i < w->event_count; i++) {
		if (w->events[i].type != ING_LEASE_GRANTED)
			continue;
		ing_leases_release(w->l, w->events[i].host, &p);
		n++;
	}
	return n;
}

static void batches_in_opposite_order_never_deadlock(void **state)
{
	(void)state;
	enum { HOSTS = 1000, TURNS = 6 };
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	pair_open(&f, NULL, &a, &b);
	for (int turn = 0; turn < TURNS; turn++) {
		size_t a_from = a.event_count;
		size_t b_from = b.event_count;
		ask_all(&a, HOSTS, true);
		ask_all(&b, HOSTS, false);
		await_events(&f, &a, a_from + HOSTS);
		await_events(&f, &b, b_from + HOSTS);
		unsigned had = return_all(&a, a_from);
		had += return_all(&b, b_from);
		/* Each host had exactly one holder; in the first turn nothing else could be. */
		if (turn == 0)
			assert_int_equal(had, HOSTS);
		assert_in_range(had, 0, HOSTS);
	}
	fleet_run(&f, 500);
	assert_int_equal(fleet_held(&f), 0);
	assert_int_equal(bench_number(f.dsn, "SELECT deadlocks FROM pg_stat_database"
					     " WHERE datname = current_database()"),
		0);
	pair_close(&f, &a, &b);
}

static void a_hundred_hosts_cost_a_few_statements(void **state)
{
	(void)state;
	enum { HOSTS = 100, TURNS = 50 };
	struct fleet f;
	struct lease_client a;
	struct ing_lease_stats before;
	struct ing_lease_stats after;
	solo_open(&f, NULL, &a);
	ask_all(&a, HOSTS, true);
	await_events(&f, &a, HOSTS);
	return_all(&a, 0);
	ing_leases_stats(a.l, &before);
	for (int turn = 0; turn < TURNS; turn++) {
		size_t from = a.event_count;
		ask_all(&a, HOSTS, turn % 2 == 0); /* with the last turn's returns */
		await_events(&f, &a, from + HOSTS);
		assert_int_equal(return_all(&a, from), HOSTS);
	}
	ing_leases_stats(a.l, &after);
	unsigned rounds = (unsigned)(after.rounds - before.rounds);
	double ms = (double)(after.database_us - before.database_us) / 1000 / TURNS;
	print_message("%.2f ms of waiting for the database per hundred hosts\n", ms);
	assert_in_range(rounds, TURNS, 2 * TURNS + 20);
	assert_int_equal(after.asked - before.asked, HOSTS * TURNS);
	assert_int_equal(after.granted - before.granted, HOSTS * TURNS);
	assert_int_equal(after.returned - before.returned, HOSTS * TURNS);
	assert_true(ms < 500); /* an order of magnitude over a busy machine under a sanitizer */
	solo_close(&f, &a);
}

/* More hosts than a round has are waiting. */
static void a_host_that_is_hurried_is_in_the_next_round(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	char host[64];
	solo_open(&f, &(struct ing_lease_conf){.round_ms = 500}, &a);
	ing_leases_request(a.l, "first.example");
	client_wait(&f, &a, "first.example"); /* the next round is half a second away */
	size_t before = a.event_count;
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(host, sizeof(host), "h%u.example", i);
		ing_leases_request(a.l, host);
	}
	ing_leases_request(a.l, "urgent.example");
	ing_leases_hurry(a.l, "urgent.example");
	ing_leases_hurry(a.l,
		"urgent.example"); /* once more is harmless, and so is one that is not asked for */
	ing_leases_hurry(a.l, "other.example");
	client_wait(&f, &a, "urgent.example");
	assert_true(a.event_count - before <= 1000);
	solo_close(&f, &a);
}

static void nothing_to_say_is_no_round(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct ing_lease_stats stats;
	solo_open(&f, NULL, &a);
	fleet_run(&f, 300);
	ing_leases_stats(a.l, &stats);
	assert_int_equal(stats.rounds, 0);
	solo_close(&f, &a);
}

static void what_is_forgotten_is_not_told(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, NULL, &a);
	/* Before its round. */
	ing_leases_request(a.l, "a.example");
	ing_leases_cancel(a.l, "a.example");
	fleet_run(&f, 100);
	assert_int_equal(a.event_count, 0);
	assert_int_equal(fleet_rows(&f), 0);
	/* While it is under way: the round is with the thread once its count has moved. */
	struct ing_lease_stats stats;
	ing_leases_request(a.l, "a.example");
	do {
		uv_run(&f.loop, UV_RUN_NOWAIT);
		ing_leases_stats(a.l, &stats);
	} while (stats.asked == 0);
	ing_leases_cancel(a.l, "a.example");
	fleet_run(&f, 300);
	assert_int_equal(a.event_count, 0);
	assert_int_equal(fleet_rows(&f), 1);
	assert_int_equal(fleet_held(&f), 0);
	/* Asked anew, it is answered once. */
	ing_leases_request(a.l, "b.example");
	ing_leases_cancel(a.l, "b.example");
	ing_leases_request(a.l, "b.example");
	ing_leases_request(a.l, "b.example");
	fleet_run(&f, 300);
	assert_int_equal(a.event_count, 1);
	/* What was never asked for is nobody's business. */
	const struct ing_host_backoff p = resting(0);
	ing_leases_cancel(a.l, "c.example");
	ing_leases_release(a.l, "c.example", &p);
	ing_leases_update(a.l, "c.example", &p);
	fleet_run(&f, 100);
	assert_int_equal(fleet_rows(&f), 2);
	solo_close(&f, &a);
}

static void leaving_gives_everything_back(void **state)
{
	(void)state;
	enum { HOSTS = 2500 };
	struct fleet f;
	struct lease_client a;
	solo_open(&f, NULL, &a);
	ask_all(&a, HOSTS, true);
	await_events(&f, &a, HOSTS);
	const struct ing_host_backoff p = resting(30000);
	ing_leases_update(a.l, "h0007.example", &p);
	fleet_run(&f, 100);
	assert_int_equal(
		bench_number(f.dsn, "SELECT count(*) FROM host_state WHERE holder = 'a'"), HOSTS);
	ing_leases_request(a.l, "late.example"); /* granted in the last round, or never asked for */
	uint64_t start = ing_now_ms();
	client_close(&a);
	assert_in_range(ing_now_ms() - start, 0, 5000);
	assert_int_equal(fleet_held(&f), 0);
	assert_int_equal(bench_number(f.dsn, "SELECT count(*) FROM host_state WHERE"
					     " next_fetch_at > clock_timestamp() + interval '15 s'"
					     " AND host = 'h0007.example'"),
		1);
	fleet_close(&f);
}

static void what_dns_cannot_name_needs_no_database(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	char longer[280];
	static const char *const others[] = {"", "a b", "\xff.example", "\"\\", "sm\xc3\xb6rg"};
	solo_open(&f, &(struct ing_lease_conf){.lease_ms = 600}, &a);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(client_request(&f, &a, longer)->type, ING_LEASE_GRANTED);
	assert_int_equal(client_wait(&f, &a, longer)->type, ING_LEASE_GRANTED); /* extended */
	const struct ing_host_backoff p = resting(0);
	ing_leases_release(a.l, longer, &p);
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++) {
		assert_int_equal(client_request(&f, &a, others[i])->type, ING_LEASE_GRANTED);
		ing_leases_release(a.l, others[i], &p);
	}
	fleet_run(&f, 100);
	/* Printable it was, however odd. */
	assert_int_equal(fleet_rows(&f), 1);
	assert_int_equal(a.went_away, 0);
	solo_close(&f, &a);
}

static void take_blocks(void *ctx, const struct ing_lease_block *blocks, size_t count)
{
	struct lease_client *w = ctx;
	w->block_calls++;
	w->block_count = count;
	for (size_t i = 0; i < ING_MIN(count, ING_ARRAY_LEN(w->blocks)); i++)
		snprintf(
			w->blocks[i], sizeof(w->blocks[i]), "%s %s", blocks[i].host, blocks[i].why);
}

static void await_blocks(struct fleet *f, const struct lease_client *w, unsigned calls)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (w->block_calls < calls && ing_now_ms() < until)
		uv_run(&f->loop, UV_RUN_ONCE);
	fleet_run(f, 350); /* and no more than those */
	assert_int_equal(w->block_calls, calls);
}

static void blocks_are_told_when_they_change(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	solo_open(&f, NULL, &a);
	ing_leases_on_blocks(a.l, take_blocks, &a);
	await_blocks(&f, &a, 1);
	assert_int_equal(a.block_count, 0);
	bench_sql(f.dsn, "INSERT INTO host_block (host, why) VALUES ('b.example', 'they asked'),"
			 " ('.a.example', 'tr\xc3\xa4ge')");
	await_blocks(&f, &a, 2);
	assert_int_equal(a.block_count, 2);
	assert_string_equal(a.blocks[0], ".a.example tr\xc3\xa4ge");
	assert_string_equal(a.blocks[1], "b.example they asked");
	bench_sql(f.dsn, "UPDATE host_block SET why = 'other', created_at = clock_timestamp()"
			 " WHERE host = 'b.example'");
	await_blocks(&f, &a, 3);
	assert_string_equal(a.blocks[1], "b.example other");
	bench_sql(f.dsn, "DELETE FROM host_block WHERE host = '.a.example'");
	await_blocks(&f, &a, 4);
	assert_int_equal(a.block_count, 1);
	assert_string_equal(a.blocks[0], "b.example other");
	/* A new listener gets them again. */
	ing_leases_on_blocks(a.l, take_blocks, &a);
	await_blocks(&f, &a, 5);
	solo_close(&f, &a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_host_is_one_workers_at_a_time),
		WITH_SERVER(a_quarrel_never_gives_a_host_to_two),
		WITH_SERVER(what_one_learns_the_next_knows),
		WITH_SERVER(a_rest_that_ends_soon_is_granted_with),
		WITH_SERVER(who_waits_is_told_of_and_served_first),
		WITH_SERVER(who_does_not_come_loses_its_place),
		WITH_SERVER(batches_in_opposite_order_never_deadlock),
		WITH_SERVER(a_hundred_hosts_cost_a_few_statements),
		WITH_SERVER(a_host_that_is_hurried_is_in_the_next_round),
		WITH_SERVER(nothing_to_say_is_no_round),
		WITH_SERVER(what_is_forgotten_is_not_told),
		WITH_SERVER(leaving_gives_everything_back),
		WITH_SERVER(what_dns_cannot_name_needs_no_database),
		WITH_SERVER(blocks_are_told_when_they_change),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
