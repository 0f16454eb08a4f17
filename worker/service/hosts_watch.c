/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate only counts; what has changed is found by comparing with the last line. A breaker that
 * is tried and opens anew has opened once more. The host to name is looked for only when a line is
 * due.
 */
#include "worker/service/hosts_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/gate/gate.h"
#include "worker/gate/robots/robots.h"

struct longest {
	bool found;
	char key[300];
	unsigned failures;
	uint64_t rest_ms;
};

static void consider(void *ctx, const struct ing_gate_host_view *v)
{
	struct longest *best = ctx;
	if (v->backoff.breaker == ING_BREAKER_CLOSED ||
		(best->found && v->rest_ms <= best->rest_ms))
		return;
	best->found = true;
	best->failures = v->backoff.failures;
	best->rest_ms = v->rest_ms;
	snprintf(best->key, sizeof(best->key), "%s", v->key);
}

static void add_longest(const struct ing_gate *g, struct ing_buf *out)
{
	struct longest best = {0};
	ing_gate_each(g, consider, &best);
	if (best.found)
		ing_buf_printf(out, "; longest: %s, %u failure%s in a row, held for %" PRIu64 " s",
			best.key, best.failures, ING_PLURAL_S(best.failures),
			(best.rest_ms + 999) / 1000);
}

/* --- what keeps requests waiting --- */

#define MOST_SAID 8

struct holder {
	char key[300];
	uint64_t rest_ms;
	enum ing_rest rest;
	unsigned failures, waiting;
};

struct waits {
	struct holder best[MOST_SAID]; /* the longest rest first */
	unsigned have, most, hosts;
	bool everyday;
	uint64_t now_ms;
};

static void consider_waits(void *ctx, const struct ing_gate_host_view *v)
{
	struct waits *w = ctx;
	unsigned waiting = ing_gate_count_waiting(v);
	if (waiting == 0 || v->rest_ms == 0 ||
		!(w->everyday || ing_host_backoff_is_hold(&v->backoff, w->now_ms)))
		return;
	w->hosts++;
	unsigned place = w->have;
	while (place > 0 && w->best[place - 1].rest_ms < v->rest_ms)
		place--;
	if (place >= w->most)
		return;
	w->have = ING_MIN(w->have + 1, w->most);
	memmove(&w->best[place + 1], &w->best[place],
		(w->have - place - 1) * sizeof(struct holder));
	struct holder *h = &w->best[place];
	*h = (struct holder){.rest_ms = v->rest_ms,
		.rest = v->backoff.rest,
		.failures = v->backoff.failures,
		.waiting = waiting};
	snprintf(h->key, sizeof(h->key), "%s", v->key);
}

/* Those who wait for the host's robots.txt are not in its queue, but the one that gets it is. */
static unsigned count_requests(const struct holder *h, const struct ing_robots *robots)
{
	struct ing_robots_info info = {0};
	if (robots != NULL)
		ing_robots_explain(robots, h->key, &info);
	return info.waiting > 0 ? h->waiting - 1 + info.waiting : h->waiting;
}

static uint64_t seconds_up(uint64_t ms)
{
	return (ms + 999) / 1000;
}

static void add_holder(const struct holder *h, const struct ing_robots *robots, struct ing_buf *out)
{
	unsigned requests = count_requests(h, robots);
	ing_buf_printf(out, "%s for another %" PRIu64 " s (%s", h->key, seconds_up(h->rest_ms),
		ing_rest_name(h->rest));
	if (h->failures > 0)
		ing_buf_printf(out, " after %u failure%s", h->failures, ING_PLURAL_S(h->failures));
	ing_buf_printf(out, ", %u request%s)", requests, ING_PLURAL_S(requests));
}

/* -------------------------------------------------------------------------------------------- */

void ing_hosts_add_status(const struct ing_gate *g, struct ing_buf *out)
{
	struct ing_gate_stats s;
	ing_gate_stats(g, &s);
	if (s.hosts_held > 0)
		ing_buf_printf(
			out, ", %" PRIu64 " host%s held", s.hosts_held, ING_PLURAL_S(s.hosts_held));
	if (s.breakers_open > 0)
		ing_buf_printf(out, ", %" PRIu64 " breaker%s open", s.breakers_open,
			ING_PLURAL_S(s.breakers_open));
}

bool ing_hosts_add_waits(const struct ing_gate *g, const struct ing_robots *robots, unsigned how,
	unsigned most, struct ing_buf *out)
{
	struct ing_gate_stats s;
	struct waits w = {.most = ING_MIN(most, MOST_SAID),
		.everyday = (how & ING_WAITS_EVERYDAY) != 0,
		.now_ms = ing_now_ms()};
	ing_gate_stats(g, &s);
	if (s.waiting == 0 || (!w.everyday && s.hosts_held == 0))
		return false; /* without a walk over all hosts */
	ing_gate_each(g, consider_waits, &w);
	if (w.hosts == 0)
		return false;
	bool brief = (how & ING_WAITS_BRIEF) != 0;
	ing_buf_add_str(out, "waiting for ");
	if (!brief)
		ing_buf_printf(out, "%u host%s: ", w.hosts, ING_PLURAL_S(w.hosts));
	for (unsigned i = 0; i < w.have; i++) {
		if (i > 0)
			ing_buf_add_str(out, ", ");
		if (brief)
			ing_buf_printf(out, "%s %" PRIu64 " s", w.best[i].key,
				seconds_up(w.best[i].rest_ms));
		else
			add_holder(&w.best[i], robots, out);
	}
	if (w.hosts > w.have)
		ing_buf_printf(out, ", and %u more", w.hosts - w.have);
	return true;
}

bool ing_hosts_watch(
	struct ing_hosts_watch *w, const struct ing_gate *g, uint64_t now_ms, struct ing_buf *out)
{
	struct ing_gate_stats s;
	ing_gate_stats(g, &s);
	if (now_ms < w->due_ms || (s.breaker_opens == w->opens && s.breakers_open == w->open))
		return false;
	uint64_t opened = s.breaker_opens - w->opens;
	ing_buf_printf(out,
		"breakers of hosts: %" PRIu64 " opened, %" PRIu64 " open now, %" PRIu64 " before",
		opened, s.breakers_open, w->open);
	if (s.breakers_open > 0)
		add_longest(g, out);
	*w = (struct ing_hosts_watch){
		.opens = s.breaker_opens,
		.open = s.breakers_open,
		.due_ms = now_ms + ING_HOSTS_WATCH_MS,
	};
	return true;
}
