/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * serve.h - the on-demand HTTP API: requests in, results out (schemas/ingest-api.openapi.json).
 *
 * Owns: the HTTP server, the limiter, the tokens, the requests that were asked, the broker and the tables. Everything is
 * the loop's; README.md says what other threads there are.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"
#include "common/net/addr.h"

struct ing_conf;
struct ing_serve;
struct uv_loop_s;

struct ing_serve_conf {
	const char *listen;                       /* ADDRESS:PORT */
	const char *brokers;                      /* NULL: kafka.brokers */
	const char *requests_topic, *other_topic; /* as struct ing_broker_conf has them */
	const char *token_file;                   /* NULL: everybody may ask */
	bool is_private;                  /* reading needs a token, too, and there is no page */
	const char *cert_file, *key_file; /* NULL: no TLS */
	struct ing_cidr_list proxies;     /* whose X-Forwarded-For is believed */
	double rate, burst;               /* requests a second of an address; 0: no limit */
	unsigned max_connections, max_per_address;
	size_t max_requests, max_body_bytes; /* of one POST */
	unsigned max_wait_s;
	size_t result_bytes; /* of results that are kept in memory */
	void *ctx;
	void (*broken)(void *ctx, const char *why); /* it cannot go on */
	void (*stopped)(void *ctx); /* after ing_serve_stop(): nothing is under way */
};

/* Listens when it returns. conf is copied, its texts and worker are borrowed. Error: -CONFIG, -USAGE, -SYSTEM. */
int ing_serve_new(struct uv_loop_s *loop, const struct ing_serve_conf *conf,
	const struct ing_conf *worker, struct ing_serve **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Reads tokens, certificate and key again. What cannot be read stays as it was, which is said. */
void ing_serve_reload(struct ing_serve *s);
/* Takes nothing more. Whoever waits for a result is told where it will be. */
void ing_serve_stop(struct ing_serve *s);
/* The loop must turn until its handles are closed. NULL is fine. */
void ing_serve_free(struct ing_serve *s);
/* What it listens at. */
const char *ing_serve_address(const struct ing_serve *s);
/* For the service manager: what goes on, in a line. */
void ing_serve_status(const struct ing_serve *s, char *ret, size_t ret_bytes);
