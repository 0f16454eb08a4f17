/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate as a user of leases: no transfer without one, when it is asked for, noted and given
 * back. The database's side is a stand-in (gate_world.c) that checks the order of calls.
 */
#include "tests/unit/worker/gate/gate_world.h"

#define TRANSFER_MS 30000
#define LEASE_MS 90000

static void open_fleet(unsigned host_concurrency)
{
	struct ing_leases *leases = world_leases();
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 100,
						  .host_concurrency = host_concurrency,
						  .max_wait_ms = 600000,
						  .backoff = {.delay_ms = 500,
							  .retry_after_max_ms = 86400000,
							  .backoff_ms = 5000,
							  .backoff_max_ms = 3600000,
							  .breaker_failures = 2,
							  .crawl_delay_max_ms = 60000}},
		.transfer_ms = TRANSFER_MS,
		.leases = leases});
}

/* So many visitors want a.example, and the lease has been asked for. */
static void open_queue(unsigned host_concurrency, int count)
{
	open_fleet(host_concurrency);
	for (int i = 0; i < count; i++)
		enter(i, "https://a.example/");
	run_for(0);
	assert_int_equal(granted_count, 0);
	assert_int_equal(world_lease("a.example")->asks, 1);
}

/* The lease is granted, too, and the first transfers have begun. */
static struct world_lease *open_leased(unsigned host_concurrency, int count)
{
	open_queue(host_concurrency, count);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	assert_int_equal(granted_count, ING_MIN(count, (int)host_concurrency));
	return world_lease("a.example");
}

static void no_transfer_without_a_lease(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_fleet(1);
	enter(0, "https://www.a.example/");
	enter(1, "https://a.example/");
	run_for(1000);
	assert_int_equal(granted_count, 0);
	assert_int_equal(world_lease("a.example")->asks, 1);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.need, ING_NEED_LEASE);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	assert_int_equal(granted_count, 0); /* not from inside */
	run_for(0);
	assert_int_equal(granted_count, 1);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_true(v.leased);
	assert_int_equal(v.lease_ms, LEASE_MS);
	close_gate(); /* gives it back: checked there */
}

static void who_is_refused_asks_again_when_told(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_queue(1, 1);
	world_lease_event("a.example", ING_LEASE_HELD, 3000, NULL);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_string_equal(v.holder, "another");
	assert_int_equal(v.need, ING_NEED_LEASE);
	run_for(2999);
	assert_int_equal(world_lease("a.example")->asks, 1);
	run_for(1);
	assert_int_equal(world_lease("a.example")->asks, 2);
	/* Nobody has it, but it must rest: what the fleet knows is taken over. */
	struct ing_host_backoff fleet = {.rest_until_ms = world_now() + 7000,
		.rest = ING_REST_RETRY_AFTER,
		.failures = 1,
		.crawl_delay_ms = 1500};
	world_lease_event("a.example", ING_LEASE_RESTING, 7000, &fleet);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_null(v.holder);
	assert_int_equal(v.rest_ms, 7000);
	assert_int_equal(v.backoff.rest, ING_REST_RETRY_AFTER);
	assert_int_equal(v.backoff.failures, 1);
	run_for(6999);
	assert_int_equal(world_lease("a.example")->asks, 2);
	run_for(1);
	assert_int_equal(world_lease("a.example")->asks, 3);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	assert_int_equal(granted_count, 1);
	/* The Crawl-delay was the fleet's knowledge. */
	answer_good(0);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.rest_ms, 1500);
	close_gate();
}

static void a_lease_granted_ahead_waits_for_the_rest(void **state)
{
	(void)state;
	open_queue(1, 1);
	struct ing_host_backoff fleet = {
		.rest_until_ms = world_now() + 1800, .rest = ING_REST_DELAY};
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, &fleet);
	run_for(1799);
	assert_int_equal(granted_count, 0);
	run_for(1);
	assert_int_equal(granted_count, 1);
	close_gate();
}

static void a_lease_must_outlast_a_transfer(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_queue(1, 1);
	world_lease_event("a.example", ING_LEASE_GRANTED, TRANSFER_MS, NULL);
	run_for(100);
	assert_int_equal(granted_count, 0);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.need, ING_NEED_LEASE);
	world_lease_event("a.example", ING_LEASE_GRANTED, TRANSFER_MS + 1, NULL); /* extended */
	run_for(0);
	assert_int_equal(granted_count, 1);
	/* Good enough when it became ready, too short at its turn. */
	answer_good(0);
	enter(1, "https://a.example/");
	world_lease_event("a.example", ING_LEASE_GRANTED, TRANSFER_MS + 1000, NULL);
	ing_gate_hold(gate, true);
	run_for(1000);
	ing_gate_hold(gate, false);
	run_for(100);
	assert_int_equal(granted_count, 1);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	assert_int_equal(granted_count, 2);
	close_gate();
}

static void a_lost_lease_is_asked_for_anew(void **state)
{
	(void)state;
	open_leased(2, 3);
	assert_int_equal(granted_count, 2);
	world_lease_event("a.example", ING_LEASE_LOST, 0, NULL);
	answer_throttled(0, 5); /* written for the fleet as soon as we hold the lease */
	run_for(4999);
	assert_int_equal(granted_count, 2);
	assert_int_equal(world_lease("a.example")->notes, 0);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	assert_int_equal(granted_count, 2); /* we know better than the fleet: it rests */
	run_for(1);
	assert_int_equal(granted_count, 3);
	close_gate();
}

static void who_is_wanted_gives_back_as_soon_as_it_can(void **state)
{
	(void)state;
	struct world_lease *w = open_leased(1, 3);
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	run_for(10000);
	assert_int_equal(w->returns, 0); /* a transfer is under way */
	answer_good(0);
	assert_int_equal(w->returns, 1);
	assert_int_equal(w->said.rest_until_ms, world_now() + 500); /* the pause goes with it */
	run_for(1999);
	assert_int_equal(w->asks, 1); /* we stand aside */
	run_for(1);
	assert_int_equal(w->asks, 2);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	assert_int_equal(granted_count, 2);
	close_gate();
}

static void who_is_wanted_has_a_turn_of_some_seconds(void **state)
{
	(void)state;
	struct world_lease *w = open_leased(1, 4);
	answer_good(0);
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	run_for(500);
	assert_int_equal(granted_count, 2);
	answer_good(1);
	run_for(500);
	answer_good(2);
	assert_int_equal(w->returns, 0);
	run_for(500);
	assert_int_equal(granted_count, 4);
	answer_good(3);
	assert_int_equal(w->returns, 1); /* nobody queues any more */
	close_gate();
}

static void who_cannot_use_its_turn_gives_it_up(void **state)
{
	(void)state;
	open_queue(1, 1);
	ing_gate_hold(gate, true);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(1000);
	struct world_lease *w = world_lease("a.example");
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	run_for(500);
	assert_int_equal(w->returns, 0); /* that may be over in a moment */
	ing_gate_hold(gate, false);
	ing_gate_hold(gate, true);
	run_for(8499);
	assert_int_equal(w->returns, 0);
	run_for(1); /* the end of the turn */
	assert_int_equal(w->returns, 1);
	run_for(2000);
	assert_int_equal(w->asks, 2);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(1000);
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	assert_int_equal(w->returns, 2); /* another turn would be as useless */
	assert_int_equal(granted_count, 0);
	close_gate();
}

static void a_turn_ends_between_two_transfers_too(void **state)
{
	(void)state;
	open_queue(1, 2);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(9800);
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	answer_good(0);
	struct world_lease *w = world_lease("a.example");
	assert_int_equal(w->returns, 0);
	run_for(200);
	assert_int_equal(w->returns, 1); /* before the pause was over */
	assert_int_equal(granted_count, 1);
	close_gate();
}

static void a_wanted_host_starts_nothing_new_after_its_turn(void **state)
{
	(void)state;
	open_leased(2, 4);
	assert_int_equal(granted_count, 2);
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	run_for(10000);
	answer_good(0);
	run_for(1000);
	assert_int_equal(granted_count, 2);
	assert_int_equal(world_lease("a.example")->returns, 0);
	answer_good(1);
	assert_int_equal(world_lease("a.example")->returns, 1);
	close_gate();
}

static void an_idle_lease_goes_back_after_a_while(void **state)
{
	(void)state;
	struct world_lease *w = open_leased(1, 1);
	answer_good(0);
	run_for(2999);
	assert_int_equal(w->returns, 0);
	enter(1, "https://a.example/"); /* the next hop: no question to the database */
	run_for(0);
	assert_int_equal(granted_count, 2);
	answer_good(1);
	/* A delayed waiter does not keep it. */
	enter_with(2, "https://a.example/",
		&(struct ing_gate_ticket){.lane = ING_LANE_BULK, .delay_ms = 60000});
	run_for(2999);
	assert_int_equal(w->returns, 0);
	run_for(1);
	assert_int_equal(w->returns, 1);
	assert_int_equal(w->asks, 1);
	run_for(60000);
	assert_int_equal(w->asks, 2);
	/* Whoever leaves while it is being asked for takes the question back. */
	leave(2);
	assert_int_equal(w->forgets, 1);
	close_gate();
}

static void a_hold_is_told_at_once_and_before_it_is_given_back(void **state)
{
	(void)state;
	struct world_lease *w = open_leased(1, 2);
	answer_throttled(0, 8); /* short: the host stays ours */
	assert_int_equal(w->notes, 1);
	assert_int_equal(w->returns, 0);
	assert_int_equal(w->said.rest, ING_REST_RETRY_AFTER);
	run_for(8000);
	assert_int_equal(granted_count, 2);
	answer_throttled(1, 60); /* long: it goes back, but a return need not be on disk */
	assert_int_equal(w->notes, 2);
	assert_int_equal(w->returns, 1);
	assert_int_equal(w->said.rest_until_ms, world_now() + 60000);
	assert_int_equal(w->said.breaker, ING_BREAKER_OPEN);
	enter(2, "https://a.example/");
	run_for(59999);
	assert_int_equal(w->asks, 1);
	run_for(1);
	assert_int_equal(w->asks, 2);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	/* A breaker that closes is written, too. */
	answer_good(2);
	assert_int_equal(w->notes, 3);
	assert_int_equal(w->said.breaker, ING_BREAKER_CLOSED);
	close_gate();
}

static void a_hold_with_transfers_under_way_is_told_first_and_given_back_later(void **state)
{
	(void)state;
	struct world_lease *w = open_leased(2, 2);
	answer_throttled(0, 60);
	assert_int_equal(w->notes, 1);
	assert_int_equal(w->returns, 0);
	run_for(1000);
	answer_good(1);
	assert_int_equal(w->returns, 1);
	close_gate();
}

static void the_fleets_breaker_counts_here(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_queue(4, 4);
	struct ing_host_backoff fleet = {.breaker = ING_BREAKER_OPEN,
		.failures = 9,
		.opens = 2,
		.answered_ms = world_now() - ING_HOST_BACKOFF_EXPIRE_MS + 1};
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, &fleet);
	run_for(1000);
	assert_int_equal(granted_count, 1);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.backoff.breaker, ING_BREAKER_HALF_OPEN);
	close_gate();
}

static void failures_that_the_fleet_met_long_ago_do_not_count(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_queue(4, 4);
	struct ing_host_backoff fleet = {.breaker = ING_BREAKER_OPEN,
		.failures = 9,
		.opens = 2,
		.crawl_delay_ms = 7000,
		.answered_ms = world_now() - ING_HOST_BACKOFF_EXPIRE_MS};
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, &fleet);
	run_for(1000);
	assert_int_equal(granted_count, 4);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.backoff.breaker, ING_BREAKER_CLOSED);
	assert_int_equal(v.backoff.failures, 0);
	assert_int_equal(v.backoff.crawl_delay_ms, 7000);
	close_gate();
}

static void without_the_database_nothing_starts_and_no_waiting_time_passes(void **state)
{
	(void)state;
	open_fleet(1);
	enter(0, "https://a.example/");
	enter(1, "https://b.example/");
	run_for(0);
	world_lease_event("a.example", ING_LEASE_GRANTED, 3600000, NULL);
	world_lease_event("b.example", ING_LEASE_GRANTED, 3600000, NULL);
	world_leases_away(true);
	assert_true(ing_gate_blocked(gate));
	run_for(1000000);
	assert_int_equal(granted_count, 0);
	assert_int_equal(refused_count, 0);
	ing_gate_hold(gate, true);
	world_leases_away(false);
	assert_false(ing_gate_blocked(gate));
	run_for(1000000);
	assert_int_equal(granted_count, 0);
	assert_int_equal(refused_count, 0);
	ing_gate_hold(gate, false);
	run_for(0);
	assert_int_equal(granted_count, 2);
	close_gate();
}

static void news_of_hosts_nobody_knows_does_no_harm(void **state)
{
	(void)state;
	open_queue(1, 1);
	leave(0);
	/* Overtaken by our change of mind. */
	world_lease_event("a.example", ING_LEASE_HELD, 100, NULL);
	world_lease_event("a.example", ING_LEASE_WANTED, 0, NULL);
	world_lease_event("a.example", ING_LEASE_LOST, 0, NULL);
	world_lease_event("stranger.example", ING_LEASE_HELD, 100, NULL);
	world_lease_event("stranger.example", ING_LEASE_LOST, 0, NULL);
	run_for(1000);
	struct ing_gate_stats s;
	ing_gate_stats(gate, &s);
	assert_int_equal(s.leases, 0);
	close_gate();
}

static void by_address_the_lease_is_the_addresss(void **state)
{
	(void)state;
	static const struct world_name names[] = {
		{"a.example", "192.0.2.1"}, {"b.example", "192.0.2.1"}};
	struct ing_leases *leases = world_leases();
	lookups = (struct world_lookups){.names = names, .count = 2, .delay_ms = 10};
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .key = ING_KEY_ADDRESS},
		.transfer_ms = TRANSFER_MS,
		.lookup = world_lookup_ops(),
		.leases = leases});
	world_grant_ms = LEASE_MS;
	enter(0, "https://a.example/");
	enter(1, "https://b.example/");
	enter(2, "https://nowhere.example/");
	run_for(100);
	assert_int_equal(granted_count, 2);
	assert_int_equal(world_lease("a.example")->asks, 0);
	assert_int_equal(world_lease("192.0.2.1")->asks, 1);
	assert_int_equal(world_lease("nowhere.example")->asks, 1);
	/* The name finds its address: its own lease goes back. */
	answer_good(2);
	static const struct world_name found[] = {{"nowhere.example", "192.0.2.7"}};
	lookups.names = found;
	lookups.count = 1;
	for (int i = 0; i < 70; i++) {
		enter(2, "https://nowhere.example/");
		run_for(1000);
		answer_good(2);
	}
	assert_int_equal(world_lease("nowhere.example")->returns, 1);
	assert_int_equal(world_lease("192.0.2.7")->asks, 1);
	close_gate();
}

static void a_crawl_delay_is_told_at_once(void **state)
{
	(void)state;
	open_fleet(1);
	enter(0, "https://a.example/robots.txt");
	run_for(0);
	world_lease_event("a.example", ING_LEASE_GRANTED, LEASE_MS, NULL);
	run_for(0);
	answer_good(0);
	struct world_lease *w = world_lease("a.example");
	unsigned notes = w->notes;
	enter_with(1, "https://a.example/", &(struct ing_gate_ticket){.crawl_delay_ms = 4000});
	assert_int_equal(w->notes, notes + 1);
	assert_int_equal(w->said.crawl_delay_ms, 4000);
	enter_with(2, "https://a.example/", &(struct ing_gate_ticket){.crawl_delay_ms = 4000});
	assert_int_equal(w->notes, notes + 1);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_transfer_without_a_lease),
		cmocka_unit_test(who_is_refused_asks_again_when_told),
		cmocka_unit_test(a_lease_granted_ahead_waits_for_the_rest),
		cmocka_unit_test(a_lease_must_outlast_a_transfer),
		cmocka_unit_test(a_lost_lease_is_asked_for_anew),
		cmocka_unit_test(who_is_wanted_gives_back_as_soon_as_it_can),
		cmocka_unit_test(who_is_wanted_has_a_turn_of_some_seconds),
		cmocka_unit_test(who_cannot_use_its_turn_gives_it_up),
		cmocka_unit_test(a_turn_ends_between_two_transfers_too),
		cmocka_unit_test(a_wanted_host_starts_nothing_new_after_its_turn),
		cmocka_unit_test(an_idle_lease_goes_back_after_a_while),
		cmocka_unit_test(a_hold_is_told_at_once_and_before_it_is_given_back),
		cmocka_unit_test(
			a_hold_with_transfers_under_way_is_told_first_and_given_back_later),
		cmocka_unit_test(the_fleets_breaker_counts_here),
		cmocka_unit_test(failures_that_the_fleet_met_long_ago_do_not_count),
		cmocka_unit_test(without_the_database_nothing_starts_and_no_waiting_time_passes),
		cmocka_unit_test(news_of_hosts_nobody_knows_does_no_harm),
		cmocka_unit_test(a_crawl_delay_is_told_at_once),
		cmocka_unit_test(by_address_the_lease_is_the_addresss),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
