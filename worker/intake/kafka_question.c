/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two round trips in all when everything answers: the group's positions, then both ends of every
 * log. Ends are asked of all partitions at once; if that fails, for one without a leader fails all,
 * each is asked alone.
 */
#include "worker/intake/kafka_question.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>

#include "common/base/clock.h"

#define TIMEOUT_MS 3000
/* Of one partition alone, after the question for all has failed. */
#define ALONE_MS 200

struct ing_kafka_question {
	uv_work_t work;
	rd_kafka_t *rk;
	rd_kafka_topic_partition_list_t *parts;
	struct ing_log_view *views;
	bool ends;
	ing_kafka_answer_f *done; /* NULL once dropped */
	void *ctx;
	atomic_bool over;
};

static void free_question(struct ing_kafka_question *q)
{
	rd_kafka_topic_partition_list_destroy(q->parts);
	free(q->views);
	free(q);
}

/* One end of every log; at: RD_KAFKA_OFFSET_BEGINNING or _END. NULL when not all of it came in
 * time. Caller destroys. */
static rd_kafka_topic_partition_list_t *ask_end(
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

/* -1: not known. */
static int64_t answered(
	const rd_kafka_topic_partition_list_t *list, const rd_kafka_topic_partition_t *part)
{
	const rd_kafka_topic_partition_t *found =
		rd_kafka_topic_partition_list_find(list, part->topic, part->partition);
	return found == NULL || found->err != 0 ? -1 : found->offset;
}

/* False when not all of it came in time, each half within timeout_ms. views: one of each part. */
static bool ask_both_ends(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_log_view *views, int timeout_ms)
{
	rd_kafka_topic_partition_list_t *high = NULL;
	rd_kafka_topic_partition_list_t *low =
		ask_end(rk, parts, RD_KAFKA_OFFSET_BEGINNING, timeout_ms);
	if (low != NULL)
		high = ask_end(rk, parts, RD_KAFKA_OFFSET_END, timeout_ms);
	bool whole = high != NULL;
	for (int i = 0; whole && i < parts->cnt; i++) {
		views[i].low = answered(low, &parts->elems[i]);
		views[i].high = answered(high, &parts->elems[i]);
		views[i].has_ends = views[i].low >= 0 && views[i].high >= 0;
	}
	if (high != NULL)
		rd_kafka_topic_partition_list_destroy(high);
	if (low != NULL)
		rd_kafka_topic_partition_list_destroy(low);
	return whole;
}

/* Not with rd_kafka_query_watermark_offsets(), which in librdkafka before 2.3 does not return
 * before a leader that is down is back, whatever its timeout. */
static void ask_ends_of_each(struct ing_kafka_question *q)
{
	uint64_t deadline = ing_now_ms() + TIMEOUT_MS;
	for (int i = 0; i < q->parts->cnt && ing_now_ms() < deadline; i++) {
		rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
		rd_kafka_topic_partition_list_add(
			one, q->parts->elems[i].topic, q->parts->elems[i].partition);
		q->views[i].asked = true;
		ask_both_ends(q->rk, one, &q->views[i], ALONE_MS);
		rd_kafka_topic_partition_list_destroy(one);
	}
}

static void ask_ends(struct ing_kafka_question *q)
{
	if (!ask_both_ends(q->rk, q->parts, q->views, TIMEOUT_MS)) {
		ask_ends_of_each(q);
		return;
	}
	for (int i = 0; i < q->parts->cnt; i++)
		q->views[i].asked = true;
}

static void work(uv_work_t *request)
{
	struct ing_kafka_question *q = request->data;
	ing_kafka_ask_now(q->rk, q->parts, q->views, TIMEOUT_MS);
	if (q->ends)
		ask_ends(q);
	atomic_store(&q->over, true);
}

static void on_worked(uv_work_t *request, int status)
{
	(void)status;
	struct ing_kafka_question *q = request->data;
	if (q->done != NULL)
		q->done(q->ctx, q->parts, q->views);
	free_question(q);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_kafka_question *ing_kafka_ask(struct uv_loop_s *loop, rd_kafka_t *rk,
	rd_kafka_topic_partition_list_t *parts, bool ends, ing_kafka_answer_f *done, void *ctx)
{
	struct ing_kafka_question *q = ing_alloc(sizeof(*q));
	*q = (struct ing_kafka_question){
		.rk = rk, .parts = parts, .ends = ends, .done = done, .ctx = ctx};
	q->views = ing_alloc((size_t)parts->cnt * sizeof(*q->views));
	q->work.data = q;
	uv_queue_work(loop, &q->work, work, on_worked); /* fails without a function only */
	return q;
}

bool ing_kafka_question_is_over(struct ing_kafka_question *q)
{
	if (!atomic_load(&q->over) && uv_cancel((uv_req_t *)&q->work) == 0)
		atomic_store(&q->over, true);
	return atomic_load(&q->over);
}

void ing_kafka_question_drop(struct ing_kafka_question *q)
{
	if (q != NULL)
		q->done = NULL;
}

void ing_kafka_ask_now(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_log_view *views, int timeout_ms)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(parts);
	bool answered_all = rd_kafka_committed(rk, list, timeout_ms) == 0;
	for (int i = 0; i < parts->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &parts->elems[i];
		const rd_kafka_topic_partition_t *found =
			rd_kafka_topic_partition_list_find(list, part->topic, part->partition);
		views[i].has_committed = answered_all && found != NULL && found->err == 0;
		views[i].committed =
			views[i].has_committed && found->offset >= 0 ? found->offset : -1;
	}
	rd_kafka_topic_partition_list_destroy(list);
}
