/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocking sockets and one lock. Waiting is poll(2) on a pipe that web_stop() closes.
 */
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/base/macros.h"

struct web {
	const struct web_page *pages;
	SSL_CTX *tls;
	int listener;
	int stop[2];
	unsigned port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	unsigned running, connections, handling, most_handling;
	char last[32 << 10];
};

#define MAX_SERVERS 32
static char port_texts[MAX_SERVERS][8];
static char *port_list[MAX_SERVERS + 1];
static size_t port_count;

unsigned char test_pattern(size_t at)
{
	return (unsigned char)(at * 31 + at / 251 + at / 65537);
}

void web_send(struct web_conn *c, const void *data, size_t bytes)
{
	const char *at = data;
	while (bytes > 0) {
		size_t piece = ING_MIN(bytes, (size_t)1 << 20);
		ssize_t n = c->tls != NULL ? SSL_write(c->tls, at, (int)piece)
					   : send(c->fd, at, piece, MSG_NOSIGNAL);
		if (n <= 0) {
			c->over = true; /* the client has gone: not this side's failure */
			return;
		}
		at += n;
		bytes -= (size_t)n;
	}
}

void web_say(struct web_conn *c, const char *text)
{
	web_send(c, text, strlen(text));
}

void web_sayf(struct web_conn *c, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ing_must(n >= 0 && (size_t)n < sizeof(text));
	web_send(c, text, (size_t)n);
}

void web_pattern(struct web_conn *c, size_t from, size_t bytes)
{
	unsigned char piece[16 << 10];
	for (size_t done = 0; done < bytes && !c->over;) {
		size_t n = ING_MIN(sizeof(piece), bytes - done);
		for (size_t i = 0; i < n; i++)
			piece[i] = test_pattern(from + done + i);
		web_send(c, piece, n);
		done += n;
	}
}

bool web_receive(struct web_conn *c, void *ret_data, size_t bytes)
{
	char *at = ret_data;
	while (bytes > 0) {
		size_t piece = ING_MIN(bytes, (size_t)1 << 20);
		ssize_t n = c->tls != NULL ? SSL_read(c->tls, at, (int)piece)
					   : recv(c->fd, at, piece, 0);
		if (n <= 0) {
			c->over = true;
			return false;
		}
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

bool web_wait(struct web_conn *c, int ms)
{
	struct pollfd stop = {.fd = c->web->stop[0], .events = POLLIN};
	int rc;
	do
		rc = poll(&stop, 1, ms);
	while (rc < 0 && errno == EINTR);
	return rc == 0;
}

void web_reset(struct web_conn *c)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};
	ing_must(setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	c->over = true;
}

void web_tunnel(struct web_conn *c, unsigned port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int up = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ing_must(up >= 0 && connect(up, (struct sockaddr *)&in, sizeof(in)) == 0);
	web_say(c,
		"HTTP/1.1 200 Connection established\r\nX-Proxy: was here\r\nSet-Cookie: p=1\r\n\r\n");
	while (web_wait(c, 0)) {
		char data[16384];
		struct pollfd fds[2] = {
			{.fd = c->fd, .events = POLLIN}, {.fd = up, .events = POLLIN}};
		if (poll(fds, 2, 50) <= 0)
			continue;
		int from = fds[0].revents != 0 ? c->fd : up;
		ssize_t n = recv(from, data, sizeof(data), 0);
		if (n <= 0 || send(from == up ? c->fd : up, data, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	}
	close(up);
	c->over = true;
}

/* One byte at a time, so that nothing behind the head is taken. False at the end of the
 * connection. */
static bool read_head(struct web_conn *c)
{
	size_t len = 0;
	while (len < sizeof(c->request) - 1) {
		struct pollfd fds[2] = {
			{.fd = c->fd, .events = POLLIN}, {.fd = c->web->stop[0], .events = POLLIN}};
		bool pending = c->tls != NULL && SSL_pending(c->tls) > 0;
		if (!pending && (poll(fds, 2, -1) < 0 || fds[1].revents != 0))
			return false;
		ssize_t n = c->tls != NULL ? SSL_read(c->tls, c->request + len, 1)
					   : recv(c->fd, c->request + len, 1, 0);
		if (n <= 0)
			return false;
		len++;
		c->request[len] = '\0';
		if (len >= 4 && memcmp(c->request + len - 4, "\r\n\r\n", 4) == 0)
			return true;
	}
	return false;
}

static web_handler_f *find_handler(const struct web_conn *c)
{
	const char *path = strchr(c->request, ' ');
	if (path == NULL)
		return NULL;
	path++;
	size_t len = strcspn(path, " ?");
	const struct web_page *p = c->web->pages;
	for (; p->handler != NULL; p++)
		if (p->path == NULL || (strlen(p->path) == len && strncmp(p->path, path, len) == 0))
			return p->handler;
	return NULL;
}

static void serve(struct web_conn *c)
{
	struct web *w = c->web;
	while (!c->over && read_head(c)) {
		pthread_mutex_lock(&w->lock);
		memcpy(w->last, c->request, sizeof(w->last));
		w->handling++;
		w->most_handling = ING_MAX(w->most_handling, w->handling);
		pthread_mutex_unlock(&w->lock);
		web_handler_f *handler = find_handler(c);
		if (handler != NULL)
			handler(c);
		else
			web_say(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
		pthread_mutex_lock(&w->lock);
		w->handling--;
		c->served++;
		pthread_mutex_unlock(&w->lock);
	}
}

static void *run_connection(void *arg)
{
	struct web_conn *c = arg;
	struct web *w = c->web;
	if (w->tls != NULL) {
		c->tls = SSL_new(w->tls);
		ing_must(c->tls != NULL && SSL_set_fd(c->tls, c->fd) == 1);
		if (SSL_accept(c->tls) != 1)
			c->over = true;
	}
	serve(c);
	SSL_free(c->tls);
	close(c->fd);
	free(c);
	pthread_mutex_lock(&w->lock);
	if (--w->running == 0)
		pthread_cond_signal(&w->idle);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void accept_one(struct web *w)
{
	pthread_t thread;
	pthread_attr_t attr;
	struct web_conn *c = ing_alloc(sizeof(*c));
	c->web = w;
	c->fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC);
	if (c->fd < 0) {
		free(c);
		return;
	}
	int at_once = 1; /* what is said in pieces does not wait for the peer's acknowledgements */
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
	pthread_mutex_lock(&w->lock);
	w->running++;
	w->connections++;
	pthread_mutex_unlock(&w->lock);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, (size_t)512 << 10);
	ing_must(pthread_create(&thread, &attr, run_connection, c) == 0);
	pthread_attr_destroy(&attr);
}

static void *run_listener(void *arg)
{
	struct web *w = arg;
	for (;;) {
		struct pollfd fds[2] = {{.fd = w->listener, .events = POLLIN},
			{.fd = w->stop[0], .events = POLLIN}};
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents != 0)
			return NULL;
		if (fds[0].revents & POLLIN)
			accept_one(w);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct web *web_start(const struct web_page *pages, void *tls)
{
	struct web *w = ing_alloc(sizeof(*w));
	struct sockaddr_in in = {.sin_family = AF_INET};
	socklen_t len = sizeof(in);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without MSG_NOSIGNAL */
	w->pages = pages;
	w->tls = tls;
	w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ing_must(w->listener >= 0 && pipe(w->stop) == 0);
	ing_must(bind(w->listener, (struct sockaddr *)&in, sizeof(in)) == 0);
	ing_must(listen(w->listener, 1024) == 0);
	ing_must(getsockname(w->listener, (struct sockaddr *)&in, &len) == 0);
	w->port = ntohs(in.sin_port);
	ing_must(port_count < MAX_SERVERS);
	snprintf(port_texts[port_count], sizeof(port_texts[0]), "%u", w->port);
	port_list[port_count] = port_texts[port_count];
	port_count++;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->idle, NULL);
	ing_must(pthread_create(&w->thread, NULL, run_listener, w) == 0);
	return w;
}

void web_stop(struct web *w)
{
	close(w->stop[1]); /* the other end becomes readable for everybody */
	pthread_join(w->thread, NULL);
	pthread_mutex_lock(&w->lock);
	while (w->running > 0)
		pthread_cond_wait(&w->idle, &w->lock);
	pthread_mutex_unlock(&w->lock);
	close(w->listener);
	close(w->stop[0]);
	pthread_cond_destroy(&w->idle);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

unsigned web_port(const struct web *w)
{
	return w->port;
}

char *const *web_ports(void)
{
	return port_list;
}

unsigned web_connections(const struct web *w)
{
	return w->connections;
}

unsigned web_most_at_once(const struct web *w)
{
	return w->most_handling;
}

void web_last_request(struct web *w, char *ret_text, size_t bytes)
{
	pthread_mutex_lock(&w->lock);
	snprintf(ret_text, bytes, "%s", w->last);
	pthread_mutex_unlock(&w->lock);
}
