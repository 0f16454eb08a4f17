/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hop loop: what is done with answers and with what examiners found in them. Loop thread; the
 * callbacks are those of fetch and of the examiners' pool. Where to go next is hop.c's to say.
 *
 * Archiving an answer runs beside examining it, so a job that has its status may still wait for the
 * disk.
 */
#include <string.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/record/cdx.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/job/pipeline_priv.h"
#include "worker/visit/answer.h"
#include "worker/visit/retry.h"
#include "worker/job/truth.h"
#include "worker/rules/set/rule_stats.h"

/* A document in hand has cost its fetch already: it is looked into for a tenth of job.deadline_ms
 * at least, up to so long, however little is left of it. Ordinary ones take 1 to 40 ms. */
#define LEAST_EXAM_MS 2000u

static void on_examined(void *ctx, struct ing_findings *f);
static void on_walls_examined(void *ctx, struct ing_findings *f);
static void on_taken(void *ctx, bool taken);

static const struct ing_pool_user document_user = {.done = on_examined, .taken = on_taken};
static const struct ing_pool_user walls_user = {.done = on_walls_examined, .taken = on_taken};

static bool was_visited(void *ctx, const char *url)
{
	const struct ing_job *job = ctx;
	uint64_t version = ing_cookies_version(job->work->jar);
	for (const struct ing_hop *h = job->work->hops; h != NULL; h = h->next) {
		if (h->jar_version == version && strcmp(h->url, url) == 0)
			return true;
	}
	return false;
}

static struct ing_url_decision judge_next_url(void *ctx, const char *url)
{
	const struct ing_job *job = ctx;
	return ing_pipeline_judge(job->pipeline, url);
}

static struct ing_hop_view view_of(struct ing_job *job)
{
	const struct ing_work *w = job->work;
	return (struct ing_hop_view){
		.url = w->hop->url,
		.landings = w->landings,
		.max_hops = job->pipeline->conf.max_hops,
		.visited = was_visited,
		.verdict = judge_next_url,
		.ctx = job,
	};
}

static void start_archiving(struct ing_job *job)
{
	struct ing_hop *hop = job->work->hop;
	if (!hop->exchange->answered)
		return;
	hop->capture.archive.exchange = ing_exchange_ref(hop->exchange);
	hop->capture.archive.done = ing_job_on_archived;
	hop->archive_pending = true;
	job->work->archive_pending++;
	ing_archive_put(job->pipeline->stages.archive, &hop->capture.archive);
}

/* The deadline is about what the request costs, not about who stands before it in the examiners'
 * queue: its clock stands until an examiner has the document. */
static void on_taken(void *ctx, bool taken)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	if (taken) {
		uint64_t least_ms = ING_MIN(job->pipeline->conf.deadline_ms / 10, LEAST_EXAM_MS);
		w->deadline_ms = ing_now_ms() + w->work_left_ms;
		w->exam_end_ms = ing_now_ms() + ING_MAX(w->work_left_ms, least_ms);
	} else {
		ing_job_stop_clock(w);
		w->exam_end_ms = UINT64_MAX;
	}
}

static void end_exam(struct ing_job *job)
{
	struct ing_work *w = job->work;
	w->exam = NULL;
	if (w->exam_end_ms == UINT64_MAX) /* never taken */
		w->deadline_ms = ing_now_ms() + w->work_left_ms;
	ing_pipeline_hold_gate(job->pipeline);
}

static void start_examining(struct ing_job *job, bool only_walls)
{
	struct ing_work *w = job->work;
	const struct ing_pipeline_conf *conf = &job->pipeline->conf;
	const struct ing_exchange *ex = w->hop->exchange;
	struct ing_question q = {
		.url = ex->url,
		.content_type = ex->content_type,
		.content_encoding = ex->content_encoding,
		.want = only_walls ? (unsigned)ING_WANT_WALLS
				   : ing_artifact_type(w->request->type)->want,
		.max_body_bytes = conf->max_body_bytes,
		.max_ratio = conf->max_ratio,
		.max_scrape_bytes = conf->max_scrape_bytes,
		.pdf_timeout_ms = conf->pdf_timeout_ms,
	};
	ing_job_set_state(job, ING_JOB_EXAMINING);
	ing_job_stop_clock(w);
	w->exam_end_ms = UINT64_MAX;
	w->exam = ing_pool_submit(job->pipeline->stages.pool, &q, ex->body_fd, ex->body_bytes,
		only_walls ? &walls_user : &document_user, job);
	ing_pipeline_hold_gate(job->pipeline);
}

/* What the result needs to know of an answer, whatever becomes of it. */
static void note_answer(struct ing_job *job, struct ing_exchange *ex)
{
	struct ing_work *w = job->work;
	struct ing_hop *hop = w->hop;
	hop->exchange = ex;
	hop->answered = ex->answered;
	hop->capture.coded = ing_truth_is_coded(ex);
	hop->capture.http_status = ex->http_status;
	char mimetype[ING_CDX_MIMETYPE_BYTES];
	ing_cdx_mimetype(ex->content_type, mimetype);
	hop->capture.mimetype = ing_arena_strdup(&w->ar, mimetype);
	ing_format_dt14(ex->started, hop->capture.datetime);
	w->unverified |= ex->unverified;
	w->dropped_userinfo |= ex->dropped_userinfo;
}

static struct ing_decision decide_after_fetch(struct ing_job *job, const struct ing_exchange *ex)
{
	const struct ing_work *w = job->work;
	const struct ing_answer_view view = {
		.url = w->hop->url,
		.redirects = w->redirects,
		.cookie_redirects = w->cookie_redirects,
		.max_redirects = job->pipeline->conf.max_redirects,
		.asked_before = was_visited,
		.verdict = judge_next_url,
		.ctx = job,
	};
	return ing_answer_decide(&view, &(struct ing_answer){
						.outcome = ex->outcome,
						.answered = ex->answered,
						.http_status = ex->http_status,
						.location = ex->location,
						.set_cookie = ex->set_cookie,
						.body_bytes = ex->body_bytes,
						.content_type = ex->content_type,
					});
}

/* The chain ends here, unless the next try may go better. */
static void end_after_fetch(
	struct ing_job *job, const struct ing_exchange *ex, const struct ing_decision *d)
{
	if (ing_job_try_again(job, ex))
		return;
	if (ex->outcome != ING_STATUS_SUCCESS && ing_now_ms() >= job->work->deadline_ms) {
		ing_job_end_late(job);
		return;
	}
	const char *detail = ex->detail[0] != '\0' ? ex->detail : NULL;
	ing_job_end(job, d->status, d->detail != NULL ? d->detail : detail);
}

/* Keep what the result needs of the findings; the rest is freed by the caller. */
static void keep_findings(struct ing_job *job, struct ing_findings *f)
{
	struct ing_work *w = job->work;
	if (f->exam != ING_EXAM_OK)
		return;
	if (f->file.decoded)
		w->hop->capture.body_sha1hex = ing_arena_strdup(&w->ar, f->file.sha1hex);
	ing_artifact_keep(&w->artifact, ing_artifact_type(w->request->type), f);
	ing_job_account_text(job, ing_artifact_text_bytes(&w->artifact));
}

static void count_uses(const struct ing_job *job, const struct ing_page *page)
{
	ing_rule_stats_add(job->pipeline->conf.rule_stats, page->rules_digest, page->rule_hits,
		page->rule_hit_count);
}

/* The rule behind a link that is followed: should the request end well, it has led there. */
static void note_followed(struct ing_job *job, const struct ing_page *page)
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
static void refuse_lies(struct ing_job *job, struct ing_findings *f)
{
	const struct ing_exchange *ex = job->work->hop->exchange;
	if (!ing_truth_contradicts(f, ex, job->pipeline->conf.max_body_bytes))
		return;
	ing_findings_done(f);
	f->exam = ING_EXAM_CRASH;
	f->detail = ing_strdup(ing_truth_words);
	ing_pool_count_lie(job->pipeline->stages.pool);
}

static void on_examined(void *ctx, struct ing_findings *f)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	end_exam(job);
	refuse_lies(job, f);
	ing_exchange_unref(ING_TAKE(w->hop->exchange));
	struct ing_hop_view view = view_of(job);
	struct ing_decision d = ing_hop_after_examine(&view, w->request, f);
	count_uses(job, &f->page);
	keep_findings(job, f);
	w->dropped_userinfo |= d.dropped_userinfo;
	if (d.step == ING_STEP_LINK) {
		note_followed(job, &f->page);
		ing_job_go_to(job, d.url, ING_VIA_LINK);
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
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	end_exam(job);
	refuse_lies(job, f);
	count_uses(job, &f->page);
	struct ing_decision d = ing_hop_after_walls(f);
	bool unseen = f->exam == ING_EXAM_WAITED;
	bool is_wall = !unseen && d.status != ING_STATUS_TERMINAL_BAD_STATUS;
	if (is_wall || !ing_job_try_again(job, w->hop->exchange))
		ing_job_end(job, d.status, unseen ? f->detail : d.detail);
	ing_findings_done(f);
}

static void check_deadline(struct ing_job *job, uint64_t now_ms)
{
	if (now_ms < job->work->exam_end_ms)
		return;
	ing_pool_cancel(ING_TAKE(job->work->exam));
	ing_job_end_late(job);
}

/* -------------------------------------------------------------------------------------------- */

void ing_job_on_fetched(void *ctx, struct ing_exchange *ex)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	w->transfer = NULL;
	struct ing_gate_report report = ing_retry_report(ex);
	ing_gate_leave(job->pipeline->stages.gate, &job->waiter, &report);
	if (job->state == ING_JOB_CANCELLED) {
		ing_exchange_unref(ex);
		ing_job_drop_cancelled(job);
		return;
	}
	if (ex->starved) /* at once: the next ones would fare as badly */
		ing_pipeline_balance(job->pipeline);
	note_answer(job, ex);
	start_archiving(job);
	struct ing_decision d = decide_after_fetch(job, ex);
	w->dropped_userinfo |= d.dropped_userinfo;
	switch (d.step) {
	case ING_STEP_EXAMINE:
	case ING_STEP_WALLS:
		start_examining(job, d.step == ING_STEP_WALLS);
		break;
	case ING_STEP_REDIRECT:
	case ING_STEP_LINK:
		w->cookie_redirects += ex->set_cookie;
		ing_exchange_unref(ING_TAKE(w->hop->exchange));
		ing_job_go_to(job, d.url, ING_VIA_REDIRECT);
		break;
	case ING_STEP_END:
		end_after_fetch(job, ex, &d);
		break;
	}
}

void ing_pipeline_check_deadlines(struct ing_pipeline *p, uint64_t now_ms)
{
	/* Transfers end by themselves (they were given the deadline); only examiners have to be
	 * called off. */
	struct ing_work *w;
	struct ing_work *next;
	DL_FOREACH_SAFE (p->examining, w, next)
		check_deadline(w->job, now_ms);
}
