/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hop loop: a visit has ended, what it brought is examined, and that leads to the next visit or
 * to the end. Loop thread. Where to go next is hop.c's to say.
 */
#include <stdlib.h>

#include "worker/artifact/artifact.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/resource.h"
#include "worker/rules/rule_stats.h"

static bool was_asked_before(void *ctx, const char *url)
{
	return ing_job_asked_before(ctx, url);
}

static struct ing_url_decision judge(void *ctx, const char *url)
{
	const struct ing_job *job = ctx;
	return ing_visits_judge(job->pipeline->stages.visits, url);
}

/* --- what a page says --- */

/* Keep what the result needs of the findings; the rest is freed by the caller. */
static void keep_findings(struct ing_job *job, struct ing_visit_step *step, struct ing_findings *f)
{
	struct ing_work *w = job->work;
	if (f->file.decoded)
		step->capture.body_sha1hex = ing_arena_strdup(&w->ar, f->file.sha1hex);
	if (f->exam != ING_EXAM_OK) {
		w->artifact.file = f->file; /* all that is known, if anything */
		return;
	}
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

static bool has_resources(const struct ing_job *job)
{
	return ing_job_resource_mode(job, job->work->request) >= ING_RESOURCES_ON;
}

/* The chain ends with this body. */
static void end_chain(
	struct ing_job *job, const struct ing_decision *d, const struct ing_findings *f)
{
	job->work->document_found = d->is_document;
	if (!ing_job_is_for_grobid(job))
		ing_job_drop_document(job);
	if (d->status == ING_STATUS_SUCCESS && has_resources(job))
		ing_job_visit_resources(job, &f->resources);
	else
		ing_job_end(job, d->status, d->detail != NULL ? d->detail : f->detail);
}

static void on_examined(struct ing_job *job, struct ing_visit *v, struct ing_visit_step *step,
	struct ing_findings *f)
{
	struct ing_work *w = job->work;
	(void)v;
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
		ing_job_drop_document(job);
		record_followed(job, &f->page);
		w->landings++;
		ing_job_visit(job, d.url, step->url);
		free(d.url);
	} else {
		end_chain(job, &d, f);
	}
}

/* The body of an answer with a bad status: it is no document and says nothing else. What is no
 * wall, or what nobody has looked into, may be gone with the next try. */
static void on_walls_examined(struct ing_job *job, struct ing_visit *v, struct ing_visit_step *step,
	struct ing_findings *f)
{
	(void)step;
	count_uses(job, &f->page);
	struct ing_decision d = ing_hop_after_walls(f);
	bool unseen = f->exam == ING_EXAM_NOT_STARTED;
	bool is_wall = !unseen && d.status != ING_STATUS_TERMINAL_BAD_STATUS;
	if (is_wall || !ing_visit_again(v))
		ing_job_end(job, d.status, unseen ? f->detail : d.detail);
}

static void on_late(struct ing_job *job, struct ing_visit *v)
{
	(void)v;
	ing_job_end_late(job);
}

static const struct ing_exam_use document_use = {.examined = on_examined, .late = on_late};
static const struct ing_exam_use walls_use = {.examined = on_walls_examined, .late = on_late};

/* -------------------------------------------------------------------------------------------- */

void ing_job_examine_hop(
	struct ing_job *job, struct ing_visit *v, const struct ing_visit_outcome *outcome)
{
	bool only_walls = outcome->end == ING_VISIT_WALLS;
	unsigned want = only_walls ? (unsigned)ING_WANT_WALLS
				   : ing_artifact_type(job->work->request->type)->want;
	if (!only_walls)
		ing_job_keep_document(job, outcome->exchange);
	if (!only_walls && has_resources(job))
		want |= ING_WANT_RESOURCES;
	struct ing_exam_request q = ing_job_question(job, outcome->exchange, want);
	ing_job_examine(job, v, outcome, &q, only_walls ? &walls_use : &document_use);
}
