/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One thread, poll(2), pairs of blocking sockets: what one side sends is written to the other at
 * once, for both ends read all the time.
 */
#include "tests/unit/worker/store/relay.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_PAIRS 16

struct pair {
	int client, server; /* -1: free */
	bool answer_is_cut; /* what the server says next */
};

struct relay {
	pthread_t thread;
	int listener, stop_fd;
	struct sockaddr_in server;
	atomic_int cuts;
	atomic_int how;
	struct pair pairs[MAX_PAIRS];
};

static void close_pair(struct pair *p)
{
	close(p->client);
	close(p->server);
	*p = (struct pair){-1, -1, false};
}

static bool send_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		data += n;
		bytes -= (size_t)n;
	}
	return true;
}

static bool asks_for_commit(const char *data, size_t bytes)
{
	static const char query[] = "Q\0\0\0\013COMMIT";
	return memmem(data, bytes, query, sizeof(query)) != NULL; /* its zero byte included */
}

/* False: the pair is to be closed. */
static bool from_client(struct relay *r, struct pair *p)
{
	char data[65536];
	ssize_t n = read(p->client, data, sizeof(data));
	if (n <= 0 || !send_all(p->server, data, (size_t)n))
		return false;
	if (!asks_for_commit(data, (size_t)n) || atomic_load(&r->cuts) == 0)
		return true;
	p->answer_is_cut = true;
	if (atomic_load(&r->how) == RELAY_ANSWER)
		return true;
	atomic_fetch_sub(&r->cuts, 1);
	return false;
}

static bool from_server(struct relay *r, struct pair *p)
{
	char data[65536];
	ssize_t n = read(p->server, data, sizeof(data));
	if (p->answer_is_cut) {
		atomic_fetch_sub(&r->cuts, 1);
		return false;
	}
	return n > 0 && send_all(p->client, data, (size_t)n);
}

static void accept_pair(struct relay *r)
{
	for (struct pair *p = r->pairs; p < r->pairs + MAX_PAIRS; p++) {
		if (p->client >= 0)
			continue;
		p->client = accept(r->listener, NULL, NULL);
		p->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(p->server, (const struct sockaddr *)&r->server, sizeof(r->server)) != 0)
			close_pair(p);
		return;
	}
}

static void *relay_main(void *arg)
{
	struct relay *r = arg;
	for (;;) {
		struct pollfd fds[2 + 2 * MAX_PAIRS] = {{.fd = r->stop_fd, .events = POLLIN},
			{.fd = r->listener, .events = POLLIN}};
		for (size_t i = 0; i < MAX_PAIRS; i++) {
			fds[2 + 2 * i] =
				(struct pollfd){.fd = r->pairs[i].client, .events = POLLIN};
			fds[3 + 2 * i] =
				(struct pollfd){.fd = r->pairs[i].server, .events = POLLIN};
		}
		poll(fds, 2 + 2 * MAX_PAIRS, -1);
		if (fds[0].revents != 0)
			return NULL;
		for (size_t i = 0; i < MAX_PAIRS; i++) {
			struct pair *p = &r->pairs[i];
			bool open = fds[2 + 2 * i].revents == 0 || from_client(r, p);
			if (open && fds[3 + 2 * i].revents != 0)
				open = from_server(r, p);
			if (!open)
				close_pair(p);
		}
		if (fds[1].revents != 0)
			accept_pair(r);
	}
}

static const char *option(const PQconninfoOption *options, const char *name)
{
	for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
		if (strcmp(o->keyword, name) == 0)
			return o->val;
	}
	return NULL;
}

/* ------------------------------------------------------------------------------------------ */

struct relay *relay_start(const char *dsn, char *ret_dsn, size_t bytes)
{
	struct relay *r = calloc(1, sizeof(*r));
	PQconninfoOption *options = PQconninfoParse(dsn, NULL);
	assert_non_null(r);
	assert_non_null(options);
	r->server = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtol(option(options, "port"), NULL, 10)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(own);
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(r->listener, (const struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(listen(r->listener, 8), 0);
	assert_int_equal(getsockname(r->listener, (struct sockaddr *)&own, &length), 0);
	r->stop_fd = eventfd(0, EFD_CLOEXEC);
	for (size_t i = 0; i < MAX_PAIRS; i++)
		r->pairs[i] = (struct pair){-1, -1, false};
	snprintf(ret_dsn, bytes, "host=127.0.0.1 port=%d user=%s passfile='%s' dbname='%s'",
		ntohs(own.sin_port), option(options, "user"), option(options, "passfile"),
		option(options, "dbname"));
	PQconninfoFree(options);
	assert_int_equal(pthread_create(&r->thread, NULL, relay_main, r), 0);
	return r;
}

void relay_stop(struct relay *r)
{
	assert_int_equal(write(r->stop_fd, &(uint64_t){1}, sizeof(uint64_t)), sizeof(uint64_t));
	pthread_join(r->thread, NULL);
	for (size_t i = 0; i < MAX_PAIRS; i++) {
		if (r->pairs[i].client >= 0)
			close_pair(&r->pairs[i]);
	}
	close(r->listener);
	close(r->stop_fd);
	free(r);
}

void relay_cut(struct relay *r, enum relay_cut how, int count)
{
	atomic_store(&r->how, how);
	atomic_store(&r->cuts, count);
}

int relay_cuts_left(const struct relay *r)
{
	return atomic_load(&r->cuts);
}
