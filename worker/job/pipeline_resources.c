/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The visits of a page's sub-resources (resource.h). Loop thread; the callbacks are those of visits and
 * of examinations.
 *
 * Style sheets are examined for what they refer to, other bodies only when they have a content coding,
 * for their digests. What surprises: a visit may end inside ing_visit_start(), and the last one ends
 * the job: so the next are started from one place, which is the last thing that every callback does.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/net/url.h"
#include "worker/artifact/artifact.h"
#include "worker/examine/pool.h"
#include "worker/job/body_check.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/resource.h"

/* Visits of one page at once, as browsers have connections to a host. */
#define SIDE_BY_SIDE 6
/* A style sheet imported by one that was imported by … Frameworks need two. */
#define MAX_DEPTH 5
/* Of what is kept of pages while their sub-resources are fetched: the text of 2,500 ordinary ones. Those of
 * a further page are not fetched, which its result says. */
#define MAX_BYTES ((size_t)256 << 20)

static struct ing_resource *resource_of(struct ing_visit *v)
{
	struct ing_job_visit *further = ING_CONTAINER(v, struct ing_job_visit, visit);
	return ING_CONTAINER(further, struct ing_resource, visit);
}

static const struct ing_resource *resource_of_const(const struct ing_visit *v)
{
	return resource_of((struct ing_visit *)(uintptr_t)v);
}

static struct ing_job *job_of(const struct ing_visit *v)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, v->ctx, ING_JOB_MAGIC);
	return job;
}

static struct ing_job_resources *resources_of(const struct ing_job *job)
{
	return job->work->resources;
}

/* --- the list --- */

static bool has(const struct ing_job_resources *rs, const char *url, uint32_t hash)
{
	for (const struct ing_resource *r = rs->first; r != NULL; r = r->next)
		if (r->hash == hash && strcmp(r->visit.url, url) == 0)
			return true;
	return false;
}

/* Behind `place`, which is moved on. Takes url. */
static void add(struct ing_job *job, struct ing_resource ***place, char *url,
	enum ing_resource_type type, unsigned depth)
{
	struct ing_work *w = job->work;
	struct ing_job_resources *rs = w->resources;
	uint32_t hash = ing_hash(url, strlen(url));
	bool is_new = !has(rs, url, hash);
	rs->left_out += is_new && rs->count == ING_MAX_RESOURCES;
	if (is_new && rs->count < ING_MAX_RESOURCES) {
		struct ing_resource *r = ing_arena_alloc(&w->ar, sizeof(*r));
		r->visit.url = ing_arena_strdup(&w->ar, url);
		r->visit.referer = w->terminal->url;
		r->hash = hash;
		r->type = (uint8_t)type;
		r->depth = (uint8_t)depth;
		r->steps.jar = w->steps.jar;
		r->next = **place;
		**place = r;
		*place = &r->next;
		rs->count++;
		rs->open++;
	}
	free(url);
}

/* URLs are an examiner's, and not trusted. */
static void add_all(struct ing_job *job, struct ing_resource **place,
	const struct ing_resources_found *found, unsigned depth)
{
	struct ing_job_resources *rs = resources_of(job);
	rs->left_out += found->total - found->count;
	rs->filtered += found->filtered;
	for (uint32_t i = 0; i < found->count; i++) {
		const struct ing_resource_found *item = &found->items[i];
		bool dropped;
		char *url = ing_target_clean(item->url, &dropped);
		if (url != NULL)
			add(job, &place, url, (enum ing_resource_type)item->type, depth);
	}
}

/* --- the end --- */

static void set_over(struct ing_job_resources *rs, struct ing_resource *r, enum ing_status status)
{
	rs->visited -= r->state == ING_SUB_VISITED;
	rs->open--;
	r->state = ING_SUB_OVER;
	r->status = status;
	ing_format_dt14(ing_wall_now(), r->decided);
}

static void give_up(struct ing_job_resources *rs, enum ing_status status)
{
	for (struct ing_resource *r = rs->first; r != NULL; r = r->next)
		if (r->state != ING_SUB_OVER)
			set_over(rs, r, status);
}

static void leave_list(struct ing_job_resources *rs)
{
	if (!rs->listed)
		return;
	rs->listed = false;
	DL_DELETE2(rs->job->pipeline->resources, rs, earlier, later);
}

/* What the job keeps of its page does not hold the gate, which lets its visits pass. */
static void take_account(struct ing_job *job, struct ing_job_resources *rs)
{
	size_t bytes = job->work->derived_bytes;
	ing_job_account_derived(job, 0);
	job->work->resources = rs;
	ing_job_account_derived(job, bytes);
}

/* --- visits --- */

static void start_visits(struct ing_job *job);

static void end_one(struct ing_job *job, struct ing_resource *r, enum ing_status status)
{
	set_over(resources_of(job), r, status);
	start_visits(job);
}

static char *get_url(struct ing_visit *v)
{
	return ing_strdup(resource_of(v)->visit.url);
}

static const char *accept_of(const struct ing_resource *r)
{
	if (r->type == ING_RESOURCE_STYLESHEET)
		return "text/css,*/*;q=0.1";
	return r->type == ING_RESOURCE_IMAGE ? "image/*,*/*;q=0.5" : "*/*";
}

static void on_admitted(struct ing_visit *v, struct ing_visit_params *ret)
{
	struct ing_job *job = job_of(v);
	struct ing_resource *r = resource_of(v);
	struct ing_work *w = job->work;
	*ret = (struct ing_visit_params){
		.url = r->visit.url,
		.referer = r->visit.referer,
		.arena = &w->ar,
		.steps = &r->steps,
		.clock = &w->clock,
		.accept = accept_of(r),
		.max_redirects = job->pipeline->conf.settings.max_redirects,
	};
	ing_job_update_state(job);
}

static const char *host_of(const struct ing_job *job, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	if (!ing_visits_host(job->pipeline->stages.visits, url, host, sizeof(host)))
		host[0] = '\0';
	return ing_arena_strdup(&job->work->ar, host);
}

/* Requests count for one host, that of their page. */
static bool may_wait(struct ing_visit *v, const char *url)
{
	struct ing_resource *r = resource_of(v);
	if (v->run != NULL) /* a redirect or another try */
		r->host = host_of(job_of(v), url);
	return true;
}

static bool was_asked_before(const struct ing_visit *v, const char *url)
{
	return ing_visit_steps_have(&resource_of_const(v)->steps, url);
}

/* --- what they bring --- */

static void on_examined(struct ing_job *job, struct ing_visit *v, struct ing_visit_step *step,
	struct ing_findings *f)
{
	struct ing_resource *r = resource_of(v);
	struct ing_work *w = job->work;
	if (f->exam == ING_EXAM_OK) {
		r->file = ing_arena_alloc(&w->ar, sizeof(*r->file));
		*r->file = f->file;
		if (f->file.decoded)
			step->capture.body_sha1hex = r->file->sha1hex;
		add_all(job, &r->next, &f->resources, r->depth + 1u);
	}
	end_one(job, r, ing_exam_status(f->exam));
}

static void on_late(struct ing_job *job, struct ing_visit *v)
{
	end_one(job, resource_of(v), ING_STATUS_TIMEOUT);
}

static const struct ing_exam_use exam_use = {.examined = on_examined, .late = on_late};

/* Whether there is something to look into. */
static bool needs_examiner(const struct ing_resource *r)
{
	return r->step->capture.coded ||
	       (r->type == ING_RESOURCE_STYLESHEET && r->depth < MAX_DEPTH);
}

static void examine(struct ing_job *job, struct ing_resource *r, const struct ing_visit_outcome *o)
{
	bool is_style = r->type == ING_RESOURCE_STYLESHEET && r->depth < MAX_DEPTH;
	struct ing_exam_request q =
		ing_job_question(job, o->exchange, is_style ? (unsigned)ING_WANT_STYLE : 0);
	q.page = job->work->terminal->url;
	resources_of(job)->visited--;
	r->state = ING_SUB_READ;
	ing_job_examine(job, &r->visit.visit, o, &q, &exam_use);
	start_visits(job);
}

static void on_done(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	struct ing_job *job = job_of(v);
	struct ing_resource *r = resource_of(v);
	r->step = o->step;
	if (o->end == ING_VISIT_WALLS && ing_visit_again(v))
		return;
	if (o->end != ING_VISIT_EXAMINE)
		end_one(job, r, o->status);
	else if (needs_examiner(r))
		examine(job, r, o);
	else
		end_one(job, r, ING_STATUS_SUCCESS);
}

static const struct ing_visit_user resource_user = {
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

/* --- whose turn it is --- */

static bool is_host_busy(const struct ing_job_resources *rs, const char *host)
{
	for (const struct ing_resource *r = rs->first; r != NULL; r = r->next)
		if (r->state == ING_SUB_VISITED && strcmp(r->host, host) == 0)
			return true;
	return false;
}

static void start(struct ing_job *job, struct ing_resource *r)
{
	struct ing_job_resources *rs = resources_of(job);
	struct ing_work *w = job->work;
	struct ing_decision d;
	if (ing_work_clock_left(&w->clock, ing_now_ms()) == 0) {
		set_over(rs, r, ING_STATUS_TIMEOUT);
		return;
	}
	if (ing_target_is_refused(r->visit.url, ING_VIA_RESOURCE, ing_visits_judge,
		    job->pipeline->stages.visits, &d)) {
		set_over(rs, r, d.status);
		return;
	}
	r->state = ING_SUB_VISITED;
	rs->visited++;
	ing_job_add_visit(job, &r->visit, &resource_user);
	ing_visit_start(&r->visit.visit, r->visit.url, ING_VIA_RESOURCE);
}

/* One that may have killed a process is to be alone at work. */
static unsigned most_at_once(const struct ing_job *job)
{
	return job->alone ? 1 : SIDE_BY_SIDE;
}

static void start_ready(struct ing_job *job)
{
	struct ing_job_resources *rs = resources_of(job);
	for (struct ing_resource *r = rs->first; r != NULL; r = r->next) {
		if (rs->visited >= most_at_once(job))
			return;
		if (r->state != ING_SUB_WAITS)
			continue;
		if (r->host == NULL)
			r->host = host_of(job, r->visit.url);
		if (!is_host_busy(rs, r->host))
			start(job, r);
	}
}

/* The job may be gone afterwards. */
static void start_visits(struct ing_job *job)
{
	struct ing_job_resources *rs = resources_of(job);
	rs->start_again = true;
	if (rs->starting)
		return;
	rs->starting = true;
	while (rs->start_again) {
		rs->start_again = false;
		start_ready(job);
	}
	rs->starting = false;
	if (rs->open > 0)
		ing_job_update_state(job);
	else
		ing_job_end(job, ING_STATUS_SUCCESS, NULL);
}

static bool settle(struct ing_job *job, struct ing_resource *r)
{
	if (r->status != ING_STATUS_SUCCESS)
		return false;
	if (r->file == NULL)
		r->file = ing_arena_alloc(&job->work->ar, sizeof(*r->file));
	bool is_lost = ing_visit_has_lost_answer(&r->visit.visit);
	enum ing_body_check check =
		is_lost ? ING_BODY_UNREADABLE : ing_body_settle(r->file, &r->step->capture);
	if (check == ING_BODY_CONTRADICTED) {
		ing_pool_count_false_reply(job->pipeline->stages.pool);
		r->status = ING_STATUS_PARSE_CRASH;
	} else if (check == ING_BODY_UNREADABLE) {
		r->status = ING_STATUS_WORKER_ERROR;
	}
	return check == ING_BODY_GOOD;
}

/* -------------------------------------------------------------------------------------------- */

void ing_step_walk_init(struct ing_step_walk *walk, const struct ing_work *w)
{
	const struct ing_job_publication *pub = w->job->publication;
	*walk = (struct ing_step_walk){.step = w->steps.first,
		.resource = w->resources != NULL ? w->resources->first : NULL,
		.ask = pub != NULL ? pub->first : NULL};
}

const struct ing_visit_step *ing_step_walk_next(struct ing_step_walk *walk)
{
	while (walk->step == NULL && walk->resource != NULL) {
		walk->step = walk->resource->steps.first;
		walk->resource = walk->resource->next;
	}
	while (walk->step == NULL && walk->ask != NULL) {
		walk->step = walk->ask->steps.first;
		walk->ask = walk->ask->next;
	}
	const struct ing_visit_step *step = walk->step;
	if (step != NULL)
		walk->step = step->next;
	return step;
}

enum ing_resource_mode ing_job_resource_mode(const struct ing_job *job, const struct ing_request *r)
{
	const struct ing_job_settings *s = &job->pipeline->conf.settings;
	if (!ing_artifact_type(r->type)->has_resources)
		return ING_RESOURCES_OFF;
	enum ing_resource_mode of_lane = s->lane_resources[job->lane];
	return of_lane != ING_RESOURCES_DEFAULT ? of_lane : s->resources;
}

void ing_job_visit_resources(struct ing_job *job, const struct ing_resources_found *found)
{
	struct ing_work *w = job->work;
	struct ing_pipeline *p = job->pipeline;
	struct ing_job_resources *rs = ing_arena_alloc(&w->ar, sizeof(*rs));
	rs->job = job;
	rs->strict = ing_job_resource_mode(job, w->request) == ING_RESOURCES_STRICT;
	rs->end_ms = ing_now_ms() + p->conf.settings.resources_ms;
	take_account(job, rs);
	add_all(job, &rs->first, found, 0);
	rs->listed = true;
	DL_APPEND2(p->resources, rs, earlier, later);
	if (p->resource_bytes > MAX_BYTES)
		give_up(rs, ING_STATUS_WORKER_ERROR);
	start_visits(job);
}

void ing_job_close_resources(struct ing_job *job)
{
	struct ing_job_resources *rs = job->work != NULL ? job->work->resources : NULL;
	if (rs == NULL)
		return;
	leave_list(rs);
	give_up(rs, ING_STATUS_TIMEOUT);
}

unsigned ing_job_settle_resources(struct ing_job *job)
{
	struct ing_job_resources *rs = resources_of(job);
	if (rs == NULL)
		return 0;
	for (struct ing_resource *r = rs->first; r != NULL; r = r->next)
		rs->failed += !settle(job, r);
	return rs->failed;
}

void ing_pipeline_check_resources(struct ing_pipeline *p, uint64_t now_ms)
{
	struct ing_job_resources *rs, *later;
	uint64_t passed_ms = p->resources_checked_ms > 0 ? now_ms - p->resources_checked_ms : 0;
	p->resources_checked_ms = now_ms;
	DL_FOREACH_SAFE2(p->resources, rs, later, later)
	{
		/* A host that is paused only keeps its own resources from the page. */
		if (ing_pipeline_is_paused(p, (enum ing_lane)rs->job->lane))
			rs->end_ms += passed_ms;
		else if (now_ms >= rs->end_ms)
			ing_job_end(rs->job, ING_STATUS_SUCCESS, NULL);
	}
}
