/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The consumer of several topics, each a lane, against librdkafka's in-process cluster. What one
 * topic does alone is intake_kafka_test.c's matter, and how it waits is said there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "mock_kafka.h"
#include "side_by_side.h"
#include "worker/intake/intake.h"

#define GROUP "ingest-worker"
#define PARTITIONS 2
#define MAX_MESSAGES 4096
#define CEILING_MS 60000

static const char *const topics[ING_LANES_] = {"r-priority", "r", "r-daily", "r-bulk"};

struct worker {
	struct ing_intake *in;
	unsigned messages, assigned, revoked, fatals, last_assigned;
	unsigned of_lane[ING_LANES_];
	bool finish_at_once;
	struct ing_token tokens[MAX_MESSAGES];
	enum ing_lane lanes[MAX_MESSAGES]; /* of the messages, as they came */
	int32_t partitions[MAX_MESSAGES];
	uint32_t dead_epoch; /* newest revoked one */
};

struct fixture {
	struct mock_kafka kafka;
	uv_loop_t loop;
	struct worker a, b;
};

static void on_message(void *ctx, const struct ing_message *m)
{
	struct worker *w = ctx;
	assert_true(w->messages < MAX_MESSAGES);
	assert_in_range(m->lane, 0, ING_LANES_ - 1);
	assert_string_equal(m->topic, topics[m->lane]);
	assert_in_range(m->partition, 0, PARTITIONS - 1);
	assert_true(m->token.epoch > w->dead_epoch);
	w->tokens[w->messages] = m->token;
	w->lanes[w->messages] = m->lane;
	w->partitions[w->messages] = m->partition;
	w->messages++;
	w->of_lane[m->lane]++;
	if (w->finish_at_once)
		ing_intake_finish(w->in, m->token);
}

static void on_revoked(void *ctx, int32_t slot, uint32_t epoch)
{
	struct worker *w = ctx;
	assert_true(slot >= 0);
	w->revoked++;
	w->dead_epoch = ING_MAX(w->dead_epoch, epoch);
}

static void on_assigned(void *ctx, unsigned partitions)
{
	struct worker *w = ctx;
	w->assigned++;
	w->last_assigned = partitions;
}

static void on_end(void *ctx)
{
	(void)ctx;
	fail();
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	print_message("  fatal: %s\n", err->msg);
	((struct worker *)ctx)->fatals++;
}

/* All topics are made, for this cluster makes one that is asked for; those not in `there` answer
 * that they are unknown. */
static void setup(struct fixture *f, const bool there[ING_LANES_])
{
	memset(f, 0, sizeof(*f));
	mock_kafka_init(&f->kafka, 1);
	for (int i = 0; i < ING_LANES_; i++) {
		mock_kafka_topic(&f->kafka, topics[i], PARTITIONS);
		if (!there[i])
			rd_kafka_mock_topic_set_error(f->kafka.cluster, topics[i],
				RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	}
	uv_loop_init(&f->loop);
}

static const bool all[ING_LANES_] = {true, true, true, true};

static void open_worker(struct fixture *f, struct worker *w, const char *instance)
{
	char texts[3][64] = {"heartbeat.interval.ms=300", "topic.metadata.refresh.interval.ms=300",
		"session.timeout.ms=6000"};
	char *properties[] = {texts[0], texts[1], texts[2], NULL};
	struct ing_intake_kafka_conf conf = {
		.brokers = f->kafka.brokers,
		.group = GROUP,
		.topics = {topics[0], topics[1], topics[2], topics[3]},
		.instance = instance,
		.max_message_bytes = 1 << 20,
		.properties = properties,
	};
	struct ing_intake_events ev = {w, on_message, on_revoked, on_assigned, on_end, on_fatal};
	struct ing_error err = {0};
	assert_int_equal(ing_intake_kafka_new(&f->loop, &conf, &ev, &w->in, &err), 0);
	ing_intake_start(w->in);
}

static void close_worker(struct fixture *f, struct worker *w)
{
	ing_intake_free(ING_TAKE(w->in));
	uv_run(&f->loop, UV_RUN_NOWAIT);
}

static void teardown(struct fixture *f)
{
	close_worker(f, &f->a);
	close_worker(f, &f->b);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	mock_kafka_done(&f->kafka);
}

static void turn(struct fixture *f, int ms)
{
	mock_turn_until(&f->loop, NULL, ms);
}

static void wait_count(struct fixture *f, const unsigned *counter, unsigned want)
{
	if (!mock_turn_count(&f->loop, counter, want, CEILING_MS))
		fail_msg("%u of %u", *counter, want);
}

static void fill(struct fixture *f, enum ing_lane lane, int count)
{
	mock_kafka_fill(&f->kafka, topics[lane], PARTITIONS, "r", count);
}

/* Turns until the position of each partition of the lane's topic is `want`. */
static void wait_committed(struct fixture *f, enum ing_lane lane, int64_t want)
{
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	int64_t got[PARTITIONS];
	do {
		turn(f, 200);
		mock_kafka_committed(&f->kafka, GROUP, topics[lane], PARTITIONS, got);
	} while ((got[0] != want || got[1] != want) && ing_now_ms() < deadline);
	for (int i = 0; i < PARTITIONS; i++)
		assert_int_equal(got[i], want);
}

/* ---- */

/* Each message comes with its lane, and positions are kept for each topic by itself, though their
 * partitions and offsets have the same numbers. */
static void test_all_lanes(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, all);
	for (int i = 0; i < ING_LANES_; i++)
		fill(&f, (enum ing_lane)i, 10 * (i + 1));
	open_worker(&f, &f.a, "one");
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
	wait_committed(&f, ING_LANE_DAILY, -1);
	close_worker(&f, &f.a);

	f.a = (struct worker){0};
	open_worker(&f, &f.a, "one");
	wait_count(&f, &f.a.of_lane[ING_LANE_DAILY], 30);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 30);
	teardown(&f);
}

/* A lane that is not wanted is left alone, and the others go on; afterwards each of its messages
 * comes once. */
static void test_pause_one_lane(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, all);
	fill(&f, ING_LANE_BULK, 300);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one");
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
	setup(&f, all);
	open_worker(&f, &f.a, "one");
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

/* Lanes without a topic keep nobody waiting; a topic that comes is read, under new epochs. */
static void test_topics_that_come_later(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, (const bool[ING_LANES_]){[ING_LANE_REQUESTS] = true});
	fill(&f, ING_LANE_REQUESTS, 10);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one");
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
	setup(&f, all);
	rd_kafka_mock_topic_set_error(f.kafka.cluster, topics[ING_LANE_DAILY],
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	fill(&f, ING_LANE_PRIORITY, 10);
	fill(&f, ING_LANE_DAILY, 10);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one");
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
	setup(&f, (const bool[ING_LANES_]){[ING_LANE_PRIORITY] = true});
	fill(&f, ING_LANE_PRIORITY, 10);
	open_worker(&f, &f.a, "one");
	wait_count(&f, &f.a.of_lane[ING_LANE_PRIORITY], 10);
	assert_int_equal(f.a.last_assigned, PARTITIONS);
	teardown(&f);
}

/* A second worker comes: every partition of every topic is taken away, and shared anew. What the
 * first has finished is not given out again; what it finishes later of the old epochs is ignored.
 */
static void test_revocation(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, all);
	for (int i = 0; i < ING_LANES_; i++)
		fill(&f, (enum ing_lane)i, 40);
	open_worker(&f, &f.a, "one");
	wait_count(&f, &f.a.messages, 160);
	for (unsigned i = 0; i < 160; i++)
		if (f.a.tokens[i].offset < 5)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	for (int i = 0; i < ING_LANES_; i++)
		wait_committed(&f, (enum ing_lane)i, 5);

	f.a.finish_at_once = f.b.finish_at_once = true;
	open_worker(&f, &f.b, "two");
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while ((f.a.last_assigned != 4 || f.b.last_assigned != 4) && ing_now_ms() < deadline)
		turn(&f, 20);
	assert_int_equal(f.a.last_assigned, 4); /* range: one partition of each topic */
	assert_int_equal(f.b.last_assigned, 4);
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
	setup(&f, all);
	struct ing_intake_kafka_conf conf = {f.kafka.brokers, GROUP, "one",
		{[ING_LANE_REQUESTS] = "r", [ING_LANE_BULK] = "r"}, 1 << 20, NULL};
	struct ing_intake_events ev = {0};
	struct ing_error err = {0};
	struct ing_intake *in = NULL;
	assert_int_equal(ing_intake_kafka_new(&f.loop, &conf, &ev, &in, &err), -ING_FAIL_CONFIG);
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
		cmocka_unit_test(test_topics_that_come_later),
		cmocka_unit_test(test_denied_topic),
		cmocka_unit_test(test_requests_missing),
		cmocka_unit_test(test_revocation),
		cmocka_unit_test(test_one_topic_twice),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
