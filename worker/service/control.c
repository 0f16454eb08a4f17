/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The worker's end of the control socket. A client can do nothing but ask once: its connection has
 * one timer from beginning to end, and a full table of connections is simply not accepted into, so
 * that neither a drip nor a crowd costs more than sixteen small buffers.
 */
#include "worker/service/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/buf.h"
#include "worker/service/unix_socket.h"

#define CONTROL_MAGIC 0x6374726c
#define CONNECTION_MAGIC 0x63636f6e
#define READ_BYTES ((size_t)4096)
#define MAX_DEPTH 8 /* of a request's JSON */

struct connection {
	unsigned magic;
	struct ing_control *control;
	struct connection *prev, *next;
	uv_pipe_t pipe;
	uv_timer_t timer;
	unsigned handles; /* not closed yet */
	uv_write_t write;
	char *answer;
	struct ing_buf request;
};

struct ing_control {
	unsigned magic;
	uv_pipe_t listener;
	ing_control_f *handler;
	void *ctx;
	struct connection *connections;
	unsigned count;
	bool waiting; /* the listener has one that there was no room for */
	bool closed, freed;
	struct ing_unix_socket socket;
};

/* --- one connection --- */

static void release_control(struct ing_control *c)
{
	if (!c->freed || !c->closed || c->count > 0)
		return;
	free(c);
}

static void accept_waiting(struct ing_control *c);

static void on_connection_closed(uv_handle_t *h)
{
	struct connection *n;
	ING_CAST_OBJ(n, h->data, CONNECTION_MAGIC);
	if (--n->handles > 0)
		return;
	struct ing_control *c = n->control;
	if (n->prev != NULL)
		n->prev->next = n->next;
	else
		c->connections = n->next;
	if (n->next != NULL)
		n->next->prev = n->prev;
	c->count--;
	n->magic = 0;
	ing_buf_done(&n->request);
	free(n->answer);
	free(n);
	if (c->freed)
		release_control(c);
	else
		accept_waiting(c);
}

static void close_connection(struct connection *n)
{
	if (uv_is_closing((uv_handle_t *)&n->pipe))
		return;
	uv_close((uv_handle_t *)&n->pipe, on_connection_closed);
	uv_close((uv_handle_t *)&n->timer, on_connection_closed);
}

static void on_timeout(uv_timer_t *t)
{
	struct connection *n;
	ING_CAST_OBJ(n, t->data, CONNECTION_MAGIC);
	close_connection(n);
}

static void on_written(uv_write_t *w, int status)
{
	struct connection *n;
	(void)status; /* gone or not, this is the end of it */
	ING_CAST_OBJ(n, w->data, CONNECTION_MAGIC);
	close_connection(n);
}

/* Takes answer. */
static void send_answer(struct connection *n, json_t *answer)
{
	struct ing_buf line;
	uv_read_stop((uv_stream_t *)&n->pipe);
	ing_buf_init(&line, ING_CONTROL_ANSWER_BYTES);
	ing_json_add(&line, answer);
	ing_buf_add_char(&line, '\n');
	json_decref(answer);
	if (line.failed) {
		ing_buf_clear(&line);
		line.failed = false;
		ing_buf_add_str(&line, "{\"error\":\"the answer is too long\"}\n");
	}
	uv_buf_t piece = uv_buf_init(NULL, (unsigned)line.len);
	n->answer = ing_buf_steal(&line);
	piece.base = n->answer;
	n->write.data = n;
	if (uv_write(&n->write, (uv_stream_t *)&n->pipe, &piece, 1, on_written) != 0)
		close_connection(n);
}

static json_t *answer_request(const struct ing_control *c, const char *text, size_t bytes)
{
	static const struct ing_json_limits limits = {.depth = MAX_DEPTH};
	struct ing_error err = {0};
	json_t *request = ing_json_parse(text, bytes, &limits, &err);
	if (request == NULL)
		return json_pack("{s:s}", "error",
			err.code == ING_FAIL_TOO_DEEP ? "a request is not nested so deep"
						      : "that is no JSON");
	json_t *answer = json_is_object(request)
				 ? c->handler(c->ctx, request)
				 : json_pack("{s:s}", "error", "a request is a JSON object");
	json_decref(request);
	return answer;
}

/* The mode of the socket keeps others out; this holds when somebody has changed it. */
static bool may_ask(const struct connection *n)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int fd = -1;
	if (uv_fileno((const uv_handle_t *)&n->pipe, &fd) != 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return false;
	return peer.uid == 0 || peer.uid == geteuid();
}

/* The request has ended behind `bytes`. */
static void finish_request(struct connection *n, size_t bytes)
{
	json_t *answer = may_ask(n) ? answer_request(n->control, ing_buf_str(&n->request), bytes)
				    : json_pack("{s:s}", "error",
					      "only root and the worker's own user may ask");
	ing_must(answer != NULL);
	send_answer(n, answer);
}

static void on_room_wanted(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct connection *n;
	(void)suggested;
	ING_CAST_OBJ(n, h->data, CONNECTION_MAGIC);
	size_t bytes = ING_MIN(READ_BYTES, n->request.max - n->request.len);
	ing_must(bytes > 0); /* a full buffer was answered, and is read into no more */
	char *room = ing_buf_reserve(&n->request, bytes);
	ing_must(room != NULL);
	*ret = uv_buf_init(room, (unsigned)bytes);
}

static void on_read(uv_stream_t *s, ssize_t bytes, const uv_buf_t *room)
{
	struct connection *n;
	ING_CAST_OBJ(n, s->data, CONNECTION_MAGIC);
	if (bytes == UV_EOF && n->request.len > 0) {
		finish_request(n, n->request.len); /* a last line needs no end */
		return;
	}
	if (bytes < 0) {
		close_connection(n);
		return;
	}
	const char *end = memchr(room->base, '\n', (size_t)bytes);
	ing_buf_commit(&n->request, (size_t)bytes);
	if (end != NULL)
		finish_request(n, (size_t)(end - n->request.data));
	else if (n->request.len == n->request.max)
		send_answer(n, json_pack("{s:s}", "error", "the request is too long"));
}

/* --- the listener --- */

static void accept_one(struct ing_control *c, uv_loop_t *loop)
{
	struct connection *n = ing_alloc(sizeof(*n));
	n->magic = CONNECTION_MAGIC;
	n->control = c;
	n->handles = 2;
	ing_buf_init(&n->request, ING_CONTROL_REQUEST_BYTES);
	uv_pipe_init(loop, &n->pipe, 0);
	uv_timer_init(loop, &n->timer);
	n->pipe.data = n->timer.data = n;
	n->next = c->connections;
	if (n->next != NULL)
		n->next->prev = n;
	c->connections = n;
	c->count++;
	uv_timer_start(&n->timer, on_timeout, ING_CONTROL_TIMEOUT_MS, 0);
	if (uv_accept((uv_stream_t *)&c->listener, (uv_stream_t *)&n->pipe) != 0 ||
		uv_read_start((uv_stream_t *)&n->pipe, on_room_wanted, on_read) != 0)
		close_connection(n);
}

static void accept_waiting(struct ing_control *c)
{
	if (!c->waiting || c->count >= ING_CONTROL_CONNECTIONS)
		return;
	c->waiting = false;
	accept_one(c, c->listener.loop);
}

static void on_connection(uv_stream_t *s, int status)
{
	struct ing_control *c;
	ING_CAST_OBJ(c, s->data, CONTROL_MAGIC);
	if (status != 0)
		return;    /* out of descriptors: libuv has turned the client away */
	c->waiting = true; /* nothing more comes until it is accepted */
	accept_waiting(c);
}

static void on_listener_closed(uv_handle_t *h)
{
	struct ing_control *c;
	ING_CAST_OBJ(c, h->data, CONTROL_MAGIC);
	c->closed = true;
	release_control(c);
}

static int listen_at(struct ing_control *c, const char *path, struct ing_error *err)
{
	int fd;
	int rc = ing_unix_socket_init(&c->socket, path, 0600, &fd, err);
	if (rc != 0)
		return rc;
	int uv_rc = uv_pipe_open(&c->listener, fd);
	if (uv_rc != 0)
		close(fd);
	else
		uv_rc = uv_listen(
			(uv_stream_t *)&c->listener, ING_CONTROL_CONNECTIONS, on_connection);
	if (uv_rc != 0)
		return ing_error_set(
			err, ING_FAIL_SYSTEM, "%s: cannot listen: %s", path, uv_strerror(uv_rc));
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_control_new(struct uv_loop_s *loop, const char *path, ing_control_f *handler, void *ctx,
	struct ing_control **ret, struct ing_error *err)
{
	struct ing_control *c = ing_alloc(sizeof(*c));
	c->magic = CONTROL_MAGIC;
	c->handler = handler;
	c->ctx = ctx;
	c->socket.folder = -1;
	uv_pipe_init(loop, &c->listener, 0);
	c->listener.data = c;
	int rc = listen_at(c, path, err);
	if (rc != 0)
		ing_control_free(c);
	else
		*ret = c;
	return rc;
}

void ing_control_free(struct ing_control *c)
{
	if (c == NULL)
		return;
	ing_unix_socket_done(&c->socket);
	c->freed = true;
	for (struct connection *n = c->connections; n != NULL; n = n->next)
		close_connection(n);
	uv_close((uv_handle_t *)&c->listener, on_listener_closed);
}
