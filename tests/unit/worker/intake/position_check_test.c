/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a partition is read on, as a table of what we were and what the brokers say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "worker/intake/position_check.h"

#define BOUNDS(a, b) .has_bounds = true, .low = (a), .high = (b)
#define COMMITTED(n) .has_committed = true, .committed = (n)

static const struct {
	const char *name;
	int64_t position;
	bool group_has_offset;
	struct ing_broker_offsets reported;
	/* clang-format off */
	struct ing_position_check want;
} cases[] = {
	{.name = "a new group begins at the oldest message", .position = -1,
		.reported = {COMMITTED(-1), BOUNDS(7, 90)}, .want = {ING_POSITION_VALID, 7, 0}},
	{.name = "an assignment goes on at the group's position", .position = -1,
		.group_has_offset = true, .reported = {COMMITTED(40), BOUNDS(0, 90)},
		.want = {ING_POSITION_VALID, 40, 0}},
	{.name = "also at the end of the log", .position = -1,
		.reported = {COMMITTED(90), BOUNDS(0, 90)}, .want = {ING_POSITION_VALID, 90, 0}},
	{.name = "an empty log", .position = -1, .reported = {COMMITTED(40), BOUNDS(40, 40)},
		.want = {ING_POSITION_VALID, 40, 0}},
	{.name = "what is read goes on at our own position", .position = 60,
		.group_has_offset = true, .reported = {COMMITTED(40), BOUNDS(0, 90)},
		.want = {ING_POSITION_VALID, 60, 0}},
	{.name = "no position was committed yet", .position = 5,
		.reported = {COMMITTED(-1), BOUNDS(0, 90)}, .want = {ING_POSITION_VALID, 5, 0}},
	{.name = "retention overran the group's position", .position = -1,
		.reported = {COMMITTED(20), BOUNDS(60, 100)},
		.want = {ING_POSITION_DELETED, 60, 40}},
	{.name = "retention overran ours", .position = 55, .group_has_offset = true,
		.reported = {COMMITTED(20), BOUNDS(60, 100)},
		.want = {ING_POSITION_DELETED, 60, 5}},
	{.name = "everything was deleted", .position = 55, .group_has_offset = true,
		.reported = {COMMITTED(20), BOUNDS(100, 100)},
		.want = {ING_POSITION_DELETED, 100, 45}},
	{.name = "the log ends before our position", .position = 41, .group_has_offset = true,
		.reported = {COMMITTED(40), BOUNDS(0, 30)},
		.want = {ING_POSITION_BEYOND_END, 0, 0}},
	{.name = "the log ends before the group's", .position = -1,
		.reported = {COMMITTED(40), BOUNDS(0, 0)}, .want = {ING_POSITION_BEYOND_END, 0, 0}},
	{.name = "the group's position has gone with the topic, the new log is longer",
		.position = 40, .group_has_offset = true,
		.reported = {COMMITTED(-1), BOUNDS(0, 300)},
		.want = {ING_POSITION_TOPIC_RECREATED, 0, 0}},
	{.name = "the same, and shorter", .position = 40, .group_has_offset = true,
		.reported = {COMMITTED(-1), BOUNDS(0, 3)},
		.want = {ING_POSITION_TOPIC_RECREATED, 0, 0}},
	{.name = "the same at an assignment", .position = -1, .group_has_offset = true,
		.reported = {COMMITTED(-1), BOUNDS(2, 3)},
		.want = {ING_POSITION_TOPIC_RECREATED, 2, 0}},
	{.name = "the group did not answer", .position = 40, .group_has_offset = true,
		.reported = {BOUNDS(0, 300)}, .want = {ING_POSITION_UNKNOWN, 0, 0}},
	{.name = "the leader did not answer", .position = 40, .group_has_offset = true,
		.reported = {COMMITTED(-1)}, .want = {ING_POSITION_UNKNOWN, 0, 0}},
};
/* clang-format on */

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("  %s\n", cases[i].name);
		struct ing_position_check v = ing_position_check(
			cases[i].position, cases[i].group_has_offset, &cases[i].reported);
		assert_int_equal(v.state, cases[i].want.state);
		assert_true(v.start == cases[i].want.start);
		assert_true(v.lost == cases[i].want.lost);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
