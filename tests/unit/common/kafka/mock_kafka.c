/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Synchronous helpers over the mock cluster.
 */
#include "mock_kafka.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <cmocka.h>

#include "common/base/clock.h"

#define WAIT_MS 60000 /* a ceiling, which only a hang reaches */

static void be_quiet(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	(void)rk;
	(void)level;
	if (getenv("ING_TEST_KAFKA_LOG") != NULL)
		fprintf(stderr, "%s: %s\n", facility, text);
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value)
{
	char reason[256];
	assert_int_equal(
		rd_kafka_conf_set(conf, key, value, reason, sizeof(reason)), RD_KAFKA_CONF_OK);
}

static rd_kafka_t *client(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
	char reason[256];
	rd_kafka_conf_set_log_cb(conf, be_quiet);
	rd_kafka_t *rk = rd_kafka_new(type, conf, reason, sizeof(reason));
	assert_non_null(rk);
	return rk;
}

static rd_kafka_t *consumer(struct mock_kafka *k, const char *group)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	set(conf, "bootstrap.servers", k->brokers);
	set(conf, "group.id", group);
	set(conf, "enable.auto.commit", "false");
	set(conf, "auto.offset.reset", "earliest");
	return client(RD_KAFKA_CONSUMER, conf);
}

static void keep_open(uv_timer_t *timer)
{
	(void)timer; /* only ends a turn of the loop */
}

void mock_kafka_init(struct mock_kafka *k, int brokers)
{
	/* The holder produces through bootstrap servers that are known only when the cluster is
	 * there. */
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char count[12];
	snprintf(count, sizeof(count), "%d", brokers);
	set(conf, "test.mock.num.brokers", count);
	set(conf, "linger.ms", "0");
	set(conf, "acks", "all");
	k->rk = client(RD_KAFKA_PRODUCER, conf);
	k->cluster = rd_kafka_handle_mock_cluster(k->rk);
	assert_non_null(k->cluster);
	k->brokers = rd_kafka_mock_cluster_bootstraps(k->cluster);
}

void mock_kafka_done(struct mock_kafka *k)
{
	rd_kafka_destroy(k->rk);
}

void mock_kafka_topic(struct mock_kafka *k, const char *topic, int partitions)
{
	assert_int_equal(rd_kafka_mock_topic_create(k->cluster, topic, partitions, 1), 0);
}

void mock_kafka_fill(
	struct mock_kafka *k, const char *topic, int partitions, const char *prefix, int count)
{
	for (int i = 0; i < count; i++) {
		char value[64];
		snprintf(value, sizeof(value), "%s%d", prefix, i);
		rd_kafka_resp_err_t err = rd_kafka_producev(k->rk, RD_KAFKA_V_TOPIC(topic),
			RD_KAFKA_V_PARTITION(i % partitions),
			RD_KAFKA_V_VALUE(value, strlen(value)),
			RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
		assert_int_equal(err, 0);
	}
	assert_int_equal(rd_kafka_flush(k->rk, WAIT_MS), 0);
}

void mock_kafka_commit(struct mock_kafka *k, const char *group, const char *topic, int64_t offset)
{
	mock_kafka_commit_with(k, group, topic, 0, offset, "");
}

void mock_kafka_commit_with(struct mock_kafka *k, const char *group, const char *topic,
	int32_t partition, int64_t offset, const char *metadata)
{
	rd_kafka_t *rk = consumer(k, group);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_t *elem =
		rd_kafka_topic_partition_list_add(list, topic, partition);
	elem->offset = offset;
	if (*metadata != '\0') {
		elem->metadata = strdup(metadata);
		elem->metadata_size = strlen(metadata);
	}
	assert_int_equal(rd_kafka_commit(rk, list, 0), 0);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

void mock_kafka_committed(struct mock_kafka *k, const char *group, const char *topic,
	int partitions, int64_t *ret_offsets)
{
	rd_kafka_t *rk = consumer(k, group);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
	for (int i = 0; i < partitions; i++)
		rd_kafka_topic_partition_list_add(list, topic, i);
	assert_int_equal(rd_kafka_committed(rk, list, WAIT_MS), 0);
	for (int i = 0; i < list->cnt; i++) {
		int64_t offset = list->elems[i].offset;
		ret_offsets[list->elems[i].partition] = offset < 0 ? -1 : offset;
	}
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

void mock_kafka_metadata(struct mock_kafka *k, const char *group, const char *topic,
	int32_t partition, char *ret, size_t bytes)
{
	rd_kafka_t *rk = consumer(k, group);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, topic, partition);
	assert_int_equal(rd_kafka_committed(rk, list, WAIT_MS), 0);
	assert_true(list->elems[0].metadata_size < bytes);
	snprintf(ret, bytes, "%.*s", (int)list->elems[0].metadata_size,
		list->elems[0].metadata_size > 0 ? (const char *)list->elems[0].metadata : "");
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

int64_t mock_kafka_end(struct mock_kafka *k, const char *topic, int partition)
{
	int64_t low, high;
	assert_int_equal(
		rd_kafka_query_watermark_offsets(k->rk, topic, partition, &low, &high, WAIT_MS), 0);
	return high;
}

rd_kafka_t *mock_kafka_reader(struct mock_kafka *k, const char *topic, int partitions)
{
	rd_kafka_t *rk = consumer(k, "reader");
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
	for (int i = 0; i < partitions; i++)
		rd_kafka_topic_partition_list_add(list, topic, i)->offset =
			RD_KAFKA_OFFSET_BEGINNING;
	rd_kafka_poll_set_consumer(rk);
	assert_int_equal(rd_kafka_assign(rk, list), 0);
	rd_kafka_topic_partition_list_destroy(list);
	return rk;
}

void mock_kafka_reader_free(rd_kafka_t *reader)
{
	rd_kafka_destroy_flags(reader, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

static bool turn(struct uv_loop_s *loop, const bool *flag, const unsigned *counter, unsigned want,
	int timeout_ms)
{
	uint64_t deadline = ing_now_ms() + (uint64_t)timeout_ms;
	uv_timer_t timer;
	bool met = false;
	uv_timer_init(loop, &timer);
	uv_timer_start(&timer, keep_open, 10, 10);
	for (;;) {
		met = (flag != NULL && *flag) || (counter != NULL && *counter >= want);
		if (met || ing_now_ms() >= deadline)
			break;
		uv_run(loop, UV_RUN_ONCE);
	}
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
	return met;
}

bool mock_turn_until(struct uv_loop_s *loop, const bool *flag, int timeout_ms)
{
	return turn(loop, flag, NULL, 0, timeout_ms);
}

bool mock_turn_count(struct uv_loop_s *loop, const unsigned *counter, unsigned want, int timeout_ms)
{
	return turn(loop, NULL, counter, want, timeout_ms);
}
