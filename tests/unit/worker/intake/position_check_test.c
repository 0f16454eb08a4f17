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
	struct ing_position_check want;
} cases[] = {
	{"a new group begins at the oldest message", -1, false, {COMMITTED(-1), BOUNDS(7, 90)},
		{ING_POSITION_VALID, 7, 0}},
	{"an assignment goes on at the group's position", -1, true, {COMMITTED(40), BOUNDS(0, 90)},
		{ING_POSITION_VALID, 40, 0}},
	{"also at the end of the log", -1, false, {COMMITTED(90), BOUNDS(0, 90)},
		{ING_POSITION_VALID, 90, 0}},
	{"an empty log", -1, false, {COMMITTED(40), BOUNDS(40, 40)}, {ING_POSITION_VALID, 40, 0}},
	{"what is read goes on at our own position", 60, true, {COMMITTED(40), BOUNDS(0, 90)},
		{ING_POSITION_VALID, 60, 0}},
	{"no position was committed yet", 5, false, {COMMITTED(-1), BOUNDS(0, 90)},
		{ING_POSITION_VALID, 5, 0}},
	{"retention overran the group's position", -1, false, {COMMITTED(20), BOUNDS(60, 100)},
		{ING_POSITION_DELETED, 60, 40}},
	{"retention overran ours", 55, true, {COMMITTED(20), BOUNDS(60, 100)},
		{ING_POSITION_DELETED, 60, 5}},
	{"everything was deleted", 55, true, {COMMITTED(20), BOUNDS(100, 100)},
		{ING_POSITION_DELETED, 100, 45}},
	{"the log ends before our position", 41, true, {COMMITTED(40), BOUNDS(0, 30)},
		{ING_POSITION_BEYOND_END, 0, 0}},
	{"the log ends before the group's", -1, false, {COMMITTED(40), BOUNDS(0, 0)},
		{ING_POSITION_BEYOND_END, 0, 0}},
	{"the group's position has gone with the topic, the new log is longer", 40, true,
		{COMMITTED(-1), BOUNDS(0, 300)}, {ING_POSITION_TOPIC_RECREATED, 0, 0}},
	{"the same, and shorter", 40, true, {COMMITTED(-1), BOUNDS(0, 3)},
		{ING_POSITION_TOPIC_RECREATED, 0, 0}},
	{"the same at an assignment", -1, true, {COMMITTED(-1), BOUNDS(2, 3)},
		{ING_POSITION_TOPIC_RECREATED, 2, 0}},
	{"the group did not answer", 40, true, {BOUNDS(0, 300)}, {ING_POSITION_UNKNOWN, 0, 0}},
	{"the leader did not answer", 40, true, {COMMITTED(-1)}, {ING_POSITION_UNKNOWN, 0, 0}},
};

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
