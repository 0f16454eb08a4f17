/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What goes wrong with consumers of librdkafka in practice, one test for each, against its in-process
 * cluster. Debian 12 has librdkafka 2.0, in which most of it is still to be avoided by the program: no
 * partition is ever paused or resumed, the assignor is eager, and positions are our own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "group.h"
#include "side_by_side.h"
#include "worker/intake/kafka_priv.h"

#define TOPIC "requests"

enum { API_OFFSET_COMMIT = 8, API_HEARTBEAT = 12 };

static const char *const topics[ING_LANES_] = {[ING_LANE_REQUESTS] = TOPIC};

static void expect_each(const struct worker *w, int count, unsigned times)
{
	for (int i = 0; i < count; i++)
		if (w->times[i] != times)
			fail_msg("value %d came %u times, not %u", i, w->times[i], times);
}

static rd_kafka_t *consumer_of(const struct worker *w)
{
	return ((struct kafka_intake *)(void *)w->in)->rk;
}

/* Backpressure for longer than max.poll.interval.ms: a consumer that is not polled meanwhile is put out
 * of its group. */
static void test_backpressure_longer_than_max_poll_interval_keeps_the_membership(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	f.a.finish_at_once = true;
	f.a.pause_after = 10;
	open_worker(&f, &f.a, "one", CHANGING, "max.poll.interval.ms=6000");
	wait_settled(&f, &f.a, 1, 2);
	unsigned assigned = f.a.assigned;
	unsigned revoked = f.a.revoked;
	fill(&f, ING_LANE_REQUESTS, 100);
	wait_count(&f, &f.a.messages, 10);
	turn(&f, 8000);
	assert_int_equal(f.a.revoked, revoked);
	f.a.pause_after = 0;
	ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	wait_count(&f, &f.a.messages, 100);
	expect_each(&f.a, 100, 1);
	assert_int_equal(f.a.assigned, assigned);
	teardown(&f);
}

/* The loop itself hangs for that long (a debugger, SIGSTOP): the membership is lost, and taken up again
 * by itself; nothing of before is committed. */
static void test_a_loop_that_hangs_longer_than_max_poll_interval_joins_again(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	open_worker(&f, &f.a, "one", CHANGING, "max.poll.interval.ms=6000");
	wait_settled(&f, &f.a, 1, 1);
	fill(&f, ING_LANE_REQUESTS, 10);
	wait_count(&f, &f.a.messages, 10);
	for (uint64_t until_ms = ing_now_ms() + 8000; ing_now_ms() < until_ms;)
		usleep(100000);
	for (unsigned i = 0; i < 10; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	wait_count(&f, &f.a.messages, 20);
	assert_true(f.a.revoked >= 1);
	assert_true(f.a.assigned >= 2);
	assert_int_equal(f.a.fatals, 0);
	teardown(&f);
}

/* rd_kafka_pause_partitions() drops what was fetched. Here what was fetched before the pause is handed out
 * after it, even when no broker can be asked any more. */
static void test_a_pause_keeps_what_was_fetched(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 200);
	f.a.pause_after = 10;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 10);
	turn(&f, 4000); /* for the fetch */
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	turn(&f, 500);
	f.a.pause_after = 0;
	ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	wait_count(&f, &f.a.messages, 200);
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	turn(&f, 1000);
	expect_each(&f.a, 200, 1);
	teardown(&f);
}

/* rd_kafka_resume_partitions() of what was never paused goes back to an older position. */
static void test_resuming_what_was_never_paused_repeats_nothing(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 600);
	f.a.finish_at_once = true;
	f.a.busy_ms = 1;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	for (unsigned want = 20; want <= 600; want += 20) {
		ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
		wait_count(&f, &f.a.messages, want);
		ing_intake_pause(f.a.in, ING_LANE_REQUESTS, false);
	}
	turn(&f, 500);
	assert_int_equal(f.a.messages, 600);
	expect_each(&f.a, 600, 1);
	teardown(&f);
}

/* Commits that meet a rebalance: they are refused, the assignment is not lost by that, and the positions
 * are committed afterwards. */
static void test_a_commit_during_a_rebalance_does_not_lose_the_assignment(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 40);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 40);
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_OFFSET_COMMIT, 3,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
		RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
	for (unsigned i = 0; i < 40; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	f.a.finish_at_once = f.b.finish_at_once = true;
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 1, 1);
	wait_committed(&f, ING_LANE_REQUESTS, 20);
	assert_int_equal(f.a.fatals + f.b.fatals, 0);
	fill(&f, ING_LANE_REQUESTS, 40);
	wait_committed(&f, ING_LANE_REQUESTS, 40);
	teardown(&f);
}

/* Cooperative assignors rebalance for ever or lose assignments before 2.10, and want other calls than
 * ours; workers with different assignors are no group. */
static void test_the_assignor_is_eager_and_cannot_be_changed(void **state)
{
	(void)state;
	static const char *const others[] = {"partition.assignment.strategy=cooperative-sticky",
		"consumer.partition.assignment.strategy=cooperative-sticky,range",
		"partition.assignment.strategy=roundrobin"};
	struct fixture f;
	setup(&f, topics, 1);
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++) {
		char property[80];
		snprintf(property, sizeof(property), "%s", others[i]);
		char *properties[] = {property, NULL};
		const struct ing_kafka_settings settings = {
			.brokers = f.kafka.brokers,
			.group = GROUP,
			.lane_topics = {[ING_LANE_REQUESTS] = TOPIC},
			.max_message_bytes = 1 << 20,
			.properties = {.values = properties},
		};
		struct ing_intake_events ev = {0};
		struct ing_error err = {0};
		struct ing_intake *in = NULL;
		assert_int_equal(
			ing_intake_kafka_new(&f.loop, &settings, "one", NULL, &ev, &in, &err),
			-ING_FAIL_CONFIG);
		assert_non_null(strstr(err.msg, "partition.assignment.strategy"));
	}
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.assigned, 1);
	assert_string_equal(rd_kafka_rebalance_protocol(consumer_of(&f.a)), "EAGER");
	teardown(&f);
}

/* A group whose members have come settles: nobody rebalances for ever. */
static void test_a_group_settles_after_a_change(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 4);
	fill(&f, ING_LANE_REQUESTS, 40);
	f.a.finish_at_once = f.b.finish_at_once = true;
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 2, 2);
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	wait_settled(&f, &f.a, 1, 2); /* eager: no rebalance leaves one of two out */
	assert_int_equal(f.b.last_assigned, 2);
	teardown(&f);
}

/* Sixteen workers that start at once share the partitions evenly, after no more rebalances than there are
 * workers, and then rest. */
static void test_sixteen_workers_that_start_at_once_settle(void **state)
{
	(void)state;
	enum { WORKERS = 16, PARTITIONS = 32 };
	struct fixture f;
	setup(&f, topics, PARTITIONS);
	fill(&f, ING_LANE_REQUESTS, 10 * PARTITIONS);
	struct worker *all = ing_alloc(WORKERS * sizeof(*all));
	for (int i = 0; i < WORKERS; i++) {
		char instance[16];
		snprintf(instance, sizeof(instance), "w%d", i);
		all[i].finish_at_once = true;
		open_worker(&f, &all[i], instance, CHANGING, NULL);
	}
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	wait_settled(&f, all, WORKERS, PARTITIONS / WORKERS);
	for (int i = 0; i < WORKERS; i++) {
		assert_in_range(all[i].assigned, 1, WORKERS);
		assert_int_equal(all[i].fatals, 0);
	}
	for (int i = 0; i < WORKERS; i++)
		close_worker(&f, &all[i]);
	free(all);
	teardown(&f);
}

/* librdkafka's automatic commits, and its offset store, which takes whatever it is given last: a position
 * would go back, or past what is unfinished. */
static void test_positions_are_never_stored_by_the_library(void **state)
{
	(void)state;
	static const char *const settings[] = {
		"enable.auto.commit", "enable.auto.offset.store", "auto.offset.reset"};
	static const char *const want[] = {"false", "false", "error"};
	struct fixture f;
	setup(&f, topics, 1);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_settled(&f, &f.a, 1, 1);
	fill(&f, ING_LANE_REQUESTS, 30);
	for (size_t i = 0; i < ING_ARRAY_LEN(settings); i++) {
		char value[64];
		size_t bytes = sizeof(value);
		const rd_kafka_conf_t *conf = rd_kafka_conf(consumer_of(&f.a));
		assert_int_equal(
			rd_kafka_conf_get(conf, settings[i], value, &bytes), RD_KAFKA_CONF_OK);
		assert_string_equal(value, want[i]);
	}
	wait_count(&f, &f.a.messages, 30);
	for (unsigned i = 29; i >= 10; i--) /* the newest first: the position stays */
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	turn(&f, 1500);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	for (unsigned i = 0; i < 5; i++) {
		ing_intake_finish(f.a.in, f.a.tokens[i]);
		wait_committed(&f, ING_LANE_REQUESTS, i + 1);
	}
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 5);
	teardown(&f);
}

/* What a lost assignment finishes afterwards belongs to somebody else by then. */
static void test_nothing_is_committed_for_a_lost_assignment(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_settled(&f, &f.a, 1, 1);
	unsigned revoked = f.a.revoked;
	fill(&f, ING_LANE_REQUESTS, 10);
	wait_count(&f, &f.a.messages, 10);
	wait_committed(&f, ING_LANE_REQUESTS, 0);
	for (unsigned i = 0; i < 10; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_OFFSET_COMMIT, 8,
		RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
		RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
		RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
		RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	rd_kafka_mock_push_request_errors(
		f.kafka.cluster, API_HEARTBEAT, 1, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	wait_count(&f, &f.a.revoked, revoked + 1);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	rd_kafka_mock_clear_request_errors(f.kafka.cluster, API_OFFSET_COMMIT);
	wait_count(&f, &f.a.messages, 20);
	turn(&f, 1500);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	teardown(&f);
}

/* usage: intake_pitfalls_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_backpressure_longer_than_max_poll_interval_keeps_the_membership),
		cmocka_unit_test(test_a_loop_that_hangs_longer_than_max_poll_interval_joins_again),
		cmocka_unit_test(test_a_pause_keeps_what_was_fetched),
		cmocka_unit_test(test_resuming_what_was_never_paused_repeats_nothing),
		cmocka_unit_test(test_a_commit_during_a_rebalance_does_not_lose_the_assignment),
		cmocka_unit_test(test_the_assignor_is_eager_and_cannot_be_changed),
		cmocka_unit_test(test_a_group_settles_after_a_change),
		cmocka_unit_test(test_sixteen_workers_that_start_at_once_settle),
		cmocka_unit_test(test_positions_are_never_stored_by_the_library),
		cmocka_unit_test(test_nothing_is_committed_for_a_lost_assignment),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
