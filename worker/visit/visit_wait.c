/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a URL comes to be asked for: robots.txt, the gate, and both again for each redirect and try.
 * Loop thread; the callbacks are those of the gate and of robots, which never come from inside a
 * call.
 *
 * What surprises: rules and robots.txt are asked twice, when a visit begins to wait and when it is
 * admitted. It may have waited for hours, and a host blocked by its operator, or by itself, is to
 * be left alone within a minute. A visit that has not been admitted waits without its URL, which
 * its owner has.
 */
#include <stdlib.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/model/source.h"
#include "worker/visit/retry.h"
#include "worker/visit/visit_priv.h"

#define ROBOTS_NS 5000000u /* of a turn, for asking robots.txt files that are there */

static void tell_fetcher(const struct ing_visit *v)
{
	const struct ing_robots_fetcher *f = &v->visits->stages.robots_fetcher;
	struct ing_source source;
	f->raise_lane(f->ctx, v->robots.entry, (enum ing_lane)v->lane);
	if (f->asked_by != NULL && v->user->source != NULL && v->user->source(v, &source))
		f->asked_by(f->ctx, v->robots.entry, &source, v->alone);
}

static bool asks_robots(const struct ing_visit *v)
{
	bool is_first = v->run == NULL || v->run->redirects == 0;
	return v->visits->stages.robots != NULL && !v->user->is_robots_txt &&
	       !(v->user->is_service && is_first);
}

static struct ing_robots_view ask_robots(struct ing_visit *v, const char *url)
{
	struct ing_visits *all = v->visits;
	const struct ing_visits_stages *s = &all->stages;
	if (!asks_robots(v))
		return (struct ing_robots_view){.verdict = ING_ROBOTS_ALLOWED};
	uint64_t started_ns = ing_thread_cpu_ns();
	struct ing_robots_view view = ing_robots_ask(s->robots, url, &v->robots);
	all->robots_ns += ing_thread_cpu_ns() - started_ns;
	uv_idle_start(&all->waking, ing_visits_on_waking); /* counts anew with the next turn */
	if (view.verdict == ING_ROBOTS_PENDING && s->robots_fetcher.ctx != NULL)
		tell_fetcher(v);
	return view;
}

/* Forbidden (until it is asked for again, when the file is unreachable), or nobody could be asked
 * whether it is. In the latter case the URL counts as asked for: its host was, and it is where the
 * chain ends. */
static void end_by_robots(struct ing_visit *v, const struct ing_robots_view *view)
{
	if (view->verdict == ING_ROBOTS_DISALLOWED) {
		ing_visit_end_with(v, ING_STATUS_SKIP_ROBOTS, view->detail, view->retry_after_s);
		return;
	}
	unsigned retry_after_s = view->retry_after_s;
	if (view->outcome == ING_STATUS_HOST_BACKOFF) {
		retry_after_s = ING_MAX(retry_after_s, 1);
	} else if (view->outcome != ING_STATUS_SKIP_URL_BLOCKLIST) {
		ing_visit_admit(v);
		ing_visit_add_step(v);
	}
	ing_visit_end_with(v, view->outcome, view->detail, retry_after_s);
}

/* The visit goes on in a later turn of the loop. */
static void put_off(struct ing_visit *v)
{
	DL_APPEND(v->visits->woken, &v->robots);
	uv_idle_start(&v->visits->waking, ing_visits_on_waking);
}

/* Second tries, and what belongs to a page or a publication that waits in memory for it. */
static bool goes_first(const struct ing_visit *v)
{
	return v->user->is_robots_txt || v->via == ING_VIA_RESOURCE ||
	       (v->run != NULL && v->run->via == ING_VIA_AGAIN);
}

static void enter_gate(struct ing_visit *v, const char *url, unsigned crawl_delay_ms)
{
	const struct ing_visit_run *r = v->run;
	uint64_t now_ms = ing_now_ms();
	bool delayed = r != NULL && r->not_before_ms > now_ms;
	ing_gate_enter(v->visits->stages.gate, &v->waiter, url,
		&(struct ing_gate_ticket){
			.lane = (enum ing_lane)v->lane,
			.again = goes_first(v),
			.delay_ms = delayed ? (unsigned)(r->not_before_ms - now_ms) : 0,
			.alone = v->alone,
			.crawl_delay_ms = crawl_delay_ms,
			.robots_known = asks_robots(v),
		});
}

/* robots.txt is there, or will not be: both are asked anew. */
static void go_on(struct ing_visit *v)
{
	char *url = v->run == NULL ? v->user->url(v) : NULL;
	ing_visit_queue_up(v, url);
	free(url);
}

/* Being in robots' list, which knows its entry, or in none is not being in this one. */
static void leave_woken(struct ing_visits *all, struct ing_robots_waiter *waiter)
{
	if (waiter->entry != NULL || waiter->prev == NULL)
		return;
	DL_DELETE(all->woken, waiter);
	waiter->prev = waiter->next = NULL;
}

static void on_granted(struct ing_gate_waiter *waiter)
{
	struct ing_visit *v = ING_CONTAINER(waiter, struct ing_visit, waiter);
	ing_must(v->magic == ING_VISIT_MAGIC);
	struct ing_visits *all = v->visits;
	if (ing_visit_obey_at_turn(v))
		return;
	ing_visit_admit(v);
	const struct ing_visit_run *r = v->run;
	struct ing_decision d;
	if (ing_target_is_refused(r->url, r->via, ing_visits_judge, all, &d)) {
		ing_gate_leave(all->stages.gate, waiter, NULL);
		ing_visit_end_with(v, d.status, d.detail, 0);
		return;
	}
	struct ing_robots_view view = ask_robots(v, r->url);
	if (view.verdict == ING_ROBOTS_ALLOWED) {
		ing_visit_ask(v);
		return;
	}
	ing_gate_leave(all->stages.gate, waiter, NULL);
	if (view.verdict != ING_ROBOTS_PENDING)
		end_by_robots(v, &view);
}

static void on_refused(
	struct ing_gate_waiter *waiter, enum ing_gate_refusal reason, unsigned retry_after_s)
{
	struct ing_visit *v = ING_CONTAINER(waiter, struct ing_visit, waiter);
	char detail[ING_RETRY_DETAIL_BYTES];
	ing_must(v->magic == ING_VISIT_MAGIC);
	ing_retry_gate_detail(reason, waiter->before, detail);
	ing_visit_end_with(v, ING_STATUS_HOST_BACKOFF, detail, ING_MAX(retry_after_s, 1));
}

static const struct ing_gate_user gate_user = {.granted = on_granted, .refused = on_refused};

/* ---------------------------------------------------------------------------------------------- */

void ing_visit_init_waiting(struct ing_visit *v)
{
	v->waiter.user = &gate_user;
}

void ing_visit_begin_waiting(struct ing_visit *v)
{
	v->since_ms = (uint32_t)ing_now_ms();
	v->robots_ms = 0;
}

/* A file may have had thousands of waiters, all woken in one call, and each means finding out its
 * URL and matching it against a file that may be made to cost time: they go on a few at a time. */
void ing_visit_on_robots(struct ing_robots_waiter *waiter)
{
	struct ing_visit *v = ING_CONTAINER(waiter, struct ing_visit, robots);
	ing_must(v->magic == ING_VISIT_MAGIC);
	v->robots_ms = (uint32_t)ing_now_ms() - v->since_ms;
	put_off(v);
}

/* A file may be made to cost milliseconds for each URL, and hundreds of redirects may come in one
 * turn: what is over a turn's time goes on in the next. */
void ing_visit_queue_up(struct ing_visit *v, const char *url)
{
	const char *next = url != NULL ? url : v->run->url;
	if (!v->user->is_robots_txt && v->visits->robots_ns >= ROBOTS_NS) {
		put_off(v);
		return;
	}
	if (v->user->may_wait != NULL && !v->user->may_wait(v, next))
		return;
	if (ing_visit_obey(v, next))
		return;
	struct ing_robots_view view = ask_robots(v, next);
	if (view.verdict == ING_ROBOTS_PENDING)
		return;
	if (view.verdict == ING_ROBOTS_ALLOWED)
		enter_gate(v, next, view.crawl_delay_ms);
	else
		end_by_robots(v, &view);
}

void ing_visit_leave_robots(struct ing_visit *v)
{
	ing_visit_leave_held(v);
	ing_robots_leave(&v->robots);
	leave_woken(v->visits, &v->robots);
}

void ing_visits_on_waking(uv_idle_t *waking)
{
	struct ing_visits *all = waking->data;
	uint64_t until_ns = uv_hrtime() + ROBOTS_NS;
	all->robots_ns = 0;
	while (all->woken != NULL && all->robots_ns < ROBOTS_NS && uv_hrtime() < until_ns) {
		struct ing_robots_waiter *waiter = all->woken;
		leave_woken(all, waiter);
		go_on(ING_CONTAINER(waiter, struct ing_visit, robots));
	}
	if (all->woken == NULL && all->robots_ns == 0)
		uv_idle_stop(waking);
}
