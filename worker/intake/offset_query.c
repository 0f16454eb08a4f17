/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First the group's committed offsets, then the start and the end of every log, then the messages of
 * marks. Committed offsets and log bounds are queried for all partitions in one call. That fails when
 * one of them has no leader, or when a transaction holds the offset of one back (of a worker that
 * died; the coordinator aborts it after 10 s), and then each partition is queried alone.
 */
#include "worker/intake/offset_query.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/intake/log_mark.h"

#define TIMEOUT_MS 3000
/* For one partition alone, after the query for all has failed. */
#define SINGLE_TIMEOUT_MS 200

struct ing_offset_query {
	uv_work_t work;
	rd_kafka_t *rk;
	rd_kafka_topic_partition_list_t *parts;
	struct ing_broker_offsets *reported;
	struct ing_log_mark *marks;    /* NULL: only committed offsets */
	ing_offset_query_done_f *done; /* NULL once cancelled */
	void *ctx;
	atomic_bool finished;
};

static void free_query(struct ing_offset_query *q)
{
	ing_broker_offsets_free(q->reported, q->parts->cnt);
	rd_kafka_topic_partition_list_destroy(q->parts);
	free(q->reported);
	free(q->marks);
	free(q);
}

/* The start or the end of every log; at: RD_KAFKA_OFFSET_BEGINNING or _END. Returns NULL when not all
 * leaders answered in time. The caller destroys it. */
static rd_kafka_topic_partition_list_t *query_bound(
	rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts, int64_t at, int timeout_ms)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(parts);
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = at;
	if (rd_kafka_offsets_for_times(rk, list, timeout_ms) == 0)
		return list;
	rd_kafka_topic_partition_list_destroy(list);
	return NULL;
}

/* Returns -1 when it was not answered. */
static int64_t offset_in(
	const rd_kafka_topic_partition_list_t *list, const rd_kafka_topic_partition_t *part)
{
	const rd_kafka_topic_partition_t *found =
		rd_kafka_topic_partition_list_find(list, part->topic, part->partition);
	return found == NULL || found->err != 0 ? -1 : found->offset;
}

/* Each of the two calls takes timeout_ms at most. Returns false when a leader did not answer.
 * reported: one for each part. */
static bool query_bounds_of(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_broker_offsets *reported, int timeout_ms)
{
	rd_kafka_topic_partition_list_t *high = NULL;
	rd_kafka_topic_partition_list_t *low =
		query_bound(rk, parts, RD_KAFKA_OFFSET_BEGINNING, timeout_ms);
	if (low != NULL)
		high = query_bound(rk, parts, RD_KAFKA_OFFSET_END, timeout_ms);
	bool complete = high != NULL;
	for (int i = 0; complete && i < parts->cnt; i++) {
		reported[i].low = offset_in(low, &parts->elems[i]);
		reported[i].high = offset_in(high, &parts->elems[i]);
		reported[i].has_bounds = reported[i].low >= 0 && reported[i].high >= 0;
	}
	if (high != NULL)
		rd_kafka_topic_partition_list_destroy(high);
	if (low != NULL)
		rd_kafka_topic_partition_list_destroy(low);
	return complete;
}

/* rd_kafka_query_watermark_offsets() is not used: before librdkafka 2.3 it ignores its timeout while
 * the leader is down. */
static void query_bounds_of_each(struct ing_offset_query *q)
{
	uint64_t deadline = ing_now_ms() + TIMEOUT_MS;
	for (int i = 0; i < q->parts->cnt && ing_now_ms() < deadline; i++) {
		rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
		rd_kafka_topic_partition_list_add(
			one, q->parts->elems[i].topic, q->parts->elems[i].partition);
		q->reported[i].bounds_queried = true;
		query_bounds_of(q->rk, one, &q->reported[i], SINGLE_TIMEOUT_MS);
		rd_kafka_topic_partition_list_destroy(one);
	}
}

static void query_bounds(struct ing_offset_query *q)
{
	if (!query_bounds_of(q->rk, q->parts, q->reported, TIMEOUT_MS)) {
		query_bounds_of_each(q);
		return;
	}
	for (int i = 0; i < q->parts->cnt; i++)
		q->reported[i].bounds_queried = true;
}

/* Returns false when there was no answer for all of them. */
static bool query_committed(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_broker_offsets *reported, int timeout_ms)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(parts);
	bool answered = rd_kafka_committed(rk, list, timeout_ms) == 0;
	for (int i = 0; answered && i < parts->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &parts->elems[i];
		const rd_kafka_topic_partition_t *found =
			rd_kafka_topic_partition_list_find(list, part->topic, part->partition);
		reported[i].has_committed = found != NULL && found->err == 0;
		if (!reported[i].has_committed)
			continue;
		reported[i].committed = found->offset >= 0 ? found->offset : -1;
		/* Some clients end it with a NUL. */
		if (found->offset >= 0 && found->metadata_size > 0 &&
			*(const char *)found->metadata != '\0')
			reported[i].metadata = ing_strndup(found->metadata, found->metadata_size);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return answered;
}

static void query_committed_of_each(struct ing_offset_query *q)
{
	uint64_t deadline = ing_now_ms() + TIMEOUT_MS;
	for (int i = 0; i < q->parts->cnt && ing_now_ms() < deadline; i++) {
		rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
		rd_kafka_topic_partition_list_add(
			one, q->parts->elems[i].topic, q->parts->elems[i].partition);
		query_committed(q->rk, one, &q->reported[i], SINGLE_TIMEOUT_MS);
		rd_kafka_topic_partition_list_destroy(one);
	}
}

static void query_marks(struct ing_offset_query *q)
{
	for (int i = 0; i < q->parts->cnt; i++) {
		const struct ing_log_mark *mark = &q->marks[i];
		struct ing_broker_offsets *r = &q->reported[i];
		if (r->has_committed && r->committed < 0 && r->has_bounds &&
			mark->offset >= r->low && mark->offset < r->high)
			r->mark = ing_log_mark_find(q->rk, q->parts->elems[i].topic,
				q->parts->elems[i].partition, mark);
	}
}

static void work(uv_work_t *request)
{
	struct ing_offset_query *q = request->data;
	bool answered = query_committed(q->rk, q->parts, q->reported, TIMEOUT_MS);
	if (!answered && q->marks != NULL)
		query_committed_of_each(q);
	if (q->marks != NULL) {
		query_bounds(q);
		query_marks(q);
	}
	atomic_store(&q->finished, true);
}

static void on_worked(uv_work_t *request, int status)
{
	(void)status;
	struct ing_offset_query *q = request->data;
	if (q->done != NULL)
		q->done(q->ctx, q->parts, q->reported);
	free_query(q);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_offset_query *ing_offset_query_start(struct uv_loop_s *loop, rd_kafka_t *rk,
	rd_kafka_topic_partition_list_t *parts, struct ing_log_mark *marks,
	ing_offset_query_done_f *done, void *ctx)
{
	struct ing_offset_query *q = ing_alloc(sizeof(*q));
	*q = (struct ing_offset_query){
		.rk = rk, .parts = parts, .marks = marks, .done = done, .ctx = ctx};
	q->reported = ing_alloc((size_t)parts->cnt * sizeof(*q->reported));
	q->work.data = q;
	uv_queue_work(loop, &q->work, work, on_worked); /* fails only without a callback */
	return q;
}

bool ing_offset_query_is_done(struct ing_offset_query *q)
{
	if (!atomic_load(&q->finished) && uv_cancel((uv_req_t *)&q->work) == 0)
		atomic_store(&q->finished, true);
	return atomic_load(&q->finished);
}

void ing_offset_query_cancel(struct ing_offset_query *q)
{
	if (q != NULL)
		q->done = NULL;
}

void ing_offset_query_committed_now(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_broker_offsets *reported, int timeout_ms)
{
	query_committed(rk, parts, reported, timeout_ms);
}

void ing_broker_offsets_free(struct ing_broker_offsets *reported, int count)
{
	for (int i = 0; i < count; i++) {
		free(reported[i].metadata);
		reported[i].metadata = NULL;
	}
}
