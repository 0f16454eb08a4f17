/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The consumer against librdkafka's in-process cluster: positions, pauses, rebalances, faults.
 *
 * What must happen is waited for, with a ceiling that only a hang reaches; what must not happen is
 * looked for during a while, which on a slow machine may see less but never fails. This broker may
 * rebalance more often than needed (a member that went without leaving is reckoned with until its
 * session ends), so that after a rebalance "at least" is said where a count would depend on it.
 * Workers that come, restart and die as a whole are the scenarios' matter (test_delivery.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "mock_kafka.h"
#include "side_by_side.h"
#include "worker/intake/intake.h"

#define GROUP "ingest-worker"
#define TOPIC "requests"
#define MAX_VALUES 4096
#define MAX_PARTITIONS 8
#define CEILING_MS 60000
/* After its first round this broker collects a group's members for a second less than the session.
 * That must be longer than a revocation waits for its commit (3 s). A single member goes through
 * it, too, when metadata comes while it is the leader of the first round: the session must not be
 * long. */
#define CHANGING "session.timeout.ms=6000"
/* Of a group that does not change: what the machine does meanwhile should not expire it. */
#define STEADY "session.timeout.ms=12000"

enum { API_OFFSET_COMMIT = 8, API_HEARTBEAT = 12 };

/* One worker: an intake, what it was handed, and how often each value came. */
struct worker {
	struct ing_intake *in;
	unsigned messages, assigned, revoked, fatals;
	unsigned last_assigned;
	unsigned pause_after;
	bool finish_at_once;
	struct ing_token tokens[MAX_VALUES];
	int32_t partitions[MAX_VALUES];
	unsigned times[MAX_VALUES]; /* by the number in the value */
	uint32_t dead_epoch;        /* newest revoked one */
	struct ing_token newest[MAX_PARTITIONS];
};

/* Within an assignment the messages of a partition come in order, and so none twice. */
static void check_order(struct worker *w, const struct ing_message *m)
{
	assert_in_range(m->partition, 0, MAX_PARTITIONS - 1);
	struct ing_token *newest = &w->newest[m->partition];
	assert_true(m->token.epoch > w->dead_epoch);
	if (newest->epoch == m->token.epoch)
		assert_true(m->token.offset > newest->offset);
	*newest = m->token;
}

static void on_message(void *ctx, const struct ing_message *m)
{
	struct worker *w = ctx;
	char text[64];
	snprintf(text, sizeof(text), "%.*s", (int)ING_MIN(m->value_bytes, (size_t)60), m->value);
	int number;
	assert_int_equal(sscanf(text, "r%d", &number), 1);
	assert_true(number < MAX_VALUES && w->messages < MAX_VALUES);
	assert_string_equal(m->topic, TOPIC);
	check_order(w, m);
	w->times[number]++;
	w->tokens[w->messages] = m->token;
	w->partitions[w->messages] = m->partition;
	w->messages++;
	if (w->finish_at_once)
		ing_intake_finish(w->in, m->token);
	if (w->messages == w->pause_after)
		ing_intake_pause(w->in, ING_LANE_REQUESTS, true);
}

static void on_revoked(void *ctx, int32_t slot, uint32_t epoch)
{
	(void)slot;
	struct worker *w = ctx;
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

struct fixture {
	struct mock_kafka kafka;
	uv_loop_t loop;
	struct worker a, b;
};

static void setup(struct fixture *f, int partitions)
{
	memset(f, 0, sizeof(*f));
	mock_kafka_init(&f->kafka, 1);
	mock_kafka_topic(&f->kafka, TOPIC, partitions);
	uv_loop_init(&f->loop);
}

/* session and property are settings, "key=value"; property may be NULL. */
static void open_worker_with(struct fixture *f, struct worker *w, const char *instance,
	const char *session, const char *property)
{
	char texts[4][64] = {"heartbeat.interval.ms=300", "topic.metadata.refresh.interval.ms=300"};
	snprintf(texts[2], sizeof(texts[2]), "%s", session);
	snprintf(texts[3], sizeof(texts[3]), "%s", property == NULL ? "" : property);
	char *properties[] = {
		texts[0], texts[1], texts[2], property == NULL ? NULL : texts[3], NULL};
	struct ing_intake_kafka_conf conf = {
		.brokers = f->kafka.brokers,
		.group = GROUP,
		.topics[ING_LANE_REQUESTS] = TOPIC,
		.instance = instance,
		.max_message_bytes = 1 << 20,
		.properties = properties,
	};
	struct ing_intake_events ev = {w, on_message, on_revoked, on_assigned, on_end, on_fatal};
	struct ing_error err = {0};
	assert_int_equal(ing_intake_kafka_new(&f->loop, &conf, &ev, &w->in, &err), 0);
	ing_intake_start(w->in);
}

/* A worker of a group that does not change. */
static void open_worker(struct fixture *f)
{
	open_worker_with(f, &f->a, "one", STEADY, NULL);
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

static int64_t committed(struct fixture *f, int partition)
{
	int64_t offsets[MAX_PARTITIONS];
	mock_kafka_committed(&f->kafka, GROUP, TOPIC, partition + 1, offsets);
	return offsets[partition];
}

static void expect_committed(struct fixture *f, int partitions, int64_t want)
{
	int64_t offsets[MAX_PARTITIONS];
	mock_kafka_committed(&f->kafka, GROUP, TOPIC, partitions, offsets);
	for (int i = 0; i < partitions; i++)
		assert_int_equal(offsets[i], want);
}

/* Turns until the group's position is `want`; commits come once a second. */
static void wait_committed(struct fixture *f, int partition, int64_t want)
{
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	int64_t got;
	do {
		turn(f, 200);
		got = committed(f, partition);
	} while (got != want && ing_now_ms() < deadline);
	assert_int_equal(got, want);
}

static void wait_count(struct fixture *f, const unsigned *counter, unsigned want)
{
	if (!mock_turn_count(&f->loop, counter, want, CEILING_MS))
		fail_msg("%u of %u", *counter, want);
}

/* Turns until a and b own so many partitions. */
static void wait_shared(struct fixture *f, unsigned a, unsigned b)
{
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while ((f->a.last_assigned != a || f->b.last_assigned != b) && ing_now_ms() < deadline)
		turn(f, 20);
	assert_int_equal(f->a.last_assigned, a);
	assert_int_equal(f->b.last_assigned, b);
}

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

/* Finished out of order: the position stops at the first unfinished one, and the next owner begins
 * there. */
static void test_out_of_order(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 50);
	open_worker_with(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 50);
	assert_int_equal(f.a.assigned, 1);
	assert_int_equal(f.a.last_assigned, 1);
	expect_each(&f.a, 50, 1);
	for (int64_t i = 49; i >= 0; i--)
		if (i != 0 && i != 20)
			finish_offset(&f.a, i);
	turn(&f, 1500);
	assert_int_equal(committed(&f, 0), -1);
	finish_offset(&f.a, 0);
	wait_committed(&f, 0, 20);
	close_worker(&f, &f.a);
	assert_int_equal(committed(&f, 0), 20);

	f.a = (struct worker){0};
	open_worker_with(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 30);
	assert_int_equal(f.a.tokens[0].offset, 20);
	for (unsigned i = 0; i < f.a.messages; i++)
		assert_true(f.a.tokens[i].offset >= 20);
	teardown(&f);
}

/* What was finished since the last tick is committed at the end. */
static void test_commit_at_end(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 3);
	mock_kafka_fill(&f.kafka, TOPIC, 3, "r", 300);
	f.a.finish_at_once = true;
	open_worker(&f);
	wait_count(&f, &f.a.messages, 300);
	close_worker(&f, &f.a);
	expect_committed(&f, 3, 100);
	teardown(&f);
}

/* After the first SIGTERM: no further message, but what is owed may be finished and counts. */
static void test_stop(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 10);
	open_worker(&f);
	wait_count(&f, &f.a.messages, 10);
	ing_intake_stop(f.a.in);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 10);
	turn(&f, 1000);
	assert_int_equal(f.a.messages, 10);
	for (int64_t i = 0; i < 7; i++)
		finish_offset(&f.a, i);
	wait_committed(&f, 0, 7);
	for (int64_t i = 7; i < 10; i++)
		finish_offset(&f.a, i);
	close_worker(&f, &f.a);
	assert_int_equal(committed(&f, 0), 10);
	teardown(&f);
}

/* ---- Backpressure ---- */

/* Paused longer than max.poll.interval.ms: the membership stays, and afterwards each message comes
 * once. */
static void test_pause(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 2);
	mock_kafka_fill(&f.kafka, TOPIC, 2, "r", 1000);
	f.a.finish_at_once = true;
	f.a.pause_after = 10;
	open_worker_with(&f, &f.a, "one", CHANGING, "max.poll.interval.ms=6000");
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
	expect_committed(&f, 2, 500);
	teardown(&f);
}

/* ---- Rebalances ---- */

/* A second worker comes: the first loses all and gets half under new epochs; what is unfinished
 * comes again to whoever owns it now, and nothing that is finished does. */
static void test_two_workers(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 4);
	mock_kafka_fill(&f.kafka, TOPIC, 4, "r", 400);
	open_worker_with(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 400);
	for (unsigned i = 0; i < 400; i++)
		if (f.a.tokens[i].offset < 10)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	for (int i = 0; i < 4; i++) /* this broker takes no commit while it rebalances */
		wait_committed(&f, i, 10);
	assert_int_equal(f.a.assigned, 1);

	f.a.finish_at_once = f.b.finish_at_once = true;
	open_worker_with(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 2, 2);
	assert_true(f.a.revoked >= 4);
	for (unsigned i = 0; i < 400; i++)
		if (f.a.tokens[i].offset >= 10)
			ing_intake_finish(f.a.in, f.a.tokens[i]); /* of a dead epoch: ignored */
	for (int i = 0; i < 4; i++)
		wait_committed(&f, i, 100);
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
	setup(&f, 2);
	mock_kafka_fill(&f.kafka, TOPIC, 2, "r", 100);
	open_worker_with(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 100);
	open_worker_with(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 1, 1);
	wait_count(&f, &f.a.messages, 150);
	for (unsigned i = 0; i < 100; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	turn(&f, 1500);
	close_worker(&f, &f.a);
	close_worker(&f, &f.b);
	expect_committed(&f, 2, -1);
	teardown(&f);
}

/* The coordinator has forgotten us: the assignment is lost, and nothing is committed for it. */
static void test_lost_assignment(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 20);
	open_worker_with(&f, &f.a, "one", CHANGING, NULL);
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

/* ---- Faults ---- */

static void test_missing_topic(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 2);
	rd_kafka_mock_topic_set_error(
		f.kafka.cluster, TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	open_worker(&f);
	wait_count(&f, &f.a.assigned, 1);
	assert_int_equal(f.a.last_assigned, 0);
	turn(&f, 1000);
	assert_int_equal(f.a.assigned, 1);
	rd_kafka_mock_topic_set_error(f.kafka.cluster, TOPIC, RD_KAFKA_RESP_ERR_NO_ERROR);
	mock_kafka_fill(&f.kafka, TOPIC, 2, "r", 10);
	wait_count(&f, &f.a.messages, 10);
	assert_int_equal(f.a.last_assigned, 2);
	teardown(&f);
}

/* Commits that the coordinator refuses for now are sent again. */
static void test_commit_errors(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 5);
	f.a.finish_at_once = true;
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_OFFSET_COMMIT, 4,
		RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR__TRANSPORT,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR_NOT_COORDINATOR);
	open_worker(&f);
	wait_committed(&f, 0, 5);
	assert_int_equal(f.a.fatals, 0);
	teardown(&f);
}

/* The coordinator puts a commit off, and librdkafka repeats it later: it must not come after a
 * newer one and take the position back. */
static void test_commit_order(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 10);
	open_worker_with(&f, &f.a, "one", STEADY, "retry.backoff.ms=2000");
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
	wait_committed(&f, 0, 10);
	turn(&f, 4000);
	assert_int_equal(committed(&f, 0), 10);
	close_worker(&f, &f.a);
	assert_int_equal(committed(&f, 0), 10);
	teardown(&f);
}

/* Another worker has our name: the older one must end. */
static void test_fenced(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 5);
	open_worker(&f);
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
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 100);
	f.a.finish_at_once = true;
	f.a.pause_after = 40;
	open_worker(&f);
	wait_count(&f, &f.a.messages, 40);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	turn(&f, 2500);
	ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	wait_count(&f, &f.a.messages, 100);
	wait_committed(&f, 0, 100);
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
	setup(&f, 1);
	mock_kafka_fill(&f.kafka, TOPIC, 1, "r", 5);
	f.a.finish_at_once = true;
	open_worker_with(&f, &f.a, "one", "session.timeout.ms=40000", NULL);
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
	setup(&f, 1);
	static const char *const bad[] = {"group.instance.id=x", "enable.auto.commit=true",
		"partition.assignment.strategy=cooperative-sticky", "nonsense=1"};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		char property[80];
		snprintf(property, sizeof(property), "%s", bad[i]);
		char *properties[] = {property, NULL};
		struct ing_intake_kafka_conf conf = {f.kafka.brokers, GROUP, "one",
			{[ING_LANE_REQUESTS] = TOPIC}, 1 << 20, properties};
		struct ing_intake_events ev = {0};
		struct ing_error err = {0};
		struct ing_intake *in = NULL;
		assert_int_equal(
			ing_intake_kafka_new(&f.loop, &conf, &ev, &in, &err), -ING_FAIL_CONFIG);
		assert_non_null(strstr(err.msg, strtok_r(property, "=", &(char *){NULL})));
		assert_null(in);
	}
	/* Never started: nothing to close. */
	struct ing_intake_kafka_conf conf = {
		f.kafka.brokers, GROUP, "one", {[ING_LANE_REQUESTS] = TOPIC}, 1 << 20, NULL};
	struct ing_intake_events ev = {0};
	struct ing_error err = {0};
	assert_int_equal(ing_intake_kafka_new(&f.loop, &conf, &ev, &f.a.in, &err), 0);
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
		cmocka_unit_test(test_missing_topic),
		cmocka_unit_test(test_commit_errors),
		cmocka_unit_test(test_commit_order),
		cmocka_unit_test(test_fenced),
		cmocka_unit_test(test_broker_restart),
		cmocka_unit_test(test_free_without_broker),
		cmocka_unit_test(test_settings),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
