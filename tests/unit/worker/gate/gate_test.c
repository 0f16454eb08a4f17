/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate's promises to those who wait: ceilings, turns, lanes, pauses, holds, refusals. Addresses
 * and leases are in gate_address_test.c and gate_fleet_test.c.
 */
#include "tests/unit/worker/gate/gate_world.h"

static void one_transfer_per_host_whatever_its_spelling(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10, .host_concurrency = 1});
	enter(0, "https://www.Example.org/a");
	enter(1, "http://example.org.:8080/b");
	enter(2, "https://other.example/");
	run_for(20);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 2);
	leave(0);
	run_for(20);
	assert_int_equal(granted_count, 3);
	assert_int_equal(order[2], 1);
	close_gate();
}

static void nothing_is_granted_from_inside_enter(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 1});
	enter(0, "https://a.example/");
	assert_int_equal(granted_count, 0);
	close_gate();
}

static void the_ceiling_holds_over_all_hosts(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 3, .host_concurrency = 1});
	for (int i = 0; i < 10; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://h%d.example/", i);
		enter(i, url);
	}
	run_for(20);
	assert_int_equal(granted_count, 3);
	assert_int_equal(ing_gate_holding(gate), 3);
	assert_int_equal(ing_gate_waiting(gate), 7);
	leave(1);
	run_for(20);
	assert_int_equal(granted_count, 4);
	close_gate();
}

static void hosts_take_turns(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 5});
	for (int i = 0; i < 4; i++)
		enter(i, "https://busy.example/");
	enter(4, "https://quiet.example/");
	for (int i = 0; i < 5; i++) {
		run_for(5);
		assert_int_equal(granted_count, i + 1);
		leave(order[i]);
	}
	/* busy, quiet, then busy's rest: the one request of the quiet host waits for one transfer,
	 * not for four. */
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 4);
	assert_int_equal(order[2], 1);
	close_gate();
}

/* --- lanes --- */

static void within_a_host_the_higher_lane_goes_first(void **state)
{
	(void)state;
	static const struct {
		enum ing_lane lane;
		bool again;
	} comers[] = {
		{ING_LANE_BULK, false},
		{ING_LANE_DAILY, false},
		{ING_LANE_BULK, true},
		{ING_LANE_REQUESTS, false},
		{ING_LANE_PRIORITY, false},
		{ING_LANE_REQUESTS, true},
		{ING_LANE_BULK, true},
		{ING_LANE_PRIORITY, true},
		{ING_LANE_REQUESTS, false},
	};
	static const int want[] = {7, 4, 5, 3, 8, 1, 2, 6, 0};
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 1});
	for (int i = 0; i < (int)ING_ARRAY_LEN(comers); i++)
		enter_with(i, "https://a.example/",
			&(struct ing_gate_ticket){
				.lane = comers[i].lane, .again = comers[i].again});
	for (int i = 0; i < (int)ING_ARRAY_LEN(want); i++) {
		run_for(1);
		assert_int_equal(order[i], want[i]);
		answer_good(want[i]);
	}
	close_gate();
}

static void a_full_bulk_lane_delays_priority_by_one_transfer(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 8, .host_concurrency = 1, .patience.delay_ms = 500});
	for (int i = 0; i < 1000; i++)
		enter_lane(i, "https://a.example/", ING_LANE_BULK);
	run_for(10);
	assert_int_equal(granted_count, 1);
	enter_lane(1000, "https://a.example/", ING_LANE_PRIORITY);
	run_for(10);
	assert_int_equal(granted_count, 1);
	answer_good(0);
	run_for(500);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 1000);
	close_gate();
}

static void enter_many_hosts(int first, int count, const char *prefix, enum ing_lane lane)
{
	for (int i = 0; i < count; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://%s%d.example/", prefix, i);
		enter_lane(first + i, url, lane);
	}
}

static void among_hosts_priority_goes_first(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 1});
	enter_many_hosts(0, 50, "b", ING_LANE_BULK);
	enter_many_hosts(50, 5, "p", ING_LANE_PRIORITY);
	for (int i = 0; i < 5; i++) {
		run_for(1);
		assert_in_range(order[i], 50, 54);
		answer_good(order[i]);
	}
	run_for(1);
	assert_int_equal(order[5], 0);
	close_gate();
}

static unsigned count_between(int from, int to, int first, int last)
{
	unsigned n = 0;
	for (int i = from; i < to; i++)
		n += order[i] >= first && order[i] <= last;
	return n;
}

static void the_other_lanes_share_by_weight(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 1, .host_concurrency = 1, .weights = {1, 6, 3, 1}});
	enter_many_hosts(0, 400, "r", ING_LANE_REQUESTS);
	enter_many_hosts(400, 400, "d", ING_LANE_DAILY);
	enter_many_hosts(800, 400, "b", ING_LANE_BULK);
	for (int i = 0; i < 500; i++) {
		run_for(1);
		answer_good(order[i]);
	}
	for (int i = 0; i < 500; i += 10) /* in any stretch, not only in the end */
		assert_in_range(count_between(i, i + 10, 0, 399), 5, 6);
	assert_in_range(count_between(0, 500, 0, 399), 299, 301);
	assert_in_range(count_between(0, 500, 400, 799), 149, 151);
	assert_in_range(count_between(0, 500, 800, 1199), 49, 51);
	/* Without the plain lane the two others have all turns. */
	for (int i = 0; i < 400; i++)
		leave(i);
	int from = granted_count;
	for (int i = from; i < from + 200; i++) {
		run_for(1);
		answer_good(order[i]);
	}
	assert_in_range(count_between(from, from + 200, 400, 799), 149, 151);
	assert_in_range(count_between(from, from + 200, 800, 1199), 49, 51);
	close_gate();
}

static void a_sixteenth_is_for_priority_alone(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 32, .host_concurrency = 1});
	enter_many_hosts(0, 60, "r", ING_LANE_REQUESTS);
	run_for(10);
	assert_int_equal(granted_count, 30);
	enter_many_hosts(100, 5, "p", ING_LANE_PRIORITY);
	run_for(10);
	assert_int_equal(granted_count, 32);
	assert_int_equal(count_between(30, 32, 100, 104), 2);
	answer_good(order[0]); /* goes to the next of the priority lane */
	run_for(10);
	assert_int_equal(granted_count, 33);
	assert_int_equal(order[32], 102);
	close_gate();
	/* Too few to share: all are everybody's. */
	open_gate(&(struct ing_gate_conf){.concurrency = 15, .host_concurrency = 1});
	enter_many_hosts(0, 60, "r", ING_LANE_REQUESTS);
	run_for(10);
	assert_int_equal(granted_count, 15);
	close_gate();
}

static void a_host_rises_with_its_best_waiter_and_sinks_again(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 1});
	enter(0, "https://first.example/");
	run_for(1);
	enter_lane(1, "https://low.example/", ING_LANE_BULK);
	enter(2, "https://plain.example/");
	enter_lane(3, "https://low.example/", ING_LANE_PRIORITY);
	leave(0);
	run_for(1);
	assert_int_equal(order[1], 3);
	enter_lane(4, "https://low.example/", ING_LANE_PRIORITY);
	leave(4);
	leave(3);
	run_for(1);
	assert_int_equal(granted_count, 3);
	leave(order[2]);
	run_for(1);
	assert_int_equal(granted_count, 4);
	assert_int_equal(order[2] + order[3], 1 + 2);
	close_gate();
}

/* --- pauses --- */

static void a_pause_follows_the_end_of_each_transfer(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .patience.delay_ms = 60});
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
	open_gate(&(struct ing_gate_conf){.concurrency = 10,
		.host_concurrency = 1,
		.patience = {.delay_ms = 500, .crawl_delay_max_ms = 4000}});
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
	assert_int_equal(v.patience.rest, ING_REST_CRAWL_DELAY);
	assert_int_equal(v.rest_ms, 3000);
	close_gate();
}

static const struct ing_gate_conf patient = {
	.concurrency = 10,
	.host_concurrency = 2,
	.max_wait_ms = 600000,
	.patience = {.delay_ms = 100,
		.retry_after_max_ms = 86400000,
		.backoff_ms = 5000,
		.backoff_max_ms = 3600000,
		.breaker_failures = 3},
};

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
	assert_int_equal(v.patience.rest, ING_REST_RETRY_AFTER);
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
	conf.host_concurrency = 1;
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
		assert_int_equal(visitors[i].why, ING_GATE_HELD);
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

static void who_may_wait_for_ever_is_not_sent_away(void **state)
{
	(void)state;
	struct ing_gate_conf conf = patient;
	conf.max_wait_ms = 0;
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
	while (ing_gate_holding(gate) > 0)
		leave(order[granted_count - 1]);
	int before = granted_count;
	run_for(5000);
	assert_int_equal(granted_count, before + 1);
	assert_true(ing_gate_explain(gate, "https://a.example/x", &v));
	assert_int_equal(v.patience.breaker, ING_BREAKER_HALF_OPEN);
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
	assert_int_equal(v.patience.breaker, ING_BREAKER_OPEN);
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

/* --- how long anybody waits --- */

static void patience_ends(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 40});
	enter(0, "https://a.example/");
	run_for(5);
	enter(1, "https://a.example/");
	run_for(39);
	assert_int_equal(refused_count, 0);
	run_for(1);
	assert_int_equal(refused_count, 1);
	assert_int_equal(visitors[1].why, ING_GATE_WAITED);
	assert_int_equal(visitors[1].retry_after_s, 1);
	assert_int_equal(ing_gate_waiting(gate), 0);
	/* Whoever holds a slot is not touched. */
	assert_int_equal(ing_gate_holding(gate), 1);
	close_gate();
}

static void who_waited_in_vain_is_told_when_to_come_back(void **state)
{
	(void)state;
	open_gate(&patient);
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	enter(2, "https://a.example/");
	run_for(400000);
	answer_throttled(0, 590); /* less than anybody waits, more than these have left */
	run_for(200000);
	assert_int_equal(refused_count, 1);
	assert_int_equal(visitors[2].why, ING_GATE_WAITED);
	assert_int_equal(visitors[2].retry_after_s, 390);
	close_gate();
}

static void a_held_gate_admits_nobody(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_gate(&patient);
	ing_gate_hold(gate, true);
	enter(0, "https://a.example/");
	run_for(20);
	assert_int_equal(granted_count, 0);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.need, ING_NEED_GATE);
	ing_gate_hold(gate, false);
	run_for(0);
	assert_int_equal(granted_count, 1);
	close_gate();
}

static void a_held_gate_uses_up_nobodys_patience(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 60});
	enter(0, "https://a.example/");
	run_for(5);
	enter(1, "https://a.example/");
	ing_gate_hold(gate, true);
	run_for(30);
	enter(2, "https://b.example/");
	run_for(90);
	ing_gate_hold(gate, true);
	assert_int_equal(refused_count, 0);
	ing_gate_hold(gate, false);
	run_for(59);
	assert_int_equal(refused_count, 0);
	assert_int_equal(granted_count, 2); /* 0 and 2; 1 waits for 0 */
	run_for(1);
	assert_int_equal(refused_count, 1);
	close_gate();
}

static void who_snoozes_comes_back_no_sooner(void **state)
{
	(void)state;
	static const unsigned delays[] = {1, 15, 16, 17, 1000, 65535, 65536, 65537, 200000};
	open_gate(&(struct ing_gate_conf){.concurrency = 100, .host_concurrency = 100});
	uint64_t start = world_now();
	for (int i = 0; i < (int)ING_ARRAY_LEN(delays); i++)
		enter_with(i, "https://a.example/",
			&(struct ing_gate_ticket){.lane = ING_LANE_BULK, .delay_ms = delays[i]});
	assert_int_equal(ing_gate_waiting(gate), ING_ARRAY_LEN(delays));
	struct ing_gate_host_view v;
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.waiting[ING_LANE_BULK], ING_ARRAY_LEN(delays));
	assert_int_equal(v.need, ING_NEED_NOTHING);
	run_for(300000);
	for (int i = 0; i < (int)ING_ARRAY_LEN(delays); i++)
		assert_in_range(visitors[i].granted_ms - start, delays[i], delays[i] + 16);
	close_gate();
}

static void who_snoozes_delays_nobody_and_loses_patience_too(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 5000});
	enter_with(0, "https://a.example/",
		&(struct ing_gate_ticket){
			.lane = ING_LANE_PRIORITY, .again = true, .delay_ms = 9000});
	enter_with(1, "https://a.example/",
		&(struct ing_gate_ticket){.lane = ING_LANE_PRIORITY, .delay_ms = 4000000000});
	enter(2, "https://a.example/");
	run_for(0);
	assert_int_equal(order[0], 2);
	leave(1);
	run_for(5000);
	assert_int_equal(refused_count, 1);
	assert_true(visitors[0].refused);
	assert_int_equal(ing_gate_waiting(gate), 0);
	close_gate();
}

static void leaving_the_queue_lets_the_others_move_up(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10, .host_concurrency = 1});
	for (int i = 0; i < 3; i++)
		enter(i, "https://a.example/");
	run_for(5);
	leave(1);
	leave(1); /* harmless when out */
	leave(0);
	run_for(5);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 2);
	close_gate();
}

/* What the pipeline does: give the slot back and queue again, from inside a callback or not. */
static void on_granted_goes_round(struct ing_gate_waiter *w)
{
	ing_gate_leave(gate, w, NULL);
	if (++granted_count < 40)
		ing_gate_enter(gate, w, "https://b.example/", &(struct ing_gate_ticket){0});
}

static void on_refused_comes_back(
	struct ing_gate_waiter *w, enum ing_gate_refusal why, unsigned retry_after_s)
{
	(void)why;
	(void)retry_after_s;
	if (++refused_count < 3)
		ing_gate_enter(gate, w, "https://a.example/", &(struct ing_gate_ticket){0});
}

static void callbacks_may_leave_and_enter(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 2, .host_concurrency = 1, .max_wait_ms = 10});
	enter(0, "https://a.example/");
	run_for(5);
	static const struct ing_gate_user comes_back = {
		on_granted_goes_round, on_refused_comes_back};
	visitors[1].waiter.user = &comes_back;
	enter(1, "https://a.example/");
	run_for(60);
	assert_int_equal(refused_count, 3);
	granted_count = 0;
	visitors[2].waiter.user = visitors[3].waiter.user = &comes_back;
	enter(2, "https://b.example/");
	enter(3, "https://c.example/");
	run_for(200);
	assert_int_equal(granted_count, 41);
	assert_int_equal(ing_gate_waiting(gate), 0);
	assert_int_equal(ing_gate_holding(gate), 1);
	close_gate();
}

/* --- what counts as a host, and rules about it --- */

static const struct {
	enum ing_host_key kind;
	const char *url, *key;
} keys[] = {
	{ING_KEY_HOST, "https://www.Example.org/a", "example.org"},
	{ING_KEY_HOST, "http://example.org.:8080/", "example.org"},
	{ING_KEY_HOST, "http://www.www.example.org/", "www.example.org"},
	{ING_KEY_HOST, "http://www./", "www"},
	{ING_KEY_HOST, "http://a.b.example.co.uk/", "a.b.example.co.uk"},
	{ING_KEY_HOST, "http://[2001:DB8::1]/", "[2001:db8::1]"},
	{ING_KEY_HOST, "no url", ""},
	{ING_KEY_HOST, "mailto:someone@example.org", ""},
	{ING_KEY_DOMAIN, "http://a.b.example.co.uk/", "example.co.uk"},
	{ING_KEY_DOMAIN, "http://www.example.org/", "example.org"},
	{ING_KEY_DOMAIN, "http://someone.github.io/", "someone.github.io"},
	{ING_KEY_DOMAIN, "http://www.github.io/", "github.io"},
	{ING_KEY_DOMAIN, "http://192.0.2.1/", "192.0.2.1"},
	{ING_KEY_DOMAIN, "http://localhost/", "localhost"},
	{ING_KEY_ADDRESS, "http://www.example.org/", "example.org"},
};

static void key_of_a_url(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		char key[300] = "?";
		bool is_host = ing_gate_key(keys[i].kind, keys[i].url, key, sizeof(key));
		if (is_host != (keys[i].key[0] != '\0') || strcmp(key, keys[i].key) != 0)
			fail_msg("%s: %s", keys[i].url, key);
	}
	char small[4] = "?";
	assert_false(ing_gate_key(ING_KEY_HOST, "http://example.org/", small, sizeof(small)));
	assert_string_equal(small, "");
}

static void one_transfer_per_registered_domain(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .key = ING_KEY_DOMAIN});
	enter(0, "https://a.example.co.uk/");
	enter(1, "https://b.example.co.uk/");
	enter(2, "https://other.co.uk/");
	run_for(0);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 2);
	close_gate();
}

static struct ing_hostrules slow_rules = {
	.rules = {{.host = "slow.example", .has_delay = true, .delay_ms = 9000},
		{.host = "wide.example", .has_concurrency = true, .concurrency = 4},
		{.host = "sub.domain.example", .has_delay = true, .delay_ms = 5000}},
	.count = 3,
};

static void a_rule_overrides_delay_and_slots(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10,
		.host_concurrency = 1,
		.patience.delay_ms = 100,
		.hostrules = &slow_rules});
	for (int i = 0; i < 6; i++)
		enter(i, "https://www.wide.example/");
	enter(6, "https://slow.example/");
	enter(7, "https://slow.example/");
	run_for(0);
	assert_int_equal(granted_count, 5);
	answer_good(6);
	run_for(8999);
	assert_int_equal(granted_count, 5);
	run_for(1);
	assert_int_equal(granted_count, 6);
	/* Other rules count at once, for those who wait too. */
	static const struct ing_hostrules wider = {
		.rules = {{.host = "wide.example", .has_concurrency = true, .concurrency = 5}},
		.count = 1,
	};
	ing_gate_set_hostrules(gate, &wider);
	run_for(0);
	assert_int_equal(granted_count, 7);
	ing_gate_set_hostrules(gate, NULL);
	answer_good(order[0]);
	answer_good(7);
	run_for(100);
	assert_int_equal(granted_count, 7); /* four hold one slot now: nobody comes in */
	enter(8, "https://slow.example/");
	run_for(0);
	assert_int_equal(granted_count, 8);
	close_gate();
}

static void by_domain_the_strictest_rule_of_a_name_counts(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10,
		.host_concurrency = 1,
		.key = ING_KEY_DOMAIN,
		.patience.delay_ms = 100,
		.hostrules = &slow_rules});
	enter(0, "https://domain.example/");
	enter(1, "https://sub.domain.example/");
	run_for(0);
	answer_good(0);
	run_for(4999);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	close_gate();
}

/* --- memory, and what is remembered --- */

static void a_million_waiters_and_many_hosts_are_small(void **state)
{
	(void)state;
	enum { HOSTS = 20000, WAITERS = 100000 };
	assert_true(sizeof(struct ing_gate_waiter) <= 80);
	struct ing_gate_stats before;
	struct ing_gate_stats after;
	struct ing_gate_waiter *ws = calloc(WAITERS, sizeof(*ws));
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 1});
	ing_gate_stats(gate, &before);
	for (int i = 0; i < WAITERS; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://host-%d.example.org/", i % HOSTS);
		ws[i].user = visitors[0].waiter.user;
		ing_gate_enter(gate, &ws[i], url, &(struct ing_gate_ticket){.lane = ING_LANE_BULK});
	}
	ing_gate_stats(gate, &after);
	assert_int_equal(after.hosts, HOSTS);
	assert_int_equal(after.waiting, WAITERS);
	size_t each = (after.bytes - before.bytes) / HOSTS;
	print_message(
		"a waiting host: %zu bytes, a waiter: %zu\n", each, sizeof(struct ing_gate_waiter));
	assert_in_range(each, 100, 1024);
	for (int i = 0; i < WAITERS; i++)
		ing_gate_leave(gate, &ws[i], NULL);
	ing_gate_stats(gate, &after);
	assert_int_equal(after.hosts, 10000); /* the last ones are remembered, not all */
	assert_true(after.bytes < 10001 * 1024);
	free(ws);
	close_gate();
}

static void failures_are_remembered_until_they_fade(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_gate(&patient);
	enter(0, "https://bad.example/");
	run_for(0);
	answer(0, &(struct ing_gate_report){.kind = ING_ANSWER_FAILED,
			  .http_status = 500,
			  .outcome = "bad-status",
			  .retry_after_s = -1});
	/* Far more hosts than are remembered for nothing go by. */
	for (int i = 0; i < 11000; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://h%d.example/", i);
		enter(1, url);
		leave(1);
	}
	assert_false(ing_gate_explain(gate, "h0.example", &v));
	assert_true(ing_gate_explain(gate, "h10999.example", &v));
	run_for(599000);
	assert_true(ing_gate_explain(gate, "bad.example", &v));
	assert_int_equal(v.patience.failures, 1);
	assert_int_equal(v.patience.http_status, 500);
	assert_string_equal(v.patience.outcome, "bad-status");
	run_for(1100); /* its pause of 100 ms, then ten minutes */
	assert_true(ing_gate_explain(gate, "bad.example", &v));
	assert_int_equal(v.patience.failures, 0);
	struct ing_gate_stats s;
	ing_gate_stats(gate, &s);
	assert_int_equal(s.hosts, 10000);
	assert_int_equal(s.hosts_resting, 0);
	assert_false(ing_gate_explain(gate, "never.seen.example", &v));
	assert_false(ing_gate_explain(gate, "not a host", &v));
	close_gate();
}

static void count_views(void *ctx, const struct ing_gate_host_view *v)
{
	unsigned *counts = ctx;
	counts[v->need]++;
}

static void each_host_says_what_it_waits_for(void **state)
{
	(void)state;
	unsigned counts[ING_NEED_GATE + 1] = {0};
	open_gate(&(struct ing_gate_conf){
		.concurrency = 3, .host_concurrency = 1, .patience.delay_ms = 100});
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	enter(2, "https://b.example/");
	enter(3, "https://c.example/");
	run_for(0);
	enter(4, "https://d.example/");
	enter(5, "https://b.example/");
	answer_good(2);
	enter(6, "https://d.example/");
	ing_gate_each(gate, count_views, counts);
	assert_int_equal(counts[ING_NEED_SLOT], 1);
	assert_int_equal(counts[ING_NEED_REST], 1);
	assert_int_equal(counts[ING_NEED_NOTHING], 1);
	assert_int_equal(counts[ING_NEED_TURN], 1);
	static const char *const names[] = {
		"nothing", "turn", "slot", "rest", "lease", "address", "address-slot", "gate"};
	for (unsigned i = 0; i < ING_ARRAY_LEN(names); i++)
		assert_string_equal(ing_gate_need_name((enum ing_gate_need)i), names[i]);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_transfer_per_host_whatever_its_spelling),
		cmocka_unit_test(nothing_is_granted_from_inside_enter),
		cmocka_unit_test(the_ceiling_holds_over_all_hosts),
		cmocka_unit_test(hosts_take_turns),
		cmocka_unit_test(within_a_host_the_higher_lane_goes_first),
		cmocka_unit_test(a_full_bulk_lane_delays_priority_by_one_transfer),
		cmocka_unit_test(among_hosts_priority_goes_first),
		cmocka_unit_test(the_other_lanes_share_by_weight),
		cmocka_unit_test(a_sixteenth_is_for_priority_alone),
		cmocka_unit_test(a_host_rises_with_its_best_waiter_and_sinks_again),
		cmocka_unit_test(a_pause_follows_the_end_of_each_transfer),
		cmocka_unit_test(crawl_delay_of_the_ticket_counts),
		cmocka_unit_test(retry_after_holds_the_whole_host),
		cmocka_unit_test(whoever_drew_the_429_goes_first_after_it),
		cmocka_unit_test(a_hold_longer_than_anybody_waits_sends_all_away),
		cmocka_unit_test(who_may_wait_for_ever_is_not_sent_away),
		cmocka_unit_test(an_open_breaker_is_tried_by_one),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(who_waited_in_vain_is_told_when_to_come_back),
		cmocka_unit_test(a_held_gate_admits_nobody),
		cmocka_unit_test(a_held_gate_uses_up_nobodys_patience),
		cmocka_unit_test(who_snoozes_comes_back_no_sooner),
		cmocka_unit_test(who_snoozes_delays_nobody_and_loses_patience_too),
		cmocka_unit_test(leaving_the_queue_lets_the_others_move_up),
		cmocka_unit_test(callbacks_may_leave_and_enter),
		cmocka_unit_test(key_of_a_url),
		cmocka_unit_test(one_transfer_per_registered_domain),
		cmocka_unit_test(a_rule_overrides_delay_and_slots),
		cmocka_unit_test(by_domain_the_strictest_rule_of_a_name_counts),
		cmocka_unit_test(a_million_waiters_and_many_hosts_are_small),
		cmocka_unit_test(failures_are_remembered_until_they_fade),
		cmocka_unit_test(each_host_says_what_it_waits_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
