/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a URL comes to be asked for: robots.txt, the gate, and both again for each further try. Loop
 * thread; the callbacks are those of the gate and of robots, which never come from inside a call.
 *
 * What surprises: rules and robots.txt are asked twice, when a job begins to wait and when it is
 * admitted. It may have waited for hours, and a host blocked by its operator, or by itself, is to
 * be left alone within a minute. A job that has not been admitted waits without its URL, which is
 * in its message.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/fetch/fetch.h"
#include "worker/job/pipeline_priv.h"
#include "worker/rules/url_policy.h"
#include "worker/visit/retry.h"
#include "worker/visit/robots_fetch.h"

#define ROBOTS_NS 5000000u /* of a turn, for asking robots.txt files that are there */

/* The place where a request leaves because its host cannot be asked now. One that is to come back
 * by itself in retry_after_s would be handed on from here: nothing else knows that it waits for its
 * host and for nothing else. */
static void end_for_host(struct ing_job *job, unsigned retry_after_s, const char *words)
{
	if (job->work == NULL)
		ing_job_start_work(job);
	job->work->retry_after_s = ING_MAX(retry_after_s, 1);
	ing_job_end(job, ING_STATUS_HOST_BACKOFF, words);
}

static struct ing_robots_view ask_robots(struct ing_job *job, const char *url)
{
	const struct ing_stages *s = &job->pipeline->stages;
	if (s->robots == NULL)
		return (struct ing_robots_view){.verdict = ING_ROBOTS_ALLOWED};
	struct ing_pipeline *p = job->pipeline;
	uint64_t started_ns = ing_thread_cpu_ns();
	struct ing_robots_view view = ing_robots_ask(s->robots, url, &job->robots);
	p->robots_ns += ing_thread_cpu_ns() - started_ns;
	uv_idle_start(&p->waking, ing_pipeline_on_waking); /* counts anew with the next turn */
	if (view.verdict == ING_ROBOTS_PENDING && s->fetches != NULL)
		ing_robots_fetch_hurry(s->fetches, job->robots.entry, (enum ing_lane)job->lane);
	return view;
}

static void add_hop(struct ing_job *job, const char *url, enum ing_via via)
{
	struct ing_work *w = job->work;
	struct ing_hop *hop = ing_arena_alloc(&w->ar, sizeof(*hop));
	hop->job = job;
	hop->url = hop->capture.url = url;
	hop->via = via;
	hop->jar_version = ing_cookies_version(w->jar);
	*w->hops_tail = hop;
	w->hops_tail = &hop->next;
	w->hop = hop;
	w->hop_count++;
}

/* Forbidden (until it is asked for again, when the file is unreachable), or nobody could be asked
 * whether it is. In the latter case the URL counts as asked for: its host was, and it is where the
 * chain ends. */
static void end_by_robots(struct ing_job *job, const struct ing_robots_view *view)
{
	if (view->verdict == ING_ROBOTS_FAILED && view->outcome == ING_STATUS_HOST_BACKOFF) {
		end_for_host(job, view->retry_after_s, view->words);
		return;
	}
	if (job->work == NULL)
		ing_job_start_work(job);
	struct ing_work *w = job->work;
	w->retry_after_s = view->retry_after_s;
	if (view->verdict == ING_ROBOTS_FAILED && view->outcome != ING_STATUS_SKIP_URL_BLOCKLIST)
		add_hop(job, w->next_url, w->next_via);
	ing_job_end(job,
		view->verdict == ING_ROBOTS_DISALLOWED ? ING_STATUS_SKIP_ROBOTS : view->outcome,
		view->words);
}

/* The job goes on in a later turn of the loop. */
static void put_off(struct ing_job *job)
{
	DL_APPEND(job->pipeline->woken, &job->robots);
	uv_idle_start(&job->pipeline->waking, ing_pipeline_on_waking);
}

/* In WAITING or GATED. on_granted(), on_refused() or on_robots() will come, unless robots.txt has
 * ended the job. A file may be made to cost milliseconds for each URL, and hundreds of redirects
 * may come in one turn: what is over a turn's time goes on in the next. */
static void queue_up(struct ing_job *job, const char *url)
{
	if (job->pipeline->robots_ns >= ROBOTS_NS) {
		put_off(job);
		return;
	}
	struct ing_robots_view view = ask_robots(job, url);
	if (view.verdict == ING_ROBOTS_PENDING)
		return;
	if (view.verdict != ING_ROBOTS_ALLOWED) {
		end_by_robots(job, &view);
		return;
	}
	const struct ing_work *w = job->work;
	ing_gate_enter(job->pipeline->stages.gate, &job->waiter, url,
		&(struct ing_gate_ticket){
			.lane = (enum ing_lane)job->lane,
			.again = w != NULL && w->next_via == ING_VIA_AGAIN,
			.delay_ms = w != NULL ? w->delay_ms : 0,
			.crawl_delay_ms = view.crawl_delay_ms,
			.robots_known = job->pipeline->stages.robots != NULL,
		});
}

/* The start of a job that has no work yet. Heap. */
static char *derive_start(const struct ing_job *job)
{
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	int rc = ing_request_parse(job->message, job->message_bytes, &request, &err);
	ing_must(rc == 0); /* the same bytes were parsed at intake */
	struct ing_decision d = ing_target_start(request->base_url, NULL, NULL);
	ing_must(d.step == ING_STEP_LINK); /* it was at intake, rules and all */
	ing_request_free(request);
	return d.url;
}

/* robots.txt is there, or will not be: both are asked anew. */
static void go_on(struct ing_job *job)
{
	if (job->work != NULL) {
		queue_up(job, job->work->next_url);
		return;
	}
	char *start = derive_start(job);
	queue_up(job, start);
	free(start);
}

/* A file may have had thousands of waiters, all woken in one call, and each means parsing a message
 * and matching a URL against a file that may be made to cost time: they go on a few at a time. */
static void on_robots(struct ing_robots_waiter *waiter)
{
	struct ing_job *job = ING_CONTAINER(waiter, struct ing_job, robots);
	ing_must(job->magic == ING_JOB_MAGIC);
	put_off(job);
}

/* Being in robots' list, which knows its entry, or in none is not being in this one. */
static void leave_woken(struct ing_pipeline *p, struct ing_robots_waiter *waiter)
{
	if (waiter->entry != NULL || waiter->prev == NULL)
		return;
	DL_DELETE(p->woken, waiter);
	waiter->prev = waiter->next = NULL;
}

static void start_fetch(struct ing_job *job)
{
	struct ing_work *w = job->work;
	const struct ing_pipeline *p = job->pipeline;
	add_hop(job, w->next_url, w->next_via);
	w->tries++;
	w->deadline_ms = ing_now_ms() + w->work_left_ms;
	ing_job_set_state(job, ING_JOB_FETCHING);
	w->transfer = ing_fetch_start(p->stages.fetch,
		&(struct ing_fetch_ask){
			.url = w->hop->url,
			.jar = w->jar,
			.referer = w->referer,
			.accept = ing_artifact_type(w->request->type)->accept,
			.deadline_ms = w->deadline_ms,
			.tls_fallback = ing_url_policy_tls_fallback(
				p->conf.host_rules, p->conf.tls_fallback, w->hop->url),
		},
		ing_job_on_fetched, job);
}

static void on_granted(struct ing_gate_waiter *waiter)
{
	struct ing_job *job = ING_CONTAINER(waiter, struct ing_job, waiter);
	ing_must(job->magic == ING_JOB_MAGIC);
	struct ing_pipeline *p = job->pipeline;
	if (job->state == ING_JOB_WAITING)
		ing_job_start_work(job);
	const struct ing_work *w = job->work;
	struct ing_decision d;
	if (ing_target_is_refused(w->next_url, w->next_via, ing_pipeline_judge, p, &d)) {
		ing_gate_leave(p->stages.gate, waiter, NULL);
		ing_job_end(job, d.status, d.detail);
		return;
	}
	struct ing_robots_view view = ask_robots(job, w->next_url);
	if (view.verdict == ING_ROBOTS_ALLOWED) {
		start_fetch(job);
		return;
	}
	ing_gate_leave(p->stages.gate, waiter, NULL);
	if (view.verdict != ING_ROBOTS_PENDING)
		end_by_robots(job, &view);
	else if (job->state == ING_JOB_WAITING)
		ing_job_set_state(job, ING_JOB_GATED); /* it has its work by now */
}

static void on_refused(
	struct ing_gate_waiter *waiter, enum ing_gate_refusal why, unsigned retry_after_s)
{
	struct ing_job *job = ING_CONTAINER(waiter, struct ing_job, waiter);
	ing_must(job->magic == ING_JOB_MAGIC);
	end_for_host(job, retry_after_s, ing_retry_gate_detail(why));
}

static const struct ing_gate_user gate_user = {.granted = on_granted, .refused = on_refused};

static uint32_t draw_random(void)
{
	uint32_t bits;
	ing_must(getrandom(&bits, sizeof(bits), 0) == sizeof(bits));
	return bits;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_url_decision ing_pipeline_judge(void *pipeline, const char *url)
{
	const struct ing_pipeline *p = pipeline;
	return ing_url_policy_decide(p->conf.url_rules, p->conf.blocked_hosts, url);
}

void ing_pipeline_on_waking(uv_idle_t *waking)
{
	struct ing_pipeline *p = waking->data;
	uint64_t until_ns = uv_hrtime() + ROBOTS_NS;
	p->robots_ns = 0;
	while (p->woken != NULL && p->robots_ns < ROBOTS_NS && uv_hrtime() < until_ns) {
		struct ing_robots_waiter *waiter = p->woken;
		leave_woken(p, waiter);
		go_on(ING_CONTAINER(waiter, struct ing_job, robots));
	}
	if (p->woken == NULL && p->robots_ns == 0)
		uv_idle_stop(waking);
}

void ing_job_init_waiting(struct ing_job *job)
{
	job->waiter.user = &gate_user;
	job->robots.done = on_robots;
}

void ing_job_wait(struct ing_job *job, const char *url)
{
	ing_job_set_state(job, ING_JOB_WAITING);
	queue_up(job, url);
}

void ing_job_go_to(struct ing_job *job, char *url, enum ing_via via)
{
	struct ing_work *w = job->work;
	if (via == ING_VIA_LINK) {
		w->landings++;
		w->redirects = w->cookie_redirects = 0;
	} else {
		w->redirects++;
	}
	w->referer = w->hop->url;
	w->next_url = ing_arena_strdup(&w->ar, url);
	w->next_via = via;
	w->tries = 0;
	w->delay_ms = 0;
	free(url);
	if (!ing_job_stop_clock(w)) {
		ing_job_end_late(job);
		return;
	}
	ing_job_set_state(job, ING_JOB_GATED);
	queue_up(job, w->next_url);
}

bool ing_job_try_again(struct ing_job *job, const struct ing_exchange *ex)
{
	struct ing_work *w = job->work;
	if (!ing_retry_worth(ex, w->tries, 0, draw_random(), &w->delay_ms) ||
		!ing_job_stop_clock(w))
		return false;
	w->next_via = ING_VIA_AGAIN;
	w->tries -= ex->starved ? 1 : 0;
	ing_exchange_unref(ING_TAKE(w->hop->exchange));
	ing_job_set_state(job, ING_JOB_GATED);
	queue_up(job, w->next_url);
	return true;
}

bool ing_job_stop_clock(struct ing_work *w)
{
	uint64_t now = ing_now_ms();
	w->work_left_ms = w->deadline_ms > now ? w->deadline_ms - now : 0;
	return w->work_left_ms > 0;
}

bool ing_job_waits_for_hold(const struct ing_job *job)
{
	const struct ing_stages *s = &job->pipeline->stages;
	return ing_gate_waits_for_hold(&job->waiter) ||
	       (job->robots.entry != NULL && s->fetches != NULL &&
		       ing_robots_fetch_waits_for_hold(s->fetches, job->robots.entry));
}

void ing_job_stop_waiting(struct ing_job *job)
{
	ing_robots_leave(&job->robots);
	leave_woken(job->pipeline, &job->robots);
	bool asked = job->work != NULL && job->work->transfer != NULL;
	ing_gate_leave(
		job->pipeline->stages.gate, &job->waiter, asked ? &ing_gate_called_off : NULL);
}
