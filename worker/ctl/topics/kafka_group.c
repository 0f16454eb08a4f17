/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Offsets are counted, not messages: of a topic that is written in transactions each of those adds one to every partition that
 * it has written to.
 */
#include "worker/ctl/topics/kafka_group.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/ctl/topics/kafka.h"

#define ANSWER_MS 5000

struct ing_group {
	rd_kafka_t *rk;
};

static int fail(struct ing_error *err, const char *what, rd_kafka_resp_err_t why)
{
	return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: %s", what, rd_kafka_err2str(why));
}

static int query_committed(
	struct ing_group *g, rd_kafka_topic_partition_list_t *list, struct ing_error *err)
{
	rd_kafka_resp_err_t why = rd_kafka_committed(g->rk, list, ANSWER_MS);
	for (int i = 0; why == 0 && i < list->cnt; i++)
		why = list->elems[i].err;
	rd_kafka_poll(g->rk, 0);
	return why == 0 ? 0 : fail(err, "the group's coordinator", why);
}

static int query_bounds(struct ing_group *g, const char *topic, int partition, int64_t *ret_low,
	int64_t *ret_end, struct ing_error *err)
{
	rd_kafka_resp_err_t why = rd_kafka_query_watermark_offsets(
		g->rk, topic, partition, ret_low, ret_end, ANSWER_MS);
	return why == 0 ? 0 : fail(err, topic, why);
}

/* -------------------------------------------------------------------------------------------- */

int ing_group_open(const char *verb, const char *brokers, const struct ing_conf *conf,
	const char *group, bool stable, struct ing_group **ret, struct ing_error *err)
{
	const struct ing_kafka_setting settings[] = {
		{"group.id", group, true},
		{"isolation.level", stable ? "read_committed" : "read_uncommitted", true},
		{"enable.auto.commit", "false", true},
		{"reconnect.backoff.max.ms", "2000", false},
		{NULL, NULL, false},
	};
	rd_kafka_t *rk;
	int rc = ing_ctl_kafka_new(
		ING_KAFKA_CONSUMER, verb, brokers, conf, settings, NULL, &rk, err);
	if (rc < 0)
		return rc;
	*ret = ing_alloc(sizeof(**ret));
	**ret = (struct ing_group){.rk = rk};
	return 0;
}

void ing_group_close(struct ing_group *g)
{
	if (g == NULL)
		return;
	rd_kafka_destroy(g->rk);
	free(g);
}

int ing_group_position(struct ing_group *g, const char *topic, int32_t partition,
	struct ing_group_position *ret, struct ing_error *err)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, topic, partition);
	int rc = query_committed(g, list, err);
	*ret = (struct ing_group_position){.offset = -1};
	if (rc == 0 && list->elems[0].offset >= 0) {
		ret->offset = list->elems[0].offset;
		/* Some clients end it with a NUL. */
		if (list->elems[0].metadata_size > 0)
			snprintf(ret->metadata, sizeof(ret->metadata), "%.*s",
				(int)ING_MIN(
					list->elems[0].metadata_size, sizeof(ret->metadata) - 1),
				(const char *)list->elems[0].metadata);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return rc;
}

int ing_group_lag(struct ing_group *g, const char *topic, int partitions, uint64_t *ret,
	struct ing_error *err)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
	rd_kafka_topic_partition_list_add_range(list, topic, 0, partitions - 1);
	int rc = query_committed(g, list, err);
	*ret = 0;
	for (int i = 0; rc == 0 && i < list->cnt; i++) {
		int64_t low = 0, end = 0;
		rc = query_bounds(g, topic, i, &low, &end, err);
		int64_t from = ING_MAX(list->elems[i].offset, low);
		if (rc == 0 && end > from)
			*ret += (uint64_t)(end - from);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return rc;
}

int ing_group_topic_ends(struct ing_group *g, const char *topic, int partitions, uint64_t *ret,
	struct ing_error *err)
{
	int rc = 0;
	*ret = 0;
	for (int i = 0; rc == 0 && i < partitions; i++) {
		int64_t low = 0, end = 0;
		rc = query_bounds(g, topic, i, &low, &end, err);
		*ret += (uint64_t)ING_MAX(end, 0);
	}
	return rc;
}
