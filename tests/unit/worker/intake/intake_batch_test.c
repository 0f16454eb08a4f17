/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Positions that emit commits (exactly once), against librdkafka's in-process cluster: the test is
 * emit, and commits what it is given with a producer of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "group.h"
#include "side_by_side.h"
#include "worker/intake/kafka_priv.h"

#define TOPIC "requests"

static const char *const topics[ING_LANES_] = {[ING_LANE_REQUESTS] = TOPIC};

static struct ing_positions *begin(struct worker *w, const unsigned *messages, size_t count)
{
	struct ing_token tokens[64];
	struct ing_positions_ops ops = ing_intake_positions_ops(w->in);
	for (size_t i = 0; i < count; i++)
		tokens[i] = w->tokens[messages[i]];
	return ops.begin(ops.ctx, tokens, count);
}

static void end(struct worker *w, struct ing_positions *p, bool committed)
{
	struct ing_positions_ops ops = ing_intake_positions_ops(w->in);
	ops.end(ops.ctx, p, committed);
}

static void expect_map(const struct ing_position *p, int64_t first, int64_t last, bool in_between)
{
	struct ing_position_map *map = NULL;
	struct ing_error err = {0};
	assert_int_equal(ing_position_map_decode(p->metadata, strlen(p->metadata), &map, &err), 0);
	assert_true(ing_position_map_has(map, first) && ing_position_map_has(map, last));
	assert_int_equal(ing_position_map_end(map), last + 1);
	for (int64_t i = first + 1; i < last; i++)
		assert_int_equal(ing_position_map_has(map, i), in_between);
	ing_position_map_free(map);
}

static void open_one(struct fixture *f, int count, const char *session)
{
	setup(f, topics, 1);
	fill(f, ING_LANE_REQUESTS, count);
	f->a.exactly_once = true;
	open_worker(f, &f->a, "one", session, NULL);
	wait_count(f, &f->a.messages, (unsigned)count);
}

/* What is in a commit counts as finished in its position and map; when the commit fails it is
 * unfinished again, and may be in the next one. */
static void test_a_failed_commit_leaves_its_messages_unfinished(void **state)
{
	(void)state;
	struct fixture f;
	open_one(&f, 10, STEADY);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0, 1, 3, 6}, 4);
	assert_int_equal(p->count, 1);
	assert_string_equal(p->all[0].topic, TOPIC);
	assert_int_equal(p->all[0].offset, 2);
	assert_int_equal(p->all[0].mark_offset, 1);
	expect_map(&p->all[0], 3, 6, false);
	end(&f.a, p, false);

	p = begin(&f.a, (const unsigned[]){1}, 1);
	assert_int_equal(p->all[0].offset, 0);
	expect_map(&p->all[0], 1, 1, false);
	end(&f.a, p, true);
	p = begin(&f.a, (const unsigned[]){0}, 1);
	assert_int_equal(p->all[0].offset, 2);
	assert_string_equal(p->all[0].metadata, "");
	end(&f.a, p, true);
	teardown(&f);
}

/* Positions belong to the transactions: intake commits only the one at which the group begins. */
static void test_intake_commits_only_the_start(void **state)
{
	(void)state;
	struct fixture f;
	open_one(&f, 10, STEADY);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0, 1, 2}, 3);
	end(&f.a, p, true);
	ing_intake_finish(f.a.in, f.a.tokens[3]);
	turn(&f, 2500);
	close_worker(&f, &f.a);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	teardown(&f);
}

/* Finished without a message that a transaction could carry: its position goes with the next one, also
 * when that has no message of its partition. */
static void test_what_is_finished_without_a_message_goes_with_the_next_commit(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	f.a.exactly_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 20);
	unsigned of_first = 0;
	while (f.a.tokens[of_first].partition_index != 0)
		of_first++;
	unsigned of_second = 0;
	while (f.a.tokens[of_second].partition_index != 1)
		of_second++;
	assert_int_equal(f.a.tokens[of_first].offset, 0);
	ing_intake_finish(f.a.in, f.a.tokens[of_first]);
	struct ing_positions *p = begin(&f.a, &of_second, 1);
	assert_int_equal(p->count, 2);
	assert_int_equal(p->all[0].offset, 1);
	assert_int_equal(p->all[1].offset, 1);
	end(&f.a, p, true);
	p = begin(&f.a, NULL, 0);
	assert_int_equal(p->count, 0);
	end(&f.a, p, true);
	teardown(&f);
}

/* The group takes its partitions away: nothing is begun any more, and the partitions are given back
 * when the commit that is under way has ended. */
static void test_a_revocation_waits_for_the_commit_under_way(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	f.a.exactly_once = f.b.exactly_once = true;
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 20);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0, 1, 2}, 3);
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_count(&f, &f.a.revoked, 2);
	turn(&f, 500);
	assert_int_equal(f.a.assigned, 1);
	assert_int_equal(f.b.assigned, 0);
	/* Still those of the assignment that it was begun in. */
	assert_int_equal(p->check(p, 2000), ING_POSITIONS_VALID);
	end(&f.a, p, true);
	struct ing_positions_ops ops = ing_intake_positions_ops(f.a.in);
	assert_null(ops.begin(ops.ctx, NULL, 0));
	wait_shared(&f, 1, 1);
	teardown(&f);
}

/* When the outcome stays unknown for longer, the revocation goes on without it; the commit's end comes
 * later and concerns nothing any more. */
static void test_a_commit_may_end_after_its_assignment(void **state)
{
	(void)state;
	struct fixture f;
	open_one(&f, 10, CHANGING);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0, 1, 2}, 3);
	rd_kafka_mock_push_request_errors(
		f.kafka.cluster, 12 /* Heartbeat */, 1, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	wait_count(&f, &f.a.revoked, 1);
	wait_count(&f, &f.a.messages, 20); /* lost: not waited for */
	assert_non_null(p->group_metadata);
	end(&f.a, p, true);
	p = begin(&f.a, (const unsigned[]){10}, 1);
	assert_int_equal(p->all[0].offset, 1); /* and not 3 */
	end(&f.a, p, false);
	teardown(&f);
}

static void get_metadata(const struct ing_positions *p, void **ret, size_t *ret_bytes)
{
	rd_kafka_error_t *error =
		rd_kafka_consumer_group_metadata_write(p->group_metadata, ret, ret_bytes);
	assert_null(error);
}

/* Generation and member are those of the assignment, for a commit of the one before must be refused by
 * the coordinator. */
static void test_the_groups_metadata_is_that_of_the_assignment(void **state)
{
	(void)state;
	struct fixture f;
	void *first, *same, *other;
	size_t first_bytes, same_bytes, other_bytes;
	open_one(&f, 10, CHANGING);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0}, 1);
	get_metadata(p, &first, &first_bytes);
	end(&f.a, p, true);
	p = begin(&f.a, (const unsigned[]){1}, 1);
	get_metadata(p, &same, &same_bytes);
	assert_int_equal(first_bytes, same_bytes);
	assert_memory_equal(first, same, first_bytes);
	rd_kafka_mock_push_request_errors(
		f.kafka.cluster, 12 /* Heartbeat */, 1, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
	wait_count(&f, &f.a.assigned, 2);
	void *late;
	size_t late_bytes;
	get_metadata(p, &late, &late_bytes);
	assert_int_equal(first_bytes, late_bytes);
	assert_memory_equal(first, late, first_bytes);
	end(&f.a, p, false);
	wait_count(&f, &f.a.messages, 11);
	p = begin(&f.a, (const unsigned[]){10}, 1);
	get_metadata(p, &other, &other_bytes);
	assert_true(first_bytes != other_bytes || memcmp(first, other, first_bytes) != 0);
	end(&f.a, p, false);
	rd_kafka_mem_free(NULL, first);
	rd_kafka_mem_free(NULL, same);
	rd_kafka_mem_free(NULL, late);
	rd_kafka_mem_free(NULL, other);
	teardown(&f);
}

/* Kafka deletes a group's offsets with a topic: what check() finds without one is not to be committed.
 * A coordinator that does not answer is no such sign. */
static void test_check_finds_a_topic_made_anew(void **state)
{
	(void)state;
	struct fixture f;
	open_one(&f, 10, STEADY);
	mock_kafka_topic(&f.kafka, "another", 1);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0}, 1);
	assert_int_equal(p->check(p, 2000), ING_POSITIONS_VALID);
	const char *topic = p->all[0].topic;
	p->all[0].topic = "another";
	assert_int_equal(p->check(p, 2000), ING_POSITIONS_TOPIC_RECREATED);
	p->all[0].topic = topic;
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	assert_int_equal(p->check(p, 300), ING_POSITIONS_NO_ANSWER);
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	assert_int_equal(p->check(p, 10000), ING_POSITIONS_VALID);
	end(&f.a, p, false);
	teardown(&f);
}

/* A log that is read from its start: the group's position goes back before any message is taken, and not
 * before a commit of the old log's position has ended, which would come after it. */
static void test_a_position_goes_back_only_between_commits(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 1);
	fill(&f, ING_LANE_REQUESTS, 20);
	mock_kafka_commit(&f.kafka, GROUP, TOPIC, 10);
	f.a.exactly_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	wait_count(&f, &f.a.messages, 10);
	struct ing_positions *p = begin(&f.a, (const unsigned[]){0}, 1);
	struct kafka_intake *in = (struct kafka_intake *)(void *)f.a.in;
	struct ing_partition *part = ing_partitions_find(&in->partitions, ING_LANE_REQUESTS, 0);
	ing_kafka_restart_partition(in, part);
	part->reset_to_start = true;
	wait_count(&f, &f.a.revoked, 1);
	turn(&f, 1500);
	expect_committed(&f, ING_LANE_REQUESTS, 10);
	assert_int_equal(f.a.messages, 10);
	end(&f.a, p, true);
	wait_count(&f, &f.a.messages, 30);
	expect_committed(&f, ING_LANE_REQUESTS, 0);
	assert_int_equal(f.a.tokens[10].offset, 0);
	teardown(&f);
}

/* usage: intake_batch_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failed_commit_leaves_its_messages_unfinished),
		cmocka_unit_test(test_intake_commits_only_the_start),
		cmocka_unit_test(test_what_is_finished_without_a_message_goes_with_the_next_commit),
		cmocka_unit_test(test_a_revocation_waits_for_the_commit_under_way),
		cmocka_unit_test(test_a_commit_may_end_after_its_assignment),
		cmocka_unit_test(test_the_groups_metadata_is_that_of_the_assignment),
		cmocka_unit_test(test_check_finds_a_topic_made_anew),
		cmocka_unit_test(test_a_position_goes_back_only_between_commits),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
