/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shares of hosts: who has room, whose turn is when, and that memory is bounded by what is in it.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "worker/job/shares.h"

#define HOT "hot.example"

static void a_share_is_a_part_of_the_window_but_never_too_small(void **state)
{
	(void)state;
	static const struct {
		unsigned max_waiting, percent, want;
	} cases[] = {
		{20000, 1, 200},
		{40, 1, 16},
		{1, 1, 16},
		{1600, 1, 16},
		{1700, 1, 17},
		{10000000, 99, 9900000},
		{20000, 100, UINT_MAX},
		{20000, 0, UINT_MAX},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_shares *s = ing_shares_new(cases[i].max_waiting, cases[i].percent);
		assert_int_equal(ing_shares_limit(s), cases[i].want);
		ing_shares_free(s);
	}
}

static void a_host_is_full_with_its_share_and_others_are_not(void **state)
{
	(void)state;
	struct ing_shares *s = ing_shares_new(40, 1);
	struct ing_share *shares[16];
	for (int i = 0; i < 16; i++) {
		assert_false(ing_shares_full(s, HOT, false));
		shares[i] = ing_shares_enter(s, HOT, false, 0);
	}
	assert_string_equal(ing_share_host(shares[0]), HOT);
	assert_true(ing_shares_full(s, HOT, false));
	assert_false(ing_shares_full(s, "cold.example", false));
	ing_shares_leave(s, shares[0], false, true, 10);
	assert_false(ing_shares_full(s, HOT, false));
	for (int i = 1; i < 16; i++)
		ing_shares_leave(s, shares[i], false, true, 10);
	assert_int_equal(ing_shares_count(s), 0);
	ing_shares_free(s);
}

static void a_list_does_not_keep_urgent_requests_out(void **state)
{
	(void)state;
	struct ing_shares *s = ing_shares_new(40, 1);
	struct ing_share *share = NULL;
	for (int i = 0; i < 16; i++)
		share = ing_shares_enter(s, HOT, false, 0);
	for (int i = 0; i < 16; i++) {
		assert_false(ing_shares_full(s, HOT, true));
		(void)ing_shares_enter(s, HOT, true, 0);
	}
	assert_true(ing_shares_full(s, HOT, true));
	for (int i = 0; i < 16; i++)
		ing_shares_leave(s, share, false, false, 0);
	assert_true(ing_shares_full(s, HOT, false)); /* the urgent ones count */
	for (int i = 0; i < 16; i++)
		ing_shares_leave(s, share, true, false, 0);
	assert_int_equal(ing_shares_count(s), 0);
	ing_shares_free(s);
}

static void what_came_back_stands_before_what_is_parked_for_longer(void **state)
{
	(void)state;
	struct ing_shares *s = ing_shares_new(40, 1);
	struct ing_share *share = ing_shares_enter(s, HOT, false, 0);
	for (int i = 0; i < 5; i++)
		ing_shares_park(s, HOT, ING_TIER_1M, 1000);
	for (int i = 0; i < 70; i++)
		ing_shares_park(s, HOT, ING_TIER_10M, 1000);
	for (int i = 0; i < 900; i++)
		ing_shares_park(s, HOT, ING_TIER_1D, 1000);
	assert_int_equal(ing_shares_ahead(s, HOT, -1, 1000), 976);
	assert_int_equal(ing_shares_ahead(s, HOT, ING_TIER_1M, 1000), 1);
	assert_int_equal(ing_shares_ahead(s, HOT, ING_TIER_10M, 1000), 6);
	assert_int_equal(ing_shares_ahead(s, HOT, ING_TIER_1H, 1000), 76);
	assert_int_equal(ing_shares_ahead(s, HOT, ING_TIER_1D, 1000), 76);
	assert_int_equal(ing_shares_ahead(s, "cold.example", -1, 1000), 0);
	ing_shares_unpark(s, HOT, ING_TIER_10M, 2000);
	assert_int_equal(ing_shares_ahead(s, HOT, -1, 2000), 975);
	/* What another worker has taken is not waited for. */
	assert_int_equal(ing_shares_ahead(s, HOT, -1, 2 * 60000 + 1000), 970);
	assert_int_equal(ing_shares_ahead(s, HOT, -1, (uint64_t)2 * 86400000 + 1000), 1);
	ing_shares_leave(s, share, false, false, 3000);
	assert_int_equal(ing_shares_count(s), 1);
	ing_shares_free(s);
}

static void more_that_comes_back_than_was_parked_is_no_debt(void **state)
{
	(void)state;
	struct ing_shares *s = ing_shares_new(40, 1);
	ing_shares_unpark(s, HOT, ING_TIER_1H, 0); /* another worker's */
	assert_int_equal(ing_shares_count(s), 0);
	ing_shares_park(s, HOT, ING_TIER_1M, 0);
	ing_shares_unpark(s, HOT, ING_TIER_1H, 0);
	assert_int_equal(ing_shares_ahead(s, HOT, -1, 0), 1);
	ing_shares_unpark(s, HOT, ING_TIER_1M, 0);
	ing_shares_unpark(s, HOT, ING_TIER_1M, 0);
	assert_int_equal(ing_shares_ahead(s, HOT, -1, 0), 0);
	assert_int_equal(ing_shares_count(s), 0); /* nothing is left of it */
	ing_shares_free(s);
}

static void a_pace_is_measured_while_somebody_waits(void **state)
{
	(void)state;
	struct ing_shares *s = ing_shares_new(1000, 50);
	struct ing_share *share = NULL;
	for (int i = 0; i < 100; i++)
		share = ing_shares_enter(s, HOT, false, 5000);
	assert_int_equal(ing_shares_pace_ms(s, HOT, 700), 700);
	uint64_t now_ms = 5000;
	for (int i = 0; i < 20; i++)
		ing_shares_leave(s, share, false, true, now_ms += 250);
	assert_int_equal(ing_shares_pace_ms(s, HOT, 700), 250);
	ing_shares_leave(s, share, false, false, now_ms += 3); /* cancelled: nobody was asked */
	assert_int_equal(ing_shares_pace_ms(s, HOT, 700), 250);
	for (int i = 0; i < 60; i++)
		ing_shares_leave(s, share, false, true, now_ms += 1000);
	assert_in_range(ing_shares_pace_ms(s, HOT, 700), 900, 1000);
	uint64_t before_ms = ing_shares_pace_ms(s, HOT, 700);
	ing_shares_leave(s, share, false, true, now_ms += 86400000); /* it was held */
	assert_in_range(ing_shares_pace_ms(s, HOT, 700), before_ms, before_ms + 60000 / 8);
	for (int i = 0; i < 18; i++)
		ing_shares_leave(s, share, false, false, now_ms);
	assert_int_equal(ing_shares_count(s), 0);
	ing_shares_free(s);
}

static void hosts_that_nobody_waits_for_are_forgotten_beyond_a_number(void **state)
{
	(void)state;
	struct ing_shares *s = ing_shares_new(40, 1);
	char host[32];
	for (int i = 0; i < 25000; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		ing_shares_park(s, host, ING_TIER_1D, 0);
	}
	assert_int_equal(ing_shares_count(s), 20000);
	assert_int_equal(ing_shares_ahead(s, "h0.example", -1, 0), 0);
	assert_int_equal(ing_shares_ahead(s, "h24999.example", -1, 0), 1);
	ing_shares_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_is_a_part_of_the_window_but_never_too_small),
		cmocka_unit_test(a_host_is_full_with_its_share_and_others_are_not),
		cmocka_unit_test(a_list_does_not_keep_urgent_requests_out),
		cmocka_unit_test(what_came_back_stands_before_what_is_parked_for_longer),
		cmocka_unit_test(more_that_comes_back_than_was_parked_is_no_debt),
		cmocka_unit_test(a_pace_is_measured_while_somebody_waits),
		cmocka_unit_test(hosts_that_nobody_waits_for_are_forgotten_beyond_a_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
