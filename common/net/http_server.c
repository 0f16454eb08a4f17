/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libmicrohttpd runs without threads of its own: its epoll descriptor and its next timeout are watched by the loop, which
 * calls MHD_run(). libmicrohttpd's own timeout is one of silence; a client that sends or takes a byte now and then is cut
 * off here, by shutdown(2) of its socket, which libmicrohttpd then sees as its end.
 */
#include "common/net/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/net/http_server_priv.h"

#define SERVER_MAGIC 0x68747470u
#define SWEEP_MS 500
#define BACKLOG 1024
#define MAX_TEXT_BYTES                                                                             \
	((size_t)1 << 30) /* of an answer, written at once: the program has bounds of its own */

struct ing_http_server {
	uint32_t magic;
	struct ing_http_server_conf conf;
	struct MHD_Daemon *mhd;
	uv_poll_t poll;
	uv_timer_t next, sweep; /* libmicrohttpd's timeout, our deadlines */
	unsigned open_handles;
	struct ing_http_connection *connections;
	unsigned connection_count;
	bool quiesced;
};

static void run_at(struct ing_http_server *s, uint64_t ms);

static void run(struct ing_http_server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;
	unsigned before = s->connection_count;
	MHD_run(s->mhd);
	/* At its limit libmicrohttpd does not listen, and only a run after one that has closed connections begins to. */
	if (s->connection_count < before)
		run_at(s, 0);
	else if (MHD_get_timeout(s->mhd, &ms) == MHD_YES)
		run_at(s, ms);
	else
		uv_timer_stop(&s->next);
}

static void on_next(uv_timer_t *timer)
{
	struct ing_http_server *s;
	ING_CAST_OBJ(s, timer->data, SERVER_MAGIC);
	run(s);
}

static void run_at(struct ing_http_server *s, uint64_t ms)
{
	uv_timer_start(&s->next, on_next, ms, 0);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct ing_http_server *s;
	ING_CAST_OBJ(s, poll->data, SERVER_MAGIC);
	run(s);
}

static void cut_off(struct ing_http_connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	c->deadline_ms = 0;
	if (info != NULL)
		shutdown(info->connect_fd, SHUT_RDWR);
}

static void on_sweep(uv_timer_t *timer)
{
	struct ing_http_server *s;
	ING_CAST_OBJ(s, timer->data, SERVER_MAGIC);
	uint64_t now = ing_now_ms();
	for (struct ing_http_connection *c = s->connections; c != NULL; c = c->next)
		if (c->deadline_ms != 0 && now >= c->deadline_ms)
			cut_off(c);
}

/* --- libmicrohttpd's callbacks --- */

static void on_connection(void *cls, struct MHD_Connection *mhd, void **slot,
	enum MHD_ConnectionNotificationCode code)
{
	struct ing_http_server *s = cls;
	struct ing_http_connection *c = *slot;
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (s->conf.disconnected != NULL && !c->refused)
			s->conf.disconnected(s->conf.ctx, c->mark);
		if (c->prev != NULL)
			c->prev->next = c->next;
		else
			s->connections = c->next;
		if (c->next != NULL)
			c->next->prev = c->prev;
		s->connection_count--;
		free(c);
		return;
	}
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	c = ing_alloc(sizeof(*c));
	*c = (struct ing_http_connection){.server = s,
		.mhd = mhd,
		.next = s->connections,
		.deadline_ms = ing_now_ms() + s->conf.request_ms};
	if (info != NULL)
		ing_addr_from_sockaddr(info->client_addr, &c->peer);
	if (c->next != NULL)
		c->next->prev = c;
	s->connections = c;
	s->connection_count++;
	*slot = c;
	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	c->refused = info == NULL ||
		     (s->conf.connected != NULL &&
			     !s->conf.connected(s->conf.ctx, info->connect_fd, &c->mark));
	if (c->refused)
		cut_off(c);
}

static struct ing_http_connection *connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info->socket_context;
}

/* Behind a NUL nothing of a path is seen, so what is checked is not what was asked for. */
static size_t unescape(void *cls, struct MHD_Connection *mhd, char *text)
{
	(void)cls;
	size_t bytes = MHD_http_unescape(text);
	if (strlen(text) != bytes)
		connection_of(mhd)->nul = true;
	return bytes;
}

static enum MHD_Result queue_answer(struct ing_http_exchange *x)
{
	struct ing_http_server *s = x->server;
	struct MHD_Response *response = ing_http_response(x, s->quiesced);
	x->connection->deadline_ms = ing_now_ms() + s->conf.answer_ms;
	enum MHD_Result rc = MHD_queue_response(x->mhd, x->status, response);
	MHD_destroy_response(response);
	return rc;
}

static void refuse(struct ing_http_exchange *x, unsigned status, const char *why)
{
	const struct ing_http_server_conf *conf = &x->server->conf;
	ing_http_add_header(x, "Connection", "close");
	if (conf->refused != NULL) {
		conf->refused(conf->ctx, x, status, why);
	} else {
		ing_http_add_header(x, "Content-Type", "text/plain; charset=utf-8");
		ing_http_add_text(x, why);
	}
	ing_http_answer(x, status);
}

/* Its head has come. */
static enum MHD_Result begin(struct ing_http_server *s, struct MHD_Connection *mhd,
	const char *method, const char *path, void **slot)
{
	struct ing_http_exchange *x = ing_alloc(sizeof(*x));
	*x = (struct ing_http_exchange){.server = s,
		.mhd = mhd,
		.connection = connection_of(mhd),
		.method = method,
		.path = ing_strdup(path),
		.begun = true};
	*slot = x;
	ing_buf_init(&x->body, s->conf.max_body_bytes);
	ing_buf_init(&x->text, MAX_TEXT_BYTES);
	const char *why = ing_http_refusal(x);
	const char *length = ing_http_header(x, "Content-Length");
	if (why != NULL)
		refuse(x, 400, why);
	else if (length != NULL && strtoull(length, NULL, 10) > s->conf.max_body_bytes)
		refuse(x, 413, "the body is too large");
	else
		s->conf.begin(s->conf.ctx, x);
	return x->answered ? queue_answer(x) : MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_bytes,
	void **slot)
{
	(void)version;
	struct ing_http_server *s = cls;
	struct ing_http_exchange *x = *slot;
	if (x == NULL)
		return begin(s, mhd, method, url, slot);
	if (*upload_bytes > 0) {
		/* What has been read is gone, so that nothing but its end helps against a body without one. */
		if (x->body.failed)
			return MHD_NO;
		ing_buf_add(&x->body, upload, *upload_bytes);
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (!x->served) {
		x->served = true;
		x->connection->deadline_ms = 0;
		if (x->body.failed)
			refuse(x, 413, "the body is too large");
		else
			s->conf.serve(s->conf.ctx, x);
	}
	if (x->answered)
		return queue_answer(x);
	x->suspended = true;
	MHD_suspend_connection(mhd);
	return MHD_YES;
}

static void on_completed(
	void *cls, struct MHD_Connection *mhd, void **slot, enum MHD_RequestTerminationCode why)
{
	(void)why;
	struct ing_http_server *s = cls;
	struct ing_http_exchange *x = *slot;
	if (x == NULL)
		return;
	*slot = NULL;
	connection_of(mhd)->deadline_ms = ing_now_ms() + s->conf.request_ms;
	connection_of(mhd)->nul = false;
	s->conf.gone(s->conf.ctx, x);
	ing_http_exchange_free(x);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list ap)
{
	(void)cls;
	char line[512];
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = '\0';
	ing_log(ING_LOG_DEBUG, "HTTP: %s", line);
}

/* --- begin and end --- */

static int start_daemon(struct ing_http_server *s, struct ing_error *err)
{
	const struct ing_http_server_conf *c = &s->conf;
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[] = {{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
	if (c->tls != NULL) {
		flags |= MHD_USE_TLS;
		tls[0] = (struct MHD_OptionItem){
			MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, ing_http_tls_retrieve()};
	}
	s->mhd = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER,
		on_log, NULL, MHD_OPTION_LISTEN_SOCKET, c->listen_fd, MHD_OPTION_CONNECTION_LIMIT,
		c->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, c->max_per_address,
		MHD_OPTION_CONNECTION_TIMEOUT, ING_MAX(c->idle_ms / 1000, 1u),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, c->head_bytes, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_ARRAY,
		tls, MHD_OPTION_END);
	if (s->mhd == NULL)
		return ing_error_set(
			err, ING_FAIL_SYSTEM, "HTTP server: libmicrohttpd does not start");
	return 0;
}

static void free_closed(uv_handle_t *handle)
{
	struct ing_http_server *s;
	ING_CAST_OBJ(s, handle->data, SERVER_MAGIC);
	if (--s->open_handles > 0)
		return;
	s->magic = 0;
	free(s);
}

/* ------------------------------------------------------------------------------------------ */

int ing_http_server_new(struct uv_loop_s *loop, const struct ing_http_server_conf *conf,
	struct ing_http_server **ret, struct ing_error *err)
{
	struct ing_http_server *s = ing_alloc(sizeof(*s));
	*s = (struct ing_http_server){.magic = SERVER_MAGIC, .conf = *conf, .open_handles = 3};
	int rc = start_daemon(s, err);
	if (rc != 0) {
		close(conf->listen_fd);
		free(s);
		return rc;
	}
	int fd = MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	ing_must(uv_poll_init(loop, &s->poll, fd) == 0);
	ing_must(uv_timer_init(loop, &s->next) == 0);
	ing_must(uv_timer_init(loop, &s->sweep) == 0);
	s->poll.data = s->next.data = s->sweep.data = s;
	uv_poll_start(&s->poll, UV_READABLE, on_readable);
	uv_timer_start(&s->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	*ret = s;
	return 0;
}

void ing_http_server_quiesce(struct ing_http_server *s)
{
	if (s->quiesced)
		return;
	s->quiesced = true;
	int fd = MHD_quiesce_daemon(s->mhd);
	if (fd >= 0)
		close(fd);
	/* Connections on which nothing is under way have nothing to wait for. */
	uint64_t soon = ing_now_ms() + SWEEP_MS;
	for (struct ing_http_connection *c = s->connections; c != NULL; c = c->next)
		if (c->deadline_ms != 0)
			c->deadline_ms = ING_MIN(c->deadline_ms, soon);
	run_at(s, 0);
}

unsigned ing_http_server_connections(const struct ing_http_server *s)
{
	return s->connection_count;
}

void ing_http_server_free(struct ing_http_server *s)
{
	if (s == NULL)
		return;
	MHD_run(s->mhd); /* what was answered last is resumed, which libmicrohttpd insists on */
	uv_poll_stop(&s->poll);
	MHD_stop_daemon(s->mhd);
	s->mhd = NULL;
	uv_close((uv_handle_t *)&s->poll, free_closed);
	uv_close((uv_handle_t *)&s->next, free_closed);
	uv_close((uv_handle_t *)&s->sweep, free_closed);
}

void ing_http_answer(struct ing_http_exchange *x, unsigned status)
{
	ing_must(!x->answered);
	x->answered = true;
	x->status = status;
	if (!x->suspended)
		return;
	x->suspended = false;
	MHD_resume_connection(x->mhd);
	run_at(x->server, 0);
}

/* --- sockets --- */

static bool parse_address(const char *text, struct sockaddr_storage *ret, socklen_t *ret_bytes)
{
	const char *colon = strrchr(text, ':');
	char host[ING_ADDR_TEXT_BYTES + 2];
	struct ing_addr addr;
	if (colon == NULL || (size_t)(colon - text) >= sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	size_t digits = strspn(colon + 1, "0123456789");
	unsigned long port = strtoul(colon + 1, NULL, 10);
	if (digits == 0 || digits > 5 || colon[1 + digits] != '\0' || port > 65535 ||
		!ing_addr_parse(host, &addr) || (addr.family == 6) != (host[0] == '['))
		return false;
	memset(ret, 0, sizeof(*ret));
	if (addr.family == 4) {
		struct sockaddr_in *in = (struct sockaddr_in *)ret;
		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)port);
		memcpy(&in->sin_addr, addr.bytes, 4);
		*ret_bytes = sizeof(*in);
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		memcpy(&in6->sin6_addr, addr.bytes, 16);
		*ret_bytes = sizeof(*in6);
	}
	return true;
}

int ing_http_listen(const char *address, int *ret_fd, struct ing_error *err)
{
	struct sockaddr_storage sa;
	socklen_t bytes;
	if (!parse_address(address, &sa, &bytes))
		return ing_error_set(err, ING_FAIL_USAGE,
			"%s: not ADDRESS:PORT, the address being IPv4 or [IPv6]", address);
	int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return ing_error_sys(err, errno, "%s: socket", address);
	int on = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&sa, bytes) != 0 || listen(fd, BACKLOG) != 0) {
		int rc = ing_error_sys(err, errno, "%s", address);
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

void ing_http_listening(int fd, char *ret, size_t ret_bytes)
{
	struct sockaddr_storage sa = {0};
	socklen_t bytes = sizeof(sa);
	struct ing_addr addr;
	char text[ING_ADDR_TEXT_BYTES];
	snprintf(ret, ret_bytes, "?");
	if (getsockname(fd, (struct sockaddr *)&sa, &bytes) != 0 ||
		!ing_addr_from_sockaddr((struct sockaddr *)&sa, &addr))
		return;
	bool six = sa.ss_family == AF_INET6;
	unsigned port = ntohs(six ? ((struct sockaddr_in6 *)&sa)->sin6_port
				  : ((struct sockaddr_in *)&sa)->sin_port);
	ing_addr_format(&addr, text);
	snprintf(ret, ret_bytes, six ? "[%s]:%u" : "%s:%u", text, port);
}
