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
	int32_t index = first->index;
	first->epoch = 3;
	for (int32_t i = 0; i < 100; i++) {
		const struct ing_partition *made = ing_partitions_add(&s, ING_LANE_BULK, i);
		assert_int_equal(made->topic, ING_LANE_BULK);
		assert_int_equal(made->number, i);
		assert_int_equal(made->committed, -1);
	}
	const struct ing_partition *again = ing_partitions_add(&s, ING_LANE_REQUESTS, 7);
	assert_int_equal(again->index, index);
	assert_ptr_equal(again, first);
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

static void start(struct ing_partition *part, uint32_t epoch)
{
	ing_partition_begin_epoch(part, epoch, ING_PARTITION_VALIDATING);
	assert_false(ing_partition_is_commit_due(part));
	ing_partition_set_position(part, 0, NULL);
	part->stage = ING_PARTITION_READY;
}

static void send(struct ing_partition *part)
{
	part->commit_epoch = part->epoch;
	part->sent_changes = part->changes;
}

/* A log that is read again from its start: the offset to commit is below the committed one. */
static void test_a_committed_offset_can_go_back(void **state)
{
	(void)state;
	struct ing_partitions s = {0};
	struct ing_partition *part = ing_partitions_add(&s, ING_LANE_REQUESTS, 0);
	start(part, 1);
	assert_true(
		ing_partition_is_commit_due(part)); /* the start, because the group has no offset */
	finish_up_to(part, 0, 40);
	send(part);
	ing_partition_set_committed(part, 40);
	assert_true(part->group_has_offset && !ing_partition_is_commit_due(part));

	start(part, 2);
	assert_int_equal(part->committed, -1);
	ing_partition_set_committed(part, 40); /* a late reply, of the epoch before */
	assert_int_equal(part->committed, -1);
	finish_up_to(part, 0, 10);
	assert_true(ing_partition_is_commit_due(part));
	assert_int_equal(ing_offset_tracker_committable(&part->offsets), 10);
	send(part);
	ing_partition_set_committed(part, 10);
	assert_int_equal(part->committed, 10);
	assert_false(ing_partition_is_commit_due(part));
	ing_partition_end_epoch(part);
	assert_false(ing_partition_is_commit_due(part));
	ing_partitions_done(&s);
}

/* The position stays where it is, but what is finished beyond it has changed: the map is due. */
static void test_a_change_beyond_the_position_is_due(void **state)
{
	(void)state;
	struct ing_partitions s = {0};
	struct ing_partition *part = ing_partitions_add(&s, ING_LANE_REQUESTS, 0);
	start(part, 1);
	finish_up_to(part, 0, 5);
	assert_true(ing_offset_tracker_begin(&part->offsets, &(struct ing_tracked){5, 1, 0}));
	send(part);
	ing_partition_set_committed(part, 5);
	assert_false(ing_partition_is_commit_due(part));
	finish_up_to(part, 6, 7);
	part->changes++;
	assert_int_equal(ing_offset_tracker_committable(&part->offsets), 5);
	assert_true(ing_partition_is_commit_due(part));
	send(part);
	part->changes++; /* one more while the commit is under way */
	ing_partition_set_committed(part, 5);
	assert_true(ing_partition_is_commit_due(part));
	send(part);
	ing_partition_set_committed(part, 5);
	assert_false(ing_partition_is_commit_due(part));
	ing_partitions_done(&s);
}

/* What a map says is unfinished holds the position until it has been read and finished. */
static void test_a_position_with_a_map(void **state)
{
	(void)state;
	struct ing_partitions s = {0};
	struct ing_partition *part = ing_partitions_add(&s, ING_LANE_REQUESTS, 0);
	start(part, 1);
	for (int64_t i = 0; i < 10; i++)
		assert_true(ing_offset_tracker_begin(
			&part->offsets, &(struct ing_tracked){i, 1000 + i, 0}));
	for (int64_t i = 0; i < 10; i++)
		if (i != 2 && i != 5)
			assert_true(ing_offset_tracker_finish(&part->offsets, i));
	struct ing_buf text;
	struct ing_error err = {0};
	struct ing_position_map *map = NULL;
	ing_buf_init(&text, ING_POSITION_MAP_MAX_CHARS + 1);
	ing_position_map_encode(&part->offsets, &text);
	assert_int_equal(ing_position_map_decode(ing_buf_str(&text), text.len, &map, &err), 0);

	ing_partition_begin_epoch(part, 2, ING_PARTITION_VALIDATING);
	ing_partition_set_position(part, 2, map);
	assert_int_equal(part->next_offset, 2);
	assert_int_equal(part->offsets.position, 10);
	assert_int_equal(ing_offset_tracker_committable(&part->offsets), 2);
	struct ing_buf again;
	ing_buf_init(&again, ING_POSITION_MAP_MAX_CHARS + 1);
	ing_position_map_encode(&part->offsets, &again);
	assert_string_equal(ing_buf_str(&again), ing_buf_str(&text));
	assert_true(ing_offset_tracker_identify(&part->offsets, &(struct ing_tracked){5, 1005, 7}));
	assert_int_equal(ing_offset_tracker_find(&part->offsets, 5)->digest, 7);
	assert_false(
		ing_offset_tracker_identify(&part->offsets, &(struct ing_tracked){4, 1004, 7}));
	assert_true(ing_offset_tracker_finish(&part->offsets, 2));
	assert_int_equal(ing_offset_tracker_committable(&part->offsets), 5);
	assert_true(ing_offset_tracker_finish(&part->offsets, 5));
	assert_int_equal(ing_offset_tracker_committable(&part->offsets), 10);
	ing_buf_done(&again);
	ing_buf_done(&text);
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
		cmocka_unit_test(test_a_change_beyond_the_position_is_due),
		cmocka_unit_test(test_a_position_with_a_map),
		cmocka_unit_test(test_numbers_out_of_bounds),
		cmocka_unit_test(test_topic_of_a_lane),
		cmocka_unit_test(test_lane_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
