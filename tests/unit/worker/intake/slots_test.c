/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of partitions, and the names of lanes and their topics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/intake/lane_topic.h"
#include "worker/intake/slots.h"

/* The same partition number in two lanes is two slots; a slot keeps its index while others come. */
static void test_slots_keep_their_place(void **state)
{
	(void)state;
	struct ing_slots s = {0};
	assert_null(ing_slots_find(&s, ING_LANE_BULK, 0));
	struct ing_slot *first = ing_slots_make(&s, ING_LANE_REQUESTS, 7);
	int32_t index = ing_slots_index(&s, first);
	first->epoch = 3;
	for (int32_t i = 0; i < 100; i++) {
		const struct ing_slot *made = ing_slots_make(&s, ING_LANE_BULK, i);
		assert_int_equal(made->lane, ING_LANE_BULK);
		assert_int_equal(made->partition, i);
		assert_int_equal(made->committed, -1);
	}
	const struct ing_slot *again = ing_slots_make(&s, ING_LANE_REQUESTS, 7);
	assert_int_equal(ing_slots_index(&s, again), index);
	assert_int_equal(again->epoch, 3);
	assert_ptr_equal(ing_slots_find(&s, ING_LANE_REQUESTS, 7), again);
	assert_ptr_not_equal(ing_slots_find(&s, ING_LANE_BULK, 7), again);
	assert_null(ing_slots_find(&s, ING_LANE_REQUESTS, 6));
	assert_null(ing_slots_find(&s, ING_LANE_DAILY, 7));
	assert_int_equal(s.count, 101);
	ing_slots_done(&s);
}

static void finish_up_to(struct ing_slot *slot, int64_t first, int64_t end)
{
	for (int64_t i = first; i < end; i++)
		assert_true(ing_mark_begin(&slot->mark, i) && ing_mark_finish(&slot->mark, i));
}

/* A log that is read again from its start: the position to commit is below the one committed. */
static void test_a_committed_position_can_go_back(void **state)
{
	(void)state;
	struct ing_slots s = {0};
	struct ing_slot *slot = ing_slots_make(&s, ING_LANE_REQUESTS, 0);
	ing_slot_begin(slot, 1);
	assert_true(slot->adrift && !ing_slot_is_due(slot));
	ing_mark_init(&slot->mark, 0);
	slot->adrift = false;
	assert_true(ing_slot_is_due(slot)); /* where we begin, for the group has none */
	finish_up_to(slot, 0, 40);
	slot->sent_epoch = slot->epoch;
	ing_slot_note_committed(slot, 40);
	assert_true(slot->staked && !ing_slot_is_due(slot));

	ing_slot_begin(slot, 2);
	assert_int_equal(slot->committed, -1);
	ing_slot_note_committed(slot, 40); /* answered late: of the epoch before */
	assert_int_equal(slot->committed, -1);
	ing_mark_init(&slot->mark, 0);
	slot->adrift = false;
	finish_up_to(slot, 0, 10);
	assert_true(ing_slot_is_due(slot));
	assert_int_equal(ing_mark_position(&slot->mark), 10);
	slot->sent_epoch = slot->epoch;
	ing_slot_note_committed(slot, 10);
	assert_int_equal(slot->committed, 10);
	assert_false(ing_slot_is_due(slot));
	ing_slot_end(slot);
	assert_false(ing_slot_is_due(slot));
	ing_slots_done(&s);
}

static void test_numbers_out_of_bounds(void **state)
{
	(void)state;
	static const int32_t bad[] = {-1, INT32_MIN, ING_SLOTS_MAX_PARTITIONS, INT32_MAX};
	struct ing_slots s = {0};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		assert_null(ing_slots_make(&s, ING_LANE_DAILY, bad[i]));
		assert_null(ing_slots_find(&s, ING_LANE_DAILY, bad[i]));
	}
	assert_non_null(ing_slots_make(&s, ING_LANE_DAILY, ING_SLOTS_MAX_PARTITIONS - 1));
	ing_slots_done(&s);
}

static void test_topic_of_a_lane(void **state)
{
	(void)state;
	char longest[250];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	const struct {
		enum ing_lane lane;
		const char *configured, *requests, *want;
	} cases[] = {
		{ING_LANE_PRIORITY, "auto", "r", "r-priority"},
		{ING_LANE_DAILY, "auto", "r", "r-daily"},
		{ING_LANE_BULK, "auto", "r", "r-bulk"},
		{ING_LANE_BULK, "", "r", NULL},
		{ING_LANE_BULK, NULL, "r", NULL},
		{ING_LANE_BULK, "other", "r", "other"},
		{ING_LANE_REQUESTS, "r", "r", "r"},
		{ING_LANE_BULK, "auto", longest, NULL},
		{ING_LANE_BULK, longest, "r", longest},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *configured[ING_LANES_] = {[ING_LANE_REQUESTS] = cases[i].requests};
		configured[cases[i].lane] = cases[i].configured;
		char *got = ing_lane_topic(cases[i].lane, configured);
		if (cases[i].want == NULL)
			assert_null(got);
		else
			assert_string_equal(got, cases[i].want);
		free(got);
	}
}

static void test_lane_names(void **state)
{
	(void)state;
	static const char *const names[] = {"priority", "requests", "daily", "bulk"};
	for (int i = 0; i < ING_LANES_; i++) {
		enum ing_lane lane = ING_LANES_;
		assert_true(ing_lane_parse(names[i], &lane));
		assert_int_equal(lane, i);
	}
	enum ing_lane lane = ING_LANE_BULK;
	assert_false(ing_lane_parse("Bulk", &lane));
	assert_false(ing_lane_parse("", &lane));
	assert_int_equal(lane, ING_LANE_BULK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_keep_their_place),
		cmocka_unit_test(test_a_committed_position_can_go_back),
		cmocka_unit_test(test_numbers_out_of_bounds),
		cmocka_unit_test(test_topic_of_a_lane),
		cmocka_unit_test(test_lane_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
