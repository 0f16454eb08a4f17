/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The consumer against librdkafka's in-process cluster: positions, pauses, rebalances, faults.
 *
 * Workers that come, restart and die as a whole are the scenarios' matter (test_delivery.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "group.h"
#include "side_by_side.h"
#include "worker/intake/kafka_priv.h"

#define TOPIC "requests"

enum { API_FETCH = 1, API_OFFSET_COMMIT = 8, API_HEARTBEAT = 12 };

static const char *const topics[ING_LANES_] = {[ING_LANE_REQUESTS] = TOPIC};

/* Requests of this kind that the broker is to answer with errors and has not met yet. */
static size_t errors_left(struct fixture *f, int16_t api)
{
	size_t left;
	assert_int_equal(rd_kafka_mock_broker_error_stack_cnt(f->kafka.cluster, 1, api, &left), 0);
	return left;
}

static void expect_each(const struct worker *w, int count, unsigned times)
{
	for (int i = 0; i < count; i++)
		if (w->times[i] != times)
			fail_msg("value %d came %u times, not %u", i, w->times[i], times);
}

static void finish_offset(struct worker *w, int64_t offset)
{
	for (unsigned i = 0; i < w->messages; i++)
		if (w->tokens[i].offset == offset)
			ing_intake_finish(w->in, w->tokens[i]);
}

/* ---- Positions ---- */

static struct ing_intake_stats stats_of(const struct worker *w)
{
	struct ing_intake_stats s;
	ing_intake_stats(w->in, &s);
	return s;
}

/* Finished out of order: the position stops at the first unfinished one, and what is finished beyond it
 * goes into its map: the next owner takes only what is unfinished. */
static void test_out_of_order(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 50);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 50);
	assert_int_equal(f.a.assigned, 1);
	assert_int_equal(f.a.last_assigned, 1);
	expect_each(&f.a, 50, 1);
	for (int64_t i = 49; i >= 0; i--)
		if (i != 0 && i != 20 && i != 33)
			finish_offset(&f.a, i);
	wait_committed(&f, ING_LANE_REQUESTS, 0);
	turn(&f, 1500);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	finish_offset(&f.a, 0);
	wait_committed(&f, ING_LANE_REQUESTS, 20);
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 20);

	f.a = (struct worker){0};
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 2);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 2);
	assert_int_equal(f.a.tokens[0].offset, 20);
	assert_int_equal(f.a.tokens[1].offset, 33);
	assert_int_equal(stats_of(&f.a).finished_before, 28);
	finish_offset(&f.a, 20);
	wait_committed(&f, ING_LANE_REQUESTS, 33);
	finish_offset(&f.a, 33);
	wait_committed(&f, ING_LANE_REQUESTS, 50);
	teardown(&f);
}

/* What was finished since the last tick is committed at the end. */
static void test_commit_at_end(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 3);
	fill(&f, ING_LANE_REQUESTS, 300);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 300);
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 100);
	teardown(&f);
}

/* After the first SIGTERM: no further message, but what is owed may be finished and counts. */
static void test_stop(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 10);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 10);
	ing_intake_stop(f.a.in);
	fill(&f, ING_LANE_REQUESTS, 10);
	turn(&f, 1000);
	assert_int_equal(f.a.messages, 10);
	for (int64_t i = 0; i < 7; i++)
		finish_offset(&f.a, i);
	wait_committed(&f, ING_LANE_REQUESTS, 7);
	for (int64_t i = 7; i < 10; i++)
		finish_offset(&f.a, i);
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 10);
	teardown(&f);
}

/* ---- Backpressure ---- */

/* Paused longer than max.poll.interval.ms: the membership stays, and afterwards each message comes
 * once. */
static void test_pause(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 1000);
	f.a.finish_at_once = true;
	f.a.pause_after = 10;
	open_worker(&f, &f.a, "one", CHANGING, "max.poll.interval.ms=6000");
	wait_count(&f, &f.a.messages, 10);
	turn(&f, 7500);
	assert_int_equal(f.a.messages, 10);
	assert_int_equal(f.a.revoked, 0);
	for (unsigned stop = 20; stop <= 500; stop += 60) {
		f.a.pause_after = stop;
		ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
		wait_count(&f, &f.a.messages, stop);
		turn(&f, 50);
		assert_int_equal(f.a.messages, stop);
	}
	f.a.pause_after = 0;
	ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	wait_count(&f, &f.a.messages, 1000);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 1000);
	expect_each(&f.a, 1000, 1);
	assert_int_equal(f.a.assigned, 1);
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 500);
	teardown(&f);
}

/* ---- Rebalances ---- */

/* A second worker comes: the first loses all and gets half under new epochs; what is unfinished
 * comes again to whoever owns it now, and nothing that is finished does. */
static void test_two_workers(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 4);
	fill(&f, ING_LANE_REQUESTS, 400);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 400);
	for (unsigned i = 0; i < 400; i++)
		if (f.a.tokens[i].offset < 10)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	/* This broker takes no commit while it rebalances. */
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	assert_int_equal(f.a.assigned, 1);

	f.a.finish_at_once = f.b.finish_at_once = true;
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 2, 2);
	assert_true(f.a.revoked >= 4);
	for (unsigned i = 0; i < 400; i++)
		if (f.a.tokens[i].offset >= 10)
			ing_intake_finish(f.a.in, f.a.tokens[i]); /* of a dead epoch: ignored */
	wait_committed(&f, ING_LANE_REQUESTS, 100);
	for (int i = 0; i < 400; i++) { /* value i is at offset i / 4 */
		if (i / 4 < 10)
			assert_int_equal(f.a.times[i] + f.b.times[i], 1);
		else
			assert_true(f.a.times[i] + f.b.times[i] >= 2);
	}
	assert_true(f.b.messages > 0);
	teardown(&f);
}

/* The same, but nothing of the second assignment is finished: finishing tokens of the first must
 * move nothing. */
static void test_old_epoch_commits_nothing(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 100);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 100);
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 1, 1);
	wait_count(&f, &f.a.messages, 150);
	for (unsigned i = 0; i < 100; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	turn(&f, 1500);
	close_worker(&f, &f.a);
	close_worker(&f, &f.b);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	teardown(&f);
}

/* The coordinator has forgotten us: the assignment is lost, and nothing is committed for it. */
static void test_lost_assignment(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 20);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 20);
	rd_kafka_mock_push_request_errors(
		f.kafka.cluster, API_HEARTBEAT, 1, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	wait_count(&f, &f.a.revoked, 1);
	wait_count(&f, &f.a.assigned, 2);
	wait_count(&f, &f.a.messages, 40);
	for (int i = 0; i < 20; i++)
		assert_true(f.a.times[i] >= 2);
	teardown(&f);
}

static void note_errors_left(void *ctx)
{
	struct fixture *f = ctx;
	f->a.on_first_revoked = NULL;
	f->a.seen = (unsigned)errors_left(f, API_OFFSET_COMMIT);
}

/* The coordinator takes its time for the last commit. Nobody waits for it: the jobs are cancelled
 * before it is sent, the loop turns, and the partitions are given back when it is answered. */
static void test_revocation_does_not_wait_for_its_commit(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 20);
	wait_committed(&f, ING_LANE_REQUESTS, 0);
	f.b.finish_at_once = true;
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	f.a.on_first_revoked = note_errors_left;
	rd_kafka_mock_broker_push_request_error_rtts(f.kafka.cluster, 1, API_OFFSET_COMMIT, 1,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 1000);
	for (unsigned i = 0; i < 20; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	f.a.finish_at_once = true;
	wait_shared(&f, 1, 1);
	assert_null(f.a.on_first_revoked);
	assert_int_equal(f.a.seen, 1); /* the commit's answer was still in store */
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	teardown(&f);
}

/* ---- Logs that are not what they were ---- */

/* The group's position is past the end of the log: it is another log, and is read whole. */
static void test_position_past_the_end(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 20);
	mock_kafka_commit(&f.kafka, GROUP, TOPIC, 50);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 20);
	expect_each(&f.a, 20, 1);
	assert_int_equal(stats_of(&f.a).restarts, 1);
	assert_int_equal(stats_of(&f.a).lost, 0);
	wait_committed(&f, ING_LANE_REQUESTS, 20);
	teardown(&f);
}

/* More partitions of a broker that is down than are asked for in one go stand before those of
 * another: these are read all the same, and the former when their broker is back. */
static void test_partitions_of_a_dead_broker_do_not_keep_others_from_being_read(void **state)
{
	(void)state;
	enum { DEAD = 18, LIVING = MAX_PARTITIONS - DEAD };
	struct fixture f;
	setup_brokers(&f, topics, MAX_PARTITIONS, 2);
	fill(&f, ING_LANE_REQUESTS, MAX_PARTITIONS);
	for (int i = 0; i < DEAD; i++)
		assert_int_equal(
			rd_kafka_mock_partition_set_leader(f.kafka.cluster, TOPIC, i, 2), 0);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 2);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, LIVING);
	for (int i = 0; i < MAX_PARTITIONS; i++)
		assert_int_equal(f.a.times[i], i < DEAD ? 0 : 1);
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 2);
	wait_count(&f, &f.a.messages, MAX_PARTITIONS);
	expect_each(&f.a, MAX_PARTITIONS, 1);
	teardown(&f);
}

/* The log begins past the group's position: what lies between is lost, and counted. */
static void test_deleted_before_it_was_read(void **state)
{
	(void)state;
	enum { BYTES = 100000 };
	static char value[BYTES] = "r0 ";
	struct fixture f;
	setup(&f, topics, 1);
	mock_kafka_commit(&f.kafka, GROUP, TOPIC, 3);
	/* The cluster keeps 5 MB. */
	for (int i = 0; i < 80; i++) {
		assert_int_equal(rd_kafka_producev(f.kafka.rk, RD_KAFKA_V_TOPIC(TOPIC),
					 RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_VALUE(value, BYTES),
					 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
			0);
		assert_int_equal(rd_kafka_flush(f.kafka.rk, CEILING_MS), 0);
	}
	int64_t low, high;
	assert_int_equal(
		rd_kafka_query_watermark_offsets(f.kafka.rk, TOPIC, 0, &low, &high, CEILING_MS), 0);
	assert_true(low > 3 && high == 80);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, (unsigned)(high - low));
	assert_true(f.a.tokens[0].offset == low);
	assert_int_equal(stats_of(&f.a).lost, low - 3);
	assert_int_equal(stats_of(&f.a).taken, high - low);
	wait_committed(&f, ING_LANE_REQUESTS, 80);
	teardown(&f);
}

/* Offsets that were read come once more, as in a log that was made anew: it is read whole under a
 * new epoch, and the committed position goes back with it. */
static void test_an_offset_below_the_position(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 100);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 100);
	wait_committed(&f, ING_LANE_REQUESTS, 100);
	f.a.finish_at_once = false;
	struct kafka_intake *in = (struct kafka_intake *)(void *)f.a.in;
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, TOPIC, 0)->offset = 30;
	rd_kafka_error_t *error = rd_kafka_seek_partitions(in->rk, list, CEILING_MS);
	assert_null(error);
	rd_kafka_topic_partition_list_destroy(list);
	wait_count(&f, &f.a.messages, 200);
	expect_each(&f.a, 100, 2);
	assert_int_equal(f.a.revoked, 1);
	assert_int_equal(stats_of(&f.a).restarts, 1);
	wait_committed(&f, ING_LANE_REQUESTS, 0);
	for (unsigned i = 0; i < 100; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]); /* of the epoch before: ignored */
	for (unsigned i = 100; i < 160; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	wait_committed(&f, ING_LANE_REQUESTS, 60);
	teardown(&f);
}

/* A broker says that there is no such offset, though there is: the position is asked for, and
 * reading goes on there. Nothing is lost, and nothing comes twice. */
static void test_out_of_range(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 100);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 100);
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_FETCH, 2,
		RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while (errors_left(&f, API_FETCH) > 0 && ing_now_ms() < deadline)
		turn(&f, 20);
	for (int i = 100; i < 200; i++) {
		char prefix[16];
		snprintf(prefix, sizeof(prefix), "r%d_", i);
		mock_kafka_fill(&f.kafka, TOPIC, 1, prefix, 1);
	}
	wait_count(&f, &f.a.messages, 200);
	turn(&f, 500);
	expect_each(&f.a, 200, 1);
	assert_int_equal(f.a.messages, 200);
	assert_int_equal(stats_of(&f.a).restarts, 0);
	assert_int_equal(f.a.revoked, 0);
	teardown(&f);
}

/* ---- Faults ---- */

static void test_missing_topic(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	rd_kafka_mock_topic_set_error(
		f.kafka.cluster, TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.assigned, 1);
	assert_int_equal(f.a.last_assigned, 0);
	turn(&f, 1000);
	assert_int_equal(f.a.assigned, 1);
	rd_kafka_mock_topic_set_error(f.kafka.cluster, TOPIC, RD_KAFKA_RESP_ERR_NO_ERROR);
	fill(&f, ING_LANE_REQUESTS, 10);
	wait_count(&f, &f.a.messages, 10);
	assert_int_equal(f.a.last_assigned, 2);
	teardown(&f);
}

/* The group's position is what goes with a topic and so tells of it: nothing is read while the
 * group has none, and all of it once it has. */
static void test_nothing_is_read_before_the_group_has_a_position(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_OFFSET_COMMIT, 4,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while (f.a.messages == 0 && ing_now_ms() < deadline)
		turn(&f, 20);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	wait_count(&f, &f.a.messages, 20);
	turn(&f, 500);
	expect_each(&f.a, 20, 1);
	assert_int_equal(stats_of(&f.a).restarts, 0);
	teardown(&f);
}

/* Commits that the coordinator refuses for now are sent again. */
static void test_commit_errors(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 5);
	f.a.finish_at_once = true;
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_OFFSET_COMMIT, 4,
		RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR__TRANSPORT,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR_NOT_COORDINATOR);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_committed(&f, ING_LANE_REQUESTS, 5);
	assert_int_equal(f.a.fatals, 0);
	teardown(&f);
}

/* The coordinator puts a commit off, and librdkafka repeats it later: it must not come after a
 * newer one and take the position back. */
static void test_commit_order(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 10);
	open_worker(&f, &f.a, "one", STEADY, "retry.backoff.ms=2000");
	wait_count(&f, &f.a.messages, 10);
	rd_kafka_mock_broker_push_request_error_rtts(f.kafka.cluster, 1, API_OFFSET_COMMIT, 1,
		RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 0);
	for (int64_t i = 0; i < 5; i++)
		finish_offset(&f.a, i);
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while (errors_left(&f, API_OFFSET_COMMIT) > 0 && ing_now_ms() < deadline)
		turn(&f, 20);
	assert_int_equal(errors_left(&f, API_OFFSET_COMMIT), 0); /* sent, and put off */
	for (int64_t i = 5; i < 10; i++)
		finish_offset(&f.a, i);
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	turn(&f, 4000);
	expect_committed(&f, ING_LANE_REQUESTS, 10);
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 10);
	teardown(&f);
}

/* Another worker has our name: the older one must end. */
static void test_fenced(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 5);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 5);
	rd_kafka_mock_push_request_errors(
		f.kafka.cluster, API_HEARTBEAT, 1, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
	wait_count(&f, &f.a.fatals, 1);
	turn(&f, 500);
	assert_int_equal(f.a.fatals, 1);
	uint64_t before = ing_now_ms();
	close_worker(&f, &f.a);
	assert_true(ing_now_ms() - before < CEILING_MS);
	teardown(&f);
}

/* The broker goes away and comes back: nothing is lost, nothing comes twice, the position catches
 * up. */
static void test_broker_restart(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 100);
	f.a.finish_at_once = true;
	f.a.pause_after = 40;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 40);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	turn(&f, 2500);
	ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	wait_count(&f, &f.a.messages, 100);
	wait_committed(&f, ING_LANE_REQUESTS, 100);
	expect_each(&f.a, 100, 1);
	assert_int_equal(f.a.fatals, 0);
	teardown(&f);
}

/* The end is bounded when no broker is there to commit to; librdkafka holds on to the commit for as
 * long as the session. */
static void test_free_without_broker(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 5);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", "session.timeout.ms=40000", NULL);
	wait_count(&f, &f.a.messages, 5);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	uint64_t before = ing_now_ms();
	close_worker(&f, &f.a);
	/* Five seconds by its promise, and what a loaded machine adds. Without it: a session. */
	assert_true(ing_now_ms() - before < 15000);
	teardown(&f);
}

static void test_settings(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	static const char *const bad[] = {"group.instance.id=x", "enable.auto.commit=true",
		"partition.assignment.strategy=cooperative-sticky", "auto.offset.reset=latest",
		"nonsense=1"};
	struct ing_kafka_settings settings = {
		.brokers = f.kafka.brokers,
		.group = GROUP,
		.lane_topics = {[ING_LANE_REQUESTS] = TOPIC},
		.max_message_bytes = 1 << 20,
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		char property[80];
		snprintf(property, sizeof(property), "%s", bad[i]);
		char *properties[] = {property, NULL};
		settings.properties.values = properties;
		struct ing_intake_events ev = {0};
		struct ing_error err = {0};
		struct ing_intake *in = NULL;
		assert_int_equal(
			ing_intake_kafka_new(&f.loop, &settings, "one", NULL, &ev, &in, &err),
			-ING_FAIL_CONFIG);
		assert_non_null(strstr(err.msg, strtok_r(property, "=", &(char *){NULL})));
		assert_null(in);
	}
	/* Never started: nothing to close. */
	settings.properties.values = NULL;
	struct ing_intake_events ev = {0};
	struct ing_error err = {0};
	assert_int_equal(
		ing_intake_kafka_new(&f.loop, &settings, "one", NULL, &ev, &f.a.in, &err), 0);
	teardown(&f);
}

/* usage: intake_kafka_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_commit_at_end),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_two_workers),
		cmocka_unit_test(test_old_epoch_commits_nothing),
		cmocka_unit_test(test_lost_assignment),
		cmocka_unit_test(test_revocation_does_not_wait_for_its_commit),
		cmocka_unit_test(test_position_past_the_end),
		cmocka_unit_test(
			test_partitions_of_a_dead_broker_do_not_keep_others_from_being_read),
		cmocka_unit_test(test_deleted_before_it_was_read),
		cmocka_unit_test(test_an_offset_below_the_position),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_missing_topic),
		cmocka_unit_test(test_nothing_is_read_before_the_group_has_a_position),
		cmocka_unit_test(test_commit_errors),
		cmocka_unit_test(test_commit_order),
		cmocka_unit_test(test_fenced),
		cmocka_unit_test(test_broker_restart),
		cmocka_unit_test(test_free_without_broker),
		cmocka_unit_test(test_settings),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
