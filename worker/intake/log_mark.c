/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A consumer that is assigned one partition at the mark's offset and polled for one message. It is rare
 * (the group was away until the brokers expired its offsets), so that a connection each is no matter.
 */
#include "worker/intake/log_mark.h"

#include "common/base/clock.h"
#include "common/base/macros.h"

#define TIMEOUT_MS 4000

/* A consumer that is assigned by hand does not join the group of its settings. */
static rd_kafka_t *open_reader(rd_kafka_t *like)
{
	char reason[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_dup(rd_kafka_conf(like));
	rd_kafka_conf_set_opaque(conf, NULL);
	rd_kafka_conf_set_rebalance_cb(conf, NULL);
	rd_kafka_conf_set_error_cb(conf, NULL);
	rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof(reason));
	if (rk == NULL)
		rd_kafka_conf_destroy(conf);
	else
		rd_kafka_poll_set_consumer(rk);
	return rk;
}

static enum ing_mark_state compare(const rd_kafka_message_t *m, const struct ing_log_mark *mark)
{
	if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
		return ING_MARK_OTHER; /* no such offset */
	if (m->err != 0)
		return ING_MARK_UNKNOWN;
	return m->offset == mark->offset &&
			       rd_kafka_message_timestamp(m, NULL) == mark->timestamp_ms
		       ? ING_MARK_FOUND
		       : ING_MARK_OTHER;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_mark_state ing_log_mark_find(
	rd_kafka_t *rk, const char *topic, int32_t partition, const struct ing_log_mark *mark)
{
	rd_kafka_t *reader = open_reader(rk);
	if (reader == NULL)
		return ING_MARK_UNKNOWN;
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, topic, partition)->offset = mark->offset;
	rd_kafka_assign(reader, list);
	rd_kafka_topic_partition_list_destroy(list);
	enum ing_mark_state state = ING_MARK_UNKNOWN;
	uint64_t deadline = ing_now_ms() + TIMEOUT_MS;
	while (state == ING_MARK_UNKNOWN && ing_now_ms() < deadline) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, 200);
		if (m == NULL)
			continue;
		state = compare(m, mark);
		rd_kafka_message_destroy(m);
	}
	rd_kafka_destroy_flags(reader, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	return state;
}
