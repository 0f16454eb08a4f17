/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One examiner from the pool's side. The document may have taken control of the process at the other
 * end of the socket: no more is read than one reply may hold, nothing is read without a request,
 * and every wait has a limit. Only the zygote's EXIT says that an examiner is dead.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/fd_shortage.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/pool_priv.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

#define READ_BYTES ((size_t)64 << 10)
#define READS_A_TURN 16 /* then the loop does its other work */
#define TURN_BYTES                                                                                 \
	((size_t)2 << 20) /* of all examiners, received and taken; one reply may be more */
#define KEEP_BYTES ((size_t)256 << 10) /* of a read buffer between documents */

static void on_poll(uv_poll_t *poll, int status, int events);
static void on_timer(uv_timer_t *timer);
static void on_handle_closed(uv_handle_t *handle);

static void limit_state(
	struct ing_pool_examiner *e, enum ing_examiner_state state, unsigned limit_ms)
{
	e->state = state;
	uv_update_time(e->pool->loop); /* limits count from now, not from when this turn began */
	if (limit_ms > 0)
		uv_timer_start(&e->timer, on_timer, limit_ms, 0);
	else
		uv_timer_stop(&e->timer);
}

/* The handle goes with the descriptor and before it: when libuv closes a handle later, it removes
 * another handle that has got the number by then from the loop. */
static void close_socket(struct ing_pool_examiner *e)
{
	if (e->fd < 0)
		return;
	uv_close((uv_handle_t *)&e->poll, on_handle_closed);
	close(e->fd);
	e->fd = -1;
}

void ing_examiner_kill(struct ing_pool_examiner *e, const char *reason)
{
	if (e->state == ING_EXAMINER_DYING)
		return;
	e->reason = reason;
	close_socket(e);
	limit_state(e, ING_EXAMINER_DYING, ING_POOL_DYING_MS);
	/* If the zygote does not accept it, the limit ends the zygote. */
	if (!e->exited)
		(void)ing_zygote_send(e->zygote, ING_ZYGOTE_KILL, e->id, -1);
}

/* It has had enough documents, or has older rules. Killed, because one that a document controls
 * would not end by itself, and an examiner that is not reaped in time ends the zygote with all its
 * documents. */
static void retire(struct ing_pool_examiner *e)
{
	e->retired = true;
	ing_examiner_kill(e, NULL);
}

/* ---- sending ---- */

static void send_question(struct ing_pool_examiner *e)
{
	const struct ing_exam_task *t = e->task;
	while (e->sent < t->frame.len) {
		ssize_t n = ing_fd_send(e->fd, t->frame.data + e->sent, t->frame.len - e->sent, 0,
			e->sent == 0 ? e->body_fd : -1);
		if (n < 0 && errno == EAGAIN) {
			uv_poll_start(&e->poll, UV_READABLE | UV_WRITABLE, on_poll);
			return;
		}
		if (n < 0) {
			ing_examiner_kill(e, errno == EBADF ? "was given a closed body"
							    : "did not accept the request");
			return;
		}
		e->sent += (size_t)n;
	}
	uv_poll_start(&e->poll, UV_READABLE, on_poll);
}

void ing_examiner_assign(struct ing_pool_examiner *e, struct ing_exam_task *t)
{
	ing_must(e->state == ING_EXAMINER_IDLE && e->task == NULL);
	e->task = t;
	e->assigned = true;
	e->sent = 0;
	t->owner = e;
	t->attempts++;
	t->file = (struct ing_file_meta){0};
	e->pool->failed_starts = 0;
	uint64_t now_us = ing_now_us();
	ing_histogram_add(e->pool->stats.wait_us, ING_METRIC_DURATION, now_us - t->since_us);
	t->since_us = now_us;
	e->body_fd = ing_exam_box_fill(&e->box, t->body_fd, t->body_bytes);
	limit_state(e, ING_EXAMINER_BUSY, e->pool->conf.settings.timeout_ms);
	if (t->user->running != NULL)
		t->user->running(t->ctx, true);
	send_question(e);
}

/* ---- receiving ---- */

static void empty_input(struct ing_pool_examiner *e)
{
	if (e->in.cap > KEEP_BYTES)
		ing_buf_done(&e->in);
	else
		ing_buf_clear(&e->in);
}

static void handle_hello(struct ing_pool_examiner *e)
{
	empty_input(e);
	limit_state(e, ING_EXAMINER_IDLE, 0);
	ing_pool_dispatch(e->pool);
}

static void on_next_turn(uv_idle_t *next_turn)
{
	struct ing_pool *p = next_turn->data;
	p->turn_bytes = 0;
	uv_idle_stop(next_turn);
}

/* Examiners may reply with megabytes at once, which take milliseconds each. Ordinary replies are not counted, as a
 * turn of its own costs, too. */
static void count_bytes(struct ing_pool *p, size_t bytes)
{
	if (p->closing || bytes < READ_BYTES)
		return;
	p->turn_bytes += bytes;
	uv_idle_start(&p->next_turn, on_next_turn);
}

static void handle_reply(struct ing_pool_examiner *e, size_t payload)
{
	struct ing_pool *p = e->pool;
	struct ing_findings f;
	count_bytes(p, payload);
	if (ing_proto_get_reply(e->in.data + ING_PROTO_HEAD_BYTES, payload, &f) != 0) {
		ing_examiner_kill(e, "sent an invalid reply");
		return;
	}
	struct ing_exam_task *t = ING_TAKE(e->task);
	t->owner = NULL;
	empty_input(e);
	p->stats.cpu_us += f.cpu_us;
	p->stats.pdf_cpu_us += f.pdf_cpu_us;
	e->reported_cpu_us += f.cpu_us + f.pdf_cpu_us;
	if (++e->served >= p->conf.settings.recycle_after || e->zygote != p->zygote)
		retire(e);
	else
		limit_state(e, e->exited ? ING_EXAMINER_DYING : ING_EXAMINER_IDLE, 0);
	ing_pool_finish(t, &f);
	if (!p->closing)
		ing_pool_dispatch(p);
}

/* Take a FILE, which comes first if at all, off the front of the input, once it is there whole. What
 * is no FILE stays. */
static void take_file(struct ing_pool_examiner *e)
{
	struct ing_buf *in = &e->in;
	struct ing_file_meta *file = &e->task->file;
	size_t payload;
	if (in->len < ING_PROTO_HEAD_BYTES || file->mimetype[0] != '\0' ||
		ing_proto_head(in->data, ING_PROTO_FILE, ING_MAX_PROTO_FILE_BYTES, &payload) != 0 ||
		in->len - ING_PROTO_HEAD_BYTES < payload ||
		ing_proto_get_file(in->data + ING_PROTO_HEAD_BYTES, payload, file) != 0)
		return;
	size_t whole = ING_PROTO_HEAD_BYTES + payload;
	memmove(in->data, in->data + whole, in->len - whole);
	in->len -= whole;
}

/* Whether a FILE has begun and is not there whole. */
static bool awaits_file(const struct ing_pool_examiner *e)
{
	size_t payload;
	return e->task->file.mimetype[0] == '\0' &&
	       ing_proto_head(e->in.data, ING_PROTO_FILE, ING_MAX_PROTO_FILE_BYTES, &payload) ==
		       0 &&
	       e->in.len - ING_PROTO_HEAD_BYTES < payload;
}

/* Handle what has been received. Returns true when it was a whole message or a fault: `e` may be
 * gone then. */
static bool handle_input(struct ing_pool_examiner *e)
{
	size_t payload = 0;
	bool starting = e->state == ING_EXAMINER_STARTING;
	if (e->state == ING_EXAMINER_IDLE) {
		ing_examiner_kill(e, "sent data without a request");
		return true;
	}
	if (!starting)
		take_file(e);
	if (e->in.len < ING_PROTO_HEAD_BYTES || (!starting && awaits_file(e)))
		return false;
	if (ing_proto_head(e->in.data, starting ? ING_PROTO_HELLO : ING_PROTO_REPLY,
		    starting ? 0 : ING_MAX_REPLY_BYTES, &payload) != 0 ||
		e->in.len - ING_PROTO_HEAD_BYTES > payload ||
		e->sent < (starting ? 0 : e->task->frame.len)) {
		ing_examiner_kill(e, "sent an invalid reply");
		return true;
	}
	if (e->in.len - ING_PROTO_HEAD_BYTES < payload)
		return false;
	if (starting)
		handle_hello(e);
	else
		handle_reply(e, payload);
	return true;
}

static void receive(struct ing_pool_examiner *e, unsigned reads)
{
	while (reads-- > 0) {
		size_t room = ING_MIN(READ_BYTES, e->in.max - e->in.len);
		void *to = ing_buf_reserve(&e->in, room);
		if (to == NULL) {
			ing_examiner_kill(e, "sent a reply that does not fit into memory");
			return;
		}
		ssize_t n = recv(e->fd, to, room, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			ing_examiner_kill(
				e, NULL); /* it died by itself: EXIT will give the cause */
			return;
		}
		ing_buf_commit(&e->in, (size_t)n);
		count_bytes(e->pool, (size_t)n);
		if (handle_input(e))
			return;
	}
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct ing_pool_examiner *e;
	ING_CAST_OBJ(e, poll->data, ING_EXAMINER_MAGIC);
	if (status < 0) {
		ing_examiner_kill(e, NULL);
		return;
	}
	if ((events & UV_WRITABLE) != 0 && e->state == ING_EXAMINER_BUSY)
		send_question(e);
	/* What is left is readable in the next turn, too. */
	if ((events & UV_READABLE) != 0 && e->fd >= 0 && e->pool->turn_bytes < TURN_BYTES)
		receive(e, READS_A_TURN);
}

/* ---- ends ---- */

static void on_timer(uv_timer_t *timer)
{
	struct ing_pool_examiner *e;
	ING_CAST_OBJ(e, timer->data, ING_EXAMINER_MAGIC);
	struct ing_pool *p = e->pool;
	if (e->state != ING_EXAMINER_BUSY) {
		ing_zygote_lost(e->zygote, e->state == ING_EXAMINER_STARTING
						   ? "did not start an examiner in time"
						   : "did not end an examiner in time");
		return;
	}
	char detail[64];
	struct ing_exam_task *t = ING_TAKE(e->task);
	t->owner = NULL;
	ing_examiner_kill(e, "ran out of time");
	snprintf(detail, sizeof(detail), "killed after %u ms", p->conf.settings.timeout_ms);
	ing_pool_fail(t, ING_EXAM_TIMEOUT, detail);
}

/* The outcome of a document whose examiner died. SIGBUS is a page of the body that cannot be read
 * back from disk; parsers have no other cause of it. */
static enum ing_exam exam_of_death(int status)
{
	switch (WIFSIGNALED(status) ? WTERMSIG(status) : 0) {
	case SIGXCPU:
		return ING_EXAM_TIMEOUT;
	case SIGBUS:
		return ING_EXAM_UNREADABLE;
	default:
		return ING_EXAM_CRASH;
	}
}

static void describe_end(const struct ing_pool_examiner *e, int status, char *detail, size_t room)
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
	if (e->reason != NULL)
		snprintf(detail, room, "the examiner %s", e->reason);
	else if (name != NULL)
		snprintf(detail, room, "the examiner died: SIG%s", name);
	else
		snprintf(detail, room, "the examiner died: exit code %d", WEXITSTATUS(status));
}

void ing_examiner_exited(struct ing_pool_examiner *e, const struct ing_zygote_message *m)
{
	struct ing_pool *p = e->pool;
	e->exited = true;
	/* Its reply may have arrived before its death. */
	if (e->state == ING_EXAMINER_BUSY) {
		receive(e, 2 + (unsigned)(ING_MAX_REPLY_BYTES / READ_BYTES));
		if (p->closing)
			return;
	}
	if (m->cpu_us > e->reported_cpu_us)
		p->stats.cpu_us += m->cpu_us - e->reported_cpu_us;
	char detail[80];
	describe_end(e, m->status, detail, sizeof(detail));
	enum ing_exam exam = exam_of_death(m->status);
	struct ing_exam_task *t = ING_TAKE(e->task);
	/* It never had a document: the next one may well do the same. */
	bool early = t == NULL && !e->assigned && !e->retired;
	if (early)
		ing_log(ING_LOG_ERROR, "examiner: fork %u died without a document: %s", e->id,
			detail);
	ing_examiner_close(e);
	if (t != NULL) {
		t->owner = NULL;
		ing_pool_fail(t, exam, detail);
	}
	if (early)
		ing_pool_refill_later(p);
	else
		ing_pool_refill(p);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct ing_pool_examiner *e;
	ING_CAST_OBJ(e, handle->data, ING_EXAMINER_MAGIC);
	struct ing_pool *p = e->pool;
	if (--e->open_handles == 0) {
		e->magic = 0;
		free(e);
	}
	ing_pool_handle_closed(p);
}

void ing_examiner_close(struct ing_pool_examiner *e)
{
	struct ing_pool *p = e->pool;
	ing_must(e->task == NULL);
	close_socket(e);
	e->state = ING_EXAMINER_DYING;
	ing_buf_done(&e->in);
	ing_exam_box_done(&e->box);
	DL_DELETE(p->examiners, e);
	p->examiner_count--;
	uv_close((uv_handle_t *)&e->timer, on_handle_closed);
	e->zygote->examiners--;
	ing_zygote_end_if_done(e->zygote);
}

void ing_examiner_retire_all(struct ing_pool_zygote *z)
{
	struct ing_pool_examiner *e;
	DL_FOREACH (z->pool->examiners, e) {
		if (e->zygote == z &&
			(e->state == ING_EXAMINER_IDLE || e->state == ING_EXAMINER_STARTING))
			retire(e);
	}
}

int ing_examiner_start(struct ing_pool *p)
{
	int ends[2];
	struct ing_exam_box box;
	if (ing_exam_box_init(&box) != 0) {
		ing_fd_shortage_note(errno);
		return -ING_FAIL_BUSY;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		ing_fd_shortage_note(errno);
		ing_exam_box_done(&box);
		return -ING_FAIL_BUSY;
	}
	uint32_t id = ++p->last_id;
	bool sent = ing_zygote_send(p->zygote, ING_ZYGOTE_SPAWN, id, ends[1]);
	close(ends[1]);
	if (!sent) {
		close(ends[0]);
		ing_exam_box_done(&box);
		return -ING_FAIL_CRASH;
	}
	struct ing_pool_examiner *e = ing_alloc(sizeof(*e));
	e->magic = ING_EXAMINER_MAGIC;
	e->pool = p;
	e->zygote = p->zygote;
	e->zygote->examiners++;
	e->id = id;
	e->fd = ends[0];
	e->box = box;
	e->poll.data = e;
	e->timer.data = e;
	e->open_handles = 2;
	ing_buf_init(
		&e->in, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES + 1); /* one too many is seen */
	int rc = uv_poll_init(
		p->loop, &e->poll, e->fd); /* makes our end non-blocking, and only ours */
	ing_must(rc == 0);
	uv_timer_init(p->loop, &e->timer);
	p->open_handles += 2;
	DL_APPEND(p->examiners, e);
	p->examiner_count++;
	p->stats.forks++;
	limit_state(e, ING_EXAMINER_STARTING, ING_POOL_START_MS);
	rc = uv_poll_start(&e->poll, UV_READABLE, on_poll);
	ing_must(rc == 0);
	return 0;
}
