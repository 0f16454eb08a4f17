/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs: how they are born, the states they may be in, how they are called off and freed. What moves
 * them on is in the other files of the pipeline. Loop thread.
 *
 * What surprises: a cancelled job whose transfer or records are under way cannot be freed before
 * those callbacks have come.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/pool.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/resource.h"
#include "worker/store/lookup/lookup.h"

#define TICK_MS 100
#define ALONE_TICK_MS 10 /* while everybody waits for one */

#define STATE(s) (1u << ING_JOB_##s)

/* For each state, the states it may be left for. */
static const unsigned edges[ING_JOB_STATES_] = {
	[ING_JOB_NEW] = STATE(LOOKING_UP) | STATE(WAITING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_LOOKING_UP] = STATE(WAITING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_WAITING] = STATE(GATED) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_GATED] = STATE(FETCHING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_FETCHING] = STATE(GATED) | STATE(EXAMINING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_EXAMINING] = STATE(GATED) | STATE(FETCHING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_ARCHIVING] = STATE(DERIVING) | STATE(CANCELLED),
	[ING_JOB_DERIVING] = STATE(CANCELLED),
};

/* --- states --- */

void ing_job_set_state(struct ing_job *job, enum ing_job_state state)
{
	struct ing_pipeline *p = job->pipeline;
	ing_must(edges[job->state] & (1u << state));
	p->stats.by_state[job->state]--;
	p->stats.by_state[state]++;
	job->state = (uint8_t)state;
	ing_job_note_stage(job);
}

/* --- birth and death --- */

/* The list of a partition's jobs, so that a revocation need not look at those of the others. */
static struct ing_job **jobs_of(struct ing_pipeline *p, int32_t partition_index)
{
	ing_must(partition_index >= 0);
	size_t slot = (size_t)partition_index;
	if (slot >= p->slot_count) {
		p->jobs = ing_realloc(p->jobs, (slot + 1) * sizeof(*p->jobs));
		while (p->slot_count <= slot)
			p->jobs[p->slot_count++] = NULL;
	}
	return &p->jobs[slot];
}

static size_t message_size(const struct ing_job_message *m)
{
	return sizeof(*m) + m->value_bytes + m->key_bytes;
}

static struct ing_job_message *keep_message(
	const struct ing_message *m, const struct ing_parked *parked)
{
	size_t key_bytes = m->key != NULL ? m->key_bytes : 0;
	struct ing_job_message *kept = ing_alloc(sizeof(*kept) + m->value_bytes + key_bytes);
	kept->first_seen_ms = parked->first_seen_ms;
	kept->attempt = parked->attempt;
	kept->parkings = (uint16_t)parked->parkings;
	kept->replays = (uint16_t)parked->replays;    /* ING_PARKED_MAX_ATTEMPT at most */
	kept->value_bytes = (uint32_t)m->value_bytes; /* ING_MAX_REQUEST_BYTES at most */
	kept->key_bytes = (uint32_t)key_bytes;
	kept->has_key = m->key != NULL;
	memcpy(kept->data, m->value, m->value_bytes);
	if (key_bytes > 0)
		memcpy(kept->data + m->value_bytes, m->key, key_bytes);
	return kept;
}

static struct ing_job *new_job(struct ing_pipeline *p, const struct ing_message *m,
	const struct ing_parked *parked, bool alone)
{
	struct ing_job *job = ing_alloc(sizeof(*job));
	job->magic = ING_JOB_MAGIC;
	job->pipeline = p;
	job->token = m->token;
	job->lane = (uint8_t)m->lane;
	job->alone = alone;
	job->accepted_ms = ing_now_ms();
	job->message = keep_message(m, parked);
	p->message_bytes += message_size(job->message);
	ing_job_init_visits(job);
	struct ing_job **jobs = jobs_of(p, job->token.partition_index);
	DL_APPEND(*jobs, job);
	p->job_count++;
	p->lane_jobs[job->lane]++;
	p->stats.accepted++;
	p->stats.accepted_by_lane[job->lane]++;
	p->stats.by_state[ING_JOB_NEW]++;
	return job;
}

void ing_job_start_work(struct ing_job *job)
{
	struct ing_work *w = ing_alloc(sizeof(*w));
	struct ing_error err = {0};
	job->work = w;
	ing_job_enter_stage(job, ING_STAGE_INTAKE);
	int rc =
		ing_request_parse(job->message->data, job->message->value_bytes, &w->request, &err);
	ing_must(rc == 0); /* the same bytes were parsed at intake */
	ing_arena_init(&w->ar);
	struct ing_decision d = ing_pipeline_start(job->pipeline, w->request, NULL, NULL);
	w->start = ing_arena_strdup(&w->ar, d.url);
	w->dropped_userinfo = d.dropped_userinfo;
	free(d.url);
	w->job = job;
	ing_visit_steps_init(&w->steps);
	w->further_end = &w->further;
	ing_work_clock_init(&w->clock, job->pipeline->conf.settings.deadline_ms);
}

static void free_work(struct ing_work *w)
{
	if (w == NULL)
		return;
	ing_must(w->exams == NULL && w->reading == NULL);
	ing_exchange_unref(w->document);
	ing_visit_steps_done(&w->steps);
	ing_request_free(w->request);
	ing_artifact_done(&w->artifact);
	ing_arena_done(&w->ar);
	free(w);
}

void ing_job_account_derived(struct ing_job *job, size_t bytes)
{
	struct ing_pipeline *p = job->pipeline;
	size_t *account = job->publication != NULL       ? &p->publications.bytes
			  : job->work->resources != NULL ? &p->resource_bytes
							 : &p->derived_bytes;
	*account += bytes - job->work->derived_bytes;
	job->work->derived_bytes = bytes;
}

void ing_job_free(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	ing_must(ing_job_is_idle(job) && job->question == NULL);
	ing_job_leave_turn(job);
	if (job->work != NULL) {
		ing_job_account_derived(job, 0);
		ing_job_close_resources(job);
		ing_journal_leave(p->stages.journal, &job->work->mark);
	}
	p->stats.by_state[job->state]--;
	struct ing_job **jobs = jobs_of(p, job->token.partition_index);
	DL_DELETE(*jobs, job);
	p->job_count--;
	p->lane_jobs[job->lane]--;
	ing_job_leave_share(job);
	ing_job_free_publication(job);
	free_work(job->work);
	p->message_bytes -= message_size(job->message);
	free(job->message);
	job->magic = 0;
	free(job);
}

/* A transfer under way keeps its host until it ends, unless there is no time for that (at_once). */
static void cancel_job(struct ing_job *job, bool at_once)
{
	ing_lookup_cancel(ING_TAKE(job->question));
	ing_job_cancel_exams(job);
	ing_job_cancel_deriving(job);
	ing_job_cancel_visits(job, at_once);
	ing_job_close_resources(job); /* a transfer may last longer than their time */
	ing_job_close_publication(job);
	if (job->state != ING_JOB_CANCELLED) {
		ing_job_set_state(job, ING_JOB_CANCELLED);
		job->pipeline->stats.cancelled++;
	}
	if (!ing_job_owes(job))
		ing_job_free(job);
}

bool ing_job_drop_cancelled(struct ing_job *job)
{
	if (job->state != ING_JOB_CANCELLED)
		return false;
	if (!ing_job_owes(job))
		ing_job_free(job);
	return true;
}

/* What need not, or cannot, end before the worker does is left to the next owner. */
static void drop_waiting(struct ing_pipeline *p)
{
	for (size_t i = 0; i < p->slot_count; i++) {
		struct ing_job *job;
		struct ing_job *next;
		DL_FOREACH_SAFE (p->jobs[i], job, next) {
			if (job->state == ING_JOB_LOOKING_UP || job->state == ING_JOB_WAITING ||
				(job->state == ING_JOB_GATED &&
					(ing_job_waits_for_hold(job) ||
						ing_job_is_ordered_to_wait(job))))
				cancel_job(job, false);
		}
	}
}

/* A request that can be read. */
static void take_request(struct ing_pipeline *p, const struct ing_message *m,
	const struct ing_request *request, const struct ing_decision *start, bool alone)
{
	const char *not_handled = ing_artifact_type(request->type)->not_handled;
	bool is_over = not_handled != NULL || start->step == ING_STEP_END;
	struct ing_arrival arrival;
	ing_pipeline_receive(p, m, is_over ? NULL : start->url, &arrival);
	if (arrival.tier >= 0 && !ing_pipeline_looks_up(p, request, m->lane)) {
		ing_pipeline_park_message(p, m, start->url, &arrival);
		return;
	}
	struct ing_job *job = new_job(p, m, &arrival.parked, alone);
	if (ing_artifact_type(request->type)->is_assembled && !is_over)
		ing_job_init_publication(job, request->publication.quick, start->url);
	if (arrival.tier < 0 && arrival.host[0] != '\0')
		ing_job_reserve_share(job, &arrival);
	if (not_handled != NULL)
		ing_job_end(job, ING_STATUS_NOT_IMPLEMENTED, not_handled);
	else if (is_over)
		ing_job_end(job, start->status, start->detail);
	else if (ing_job_look_up(job, request))
		return;
	else if (arrival.too_old)
		ing_job_end_crowded(job);
	else
		ing_job_wait(job, start->url);
}

static void accept_message(struct ing_pipeline *p, const struct ing_message *m, bool alone)
{
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	if (ing_request_parse(m->value, m->value_bytes, &request, &err) != 0) {
		ing_pipeline_dead_letter(p, m, &err);
		ing_pipeline_balance(p);
		return;
	}
	struct ing_decision start =
		ing_pipeline_start(p, request, ing_visits_judge, p->stages.visits);
	take_request(p, m, request, &start, alone);
	free(start.url);
	ing_request_free(request);
}

static void on_tick(uv_timer_t *timer)
{
	struct ing_pipeline *p = timer->data;
	ing_pipeline_check_deadlines(p, ing_now_ms());
	ing_pipeline_check_resources(p, ing_now_ms());
	ing_pipeline_check_publications(p, ing_now_ms());
	if (p->draining)
		drop_waiting(p);
	ing_pipeline_serve_suspects(p);
	ing_pipeline_balance(p);
	uv_timer_set_repeat(timer, ing_pipeline_waits_for_suspects(p) ? ALONE_TICK_MS : TICK_MS);
}

static void on_closed(uv_handle_t *handle)
{
	struct ing_pipeline *p = handle->data;
	if (--p->open_handles > 0)
		return;
	ing_pipeline_done_parking(p);
	free(p->jobs);
	free(p);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_pipeline *ing_pipeline_new(struct uv_loop_s *loop, const struct ing_pipeline_conf *conf)
{
	struct ing_pipeline *p = ing_alloc(sizeof(*p));
	p->conf = *conf;
	ing_pipeline_init_parking(p);
	uv_timer_init(loop, &p->tick);
	uv_idle_init(loop, &p->delivering);
	uv_prepare_init(loop, &p->turn);
	p->tick.data = p->delivering.data = p->turn.data = p;
	p->open_handles = 3;
	return p;
}

void ing_pipeline_wire(struct ing_pipeline *p, const struct ing_stages *stages)
{
	p->stages = *stages;
	uv_timer_start(&p->tick, on_tick, TICK_MS, TICK_MS);
}

void ing_pipeline_free(struct ing_pipeline *p)
{
	if (p == NULL)
		return;
	ing_must(p->job_count == 0);
	uv_close((uv_handle_t *)&p->tick, on_closed);
	uv_close((uv_handle_t *)&p->delivering, on_closed);
	uv_close((uv_handle_t *)&p->turn, on_closed);
}

void ing_pipeline_on_message(struct ing_pipeline *p, const struct ing_message *m)
{
	if (p->draining)
		return; /* never finished, so it comes again to whoever is next */
	if (m->answer != NULL) {
		ing_pipeline_commit_answer(p, m);
		return;
	}
	if (ing_pipeline_take_suspect(p, m))
		ing_pipeline_balance(p);
	else
		ing_pipeline_accept(p, m, false);
}

void ing_pipeline_accept(struct ing_pipeline *p, const struct ing_message *m, bool alone)
{
	struct ing_source source;
	if (p->stages.journal != NULL && ing_intake_source(p->stages.intake, m->token, &source))
		ing_journal_enter(p->stages.journal, &p->parsing, &source, ING_STAGE_INTAKE);
	accept_message(p, m, alone);
	ing_journal_leave(p->stages.journal, &p->parsing);
	if (ing_pipeline_is_full(p, m->lane))
		ing_pipeline_balance(p);
}

void ing_pipeline_on_revoked(struct ing_pipeline *p, int32_t partition_index, uint32_t epoch)
{
	struct ing_job *job;
	struct ing_job *next;
	DL_FOREACH_SAFE (*jobs_of(p, partition_index), job, next) {
		if (job->token.epoch == epoch)
			cancel_job(job, false);
	}
	ing_pipeline_drop_suspects(p, &(struct ing_token){partition_index, epoch, 0});
	ing_deliver_revoke(p->stages.deliver, partition_index, epoch);
}

void ing_pipeline_drain(struct ing_pipeline *p)
{
	p->draining = true;
	ing_pipeline_drop_suspects(p, NULL);
	ing_pipeline_balance(p);
	drop_waiting(p);
}

void ing_pipeline_cancel(struct ing_pipeline *p)
{
	for (size_t i = 0; i < p->slot_count; i++) {
		struct ing_job *job;
		struct ing_job *next;
		DL_FOREACH_SAFE (p->jobs[i], job, next)
			cancel_job(job, true);
	}
	ing_deliver_cancel(p->stages.deliver);
}

/* Captures are of robots fetches, which wait for them. */
bool ing_pipeline_idle(const struct ing_pipeline *p)
{
	const struct ing_deliver_load *load = ing_deliver_load(p->stages.deliver);
	return p->job_count + load->results + load->parked + load->dead_letters == 0;
}

const char *ing_pipeline_blocked_by(const struct ing_pipeline *p)
{
	return p->blocked_by;
}

void ing_pipeline_stats(const struct ing_pipeline *p, struct ing_pipeline_stats *ret)
{
	const struct ing_deliver_load *load = ing_deliver_load(p->stages.deliver);
	*ret = p->stats;
	struct ing_flow flow;
	ing_pipeline_flow(p, &flow);
	ret->hold_ms = flow.hold != ING_FLOW_ORDER ? flow.hold_ms : 0;
	for (int i = 0; i < ING_LANES_; i++)
		ret->jobs_by_lane[i] = flow.lanes[i].jobs;
	ret->jobs = p->job_count + load->results;
	ret->held_by_orders = ing_visits_held_by_orders(p->stages.visits);
	ret->publications = p->publications.begun_count;
	ret->publications_held_back = p->publications.held_back_count;
	ret->publication_bytes = p->publications.bytes;
	ret->cancelled += load->cancelled_total;
	ret->by_state[ING_JOB_CANCELLED] += load->cancelled;
	/* Jobs are appended in order of arrival, so the first one of a list is its oldest. */
	uint64_t oldest_ms = ing_deliver_oldest_ms(p->stages.deliver);
	for (size_t i = 0; i < p->slot_count; i++)
		if (p->jobs[i] != NULL)
			oldest_ms = ING_MIN(oldest_ms, p->jobs[i]->accepted_ms);
	ret->oldest_ms = oldest_ms != UINT64_MAX ? ing_now_ms() - oldest_ms : 0;
}
