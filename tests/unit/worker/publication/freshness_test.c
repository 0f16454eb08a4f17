/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When what is kept is fetched again, and how that is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/publication/freshness.h"

#define NOW INT64_C(1800000000000)
#define MINUTES(n) (INT64_C(60000) * (n))
#define NEVER (-1)

/* PubFetcher's: half a day, a week, a day. */
static const struct ing_refetch_rules usual = {720, 10080, 1440, NEVER, 3};
static const struct ing_refetch_rules patient = {NEVER, NEVER, NEVER, NEVER, 0};
static const struct ing_refetch_rules eager = {0, 0, 0, NEVER, 0};
static const struct ing_refetch_rules yearly = {NEVER, NEVER, NEVER, 525600, 0};
static const struct ing_refetch_rules endless = {NEVER, NEVER, NEVER, NEVER, NEVER};
/* More minutes than fit into 32 bits of milliseconds, and than fit into anything. */
static const struct ing_refetch_rules long_ones = {50000, INT64_MAX, NEVER, NEVER, 0};

enum { EMPTY = 1, FINAL = 2, FAILED = 4 };

static const struct {
	const char *name;
	const struct ing_refetch_rules *rules;
	int64_t age_ms; /* of the last fetch; -1: never */
	int64_t retries;
	unsigned state;
	enum ing_freshness want;
} cases[] = {
	{"never fetched", &patient, -1, 0, 0, ING_FRESHNESS_DUE},
	{"final, old", &usual, MINUTES(999999), 0, FINAL, ING_FRESHNESS_KEPT},
	{"empty, at the end of its cool-down", &usual, MINUTES(720), 3, EMPTY, ING_FRESHNESS_DUE},
	{"empty, a moment before", &usual, MINUTES(720) - 1, 3, EMPTY, ING_FRESHNESS_KEPT},
	{"empty, a moment before, tries left", &usual, MINUTES(720) - 1, 2, EMPTY,
		ING_FRESHNESS_RETRY},
	{"not final, within its week", &usual, MINUTES(10079), 3, 0, ING_FRESHNESS_KEPT},
	{"not final, after its week", &usual, MINUTES(10080), 3, 0, ING_FRESHNESS_DUE},
	{"empty is not \"not final\"", &usual, MINUTES(10080), 3, EMPTY | FINAL, ING_FRESHNESS_DUE},
	{"a source failed, after a day", &usual, MINUTES(1440), 3, FINAL | FAILED,
		ING_FRESHNESS_DUE},
	{"a source failed, within a day", &usual, MINUTES(1439), 3, FINAL | FAILED,
		ING_FRESHNESS_KEPT},
	{"a source failed, tries left", &usual, 0, 0, FINAL | FAILED, ING_FRESHNESS_RETRY},
	{"no cool-down", &eager, 0, 0, EMPTY, ING_FRESHNESS_DUE},
	{"no cool-down, final", &eager, MINUTES(9), 0, FINAL, ING_FRESHNESS_KEPT},
	{"negative cool-downs", &patient, MINUTES(9999999), 0, EMPTY | FAILED, ING_FRESHNESS_KEPT},
	{"any number of tries", &endless, 0, INT64_MAX, 0, ING_FRESHNESS_RETRY},
	{"any number of tries, but final", &endless, 0, 0, FINAL, ING_FRESHNESS_KEPT},
	{"by age", &yearly, MINUTES(525600), 0, FINAL, ING_FRESHNESS_DUE},
	{"by age, a moment before", &yearly, MINUTES(525600) - 1, 0, FINAL, ING_FRESHNESS_KEPT},
	{"35 days, within them", &long_ones, MINUTES(49999), 0, EMPTY, ING_FRESHNESS_KEPT},
	{"35 days, after them", &long_ones, MINUTES(50000), 0, EMPTY, ING_FRESHNESS_DUE},
	{"a cool-down without end", &long_ones, NOW - 1, 0, 0, ING_FRESHNESS_KEPT},
	{"fetched in the future", &usual, -MINUTES(5), 3, EMPTY, ING_FRESHNESS_KEPT},
};

static void cool_downs_and_tries_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_freshness_state s = {
			.fetch_time_ms = cases[i].age_ms == -1 ? 0 : NOW - cases[i].age_ms,
			.retry_counter = cases[i].retries,
			.empty = (cases[i].state & EMPTY) != 0,
			.final = (cases[i].state & FINAL) != 0,
			.exception = (cases[i].state & FAILED) != 0};
		if (ing_freshness(cases[i].rules, &s, NOW) != cases[i].want)
			fail_msg("%s", cases[i].name);
	}
}

static void a_fetch_that_was_due_begins_anew(void **state)
{
	(void)state;
	struct ing_freshness_state s = {
		.fetch_time_ms = NOW - MINUTES(720), .retry_counter = 3, .empty = true};
	ing_freshness_fetched(&usual, &s, NOW);
	assert_int_equal(s.fetch_time_ms, NOW);
	assert_int_equal(s.retry_counter, 0);
	ing_freshness_fetched(&usual, &s, NOW + 1);
	assert_int_equal(s.fetch_time_ms, NOW);
	assert_int_equal(s.retry_counter, 1);
}

static void times_of_any_size_are_compared(void **state)
{
	(void)state;
	struct ing_freshness_state s = {.fetch_time_ms = INT64_MIN, .retry_counter = INT64_MAX};
	assert_int_equal(ing_freshness(&patient, &s, INT64_MAX), ING_FRESHNESS_DUE);
	s.fetch_time_ms = 1;
	assert_int_equal(ing_freshness(&endless, &s, INT64_MAX), ING_FRESHNESS_RETRY);
	ing_freshness_fetched(&endless, &s, INT64_MAX);
	assert_true(s.retry_counter == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cool_downs_and_tries_decide),
		cmocka_unit_test(a_fetch_that_was_due_begins_anew),
		cmocka_unit_test(times_of_any_size_are_compared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
