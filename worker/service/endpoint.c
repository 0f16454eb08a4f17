/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The thread, who may connect, and what waits for a snapshot.
 *
 * A user who may not is told so, but not more often than a few at a time: beyond that connections are
 * closed as they come, so that they take none of the places of those who may.
 */
#include "worker/service/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/signals.h"
#include "worker/service/endpoint_head.h"
#include "worker/service/endpoint_priv.h"
#include "worker/service/peers.h"

#define ENDPOINT_MAGIC 0x656e6470u
#define UNIX_PREFIX "unix:"
#define UNIX_MODE 0660
#define BACKLOG 64
#define MAX_STRANGERS 4
#define HEAD_BYTES 16384
#define BODY_BYTES 1024 /* nothing here takes one */
#define IDLE_MS 20000   /* longer than it is from one scrape to the next, mostly */
#define REQUEST_MS 20000
#define ANSWER_MS 20000
#define POLL_MS 50
#define WAIT_MS 3000 /* for a snapshot; the loop makes one each second */

/* What connected() has found out. */
enum mark { STRANGER, WELCOME };

struct ing_waiting {
	struct ing_waiting *prev, *next;
	struct ing_http_exchange *x;
	const struct ing_endpoint_page *page;
	uint64_t until_ms;
};

/* --- snapshots --- */

static void take_snapshot(struct ing_endpoint *e)
{
	struct ing_snapshot *newest = ing_mailbox_take(&e->mailbox);
	if (newest == NULL)
		return;
	ing_snapshot_free(e->snapshot);
	e->snapshot = newest;
}

static bool has_what_it_needs(const struct ing_endpoint *e, const struct ing_endpoint_page *page)
{
	return (!page->needs_snapshot || e->snapshot != NULL) &&
	       (!page->detailed || (e->snapshot != NULL && e->snapshot->detailed));
}

static void end_waiting(struct ing_endpoint *e, struct ing_waiting *w)
{
	DL_DELETE(e->waiting, w);
	*ing_http_slot(w->x) = NULL;
	free(w);
	if (e->waiting == NULL)
		uv_timer_stop(&e->poll);
}

static void on_poll(uv_timer_t *timer)
{
	struct ing_endpoint *e;
	ING_CAST_OBJ(e, timer->data, ENDPOINT_MAGIC);
	uint64_t now_ms = ing_now_ms();
	struct ing_waiting *w, *next;
	take_snapshot(e);
	DL_FOREACH_SAFE (e->waiting, w, next) {
		if (!has_what_it_needs(e, w->page) && now_ms < w->until_ms)
			continue;
		struct ing_http_exchange *x = w->x;
		const struct ing_endpoint_page *page = w->page;
		end_waiting(e, w);
		page->serve(e, x, e->snapshot);
	}
}

static void wait_for_snapshot(
	struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_endpoint_page *page)
{
	struct ing_waiting *w = ing_alloc(sizeof(*w));
	*w = (struct ing_waiting){.x = x, .page = page, .until_ms = ing_now_ms() + WAIT_MS};
	*ing_http_slot(x) = w;
	if (e->waiting == NULL)
		uv_timer_start(&e->poll, on_poll, POLL_MS, POLL_MS);
	DL_APPEND(e->waiting, w);
}

/* --- the server's callbacks --- */

static bool connected(void *ctx, int fd, unsigned *ret_mark)
{
	struct ing_endpoint *e = ctx;
	if (ing_peers_allow(e->peers, fd)) {
		*ret_mark = WELCOME;
		return true;
	}
	if (e->strangers == MAX_STRANGERS) {
		e->stats.refused++;
		return false;
	}
	e->strangers++;
	return true;
}

static void disconnected(void *ctx, unsigned mark)
{
	struct ing_endpoint *e = ctx;
	if (mark == STRANGER)
		e->strangers--;
}

static bool is_method(const struct ing_http_exchange *x)
{
	return strcmp(ing_http_method(x), "GET") == 0 || strcmp(ing_http_method(x), "HEAD") == 0;
}

static void begin(void *ctx, struct ing_http_exchange *x)
{
	struct ing_endpoint *e = ctx;
	const char *text = "text/plain; charset=utf-8";
	e->stats.requests++;
	if (ing_http_mark(x) != WELCOME) {
		e->stats.refused++;
		ing_http_add_header(x, "Connection", "close");
		ing_endpoint_answer(x, 403, text,
			"not for this user: metrics.users of the worker says for whom\n");
	} else if (e->socket.folder < 0 &&
		   !ing_endpoint_is_local_host(ing_http_header(x, "Host"))) {
		ing_endpoint_answer(
			x, 421, text, "asked by another name than localhost or 127.0.0.1\n");
	} else if (ing_endpoint_page(ing_http_path(x)) == NULL) {
		ing_endpoint_answer(x, 404, text, "there is nothing here\n");
	} else if (!is_method(x)) {
		ing_http_add_header(x, "Allow", "GET, HEAD");
		ing_endpoint_answer(x, 405, text, "allowed: GET, HEAD\n");
	}
}

static void serve(void *ctx, struct ing_http_exchange *x)
{
	struct ing_endpoint *e = ctx;
	const struct ing_endpoint_page *page = ing_endpoint_page(ing_http_path(x));
	take_snapshot(e);
	if (page->detailed)
		ing_mailbox_set_asked(&e->mailbox, ing_now_ms());
	if (has_what_it_needs(e, page))
		page->serve(e, x, e->snapshot);
	else
		wait_for_snapshot(e, x, page);
}

static void gone(void *ctx, struct ing_http_exchange *x)
{
	struct ing_waiting *w = *ing_http_slot(x);
	if (w != NULL)
		end_waiting(ctx, w);
}

/* --- the thread --- */

static void answer_waiting(struct ing_endpoint *e)
{
	struct ing_waiting *w, *next;
	DL_FOREACH_SAFE (e->waiting, w, next) {
		struct ing_http_exchange *x = w->x;
		end_waiting(e, w);
		ing_endpoint_answer(x, 503, "text/plain; charset=utf-8", "stopping\n");
	}
}

static void on_stop(uv_async_t *stop)
{
	struct ing_endpoint *e;
	ING_CAST_OBJ(e, stop->data, ENDPOINT_MAGIC);
	answer_waiting(e);
	ing_http_server_free(ING_TAKE(e->http));
	uv_close((uv_handle_t *)&e->poll, NULL);
	uv_close((uv_handle_t *)&e->stop, NULL);
}

static void *run(void *arg)
{
	struct ing_endpoint *e = arg;
	pthread_setname_np(pthread_self(), "endpoint");
	uv_run(&e->loop, UV_RUN_DEFAULT);
	return NULL;
}

/* --- begin and end --- */

static int listen_at(struct ing_endpoint *e, const char *listen_text, struct ing_error *err)
{
	if (strncmp(listen_text, UNIX_PREFIX, strlen(UNIX_PREFIX)) != 0) {
		int rc = ing_http_listen(listen_text, &e->listen_fd, err);
		if (rc == 0)
			ing_http_listening(e->listen_fd, e->listening, sizeof(e->listening));
		return rc;
	}
	snprintf(e->listening, sizeof(e->listening), "%s", listen_text);
	const char *path = listen_text + strlen(UNIX_PREFIX);
	if (ing_unix_socket_answers(path))
		return ing_error_set(err, ING_FAIL_SYSTEM, "%s: another process listens", path);
	int rc = ing_unix_socket_init(&e->socket, path, UNIX_MODE, &e->listen_fd, err);
	if (rc == 0 && listen(e->listen_fd, BACKLOG) != 0)
		rc = ing_error_sys(err, errno, "%s: cannot listen", listen_text);
	return rc;
}

static int start_server(struct ing_endpoint *e, struct ing_error *err)
{
	const struct ing_http_server_conf http = {
		.listen_fd = e->listen_fd,
		.max_connections = ING_ENDPOINT_CONNECTIONS,
		.head_bytes = HEAD_BYTES,
		.max_body_bytes = BODY_BYTES,
		.idle_ms = IDLE_MS,
		.request_ms = REQUEST_MS,
		.answer_ms = ANSWER_MS,
		.ctx = e,
		.connected = connected,
		.disconnected = disconnected,
		.begin = begin,
		.serve = serve,
		.gone = gone,
	};
	e->listen_fd = -1;
	return ing_http_server_new(&e->loop, &http, &e->http, err);
}

static int open_all(
	struct ing_endpoint *e, const struct ing_metrics_settings *settings, struct ing_error *err)
{
	int rc = listen_at(e, settings->listen, err);
	if (rc != 0)
		ing_error_context(err, "metrics.listen");
	gid_t gid = e->socket.folder < 0 ? (gid_t)-1 : e->socket.gid;
	if (rc == 0)
		rc = ing_peers_new(settings->users, gid, &e->peers, err);
	if (rc == 0)
		rc = start_server(e, err);
	int errnum = rc == 0 ? ing_thread_create(&e->thread, run, e) : 0;
	if (errnum != 0)
		rc = ing_error_sys(err, errnum, "metrics.listen: thread");
	return rc;
}

/* Everything but the thread, which has ended or never began. */
static void free_all(struct ing_endpoint *e)
{
	ing_http_server_free(ING_TAKE(e->http));
	if (!uv_is_closing((uv_handle_t *)&e->stop)) {
		uv_close((uv_handle_t *)&e->poll, NULL);
		uv_close((uv_handle_t *)&e->stop, NULL);
	}
	uv_run(&e->loop, UV_RUN_DEFAULT);
	ing_must(uv_loop_close(&e->loop) == 0);
	if (e->listen_fd >= 0)
		close(e->listen_fd);
	ing_unix_socket_done(&e->socket);
	ing_peers_free(e->peers);
	ing_mailbox_done(&e->mailbox);
	ing_snapshot_free(e->snapshot);
	for (size_t i = 0; i < ING_ARRAY_LEN(e->texts); i++)
		ing_blob_unref(e->texts[i]);
	free(e);
}

/* -------------------------------------------------------------------------------------------- */

int ing_endpoint_new(const struct ing_metrics_settings *settings, struct ing_endpoint **ret,
	struct ing_error *err)
{
	struct ing_endpoint *e = ing_alloc(sizeof(*e));
	*e = (struct ing_endpoint){.magic = ENDPOINT_MAGIC, .listen_fd = -1, .socket.folder = -1};
	ing_mailbox_init(&e->mailbox, ing_snapshot_free);
	ing_mailbox_set_worked(&e->mailbox, ing_now_ms());
	ing_must(uv_loop_init(&e->loop) == 0);
	ing_must(uv_async_init(&e->loop, &e->stop, on_stop) == 0);
	ing_must(uv_timer_init(&e->loop, &e->poll) == 0);
	e->stop.data = e->poll.data = e;
	int rc = open_all(e, settings, err);
	if (rc != 0)
		free_all(e);
	else
		*ret = e;
	return rc;
}

struct ing_mailbox *ing_endpoint_mailbox(struct ing_endpoint *e)
{
	return &e->mailbox;
}

void ing_endpoint_listening(const struct ing_endpoint *e, char *ret, size_t ret_bytes)
{
	snprintf(ret, ret_bytes, "%s", e->listening);
}

void ing_endpoint_free(struct ing_endpoint *e)
{
	if (e == NULL)
		return;
	uv_async_send(&e->stop);
	pthread_join(e->thread, NULL);
	free_all(e);
}
