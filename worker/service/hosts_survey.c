/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One walk over the gate's hosts. Each list grows to twice as many as are wanted, so that a sort is
 * due only after as many have come, in whatever order they do.
 */
#include "worker/service/hosts_survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/gate/robots/robots.h"
#include "worker/service/duration.h"

struct ranking {
	int (*compare)(const void *, const void *); /* of two struct ing_gate_host_view */
	struct ing_gate_host_view *best;
	size_t have, room;
};

struct walk {
	struct ranking waiting, held;
	struct ing_hosts_survey *to;
};

static int compare_waiting(const void *a, const void *b)
{
	unsigned x = ing_gate_count_waiting(a);
	unsigned y = ing_gate_count_waiting(b);
	return x > y ? -1 : x < y;
}

static int compare_rests(const void *a, const void *b)
{
	const struct ing_gate_host_view *x = a;
	const struct ing_gate_host_view *y = b;
	return x->rest_ms > y->rest_ms ? -1 : x->rest_ms < y->rest_ms;
}

static void cut_ranking(struct ranking *r, size_t count)
{
	qsort(r->best, r->have, sizeof(*r->best), r->compare);
	r->have = ING_MIN(r->have, count);
}

static void rank(struct ranking *r, size_t count, const struct ing_gate_host_view *v)
{
	if (r->have == r->room) {
		r->room = ING_MIN(2 * count, r->room > 0 ? 2 * r->room : 16);
		r->best = ing_realloc(r->best, r->room * sizeof(*r->best));
	}
	r->best[r->have++] = *v;
	if (r->have == 2 * count)
		cut_ranking(r, count);
}

static void consider(void *ctx, const struct ing_gate_host_view *v)
{
	struct walk *w = ctx;
	unsigned waiting = ing_gate_count_waiting(v);
	if (waiting > 0) {
		w->to->hosts[v->need]++;
		w->to->requests[v->need] += waiting;
		rank(&w->waiting, w->to->count, v);
	}
	if (v->rest_ms > 0 && ing_host_backoff_is_hold(&v->backoff, w->to->at_ms))
		rank(&w->held, w->to->count, v);
}

/* Its strings are its own, wherever it has been moved. */
static void point_to_own(struct ing_survey_host *h)
{
	h->view.key = h->key;
	h->view.holder = h->holder[0] != '\0' ? h->holder : NULL;
}

static void keep_host(struct ing_survey_host *h, const struct ing_gate *g,
	const struct ing_gate_host_view *v, uint64_t now_ms)
{
	struct ing_gate_outlook outlook;
	h->view = *v;
	h->waiting = ing_gate_count_waiting(v);
	h->held = ing_host_backoff_is_hold(&v->backoff, now_ms);
	/* The view's strings are the gate's. */
	snprintf(h->key, sizeof(h->key), "%s", v->key);
	snprintf(h->holder, sizeof(h->holder), "%s", v->holder != NULL ? v->holder : "");
	point_to_own(h);
	ing_gate_look_ahead(g, h->key, &outlook);
	h->pace_ms = outlook.pace_ms;
}

static struct ing_survey_host *keep(
	struct ranking *r, const struct ing_gate *g, const struct ing_hosts_survey *s)
{
	if (r->have > 0)
		cut_ranking(r, s->count);
	struct ing_survey_host *kept = ing_alloc((r->have + 1) * sizeof(*kept));
	for (size_t i = 0; i < r->have; i++)
		keep_host(&kept[i], g, &r->best[i], s->at_ms);
	free(r->best);
	return kept;
}

/* --- those who wait for robots.txt --- */

struct awaited {
	char origin[ING_SURVEY_HOST_BYTES];
	unsigned waiting;
};

struct awaited_list {
	struct awaited *best; /* most first */
	size_t have, most;
};

static void consider_awaited(void *ctx, const char *origin, unsigned waiting)
{
	struct awaited_list *l = ctx;
	size_t place = l->have;
	while (place > 0 && l->best[place - 1].waiting < waiting)
		place--;
	if (place >= l->most)
		return;
	l->have = ING_MIN(l->have + 1, l->most);
	memmove(&l->best[place + 1], &l->best[place], (l->have - place - 1) * sizeof(*l->best));
	l->best[place].waiting = waiting;
	snprintf(l->best[place].origin, sizeof(l->best[place].origin), "%s", origin);
}

static struct ing_survey_host *find_kept(struct ing_hosts_survey *s, const char *key)
{
	for (size_t i = 0; i < s->waiting_count; i++)
		if (strcmp(s->waiting[i].key, key) == 0)
			return &s->waiting[i];
	return NULL;
}

static int compare_all(const void *a, const void *b)
{
	const struct ing_survey_host *x = a;
	const struct ing_survey_host *y = b;
	unsigned n = x->waiting + x->robots_waiting, m = y->waiting + y->robots_waiting;
	return n > m ? -1 : n < m;
}

/* A host whose robots.txt is slow has one waiter in the gate, that fetch, however many wait for it. */
static void add_awaited(
	struct ing_hosts_survey *s, const struct ing_gate *g, const struct ing_robots *robots)
{
	struct awaited_list l = {.most = s->count};
	l.best = ing_alloc(s->count * sizeof(*l.best));
	ing_robots_each_awaited(robots, consider_awaited, &l);
	s->waiting = ing_realloc(s->waiting, (s->waiting_count + l.have + 1) * sizeof(*s->waiting));
	for (size_t i = 0; i < s->waiting_count; i++)
		point_to_own(&s->waiting[i]);
	for (size_t i = 0; i < l.have; i++) {
		struct ing_gate_host_view v;
		if (!ing_gate_explain(g, l.best[i].origin, &v))
			continue;
		struct ing_survey_host *h = find_kept(s, v.key);
		if (h == NULL) {
			h = &s->waiting[s->waiting_count++];
			keep_host(h, g, &v, s->at_ms);
		}
		h->robots_waiting += l.best[i].waiting;
	}
	free(l.best);
	qsort(s->waiting, s->waiting_count, sizeof(*s->waiting), compare_all);
	s->waiting_count = ING_MIN(s->waiting_count, (size_t)s->count);
	for (size_t i = 0; i < s->waiting_count; i++)
		point_to_own(&s->waiting[i]);
}

/* -------------------------------------------------------------------------------------------- */

void ing_survey_add_why(const struct ing_survey_host *h, struct ing_buf *out)
{
	static const char *const words[ING_GATE_NEEDS_] = {
		[ING_NEED_TURN] = "it is about to be asked",
		[ING_NEED_SLOT] = "its transfer is under way",
		[ING_NEED_LEASE] = "another worker has its lease",
		[ING_NEED_ADDRESS] = "its name is being resolved",
		[ING_NEED_ADDRESS_SLOT] = "its address has enough transfers",
		[ING_NEED_ROOM] = "too many of its documents wait for examiners",
		[ING_NEED_GATE] = "nothing is fetched",
	};
	enum ing_gate_need need = h->view.need;
	if (need == ING_NEED_REST) {
		ing_buf_printf(out, "%s, ", ing_rest_name(h->view.backoff.rest));
		ing_duration_add((h->view.rest_ms + 999) / 1000 * 1000, out);
		ing_buf_add_str(out, " left");
	} else if (words[need] != NULL) {
		ing_buf_add_str(out, words[need]);
	}
}

void ing_hosts_survey(const struct ing_gate *g, const struct ing_robots *robots, unsigned count,
	struct ing_hosts_survey *ret)
{
	*ret = (struct ing_hosts_survey){.at_ms = ing_now_ms(), .count = count};
	struct walk w = {.to = ret};
	w.waiting.compare = compare_waiting;
	w.held.compare = compare_rests;
	ing_gate_each(g, consider, &w);
	ret->waiting = keep(&w.waiting, g, ret);
	ret->waiting_count = w.waiting.have;
	ret->held = keep(&w.held, g, ret);
	ret->held_count = w.held.have;
	if (robots != NULL)
		add_awaited(ret, g, robots);
}

void ing_hosts_survey_done(struct ing_hosts_survey *s)
{
	free(s->waiting);
	free(s->held);
	*s = (struct ing_hosts_survey){0};
}
