/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * http_server.h - an HTTP/1.1 server on the libuv loop; with http_server_tls.h the only user of libmicrohttpd.
 *
 * Owns: the listening socket, its connections and their exchanges. An exchange is one request and its answer. It belongs
 * to the server; the program is shown it three times, always from inside the loop:
 *   begin()  its head has come. An answer given now is sent without its body being read.
 *   serve()  all of it has come. Answered now, or later by ing_http_answer(): until then it takes neither a thread nor
 *            time on the loop, and it is not noticed when the client goes.
 *   gone()   it has ended, answered or not, and is freed behind this call.
 * Loop thread only, but for ing_blob_*, which have no thread of their own either: they are counted without a lock.
 *
 * Refused before begin() is called: a head that is larger than head_bytes (431), two lengths for one body, a transfer
 * coding other than chunked, several Host fields (400), NUL in path or query (400). What intermediaries and servers may
 * read in two ways ends its connection. Of a body over max_body_bytes the rest is not read (413).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "common/net/addr.h"

struct uv_loop_s;
struct ing_http_exchange;
struct ing_http_server;
struct ing_http_tls;

/* Bytes that several answers share. */
struct ing_blob {
	unsigned refs;
	size_t bytes;
	char *data; /* heap */
	/* Called when the last reference goes, before data is freed; may be NULL. */
	void (*freed)(void *ctx, struct ing_blob *b);
	void *ctx;
};
struct ing_blob *ing_blob_new(char *data, size_t bytes); /* takes data; one reference */
struct ing_blob *ing_blob_ref(struct ing_blob *b);       /* NULL stays NULL */
void ing_blob_unref(struct ing_blob *b);                 /* NULL is fine */

struct ing_http_server_conf {
	int listen_fd;            /* listens, non-blocking; the server's from now on */
	struct ing_http_tls *tls; /* borrowed; NULL: none */
	unsigned max_connections, max_per_address; /* 0: no limit of the latter */
	size_t head_bytes, max_body_bytes;
	unsigned idle_ms;    /* without a byte, also between two requests */
	unsigned request_ms; /* for the whole of a request, and for TLS before the first */
	unsigned answer_ms;  /* for the whole of an answer to be taken */
	void *ctx;
	/* A connection was accepted on fd. Returns whether it may stay, and sets a mark that its exchanges show; disconnected()
	 * is told the mark of one that stayed. Both may be NULL. */
	bool (*connected)(void *ctx, int fd, unsigned *ret_mark);
	void (*disconnected)(void *ctx, unsigned mark);
	void (*begin)(void *ctx, struct ing_http_exchange *x);
	void (*serve)(void *ctx, struct ing_http_exchange *x);
	void (*gone)(void *ctx, struct ing_http_exchange *x);
	/* Gives a refusal of the server's own its body, in place of plain text; may be NULL. */
	void (*refused)(void *ctx, struct ing_http_exchange *x, unsigned status, const char *why);
};

/* conf is copied. On failure listen_fd is closed, too. Error: -SYSTEM, -CONFIG (TLS). */
int ing_http_server_new(struct uv_loop_s *loop, const struct ing_http_server_conf *conf,
	struct ing_http_server **ret, struct ing_error *err) ING_MUST_CHECK;
/* Takes no further connections, and ends each with its next answer. */
void ing_http_server_quiesce(struct ing_http_server *s);
unsigned ing_http_server_connections(const struct ing_http_server *s);
/* Every exchange that was served has been answered. Ends all connections at once. Its handles close on the loop, which
 * must turn once more. NULL is fine. */
void ing_http_server_free(struct ing_http_server *s);

/* A socket that listens at "ADDRESS:PORT", of IPv6 "[ADDRESS]:PORT"; port 0 is any. Names are not looked up. */
int ing_http_listen(const char *address, int *ret_fd, struct ing_error *err) ING_MUST_CHECK;
/* What it listens at: "127.0.0.1:8080". */
void ing_http_listening(int fd, char *ret, size_t ret_bytes);

/* What was asked for. Texts are borrowed until gone(); of no member NULL. */
const char *ing_http_method(const struct ing_http_exchange *x);
const char *ing_http_path(const struct ing_http_exchange *x); /* decoded, without the query */
const char *ing_http_header(const struct ing_http_exchange *x, const char *name);
const char *ing_http_query(const struct ing_http_exchange *x, const char *name);
/* Of a form that was sent as application/x-www-form-urlencoded: heap, the caller's; bytes that are not UTF-8 are
 * U+FFFD. NULL: there is no such member. */
char *ing_http_form_value(const struct ing_http_exchange *x, const char *name);
const char *ing_http_body(const struct ing_http_exchange *x, size_t *ret_bytes);
const struct ing_addr *ing_http_peer(const struct ing_http_exchange *x);
unsigned ing_http_mark(const struct ing_http_exchange *x); /* connected() has set it; else 0 */
void **ing_http_slot(struct ing_http_exchange *x);         /* the program's own; NULL at first */

/* Builds the answer: header fields (copied), and parts of the body one after the other. */
void ing_http_add_header(struct ing_http_exchange *x, const char *name, const char *value);
void ing_http_add_text(struct ing_http_exchange *x, const char *text);
void ing_http_add_textn(struct ing_http_exchange *x, const char *text, size_t bytes);
void ing_http_add_blob(struct ing_http_exchange *x, struct ing_blob *b); /* takes a reference */
void ing_http_answer(struct ing_http_exchange *x, unsigned status);
bool ing_http_answered(const struct ing_http_exchange *x);
