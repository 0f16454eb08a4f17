/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tasks from submission to their end, and the number of examiners.
 */
#include "worker/examine/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/examine/pool_priv.h"
#include "worker/examine/proto.h"

#define BACKOFF_MS 100u
#define MAX_BACKOFF_MS 5000u
/* A document that has run for so long may be preempted: ordinary pages and PDFs take 1 to 40 ms,
 * the largest honest ones some seconds. */
#define SLICE_MS 1000u

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
	if (p->next_rules_fd >= 0)
		close(p->next_rules_fd);
	ing_exam_queue_free(p->queue);
	p->magic = 0;
	free(p);
}

static void free_task(struct ing_exam_task *t)
{
	ing_buf_done(&t->frame);
	free(t);
}

static void unfail_task(struct ing_exam_task *t)
{
	if (t->failed)
		DL_DELETE(t->pool->failed, t);
	t->failed = false;
}

void ing_pool_finish(struct ing_exam_task *t, struct ing_findings *f)
{
	struct ing_pool_stats *stats = &t->pool->stats;
	const struct ing_pool_user *user = t->user;
	void *ctx = t->ctx;
	ing_must(t->owner == NULL);
	stats->documents++;
	stats->crashes += f->exam == ING_EXAM_CRASH;
	stats->timeouts += f->exam == ING_EXAM_TIMEOUT;
	stats->waited += f->exam == ING_EXAM_NOT_STARTED;
	bool bad = f->exam == ING_EXAM_CRASH || f->exam == ING_EXAM_TIMEOUT;
	if (t->entry.at_work) {
		ing_histogram_add(stats->run_us, ING_METRIC_DURATION, ing_now_us() - t->since_us);
		ing_exam_queue_finish(t->pool->queue, &t->entry, bad, ing_now_ms());
	}
	unfail_task(t);
	free_task(t);
	user->done(ctx, f);
}

void ing_pool_fail(struct ing_exam_task *t, enum ing_exam exam, const char *detail)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = exam;
	f.detail = ing_strdup(detail);
	if (exam == ING_EXAM_CRASH || exam == ING_EXAM_TIMEOUT)
		f.file = t->file;
	ing_pool_finish(t, &f);
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
	while (p->examiner_count < p->conf.settings.processes) {
		int rc = ing_examiner_start(p);
		if (rc == -ING_FAIL_CRASH)
			ing_zygote_lost(p->zygote, "does not accept messages");
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

/* -------------------------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
	struct ing_pool *p;
	ING_CAST_OBJ(p, handle->data, ING_POOL_MAGIC);
	ing_pool_handle_closed(p);
}

/* A descriptor of our own, above those that the zygote uses. */
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
	const struct ing_examine_settings *settings = &conf->settings;
	ing_must(
		settings->processes > 0 && settings->recycle_after > 0 && settings->timeout_ms > 0);
	struct ing_pool *p = ing_alloc(sizeof(*p));
	p->magic = ING_POOL_MAGIC;
	p->loop = loop;
	p->conf = *conf;
	p->conf.examiner_path = ing_strdup(conf->examiner_path);
	p->queue = ing_exam_queue_new(&(struct ing_exam_queue_conf){
		.examiners = settings->processes,
		.limit_ms = settings->timeout_ms,
		.slice_ms = ING_MIN(SLICE_MS, settings->timeout_ms / 4),
		.max_wait_ms = settings->max_wait_ms,
		.capacity = conf->capacity,
	});
	uv_timer_init(loop, &p->refill_timer);
	uv_timer_init(loop, &p->wait_timer);
	uv_idle_init(loop, &p->next_turn);
	p->refill_timer.data = p->wait_timer.data = p->next_turn.data = p;
	p->open_handles = 3;
	p->rules_fd = p->next_rules_fd = -1;
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

static void drop_tasks(struct ing_pool *p)
{
	struct ing_exam_entry *entry;
	while (p->failed != NULL) {
		struct ing_exam_task *t = p->failed;
		unfail_task(t);
		free_task(t);
	}
	while ((entry = ing_exam_queue_drain(p->queue)) != NULL)
		free_task(ING_CONTAINER(entry, struct ing_exam_task, entry));
}

void ing_pool_free(struct ing_pool *p)
{
	if (p == NULL)
		return;
	ing_must(!p->closing);
	p->closing = true;
	ing_zygote_end(p->zygote);
	ing_zygote_end(p->next);
	while (p->retired != NULL)
		ing_zygote_end(p->retired);
	while (p->examiners != NULL) {
		struct ing_pool_examiner *e = p->examiners;
		e->task = NULL; /* the queue has it */
		ing_examiner_close(e);
	}
	drop_tasks(p);
	uv_close((uv_handle_t *)&p->refill_timer, on_handle_closed);
	uv_close((uv_handle_t *)&p->wait_timer, on_handle_closed);
	uv_close((uv_handle_t *)&p->next_turn, on_handle_closed);
}

int ing_pool_reload(struct ing_pool *p, int rules_fd, ing_pool_reloaded_f *done, void *ctx,
	struct ing_error *err)
{
	ing_must(!p->closing);
	if (p->next != NULL)
		return ing_error_set(err, ING_FAIL_BUSY, "examiner: a reload is under way");
	int fd;
	int rc = copy_rules_fd(rules_fd, &fd, err);
	if (rc != 0)
		return rc;
	rc = ing_zygote_start(p, fd, &p->next, err);
	if (rc != 0) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	p->next_rules_fd = fd;
	p->reloaded = done;
	p->reloaded_ctx = ctx;
	return 0;
}

struct ing_exam_task *ing_pool_submit(struct ing_pool *p, const struct ing_exam_request *q,
	int body_fd, size_t body_bytes, const struct ing_pool_user *user, void *ctx)
{
	ing_must(!p->closing && (body_fd >= 0 || body_bytes == 0));
	struct ing_exam_task *t = ing_alloc(sizeof(*t));
	t->pool = p;
	t->body_fd = body_bytes > 0 ? body_fd : -1;
	t->body_bytes = body_bytes;
	t->user = user;
	t->ctx = ctx;
	ing_buf_init(&t->frame, ING_PROTO_HEAD_BYTES + ING_MAX_EXAM_REQUEST_BYTES);
	ing_proto_put_request(&t->frame, q, p->conf.settings.timeout_ms, body_bytes);
	ing_must(!t->frame.failed);
	ing_pool_enqueue(p, t, q->url);
	/* What fails in here is reported when the examiner has ended, from the loop. */
	ing_pool_dispatch(p);
	return t;
}

void ing_pool_cancel(struct ing_exam_task *t)
{
	struct ing_pool_examiner *e = t->owner;
	unfail_task(t);
	ing_exam_queue_remove(t->pool->queue, &t->entry, ing_now_ms());
	if (e != NULL) {
		e->task = NULL;
		if (e->state == ING_EXAMINER_BUSY)
			ing_examiner_kill(e, "cancelled");
	}
	free_task(t);
}

void ing_pool_count_false_reply(struct ing_pool *p)
{
	p->stats.crashes++;
}

void ing_pool_stats(const struct ing_pool *p, struct ing_pool_stats *ret)
{
	struct ing_pool_examiner *e;
	struct ing_exam_queue_stats s;
	ing_exam_queue_stats(p->queue, &s);
	*ret = p->stats;
	ret->interrupted = s.interrupted;
	ret->waiting = s.waiting;
	ret->waiting_late = s.waiting_background;
	ret->domains_marked = s.owners_penalised;
	DL_FOREACH (p->examiners, e) {
		ret->examiners_starting += e->state == ING_EXAMINER_STARTING;
		ret->examiners_idle += e->state == ING_EXAMINER_IDLE;
		ret->examiners_busy += e->state == ING_EXAMINER_BUSY;
		ret->examiners_ending += e->state == ING_EXAMINER_DYING;
	}
	ret->examiners_ready = ret->examiners_idle + ret->examiners_busy;
}
