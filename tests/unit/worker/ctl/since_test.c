/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Moments as people write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/ctl/since.h"

static const struct {
	const char *text;
	bool is_ago;
	int64_t seconds;
} good[] = {
	{"90s", true, 90},
	{"90m", true, 5400},
	{"1h30m", true, 5400},
	{"7d", true, 604800},
	{"2w", true, 1209600},
	{"0h", true, 0},
	{"1970-01-01", false, 0},
	{"2026-11-23", false, 1795392000},
	{"2026-11-23T04:05", false, 1795406700},
	{"2026-11-23T04:05:06", false, 1795406706},
	{"2026-11-23 04:05:06Z", false, 1795406706},
	{"2024-02-29", false, 1709164800},
	{"2026-11-23T04:05Z", false, 1795406700},
};

static const char *const bad[] = {"", "h", "5", "-5m", "5 m", "5mm", "5y", "1.5h",
	"99999999999999999999h", "9999999999w", "366000d1s", "2026", "2026-13-01", "2026-00-01",
	"2026-02-30", "2023-02-29", "2026-11-00", "2026-11-23T", "2026-11-23T24:00",
	"2026-11-23T04:60", "2026-11-23T04:05:60", "2026-11-23T04:05+01:00", "1969-12-31",
	"26-11-23", "2026-11-23x", "2026-1-1"};

static void times_and_dates_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct ing_since since = {0};
		print_message("%s\n", good[i].text);
		assert_true(ing_since_parse(good[i].text, &since));
		assert_int_equal(since.is_ago, good[i].is_ago);
		assert_int_equal(since.is_ago ? since.ago_s : since.at_s, good[i].seconds);
	}
}

static void other_texts_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ing_since since = {.at_s = 7};
		print_message("%s\n", bad[i]);
		assert_false(ing_since_parse(bad[i], &since));
		assert_int_equal(since.at_s, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_and_dates_are_read),
		cmocka_unit_test(other_texts_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
