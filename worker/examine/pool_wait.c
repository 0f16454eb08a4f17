/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tasks that wait for an examiner: the queue's entries, and its timer. Loop thread.
 */
#include <stdio.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/net/psl.h"
#include "common/net/url.h"
#include "worker/examine/pool_priv.h"

#define EXPIRIES_A_TURN 64

/* The registered domain, so that all names of one owner are one; else the name, or the address; ""
 * when a URL has no host. */
static const char *domain_of(const char *host)
{
	const char *domain = ing_psl_registered(host);
	return domain != NULL ? domain : host;
}

static void report_waiting(struct ing_exam_task *t)
{
	if (t->user->running != NULL)
		t->user->running(t->ctx, false);
}

static struct ing_pool_examiner *find_idle(struct ing_pool *p)
{
	struct ing_pool_examiner *e;
	DL_FOREACH (p->examiners, e)
		if (e->state == ING_EXAMINER_IDLE)
			return e;
	return NULL;
}

static struct ing_exam_task *task_of(struct ing_exam_entry *entry)
{
	return entry != NULL ? ING_CONTAINER(entry, struct ing_exam_task, entry) : NULL;
}

static void preempt(struct ing_pool *p, uint64_t now_ms)
{
	struct ing_exam_task *t = task_of(ing_exam_queue_preempt(p->queue, now_ms));
	if (t == NULL)
		return;
	struct ing_pool_examiner *e = ING_TAKE(t->owner);
	e->task = NULL;
	t->attempts--; /* which count lost zygotes only */
	t->since_us = ing_now_us();
	report_waiting(t);
	ing_examiner_kill(e, "was preempted");
}

static void on_wait_timer(uv_timer_t *timer)
{
	struct ing_pool *p;
	ING_CAST_OBJ(p, timer->data, ING_POOL_MAGIC);
	char detail[64];
	snprintf(detail, sizeof(detail), "no examiner was free within %u ms",
		p->conf.settings.max_wait_ms);
	for (int i = 0; i < EXPIRIES_A_TURN && !p->closing; i++) {
		struct ing_exam_task *t = task_of(ing_exam_queue_expire(p->queue, ing_now_ms()));
		if (t == NULL)
			break;
		ing_pool_fail(t, ING_EXAM_NOT_STARTED, detail);
	}
	ing_pool_dispatch(p);
}

static void arm_wait_timer(struct ing_pool *p, uint64_t now_ms)
{
	uint64_t wake_ms = ing_exam_queue_next_ms(p->queue, now_ms);
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
		struct ing_exam_task *t = task_of(ing_exam_queue_start(p->queue, now));
		if (t == NULL)
			break;
		ing_examiner_assign(e, t);
	}
	if (e == NULL)
		preempt(p, now);
	arm_wait_timer(p, now);
}

void ing_pool_enqueue(struct ing_pool *p, struct ing_exam_task *t, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	(void)ing_url_host(url != NULL ? url : "", host, sizeof(host));
	t->since_us = ing_now_us();
	ing_exam_queue_push(p->queue, &t->entry, domain_of(host), ing_now_ms());
}

void ing_pool_requeue(struct ing_pool *p, struct ing_exam_task *t)
{
	uint64_t now = ing_now_ms();
	t->owner = NULL;
	if (t->attempts < 2) {
		t->since_us = ing_now_us();
		ing_exam_queue_requeue(p->queue, &t->entry, now);
		report_waiting(t);
	} else {
		ing_exam_queue_remove(p->queue, &t->entry, now);
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
	return ing_exam_queue_has_room_for_all(p->queue) ||
	       ing_exam_queue_has_room(p->queue, domain_of(host));
}
