/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Transfers and what follows them: the redirect, the next try, the end. Loop thread;
 * the callbacks are those of fetch and of the archive.
 *
 * An answer is archived beside whatever is done with it, so a visit that has ended may still wait
 * for the disk.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/data/decode.h"
#include "common/record/cdx.h"
#include "worker/fetch/fetch.h"
#include "worker/rules/url_policy.h"
#include "worker/visit/answer.h"
#include "worker/visit/retry.h"
#include "worker/visit/visit_priv.h"

static uint32_t draw_random(void)
{
	uint32_t bits;
	ing_must(getrandom(&bits, sizeof(bits), 0) == sizeof(bits));
	return bits;
}

static bool is_late(const struct ing_visit *v)
{
	return ing_work_clock_left(v->run->params.clock, ing_now_ms()) == 0;
}

/* What is worth knowing of an answer, whatever becomes of it. */
static void record_answer(struct ing_visit *v, const struct ing_exchange *ex)
{
	struct ing_visit_run *r = v->run;
	struct ing_visit_step *step = r->step;
	char mimetype[ING_CDX_MIMETYPE_BYTES];
	ing_cdx_mimetype(ex->content_type, mimetype);
	step->asked = true;
	step->outcome = ex->outcome;
	step->transfer_ms = ex->total_us / 1000;
	step->answered = ex->answered;
	step->capture.http_status = ex->http_status;
	step->capture.coded = ing_decode_needed(ex->content_encoding);
	step->capture.mimetype = ing_arena_strdup(r->params.arena, mimetype);
	ing_format_dt14(ex->started, step->capture.datetime);
	ing_format_iso8601(ex->started, 6, step->capture.record_date);
	r->unverified |= ex->unverified;
	r->dropped_userinfo |= ex->dropped_userinfo;
	r->may_go_better =
		ing_retry_worth(ex, r->tries, r->params.more_tries, draw_random(), &r->again_ms);
	r->tries -= ex->no_descriptor && r->may_go_better ? 1 : 0;
	if (ex->answered && ing_answer_is_redirect(ex->http_status))
		r->redirect_status = ex->http_status;
}

/* --- what is next --- */

static uint64_t jar_version(const struct ing_visit_steps *steps)
{
	return steps->jar != NULL ? ing_cookies_version(steps->jar) : 0;
}

static bool was_asked_before(void *ctx, const char *url)
{
	const struct ing_visit *v = ctx;
	return v->user->asked_before(v, url);
}

static struct ing_url_decision judge(void *ctx, const char *url)
{
	const struct ing_visit *v = ctx;
	return ing_visits_judge(v->visits, url);
}

static struct ing_decision decide(struct ing_visit *v, const struct ing_exchange *ex)
{
	const struct ing_visit_run *r = v->run;
	const struct ing_answer_view view = {
		.url = r->url,
		.redirects = r->redirects,
		.cookie_redirects = r->cookie_redirects,
		.max_redirects = r->params.max_redirects,
		.asked_before = was_asked_before,
		.verdict = judge,
		.ctx = v,
	};
	return ing_answer_decide(&view, &(struct ing_visit_answer){
						.outcome = ex->outcome,
						.answered = ex->answered,
						.http_status = ex->http_status,
						.location = ex->location,
						.set_cookie = ex->set_cookie,
						.body_bytes = ex->body_bytes,
						.content_type = ex->content_type,
					});
}

static void end_late(struct ing_visit *v, struct ing_exchange *ex)
{
	ing_visit_end(v, &(struct ing_visit_outcome){
				 .end = ING_VISIT_ENDED,
				 .status = ING_STATUS_TIMEOUT,
				 .detail = ing_status_meaning(ING_STATUS_TIMEOUT),
				 .exchange = ex,
			 });
}

static void follow(struct ing_visit *v, struct ing_exchange *ex, const char *url)
{
	struct ing_visit_run *r = v->run;
	if (is_late(v)) { /* where it leads nobody has seen */
		end_late(v, ex);
		return;
	}
	r->redirects++;
	r->cookie_redirects += ex->set_cookie;
	r->referer = v->user->is_service ? NULL : r->url;
	r->url = ing_arena_strdup(r->params.arena, url);
	r->via = ING_VIA_REDIRECT;
	r->tries = 0;
	r->not_before_ms = 0;
	ing_visit_wait_again(v);
}

/* The chain ends here, unless the next try may go better. */
static void end_after_answer(
	struct ing_visit *v, struct ing_exchange *ex, const struct ing_decision *d)
{
	if (ing_visit_again(v))
		return;
	if (ex->outcome != ING_STATUS_SUCCESS && is_late(v)) {
		end_late(v, ex);
		return;
	}
	const char *detail = ex->detail[0] != '\0' ? ex->detail : NULL;
	ing_visit_end(v, &(struct ing_visit_outcome){
				 .end = ING_VISIT_ENDED,
				 .status = d->status,
				 .detail = d->detail != NULL ? d->detail : detail,
				 .exchange = ex,
			 });
}

/* v may be gone afterwards. */
static void go_on_after_answer(struct ing_visit *v, struct ing_exchange *ex)
{
	struct ing_decision d = decide(v, ex);
	v->run->dropped_userinfo |= d.dropped_userinfo;
	v->state = ING_VISIT_DONE; /* unless it waits again */
	switch (d.step) {
	case ING_STEP_EXAMINE:
		ing_visit_end(
			v, &(struct ing_visit_outcome){.end = ING_VISIT_EXAMINE, .exchange = ex});
		break;
	case ING_STEP_WALLS:
		ing_visit_end(v, &(struct ing_visit_outcome){.end = ING_VISIT_WALLS,
					 .status = ING_STATUS_TERMINAL_BAD_STATUS,
					 .exchange = ex});
		break;
	case ING_STEP_REDIRECT:
	case ING_STEP_LINK:
		follow(v, ex, d.url);
		free(d.url);
		break;
	case ING_STEP_END:
		end_after_answer(v, ex, &d);
		break;
	}
}

static void note_wait(const struct ing_visit *v, uint64_t now_ms)
{
	v->run->step->waited = (struct ing_visit_wait){
		.total_ms = (uint32_t)now_ms - v->since_ms,
		.robots_ms = v->robots_ms,
		.host_ms = (uint32_t)ING_MIN(v->waiter.waited_ms, (uint64_t)UINT32_MAX),
		.before = v->waiter.before,
	};
}

static void on_fetched(void *ctx, struct ing_exchange *ex)
{
	struct ing_visit *v;
	ING_CAST_OBJ(v, ctx, ING_VISIT_MAGIC);
	struct ing_visit_run *r = v->run;
	r->transfer = NULL;
	ing_work_clock_stop(r->params.clock, ing_now_ms());
	struct ing_gate_report report = ing_retry_report(ex);
	ing_gate_leave(v->visits->stages.gate, &v->waiter, &report);
	if (v->state == ING_VISIT_CANCELLED) {
		if (!ing_visit_owes(v))
			v->user->settled(v);
	} else {
		if (ex->no_descriptor && v->user->no_descriptor != NULL)
			v->user->no_descriptor(v);
		record_answer(v, ex);
		ing_visit_archive(v, ex);
		go_on_after_answer(v, ex);
	}
	ing_exchange_unref(ex);
}

/* ---------------------------------------------------------------------------------------------- */

void ing_visit_steps_init(struct ing_visit_steps *steps)
{
	*steps = (struct ing_visit_steps){.jar = ing_cookies_new()};
}

void ing_visit_steps_done(struct ing_visit_steps *steps)
{
	ing_cookies_free(ING_TAKE(steps->jar));
}

bool ing_visit_steps_have(const struct ing_visit_steps *steps, const char *url)
{
	uint64_t version = jar_version(steps);
	for (const struct ing_visit_step *s = steps->first; s != NULL; s = s->next) {
		if (s->jar_version == version && strcmp(s->url, url) == 0)
			return true;
	}
	return false;
}

void ing_visit_add_step(struct ing_visit *v)
{
	struct ing_visit_run *r = v->run;
	const struct ing_visit_params *params = &r->params;
	struct ing_visit_step *step = ing_arena_alloc(params->arena, sizeof(*step));
	step->visit = v;
	step->url = step->capture.url = r->url;
	step->via = r->via;
	step->jar_version = jar_version(params->steps);
	if (params->steps->last != NULL)
		params->steps->last->next = step;
	else
		params->steps->first = step;
	params->steps->last = step;
	params->steps->count++;
	r->step = step;
}

void ing_visit_ask(struct ing_visit *v)
{
	struct ing_visit_run *r = v->run;
	const struct ing_visits *all = v->visits;
	uint64_t now_ms = ing_now_ms();
	ing_visit_add_step(v);
	note_wait(v, now_ms);
	r->tries++;
	v->state = ING_VISIT_TRANSFER;
	if (v->user->changed != NULL)
		v->user->changed(v);
	ing_work_clock_start(r->params.clock, now_ms);
	r->transfer = ing_fetch_start(all->stages.fetch,
		&(struct ing_fetch_request){
			.url = r->url,
			.jar = r->params.steps->jar,
			.referer = r->referer,
			.accept = r->params.accept,
			.deadline_ms = now_ms + ing_work_clock_left(r->params.clock, now_ms),
			.max_body_bytes = r->params.max_body_bytes,
			.tls_fallback = ing_url_policy_tls_fallback(
				all->conf.host_rules, all->conf.tls_fallback, r->url),
		},
		on_fetched, v);
}

void ing_visit_wait_again(struct ing_visit *v)
{
	v->state = ING_VISIT_WAITING;
	ing_visit_begin_waiting(v);
	if (v->user->changed != NULL)
		v->user->changed(v);
	ing_visit_queue_up(v, NULL);
}
