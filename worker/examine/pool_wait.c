/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Waiting for an examiner: what goes into the queue, comes out of it, and is told of it. Loop
 * thread.
 */
#include <stdio.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/net/psl.h"
#include "common/net/url.h"
#include "worker/examine/pool_priv.h"

#define EXPIRIES_A_TURN 64

/* The registered domain, so that a thousand names of one owner are one; else the name, or the
 * address. "" when a URL has no host. */
static const char *domain_of(const char *host)
{
	const char *domain = ing_psl_registered(host);
	return domain != NULL ? domain : host;
}

static void wait_again(struct ing_exam_ticket *t)
{
	if (t->user->taken != NULL)
		t->user->taken(t->ctx, false);
}

static struct ing_pool_examiner *find_idle(struct ing_pool *p)
{
	struct ing_pool_examiner *e;
	DL_FOREACH (p->examiners, e)
		if (e->state == ING_EXAMINER_IDLE)
			return e;
	return NULL;
}

static struct ing_exam_ticket *ticket_of(struct ing_exam_place *place)
{
	return place != NULL ? ING_CONTAINER(place, struct ing_exam_ticket, place) : NULL;
}

static void interrupt_late(struct ing_pool *p, uint64_t now_ms)
{
	struct ing_exam_ticket *t = ticket_of(ing_exam_queue_interrupt(p->queue, now_ms));
	if (t == NULL)
		return;
	struct ing_pool_examiner *e = ING_TAKE(t->owner);
	e->ticket = NULL;
	t->attempts--; /* it was not the zygote's fault */
	wait_again(t);
	ing_examiner_kill(e, "gave way");
}

static void on_wait_timer(uv_timer_t *timer)
{
	struct ing_pool *p;
	ING_CAST_OBJ(p, timer->data, ING_POOL_MAGIC);
	char words[64];
	snprintf(words, sizeof(words), "no examiner was free within %u ms",
		p->conf.settings.max_wait_ms);
	for (int i = 0; i < EXPIRIES_A_TURN && !p->closing; i++) {
		struct ing_exam_ticket *t =
			ticket_of(ing_exam_queue_expire(p->queue, ing_now_ms()));
		if (t == NULL)
			break;
		ing_pool_finish_badly(t, ING_EXAM_WAITED, words);
	}
	ing_pool_dispatch(p);
}

static void arm_wait_timer(struct ing_pool *p, uint64_t now_ms)
{
	uint64_t wake_ms = ing_exam_queue_wake(p->queue, now_ms);
	if (wake_ms == ING_EXAM_NEVER) {
		uv_timer_stop(&p->wait_timer);
		return;
	}
	uv_update_time(p->loop);
	uv_timer_start(&p->wait_timer, on_wait_timer, wake_ms > now_ms ? wake_ms - now_ms : 0, 0);
}

/* -------------------------------------------------------------------------------------------- */

void ing_pool_dispatch(struct ing_pool *p)
{
	if (p->closing)
		return;
	uint64_t now = ing_now_ms();
	struct ing_pool_examiner *e;
	while ((e = find_idle(p)) != NULL) {
		struct ing_exam_ticket *t = ticket_of(ing_exam_queue_take(p->queue, now));
		if (t == NULL)
			break;
		ing_examiner_assign(e, t);
	}
	if (e == NULL)
		interrupt_late(p, now);
	arm_wait_timer(p, now);
}

void ing_pool_put_last(struct ing_pool *p, struct ing_exam_ticket *t, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	(void)ing_url_host(url != NULL ? url : "", host, sizeof(host));
	ing_exam_queue_put(p->queue, &t->place, domain_of(host), ing_now_ms());
}

void ing_pool_put_back(struct ing_pool *p, struct ing_exam_ticket *t)
{
	uint64_t now = ing_now_ms();
	t->owner = NULL;
	if (t->attempts < 2) {
		ing_exam_queue_put_back(p->queue, &t->place, now);
		wait_again(t);
	} else {
		ing_exam_queue_leave(p->queue, &t->place, now);
		t->failed = true;
		DL_APPEND(p->failed, t);
	}
}

bool ing_pool_is_full(const struct ing_pool *p)
{
	return ing_exam_queue_is_full(p->queue);
}

bool ing_pool_has_room(const struct ing_pool *p, const char *host)
{
	return ing_exam_queue_has_room(p->queue, domain_of(host));
}
