/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A partition is finished at the message before its end as of the start, or where librdkafka says
 * that it ends: the last offsets may be markers of transactions, or of aborted ones.
 */
#include "worker/ctl/topic_reader.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>

#include "worker/ctl/ctl.h"
#include "worker/ctl/kafka.h"

#define BROKER_WAIT_MS 15000

struct part {
	int64_t end; /* as of the start */
	bool done;   /* read up to there; never when following */
};

struct ing_topic_reader {
	struct ing_topic_reader_conf conf;
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	rd_kafka_queue_t *queue;
	struct part *parts;
	int part_count, open_parts;
	int started; /* partitions being consumed */
};

static void finish_part(struct ing_topic_reader *r, int32_t partition)
{
	struct part *p = &r->parts[partition];
	if (!p->done && !r->conf.follow) {
		p->done = true;
		r->open_parts--;
	}
}

/* Starts reading one partition; an empty one is finished at once unless we follow. */
static int start_part(struct ing_topic_reader *r, int32_t partition, struct ing_error *err)
{
	int64_t low;
	int64_t high;
	rd_kafka_resp_err_t rc = rd_kafka_query_watermark_offsets(
		r->rk, r->conf.topic, partition, &low, &high, BROKER_WAIT_MS);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: partition %" PRId32 ": %s",
			r->conf.topic, partition, rd_kafka_err2str(rc));
	r->parts[partition].end = high;
	if (low >= high && !r->conf.follow) {
		finish_part(r, partition);
		return 0;
	}
	int64_t from = r->conf.follow && !r->conf.from_beginning ? high : low;
	if (rd_kafka_consume_start_queue(r->topic, partition, from, r->queue) != 0)
		return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: partition %" PRId32 ": %s",
			r->conf.topic, partition, rd_kafka_err2str(rd_kafka_last_error()));
	r->started++;
	return 0;
}

static int start_parts(struct ing_topic_reader *r, struct ing_error *err)
{
	int64_t wait_ms = BROKER_WAIT_MS;
	if (r->conf.wait_ms > 0)
		wait_ms = (int64_t)ING_MIN(r->conf.wait_ms, (uint64_t)INT32_MAX);
	else if (r->conf.follow)
		wait_ms = INT64_MAX / 2; /* follow a topic that is yet to come */
	int rc = ing_ctl_kafka_partitions(
		r->rk, r->topic, wait_ms, r->conf.follow, &r->part_count, err);
	if (rc < 0)
		return rc;
	r->parts = ing_alloc((size_t)r->part_count * sizeof(*r->parts));
	r->open_parts = r->part_count;
	for (int32_t i = 0; rc == 0 && i < r->part_count; i++)
		rc = start_part(r, i, err);
	return rc;
}

/* A message that is none: false when it does not pass. */
static bool take_event(struct ing_topic_reader *r, const rd_kafka_message_t *m)
{
	if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		finish_part(r, m->partition);
		return true;
	}
	ing_ctl_fail(ING_CTL_ENVIRONMENT, r->conf.verb, "%s: %s", r->conf.topic,
		rd_kafka_message_errstr(m));
	return m->err == RD_KAFKA_RESP_ERR__TRANSPORT || m->err == RD_KAFKA_RESP_ERR__TIMED_OUT;
}

/* False: it is beyond the end. */
static bool take_message(struct ing_topic_reader *r, const rd_kafka_message_t *m)
{
	const struct part *p = &r->parts[m->partition];
	bool wanted = !p->done && (r->conf.follow || m->offset < p->end);
	if (m->offset + 1 >= p->end)
		finish_part(r, m->partition);
	return wanted;
}

/* -------------------------------------------------------------------------------------------- */

int ing_topic_reader_new(const struct ing_topic_reader_conf *conf, struct ing_topic_reader **ret,
	struct ing_error *err)
{
	static const struct ing_kafka_setting settings[] = {
		{"isolation.level", "read_committed", false},
		{"enable.partition.eof", "true", true},
		{"auto.offset.reset", "earliest", false},
		/* What is fetched ahead is dropped when the reader has enough. */
		{"queued.max.messages.kbytes", "16384", false},
		{NULL, NULL, false},
	};
	struct ing_topic_reader *r = ing_alloc(sizeof(*r));
	*r = (struct ing_topic_reader){.conf = *conf};
	int rc = ing_ctl_kafka_new(ING_KAFKA_CONSUMER, conf->verb, conf->brokers, conf->conf,
		settings, NULL, &r->rk, err);
	if (rc == 0) {
		r->topic = rd_kafka_topic_new(r->rk, conf->topic, NULL);
		r->queue = rd_kafka_queue_new(r->rk);
		rc = start_parts(r, err);
	}
	if (rc != 0) {
		ing_topic_reader_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void ing_topic_reader_free(struct ing_topic_reader *r)
{
	if (r == NULL)
		return;
	if (r->started > 0)
		for (int32_t i = 0; i < r->part_count; i++)
			rd_kafka_consume_stop(r->topic, i);
	if (r->queue != NULL)
		rd_kafka_queue_destroy(r->queue);
	if (r->topic != NULL)
		rd_kafka_topic_destroy(r->topic);
	if (r->rk != NULL)
		rd_kafka_destroy(r->rk);
	free(r->parts);
	free(r);
}

enum ing_topic_read ing_topic_reader_next(
	struct ing_topic_reader *r, int timeout_ms, struct rd_kafka_message_s **ret)
{
	while (r->open_parts > 0) {
		rd_kafka_message_t *m = rd_kafka_consume_queue(r->queue, timeout_ms);
		rd_kafka_poll(r->rk, 0);
		if (m == NULL)
			return ING_TOPIC_WAITING;
		if (m->err == 0 && take_message(r, m)) {
			*ret = m;
			return ING_TOPIC_MESSAGE;
		}
		bool fine = m->err == 0 || take_event(r, m);
		rd_kafka_message_destroy(m);
		if (!fine)
			return ING_TOPIC_FAILED;
	}
	return ING_TOPIC_END;
}
