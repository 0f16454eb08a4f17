/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a position map does to its partition, against librdkafka's in-process cluster: maps that cannot
 * be read, maps of other logs, full maps; and parked messages, which hold theirs until they are due.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "group.h"
#include "side_by_side.h"
#include "worker/intake/kafka_priv.h"

#define TOPIC "requests"
#define BASE_MS 1000000 /* timestamp of offset 0, of offset N that and N */

static const char *const topics[ING_LANES_] = {[ING_LANE_REQUESTS] = TOPIC};

static struct ing_intake_stats stats_of(const struct worker *w)
{
	struct ing_intake_stats s;
	ing_intake_stats(w->in, &s);
	return s;
}

/* As text: of messages 0 … count - 1 those are finished of which is_finished() says so. */
static void make_map(struct ing_buf *out, int64_t count, bool (*is_finished)(int64_t offset))
{
	struct ing_offset_tracker t;
	ing_offset_tracker_init(&t, 0);
	for (int64_t i = 0; i < count; i++) {
		assert_true(ing_offset_tracker_begin(&t, &(struct ing_tracked){i, BASE_MS + i, 0}));
		if (is_finished(i))
			assert_true(ing_offset_tracker_finish(&t, i));
	}
	ing_buf_init(out, ING_POSITION_MAP_MAX_CHARS + 1);
	ing_position_map_encode(&t, out);
	assert_true(out->len > 0);
	ing_offset_tracker_done(&t);
}

/* Values "rN" at offset N; at most MAX_MESSAGES different ones. */
static void fill_timed(
	struct fixture *f, int32_t partition, int count, int64_t base_ms, const char *prefix)
{
	for (int i = 0; i < count; i++) {
		char value[32];
		snprintf(value, sizeof(value), "%s%d", prefix, i % MAX_MESSAGES);
		for (;;) {
			rd_kafka_resp_err_t err = rd_kafka_producev(f->kafka.rk,
				RD_KAFKA_V_TOPIC(TOPIC), RD_KAFKA_V_PARTITION(partition),
				RD_KAFKA_V_VALUE(value, strlen(value)),
				RD_KAFKA_V_TIMESTAMP(base_ms + i),
				RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
			if (err == 0)
				break;
			assert_int_equal(err, RD_KAFKA_RESP_ERR__QUEUE_FULL);
			rd_kafka_flush(f->kafka.rk, 100);
		}
	}
	assert_int_equal(rd_kafka_flush(f->kafka.rk, CEILING_MS), 0);
}

static bool odd_is_finished(int64_t offset)
{
	return offset % 2 == 1;
}

/* ---- Maps ---- */

/* A metadata string that is no map of ours: its partition is held and says so, the others are read; when
 * the group's position has none any more, it is read, too. */
static void test_a_map_that_cannot_be_read_holds_its_partition(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 0, 4, "of another program");
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 1, 4, "");
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 6);
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while (stats_of(&f.a).partitions_held == 0 && ing_now_ms() < deadline)
		turn(&f, 20);
	assert_int_equal(stats_of(&f.a).partitions_held, 1);
	turn(&f, 1500);
	assert_int_equal(f.a.messages, 6);
	/* It is not committed over. */
	char metadata[64];
	mock_kafka_metadata(&f.kafka, GROUP, TOPIC, 0, metadata, sizeof(metadata));
	assert_string_equal(metadata, "of another program");
	close_worker(&f, &f.a);
	mock_kafka_metadata(&f.kafka, GROUP, TOPIC, 0, metadata, sizeof(metadata));
	assert_string_equal(metadata, "of another program");
	teardown(&f);
}

/* The same for a map of another position: what wrote it did not know what it is. */
static void test_a_map_of_another_position_holds_its_partition(void **state)
{
	(void)state;
	struct fixture f;
	struct ing_buf map;
	setup(&f, topics, 1);
	fill_timed(&f, 0, 20, BASE_MS, "r");
	make_map(&map, 20, odd_is_finished);
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 0, 2, ing_buf_str(&map));
	open_worker(&f, &f.a, "one", STEADY, NULL);
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while (stats_of(&f.a).partitions_held == 0 && ing_now_ms() < deadline)
		turn(&f, 20);
	assert_int_equal(stats_of(&f.a).partitions_held, 1);
	assert_int_equal(f.a.messages, 0);
	ing_buf_done(&map);
	teardown(&f);
}

/* A worker that dies while it reads what an earlier one's map covers must not lose the part of the map
 * that it has not come to. */
static void test_a_map_survives_an_owner_that_does_not_read_all_of_it(void **state)
{
	(void)state;
	struct fixture f;
	struct ing_buf map;
	setup(&f, topics, 1);
	fill_timed(&f, 0, 200, BASE_MS, "r");
	make_map(&map, 200, odd_is_finished);
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 0, 0, ing_buf_str(&map));
	f.a.pause_after = 10;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 10);
	ing_intake_finish(f.a.in, f.a.tokens[0]);
	ing_intake_finish(f.a.in, f.a.tokens[9]);
	wait_committed(&f, ING_LANE_REQUESTS, 2);
	close_worker(&f, &f.a);
	f.a = (struct worker){0};
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 98);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 98);
	for (unsigned i = 0; i < 98; i++)
		assert_true(f.a.tokens[i].offset % 2 == 0 && f.a.tokens[i].offset != 18);
	ing_buf_done(&map);
	teardown(&f);
}

/* The messages that a map has as finished are others now: the log is another one, and is read whole. */
static void test_a_map_of_another_log_is_not_believed(void **state)
{
	(void)state;
	struct fixture f;
	struct ing_buf map;
	setup(&f, topics, 1);
	fill_timed(&f, 0, 20, 2 * BASE_MS, "r");
	make_map(&map, 20, odd_is_finished);
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 0, 0, ing_buf_str(&map));
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 21);
	turn(&f, 300);
	assert_int_equal(f.a.messages, 21); /* the first one once more */
	assert_int_equal(stats_of(&f.a).restarts, 1);
	char metadata[64];
	mock_kafka_metadata(&f.kafka, GROUP, TOPIC, 0, metadata, sizeof(metadata));
	assert_string_equal(metadata, ""); /* the old one is gone before any message is taken */
	ing_buf_done(&map);
	teardown(&f);
}

/* The same when the log ends before what the map has. */
static void test_a_map_beyond_the_end_of_the_log_is_not_believed(void **state)
{
	(void)state;
	struct fixture f;
	struct ing_buf map;
	setup(&f, topics, 1);
	fill_timed(&f, 0, 15, BASE_MS, "r");
	make_map(&map, 20, odd_is_finished);
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 0, 0, ing_buf_str(&map));
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 15);
	assert_int_equal(stats_of(&f.a).restarts, 1);
	ing_buf_done(&map);
	teardown(&f);
}

/* The longest window that fits whatever is finished in it. */
enum { WINDOW = 21720, LOG = WINDOW + 280 };

static bool last_is_finished(int64_t offset)
{
	return offset == WINDOW - 1;
}

/* A partition whose map has no room left gives no message, until its oldest one is finished; with little
 * room it gives them slowly. The other partitions go on. */
static void test_a_full_map_stops_only_its_partition(void **state)
{
	(void)state;
	struct fixture f;
	struct ing_buf map;
	setup(&f, topics, 2);
	fill_timed(&f, 0, LOG, BASE_MS, "r");
	make_map(&map, WINDOW, last_is_finished);
	mock_kafka_commit_with(&f.kafka, GROUP, TOPIC, 0, 0, ing_buf_str(&map));
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, WINDOW - 1);
	fill_timed(&f, 1, 10, BASE_MS, "r");
	wait_count(&f, &f.a.messages, WINDOW - 1 + 10);
	turn(&f, 500);
	assert_int_equal(f.a.messages, WINDOW - 1 + 10);
	assert_int_equal(stats_of(&f.a).partitions_full, 1);

	ing_intake_finish(f.a.in, f.a.tokens[1]); /* which makes no room */
	turn(&f, 300);
	assert_int_equal(f.a.messages, WINDOW - 1 + 10);
	ing_intake_finish(f.a.in, f.a.tokens[0]); /* room for two */
	wait_count(&f, &f.a.messages, WINDOW - 1 + 12);
	turn(&f, 500);
	assert_int_equal(f.a.messages, WINDOW - 1 + 12);

	for (unsigned i = 2; i < 1000; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	wait_count(&f, &f.a.messages, WINDOW - 1 + 15);
	assert_int_equal(stats_of(&f.a).partitions_full, 0);
	assert_int_equal(stats_of(&f.a).partitions_slow, 1);
	for (unsigned i = 1000; i < f.a.messages; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	wait_count(&f, &f.a.messages, LOG - 1 + 10);
	assert_int_equal(stats_of(&f.a).partitions_slow, 0);
	ing_buf_done(&map);
	teardown(&f);
}

/* ---- Parked messages ---- */

static const char *const all_topics[ING_LANES_] = {TOPIC "-priority", TOPIC, NULL, NULL};
static const char *const tiers[ING_TIERS_] = {TOPIC "-parked-1m", TOPIC "-parked-10m"};

static long long wall_ms(void)
{
	struct timespec now = ing_wall_now();
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void park(struct fixture *f, const char *topic, int32_t partition, const char *value,
	long long wait_ms, const char *origin)
{
	char due[24];
	snprintf(due, sizeof(due), "%lld", wall_ms() + wait_ms);
	assert_int_equal(rd_kafka_producev(f->kafka.rk, RD_KAFKA_V_TOPIC(topic),
				 RD_KAFKA_V_PARTITION(partition),
				 RD_KAFKA_V_VALUE((void *)(uintptr_t)value, strlen(value)),
				 RD_KAFKA_V_HEADER("not-before", due, -1),
				 RD_KAFKA_V_HEADER("origin", origin, -1),
				 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
		0);
	assert_int_equal(rd_kafka_flush(f->kafka.rk, CEILING_MS), 0);
}

static void setup_tiers(struct fixture *f, int partitions)
{
	setup(f, all_topics, partitions);
	f->tier_topics = tiers;
	for (int i = 0; i < 2; i++)
		mock_kafka_topic(&f->kafka, tiers[i], partitions);
}

/* None comes before it is due. */
static void look_for_headers(struct worker *w, const struct ing_message *m)
{
	unsigned *with_headers = w->look_ctx;
	for (size_t i = 0; i < m->header_count; i++) {
		if (strcmp(m->headers[i].name, "not-before") == 0)
			assert_true(wall_ms() >= atoll(m->headers[i].value));
		if (strcmp(m->headers[i].name, "origin") == 0)
			++*with_headers;
	}
}

/* What is due is handed out in the lane that it came by, what is not holds only its own partition. */
static void test_a_parked_message_waits_until_it_is_due(void **state)
{
	(void)state;
	struct fixture f;
	unsigned with_headers = 0;
	setup_tiers(&f, 2);
	f.a.look = look_for_headers;
	f.a.look_ctx = &with_headers;
	fill(&f, ING_LANE_REQUESTS, 1); /* r0 */
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 1);
	park(&f, tiers[0], 0, "r1", 4000, TOPIC "-priority");
	park(&f, tiers[0], 0, "r2", -1000, TOPIC);
	park(&f, tiers[0], 1, "r3", -1000, TOPIC "-priority");
	park(&f, tiers[1], 0, "r4", -1000, "not a lane of ours");
	wait_count(&f, &f.a.messages, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(f.a.times[i], 1);
	assert_int_equal(f.a.of_lane[ING_LANE_PRIORITY], 2);
	assert_int_equal(f.a.of_lane[ING_LANE_REQUESTS], 3);
	assert_int_equal(with_headers, 4);
	teardown(&f);
}

/* Anyone may write to the topics: no header holds a partition for longer than the tier lasts. */
static void test_a_parked_message_waits_no_longer_than_its_tier(void **state)
{
	(void)state;
	struct fixture f;
	setup_tiers(&f, 1);
	park(&f, tiers[0], 0, "r1", 1000LL * 60 * 60 * 24 * 365, TOPIC);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	struct kafka_intake *in = (struct kafka_intake *)(void *)f.a.in;
	const struct ing_partition *part = NULL;
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while ((part == NULL || part->next == NULL) && ing_now_ms() < deadline) {
		turn(&f, 20);
		part = ing_partitions_find(&in->partitions, ING_LANES_ + ING_TIER_1M, 0);
	}
	assert_non_null(part->next);
	assert_true(part->due_ms > 0 && part->due_ms <= ing_now_ms() + 60000);
	assert_int_equal(f.a.messages, 0);
	teardown(&f);
}

/* A parked message of a lane that is paused waits, and the same of another lane behind it. */
static void test_a_parked_message_waits_for_its_lane(void **state)
{
	(void)state;
	struct fixture f;
	setup_tiers(&f, 1);
	park(&f, tiers[0], 0, "r1", -1000, TOPIC "-priority");
	park(&f, tiers[0], 0, "r2", -1000, TOPIC);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	ing_intake_pause(f.a.in, ING_LANE_PRIORITY, true);
	wait_count(&f, &f.a.assigned, 1);
	fill(&f, ING_LANE_REQUESTS, 1);
	wait_count(&f, &f.a.messages, 1);
	turn(&f, 500);
	assert_int_equal(f.a.messages, 1);
	ing_intake_pause(f.a.in, ING_LANE_PRIORITY, false);
	wait_count(&f, &f.a.messages, 3);
	teardown(&f);
}

/* usage: intake_map_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_map_that_cannot_be_read_holds_its_partition),
		cmocka_unit_test(test_a_map_of_another_position_holds_its_partition),
		cmocka_unit_test(test_a_map_survives_an_owner_that_does_not_read_all_of_it),
		cmocka_unit_test(test_a_map_of_another_log_is_not_believed),
		cmocka_unit_test(test_a_map_beyond_the_end_of_the_log_is_not_believed),
		cmocka_unit_test(test_a_full_map_stops_only_its_partition),
		cmocka_unit_test(test_a_parked_message_waits_until_it_is_due),
		cmocka_unit_test(test_a_parked_message_waits_no_longer_than_its_tier),
		cmocka_unit_test(test_a_parked_message_waits_for_its_lane),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
