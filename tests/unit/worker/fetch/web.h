/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * web.h - a web server for tests that does exactly what a test says, byte by byte, well-formed or
 * not.
 *
 * A thread accepts, a thread per connection reads request heads and runs the handler of the path.
 * Loopback only, on a free port. Everything is given back by web_stop(), which ends the handlers
 * that are still waiting.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct web;

struct web_conn {
	struct web *web;
	int fd;
	void *tls;              /* SSL, or NULL */
	char request[32 << 10]; /* the request head, with its blank line */
	unsigned served;        /* requests answered before this one */
	bool over;              /* set to close the connection after the handler */
};

typedef void web_handler_f(struct web_conn *c);

struct web_page {
	const char *path; /* of the request target; the last page may be NULL: any */
	web_handler_f *handler;
};

/* pages end with a handler of NULL; tls: an SSL_CTX, or NULL for plain TCP. */
struct web *web_start(const struct web_page *pages, void *tls);
void web_stop(struct web *w);
unsigned web_port(const struct web *w);
/* Ports of the servers started so far in this process, as fetch.allow_port wants them. */
char *const *web_ports(void);
unsigned web_connections(const struct web *w);  /* accepted so far */
unsigned web_most_at_once(const struct web *w); /* handlers that ran side by side */
/* The request head that came last, copied. */
void web_last_request(struct web *w, char *ret_text, size_t bytes);

void web_send(struct web_conn *c, const void *data, size_t bytes);
void web_say(struct web_conn *c, const char *text);
void web_sayf(struct web_conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void web_pattern(struct web_conn *c, size_t from, size_t bytes); /* bytes of test_pattern() */
/* The next bytes of the request, which its head does not have; false when they do not come. */
bool web_receive(struct web_conn *c, void *ret_data, size_t bytes);
bool web_wait(
	struct web_conn *c, int ms); /* false when the server is stopping (ms -1: until then) */
void web_reset(struct web_conn *c);  /* RST instead of FIN */
/* The answer of a proxy to CONNECT, then bytes both ways to a port of this machine, to the end. */
void web_tunnel(struct web_conn *c, unsigned port);
unsigned char test_pattern(size_t at);
