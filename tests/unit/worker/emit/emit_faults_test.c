/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What brokers may answer to a transaction, or not. Whatever it is: no record is lost, none is
 * committed twice, and no position without its message (record_world.h checks that at each commit).
 */
#include "record_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"

enum {
	PRODUCE = 0,
	FIND_COORDINATOR = 10,
	INIT_PRODUCER_ID = 22,
	ADD_PARTITIONS = 24,
	ADD_OFFSETS = 25,
	END_TXN = 26,
	TXN_OFFSET_COMMIT = 28,
};

#define ERR(name) RD_KAFKA_RESP_ERR_##name
#define RECORDS 20

/* What must hold. */
enum outcome {
	COMMITS, /* in the transaction that met the fault */
	AGAIN,   /* that one is aborted, and another one commits the same records */
	EITHER,  /* one of the two */
	STOPS,   /* the producer ends: nothing of it is committed, then or later */
};

struct fault {
	int16_t api;
	rd_kafka_resp_err_t err;
	int answer_ms;  /* the answer comes so much later */
	unsigned times; /* 0: once */
};

struct scenario {
	const char *name;
	bool at_start; /* before the producer is there, else after its first commit */
	struct fault faults[3];
	enum outcome want;
};

static const struct scenario scenarios[] = {
	/* --- the producer's start --- */
	{"start: no coordinator is found at first", true,
		{{FIND_COORDINATOR, ERR(COORDINATOR_NOT_AVAILABLE), 0, 3}}, COMMITS},
	{"start: the coordinator has just moved", true,
		{{INIT_PRODUCER_ID, ERR(NOT_COORDINATOR), 0, 2}}, COMMITS},
	{"start: the coordinator is loading its log", true,
		{{INIT_PRODUCER_ID, ERR(COORDINATOR_LOAD_IN_PROGRESS), 0, 3}}, COMMITS},
	{"start: the transaction of the worker before is still being concluded", true,
		{{INIT_PRODUCER_ID, ERR(CONCURRENT_TRANSACTIONS), 0, 4}}, COMMITS},
	{"start: the connection is cut", true, {{INIT_PRODUCER_ID, ERR(_TRANSPORT), 0, 2}},
		COMMITS},
	{"start: the answer takes longer than a call waits", true,
		{{INIT_PRODUCER_ID, ERR(NO_ERROR), 3000, 1}}, COMMITS},
	{"start: transactions are forbidden", true,
		{{INIT_PRODUCER_ID, ERR(TRANSACTIONAL_ID_AUTHORIZATION_FAILED), 0, 2}}, STOPS},

	/* --- a topic's partition joins the transaction --- */
	{"partition: the coordinator is not available", false,
		{{ADD_PARTITIONS, ERR(COORDINATOR_NOT_AVAILABLE), 0, 2}}, COMMITS},
	{"partition: the coordinator has moved", false,
		{{ADD_PARTITIONS, ERR(NOT_COORDINATOR), 0, 1}}, COMMITS},
	{"partition: the transaction before is still being concluded", false,
		{{ADD_PARTITIONS, ERR(CONCURRENT_TRANSACTIONS), 0, 5}}, COMMITS},
	{"partition: the connection is cut", false, {{ADD_PARTITIONS, ERR(_TRANSPORT), 0, 1}},
		COMMITS},
	{"partition: the topic is not known there yet", false,
		{{ADD_PARTITIONS, ERR(UNKNOWN_TOPIC_OR_PART), 0, 2}}, COMMITS},
	{"partition: writing to the topic is forbidden for a while", false,
		{{ADD_PARTITIONS, ERR(TOPIC_AUTHORIZATION_FAILED), 0, 2}}, AGAIN},
	{"partition: the producer's id has expired", false,
		{{ADD_PARTITIONS, ERR(INVALID_PRODUCER_ID_MAPPING), 0, 1}}, AGAIN},
	{"partition: another producer has the id", false,
		{{ADD_PARTITIONS, ERR(INVALID_PRODUCER_EPOCH), 0, 1}}, STOPS},
	{"partition: the coordinator thinks otherwise of the transaction", false,
		{{ADD_PARTITIONS, ERR(INVALID_TXN_STATE), 0, 1}}, STOPS},

	/* --- messages --- */
	{"produce: the leader has moved", false, {{PRODUCE, ERR(NOT_LEADER_FOR_PARTITION), 0, 2}},
		COMMITS},
	{"produce: the broker's time is over", false, {{PRODUCE, ERR(REQUEST_TIMED_OUT), 0, 1}},
		COMMITS},
	{"produce: the connection is cut", false, {{PRODUCE, ERR(_TRANSPORT), 0, 2}}, COMMITS},
	{"produce: too few replicas", false, {{PRODUCE, ERR(NOT_ENOUGH_REPLICAS), 0, 3}}, COMMITS},
	{"produce: too few replicas after the append", false,
		{{PRODUCE, ERR(NOT_ENOUGH_REPLICAS_AFTER_APPEND), 0, 1}}, COMMITS},
	{"produce: the answer takes three seconds", false, {{PRODUCE, ERR(NO_ERROR), 3000, 1}},
		COMMITS},
	{"produce: no answer within the time of a message", false,
		{{PRODUCE, ERR(NO_ERROR), 15000, 1}}, AGAIN},
	{"produce: writing to the topic is forbidden for a while", false,
		{{PRODUCE, ERR(TOPIC_AUTHORIZATION_FAILED), 0, 1}}, AGAIN},
	{"produce: the log misses messages", false,
		{{PRODUCE, ERR(OUT_OF_ORDER_SEQUENCE_NUMBER), 0, 1}}, STOPS},
	{"produce: the log has forgotten the producer", false,
		{{PRODUCE, ERR(UNKNOWN_PRODUCER_ID), 0, 1}}, AGAIN},
	{"produce: a message is damaged on its way", false, {{PRODUCE, ERR(INVALID_MSG), 0, 1}},
		EITHER},
	{"produce: the log directory is broken for a while", false,
		{{PRODUCE, ERR(KAFKA_STORAGE_ERROR), 0, 2}}, COMMITS},

	/* --- the group joins the transaction --- */
	{"offsets: the coordinator is loading its log", false,
		{{ADD_OFFSETS, ERR(COORDINATOR_LOAD_IN_PROGRESS), 0, 2}}, COMMITS},
	{"offsets: the transaction's coordinator has moved", false,
		{{ADD_OFFSETS, ERR(NOT_COORDINATOR), 0, 1}}, COMMITS},
	{"offsets: the connection is cut", false, {{ADD_OFFSETS, ERR(_TRANSPORT), 0, 1}}, COMMITS},
	{"offsets: the group is forbidden for a while", false,
		{{ADD_OFFSETS, ERR(GROUP_AUTHORIZATION_FAILED), 0, 1}}, AGAIN},
	{"offsets: another producer has the id", false,
		{{ADD_OFFSETS, ERR(INVALID_PRODUCER_EPOCH), 0, 1}}, STOPS},

	/* --- positions --- */
	{"positions: the group's coordinator is loading its log", false,
		{{TXN_OFFSET_COMMIT, ERR(COORDINATOR_LOAD_IN_PROGRESS), 0, 2}}, COMMITS},
	{"positions: the group's coordinator has moved", false,
		{{TXN_OFFSET_COMMIT, ERR(NOT_COORDINATOR), 0, 2}}, COMMITS},
	{"positions: the connection is cut", false, {{TXN_OFFSET_COMMIT, ERR(_TRANSPORT), 0, 1}},
		COMMITS},
	{"positions: the broker's time is over", false,
		{{TXN_OFFSET_COMMIT, ERR(REQUEST_TIMED_OUT), 0, 1}}, COMMITS},
	{"positions: the group has a new generation", false,
		{{TXN_OFFSET_COMMIT, ERR(ILLEGAL_GENERATION), 0, 1}}, AGAIN},
	{"positions: the group does not know the member", false,
		{{TXN_OFFSET_COMMIT, ERR(UNKNOWN_MEMBER_ID), 0, 1}}, AGAIN},
	{"positions: another member has the instance's place", false,
		{{TXN_OFFSET_COMMIT, ERR(FENCED_INSTANCE_ID), 0, 1}}, AGAIN},
	{"positions: the map is too long", false,
		{{TXN_OFFSET_COMMIT, ERR(OFFSET_METADATA_TOO_LARGE), 0, 1}}, AGAIN},
	{"positions: the group is forbidden for a while", false,
		{{TXN_OFFSET_COMMIT, ERR(GROUP_AUTHORIZATION_FAILED), 0, 1}}, AGAIN},
	{"positions: another producer has the id", false,
		{{TXN_OFFSET_COMMIT, ERR(INVALID_PRODUCER_EPOCH), 0, 1}}, STOPS},

	{"positions: they are sent too slowly for a commit in time", false,
		{{ADD_OFFSETS, ERR(NO_ERROR), 4500, 1},
			{TXN_OFFSET_COMMIT, ERR(NO_ERROR), 4500, 1}},
		AGAIN},

	/* --- the commit --- */
	{"commit: the coordinator is not available", false,
		{{END_TXN, ERR(COORDINATOR_NOT_AVAILABLE), 0, 2}}, COMMITS},
	{"commit: the coordinator has moved", false, {{END_TXN, ERR(NOT_COORDINATOR), 0, 2}},
		COMMITS},
	{"commit: the coordinator is loading its log", false,
		{{END_TXN, ERR(COORDINATOR_LOAD_IN_PROGRESS), 0, 2}}, COMMITS},
	{"commit: it is already under way", false, {{END_TXN, ERR(CONCURRENT_TRANSACTIONS), 0, 3}},
		COMMITS},
	{"commit: its answer is lost", false, {{END_TXN, ERR(_TRANSPORT), 0, 1}}, COMMITS},
	{"commit: its answer is lost again and again", false, {{END_TXN, ERR(_TRANSPORT), 0, 4}},
		COMMITS},
	{"commit: its answer takes longer than a call waits", false,
		{{END_TXN, ERR(NO_ERROR), 5000, 1}}, COMMITS},
	{"commit: another producer has the id", false, {{END_TXN, ERR(PRODUCER_FENCED), 0, 1}},
		STOPS},
	{"commit: the coordinator's time for the transaction is over", false,
		{{END_TXN, ERR(INVALID_PRODUCER_EPOCH), 0, 1}}, STOPS},
	{"commit: the coordinator thinks otherwise of the transaction", false,
		{{END_TXN, ERR(INVALID_TXN_STATE), 0, 1}}, STOPS},
	{"commit: transactions are forbidden", false,
		{{END_TXN, ERR(TRANSACTIONAL_ID_AUTHORIZATION_FAILED), 0, 1}}, STOPS},

	/* --- the abort --- */
	{"abort: its answer is lost", false,
		{{TXN_OFFSET_COMMIT, ERR(ILLEGAL_GENERATION), 0, 1},
			{END_TXN, ERR(_TRANSPORT), 0, 2}},
		AGAIN},
	{"abort: the coordinator has moved", false,
		{{TXN_OFFSET_COMMIT, ERR(UNKNOWN_MEMBER_ID), 0, 1},
			{END_TXN, ERR(NOT_COORDINATOR), 0, 2}},
		AGAIN},
	{"abort: its answer takes longer than a call waits", false,
		{{TXN_OFFSET_COMMIT, ERR(ILLEGAL_GENERATION), 0, 1},
			{END_TXN, ERR(NO_ERROR), 5000, 1}},
		AGAIN},
	{"abort: another producer has the id", false,
		{{TXN_OFFSET_COMMIT, ERR(ILLEGAL_GENERATION), 0, 1},
			{END_TXN, ERR(INVALID_PRODUCER_EPOCH), 0, 1}},
		STOPS},
	{"abort: the new epoch's answer is lost", false,
		{{PRODUCE, ERR(UNKNOWN_PRODUCER_ID), 0, 1},
			{INIT_PRODUCER_ID, ERR(_TRANSPORT), 0, 2}},
		AGAIN},
};

static void inject(struct record_world *w, const struct scenario *s)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(s->faults); i++) {
		const struct fault *f = &s->faults[i];
		for (unsigned n = 0; n < ING_MAX(f->times, 1) && (f->err != 0 || f->answer_ms > 0);
			n++)
			rd_kafka_mock_broker_push_request_error_rtts(
				w->kafka.cluster, 1, f->api, 1, f->err, f->answer_ms);
	}
}

/* Else the scenario shows nothing. */
static void expect_met(struct record_world *w, const struct scenario *s)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(s->faults); i++) {
		size_t left = 0;
		assert_int_equal(rd_kafka_mock_broker_error_stack_cnt(
					 w->kafka.cluster, 1, s->faults[i].api, &left),
			0);
		assert_int_equal(left, 0);
	}
}

static void expect_stopped(struct record_world *w, unsigned committed)
{
	struct record_ledger before, after;
	record_wait(w, &w->fatals, 1);
	record_ledger_get(&before);
	mock_turn_until(&w->loop, NULL, 300);
	record_ledger_get(&after);
	assert_int_equal(w->fatals, 1);
	assert_true(ing_emit_blocked(w->e));
	assert_int_equal(w->committed, committed);
	assert_int_equal(after.begun, before.begun);
	assert_int_equal(w->refused + w->dropped, 0);
	record_expect_committed(w, 0, committed);
}

static void run_scenario(void **state)
{
	const struct scenario *s = *state;
	struct record_world w;
	struct record_ledger got;
	record_world_init(&w, 1);
	if (s->at_start)
		inject(&w, s);
	record_world_open(&w, ING_GUARANTEE_EXACTLY_ONCE, NULL);
	unsigned before = s->at_start ? 0 : 1;
	record_commit_range(&w, 0, before);
	record_wait(&w, &w.committed, before);
	if (!s->at_start)
		inject(&w, s);
	record_commit_range(&w, before, RECORDS);
	if (s->want == STOPS) {
		expect_stopped(&w, before);
	} else {
		record_wait(&w, &w.committed, before + RECORDS);
		record_expect_committed(&w, 0, before + RECORDS);
		record_ledger_get(&got);
		assert_int_equal(w.fatals + w.refused + w.dropped, 0);
		if (s->want == COMMITS)
			assert_int_equal(got.aborted, 0);
		if (s->want == AGAIN)
			assert_true(got.aborted >= 1);
		expect_met(&w, s);
		assert_false(ing_emit_blocked(w.e));
	}
	record_world_done(&w);
}

/* ---- Brokers that go and come ---- */

static void open_cluster(struct record_world *w)
{
	record_world_init(w, 3);
	record_world_open(w, ING_GUARANTEE_EXACTLY_ONCE, NULL);
	record_commit(w, 0);
	record_wait(w, &w->committed, 1);
}

/* A batch is under way. */
static void begin_batch(struct record_world *w, unsigned from, unsigned count)
{
	unsigned before = w->begun_positions;
	record_commit_range(w, from, count);
	assert_true(mock_turn_count(&w->loop, &w->begun_positions, before + 1, RECORD_WAIT_MS));
}

static void expect_all(struct record_world *w, unsigned count)
{
	record_wait(w, &w->committed, count);
	record_expect_committed(w, 0, count);
	assert_int_equal(w->fatals + w->refused + w->dropped, 0);
	mock_turn_until(&w->loop, NULL, 50);
	assert_false(ing_emit_blocked(w->e));
}

static void brokers_are_away_for_a_moment(void **state)
{
	(void)state;
	struct record_world w;
	open_cluster(&w);
	for (unsigned i = 0; i < 3; i++) {
		begin_batch(&w, 1 + i * 100, 100);
		rd_kafka_mock_broker_set_down(w.kafka.cluster, -1);
		mock_turn_until(&w.loop, NULL, 700);
		rd_kafka_mock_broker_set_up(w.kafka.cluster, -1);
		record_wait(&w, &w.committed, 1 + (i + 1) * 100);
	}
	expect_all(&w, 301);
	record_world_done(&w);
}

/* Longer than a transaction may take: intake is told to stop, and what was open is aborted; by us, or by
 * the coordinator, which does not know our producer any more then. */
static void stay_away(bool coordinator_gives_up)
{
	struct record_world w;
	open_cluster(&w);
	for (int broker = 1; broker <= 3; broker++) {
		rd_kafka_mock_broker_push_request_error_rtts(
			w.kafka.cluster, broker, PRODUCE, 2, 0, 20000, 0, 20000);
		if (coordinator_gives_up)
			rd_kafka_mock_broker_push_request_error_rtts(w.kafka.cluster, broker,
				END_TXN, 1, ERR(INVALID_PRODUCER_EPOCH), 0);
	}
	begin_batch(&w, 1, 100);
	mock_turn_until(&w.loop, NULL, 300);
	rd_kafka_mock_broker_set_down(w.kafka.cluster, -1);
	mock_turn_until(&w.loop, NULL, 11000);
	assert_int_equal(w.committed, 1);
	assert_true(ing_emit_blocked(w.e));
	rd_kafka_mock_broker_set_up(w.kafka.cluster, -1);
	expect_all(&w, 101);
	record_world_done(&w);
}

static void brokers_are_away_for_longer_than_a_transaction(void **state)
{
	(void)state;
	stay_away(false);
}

static void the_coordinator_gives_up_while_brokers_are_away(void **state)
{
	(void)state;
	stay_away(true);
}

/* Of the coordinator that answers no more, with a commit on its way. */
static void the_coordinator_dies_during_commits(void **state)
{
	(void)state;
	struct record_world w;
	open_cluster(&w);
	for (int broker = 1; broker <= 3; broker++) {
		assert_int_equal(rd_kafka_mock_coordinator_set(
					 w.kafka.cluster, "transaction", "group-one", broker),
			0);
		rd_kafka_mock_broker_push_request_error_rtts(
			w.kafka.cluster, broker, END_TXN, 1, 0, 3000);
		begin_batch(&w, (unsigned)broker * 50 - 49, 50);
		mock_turn_until(&w.loop, NULL, 400);
		assert_int_equal(rd_kafka_mock_coordinator_set(w.kafka.cluster, "transaction",
					 "group-one", broker % 3 + 1),
			0);
		rd_kafka_mock_broker_set_down(w.kafka.cluster, broker);
		mock_turn_until(&w.loop, NULL, 300);
		rd_kafka_mock_broker_set_up(w.kafka.cluster, broker);
		record_wait(&w, &w.committed, (unsigned)broker * 50 + 1);
	}
	expect_all(&w, 151);
	record_world_done(&w);
}

static void coordinators_and_leader_move_between_commits(void **state)
{
	(void)state;
	struct record_world w;
	open_cluster(&w);
	for (int i = 0; i < 9; i++) {
		rd_kafka_mock_coordinator_set(
			w.kafka.cluster, "transaction", "group-one", i % 3 + 1);
		rd_kafka_mock_coordinator_set(w.kafka.cluster, "group", "group", (i + 1) % 3 + 1);
		rd_kafka_mock_partition_set_leader(
			w.kafka.cluster, RECORD_TOPIC, 0, (i + 2) % 3 + 1);
		record_commit_range(&w, 1 + (unsigned)i * 10, 10);
		record_wait(&w, &w.committed, 1 + (unsigned)(i + 1) * 10);
	}
	expect_all(&w, 91);
	record_world_done(&w);
}

static void the_topic_has_no_leader_for_a_while(void **state)
{
	(void)state;
	struct record_world w;
	open_cluster(&w);
	rd_kafka_mock_partition_set_leader(w.kafka.cluster, RECORD_TOPIC, 0, -1);
	begin_batch(&w, 1, 50);
	mock_turn_until(&w.loop, NULL, 2000);
	assert_int_equal(w.committed, 1);
	rd_kafka_mock_partition_set_leader(w.kafka.cluster, RECORD_TOPIC, 0, 2);
	expect_all(&w, 51);
	record_world_done(&w);
}

/* Slow brokers: batches get larger instead of more. */
static void slow_brokers_get_fewer_transactions(void **state)
{
	(void)state;
	struct record_world w;
	struct record_ledger got;
	open_cluster(&w);
	for (int broker = 1; broker <= 3; broker++)
		rd_kafka_mock_broker_set_rtt(w.kafka.cluster, broker, 50);
	for (unsigned i = 1; i < 1001; i += 10) {
		record_commit_range(&w, i, 10);
		mock_turn_until(&w.loop, NULL, 10);
	}
	expect_all(&w, 1001);
	record_ledger_get(&got);
	assert_true(got.begun < 50); /* of 100 times that something was put */
	record_world_done(&w);
}

/* Arguments: PATTERN (only what has such a name), or PART PARTS (every PARTS-th). */
int main(int argc, char **argv)
{
	const struct CMUnitTest clusters[] = {
		cmocka_unit_test(brokers_are_away_for_a_moment),
		cmocka_unit_test(brokers_are_away_for_longer_than_a_transaction),
		cmocka_unit_test(the_coordinator_gives_up_while_brokers_are_away),
		cmocka_unit_test(the_coordinator_dies_during_commits),
		cmocka_unit_test(coordinators_and_leader_move_between_commits),
		cmocka_unit_test(the_topic_has_no_leader_for_a_while),
		cmocka_unit_test(slow_brokers_get_fewer_transactions),
	};
	size_t part = argc > 2 ? strtoul(argv[1], NULL, 10) : 1;
	size_t parts = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	struct CMUnitTest all[ING_ARRAY_LEN(scenarios) + ING_ARRAY_LEN(clusters)] = {0};
	size_t count = 0;
	for (size_t i = part - 1; i < ING_ARRAY_LEN(all); i += parts) {
		if (i >= ING_ARRAY_LEN(scenarios))
			all[count++] = clusters[i - ING_ARRAY_LEN(scenarios)];
		else
			all[count++] = (struct CMUnitTest){.name = scenarios[i].name,
				.test_func = run_scenario,
				.initial_state = (void *)(uintptr_t)&scenarios[i]};
	}
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("emit_faults_test", all, count, NULL, NULL);
}
