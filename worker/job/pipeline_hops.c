/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hop loop: a visit has ended, what it brought is examined, and that leads to the next visit or
 * to the end. Loop thread; the callbacks are those of the examiners' pool. Where to go next is
 * hop.c's to say.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/artifact/artifact.h"
#include "worker/examine/pool.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/body_check.h"
#include "worker/rules/rule_stats.h"

/* A document in hand has cost its fetch already: it is looked into for a tenth of job.deadline_ms
 * at least, up to so long, however little is left of it. Ordinary ones take 1 to 40 ms. */
#define LEAST_EXAM_MS 2000u

#define EXAM_MAGIC 0x4558414du

/* Looking into what a visit has brought. */
struct ing_job_exam {
	unsigned magic;
	struct ing_job_exam *prev, *next; /* of the job */
	struct ing_job *job;
	struct ing_visit *visit;
	struct ing_visit_step *step;
	struct ing_exchange *exchange;
	struct ing_exam_task *ticket;
	uint64_t end_ms; /* when the deadline ends it; UINT64_MAX: no examiner has it */
};

static bool was_asked_before(void *ctx, const char *url)
{
	return ing_job_asked_before(ctx, url);
}

static struct ing_url_decision judge(void *ctx, const char *url)
{
	const struct ing_job *job = ctx;
	return ing_visits_judge(job->pipeline->stages.visits, url);
}

/* --- examinations --- */

/* The deadline is about what the request costs, not about who stands before it in the examiners'
 * queue: its clock stands until an examiner has the document. */
static void on_running(void *ctx, bool taken)
{
	struct ing_job_exam *exam;
	ING_CAST_OBJ(exam, ctx, EXAM_MAGIC);
	struct ing_job *job = exam->job;
	struct ing_work_clock *clock = &job->work->clock;
	uint64_t now_ms = ing_now_ms();
	if (taken) {
		uint64_t least_ms =
			ING_MIN(job->pipeline->conf.settings.deadline_ms / 10, LEAST_EXAM_MS);
		ing_work_clock_start(clock, now_ms);
		exam->end_ms = now_ms + ING_MAX(ing_work_clock_left(clock, now_ms), least_ms);
	} else {
		ing_work_clock_stop(clock, now_ms);
		exam->end_ms = UINT64_MAX;
	}
}

static void free_exam(struct ing_job_exam *exam)
{
	struct ing_job *job = exam->job;
	struct ing_work *w = job->work;
	if (exam->end_ms != UINT64_MAX)
		ing_work_clock_stop(&w->clock, ing_now_ms());
	DL_DELETE(w->exams, exam);
	if (w->exams == NULL)
		DL_DELETE(job->pipeline->examining, w);
	ing_exchange_unref(exam->exchange);
	exam->magic = 0;
	free(exam);
	ing_pipeline_hold_gate(job->pipeline);
}

/* --- what a page says --- */

/* Keep what the result needs of the findings; the rest is freed by the caller. */
static void keep_findings(struct ing_job *job, struct ing_visit_step *step, struct ing_findings *f)
{
	struct ing_work *w = job->work;
	if (f->exam != ING_EXAM_OK)
		return;
	if (f->file.decoded)
		step->capture.body_sha1hex = ing_arena_strdup(&w->ar, f->file.sha1hex);
	ing_artifact_keep(&w->artifact, ing_artifact_type(w->request->type), f);
	ing_job_account_derived(job, ing_artifact_derived_bytes(&w->artifact));
}

static void count_uses(const struct ing_job *job, const struct ing_page *page)
{
	ing_rule_stats_add(job->pipeline->conf.rule_stats, page->rules_digest, page->rule_hits,
		page->rule_hit_count);
}

/* The rule behind a link that is followed: should the request end well, it has led there. */
static void record_followed(struct ing_job *job, const struct ing_page *page)
{
	struct ing_work *w = job->work;
	const struct ing_page_link *link =
		ing_artifact_link(ing_artifact_type(w->request->type), page);
	const char *name =
		ing_rule_stats_name(job->pipeline->conf.rule_stats, page->rules_digest, link->rule);
	if (name == NULL)
		return;
	struct ing_followed *f = ing_arena_alloc(&w->ar, sizeof(*f));
	f->rule = ing_arena_strdup(&w->ar, name);
	f->next = w->followed;
	w->followed = f;
}

/* Findings that contradict the answer are an examiner's crash: nothing else of them is believed. */
static void check_findings(const struct ing_job_exam *exam, struct ing_findings *f)
{
	const struct ing_pipeline *p = exam->job->pipeline;
	if (!ing_body_contradicts(f, exam->exchange, p->conf.max_body_bytes))
		return;
	ing_findings_done(f);
	f->exam = ING_EXAM_CRASH;
	f->detail = ing_strdup(ing_body_check_detail);
	ing_pool_count_false_reply(p->stages.pool);
}

static void on_examined(void *ctx, struct ing_findings *f)
{
	struct ing_job_exam *exam;
	ING_CAST_OBJ(exam, ctx, EXAM_MAGIC);
	struct ing_job *job = exam->job;
	struct ing_visit_step *step = exam->step;
	struct ing_work *w = job->work;
	check_findings(exam, f);
	free_exam(exam);
	const struct ing_hop_view view = {
		.url = step->url,
		.landings = w->landings,
		.max_hops = job->pipeline->conf.settings.max_hops,
		.asked_before = was_asked_before,
		.verdict = judge,
		.ctx = job,
	};
	struct ing_decision d = ing_hop_after_examine(&view, w->request, f);
	count_uses(job, &f->page);
	keep_findings(job, step, f);
	w->dropped_userinfo |= d.dropped_userinfo;
	if (d.step == ING_STEP_LINK) {
		record_followed(job, &f->page);
		w->landings++;
		ing_job_visit(job, d.url, step->url);
		free(d.url);
	} else {
		w->document_found =
			d.status == ING_STATUS_SUCCESS || d.status == ING_STATUS_WRONG_MIMETYPE;
		ing_job_end(job, d.status, d.detail != NULL ? d.detail : f->detail);
	}
	ing_findings_done(f);
}

/* The body of an answer with a bad status: it is no document and says nothing else. What is no
 * wall, or what nobody has looked into, may be gone with the next try. */
static void on_walls_examined(void *ctx, struct ing_findings *f)
{
	struct ing_job_exam *exam;
	ING_CAST_OBJ(exam, ctx, EXAM_MAGIC);
	struct ing_job *job = exam->job;
	struct ing_visit *v = exam->visit;
	check_findings(exam, f);
	free_exam(exam);
	count_uses(job, &f->page);
	struct ing_decision d = ing_hop_after_walls(f);
	bool unseen = f->exam == ING_EXAM_NOT_STARTED;
	bool is_wall = !unseen && d.status != ING_STATUS_TERMINAL_BAD_STATUS;
	if (is_wall || !ing_visit_again(v))
		ing_job_end(job, d.status, unseen ? f->detail : d.detail);
	ing_findings_done(f);
}

static const struct ing_pool_user document_user = {.done = on_examined, .running = on_running};
static const struct ing_pool_user walls_user = {.done = on_walls_examined, .running = on_running};

static struct ing_exam_request question_for(
	const struct ing_job *job, const struct ing_exchange *ex)
{
	const struct ing_pipeline_conf *conf = &job->pipeline->conf;
	return (struct ing_exam_request){
		.url = ex->url,
		.content_type = ex->content_type,
		.content_encoding = ex->content_encoding,
		.want = ing_artifact_type(job->work->request->type)->want,
		.max_body_bytes = conf->max_body_bytes,
		.max_ratio = conf->settings.max_ratio,
		.max_scrape_bytes = conf->settings.max_scrape_bytes,
		.pdf_timeout_ms = conf->pdf_timeout_ms,
	};
}

static bool is_past_deadline(const struct ing_work *w, uint64_t now_ms)
{
	for (const struct ing_job_exam *exam = w->exams; exam != NULL; exam = exam->next)
		if (now_ms >= exam->end_ms)
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_job_examine(
	struct ing_job *job, struct ing_visit *v, const struct ing_visit_outcome *outcome)
{
	struct ing_work *w = job->work;
	struct ing_job_exam *exam = ing_alloc(sizeof(*exam));
	exam->magic = EXAM_MAGIC;
	exam->job = job;
	exam->visit = v;
	exam->step = outcome->step;
	exam->exchange = ing_exchange_ref(outcome->exchange);
	exam->end_ms = UINT64_MAX;
	if (w->exams == NULL)
		DL_APPEND(job->pipeline->examining, w);
	DL_APPEND(w->exams, exam);
	ing_job_update_state(job);
	bool only_walls = outcome->end == ING_VISIT_WALLS;
	struct ing_exam_request q = question_for(job, exam->exchange);
	if (only_walls)
		q.want = ING_WANT_WALLS;
	exam->ticket = ing_pool_submit(job->pipeline->stages.pool, &q, exam->exchange->body_fd,
		exam->exchange->body_bytes, only_walls ? &walls_user : &document_user, exam);
	ing_pipeline_hold_gate(job->pipeline);
}

void ing_job_cancel_exams(struct ing_job *job)
{
	while (job->work != NULL && job->work->exams != NULL) {
		ing_pool_cancel(job->work->exams->ticket);
		free_exam(job->work->exams);
	}
}

void ing_pipeline_check_deadlines(struct ing_pipeline *p, uint64_t now_ms)
{
	/* Transfers end by themselves (they were given the deadline); only examiners have to be
	 * called off. */
	struct ing_work *w;
	struct ing_work *next;
	DL_FOREACH_SAFE (p->examining, w, next)
		if (is_past_deadline(w, now_ms))
			ing_job_end_late(w->job);
}
