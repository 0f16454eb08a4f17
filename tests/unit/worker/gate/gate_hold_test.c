/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate's promises to hosts: pauses, Retry-After, refusals while held, the breaker.
 */
#include "tests/unit/worker/gate/gate_world.h"

static void a_pause_follows_the_end_of_each_transfer(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .backoff.delay_ms = 60}});
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	run_for(10);
	uint64_t end = world_now();
	answer_good(0);
	run_for(59);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	assert_int_equal(visitors[1].granted_ms, end + 60);
	/* A host that is resting is remembered although nobody waits for it. */
	end = world_now();
	answer_good(1);
	enter(2, "https://a.example/");
	run_for(100);
	assert_int_equal(visitors[2].granted_ms, end + 60);
	/* Nothing was asked of the host: the next one may start. */
	leave(2);
	enter(3, "https://a.example/");
	run_for(0);
	assert_int_equal(granted_count, 4);
	close_gate();
}

static void crawl_delay_of_the_ticket_counts(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10,
			.host_concurrency = 1,
			.backoff = {.delay_ms = 500, .crawl_delay_max_ms = 4000}}});
	enter_with(0, "https://a.example/",
		&(struct ing_gate_ticket){.lane = ING_LANE_BULK, .crawl_delay_ms = 3000});
	enter(1, "https://a.example/");
	run_for(0);
	assert_int_equal(order[0], 1);
	answer_good(1);
	run_for(2999);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	struct ing_gate_host_view v;
	answer_good(0);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.backoff.rest, ING_REST_CRAWL_DELAY);
	assert_int_equal(v.rest_ms, 3000);
	/* Who comes for robots.txt itself knows nothing; who has read it may end it. */
	enter(2, "https://a.example/robots.txt");
	run_for(3000);
	answer_good(2);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.rest_ms, 3000);
	enter_with(3, "https://a.example/",
		&(struct ing_gate_ticket){.lane = ING_LANE_BULK, .robots_known = true});
	run_for(3000);
	answer_good(3);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.backoff.rest, ING_REST_DELAY);
	assert_int_equal(v.rest_ms, 500);
	close_gate();
}

static void retry_after_holds_the_whole_host(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_gate(&patient);
	for (int i = 0; i < 4; i++)
		enter(i, "https://a.example/");
	enter(4, "https://b.example/");
	run_for(0);
	assert_int_equal(granted_count, 3); /* two of a, one of b */
	uint64_t end = world_now();
	answer_throttled(0, 120);
	assert_true(ing_gate_explain(gate, "www.a.example", &v));
	assert_int_equal(v.need, ING_NEED_REST);
	assert_int_equal(v.backoff.rest, ING_REST_RETRY_AFTER);
	assert_int_equal(v.rest_ms, 120000);
	run_for(1000);
	answer_good(1); /* the other slot's good answer does not lift it */
	answer_good(4);
	run_for(118999);
	assert_int_equal(granted_count, 3);
	run_for(1);
	assert_int_equal(granted_count, 5);
	assert_int_equal(visitors[2].granted_ms, end + 120000);
	struct ing_gate_stats s;
	ing_gate_stats(gate, &s);
	assert_int_equal(s.holds, 1);
	close_gate();
}

static void whoever_drew_the_429_goes_first_after_it(void **state)
{
	(void)state;
	struct ing_gate_conf conf = patient;
	conf.settings.host_concurrency = 1;
	open_gate(&conf);
	for (int i = 0; i < 4; i++)
		enter(i, "https://a.example/");
	run_for(0);
	answer_throttled(0, 60);
	enter_with(0, "https://a.example/",
		&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS, .again = true});
	run_for(60000);
	assert_int_equal(order[1], 0);
	close_gate();
}

static void a_host_rests_after_a_cancelled_transfer_as_after_an_answer_that_took_as_long(
	void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10,
			.host_concurrency = 1,
			.backoff = {
				.delay_ms = 100, .adaptive_factor = 2, .adaptive_max_ms = 30000}}});
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	run_for(3000);
	ing_gate_leave(gate, &visitors[0].waiter, &ing_gate_cancelled);
	run_for(5999);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	close_gate();
}

static void who_has_waited_too_long_is_told_when_it_may_be_his_turn(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10,
			.host_concurrency = 1,
			.max_wait_ms = 1000,
			.backoff = {
				.delay_ms = 2000, .backoff_ms = 500, .backoff_max_ms = 60000}}});
	for (int i = 0; i < 6; i++)
		enter(i, "https://a.example/");
	run_for(1000);
	assert_int_equal(refused_count, 5);
	assert_int_equal(visitors[1].reason, ING_GATE_WAITED);
	assert_int_equal(visitors[1].retry_after_s, 10); /* five of them, two seconds each */
	assert_int_equal(visitors[5].retry_after_s, 2);
	close_gate();
}

static void a_hold_longer_than_anybody_waits_sends_all_away(void **state)
{
	(void)state;
	open_gate(&patient);
	for (int i = 0; i < 2000; i++)
		enter(i, "https://a.example/");
	enter(2000, "https://b.example/");
	run_for(0);
	answer_throttled(0, 601);
	assert_int_equal(refused_count, 0); /* not from inside */
	run_for(0);
	assert_int_equal(refused_count, 1998);
	for (int i = 2; i < 2000; i++) {
		assert_true(visitors[i].refused);
		assert_int_equal(visitors[i].reason, ING_GATE_HELD);
		assert_int_equal(visitors[i].retry_after_s, 601);
	}
	/* Those who come later as well, in any lane, until the hold is short enough to wait. */
	run_for(500);
	enter_lane(2001, "https://a.example/", ING_LANE_PRIORITY);
	assert_false(visitors[2001].refused);
	run_for(0);
	assert_true(visitors[2001].refused);
	assert_int_equal(visitors[2001].retry_after_s, 601);
	run_for(600);
	enter(2002, "https://a.example/");
	run_for(0);
	assert_false(visitors[2002].refused);
	answer_good(1);
	run_for(599900 - 1);
	assert_int_equal(visitors[2002].granted_ms, 0);
	run_for(1);
	assert_int_equal(visitors[2002].granted_ms, world_now());
	close_gate();
}

/* Those of a host that is only slow may wait for as long as ever. */
static void how_long_a_hold_is_waited_for_has_a_bound_of_its_own(void **state)
{
	/* clang-format off */
	static const struct {
		unsigned max_wait_ms, max_hold_ms, held_s;
		int refused;
	} cases[] = {
		{.max_wait_ms = 600000, .held_s = 600},
		{.max_wait_ms = 600000, .held_s = 601, .refused = 8},
		{.max_wait_ms = 600000, .max_hold_ms = 60000, .held_s = 60},
		{.max_wait_ms = 600000, .max_hold_ms = 60000, .held_s = 61, .refused = 8},
		{.max_wait_ms = 30000, .max_hold_ms = 60000, .held_s = 31, .refused = 8}, /* nobody waits for longer than he may wait at all */
		{.max_hold_ms = 60000, .held_s = 60},
		{.max_hold_ms = 60000, .held_s = 61, .refused = 8},
		{.held_s = 86400},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_gate_conf conf = patient;
		conf.settings.host_concurrency = 1;
		conf.settings.max_wait_ms = cases[i].max_wait_ms;
		conf.settings.max_hold_ms = cases[i].max_hold_ms;
		open_gate(&conf);
		for (int k = 0; k < 9; k++)
			enter(k, "https://a.example/");
		run_for(0);
		answer_throttled(0, cases[i].held_s);
		run_for(0);
		if (refused_count != cases[i].refused)
			fail_msg("case %zu: %d refused", i, refused_count);
		close_gate();
	}
}

static void who_may_wait_for_ever_is_not_sent_away(void **state)
{
	(void)state;
	struct ing_gate_conf conf = patient;
	conf.settings.max_wait_ms = 0;
	open_gate(&conf);
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	enter(2, "https://a.example/");
	run_for(0);
	answer_throttled(0, 86400);
	answer_good(1);
	run_for(86399999);
	assert_int_equal(refused_count, 0);
	assert_int_equal(granted_count, 2);
	run_for(1);
	assert_int_equal(granted_count, 3);
	close_gate();
}

static void an_open_breaker_is_tried_by_one(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	struct ing_gate_stats s;
	open_gate(&patient);
	for (int i = 0; i < 40; i++)
		enter(i, "https://a.example/");
	for (int i = 0; i < 3; i++) {
		run_for(100);
		answer_failed(order[i]);
	}
	ing_gate_stats(gate, &s);
	assert_int_equal(s.breakers_open, 1);
	assert_int_equal(s.breaker_opens, 1);
	assert_int_equal(s.hosts_held, 1);
	while (gate_stats().holding > 0)
		leave(order[granted_count - 1]);
	int before = granted_count;
	run_for(5000);
	assert_int_equal(granted_count, before + 1);
	assert_true(ing_gate_explain(gate, "https://a.example/x", &v));
	assert_int_equal(v.backoff.breaker, ING_BREAKER_HALF_OPEN);
	assert_int_equal(v.slots, 1);
	assert_int_equal(v.need, ING_NEED_SLOT);
	run_for(10000); /* no other is let in while the trial lasts */
	assert_int_equal(granted_count, before + 1);
	/* The trial was not made: another is. */
	leave(order[before]);
	run_for(0);
	assert_int_equal(granted_count, before + 2);
	answer_failed(order[before + 1]);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.backoff.breaker, ING_BREAKER_OPEN);
	assert_in_range(v.rest_ms, 7500, 10000);
	run_for(10000);
	assert_int_equal(granted_count, before + 3);
	answer_good(order[before + 2]);
	run_for(100);
	assert_int_equal(granted_count, before + 5); /* both slots */
	ing_gate_stats(gate, &s);
	assert_int_equal(s.breakers_open, 0);
	assert_int_equal(s.breaker_opens, 2);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_follows_the_end_of_each_transfer),
		cmocka_unit_test(crawl_delay_of_the_ticket_counts),
		cmocka_unit_test(retry_after_holds_the_whole_host),
		cmocka_unit_test(whoever_drew_the_429_goes_first_after_it),
		cmocka_unit_test(
			a_host_rests_after_a_cancelled_transfer_as_after_an_answer_that_took_as_long),
		cmocka_unit_test(who_has_waited_too_long_is_told_when_it_may_be_his_turn),
		cmocka_unit_test(a_hold_longer_than_anybody_waits_sends_all_away),
		cmocka_unit_test(how_long_a_hold_is_waited_for_has_a_bound_of_its_own),
		cmocka_unit_test(who_may_wait_for_ever_is_not_sent_away),
		cmocka_unit_test(an_open_breaker_is_tried_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
