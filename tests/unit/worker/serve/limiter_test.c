/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Buckets of tokens, in a time of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "worker/serve/limiter.h"

static struct ing_addr address(const char *text)
{
	struct ing_addr a;
	assert_true(ing_addr_parse(text, &a));
	return a;
}

static void test_a_burst_passes_and_the_rate_after_it(void **state)
{
	(void)state;
	struct ing_addr a = address("192.0.2.1");
	struct ing_limiter *l = ing_limiter_new(2, 3, 100);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ing_limiter_take(l, &a, 1, 1000), 0);
	assert_int_equal(ing_limiter_take(l, &a, 1, 1000), 1);
	assert_int_equal(ing_limiter_take(l, &a, 1, 1499), 1);
	assert_int_equal(ing_limiter_take(l, &a, 1, 1500), 0);
	assert_int_equal(ing_limiter_take(l, &a, 1, 1500), 1);
	/* It never holds more than the burst. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(ing_limiter_take(l, &a, 1, 1000000), 0);
	assert_int_not_equal(ing_limiter_take(l, &a, 1, 1000000), 0);
	ing_limiter_free(l);
}

static void test_a_large_request_is_paid_back(void **state)
{
	(void)state;
	struct ing_addr a = address("192.0.2.1");
	struct ing_limiter *l = ing_limiter_new(10, 20, 100);
	assert_int_equal(ing_limiter_take(l, &a, 1, 0), 0);
	ing_limiter_charge(l, &a, 999, 0);
	assert_int_equal(ing_limiter_take(l, &a, 1, 0), 99); /* 980 of debt and one more */
	assert_int_equal(ing_limiter_take(l, &a, 1, 98000), 1);
	assert_int_equal(ing_limiter_take(l, &a, 1, 98200), 0);
	ing_limiter_free(l);
}

static void test_clients_are_addresses_and_networks(void **state)
{
	(void)state;
	struct ing_addr a = address("192.0.2.1");
	struct ing_addr b = address("192.0.2.2");
	struct ing_addr six = address("2001:db8:1:2::1");
	struct ing_addr same = address("2001:db8:1:2:ffff::2");
	struct ing_addr next = address("2001:db8:1:3::1");
	struct ing_limiter *l = ing_limiter_new(1, 1, 100);
	assert_int_equal(ing_limiter_take(l, &a, 1, 0), 0);
	assert_int_not_equal(ing_limiter_take(l, &a, 1, 0), 0);
	assert_int_equal(ing_limiter_take(l, &b, 1, 0), 0);
	assert_int_equal(ing_limiter_take(l, &six, 1, 0), 0);
	assert_int_not_equal(ing_limiter_take(l, &same, 1, 0), 0);
	assert_int_equal(ing_limiter_take(l, &next, 1, 0), 0);
	ing_limiter_free(l);
}

static void test_the_table_is_bounded_and_who_is_active_stays(void **state)
{
	(void)state;
	struct ing_limiter *l = ing_limiter_new(1, 1, 1000);
	struct ing_addr busy = address("192.0.2.1");
	assert_int_equal(ing_limiter_take(l, &busy, 1, 0), 0);
	for (unsigned i = 0; i < 100000; i++) {
		struct ing_addr a = {.family = 4,
			.bytes = {10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
		assert_int_equal(ing_limiter_take(l, &a, 1, 0), 0);
		assert_int_not_equal(ing_limiter_take(l, &busy, 1, 0), 0);
		assert_true(ing_limiter_clients(l) <= 1000);
	}
	ing_limiter_free(l);
}

static void test_without_a_rate_everything_passes(void **state)
{
	(void)state;
	struct ing_addr a = address("192.0.2.1");
	struct ing_limiter *l = ing_limiter_new(0, 1, 10);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ing_limiter_take(l, &a, 100, 0), 0);
	assert_int_equal(ing_limiter_clients(l), 0);
	ing_limiter_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_burst_passes_and_the_rate_after_it),
		cmocka_unit_test(test_a_large_request_is_paid_back),
		cmocka_unit_test(test_clients_are_addresses_and_networks),
		cmocka_unit_test(test_the_table_is_bounded_and_who_is_active_stays),
		cmocka_unit_test(test_without_a_rate_everything_passes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
