/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job's end: its status, and when every exchange is on disk, the delivery of what is left of it;
 * and the end of messages that are no requests. Loop thread.
 */
#include "worker/job/pipeline_priv.h"

#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "common/record/cdx.h"
#include "worker/deliver/answered.h"
#include "worker/deliver/dead_letter.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/pool.h"
#include "worker/job/resource.h"
#include "worker/job/result.h"
#include "worker/job/result_kept.h"
#include "worker/job/result_visits.h"
#include "worker/job/body_check.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"
#include "worker/model/request_facts.h"
#include "worker/rules/rule_stats.h"

static void on_delivered(void *ctx, const struct ing_delivery *delivery)
{
	const struct ing_pipeline *p = ctx;
	int tier = ing_tier_of_output(delivery->message.output);
	if (tier >= 0 && p->stages.on_parked != NULL)
		p->stages.on_parked(p->stages.ctx, (enum ing_tier)tier);
	if (!ing_delivery_is_new_result(delivery))
		return;
	const struct ing_delivery_rule *rule = delivery->rules;
	for (; rule != NULL && delivery->status == ING_STATUS_SUCCESS; rule = rule->next)
		ing_rule_stats_add_document(p->conf.rule_stats, rule->name);
	if (p->stages.on_result == NULL)
		return;
	struct ing_result_facts facts = delivery->facts;
	facts.took_ms = ing_now_ms() - delivery->accepted_ms;
	p->stages.on_result(p->stages.ctx, delivery->status, &facts);
}

static void set_status(struct ing_work *w, enum ing_status status, const char *detail)
{
	w->status = status;
	w->error_message = NULL;
	if (detail != NULL && status != ING_STATUS_SUCCESS)
		w->error_message = ing_arena_strndup(
			&w->ar, detail, ing_utf8_cut(detail, strlen(detail), ING_MAX_ERROR_CHARS));
}

/* Add the archive's digests to the document, and compare it with expect_hash. */
static void check_document(struct ing_job *job)
{
	struct ing_work *w = job->work;
	if (!w->document_found)
		return;
	switch (ing_body_settle(&w->artifact.file, &w->terminal->capture)) {
	case ING_BODY_GOOD:
		if (w->status == ING_STATUS_SUCCESS &&
			!ing_hop_hash_matches(w->request, &w->artifact.file))
			set_status(w, ING_STATUS_MISMATCH_HASH, NULL);
		return;
	case ING_BODY_CONTRADICTED:
		ing_pool_count_false_reply(job->pipeline->stages.pool);
		set_status(w, ING_STATUS_PARSE_CRASH, ing_body_check_detail);
		break;
	case ING_BODY_UNREADABLE:
		set_status(w, ING_STATUS_WORKER_ERROR, "the body could not be read back");
		break;
	}
	w->document_found = false;
}

/* An answer that cannot be read back is not archived, and nobody can check what was made of it:
 * whatever the status would have been, it is worker-error. */
static void forget_document(struct ing_work *w)
{
	set_status(w, ING_STATUS_WORKER_ERROR,
		"an answer could not be archived: its body cannot be read back");
	w->document_found = false;
}

/* Which sub-resources are archived; of a page that is a hit otherwise. */
static void check_resources(struct ing_job *job)
{
	struct ing_work *w = job->work;
	unsigned failed = ing_job_settle_resources(job);
	char detail[100];
	if (failed == 0 || !w->resources->strict || w->status != ING_STATUS_SUCCESS)
		return;
	snprintf(detail, sizeof(detail), "%u of %u sub-resources are not archived", failed,
		w->resources->count);
	set_status(w, ING_STATUS_HTML_RESOURCE_NO_CAPTURE, detail);
}

/* --- the delivery --- */

static void add_side_message(struct ing_job *job, enum ing_derived_kind kind, json_t *source,
	struct ing_delivery *delivery)
{
	const struct ing_work *w = job->work;
	struct ing_output_message m = {.output = ing_derived_row(kind)->output,
		.key = w->artifact.file.sha1hex,
		.key_bytes = strlen(w->artifact.file.sha1hex)};
	size_t room = ing_deliver_max_value_bytes(job->pipeline->stages.deliver, m.output);
	m.value = ing_result_side_message(job, kind, source, room, &m.value_bytes);
	if (m.value != NULL)
		ing_delivery_add_message(delivery, &m);
}

/* Of what was derived of the document: a message of each kind that has one. */
static void add_side_messages(struct ing_job *job, struct ing_delivery *delivery)
{
	struct ing_work *w = job->work;
	if (!w->document_found)
		ing_artifact_forget_document(&w->artifact);
	json_t *source = ing_result_source(w);
	for (int i = 0; i < ING_DERIVED_ && source != NULL; i++)
		add_side_message(job, (enum ing_derived_kind)i, source, delivery);
	json_decref(source);
}

/* They are taken out of the artifact. */
static void add_objects(struct ing_job *job, struct ing_delivery *delivery)
{
	struct ing_work *w = job->work;
	if (!ing_deliver_wants_objects(job->pipeline->stages.deliver))
		return;
	for (int i = 0; i < ING_DERIVED_; i++)
		if (w->artifact.derived[i].data != NULL)
			ing_delivery_add_object(delivery, (enum ing_derived_kind)i,
				w->artifact.file.sha1hex, &w->artifact.derived[i]);
}

/* Whether any page of the way, sub-resources apart, can only be read by a browser. */
static bool needs_browser(const struct ing_job *job)
{
	const struct ing_stages *s = &job->pipeline->stages;
	const struct ing_work *w = job->work;
	bool is_webpage = (ing_artifact_type(w->request->type)->want & ING_WANT_WEBPAGE) != 0;
	struct ing_step_walk walk;
	const struct ing_visit_step *step = NULL;
	if (s->needs_browser == NULL)
		return false;
	ing_step_walk_init(&walk, w);
	walk.resource = NULL;
	do
		step = ing_step_walk_next(&walk);
	while (step != NULL && !s->needs_browser(s->rules_ctx, step->url, is_webpage));
	return step != NULL;
}

static void add_result(
	struct ing_job *job, struct ing_delivery *delivery, const struct ing_rows *kept)
{
	struct ing_work *w = job->work;
	w->needs_browser = needs_browser(job);
	struct ing_output_message m = {.output = ING_OUTPUT_RESULTS,
		.key = w->request->key,
		.key_bytes = strlen(w->request->key)};
	size_t room = ing_deliver_max_value_bytes(job->pipeline->stages.deliver, m.output);
	m.value = ing_result_json(job, kept, room, &m.value_bytes);
	ing_delivery_add_message(delivery, &m);
}

static void add_visits(struct ing_job *job, struct ing_row_result *row)
{
	const struct ing_job_message *m = job->message;
	struct timespec now = ing_wall_now();
	struct ing_visits_origin origin = {
		.partition = -1,
		.took_ms = ing_now_ms() - job->accepted_ms,
		.instance = job->pipeline->conf.instance,
		.lane = (enum ing_lane)job->lane,
		.attempt = m->attempt,
		.parkings = m->parkings,
		.first_seen_ms = m->first_seen_ms,
	};
	struct ing_source source;
	origin.came_ms =
		(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - (int64_t)origin.took_ms;
	if (ing_job_source(job, &source)) {
		const char *lane = job->pipeline->lane_topics[job->lane];
		bool parked = lane == NULL || strcmp(source.topic, lane) != 0;
		origin.topic = parked ? source.topic : NULL;
		origin.partition = source.partition;
		origin.offset = source.offset;
	}
	row->visits = ing_result_visits(job->work, &origin, row);
}

/* kept: rows that were made before the result; theirs are the delivery's strings. */
static void add_rows(
	struct ing_job *job, struct ing_delivery *delivery, const struct ing_rows *kept)
{
	struct ing_rows rows = {0};
	ing_result_rows(job, &rows);
	if (rows.result.present && job->pipeline->conf.keep_visits)
		add_visits(job, &rows.result);
	ing_delivery_set_rows(delivery, &rows);
	delivery->rows.publication = kept->publication;
	delivery->rows.webpage = kept->webpage;
}

static void add_capture_rows(struct ing_job *job, struct ing_delivery *delivery)
{
	struct ing_rows rows = {0};
	ing_result_capture_rows(job, &rows);
	ing_delivery_set_rows(delivery, &rows);
}

static void add_cdx_lines(const struct ing_job *job, struct ing_delivery *delivery)
{
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	struct ing_step_walk walk;
	ing_step_walk_init(&walk, job->work);
	for (;;) {
		const struct ing_visit_step *step = ing_step_walk_next(&walk);
		struct ing_cdx line;
		if (step == NULL)
			break;
		if (ing_capture_line(&step->capture, &surt, &line))
			ing_delivery_add_cdx_line(delivery, &line);
	}
	ing_buf_done(&surt);
}

/* Not the base_url, which may have a password in it. */
static const char *name_of(const struct ing_work *w)
{
	if (w->terminal != NULL)
		return w->terminal->url;
	return w->start != NULL ? w->start : w->request->key;
}

static void set_facts(const struct ing_work *w, struct ing_delivery *delivery)
{
	char host[ING_URL_HOST_BYTES];
	ing_fact_host(w->request->base_url, host);
	delivery->facts = (struct ing_result_facts){
		.ingest_type = ing_arena_strdup(&delivery->ar, w->request->ingest_type),
		.host = ing_arena_strdup(&delivery->ar, host),
		.hit = w->existing != NULL ? w->existing->rows.result.hit
					   : w->status == ING_STATUS_SUCCESS,
		.document_bytes = w->document_found && w->status != ING_STATUS_RESULT_TOO_LARGE
					  ? w->artifact.file.size_bytes
					  : 0,
		.key = ing_arena_strdup(&delivery->ar, w->request->key),
		.url = ing_arena_strdup(
			&delivery->ar, ing_mask_url(&delivery->ar, w->request->base_url)),
		.last_url = ing_arena_strdup(
			&delivery->ar, w->terminal != NULL ? w->terminal->url : NULL),
		.message = ing_mask_text(&delivery->ar, w->error_message),
		.lane = (enum ing_lane)w->job->lane,
	};
}

/* The side messages first, then what is kept whole, the result, and the rows: each may change what the next ones
 * tell. The objects last: rows say whether there are any. */
static struct ing_delivery *make_result(struct ing_job *job)
{
	const struct ing_work *w = job->work;
	const struct ing_deliver *deliver = job->pipeline->stages.deliver;
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_RESULT);
	add_side_messages(job, delivery);
	struct ing_rows kept = {0};
	if (ing_deliver_wants_rows(deliver))
		ing_result_kept_rows(job, &delivery->ar, &kept);
	add_result(job, delivery, &kept);
	if (ing_deliver_wants_rows(deliver))
		add_rows(job, delivery, &kept);
	add_objects(job, delivery);
	if (ing_deliver_wants_cdx_lines(deliver))
		add_cdx_lines(job, delivery);
	for (const struct ing_followed *f = w->followed; f != NULL; f = f->next)
		ing_delivery_add_rule(delivery, f->rule);
	delivery->status = w->status;
	set_facts(w, delivery);
	return delivery;
}

static void deliver_decided(struct ing_job *job)
{
	if (ing_job_owes(job))
		return;
	if (ing_job_has_lost_answer(job))
		forget_document(job->work);
	check_document(job);
	check_resources(job);
	if (!ing_job_derive(job))
		ing_job_deliver_in_turn(job);
}

/* ------------------------------------------------------------------------------------------ */

void ing_job_deliver(struct ing_job *job)
{
	ing_job_enter_stage(job, ING_STAGE_RESULT);
	struct ing_delivery *delivery = ing_job_make_parked(job);
	if (delivery == NULL)
		delivery = make_result(job);
	delivery->token = job->token;
	delivery->lane = (enum ing_lane)job->lane;
	delivery->accepted_ms = job->accepted_ms;
	delivery->name = ing_arena_strdup(&delivery->ar, name_of(job->work));
	ing_job_acquit(job);
	struct ing_pipeline *p = job->pipeline;
	ing_job_free(job);
	ing_pipeline_deliver(p, delivery);
}

void ing_pipeline_deliver(struct ing_pipeline *p, struct ing_delivery *delivery)
{
	delivery->done = on_delivered;
	delivery->ctx = p;
	ing_deliver_put(p->stages.deliver, &delivery);
}

void ing_job_on_settled(struct ing_job *job)
{
	if (ing_job_drop_cancelled(job))
		return;
	if (job->state == ING_JOB_ARCHIVING)
		deliver_decided(job);
	else
		ing_job_note_stage(job);
}

void ing_job_end(struct ing_job *job, enum ing_status status, const char *detail)
{
	if (job->work == NULL)
		ing_job_start_work(job);
	struct ing_work *w = job->work;
	set_status(w, status, detail);
	ing_job_close_resources(job);
	ing_job_close_publication(job);
	ing_job_cancel_exams(job);
	ing_job_cancel_visits(job, false);
	ing_job_set_state(job, ING_JOB_ARCHIVING);
	deliver_decided(job);
}

void ing_job_add_captures(struct ing_job *job, struct ing_delivery *delivery)
{
	const struct ing_deliver *deliver = job->pipeline->stages.deliver;
	if (ing_deliver_wants_rows(deliver))
		add_capture_rows(job, delivery);
	if (ing_deliver_wants_cdx_lines(deliver))
		add_cdx_lines(job, delivery);
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
	if (p->stages.on_dead_letter != NULL)
		p->stages.on_dead_letter(p->stages.ctx, m, err);
}

void ing_pipeline_commit_answer(struct ing_pipeline *p, const struct ing_message *m)
{
	struct ing_delivery *delivery = ing_answered_new(m);
	ing_deliver_put(p->stages.deliver, &delivery);
	if (ing_pipeline_is_full(p, m->lane))
		ing_pipeline_balance(p);
}
