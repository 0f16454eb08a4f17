/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job's end: every exchange on disk, rows committed, messages acknowledged, the request finished;
 * and the end of messages that are no requests. Loop thread; the callbacks are those of archive,
 * store and emit, which may come after the job was cancelled.
 */
#include "worker/job/pipeline_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/record/cdx.h"
#include "worker/emit/emit.h"
#include "worker/examine/pool.h"
#include "worker/job/result.h"
#include "worker/job/truth.h"
#include "worker/rules/set/rule_stats.h"
#include "worker/model/limits.h"

#define DEAD_HEADER_ROOM 4096

/* A message on its way to the dead-letter topic. */
struct ing_dead {
	struct ing_dead *prev, *next; /* all of them */
	struct ing_pipeline *pipeline;
	struct ing_token token;
	bool cancelled; /* revoked: the next owner has the message */
};

/* ing_emit asks before it sends what has waited. */
static bool is_job_wanted(const void *ctx)
{
	const struct ing_job *job = ctx;
	return job->state != ING_JOB_CANCELLED;
}

static bool is_dead_wanted(const void *ctx)
{
	const struct ing_dead *dead = ctx;
	return !dead->cancelled;
}

static void finish_job(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	const struct ing_work *w = job->work;
	p->stats.results++;
	p->stats.hits += w->status == ING_STATUS_SUCCESS;
	p->stats.by_status[w->status]++;
	for (const struct ing_followed *f = w->followed;
		f != NULL && w->status == ING_STATUS_SUCCESS; f = f->next)
		ing_rule_stats_add_document(p->conf.rule_stats, f->rule);
	if (p->stages.on_result != NULL)
		p->stages.on_result(p->stages.ctx, w->status, w->request->base_url);
	ing_intake_finish(p->stages.intake, job->token);
	ing_job_free(job);
}

/* Not by its base_url, which may have a password in it. */
static void note_refusal(const struct ing_job *job, const char *what)
{
	struct ing_pipeline *p = job->pipeline;
	const struct ing_work *w = job->work;
	unsigned more = 0;
	if (ing_log_gate_pass(&p->refused_gate, ING_PIPELINE_LOG_MS, &more))
		ing_log(ING_LOG_ERROR,
			"%s: the %s of this request was refused for good (%u more before)",
			w->next_url != NULL ? w->next_url : w->request->key, what, more);
}

static void on_text_emitted(void *ctx, bool ok)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	job->work->emit_pending--;
	if (ing_job_drop_cancelled(job))
		return;
	if (!ok)
		note_refusal(job, "text");
	if (job->work->emit_pending == 0)
		finish_job(job);
}

static void put_result(struct ing_job *job);

/* A broker that takes less than it said gets the shortest result there is: a request without a
 * result would be worse. The rows stay as they were stored. */
static void on_result_emitted(void *ctx, bool ok)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	w->emit_pending--;
	if (ing_job_drop_cancelled(job))
		return;
	if (!ok)
		note_refusal(job, "result");
	if (!ok && w->status != ING_STATUS_RESULT_TOO_LARGE) {
		size_t bytes = w->result_bytes;
		free(ING_TAKE(w->result));
		w->result = ing_result_too_large(job, bytes, &w->result_bytes);
		put_result(job);
	} else if (w->emit_pending == 0) {
		finish_job(job);
	}
}

static void put_result(struct ing_job *job)
{
	struct ing_work *w = job->work;
	w->emit_pending++;
	ing_emit_put(job->pipeline->stages.emit,
		&(struct ing_emit_msg){.topic = ING_EMIT_RESULTS,
			.key = w->request->key,
			.key_bytes = strlen(w->request->key),
			.value = w->result,
			.value_bytes = w->result_bytes,
			.wanted = is_job_wanted},
		on_result_emitted, job);
}

static void emit_result(struct ing_job *job)
{
	struct ing_work *w = job->work;
	ing_job_set_state(job, ING_JOB_EMITTING);
	if (w->side_message != NULL) {
		w->emit_pending++;
		ing_emit_put(job->pipeline->stages.emit,
			&(struct ing_emit_msg){
				.topic = ing_artifact_type(w->request->type)->facts->topic,
				.key = w->artifact.file.sha1hex,
				.key_bytes = strlen(w->artifact.file.sha1hex),
				.value = w->side_message,
				.value_bytes = w->side_message_bytes,
				.wanted = is_job_wanted},
			on_text_emitted, job);
	}
	put_result(job);
}

static void report_cdx(struct ing_job *job)
{
	const struct ing_stages *s = &job->pipeline->stages;
	if (s->on_cdx == NULL)
		return;
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	for (const struct ing_hop *hop = job->work->hops; hop != NULL; hop = hop->next) {
		struct ing_cdx row;
		if (ing_result_cdx(hop, &surt, &row))
			s->on_cdx(s->ctx, &row);
	}
	ing_buf_done(&surt);
}

static void on_stored(struct ing_store_item *item)
{
	struct ing_work *w = ING_CONTAINER(item, struct ing_work, rows);
	struct ing_job *job = w->job;
	ing_must(job->magic == ING_JOB_MAGIC && job->work == w);
	w->rows.done = NULL;
	if (ing_job_drop_cancelled(job))
		return;
	emit_result(job);
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

static void make_side_message(struct ing_job *job)
{
	struct ing_work *w = job->work;
	const struct ing_artifact_type *type = ing_artifact_type(w->request->type);
	if (type->facts == NULL)
		return;
	w->side_message = ing_result_side_message(job,
		ing_emit_max_value_bytes(job->pipeline->stages.emit, type->facts->topic),
		&w->side_message_bytes);
	ing_job_account_text(job, w->side_message != NULL ? w->side_message_bytes : 0);
}

static void advance_decided(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	struct ing_work *w = job->work;
	if (w->archive_pending > 0)
		return;
	if (w->lost_answer)
		forget_document(w);
	ing_job_set_state(job, ING_JOB_STORING);
	settle_file(job);
	/* Sizes are settled before anything is stored, so that rows and result tell the same
	 * status. */
	make_side_message(job);
	w->result = ing_result_json(job,
		ING_MIN(p->conf.max_message_bytes,
			ing_emit_max_value_bytes(p->stages.emit, ING_EMIT_RESULTS)),
		&w->result_bytes);
	report_cdx(job);
	if (p->stages.store == NULL) {
		emit_result(job);
		return;
	}
	ing_result_rows(job);
	w->rows.done = on_stored;
	ing_store_put(p->stages.store, &w->rows);
}

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
		advance_decided(job);
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
	advance_decided(job);
}

void ing_job_end_late(struct ing_job *job)
{
	ing_job_end(job, ING_STATUS_TIMEOUT, "the request's work took longer than job.deadline_ms");
}

/* --- dead letters --- */

static void on_dead_emitted(void *ctx, bool ok)
{
	struct ing_dead *dead = ctx;
	struct ing_pipeline *p = dead->pipeline;
	if (!ok && !dead->cancelled)
		ing_log(ING_LOG_ERROR, "a dead letter was refused for good and is dropped");
	p->dead_pending--;
	DL_DELETE(p->dead, dead);
	if (!dead->cancelled)
		ing_intake_finish(p->stages.intake, dead->token);
	free(dead);
}

void ing_pipeline_cancel_dead(struct ing_pipeline *p, int32_t partition_slot, uint32_t epoch)
{
	for (struct ing_dead *dead = p->dead; dead != NULL; dead = dead->next)
		if (dead->token.partition_slot == partition_slot && dead->token.epoch == epoch)
			dead->cancelled = true;
}

void ing_pipeline_bury(
	struct ing_pipeline *p, const struct ing_message *m, const struct ing_error *err)
{
	char partition[16];
	char offset[24];
	char when[ING_ISO8601_BYTES];
	char position[48];
	char full_bytes[24];
	snprintf(full_bytes, sizeof(full_bytes), "%zu", m->value_bytes);
	snprintf(partition, sizeof(partition), "%d", m->partition);
	snprintf(offset, sizeof(offset), "%lld", (long long)m->token.offset);
	snprintf(position, sizeof(position), "%d:%d", err->line, err->column);
	ing_format_iso8601(ing_wall_now(), 3, when);
	const struct ing_header headers[] = {
		{"__dlq.errors.topic", m->topic}, {"__dlq.errors.partition", partition},
		{"__dlq.errors.offset", offset}, {"__dlq.errors.message", err->msg},
		{"ingest.errors.reason", ing_fail_label((int)err->code)},
		{"ingest.errors.stage", "intake"}, {"ingest.errors.position", position},
		{"ingest.errors.time", when},
		{"ingest.errors.value-bytes",
			full_bytes}, /* more than the value has: it was cut to fit */
	};
	struct ing_dead *dead = ing_alloc(sizeof(*dead));
	dead->pipeline = p;
	dead->token = m->token;
	DL_APPEND(p->dead, dead);
	p->dead_pending++;
	p->stats.dead++;
	/* A key can be as large as a message; then it would take the headers' room. */
	bool keep_key = m->key_bytes <= DEAD_HEADER_ROOM;
	size_t room = ing_emit_max_value_bytes(p->stages.emit, ING_EMIT_DEAD);
	room = room > DEAD_HEADER_ROOM ? room - DEAD_HEADER_ROOM : 0;
	ing_emit_put(p->stages.emit,
		&(struct ing_emit_msg){.topic = ING_EMIT_DEAD,
			.key = keep_key ? m->key : NULL,
			.key_bytes = keep_key ? m->key_bytes : 0,
			.value = m->value,
			.value_bytes = ING_MIN(m->value_bytes, room),
			.headers = headers,
			.header_count = ING_ARRAY_LEN(headers),
			.wanted = is_dead_wanted},
		on_dead_emitted, dead);
	if (p->stages.on_dead != NULL)
		p->stages.on_dead(p->stages.ctx, m, err);
}
