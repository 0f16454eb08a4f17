/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records at least once: finished when they are acknowledged, and only then.
 */
#include "record_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { API_PRODUCE = 0 };

static void setup(struct record_world *w)
{
	record_world_init(w, 1);
	record_world_open(w, ING_GUARANTEE_AT_LEAST_ONCE, NULL);
}

static void test_finished_once_after_its_acknowledgement(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	rd_kafka_mock_push_request_errors(w.kafka.cluster, API_PRODUCE, 2,
		RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR__TRANSPORT);
	record_commit_range(&w, 0, 300);
	assert_int_equal(ing_emit_outstanding(w.e), 300);
	record_wait(&w, &w.committed, 300);
	assert_int_equal(ing_emit_outstanding(w.e), 0);
	record_expect_ends(&w, 0, 300, ING_EMIT_COMMITTED);
	record_expect_messages(&w, 0, 300);
	record_world_done(&w);
}

static void test_only_the_position_of_a_record_without_message(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_set_bare(&w, 1);
	record_commit_range(&w, 0, 3);
	record_wait(&w, &w.committed, 3);
	record_expect_ends(&w, 0, 3, ING_EMIT_COMMITTED);
	assert_int_equal(mock_kafka_end(&w.kafka, RECORD_TOPIC, 0), 2);
	record_world_done(&w);
}

/* A record that no broker takes is its owner's again, who commits another message with it. */
static void test_a_refused_record_may_be_committed_anew(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	char *large = ing_alloc(RECORD_VALUE_MAX + 1);
	memset(large, 'x', RECORD_VALUE_MAX + 1);
	record_set_value(&w, 7, large, RECORD_VALUE_MAX + 1);
	record_commit(&w, 7);
	record_wait(&w, &w.refused, 1);
	assert_int_equal(w.records[7].finished, 0);
	record_set_value(&w, 7, "v7", 2);
	record_commit(&w, 7);
	record_wait(&w, &w.committed, 1);
	assert_int_equal(w.records[7].finished, 1);
	record_expect_messages(&w, 7, 1);
	free(large);
	record_world_done(&w);
}

/* The brokers are away when partition 1 is revoked: none of its records is sent later, or finished;
 * those of the others are, once. */
static void test_dropped_records_are_neither_sent_nor_finished(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_set_down(w.kafka.cluster, 1);
	mock_turn_until(&w.loop, NULL, 500); /* librdkafka has noticed */
	record_commit_range(&w, 400, 400);
	ing_emit_drop(w.e, 1, 2); /* another epoch */
	ing_emit_drop(w.e, 1, 1);
	assert_int_equal(w.dropped, 0); /* not from inside the call */
	record_wait(&w, &w.dropped, 100);
	assert_int_equal(ing_emit_outstanding(w.e), 300);
	rd_kafka_mock_broker_set_up(w.kafka.cluster, 1);
	record_wait(&w, &w.committed, 301);
	assert_int_equal(w.dropped, 100);
	for (unsigned i = 400; i < 800; i++)
		record_expect_ends(&w, i, 1, i % 4 == 1 ? ING_EMIT_DROPPED : ING_EMIT_COMMITTED);
	assert_int_equal(mock_kafka_end(&w.kafka, RECORD_TOPIC, 0), 301);
	record_world_done(&w);
}

/* What librdkafka has already cannot be called back, but is not finished. */
static void test_a_dropped_record_in_flight_is_not_finished(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_set_rtt(w.kafka.cluster, 1, 300);
	record_commit_range(&w, 1, 10);
	mock_turn_until(&w.loop, NULL, 100);
	assert_int_equal(w.committed, 1);
	ing_emit_drop_all(w.e);
	record_wait(&w, &w.dropped, 10);
	record_expect_ends(&w, 1, 10, ING_EMIT_DROPPED);
	assert_int_equal(ing_emit_outstanding(w.e), 0);
	record_world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finished_once_after_its_acknowledgement),
		cmocka_unit_test(test_only_the_position_of_a_record_without_message),
		cmocka_unit_test(test_a_refused_record_may_be_committed_anew),
		cmocka_unit_test(test_dropped_records_are_neither_sent_nor_finished),
		cmocka_unit_test(test_a_dropped_record_in_flight_is_not_finished),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
