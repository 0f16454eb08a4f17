/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Just enough of RFC 1035: one question in, its records out.
 */
#include "names.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/base/macros.h"

#define HEAD_BYTES 12
#define TYPE_A 1
#define MAX_ROWS 64
#define TYPE_AAAA 28

struct names {
	const struct names_row *rows;
	int fd;
	int stop[2];
	unsigned port;
	char server[32];
	pthread_t thread;
	atomic_uint queries;
	unsigned asked[MAX_ROWS]; /* of the rows that change */
};

static const struct names_row *find_row(const struct names *n, const char *name)
{
	const struct names_row *row = n->rows;
	while (row->name != NULL && strcasecmp(row->name, name) != 0)
		row++;
	return row->name != NULL ? row : NULL;
}

/* The labels at the head of the question as dotted text; returns the bytes they take, 0 when there
 * is no sense in it. */
static size_t read_name(const unsigned char *from, size_t bytes, char *ret, size_t ret_bytes)
{
	size_t at = 0;
	size_t len = 0;
	while (at < bytes && from[at] != 0) {
		size_t label = from[at++];
		if (label > 63 || label > bytes - at || len + label + 2 > ret_bytes)
			return 0;
		if (len > 0)
			ret[len++] = '.';
		memcpy(ret + len, from + at, label);
		len += label;
		at += label;
	}
	ret[len] = '\0';
	return at < bytes ? at + 1 : 0;
}

static size_t add_record(unsigned char *to, unsigned type, unsigned ttl_s, const char *addr)
{
	size_t bytes = type == TYPE_A ? 4 : 16;
	unsigned char head[12] = {0xc0, HEAD_BYTES, 0, (unsigned char)type, 0, 1,
		(unsigned char)(ttl_s >> 24), (unsigned char)(ttl_s >> 16),
		(unsigned char)(ttl_s >> 8), (unsigned char)ttl_s, 0, (unsigned char)bytes};
	memcpy(to, head, sizeof(head));
	ing_must(inet_pton(type == TYPE_A ? AF_INET : AF_INET6, addr, to + sizeof(head)) == 1);
	return sizeof(head) + bytes;
}

/* Turns the question into the answer where it lies; 0: say nothing. */
static size_t answer(struct names *n, unsigned char *packet, size_t bytes)
{
	char name[256];
	size_t name_bytes = bytes > HEAD_BYTES ? read_name(packet + HEAD_BYTES, bytes - HEAD_BYTES,
							 name, sizeof(name))
					       : 0;
	if (name_bytes == 0 || HEAD_BYTES + name_bytes + 4 > bytes)
		return 0;
	size_t at = HEAD_BYTES + name_bytes + 4;
	unsigned type = packet[HEAD_BYTES + name_bytes + 1];
	const struct names_row *row = find_row(n, name);
	unsigned rcode = row != NULL ? row->rcode : 3;
	unsigned char count = 0;
	n->queries++;
	if (row != NULL && row->silent)
		return 0;
	const char *const *addrs = row == NULL ? NULL : type == TYPE_A ? row->v4 : row->v6;
	const char *const later[] = {row != NULL ? row->v4_later : NULL, NULL};
	if (later[0] != NULL && type == TYPE_A && n->asked[row - n->rows]++ > 0)
		addrs = later;
	for (; rcode == 0 && addrs != NULL && (type == TYPE_A || type == TYPE_AAAA) &&
		*addrs != NULL;
		addrs++, count++)
		at += add_record(packet + at, type, row->ttl_s, *addrs);
	packet[2] = 0x81; /* an answer, recursion asked for */
	packet[3] = (unsigned char)(0x80 | rcode);
	packet[6] = 0;
	packet[7] = count;
	memset(packet + 8, 0, 4);
	return at;
}

static void *run_names(void *arg)
{
	struct names *n = arg;
	for (;;) {
		unsigned char packet[2048];
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		struct pollfd fds[2] = {
			{.fd = n->fd, .events = POLLIN}, {.fd = n->stop[0], .events = POLLIN}};
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents != 0)
			return NULL;
		ssize_t got = recvfrom(n->fd, packet, 600, 0, (struct sockaddr *)&from, &len);
		size_t bytes = got > 0 ? answer(n, packet, (size_t)got) : 0;
		if (bytes > 0)
			ing_must(
				sendto(n->fd, packet, bytes, 0, (struct sockaddr *)&from, len) > 0);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct names *names_start(const struct names_row *rows)
{
	return names_start_at(rows, "127.0.0.1", 0);
}

struct names *names_start_at(const struct names_row *rows, const char *addr, unsigned port)
{
	struct names *n = ing_alloc(sizeof(*n));
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	socklen_t len = sizeof(in);
	ing_must(inet_pton(AF_INET, addr, &in.sin_addr) == 1);
	n->rows = rows;
	n->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ing_must(n->fd >= 0 && pipe(n->stop) == 0);
	ing_must(bind(n->fd, (struct sockaddr *)&in, sizeof(in)) == 0);
	ing_must(getsockname(n->fd, (struct sockaddr *)&in, &len) == 0);
	n->port = ntohs(in.sin_port);
	snprintf(n->server, sizeof(n->server), "%s:%u", addr, n->port);
	ing_must(pthread_create(&n->thread, NULL, run_names, n) == 0);
	return n;
}

void names_stop(struct names *n)
{
	close(n->stop[1]);
	pthread_join(n->thread, NULL);
	close(n->stop[0]);
	close(n->fd);
	free(n);
}

const char *names_server(const struct names *n)
{
	return n->server;
}

unsigned names_port(const struct names *n)
{
	return n->port;
}

unsigned names_queries(struct names *n)
{
	return n->queries;
}
