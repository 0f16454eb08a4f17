/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Visits: how they begin, are called off and end. Loop thread.
 */
#include "worker/visit/visit.h"

#include <stdlib.h>

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/fd_shortage.h"
#include "worker/archive/archive.h"
#include "worker/disk/disk.h"
#include "worker/fetch/fetch.h"
#include "worker/rules/url_policy.h"
#include "worker/visit/visit_priv.h"

static bool waits_in_gate(const struct ing_visit *v)
{
	return v->waiter.state == ING_GATE_WAITING || v->waiter.state == ING_GATE_DELAYED;
}

/* If it waits there, or for an order to end: with another ticket. */
static void enter_gate_anew(struct ing_visit *v)
{
	if (!waits_in_gate(v) && !v->held)
		return;
	ing_visit_leave_held(v);
	ing_gate_leave(v->visits->stages.gate, &v->waiter, NULL);
	char *url = v->run == NULL ? v->user->url(v) : NULL;
	ing_visit_queue_up(v, url);
	free(url);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void ing_visit_admit(struct ing_visit *v)
{
	if (v->run != NULL)
		return;
	struct ing_visit_params params = {0};
	v->user->admitted(v, &params);
	struct ing_visit_run *r = ing_arena_alloc(params.arena, sizeof(*r));
	r->params = params;
	r->url = params.url;
	r->via = (enum ing_via)v->via;
	r->referer = params.referer;
	v->run = r;
}

void ing_visit_end(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	struct ing_visit_outcome all = *o;
	const struct ing_visit_run *r = v->run;
	if (r != NULL) {
		all.step = r->step;
		all.redirects = r->redirects;
		all.redirect_status = r->redirect_status;
		all.dropped_userinfo = r->dropped_userinfo;
		all.unverified = r->unverified;
	}
	v->state = ING_VISIT_DONE;
	v->user->done(v, &all);
}

void ing_visit_end_with(
	struct ing_visit *v, enum ing_status status, const char *detail, unsigned retry_after_s)
{
	ing_visit_end(v, &(struct ing_visit_outcome){
				 .end = ING_VISIT_ENDED,
				 .status = status,
				 .detail = detail,
				 .retry_after_s = retry_after_s,
			 });
}

/* ---------------------------------------------------------------------------------------------- */

struct ing_visits *ing_visits_new(struct uv_loop_s *loop, const struct ing_visits_conf *conf)
{
	struct ing_visits *all = ing_alloc(sizeof(*all));
	all->conf = *conf;
	uv_idle_init(loop, &all->waking);
	all->waking.data = all;
	return all;
}

void ing_visits_wire(struct ing_visits *all, const struct ing_visits_stages *stages)
{
	all->stages = *stages;
	if (stages->robots != NULL)
		ing_robots_wire(stages->robots, ing_visit_on_robots);
}

void ing_visits_free(struct ing_visits *all)
{
	if (all == NULL)
		return;
	ing_must(all->woken == NULL && all->held == NULL);
	uv_close((uv_handle_t *)&all->waking, on_closed);
}

const char *ing_visits_blocked_by(const struct ing_visits *all)
{
	const struct ing_visits_stages *s = &all->stages;
	if (ing_fd_shortage())
		return "descriptors";
	if ((s->archive != NULL && ing_archive_blocked(s->archive)) ||
		ing_fetch_blocked(s->fetch) || (s->disk != NULL && ing_disk_low(s->disk)))
		return "disk";
	return ing_gate_blocked(s->gate) ? "database" : NULL;
}

void ing_visits_hold(struct ing_visits *all, bool held)
{
	ing_gate_hold(all->stages.gate, held);
}

bool ing_visits_want_alone(const struct ing_visits *all)
{
	return ing_gate_wants_alone(all->stages.gate);
}

void ing_visits_admit_alone(struct ing_visits *all)
{
	ing_gate_admit_alone(all->stages.gate);
}

void ing_visits_alone_over(struct ing_visits *all)
{
	ing_gate_alone_over(all->stages.gate);
}

void ing_visits_set_rules(struct ing_visits *all, const struct ing_url_rules *url_rules,
	const struct ing_host_rules *host_rules)
{
	all->conf.url_rules = url_rules;
	all->conf.host_rules = host_rules;
}

bool ing_visits_host(const struct ing_visits *all, const char *url, char *ret, size_t ret_bytes)
{
	return ing_gate_url_key(all->stages.gate, url, ret, ret_bytes);
}

void ing_visits_look_ahead(
	const struct ing_visits *all, const char *host, struct ing_gate_outlook *ret)
{
	ing_gate_look_ahead(all->stages.gate, host, ret);
}

struct ing_url_decision ing_visits_judge(void *visits, const char *url)
{
	const struct ing_visits *all = visits;
	return ing_url_policy_decide(all->conf.url_rules, all->conf.blocked_hosts, url);
}

void ing_visit_init(struct ing_visit *v, struct ing_visits *all, const struct ing_visit_user *user,
	void *ctx, enum ing_lane lane)
{
	*v = (struct ing_visit){
		.magic = ING_VISIT_MAGIC,
		.visits = all,
		.user = user,
		.ctx = ctx,
		.lane = (uint8_t)lane,
	};
	ing_visit_init_waiting(v);
}

void ing_visit_start(struct ing_visit *v, const char *url, enum ing_via via)
{
	ing_must(v->state == ING_VISIT_NEW);
	v->state = ING_VISIT_WAITING;
	v->via = (uint8_t)via;
	ing_visit_begin_waiting(v);
	ing_visit_queue_up(v, url);
}

bool ing_visit_again(struct ing_visit *v)
{
	struct ing_visit_run *r = v->run;
	ing_must(v->state == ING_VISIT_DONE && r != NULL);
	if (!r->may_go_better || ing_work_clock_left(r->params.clock, ing_now_ms()) == 0)
		return false;
	r->via = ING_VIA_AGAIN;
	r->not_before_ms = ing_now_ms() + r->again_ms;
	ing_visit_wait_again(v);
	return true;
}

void ing_visit_cancel(struct ing_visit *v, bool at_once)
{
	struct ing_visit_run *r = v->run;
	bool transfers = r != NULL && r->transfer != NULL;
	if (at_once)
		ing_visit_archive_now(v);
	if (v->state == ING_VISIT_DONE)
		return;
	v->state = ING_VISIT_CANCELLED;
	if (transfers && !at_once)
		return;
	ing_visit_leave_robots(v);
	ing_gate_leave(v->visits->stages.gate, &v->waiter, transfers ? &ing_gate_cancelled : NULL);
	if (transfers) {
		ing_fetch_cancel(ING_TAKE(r->transfer));
		ing_work_clock_stop(r->params.clock, ing_now_ms());
	}
}

void ing_visit_set_lane(struct ing_visit *v, enum ing_lane lane)
{
	v->lane = (uint8_t)lane;
	enter_gate_anew(v);
}

void ing_visit_set_alone(struct ing_visit *v)
{
	if (v->alone)
		return;
	v->alone = true;
	enter_gate_anew(v);
}

const char *ing_visit_url(const struct ing_visit *v)
{
	return v->run != NULL ? v->run->url : NULL;
}

bool ing_visit_owes(const struct ing_visit *v)
{
	const struct ing_visit_run *r = v->run;
	return r != NULL &&
	       (r->archiving > 0 || (v->state == ING_VISIT_CANCELLED && r->transfer != NULL));
}

bool ing_visit_is_idle(const struct ing_visit *v)
{
	return v->waiter.state == ING_GATE_OUT && v->robots.entry == NULL &&
	       v->robots.prev == NULL && !ing_visit_owes(v);
}

bool ing_visit_waits_for_hold(const struct ing_visit *v)
{
	const struct ing_robots_fetcher *f = &v->visits->stages.robots_fetcher;
	return v->held || ing_gate_waits_for_hold(&v->waiter) ||
	       (v->robots.entry != NULL && f->ctx != NULL &&
		       f->waits_for_hold(f->ctx, v->robots.entry));
}

bool ing_visit_has_lost_answer(const struct ing_visit *v)
{
	return v->run != NULL && v->run->lost_answer;
}
