/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of partitions, and the names of lanes and their topics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/intake/lane_names.h"
#include "worker/intake/partitions.h"

/* The same partition number in two lanes is two entries; an entry keeps its index while others are
 * added. */
static void test_entries_keep_their_index(void **state)
{
	(void)state;
	struct ing_partitions s = {0};
	assert_null(ing_partitions_find(&s, ING_LANE_BULK, 0));
	struct ing_partition *first = ing_partitions_add(&s, ING_LANE_REQUESTS, 7);
	int32_t index = ing_partitions_index(&s, first);
	first->epoch = 3;
	for (int32_t i = 0; i < 100; i++) {
		const struct ing_partition *made = ing_partitions_add(&s, ING_LANE_BULK, i);
		assert_int_equal(made->lane, ING_LANE_BULK);
		assert_int_equal(made->number, i);
		assert_int_equal(made->committed, -1);
	}
	const struct ing_partition *again = ing_partitions_add(&s, ING_LANE_REQUESTS, 7);
	assert_int_equal(ing_partitions_index(&s, again), index);
	assert_int_equal(again->epoch, 3);
	assert_ptr_equal(ing_partitions_find(&s, ING_LANE_REQUESTS, 7), again);
	assert_ptr_not_equal(ing_partitions_find(&s, ING_LANE_BULK, 7), again);
	assert_null(ing_partitions_find(&s, ING_LANE_REQUESTS, 6));
	assert_null(ing_partitions_find(&s, ING_LANE_DAILY, 7));
	assert_int_equal(s.count, 101);
	ing_partitions_done(&s);
}

static void finish_up_to(struct ing_partition *part, int64_t first, int64_t end)
{
	for (int64_t i = first; i < end; i++)
		assert_true(ing_offset_tracker_begin(
				    &part->offsets, &(struct ing_tracked){.offset = i}) &&
			    ing_offset_tracker_finish(&part->offsets, i));
}

/* A log that is read again from its start: the offset to commit is below the committed one. */
static void test_a_committed_offset_can_go_back(void **state)
{
	(void)state;
	struct ing_partitions s = {0};
	struct ing_partition *part = ing_partitions_add(&s, ING_LANE_REQUESTS, 0);
	ing_partition_begin_epoch(part, 1);
	assert_true(part->awaits_validation && !ing_partition_is_commit_due(part));
	ing_offset_tracker_init(&part->offsets, 0);
	part->awaits_validation = false;
	assert_true(
		ing_partition_is_commit_due(part)); /* the start, because the group has no offset */
	finish_up_to(part, 0, 40);
	part->commit_epoch = part->epoch;
	ing_partition_set_committed(part, 40);
	assert_true(part->group_has_offset && !ing_partition_is_commit_due(part));

	ing_partition_begin_epoch(part, 2);
	assert_int_equal(part->committed, -1);
	ing_partition_set_committed(part, 40); /* a late reply, of the epoch before */
	assert_int_equal(part->committed, -1);
	ing_offset_tracker_init(&part->offsets, 0);
	part->awaits_validation = false;
	finish_up_to(part, 0, 10);
	assert_true(ing_partition_is_commit_due(part));
	assert_int_equal(ing_offset_tracker_committable(&part->offsets), 10);
	part->commit_epoch = part->epoch;
	ing_partition_set_committed(part, 10);
	assert_int_equal(part->committed, 10);
	assert_false(ing_partition_is_commit_due(part));
	ing_partition_end_epoch(part);
	assert_false(ing_partition_is_commit_due(part));
	ing_partitions_done(&s);
}

static void test_numbers_out_of_bounds(void **state)
{
	(void)state;
	static const int32_t bad[] = {-1, INT32_MIN, ING_MAX_PARTITION, INT32_MAX};
	struct ing_partitions s = {0};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		assert_null(ing_partitions_add(&s, ING_LANE_DAILY, bad[i]));
		assert_null(ing_partitions_find(&s, ING_LANE_DAILY, bad[i]));
	}
	assert_non_null(ing_partitions_add(&s, ING_LANE_DAILY, ING_MAX_PARTITION - 1));
	ing_partitions_done(&s);
}

static void test_topic_of_a_lane(void **state)
{
	(void)state;
	char longest[250];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	/* clang-format off */
	const struct {
		enum ing_lane lane;
		const char *configured, *requests, *want;
	} cases[] = {
		{.lane = ING_LANE_PRIORITY, .configured = "auto", .requests = "r",
			.want = "r-priority"},
		{.lane = ING_LANE_DAILY, .configured = "auto", .requests = "r", .want = "r-daily"},
		{.lane = ING_LANE_BULK, .configured = "auto", .requests = "r", .want = "r-bulk"},
		{.lane = ING_LANE_BULK, .configured = "", .requests = "r", .want = NULL},
		{.lane = ING_LANE_BULK, .requests = "r", .want = NULL},
		{.lane = ING_LANE_BULK, .configured = "other", .requests = "r", .want = "other"},
		{.lane = ING_LANE_REQUESTS, .configured = "r", .requests = "r", .want = "r"},
		{.lane = ING_LANE_BULK, .configured = "auto", .requests = longest, .want = NULL},
		{.lane = ING_LANE_BULK, .configured = longest, .requests = "r", .want = longest},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *configured[ING_LANES_] = {[ING_LANE_REQUESTS] = cases[i].requests};
		configured[cases[i].lane] = cases[i].configured;
		char *got = ing_lane_topic_name(cases[i].lane, configured);
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
		assert_true(ing_lane_from_name(names[i], &lane));
		assert_int_equal(lane, i);
	}
	enum ing_lane lane = ING_LANE_BULK;
	assert_false(ing_lane_from_name("Bulk", &lane));
	assert_false(ing_lane_from_name("", &lane));
	assert_int_equal(lane, ING_LANE_BULK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_keep_their_index),
		cmocka_unit_test(test_a_committed_offset_can_go_back),
		cmocka_unit_test(test_numbers_out_of_bounds),
		cmocka_unit_test(test_topic_of_a_lane),
		cmocka_unit_test(test_lane_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
