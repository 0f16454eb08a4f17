/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The visits of a job: what they ask their owner for, and when they are cancelled. Loop thread; the
 * callbacks are those of visits.
 *
 * What surprises: the first visit is in struct ing_job, because it waits with nothing else; its URL
 * is then derived from the message. Further ones are in the arena of the job's work. The job's
 * state is that of the busiest of them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/artifact/artifact.h"
#include "worker/job/pipeline_priv.h"

/* The visits of a job, in the order of their beginning. NULL begins; NULL ends. */
static struct ing_visit *next_visit(struct ing_job *job, struct ing_visit *v)
{
	struct ing_job_visit *further = NULL;
	if (v == NULL)
		return &job->first;
	if (v != &job->first)
		further = ING_CONTAINER(v, struct ing_job_visit, visit)->next;
	else if (job->work != NULL)
		further = job->work->further;
	return further != NULL ? &further->visit : NULL;
}

static bool any_visit(struct ing_job *job, bool (*test)(const struct ing_visit *v))
{
	struct ing_visit *v = NULL;
	while ((v = next_visit(job, v)) != NULL)
		if (test(v))
			return true;
	return false;
}

static bool is_hop(const struct ing_job *job, struct ing_visit *v)
{
	return v == &job->first || ING_CONTAINER(v, struct ing_job_visit, visit)->is_hop;
}

static bool transfers(const struct ing_visit *v)
{
	return v->state == ING_VISIT_TRANSFER;
}

static struct ing_job *job_of(const struct ing_visit *v)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, v->ctx, ING_JOB_MAGIC);
	return job;
}

static char *get_url(struct ing_visit *v)
{
	const struct ing_job *job = job_of(v);
	if (v == &job->first)
		return ing_job_derive_start(job);
	return ing_strdup(ING_CONTAINER(v, struct ing_job_visit, visit)->url);
}

static void on_admitted(struct ing_visit *v, struct ing_visit_params *ret)
{
	struct ing_job *job = job_of(v);
	if (job->work == NULL)
		ing_job_start_work(job);
	struct ing_work *w = job->work;
	*ret = (struct ing_visit_params){
		.url = w->start,
		.arena = &w->ar,
		.steps = &w->steps,
		.clock = &w->clock,
		.accept = ing_artifact_type(w->request->type)->accept,
		.max_redirects = job->pipeline->conf.settings.max_redirects,
	};
	if (v != &job->first) {
		const struct ing_job_visit *further = ING_CONTAINER(v, struct ing_job_visit, visit);
		ret->url = further->url;
		ret->referer = further->referer;
	}
	ing_job_update_state(job);
}

static bool may_wait(struct ing_visit *v, const char *url)
{
	return ing_job_take_share(job_of(v), url);
}

static bool was_asked_before(const struct ing_visit *v, const char *url)
{
	return ing_job_asked_before(job_of(v), url);
}

static void on_done(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	struct ing_job *job = job_of(v);
	if (job->work == NULL)
		ing_job_start_work(job);
	struct ing_work *w = job->work;
	w->dropped_userinfo |= o->dropped_userinfo;
	w->unverified |= o->unverified;
	if (o->step != NULL)
		w->terminal = o->step;
	if (o->end != ING_VISIT_ENDED) {
		ing_job_examine_hop(job, v, o);
		return;
	}
	w->retry_after_s = o->retry_after_s;
	ing_job_end(job, o->status, o->detail);
}

static const struct ing_visit_user hop_user = {
	.source = ing_job_visit_source,
	.accepted_ms = ing_job_accepted_ms,
	.url = get_url,
	.admitted = on_admitted,
	.changed = ing_job_on_visit_changed,
	.may_wait = may_wait,
	.asked_before = was_asked_before,
	.no_descriptor = ing_job_on_no_descriptor,
	.done = on_done,
	.settled = ing_job_on_visit_settled,
};

static void init_visit(struct ing_job *job, struct ing_visit *v, const struct ing_visit_user *user)
{
	ing_visit_init(v, job->pipeline->stages.visits, user, job, (enum ing_lane)job->lane);
	if (job->alone)
		ing_visit_set_alone(v);
}

/* -------------------------------------------------------------------------------------------- */

void ing_job_init_visits(struct ing_job *job)
{
	init_visit(job, &job->first, &hop_user);
}

void ing_job_init_first_visit(struct ing_job *job, const struct ing_visit_user *user)
{
	ing_must(job->first.state == ING_VISIT_NEW);
	init_visit(job, &job->first, user);
}

char *ing_job_derive_start(const struct ing_job *job)
{
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	int rc = ing_request_parse(job->message->data, job->message->value_bytes, &request, &err);
	ing_must(rc == 0); /* the same bytes were parsed at intake */
	struct ing_decision d = ing_pipeline_start(job->pipeline, request, NULL, NULL);
	ing_must(d.step == ING_STEP_LINK); /* it was at intake, rules and all */
	ing_request_free(request);
	return d.url;
}

void ing_job_on_visit_changed(struct ing_visit *v)
{
	ing_job_update_state(job_of(v));
}

void ing_job_on_visit_settled(struct ing_visit *v)
{
	ing_job_on_settled(job_of(v));
}

void ing_job_on_no_descriptor(struct ing_visit *v)
{
	ing_pipeline_balance(job_of(v)->pipeline); /* at once: the next ones would fare as badly */
}

bool ing_job_visit_source(const struct ing_visit *v, struct ing_source *ret)
{
	const struct ing_job *job = job_of(v);
	return job->pipeline->stages.journal != NULL && ing_job_source(job, ret);
}

void ing_job_add_visit(
	struct ing_job *job, struct ing_job_visit *further, const struct ing_visit_user *user)
{
	struct ing_work *w = job->work;
	init_visit(job, &further->visit, user);
	*w->further_end = further;
	w->further_end = &further->next;
}

void ing_job_wait(struct ing_job *job, const char *url)
{
	ing_job_set_state(job, ING_JOB_WAITING);
	if (job->publication != NULL)
		ing_job_wait_for_publication(job, url);
	else
		ing_visit_start(&job->first, url, ING_VIA_START);
}

void ing_job_visit(struct ing_job *job, const char *url, const char *referer)
{
	struct ing_work *w = job->work;
	if (ing_work_clock_left(&w->clock, ing_now_ms()) == 0) {
		ing_job_end_late(job);
		return;
	}
	struct ing_job_visit *further = ing_arena_alloc(&w->ar, sizeof(*further));
	further->url = ing_arena_strdup(&w->ar, url);
	further->referer = referer;
	further->is_hop = true;
	ing_job_add_visit(job, further, &hop_user);
	ing_job_update_state(job);
	ing_visit_start(&further->visit, further->url, ING_VIA_LINK);
}

void ing_job_update_state(struct ing_job *job)
{
	enum ing_job_state state = ING_JOB_GATED;
	if (any_visit(job, transfers))
		state = ING_JOB_FETCHING;
	else if (job->work->exams != NULL)
		state = ING_JOB_EXAMINING;
	if (job->state != state)
		ing_job_set_state(job, state);
}

bool ing_job_asked_before(const struct ing_job *job, const char *url)
{
	return ing_visit_steps_have(&job->work->steps, url);
}

void ing_job_cancel_visits(struct ing_job *job, bool at_once)
{
	struct ing_visit *v = NULL;
	while ((v = next_visit(job, v)) != NULL)
		ing_visit_cancel(v, at_once);
}

bool ing_job_owes(struct ing_job *job)
{
	return any_visit(job, ing_visit_owes);
}

bool ing_job_has_lost_answer(struct ing_job *job)
{
	struct ing_visit *v = NULL;
	while ((v = next_visit(job, v)) != NULL)
		if (is_hop(job, v) && ing_visit_has_lost_answer(v))
			return true;
	return false;
}

bool ing_job_waits_for_hold(struct ing_job *job)
{
	return any_visit(job, ing_visit_waits_for_hold);
}

bool ing_job_waits_for_order(struct ing_job *job)
{
	return any_visit(job, ing_visit_waits_for_order);
}

bool ing_job_is_idle(struct ing_job *job)
{
	struct ing_visit *v = NULL;
	while ((v = next_visit(job, v)) != NULL)
		if (!ing_visit_is_idle(v))
			return false;
	return true;
}
