/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate's promises to those who wait: ceilings, turns, lanes, delays, the limit of waiting.
 * Pauses and holds, hosts, addresses and leases have files of their own (gate_*_test.c).
 */
#include "tests/unit/worker/gate/gate_world.h"

static void one_transfer_per_host_whatever_its_spelling(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 10, .host_concurrency = 1}});
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
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
	enter(0, "https://a.example/");
	assert_int_equal(granted_count, 0);
	close_gate();
}

static void the_ceiling_holds_over_all_hosts(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 3, .host_concurrency = 1}});
	for (int i = 0; i < 10; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://h%d.example/", i);
		enter(i, url);
	}
	run_for(20);
	assert_int_equal(granted_count, 3);
	assert_int_equal(gate_stats().holding, 3);
	assert_int_equal(gate_stats().waiting, 7);
	leave(1);
	run_for(20);
	assert_int_equal(granted_count, 4);
	close_gate();
}

static void hosts_take_turns(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 5}});
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
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
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

/* However many of them come, the others get on. */
static void who_goes_ahead_leaves_every_fifth_turn(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
	for (int i = 0; i < 12; i++)
		enter_with(i, "https://a.example/",
			&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS, .again = true});
	for (int i = 12; i < 14; i++)
		enter_with(i, "https://a.example/",
			&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS});
	static const int want[] = {0, 1, 2, 3, 12, 4, 5, 6, 7, 13, 8, 9, 10, 11};
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
		.settings = {.concurrency = 8, .host_concurrency = 1, .backoff.delay_ms = 500}});
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
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
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
		.settings = {.concurrency = 1, .host_concurrency = 1, .weights = {1, 6, 3, 1}}});
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
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 32, .host_concurrency = 1}});
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
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 15, .host_concurrency = 1}});
	enter_many_hosts(0, 60, "r", ING_LANE_REQUESTS);
	run_for(10);
	assert_int_equal(granted_count, 15);
	close_gate();
}

static void a_host_rises_with_its_best_waiter_and_sinks_again(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
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

/* --- how long anybody waits --- */

static void a_wait_ends_at_its_limit(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 40}});
	enter(0, "https://a.example/");
	run_for(5);
	enter(1, "https://a.example/");
	run_for(39);
	assert_int_equal(refused_count, 0);
	run_for(1);
	assert_int_equal(refused_count, 1);
	assert_int_equal(visitors[1].reason, ING_GATE_WAITED);
	assert_int_equal(visitors[1].retry_after_s, 1);
	assert_int_equal(gate_stats().waiting, 0);
	/* Whoever holds a slot is not touched. */
	assert_int_equal(gate_stats().holding, 1);
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
	assert_int_equal(visitors[2].reason, ING_GATE_WAITED);
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

static void a_held_gate_uses_up_nobodys_waiting_time(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 60}});
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

static const char *roomless; /* host */

static bool has_room(void *ctx, const char *key)
{
	(void)ctx;
	return roomless == NULL || strcmp(key, roomless) != 0;
}

static void without_room_a_host_waits_and_the_others_do_not(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 60000},
		.room = {has_room, NULL}});
	roomless = "full.example";
	enter(0, "https://www.full.example/1");
	enter(1, "https://full.example/2");
	enter(2, "https://a.example/");
	run_for(10000);
	assert_int_equal(granted_count, 1);
	assert_int_equal(order[0], 2);
	assert_true(ing_gate_explain(gate, "full.example", &v));
	assert_int_equal(v.need, ING_NEED_ROOM);
	roomless = NULL;
	run_for(ING_GATE_ROOM_MS);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 0); /* in the order of their coming */
	/* Room that is gone between a host's becoming ready and its turn. */
	enter(3, "https://b.example/");
	roomless = "b.example";
	run_for(1000);
	assert_int_equal(granted_count, 2);
	/* It ends as any other wait. */
	run_for(60000);
	assert_int_equal(refused_count, 2);
	assert_int_equal(visitors[3].reason, ING_GATE_WAITED);
	roomless = NULL;
	close_gate();
}

static void a_delayed_waiter_comes_back_no_sooner(void **state)
{
	(void)state;
	static const unsigned delays[] = {1, 15, 16, 17, 1000, 65535, 65536, 65537, 200000};
	open_gate(
		&(struct ing_gate_conf){.settings = {.concurrency = 100, .host_concurrency = 100}});
	uint64_t start = world_now();
	for (int i = 0; i < (int)ING_ARRAY_LEN(delays); i++)
		enter_with(i, "https://a.example/",
			&(struct ing_gate_ticket){.lane = ING_LANE_BULK, .delay_ms = delays[i]});
	assert_int_equal(gate_stats().waiting, ING_ARRAY_LEN(delays));
	struct ing_gate_host_view v;
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.waiting[ING_LANE_BULK], ING_ARRAY_LEN(delays));
	assert_int_equal(v.need, ING_NEED_NOTHING);
	run_for(300000);
	for (int i = 0; i < (int)ING_ARRAY_LEN(delays); i++)
		assert_in_range(visitors[i].granted_ms - start, delays[i], delays[i] + 16);
	close_gate();
}

static void a_delayed_waiter_delays_nobody_and_its_wait_ends_too(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 5000}});
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
	assert_int_equal(gate_stats().waiting, 0);
	close_gate();
}

static void leaving_the_queue_lets_the_others_move_up(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 10, .host_concurrency = 1}});
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
	struct ing_gate_waiter *w, enum ing_gate_refusal reason, unsigned retry_after_s)
{
	(void)reason;
	(void)retry_after_s;
	if (++refused_count < 3)
		ing_gate_enter(gate, w, "https://a.example/", &(struct ing_gate_ticket){0});
}

static void callbacks_may_leave_and_enter(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 2, .host_concurrency = 1, .max_wait_ms = 10}});
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
	assert_int_equal(gate_stats().waiting, 0);
	assert_int_equal(gate_stats().holding, 1);
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
		cmocka_unit_test(who_goes_ahead_leaves_every_fifth_turn),
		cmocka_unit_test(a_full_bulk_lane_delays_priority_by_one_transfer),
		cmocka_unit_test(among_hosts_priority_goes_first),
		cmocka_unit_test(the_other_lanes_share_by_weight),
		cmocka_unit_test(a_sixteenth_is_for_priority_alone),
		cmocka_unit_test(a_host_rises_with_its_best_waiter_and_sinks_again),
		cmocka_unit_test(a_wait_ends_at_its_limit),
		cmocka_unit_test(who_waited_in_vain_is_told_when_to_come_back),
		cmocka_unit_test(a_held_gate_admits_nobody),
		cmocka_unit_test(a_held_gate_uses_up_nobodys_waiting_time),
		cmocka_unit_test(without_room_a_host_waits_and_the_others_do_not),
		cmocka_unit_test(a_delayed_waiter_comes_back_no_sooner),
		cmocka_unit_test(a_delayed_waiter_delays_nobody_and_its_wait_ends_too),
		cmocka_unit_test(leaving_the_queue_lets_the_others_move_up),
		cmocka_unit_test(callbacks_may_leave_and_enter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
