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
	int64_t last_low_water; /* 0: no notes of a last owner */
	struct ing_log_mark mark;
	struct ing_broker_offsets reported;
	/* clang-format off */
	struct ing_position_check want;
} cases[] = {
	{.name = "a new group begins at the oldest message", .position = -1,
		.reported = {COMMITTED(-1), BOUNDS(7, 90)}, .want = {ING_POSITION_VALID, 7, 7}},
	{.name = "an assignment goes on at the group's position", .position = -1,
		.group_has_offset = true, .reported = {COMMITTED(40), BOUNDS(0, 90)},
		.want = {ING_POSITION_VALID, 40, 40}},
	{.name = "also at the end of the log", .position = -1,
		.reported = {COMMITTED(90), BOUNDS(0, 90)}, .want = {ING_POSITION_VALID, 90, 90}},
	{.name = "an empty log", .position = -1, .reported = {COMMITTED(40), BOUNDS(40, 40)},
		.want = {ING_POSITION_VALID, 40, 40}},
	{.name = "what is read goes on at our own position", .position = 60,
		.group_has_offset = true, .reported = {COMMITTED(40), BOUNDS(0, 90)},
		.want = {ING_POSITION_VALID, 60, 60}},
	{.name = "no position was committed yet", .position = 5,
		.reported = {COMMITTED(-1), BOUNDS(0, 90)}, .want = {ING_POSITION_VALID, 5, 5}},
	{.name = "retention overran the group's position", .position = -1,
		.reported = {COMMITTED(20), BOUNDS(60, 100)},
		.want = {ING_POSITION_DELETED, 20, 60}},
	{.name = "retention overran ours", .position = 55, .group_has_offset = true,
		.reported = {COMMITTED(20), BOUNDS(60, 100)},
		.want = {ING_POSITION_DELETED, 55, 60}},
	{.name = "everything was deleted", .position = 55, .group_has_offset = true,
		.reported = {COMMITTED(20), BOUNDS(100, 100)},
		.want = {ING_POSITION_DELETED, 55, 100}},
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
		.want = {ING_POSITION_TOPIC_RECREATED, 2, 2}},
	{.name = "the group did not answer", .position = 40, .group_has_offset = true,
		.reported = {BOUNDS(0, 300)}, .want = {ING_POSITION_UNKNOWN, 0, 0}},
	{.name = "the leader did not answer", .position = 40, .group_has_offset = true,
		.reported = {COMMITTED(-1)}, .want = {ING_POSITION_UNKNOWN, 0, 0}},
	{.name = "the group's position has expired, the last owner's is used", .position = -1,
		.last_low_water = 41, .mark = {40, 1234},
		.reported = {COMMITTED(-1), BOUNDS(0, 300), .mark = ING_MARK_FOUND},
		.want = {ING_POSITION_EXPIRED, 41, 41}},
	{.name = "the same, and all that was read has been deleted", .position = -1,
		.last_low_water = 41, .mark = {40, 1234},
		.reported = {COMMITTED(-1), BOUNDS(41, 300)},
		.want = {ING_POSITION_EXPIRED, 41, 41}},
	{.name = "the same, and more than that", .position = -1, .last_low_water = 41,
		.mark = {40, 1234}, .reported = {COMMITTED(-1), BOUNDS(60, 300)},
		.want = {ING_POSITION_EXPIRED, 41, 60}},
	{.name = "the same, and the message could not be read yet", .position = -1,
		.last_low_water = 41, .mark = {40, 1234},
		.reported = {COMMITTED(-1), BOUNDS(0, 300)},
		.want = {ING_POSITION_UNKNOWN, 41, 41}},
	{.name = "a topic made anew while nobody looked: another message is at the mark",
		.position = -1, .last_low_water = 41, .mark = {40, 1234},
		.reported = {COMMITTED(-1), BOUNDS(0, 300), .mark = ING_MARK_OTHER},
		.want = {ING_POSITION_NEW_LOG, 0, 0}},
	{.name = "the same, and the new log ends before it", .position = -1, .last_low_water = 41,
		.mark = {40, 1234}, .reported = {COMMITTED(-1), BOUNDS(0, 30)},
		.want = {ING_POSITION_NEW_LOG, 0, 0}},
	{.name = "the last owner has seen nothing to recognise the log by", .position = -1,
		.last_low_water = 41, .mark = {-1, -1},
		.reported = {COMMITTED(-1), BOUNDS(0, 300)},
		.want = {ING_POSITION_NEW_LOG, 0, 0}},
	{.name = "a committed position counts more than the last owner's", .position = -1,
		.last_low_water = 41, .mark = {40, 1234},
		.reported = {COMMITTED(60), BOUNDS(0, 300)}, .want = {ING_POSITION_VALID, 60, 60}},
	{.name = "and so does our own: the topic was made anew", .position = 50,
		.group_has_offset = true, .last_low_water = 41, .mark = {40, 1234},
		.reported = {COMMITTED(-1), BOUNDS(0, 300), .mark = ING_MARK_FOUND},
		.want = {ING_POSITION_TOPIC_RECREATED, 0, 0}},
};
/* clang-format on */

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("  %s\n", cases[i].name);
		const struct ing_known_position known = {
			.next = cases[i].position,
			.group_has_offset = cases[i].group_has_offset,
			.last_low_water =
				cases[i].last_low_water > 0 ? cases[i].last_low_water : -1,
			.mark = cases[i].mark,
		};
		struct ing_position_check v = ing_position_check(&known, &cases[i].reported);
		assert_int_equal(v.state, cases[i].want.state);
		if (v.state == ING_POSITION_UNKNOWN)
			continue;
		assert_true(v.position == cases[i].want.position);
		assert_true(v.start == cases[i].want.start);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
