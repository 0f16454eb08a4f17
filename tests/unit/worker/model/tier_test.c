/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tiers: which one a wait gets, and the names of their topics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/model/tier.h"

#define BIT(tier) (1u << ING_TIER_##tier)
#define ALL (BIT(1M) | BIT(10M) | BIT(1H) | BIT(6H) | BIT(1D))

static void tiers_rise(void **state)
{
	(void)state;
	for (int i = 1; i < ING_TIERS_; i++)
		assert_true(ing_tier_delay_ms((enum ing_tier)i) >
			    ing_tier_delay_ms((enum ing_tier)(i - 1)));
	assert_int_equal(ing_tier_delay_ms(ING_TIER_1M), 60 * 1000);
	assert_int_equal(ing_tier_delay_ms(ING_TIER_1D), 24 * 3600 * 1000);
	assert_string_equal(ing_tier_name(ING_TIER_10M), "10m");
}

static void a_wait_gets_the_longest_tier_that_is_over_by_then(void **state)
{
	(void)state;
	static const struct {
		uint64_t wait_s;
		unsigned usable;
		int want;
	} cases[] = {
		{0, ALL, ING_TIER_1M},
		{59, ALL, ING_TIER_1M},
		{60, ALL, ING_TIER_1M},
		{599, ALL, ING_TIER_1M},
		{600, ALL, ING_TIER_10M},
		{3600, ALL, ING_TIER_1H},
		{21600, ALL, ING_TIER_6H},
		{86400, ALL, ING_TIER_1D},
		{UINT64_MAX / 1000, ALL, ING_TIER_1D},
		/* A tier without a topic: the next shorter one. */
		{86400, ALL & ~BIT(1D), ING_TIER_6H},
		{599, ALL & ~BIT(1M), -1},
		{601, ALL & ~BIT(1M), ING_TIER_10M},
		{7200, BIT(1M) | BIT(6H), ING_TIER_1M},
		{0, BIT(1D), -1},
		{86399, BIT(1D), -1},
		{86400, 0, -1},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_tier_for(cases[i].wait_s * 1000, cases[i].usable) != cases[i].want)
			fail_msg("case %zu", i);
}

static void only_tiers_have_a_tier(void **state)
{
	(void)state;
	assert_int_equal(ing_tier_of_output(ING_OUTPUT_RESULTS), -1);
	assert_int_equal(ing_tier_of_output(ING_OUTPUT_DEAD), -1);
	assert_int_equal(ing_tier_of_output(ING_OUTPUT_PARKED_1M), ING_TIER_1M);
	assert_int_equal(ing_tier_of_output(ING_OUTPUT_PARKED_1D), ING_TIER_1D);
	for (int i = 0; i < ING_TIERS_; i++)
		assert_int_equal(ing_output_row(ING_OUTPUT_OF_TIER(i))->refused,
			ING_OUTPUT_REFUSED_ANSWERED);
}

static void an_automatic_topic_is_named_after_that_of_requests(void **state)
{
	(void)state;
	char long_name[260];
	memset(long_name, 'r', sizeof(long_name));
	long_name[249 - strlen("-parked-1h") + 1] = '\0';
	char *name = ing_tier_topic_name(ING_TIER_1H, "auto", "lists");
	assert_string_equal(name, "lists-parked-1h");
	free(name);
	name = ing_tier_topic_name(ING_TIER_1H, "later", "lists");
	assert_string_equal(name, "later");
	free(name);
	assert_null(ing_tier_topic_name(ING_TIER_1H, "", "lists"));
	assert_null(ing_tier_topic_name(ING_TIER_1H, NULL, "lists"));
	assert_null(ing_tier_topic_name(ING_TIER_1H, "auto", long_name));
	name = ing_tier_topic_name(ING_TIER_1H, "auto", long_name + 1);
	assert_int_equal(strlen(name), 249);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiers_rise),
		cmocka_unit_test(a_wait_gets_the_longest_tier_that_is_over_by_then),
		cmocka_unit_test(only_tiers_have_a_tier),
		cmocka_unit_test(an_automatic_topic_is_named_after_that_of_requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
