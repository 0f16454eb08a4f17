/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job's end: its status, and when every exchange is on disk, the delivery of what is left of it;
 * and the end of messages that are no requests. Loop thread; the callback is the archive's, which
 * may come after the job was cancelled.
 */
#include "worker/job/pipeline_priv.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/record/cdx.h"
#include "worker/deliver/dead_letter.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/pool.h"
#include "worker/job/result.h"
#include "worker/job/truth.h"
#include "worker/model/limits.h"
#include "worker/rules/set/rule_stats.h"

static void on_delivered(void *ctx, const struct ing_delivery *delivery)
{
	const struct ing_pipeline *p = ctx;
	const struct ing_delivery_rule *rule = delivery->rules;
	for (; rule != NULL && delivery->status == ING_STATUS_SUCCESS; rule = rule->next)
		ing_rule_stats_add_document(p->conf.rule_stats, rule->name);
	if (p->stages.on_result != NULL)
		p->stages.on_result(p->stages.ctx, delivery->status);
}

static void set_status(struct ing_work *w, enum ing_status status, const char *words)
{
	w->status = status;
	w->error_message = NULL;
	if (words != NULL && status != ING_STATUS_SUCCESS)
		w->error_message = ing_arena_strndup(
			&w->ar, words, ing_utf8_cut(words, strlen(words), ING_MAX_ERROR_CHARS));
}

/* The file that the request ends with gets its digests, now that they are all taken, and is held
 * against what was expected. */
static void settle_file(struct ing_job *job)
{
	struct ing_work *w = job->work;
	if (!w->document_found)
		return;
	switch (ing_truth_settle(
		&w->artifact.file, w->hop->capture.coded, &w->hop->capture.archive)) {
	case ING_TRUTH_GOOD:
		if (w->status == ING_STATUS_SUCCESS &&
			!ing_hop_hash_expected(w->request, &w->artifact.file))
			set_status(w, ING_STATUS_MISMATCH_HASH, NULL);
		return;
	case ING_TRUTH_LIE:
		ing_pool_count_lie(job->pipeline->stages.pool);
		set_status(w, ING_STATUS_PARSE_CRASH, ing_truth_words);
		break;
	case ING_TRUTH_UNKNOWN:
		set_status(w, ING_STATUS_WORKER_ERROR, "the body could not be read back");
		break;
	}
	w->document_found = false;
}

/* An answer that cannot be read back is in no archive, and what was made of it nobody can check:
 * whatever the status would have been, it is trouble of this worker now. */
static void forget_document(struct ing_work *w)
{
	set_status(w, ING_STATUS_WORKER_ERROR,
		"an answer could not be archived: its body cannot be read back");
	w->document_found = false;
}

/* --- what is left of a job --- */

static void add_side_message(struct ing_job *job, struct ing_delivery *delivery)
{
	const struct ing_work *w = job->work;
	const struct ing_artifact_facts *facts = ing_artifact_type(w->request->type)->facts;
	if (facts == NULL)
		return;
	struct ing_output_message m = {.output = facts->output,
		.key = w->artifact.file.sha1hex,
		.key_bytes = strlen(w->artifact.file.sha1hex)};
	size_t room = ing_deliver_max_value_bytes(job->pipeline->stages.deliver, m.output);
	m.value = ing_result_side_message(job, room, &m.value_bytes);
	if (m.value != NULL)
		ing_delivery_add_message(delivery, &m);
}

static void add_result(struct ing_job *job, struct ing_delivery *delivery)
{
	const struct ing_work *w = job->work;
	struct ing_output_message m = {.output = ING_OUTPUT_RESULTS,
		.key = w->request->key,
		.key_bytes = strlen(w->request->key)};
	size_t room = ing_deliver_max_value_bytes(job->pipeline->stages.deliver, m.output);
	m.value = ing_result_json(job, room, &m.value_bytes);
	ing_delivery_add_message(delivery, &m);
	if (w->status == ING_STATUS_RESULT_TOO_LARGE)
		return;
	size_t bytes;
	char *shortest = ing_result_shortest(job, m.value_bytes, &bytes);
	ing_delivery_set_shortest(delivery, shortest, bytes);
}

static void add_rows(struct ing_job *job, struct ing_delivery *delivery)
{
	struct ing_rows rows = {0};
	ing_result_rows(job, &rows);
	ing_delivery_set_rows(delivery, &rows);
}

static void add_lines(const struct ing_job *job, struct ing_delivery *delivery)
{
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	for (const struct ing_hop *hop = job->work->hops; hop != NULL; hop = hop->next) {
		struct ing_cdx line;
		if (ing_result_cdx(hop, &surt, &line))
			ing_delivery_add_line(delivery, &line);
	}
	ing_buf_done(&surt);
}

/* The side message first, then the result, then the rows: each may change what the next ones tell. */
static struct ing_delivery *make_delivery(struct ing_job *job)
{
	const struct ing_work *w = job->work;
	const struct ing_deliver *deliver = job->pipeline->stages.deliver;
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_RESULT);
	add_side_message(job, delivery);
	add_result(job, delivery);
	if (ing_deliver_wants_rows(deliver))
		add_rows(job, delivery);
	if (ing_deliver_wants_lines(deliver))
		add_lines(job, delivery);
	for (const struct ing_followed *f = w->followed; f != NULL; f = f->next)
		ing_delivery_add_rule(delivery, f->rule);
	delivery->token = job->token;
	delivery->lane = (enum ing_lane)job->lane;
	delivery->born_ms = job->born_ms;
	delivery->status = w->status;
	/* Not the base_url, which may have a password in it. */
	delivery->name = ing_arena_strdup(
		&delivery->ar, w->next_url != NULL ? w->next_url : w->request->key);
	delivery->done = on_delivered;
	delivery->ctx = job->pipeline;
	return delivery;
}

static void deliver_decided(struct ing_job *job)
{
	struct ing_work *w = job->work;
	if (w->archive_pending > 0)
		return;
	if (w->lost_answer)
		forget_document(w);
	settle_file(job);
	struct ing_deliver *deliver = job->pipeline->stages.deliver;
	struct ing_delivery *delivery = make_delivery(job);
	ing_job_free(job);
	ing_deliver_put(deliver, &delivery);
}

/* ------------------------------------------------------------------------------------------ */

void ing_job_on_archived(struct ing_archive_item *item)
{
	struct ing_hop *hop = ING_CONTAINER(item, struct ing_hop, capture.archive);
	struct ing_job *job = hop->job;
	ing_must(job->magic == ING_JOB_MAGIC && hop->archive_pending);
	hop->archive_pending = false;
	ing_exchange_unref(ING_TAKE(item->exchange));
	job->work->archive_pending--;
	job->work->lost_answer |= item->lost;
	if (ing_job_drop_cancelled(job))
		return;
	if (job->state == ING_JOB_ARCHIVING)
		deliver_decided(job);
}

void ing_job_end(struct ing_job *job, enum ing_status status, const char *words)
{
	if (job->work == NULL)
		ing_job_start_work(job);
	struct ing_work *w = job->work;
	set_status(w, status, words);
	if (w->hop != NULL)
		ing_exchange_unref(ING_TAKE(w->hop->exchange));
	ing_job_set_state(job, ING_JOB_ARCHIVING);
	deliver_decided(job);
}

void ing_job_end_late(struct ing_job *job)
{
	ing_job_end(job, ING_STATUS_TIMEOUT, "the request's work took longer than job.deadline_ms");
}

void ing_pipeline_dead_letter(
	struct ing_pipeline *p, const struct ing_message *m, const struct ing_error *err)
{
	struct ing_deliver *deliver = p->stages.deliver;
	struct ing_delivery *letter =
		ing_dead_letter_new(m, err, ing_deliver_max_value_bytes(deliver, ING_OUTPUT_DEAD));
	ing_deliver_put(deliver, &letter);
	if (p->stages.on_dead != NULL)
		p->stages.on_dead(p->stages.ctx, m, err);
}
