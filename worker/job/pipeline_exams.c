/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Examinations of what visits have brought: their place in the examiners' queue, the job's clock, their
 * deadline. Loop thread; the callbacks are those of the examiners' pool. What findings mean is said by
 * whoever asked.
 */
#include <stdlib.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/examine/pool.h"
#include "worker/job/body_check.h"
#include "worker/job/pipeline_priv.h"

/* A document in hand has cost its fetch already: it is looked into for a tenth of job.deadline_ms
 * at least, up to so long, however little is left of it. Ordinary ones take 1 to 40 ms. */
#define LEAST_EXAM_MS 2000u

#define EXAM_MAGIC 0x4558414du

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

static void on_done(void *ctx, struct ing_findings *f)
{
	struct ing_job_exam *exam;
	ING_CAST_OBJ(exam, ctx, EXAM_MAGIC);
	struct ing_job *job = exam->job;
	struct ing_visit *v = exam->visit;
	struct ing_visit_step *step = exam->step;
	const struct ing_exam_use *use = exam->use;
	check_findings(exam, f);
	free_exam(exam);
	use->examined(job, v, step, f);
	ing_findings_done(f);
}

static const struct ing_pool_user pool_user = {.done = on_done, .running = on_running};

/* The first whose deadline has passed; or NULL. */
static struct ing_job_exam *find_late(const struct ing_work *w, uint64_t now_ms)
{
	struct ing_job_exam *exam = w->exams;
	while (exam != NULL && now_ms < exam->end_ms)
		exam = exam->next;
	return exam;
}

static void call_off(struct ing_job_exam *exam)
{
	ing_pool_cancel(exam->ticket);
	free_exam(exam);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_exam_request ing_job_question(
	const struct ing_job *job, const struct ing_exchange *ex, unsigned want)
{
	const struct ing_pipeline_conf *conf = &job->pipeline->conf;
	return (struct ing_exam_request){
		.url = ex->url,
		.content_type = ex->content_type,
		.content_encoding = ex->content_encoding,
		.want = want,
		.max_body_bytes = conf->max_body_bytes,
		.max_ratio = conf->settings.max_ratio,
		.max_scrape_bytes = conf->settings.max_scrape_bytes,
		.pdf_timeout_ms = conf->pdf_timeout_ms,
	};
}

void ing_job_examine(struct ing_job *job, struct ing_visit *v,
	const struct ing_visit_outcome *outcome, const struct ing_exam_request *q,
	const struct ing_exam_use *use)
{
	struct ing_work *w = job->work;
	struct ing_job_exam *exam = ing_alloc(sizeof(*exam));
	exam->magic = EXAM_MAGIC;
	exam->job = job;
	exam->use = use;
	exam->visit = v;
	exam->step = outcome->step;
	exam->exchange = ing_exchange_ref(outcome->exchange);
	exam->end_ms = UINT64_MAX;
	if (w->exams == NULL)
		DL_APPEND(job->pipeline->examining, w);
	DL_APPEND(w->exams, exam);
	ing_job_update_state(job);
	exam->ticket = ing_pool_submit(job->pipeline->stages.pool, q, exam->exchange->body_fd,
		exam->exchange->body_bytes, &pool_user, exam);
	ing_pipeline_hold_gate(job->pipeline);
}

void ing_job_cancel_exams(struct ing_job *job)
{
	while (job->work != NULL && job->work->exams != NULL)
		call_off(job->work->exams);
}

/* Transfers end by themselves (they were given the deadline); only examiners have to be called off.
 * Once a tick for each job: what becomes of one may end the others, and the job. */
void ing_pipeline_check_deadlines(struct ing_pipeline *p, uint64_t now_ms)
{
	struct ing_work *w;
	struct ing_work *next;
	DL_FOREACH_SAFE (p->examining, w, next) {
		struct ing_job_exam *exam = find_late(w, now_ms);
		if (exam == NULL)
			continue;
		struct ing_job *job = w->job;
		struct ing_visit *v = exam->visit;
		const struct ing_exam_use *use = exam->use;
		call_off(exam);
		use->late(job, v);
	}
}
