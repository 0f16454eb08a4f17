/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A visitor that must be alone: nobody is at work with it, and nobody waits longer than for that.
 */
#include "tests/unit/worker/gate/gate_world.h"

static const struct ing_gate_conf crowded = {.settings = {.concurrency = 10,
						     .host_concurrency = 2,
						     .max_wait_ms = 2000,
						     .backoff.retry_after_max_ms = 2000,
						     .backoff.backoff_ms = 500,
						     .backoff.backoff_max_ms = 500}};

static void enter_alone(int id, const char *url)
{
	enter_with(id, url, &(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS, .alone = true});
}

static void it_waits_for_the_others_and_they_for_it(void **state)
{
	(void)state;
	open_gate(&crowded);
	enter(0, "https://a.example/");
	run_for(10);
	assert_int_equal(granted_count, 1);
	assert_false(ing_gate_wants_alone(gate));
	enter_alone(1, "https://b.example/");
	run_for(10);
	assert_false(ing_gate_wants_alone(gate));
	enter(2, "https://c.example/");
	run_for(5000); /* more than anybody may wait: time stands still */
	assert_int_equal(granted_count, 1);
	assert_int_equal(refused_count, 0);
	answer_good(0);
	assert_true(ing_gate_wants_alone(gate));
	ing_gate_admit_alone(gate);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 1);
	assert_false(ing_gate_wants_alone(gate));
	run_for(5000);
	answer_good(1);
	run_for(5000); /* its records are written, its body is examined */
	assert_int_equal(granted_count, 2);
	ing_gate_alone_over(gate);
	run_for(10);
	assert_int_equal(order[2], 2);
	assert_int_equal(refused_count, 0);
	answer_good(2);
	close_gate();
}

static void others_go_on_while_its_host_rests(void **state)
{
	(void)state;
	open_gate(&crowded);
	enter(0, "https://a.example/");
	run_for(1);
	answer_throttled(0, 1);
	enter_alone(1, "https://a.example/");
	enter(2, "https://b.example/");
	run_for(100);
	assert_int_equal(order[1], 2);
	assert_false(ing_gate_wants_alone(gate));
	answer_good(2);
	run_for(900);
	assert_true(ing_gate_wants_alone(gate));
	ing_gate_admit_alone(gate);
	assert_int_equal(order[2], 1);
	answer_good(1);
	ing_gate_alone_over(gate);
	ing_gate_alone_over(gate);
	close_gate();
}

static void others_go_on_when_it_leaves(void **state)
{
	(void)state;
	open_gate(&crowded);
	enter_alone(0, "https://a.example/");
	enter(1, "https://b.example/");
	run_for(10);
	assert_int_equal(granted_count, 0);
	assert_true(ing_gate_wants_alone(gate));
	leave(0);
	assert_false(ing_gate_wants_alone(gate));
	run_for(10);
	assert_int_equal(order[0], 1);
	answer_good(1);
	close_gate();
}

static void its_host_may_have_come_to_rest_meanwhile(void **state)
{
	(void)state;
	open_gate(&crowded);
	enter(0, "https://a.example/");
	run_for(1);
	enter_alone(1, "https://a.example/");
	enter(2, "https://b.example/");
	run_for(1);
	answer_throttled(0, 1);
	assert_true(ing_gate_wants_alone(gate));
	ing_gate_admit_alone(gate);
	assert_int_equal(granted_count, 1);
	run_for(10);
	assert_int_equal(order[1], 2);
	answer_good(2);
	run_for(1000);
	assert_true(ing_gate_wants_alone(gate));
	ing_gate_admit_alone(gate);
	assert_int_equal(order[2], 1);
	answer_good(1);
	ing_gate_alone_over(gate);
	close_gate();
}

static void it_is_not_admitted_while_the_gate_is_held(void **state)
{
	(void)state;
	open_gate(&crowded);
	enter_alone(0, "https://a.example/");
	run_for(10);
	ing_gate_hold(gate, true);
	assert_false(ing_gate_wants_alone(gate));
	ing_gate_hold(gate, false);
	assert_true(ing_gate_wants_alone(gate));
	ing_gate_hold(gate, true);
	run_for(5000);
	ing_gate_hold(gate, false);
	ing_gate_admit_alone(gate);
	assert_int_equal(granted_count, 1);
	assert_int_equal(refused_count, 0);
	answer_good(0);
	ing_gate_alone_over(gate);
	close_gate();
}

static void two_of_them_are_alone_in_turn(void **state)
{
	(void)state;
	open_gate(&crowded);
	enter_alone(0, "https://a.example/");
	enter_alone(1, "https://b.example/");
	run_for(10);
	ing_gate_admit_alone(gate);
	run_for(10);
	assert_false(ing_gate_wants_alone(gate));
	answer_good(0);
	ing_gate_alone_over(gate);
	run_for(10);
	assert_true(ing_gate_wants_alone(gate));
	ing_gate_admit_alone(gate);
	assert_int_equal(order[1], 1);
	answer_good(1);
	ing_gate_alone_over(gate);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_waits_for_the_others_and_they_for_it),
		cmocka_unit_test(others_go_on_while_its_host_rests),
		cmocka_unit_test(others_go_on_when_it_leaves),
		cmocka_unit_test(its_host_may_have_come_to_rest_meanwhile),
		cmocka_unit_test(it_is_not_admitted_while_the_gate_is_held),
		cmocka_unit_test(two_of_them_are_alone_in_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
