/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * http_server_priv.h - a connection and an exchange, for http_server*.c.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"
#include "common/net/http_server.h"

struct MHD_Connection;
struct MHD_Response;

#define ING_HTTP_HEADERS 12

/* From accept() to its end. */
struct ing_http_connection {
	struct ing_http_server *server;
	struct MHD_Connection *mhd;
	struct ing_http_connection *prev, *next;
	uint64_t deadline_ms; /* when it is cut off; 0: not */
	struct ing_addr peer;
	bool refused;
	bool nul; /* in the path or query of the request that is read */
	unsigned mark;
};

struct ing_http_exchange {
	struct ing_http_server *server;
	struct ing_http_connection *connection;
	struct MHD_Connection *mhd;
	const char *method;
	char *path;
	struct ing_buf body;
	bool begun, served, suspended, answered;
	void *slot;
	/* the answer */
	unsigned status;
	struct {
		const char *name; /* static */
		char *value;
	} headers[ING_HTTP_HEADERS];
	unsigned header_count;
	struct ing_buf text; /* the part that is being written */
	struct ing_blob **parts;
	size_t part_count, part_room;
};

/* Why this head is refused, a sentence; NULL: it is not. */
const char *ing_http_refusal(struct ing_http_exchange *x);
/* The answer for libmicrohttpd, with the parts in it. */
struct MHD_Response *ing_http_response(struct ing_http_exchange *x, bool last);
void ing_http_exchange_free(struct ing_http_exchange *x); /* NULL is fine */
/* gnutls_certificate_retrieve_function3 of http_server_tls.c, as libmicrohttpd takes it. */
void *ing_http_tls_retrieve(void);
