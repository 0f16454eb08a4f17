/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mock_kafka.h - librdkafka's in-process cluster, with what tests need around it. Failures fail the
 * test.
 *
 * The cluster keeps only 5 MB or 100,000 messages of a partition, and drops older ones without a
 * word: stay below.
 */
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdbool.h>
#include <stdint.h>

struct uv_loop_s;

struct mock_kafka {
	rd_kafka_t *rk; /* a producer of its own, which holds the cluster */
	rd_kafka_mock_cluster_t *cluster;
	const char *brokers;
};

void mock_kafka_init(struct mock_kafka *k, int brokers);
void mock_kafka_done(struct mock_kafka *k);
void mock_kafka_topic(struct mock_kafka *k, const char *topic, int partitions);
/* Values "PREFIX0" … "PREFIX(count-1)", round robin over the partitions, acknowledged before it
 * returns. */
void mock_kafka_fill(
	struct mock_kafka *k, const char *topic, int partitions, const char *prefix, int count);
/* Commits an offset of partition 0 for a group that has no members. */
void mock_kafka_commit(struct mock_kafka *k, const char *group, const char *topic, int64_t offset);
/* The same for any partition, with metadata. */
void mock_kafka_commit_with(struct mock_kafka *k, const char *group, const char *topic,
	int32_t partition, int64_t offset, const char *metadata);
/* The metadata of the group's commit, "" when it has none. */
void mock_kafka_metadata(struct mock_kafka *k, const char *group, const char *topic,
	int32_t partition, char *ret, size_t bytes);
/* The group's committed offsets of partitions 0 … partitions - 1; -1 where there is none. */
void mock_kafka_committed(struct mock_kafka *k, const char *group, const char *topic,
	int partitions, int64_t *ret_offsets);
/* End offset of a partition: how many messages it has got. */
int64_t mock_kafka_end(struct mock_kafka *k, const char *topic, int partition);
/* Next message of a topic's partitions from the beginning, or NULL when none comes within
 * timeout_ms. Open with mock_kafka_reader(), close with mock_kafka_reader_free(). */
rd_kafka_t *mock_kafka_reader(struct mock_kafka *k, const char *topic, int partitions);
void mock_kafka_reader_free(rd_kafka_t *reader);

/* Turns the loop until *flag (or until timeout_ms has passed: false). With flag NULL for the whole
 * time. */
bool mock_turn_until(struct uv_loop_s *loop, const bool *flag, int timeout_ms);
/* The same until *counter is at least want. */
bool mock_turn_count(
	struct uv_loop_s *loop, const unsigned *counter, unsigned want, int timeout_ms);
