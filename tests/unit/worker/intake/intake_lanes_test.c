/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The consumer of several topics, each a lane, against librdkafka's in-process cluster. What one
 * topic does alone is intake_kafka_test.c's matter; how both wait is said in group.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "group.h"
#include "side_by_side.h"

#define PARTITIONS 2

static const char *const topics[ING_LANES_] = {"r-priority", "r", "r-daily", "r-bulk"};

/* All topics are made, for this cluster makes one that is asked for; those not in `there` answer
 * that they are unknown. */
static void setup_lanes(struct fixture *f, const bool there[ING_LANES_])
{
	setup(f, topics, PARTITIONS);
	for (int i = 0; i < ING_LANES_; i++)
		if (!there[i])
			rd_kafka_mock_topic_set_error(f->kafka.cluster, topics[i],
				RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

static const bool all[ING_LANES_] = {true, true, true, true};

/* ---- */

/* Each message comes with its lane, and positions are kept for each topic by itself, though their
 * partitions and offsets have the same numbers. */
static void test_all_lanes(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, all);
	for (int i = 0; i < ING_LANES_; i++)
		fill(&f, (enum ing_lane)i, 10 * (i + 1));
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 100);
	assert_int_equal(f.a.last_assigned, ING_LANES_ * PARTITIONS);
	for (int i = 0; i < ING_LANES_; i++)
		assert_int_equal(f.a.of_lane[i], 10 * (i + 1));
	for (unsigned i = 0; i < f.a.messages; i++)
		if (f.a.lanes[i] != ING_LANE_DAILY || f.a.tokens[i].offset >= 3)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	wait_committed(&f, ING_LANE_PRIORITY, 5);
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	wait_committed(&f, ING_LANE_BULK, 20);
	wait_committed(&f, ING_LANE_DAILY, 0);
	close_worker(&f, &f.a);

	f.a = (struct worker){0};
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.of_lane[ING_LANE_DAILY], 3 * PARTITIONS);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 3 * PARTITIONS);
	teardown(&f);
}

/* A lane that is not wanted is left alone, and the others go on; afterwards each of its messages
 * comes once. */
static void test_pause_one_lane(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, all);
	fill(&f, ING_LANE_BULK, 300);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	ing_intake_pause(f.a.in, ING_LANE_BULK, true);
	wait_count(&f, &f.a.assigned, 1);
	for (int round = 1; round <= 4; round++) {
		fill(&f, ING_LANE_PRIORITY, 20);
		fill(&f, ING_LANE_REQUESTS, 20);
		wait_count(&f, &f.a.messages, (unsigned)round * 40);
	}
	turn(&f, 500);
	assert_int_equal(f.a.of_lane[ING_LANE_PRIORITY], 80);
	assert_int_equal(f.a.of_lane[ING_LANE_BULK], 0);
	ing_intake_pause(f.a.in, ING_LANE_PRIORITY, true);
	fill(&f, ING_LANE_PRIORITY, 20);
	ing_intake_pause(f.a.in, ING_LANE_BULK, false);
	wait_count(&f, &f.a.of_lane[ING_LANE_BULK], 300);
	assert_int_equal(f.a.of_lane[ING_LANE_PRIORITY], 80);
	ing_intake_pause(f.a.in, ING_LANE_PRIORITY, false);
	wait_count(&f, &f.a.of_lane[ING_LANE_PRIORITY], 100);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 480);
	wait_committed(&f, ING_LANE_BULK, 150);
	assert_int_equal(f.a.revoked, 0);
	teardown(&f);
}

/* Whatever waits in the lower lanes, the highest is handed out first, and none has the turns to
 * itself. */
static void test_order_of_lanes(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, all);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	for (int i = 0; i < ING_LANES_; i++)
		ing_intake_pause(f.a.in, (enum ing_lane)i, true);
	wait_count(&f, &f.a.assigned, 1);
	for (int i = 0; i < ING_LANES_; i++)
		fill(&f, (enum ing_lane)i, 600);
	turn(&f, 3000); /* librdkafka fetches ahead */
	assert_int_equal(f.a.messages, 0);
	for (int i = 0; i < ING_LANES_; i++)
		ing_intake_pause(f.a.in, (enum ing_lane)i, false);
	wait_count(&f, &f.a.messages, 2400);
	assert_int_equal(f.a.lanes[0], ING_LANE_PRIORITY);
	unsigned seen[ING_LANES_] = {0};
	for (unsigned i = 0; i < 600; i++)
		seen[f.a.lanes[i]]++;
	for (int i = 0; i < ING_LANES_; i++)
		assert_true(seen[i] > 0);
	teardown(&f);
}

static unsigned most_in_a_turn;

static void on_turn(uv_prepare_t *handle)
{
	struct worker *w = handle->data;
	most_in_a_turn = ING_MAX(most_in_a_turn, w->this_turn);
	w->this_turn = 0;
}

/* Messages that take long are handed out one for each lane and turn of the loop, so that other
 * handles are not kept waiting for a lane's whole share. */
static void test_slow_messages_leave_the_loop_its_turns(void **state)
{
	(void)state;
	struct fixture f;
	uv_prepare_t turns = {.data = &f.a};
	setup_lanes(&f, all);
	f.a.busy_ms = 11;
	for (int i = 0; i < ING_LANES_; i++)
		fill(&f, (enum ing_lane)i, 30);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	uv_prepare_init(&f.loop, &turns);
	uv_prepare_start(&turns, on_turn);
	wait_count(&f, &f.a.messages, 30 * ING_LANES_);
	/* It may be served twice between two looks at it. */
	assert_in_range(most_in_a_turn, 1, 2 * ING_LANES_);
	uv_close((uv_handle_t *)&turns, NULL);
	teardown(&f);
}

/* Lanes without a topic keep nobody waiting; a topic that comes is read, under new epochs. */
static void test_topics_that_come_later(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, (const bool[ING_LANES_]){[ING_LANE_REQUESTS] = true});
	fill(&f, ING_LANE_REQUESTS, 10);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.of_lane[ING_LANE_REQUESTS], 10);
	assert_int_equal(f.a.assigned, 1); /* with partitions, not an empty one before */
	assert_int_equal(f.a.last_assigned, PARTITIONS);
	wait_committed(&f, ING_LANE_REQUESTS, 5);
	rd_kafka_mock_topic_set_error(
		f.kafka.cluster, topics[ING_LANE_BULK], RD_KAFKA_RESP_ERR_NO_ERROR);
	fill(&f, ING_LANE_BULK, 10);
	wait_count(&f, &f.a.of_lane[ING_LANE_BULK], 10);
	assert_int_equal(f.a.last_assigned, 2 * PARTITIONS);
	assert_int_equal(f.a.of_lane[ING_LANE_REQUESTS], 10);
	wait_committed(&f, ING_LANE_BULK, 5);
	assert_int_equal(f.a.fatals, 0);
	teardown(&f);
}

/* A topic that may not be read is no reason to leave the others. */
static void test_denied_topic(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, all);
	rd_kafka_mock_topic_set_error(f.kafka.cluster, topics[ING_LANE_DAILY],
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	fill(&f, ING_LANE_PRIORITY, 10);
	fill(&f, ING_LANE_DAILY, 10);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.of_lane[ING_LANE_PRIORITY], 10);
	turn(&f, 1000);
	assert_int_equal(f.a.last_assigned, 3 * PARTITIONS);
	assert_int_equal(f.a.of_lane[ING_LANE_DAILY], 0);
	assert_int_equal(f.a.fatals, 0);
	teardown(&f);
}

/* Without the topic of requests the others are read all the same. */
static void test_requests_missing(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, (const bool[ING_LANES_]){[ING_LANE_PRIORITY] = true});
	fill(&f, ING_LANE_PRIORITY, 10);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.of_lane[ING_LANE_PRIORITY], 10);
	assert_int_equal(f.a.last_assigned, PARTITIONS);
	teardown(&f);
}

/* A second worker comes: every partition of every topic is taken away, and shared anew. What the
 * first has finished is not given out again; what it finishes later of the old epochs is
 * ignored. */
static void test_revocation(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, all);
	for (int i = 0; i < ING_LANES_; i++)
		fill(&f, (enum ing_lane)i, 40);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 160);
	for (unsigned i = 0; i < 160; i++)
		if (f.a.tokens[i].offset < 5)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	for (int i = 0; i < ING_LANES_; i++)
		wait_committed(&f, (enum ing_lane)i, 5);

	f.a.finish_at_once = f.b.finish_at_once = true;
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 4, 4); /* range: one partition of each topic */
	assert_true(f.a.revoked >= ING_LANES_ * PARTITIONS);
	for (unsigned i = 0; i < 160; i++)
		if (f.a.tokens[i].offset >= 5)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	for (int i = 0; i < ING_LANES_; i++)
		wait_committed(&f, (enum ing_lane)i, 20);
	for (unsigned i = 160; i < f.a.messages; i++)
		assert_true(f.a.tokens[i].offset >= 5);
	for (unsigned i = 0; i < f.b.messages; i++)
		assert_true(f.b.tokens[i].offset >= 5);
	for (int i = 0; i < ING_LANES_; i++)
		assert_true(f.b.of_lane[i] > 0);
	teardown(&f);
}

static void test_one_topic_twice(void **state)
{
	(void)state;
	struct fixture f;
	setup_lanes(&f, all);
	const struct ing_kafka_settings settings = {
		.brokers = f.kafka.brokers,
		.group = GROUP,
		.lane_topics = {[ING_LANE_REQUESTS] = "r", [ING_LANE_BULK] = "r"},
		.max_message_bytes = 1 << 20,
	};
	struct ing_intake_events ev = {0};
	struct ing_error err = {0};
	struct ing_intake *in = NULL;
	assert_int_equal(ing_intake_kafka_new(&f.loop, &settings, "one", NULL, &ev, &in, &err),
		-ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "two lanes"));
	teardown(&f);
}

/* usage: intake_lanes_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_lanes),
		cmocka_unit_test(test_pause_one_lane),
		cmocka_unit_test(test_order_of_lanes),
		cmocka_unit_test(test_slow_messages_leave_the_loop_its_turns),
		cmocka_unit_test(test_topics_that_come_later),
		cmocka_unit_test(test_denied_topic),
		cmocka_unit_test(test_requests_missing),
		cmocka_unit_test(test_revocation),
		cmocka_unit_test(test_one_topic_twice),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
