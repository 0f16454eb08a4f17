/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A partition is finished at the message before its end as of the start, or where librdkafka says
 * that it ends: the last offsets may be markers of transactions, or of aborted ones.
 *
 * Each partition has a queue of its own, so that one that is behind does not fill memory with what the others have;
 * of each one message is held, and the oldest of these is the next. All queues wake one descriptor.
 */
#include "worker/ctl/topics/topic_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/topics/kafka_group.h"

#define BROKER_WAIT_MS 15000

struct part {
	rd_kafka_queue_t *queue;  /* NULL: not being consumed */
	rd_kafka_message_t *head; /* the next one */
	int64_t time_ms;          /* its timestamp */
	int64_t begin, end;       /* of what is read; end as of the start */
	bool done;                /* read up to there; never when following */
	bool at_end;              /* there was nothing more when it last delivered something */
	bool silent;              /* it was waited for in vain, and has delivered nothing since */
};

struct ing_topic_reader {
	struct ing_topic_reader_conf conf;
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	struct part *parts;
	int part_count;
	int wake_fd;         /* an eventfd */
	int next;            /* the partition whose head is the oldest; -1: none has one */
	uint64_t waiting_ms; /* since when it is held back */
};

static void finish_part(const struct ing_topic_reader *r, struct part *p)
{
	p->done = !r->conf.follow;
}

static int partition_error(const struct ing_topic_reader *r, int32_t partition,
	rd_kafka_resp_err_t rc, struct ing_error *err)
{
	return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: partition %" PRId32 ": %s",
		r->conf.topic, partition, rd_kafka_err2str(rc));
}

/* Where each partition is to begin: the end, where nothing is so young. */
static int find_since(struct ing_topic_reader *r, struct ing_error *err)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(r->part_count);
	int rc = 0;
	for (int32_t i = 0; i < r->part_count; i++)
		rd_kafka_topic_partition_list_add(list, r->conf.topic, i)->offset =
			r->conf.since_ms;
	rd_kafka_resp_err_t answer = rd_kafka_offsets_for_times(r->rk, list, BROKER_WAIT_MS);
	for (int i = 0; i < list->cnt && answer == 0 && rc == 0; i++) {
		const rd_kafka_topic_partition_t *found = &list->elems[i];
		struct part *p = &r->parts[found->partition];
		if (found->err != 0)
			rc = partition_error(r, found->partition, found->err, err);
		else
			p->begin = found->offset >= 0 ? ING_MAX(p->begin, found->offset) : p->end;
	}
	if (answer != 0)
		rc = ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: %s", r->conf.topic,
			rd_kafka_err2str(answer));
	rd_kafka_topic_partition_list_destroy(list);
	return rc;
}

/* Behind what the group has committed. */
static int find_positions(struct ing_topic_reader *r, struct ing_error *err)
{
	struct ing_group *group = NULL;
	int rc = ing_group_open(
		r->conf.verb, r->conf.brokers, r->conf.conf, r->conf.group, false, &group, err);
	for (int32_t i = 0; rc == 0 && i < r->part_count; i++) {
		struct ing_group_position at;
		rc = ing_group_position(group, r->conf.topic, i, &at, err);
		if (rc == 0)
			r->parts[i].begin = ING_MAX(r->parts[i].begin, at.offset);
	}
	ing_group_close(group);
	return rc;
}

static int find_ends(struct ing_topic_reader *r, struct ing_error *err)
{
	for (int32_t i = 0; i < r->part_count; i++) {
		struct part *p = &r->parts[i];
		rd_kafka_resp_err_t rc = rd_kafka_query_watermark_offsets(
			r->rk, r->conf.topic, i, &p->begin, &p->end, BROKER_WAIT_MS);
		if (rc != 0)
			return partition_error(r, i, rc, err);
	}
	if (r->conf.since_ms > 0)
		return find_since(r, err);
	if (r->conf.group != NULL)
		return find_positions(r, err);
	for (int32_t i = 0; i < r->part_count && r->conf.follow && !r->conf.from_beginning; i++)
		r->parts[i].begin = r->parts[i].end;
	return 0;
}

/* Starts reading one partition; one that has nothing is finished at once unless we follow. */
static int start_part(struct ing_topic_reader *r, int32_t partition, struct ing_error *err)
{
	struct part *p = &r->parts[partition];
	static const uint64_t one = 1;
	if (p->begin >= p->end && !r->conf.follow) {
		finish_part(r, p);
		return 0;
	}
	p->queue = rd_kafka_queue_new(r->rk);
	rd_kafka_queue_io_event_enable(p->queue, r->wake_fd, &one, sizeof(one));
	if (rd_kafka_consume_start_queue(r->topic, partition, p->begin, p->queue) == 0)
		return 0;
	int rc = partition_error(r, partition, rd_kafka_last_error(), err);
	rd_kafka_queue_destroy(ING_TAKE(p->queue));
	return rc;
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
	rc = find_ends(r, err);
	for (int32_t i = 0; rc == 0 && i < r->part_count; i++)
		rc = start_part(r, i, err);
	return rc;
}

/* A message that is none: false when it does not pass. */
static bool take_event(struct ing_topic_reader *r, struct part *p, const rd_kafka_message_t *m)
{
	if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		p->at_end = true;
		p->silent = false;
		finish_part(r, p);
		return true;
	}
	ing_ctl_fail(ING_CTL_ENVIRONMENT, r->conf.verb, "%s: %s", r->conf.topic,
		rd_kafka_message_errstr(m));
	return m->err == RD_KAFKA_RESP_ERR__TRANSPORT || m->err == RD_KAFKA_RESP_ERR__TIMED_OUT;
}

/* False: it is beyond the end. */
static bool take_message(struct ing_topic_reader *r, struct part *p, rd_kafka_message_t *m)
{
	rd_kafka_timestamp_type_t type;
	bool wanted = r->conf.follow || m->offset < p->end;
	if (m->offset + 1 >= p->end)
		finish_part(r, p);
	p->at_end = p->silent = false;
	if (!wanted)
		return false;
	p->head = m;
	p->time_ms = rd_kafka_message_timestamp(m, &type);
	return true;
}

/* False: it does not pass. */
static bool fill_part(struct ing_topic_reader *r, struct part *p)
{
	while (p->head == NULL && !p->done) {
		rd_kafka_message_t *m = rd_kafka_consume_queue(p->queue, 0);
		if (m == NULL)
			return true;
		if (m->err == 0 && take_message(r, p, m))
			return true;
		bool fine = m->err == 0 || take_event(r, p, m);
		rd_kafka_message_destroy(m);
		if (!fine)
			return false;
	}
	return true;
}

/* False: it does not pass. */
static bool fill_all(struct ing_topic_reader *r)
{
	int before = r->next;
	r->next = -1;
	for (int i = 0; i < r->part_count; i++) {
		struct part *p = &r->parts[i];
		if (!fill_part(r, p))
			return false;
		if (p->head != NULL && (r->next < 0 || p->time_ms < r->parts[r->next].time_ms))
			r->next = i;
	}
	if (r->next != before)
		r->waiting_ms = ing_now_ms();
	return true;
}

static bool is_over(const struct ing_topic_reader *r)
{
	for (int i = 0; i < r->part_count; i++) {
		if (!r->parts[i].done || r->parts[i].head != NULL)
			return false;
	}
	return true;
}

/* How much longer an older message of this partition is waited for; 0: no longer. */
static int64_t patience_ms(const struct ing_topic_reader *r, struct part *p)
{
	struct timespec now = ing_wall_now();
	int64_t waited_ms = (int64_t)(ing_now_ms() - r->waiting_ms);
	int64_t age_ms =
		(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - r->parts[r->next].time_ms;
	if (p->head != NULL || p->done)
		return 0;
	int64_t left_ms = ING_TOPIC_AWAY_MS - waited_ms;
	if (p->at_end)
		left_ms = ING_TOPIC_SILENT_MS - ING_MAX(age_ms, waited_ms);
	/* The clock of who writes may be ahead of ours: nothing of his would ever be old. */
	if (p->silent && (!p->at_end || age_ms < 0))
		return 0;
	p->silent = p->silent || left_ms <= 0;
	return ING_MAX(left_ms, 0);
}

/* How much longer the next message is held back. */
static int64_t hold_ms(struct ing_topic_reader *r)
{
	int64_t longest_ms = 0;
	for (int i = 0; i < r->part_count; i++)
		longest_ms = ING_MAX(longest_ms, patience_ms(r, &r->parts[i]));
	return longest_ms;
}

static rd_kafka_message_t *take_next(struct ing_topic_reader *r)
{
	rd_kafka_message_t *m = ING_TAKE(r->parts[r->next].head);
	r->next = -1;
	return m;
}

static void wait_for_more(struct ing_topic_reader *r, int64_t ms)
{
	struct pollfd fd = {.fd = r->wake_fd, .events = POLLIN};
	uint64_t count;
	if (poll(&fd, 1, (int)ING_MIN(ms, (int64_t)INT32_MAX)) > 0)
		(void)!read(r->wake_fd, &count, sizeof(count));
}

/* -------------------------------------------------------------------------------------------- */

int ing_topic_reader_new(const struct ing_topic_reader_conf *conf, struct ing_topic_reader **ret,
	struct ing_error *err)
{
	static const struct ing_kafka_setting settings[] = {
		{"isolation.level", "read_committed", false},
		{"enable.partition.eof", "true", true},
		{"auto.offset.reset", "earliest", false},
		/* Of each partition. What is fetched ahead is dropped when the reader has enough. */
		{"queued.max.messages.kbytes", "4096", false},
		{NULL, NULL, false},
	};
	struct ing_topic_reader *r = ing_alloc(sizeof(*r));
	*r = (struct ing_topic_reader){
		.conf = *conf, .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .next = -1};
	if (r->wake_fd < 0) {
		int failed = ing_error_sys(err, errno, "eventfd");
		ing_topic_reader_free(r);
		return failed;
	}
	int rc = ing_ctl_kafka_new(ING_KAFKA_CONSUMER, conf->verb, conf->brokers, conf->conf,
		settings, NULL, &r->rk, err);
	if (rc == 0) {
		r->topic = rd_kafka_topic_new(r->rk, conf->topic, NULL);
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
	for (int32_t i = 0; i < r->part_count && r->parts != NULL; i++) {
		struct part *p = &r->parts[i];
		if (p->head != NULL)
			rd_kafka_message_destroy(p->head);
		if (p->queue == NULL)
			continue;
		rd_kafka_consume_stop(r->topic, i);
		rd_kafka_queue_io_event_enable(p->queue, -1, NULL, 0);
		rd_kafka_queue_destroy(p->queue);
	}
	if (r->topic != NULL)
		rd_kafka_topic_destroy(r->topic);
	if (r->rk != NULL)
		rd_kafka_destroy(r->rk);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	free(r->parts);
	free(r);
}

enum ing_topic_read ing_topic_reader_next(
	struct ing_topic_reader *r, int timeout_ms, struct rd_kafka_message_s **ret)
{
	uint64_t until_ms = ing_now_ms() + (uint64_t)ING_MAX(timeout_ms, 0);
	for (;;) {
		rd_kafka_poll(r->rk, 0);
		if (!fill_all(r))
			return ING_TOPIC_FAILED;
		if (is_over(r))
			return ING_TOPIC_END;
		int64_t held_ms = r->next >= 0 ? hold_ms(r) : INT32_MAX;
		if (held_ms == 0) {
			*ret = take_next(r);
			return ING_TOPIC_MESSAGE;
		}
		int64_t left_ms = (int64_t)until_ms - (int64_t)ing_now_ms();
		if (left_ms <= 0)
			return ING_TOPIC_WAITING;
		wait_for_more(r, ING_MIN(held_ms, left_ms));
	}
}
