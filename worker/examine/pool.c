/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions: the queue, who gets the next one, and how each ends.
 */
#include "worker/examine/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/log.h"
#include "worker/examine/pool_priv.h"
#include "worker/examine/proto.h"

#define BACKOFF_MS 100u
#define MAX_BACKOFF_MS 5000u

void ing_pool_handle_closed(struct ing_pool *p)
{
	ing_must(p->open_handles > 0);
	if (--p->open_handles > 0 || !p->closing)
		return;
	char *path;
	memcpy(&path, &p->conf.examiner_path, sizeof(path));
	free(path);
	if (p->rules_fd >= 0)
		close(p->rules_fd);
	if (p->coming_rules_fd >= 0)
		close(p->coming_rules_fd);
	p->magic = 0;
	free(p);
}

static void free_ticket(struct ing_exam_ticket *t)
{
	ing_buf_done(&t->frame);
	free(t);
}

static void unlist_ticket(struct ing_exam_ticket *t)
{
	if (t->list == NULL)
		return;
	if (t->list == &t->pool->waiting)
		t->pool->waiting_count--;
	DL_DELETE(*t->list, t);
	t->list = NULL;
}

void ing_pool_put_first(struct ing_pool *p, struct ing_exam_ticket *t)
{
	t->list = &p->waiting;
	DL_PREPEND(p->waiting, t);
	p->waiting_count++;
}

void ing_pool_finish(struct ing_exam_ticket *t, struct ing_findings *f)
{
	struct ing_pool_stats *stats = &t->pool->stats;
	ing_pool_done_f *done = t->done;
	void *ctx = t->ctx;
	ing_must(t->owner == NULL);
	stats->documents++;
	stats->crashes += f->exam == ING_EXAM_CRASH;
	stats->timeouts += f->exam == ING_EXAM_TIMEOUT;
	unlist_ticket(t);
	free_ticket(t);
	done(ctx, f);
}

void ing_pool_finish_badly(struct ing_exam_ticket *t, enum ing_exam exam, const char *detail)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = exam;
	f.detail = ing_strdup(detail);
	ing_pool_finish(t, &f);
}

static struct ing_pool_examiner *find_idle(struct ing_pool *p)
{
	struct ing_pool_examiner *e;
	DL_FOREACH (p->examiners, e)
		if (e->state == ING_EXAMINER_IDLE)
			return e;
	return NULL;
}

void ing_pool_dispatch(struct ing_pool *p)
{
	while (p->waiting != NULL && !p->closing) {
		struct ing_pool_examiner *e = find_idle(p);
		if (e == NULL)
			return;
		struct ing_exam_ticket *t = p->waiting;
		unlist_ticket(t);
		ing_examiner_assign(e, t);
	}
}

/* ---- keeping the pool full ---- */

void ing_pool_refill(struct ing_pool *p)
{
	struct ing_error err = {0};
	if (p->closing)
		return;
	if (p->zygote == NULL && ing_zygote_start(p, p->rules_fd, &p->zygote, &err) != 0) {
		ing_log(ING_LOG_ERROR, "%s", err.msg);
		ing_pool_refill_later(p);
		return;
	}
	while (p->examiner_count < p->conf.examiners) {
		int rc = ing_examiner_start(p);
		if (rc == -ING_FAIL_CRASH)
			ing_zygote_lost(p->zygote, "takes no orders");
		else if (rc != 0)
			ing_pool_refill_later(p);
		if (rc != 0)
			return;
	}
}

static void on_refill(uv_timer_t *timer)
{
	struct ing_pool *p;
	ING_CAST_OBJ(p, timer->data, ING_POOL_MAGIC);
	ing_pool_refill(p);
}

void ing_pool_refill_later(struct ing_pool *p)
{
	unsigned shift = ING_MIN(p->failed_starts, 10u);
	unsigned delay_ms = ING_MIN(BACKOFF_MS << shift, MAX_BACKOFF_MS);
	p->failed_starts++;
	if (!p->closing && !uv_is_active((uv_handle_t *)&p->refill_timer))
		uv_timer_start(&p->refill_timer, on_refill, delay_ms, 0);
}

/* ---------------------------------------------------------------------------------------------- */

static void on_refill_closed(uv_handle_t *handle)
{
	struct ing_pool *p;
	ING_CAST_OBJ(p, handle->data, ING_POOL_MAGIC);
	ing_pool_handle_closed(p);
}

/* A descriptor of our own, above those that a zygote finds things at. */
static int copy_rules_fd(int fd, int *ret, struct ing_error *err)
{
	*ret = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, ING_RULES_FD + 1) : -1;
	if (fd >= 0 && *ret < 0)
		return ing_error_sys(err, errno, "examiner: rules");
	return 0;
}

int ing_pool_new(struct uv_loop_s *loop, const struct ing_pool_conf *conf, struct ing_pool **ret,
	struct ing_error *err)
{
	ing_must(conf->examiners > 0 && conf->recycle_after > 0 && conf->timeout_ms > 0);
	struct ing_pool *p = ing_alloc(sizeof(*p));
	p->magic = ING_POOL_MAGIC;
	p->loop = loop;
	p->conf = *conf;
	p->conf.examiner_path = ing_strdup(conf->examiner_path);
	uv_timer_init(loop, &p->refill_timer);
	p->refill_timer.data = p;
	p->open_handles = 1;
	p->rules_fd = p->coming_rules_fd = -1;
	int rc = copy_rules_fd(conf->rules_fd, &p->rules_fd, err);
	if (rc == 0)
		rc = ing_zygote_start(p, p->rules_fd, &p->zygote, err);
	if (rc != 0) {
		ing_pool_free(p);
		return rc;
	}
	ing_pool_refill(p);
	*ret = p;
	return 0;
}

static void drop_tickets(struct ing_exam_ticket **list)
{
	while (*list != NULL) {
		struct ing_exam_ticket *t = *list;
		unlist_ticket(t);
		free_ticket(t);
	}
}

void ing_pool_free(struct ing_pool *p)
{
	if (p == NULL)
		return;
	ing_must(!p->closing);
	p->closing = true;
	ing_zygote_end(p->zygote);
	ing_zygote_end(p->coming);
	while (p->old != NULL)
		ing_zygote_end(p->old);
	while (p->examiners != NULL) {
		struct ing_pool_examiner *e = p->examiners;
		if (e->ticket != NULL)
			free_ticket(ING_TAKE(e->ticket));
		ing_examiner_close(e);
	}
	drop_tickets(&p->waiting);
	drop_tickets(&p->failed);
	uv_close((uv_handle_t *)&p->refill_timer, on_refill_closed);
}

int ing_pool_reload(struct ing_pool *p, int rules_fd, ing_pool_reloaded_f *done, void *ctx,
	struct ing_error *err)
{
	ing_must(!p->closing);
	if (p->coming != NULL)
		return ing_error_set(err, ING_FAIL_BUSY, "examiner: a reload is under way");
	int fd;
	int rc = copy_rules_fd(rules_fd, &fd, err);
	if (rc != 0)
		return rc;
	rc = ing_zygote_start(p, fd, &p->coming, err);
	if (rc != 0) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	p->coming_rules_fd = fd;
	p->reloaded = done;
	p->reloaded_ctx = ctx;
	return 0;
}

struct ing_exam_ticket *ing_pool_submit(struct ing_pool *p, const struct ing_question *q,
	int body_fd, size_t body_bytes, ing_pool_done_f *done, void *ctx)
{
	ing_must(!p->closing && (body_fd >= 0 || body_bytes == 0));
	struct ing_exam_ticket *t = ing_alloc(sizeof(*t));
	t->pool = p;
	t->body_fd = body_bytes > 0 ? body_fd : -1;
	t->done = done;
	t->ctx = ctx;
	ing_buf_init(&t->frame, ING_FRAME_HEAD_BYTES + ING_MAX_QUESTION_BYTES);
	ing_proto_put_question(&t->frame, q, p->conf.timeout_ms, body_bytes);
	ing_must(!t->frame.failed);
	t->list = &p->waiting;
	DL_APPEND(p->waiting, t);
	p->waiting_count++;
	/* Whatever goes wrong in here is told by the examiner's end, from the loop. */
	ing_pool_dispatch(p);
	return t;
}

void ing_pool_cancel(struct ing_exam_ticket *t)
{
	struct ing_pool_examiner *e = t->owner;
	unlist_ticket(t);
	if (e != NULL) {
		e->ticket = NULL;
		if (e->state == ING_EXAMINER_BUSY)
			ing_examiner_kill(e, "cancelled");
	}
	free_ticket(t);
}

unsigned ing_pool_waiting(const struct ing_pool *p)
{
	return p->waiting_count;
}

void ing_pool_stats(const struct ing_pool *p, struct ing_pool_stats *ret)
{
	struct ing_pool_examiner *e;
	*ret = p->stats;
	DL_FOREACH (p->examiners, e)
		ret->examiners_ready +=
			e->state == ING_EXAMINER_IDLE || e->state == ING_EXAMINER_BUSY;
}
