/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * curl names the sockets to poll and the time of its next call; uv_poll and uv_timer do that.
 *
 * On CURL_POLL_REMOVE the poll handle must be closed at once, which stops it, because the descriptor number
 * may be reused before the loop turns. A timeout of zero must not become a timer of zero: libuv runs
 * timers that were started by timers in the same turn, so that sockets would not be served while curl
 * asks again and again. An idle handle is used instead, which runs once a turn.
 */
#include "common/net/multi.h"

#include <stdlib.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"

struct watch {
	uv_poll_t poll;
	struct watch *prev, *next;
	struct ing_multi *multi;
	curl_socket_t fd;
	int events;
};

struct ing_multi {
	uv_loop_t *loop;
	CURLM *curl;
	struct ing_multi_user user;
	uv_timer_t *timer;
	uv_idle_t *immediate;
	struct watch *watches;
	uint64_t cpu_ns;
	unsigned calls; /* of drive() */
};

/* Reading the clock of a thread's CPU time is a system call, which costs as much as a short call of curl does.
 * So one call of this many is measured, and stands for the others; not the first, which reads the CA file. */
#define MEASURE_EACH 8u
#define MEASURED 3u

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

static void free_watch(uv_handle_t *handle)
{
	free(ING_CONTAINER(handle, struct watch, poll));
}

static void close_watch(struct watch *w)
{
	DL_DELETE(w->multi->watches, w);
	/* this stops it at once; uv_poll_stop() before it would be one more system call */
	uv_close((uv_handle_t *)&w->poll, free_watch);
}

/* Calls curl for one socket or for its timeouts, then reports transfers that have ended. */
static void drive(struct ing_multi *m, curl_socket_t fd, int events)
{
	int running;
	int left;
	bool measured = m->calls++ % MEASURE_EACH == MEASURED;
	uint64_t from = measured ? ing_thread_cpu_ns() : 0;
	ing_must(curl_multi_socket_action(m->curl, fd, events, &running) == CURLM_OK);
	for (CURLMsg *msg = curl_multi_info_read(m->curl, &left); msg != NULL;
		msg = curl_multi_info_read(m->curl, &left)) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		CURL *easy = msg->easy_handle; /* msg is freed when the handle is removed */
		CURLcode rc = msg->data.result;
		m->user.done(m->user.ctx, easy, rc);
	}
	if (measured)
		m->cpu_ns += MEASURE_EACH * (ing_thread_cpu_ns() - from);
	m->user.idle(m->user.ctx);
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
	struct watch *w = ING_CONTAINER(poll, struct watch, poll);
	if (status < 0)
		events = w->events; /* curl reads what is left, then finds the error itself */
	int mask = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
		   (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);
	drive(w->multi, w->fd, mask);
	/* closed handles are freed when the loop turns, so w is still there */
	if (status < 0 && !uv_is_closing((uv_handle_t *)poll) && !uv_is_active((uv_handle_t *)poll))
		uv_poll_start(poll, w->events, on_socket);
}

static void on_timer(uv_timer_t *timer)
{
	drive(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void on_immediate(uv_idle_t *immediate)
{
	uv_idle_stop(immediate);
	drive(immediate->data, CURL_SOCKET_TIMEOUT, 0);
}

/* curl's CURLMOPT_SOCKETFUNCTION */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
	struct ing_multi *m = user;
	struct watch *w = socket_user;
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w != NULL)
			close_watch(w);
		curl_multi_assign(m->curl, fd, NULL);
		return 0;
	}
	if (w == NULL) {
		w = ing_alloc(sizeof(*w));
		w->multi = m;
		w->fd = fd;
		if (uv_poll_init(m->loop, &w->poll, fd) != 0) {
			free(w);
			/* an error would end every transfer; this one times out */
			return 0;
		}
		DL_PREPEND(m->watches, w);
		curl_multi_assign(m->curl, fd, w);
	}
	w->events =
		(what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
	uv_poll_start(&w->poll, w->events, on_socket);
	return 0;
}

/* curl's CURLMOPT_TIMERFUNCTION */
static int set_timer(CURLM *curl, long timeout_ms, void *user)
{
	struct ing_multi *m = user;
	(void)curl;
	if (timeout_ms == 0)
		uv_idle_start(m->immediate, on_immediate);
	else
		uv_idle_stop(m->immediate);
	if (timeout_ms > 0)
		uv_timer_start(m->timer, on_timer, (uint64_t)timeout_ms, 0);
	else
		uv_timer_stop(m->timer);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_multi *ing_multi_new(
	struct uv_loop_s *loop, unsigned max_connections, const struct ing_multi_user *user)
{
	struct ing_multi *m = ing_alloc(sizeof(*m));
	*m = (struct ing_multi){.loop = loop, .user = *user, .curl = curl_multi_init()};
	ing_must(m->curl != NULL);
	m->timer = ing_alloc(sizeof(*m->timer));
	m->immediate = ing_alloc(sizeof(*m->immediate));
	ing_must(uv_timer_init(loop, m->timer) == 0 && uv_idle_init(loop, m->immediate) == 0);
	m->timer->data = m;
	m->immediate->data = m;
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, (long)max_connections);
	curl_multi_setopt(m->curl, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	return m;
}

void ing_multi_free(struct ing_multi *m)
{
	if (m == NULL)
		return;
	curl_multi_cleanup(m->curl);
	while (m->watches != NULL)
		close_watch(m->watches);
	uv_close((uv_handle_t *)m->timer, free_handle);
	uv_close((uv_handle_t *)m->immediate, free_handle);
	free(m);
}

void ing_multi_add(struct ing_multi *m, CURL *easy)
{
	ing_must(curl_multi_add_handle(m->curl, easy) == CURLM_OK);
}

void ing_multi_remove(struct ing_multi *m, CURL *easy)
{
	ing_must(curl_multi_remove_handle(m->curl, easy) == CURLM_OK);
}

CURLcode ing_multi_resume(struct ing_multi *m, CURL *easy)
{
	uint64_t from = ing_thread_cpu_ns();
	CURLcode rc = curl_easy_pause(easy, CURLPAUSE_CONT);
	m->cpu_ns += ing_thread_cpu_ns() - from;
	return rc;
}

uint64_t ing_multi_cpu_ns(const struct ing_multi *m)
{
	return m->cpu_ns;
}
