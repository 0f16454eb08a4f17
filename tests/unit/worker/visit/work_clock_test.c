/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The work clock: what counts, and what does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/visit/work_clock.h"

/* '+' something begins to work, '-' something ends. */
struct event {
	uint64_t at_ms;
	char what;
	uint64_t left_ms; /* just after it */
};

static const struct {
	const char *name;
	/* clang-format off */
	struct event events[8];
	uint64_t asked_ms, left_ms;
} cases[] = {
	{.name = "nothing works", .events = {{0}}, .asked_ms = 5000, .left_ms = 100},
	{.name = "work counts, waiting does not",
		.events = {{1000, '+', 100}, {1030, '-', 70}, {9000, '+', 70}, {9030, '-', 40}},
		.asked_ms = 20000, .left_ms = 40},
	{.name = "while it works", .events = {{1000, '+', 100}}, .asked_ms = 1099, .left_ms = 1},
	{.name = "it is used up while it works", .events = {{1000, '+', 100}}, .asked_ms = 1100},
	{.name = "and stays so", .events = {{1000, '+', 100}, {1500, '-', 0}, {2000, '+', 0}},
		.asked_ms = 2000},
	{.name = "several at once count once",
		.events = {{1000, '+', 100}, {1010, '+', 90}, {1020, '-', 80}, {1030, '-', 70}},
		.asked_ms = 9000, .left_ms = 70},
	{.name = "one after another without a pause",
		.events = {{1000, '+', 100}, {1050, '-', 50}, {1050, '+', 50}, {1060, '-', 40}},
		.asked_ms = 9000, .left_ms = 40},
};
/* clang-format on */

static void only_work_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_work_clock c;
		ing_work_clock_init(&c, 100);
		for (const struct event *e = cases[i].events; e->what != '\0'; e++) {
			if (e->what == '+')
				ing_work_clock_start(&c, e->at_ms);
			else
				ing_work_clock_stop(&c, e->at_ms);
			if (ing_work_clock_left(&c, e->at_ms) != e->left_ms)
				fail_msg("%s: at %d", cases[i].name, (int)e->at_ms);
		}
		if (ing_work_clock_left(&c, cases[i].asked_ms) != cases[i].left_ms)
			fail_msg("%s: at the end", cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_work_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
