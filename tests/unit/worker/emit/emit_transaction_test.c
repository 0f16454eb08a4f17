/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records exactly once: batches, refusals, revocations, the end. What brokers may answer is in
 * emit_faults_test.c.
 */
#include "record_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"

enum { API_PRODUCE = 0, API_ADD_PARTITIONS = 24, API_END_TXN = 26, API_TXN_OFFSET_COMMIT = 28 };

static void setup(struct record_world *w)
{
	record_world_init(w, 1);
	record_world_open(w, ING_GUARANTEE_EXACTLY_ONCE, NULL);
}

static void test_records_are_committed_with_their_positions(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	setup(&w);
	record_commit_range(&w, 0, 1500);
	assert_int_equal(ing_emit_outstanding(w.e), 1500);
	record_wait(&w, &w.committed, 1500);
	assert_int_equal(ing_emit_outstanding(w.e), 0);
	record_expect_committed(&w, 0, 1500);
	record_expect_messages(&w, 0, 1500);
	record_ledger_get(&got);
	assert_int_equal(got.begun, 1);
	assert_int_equal(got.aborted, 0);
	assert_false(ing_emit_blocked(w.e));
	record_world_done(&w);
}

/* No transaction gets larger than brokers and readers should have to hold. */
static void test_a_batch_has_at_most_so_many_bytes(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	enum { COUNT = 60 };
	setup(&w);
	char *value = ing_alloc(RECORD_VALUE_MAX);
	memset(value, ' ', RECORD_VALUE_MAX);
	for (unsigned i = 0; i < COUNT; i++)
		record_set_value(&w, i, value, RECORD_VALUE_MAX);
	record_commit_range(&w, 0, COUNT);
	record_wait(&w, &w.committed, COUNT);
	record_expect_committed(&w, 0, COUNT);
	record_ledger_get(&got);
	assert_true(got.largest * RECORD_VALUE_MAX < ((size_t)8 << 20) + RECORD_VALUE_MAX);
	assert_true(got.begun >= 2);
	free(value);
	record_world_done(&w);
}

/* A message for an output that the operator has switched off: its request is answered all the same. */
static void test_only_the_position_of_a_record_without_topic(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_set_silent(&w, 1);
	record_commit_range(&w, 0, 3);
	record_wait(&w, &w.committed, 3);
	record_expect_committed(&w, 0, 3);
	assert_int_equal(mock_kafka_end(&w.kafka, RECORD_TOPIC, 0), 2);
	record_set_silent(&w, 4);
	record_commit(&w, 4);
	record_commit(&w, 3);
	record_wait(&w, &w.committed, 5);
	record_expect_committed(&w, 0, 5);
	record_world_done(&w);
}

/* Nothing can be sent in place of what was refused. */
static void test_only_the_position_of_a_record_without_message(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_set_bare(&w, 1);
	record_commit_range(&w, 0, 3);
	record_wait(&w, &w.committed, 3);
	record_expect_committed(&w, 0, 3);
	record_set_bare(&w, 3); /* alone in its transaction */
	record_commit(&w, 3);
	record_wait(&w, &w.committed, 4);
	record_expect_committed(&w, 0, 4);
	assert_int_equal(mock_kafka_end(&w.kafka, RECORD_TOPIC, 0), 2);
	record_world_done(&w);
}

/* ---- Refused ---- */

/* Each refused batch is halved, down to the first record, which the broker refuses alone. The others
 * are committed, and it is its owner's again. */
static void test_a_refused_batch_is_halved_to_the_record_at_fault(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	enum { LARGE = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE };
	rd_kafka_mock_push_request_errors(
		w.kafka.cluster, API_PRODUCE, 4, LARGE, LARGE, LARGE, LARGE);
	record_commit_range(&w, 1, 8);
	record_wait(&w, &w.refused, 1);
	assert_int_equal(w.records[1].ends[ING_EMIT_REFUSED], 1);
	record_wait(&w, &w.committed, 8);
	assert_int_equal(w.refused, 1);
	record_ledger_get(&got);
	/* Of 8, 4, 2 and 1; and once more by librdkafka, as the refused have left a gap in the
	 * sequence of its messages. */
	assert_in_range(got.aborted, 4, 5);
	record_commit(&w, 1);
	record_wait(&w, &w.committed, 9);
	record_expect_committed(&w, 0, 9);
	assert_int_equal(w.fatals, 0);
	record_world_done(&w);
}

/* Its message is larger than what its topic takes: known without a transaction. */
static void test_what_is_too_large_is_refused_alone(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	setup(&w);
	char *large = ing_alloc(RECORD_VALUE_MAX + 1);
	memset(large, 'x', RECORD_VALUE_MAX + 1);
	record_set_value(&w, 2, large, RECORD_VALUE_MAX + 1);
	record_commit_range(&w, 0, 5);
	record_wait(&w, &w.refused, 1);
	record_wait(&w, &w.committed, 4);
	assert_int_equal(w.records[2].ends[ING_EMIT_REFUSED], 1);
	record_ledger_get(&got);
	assert_int_equal(got.aborted, 0);
	record_set_value(&w, 2, "v2", 2);
	record_commit(&w, 2);
	record_wait(&w, &w.committed, 5);
	record_expect_committed(&w, 0, 5);
	record_expect_messages(&w, 0, 5);
	free(large);
	record_world_done(&w);
}

/* ---- Revoked ---- */

static void expect_partition_dropped(struct record_world *w, unsigned count, unsigned partition)
{
	struct record_ledger got;
	record_ledger_get(&got);
	for (unsigned i = 0; i < count; i++) {
		bool dropped = i % RECORD_PARTITIONS == partition;
		assert_int_equal(got.committed_records[i], !dropped);
		assert_int_equal(w->records[i].finished, !dropped);
		assert_int_equal(w->records[i].ends[ING_EMIT_DROPPED], dropped);
		assert_int_equal(w->records[i].ends[ING_EMIT_COMMITTED], !dropped);
	}
}

static void test_records_that_wait_are_dropped_with_their_partition(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	w.no_positions = true; /* the assignment is ending */
	record_commit_range(&w, 0, 40);
	mock_turn_until(&w.loop, NULL, 300);
	assert_int_equal(w.committed, 0);
	ing_emit_drop(w.e, 3, 2); /* another epoch */
	ing_emit_drop(w.e, 3, 1);
	assert_int_equal(w.dropped, 0); /* not from inside the call */
	record_wait(&w, &w.dropped, 10);
	w.no_positions = false;
	record_wait(&w, &w.committed, 30);
	expect_partition_dropped(&w, 40, 3);
	record_world_done(&w);
}

/* The open transaction is aborted, its other records are produced again. */
static void test_an_open_transaction_is_aborted_by_a_revocation(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_push_request_error_rtts(w.kafka.cluster, 1, API_PRODUCE, 1, 0, 500);
	record_commit_range(&w, 1, 39);
	assert_true(mock_turn_count(&w.loop, &w.begun_positions, 2, RECORD_WAIT_MS));
	mock_turn_until(&w.loop, NULL, 100);
	ing_emit_drop(w.e, 2, 1);
	record_wait(&w, &w.dropped, 10);
	record_wait(&w, &w.committed, 30);
	expect_partition_dropped(&w, 40, 2);
	record_ledger_get(&got);
	assert_int_equal(got.aborted, 1);
	assert_int_equal(w.fatals, 0);
	assert_false(ing_emit_blocked(w.e));
	record_world_done(&w);
}

/* Its coordinator went away before it had heard of it, and has nothing to abort. librdkafka's producer is
 * of no use then; the next one commits. */
static void test_a_transaction_that_its_coordinator_does_not_know_is_given_up(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_push_request_errors(
		w.kafka.cluster, API_TXN_OFFSET_COMMIT, 1, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
	rd_kafka_mock_push_request_errors(
		w.kafka.cluster, API_END_TXN, 1, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE);
	record_commit_range(&w, 1, 10);
	record_wait(&w, &w.committed, 11);
	record_expect_committed(&w, 0, 11);
	assert_int_equal(w.fatals, 0);
	assert_false(ing_emit_blocked(w.e));
	record_world_done(&w);
}

/* Nothing is left that could show that transactions get through again: more must come. */
static void test_failing_transactions_do_not_block_once_their_records_are_dropped(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	w.checks[0] = w.checks[1] = w.checks[2] = ING_POSITIONS_TOPIC_RECREATED;
	w.check_count = 3;
	record_commit_range(&w, 1, 4);
	while (!ing_emit_blocked(w.e))
		uv_run(&w.loop, UV_RUN_ONCE);
	ing_emit_drop_all(w.e);
	record_wait(&w, &w.dropped, 4);
	assert_false(ing_emit_blocked(w.e));
	record_commit_range(&w, 5, 4);
	record_wait(&w, &w.committed, 5);
	record_world_done(&w);
}

/* A commit that is on its way can't be called back: what it has is committed, the rest is dropped. */
static void test_a_commit_on_its_way_is_not_called_back(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_push_request_error_rtts(w.kafka.cluster, 1, API_END_TXN, 1, 0, 1000);
	record_commit_range(&w, 1, 10);
	assert_true(mock_turn_count(&w.loop, &w.begun_positions, 2, RECORD_WAIT_MS));
	mock_turn_until(&w.loop, NULL, 400);
	record_commit_range(&w, 11, 10);
	ing_emit_drop_all(w.e);
	record_wait(&w, &w.dropped, 10);
	record_wait(&w, &w.committed, 11);
	record_expect_committed(&w, 0, 11);
	for (unsigned i = 11; i < 21; i++)
		assert_int_equal(w.records[i].ends[ING_EMIT_DROPPED], 1);
	record_world_done(&w);
}

/* ---- Positions that are not valid any more ---- */

static void test_nothing_is_committed_while_positions_cannot_be_checked(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	setup(&w);
	w.checks[0] = w.checks[1] = ING_POSITIONS_NO_ANSWER;
	w.checks[2] = ING_POSITIONS_TOPIC_RECREATED;
	__atomic_store_n(&w.check_count, 3, __ATOMIC_RELEASE);
	record_commit_range(&w, 0, 10);
	record_wait(&w, &w.committed, 10);
	record_ledger_get(&got);
	assert_int_equal(got.aborted, 3);
	assert_int_equal(got.committed, 1);
	record_expect_committed(&w, 0, 10);
	record_world_done(&w);
}

/* ---- What a dropped record refers to ---- */

/* After a fatal error, too, a value is its owner's again with done(): no message refers to it. */
static void test_values_may_be_freed_once_their_records_are_dropped(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_push_request_error_rtts(w.kafka.cluster, 1, API_ADD_PARTITIONS, 1,
		RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, 0);
	record_commit_range(&w, 1, 50);
	record_wait(&w, &w.fatals, 1);
	ing_emit_drop_all(w.e);
	record_wait(&w, &w.dropped, 50);
	for (unsigned i = 1; i <= 50; i++)
		free(ING_TAKE(w.records[i].message.value));
	mock_turn_until(&w.loop, NULL, 300);
	assert_int_equal(ing_emit_outstanding(w.e), 0);
	record_expect_committed(&w, 0, 1);
	record_world_done(&w);
}

/* The producer is opened anew with sets of messages that fit. */
static void test_sets_of_messages_fit_the_smallest_topic(void **state)
{
	(void)state;
	struct record_world w;
	enum { COUNT = 30, BYTES = 9000, LIMIT = 150000 };
	record_limit_bytes = LIMIT;
	setup(&w);
	char *value = ing_alloc(BYTES);
	for (size_t i = 0; i < BYTES; i++)
		value[i] = (char)rand(); /* does not compress */
	for (unsigned i = 0; i < COUNT; i++)
		record_set_value(&w, i, value, BYTES);
	record_commit_range(&w, 0, COUNT);
	record_wait(&w, &w.committed, COUNT);
	record_expect_committed(&w, 0, COUNT);
	assert_in_range(record_set_bytes, BYTES, LIMIT);
	record_limit_bytes = SIZE_MAX;
	free(value);
	record_world_done(&w);
}

/* ---- The end ---- */

static void test_the_end_commits_what_there_is(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit_range(&w, 0, 1200);
	record_world_close(&w);
	assert_int_equal(w.committed, 1200);
	record_expect_committed(&w, 0, 1200);
	record_world_done(&w);
}

static void test_the_end_is_bounded_without_brokers(void **state)
{
	(void)state;
	struct record_world w;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_set_down(w.kafka.cluster, 1);
	record_commit_range(&w, 1, 10);
	uint64_t before = ing_now_ms();
	record_world_close(&w);
	assert_true(ing_now_ms() - before < 12000);
	record_expect_committed(&w, 0, 1);
	record_world_done(&w);
}

/* The answer to a commit does not come: whether it took place is not known, so nothing is said. */
static void test_the_end_does_not_wait_for_the_answer_to_a_commit(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	setup(&w);
	record_commit(&w, 0);
	record_wait(&w, &w.committed, 1);
	rd_kafka_mock_broker_push_request_error_rtts(w.kafka.cluster, 1, API_END_TXN, 1, 0, 60000);
	record_commit_range(&w, 1, 10);
	assert_true(mock_turn_count(&w.loop, &w.begun_positions, 2, RECORD_WAIT_MS));
	mock_turn_until(&w.loop, NULL, 300);
	uint64_t before = ing_now_ms();
	record_world_close(&w);
	assert_true(ing_now_ms() - before < 12000);
	record_ledger_get(&got);
	assert_int_equal(w.committed, 1);
	assert_int_equal(got.aborted, 0);
	record_world_done(&w);
}

static void test_the_end_before_the_start(void **state)
{
	(void)state;
	struct record_world w;
	record_world_init(&w, 1);
	rd_kafka_mock_broker_set_down(w.kafka.cluster, 1);
	record_world_open(&w, ING_GUARANTEE_EXACTLY_ONCE, NULL);
	record_commit_range(&w, 0, 10);
	assert_true(ing_emit_blocked(w.e));
	record_world_close(&w);
	assert_int_equal(w.committed, 0);
	record_world_done(&w);
}

static void test_fixed_settings(void **state)
{
	(void)state;
	struct record_world w;
	static const char *const keys[] = {"transactional.id=x", "transaction.timeout.ms=60000",
		"enable.idempotence=false", "message.timeout.ms=1"};
	record_world_init(&w, 1);
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		char text[60];
		char *properties[] = {text, NULL};
		snprintf(text, sizeof(text), "%s", keys[i]);
		struct ing_error err = {0};
		const struct ing_kafka_settings settings = {
			.brokers = w.kafka.brokers,
			.group = "group",
			.output_topics = {[ING_OUTPUT_RESULTS] = RECORD_TOPIC},
			.max_message_bytes = RECORD_VALUE_MAX,
			.delivery = ING_GUARANTEE_EXACTLY_ONCE,
			.properties = {.values = properties},
		};
		assert_int_equal(
			ing_emit_kafka_new(&w.loop, &settings, "one", NULL, NULL, &w.e, &err),
			-ING_FAIL_CONFIG);
		text[strcspn(text, "=")] = '\0';
		assert_non_null(strstr(err.msg, text));
	}
	record_world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_committed_with_their_positions),
		cmocka_unit_test(test_a_batch_has_at_most_so_many_bytes),
		cmocka_unit_test(test_only_the_position_of_a_record_without_topic),
		cmocka_unit_test(test_only_the_position_of_a_record_without_message),
		cmocka_unit_test(test_a_refused_batch_is_halved_to_the_record_at_fault),
		cmocka_unit_test(test_what_is_too_large_is_refused_alone),
		cmocka_unit_test(test_records_that_wait_are_dropped_with_their_partition),
		cmocka_unit_test(test_an_open_transaction_is_aborted_by_a_revocation),
		cmocka_unit_test(test_a_transaction_that_its_coordinator_does_not_know_is_given_up),
		cmocka_unit_test(
			test_failing_transactions_do_not_block_once_their_records_are_dropped),
		cmocka_unit_test(test_a_commit_on_its_way_is_not_called_back),
		cmocka_unit_test(test_nothing_is_committed_while_positions_cannot_be_checked),
		cmocka_unit_test(test_values_may_be_freed_once_their_records_are_dropped),
		cmocka_unit_test(test_sets_of_messages_fit_the_smallest_topic),
		cmocka_unit_test(test_the_end_commits_what_there_is),
		cmocka_unit_test(test_the_end_is_bounded_without_brokers),
		cmocka_unit_test(test_the_end_does_not_wait_for_the_answer_to_a_commit),
		cmocka_unit_test(test_the_end_before_the_start),
		cmocka_unit_test(test_fixed_settings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
