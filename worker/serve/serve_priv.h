/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * serve_priv.h - what the files of the API share: the parts, an answer's way, and who waits.
 */
#pragma once
#include <uv.h>
#include "common/net/http_server.h"
#include "worker/serve/asks.h"
#include "worker/serve/broker.h"
#include "worker/serve/limiter.h"
#include "worker/serve/request_body.h"
#include "worker/serve/serve.h"
#include "worker/serve/tables.h"
#include "worker/serve/bearers.h"

struct ing_conf;

#define ING_SERVE_MAGIC 0x73657276u

/* Something that an exchange waits for, in the list of all. The slot of the exchange. */
struct ing_pending {
	struct ing_serve *serve;
	struct ing_http_exchange *x;
	struct ing_pending *prev, *next;
	uint64_t deadline_ms;                   /* 0: none */
	void (*expired)(struct ing_pending *p); /* at the deadline, and when the server stops */
	void (*gone)(struct ing_pending *p);    /* the exchange has ended: frees p */
};

struct ing_serve {
	uint32_t magic;
	struct ing_serve_conf conf;
	const struct ing_conf *worker;
	struct uv_loop_s *loop;
	struct ing_http_server *http;
	struct ing_http_tls *tls;
	struct ing_limiter *limiter;
	struct ing_bearers *bearers;
	struct ing_asks *asks;
	struct ing_broker *broker;
	struct ing_tables *tables; /* NULL: there is no database */
	struct ing_pending *pending;
	uv_timer_t tick;
	bool stopping, told_stopped;
	uint64_t stop_ms;
	char address[80];
};

void ing_pending_add(struct ing_serve *s, struct ing_http_exchange *x, struct ing_pending *p);

/* More of the client's tokens, for what one exchange asks for. */
void ing_serve_charge(struct ing_serve *s, struct ing_http_exchange *x, double tokens);

#define ING_HTTP_URL_BYTES 8192 /* of a URL that is looked for */

/* --- answers (answer.c) --- */

/* Ends x with a JSON body that was added. */
void ing_answer_json(struct ing_http_exchange *x, unsigned status);
/* {"error":{"code","message"}} */
void ing_answer_error(struct ing_http_exchange *x, unsigned status, const char *code,
	const char *fmt, ...) ING_PRINTF(4, 5);
void ing_answer_retry(struct ing_http_exchange *x, unsigned status, unsigned seconds,
	const char *code, const char *fmt, ...) ING_PRINTF(5, 6);
/* Header fields that every answer has. */
void ing_answer_common(struct ing_http_exchange *x);
/* Whether a text is a request's ID; ret is in lower case. */
bool ing_answer_id(const char *text, char ret[ING_ASK_KEY_BYTES + 1]);
/* {"id","state":STATE,"location"} as text of the body. */
void ing_answer_add_state(struct ing_http_exchange *x, const char *key, const char *state);

/* --- routes: each answers x, now or later --- */
void ing_serve_post(struct ing_serve *s, struct ing_http_exchange *x);
void ing_serve_get_request(struct ing_serve *s, struct ing_http_exchange *x);
void ing_serve_get_result(struct ing_serve *s, struct ing_http_exchange *x);
void ing_serve_health(struct ing_serve *s, struct ing_http_exchange *x);
void ing_serve_page(struct ing_serve *s, struct ing_http_exchange *x);
void ing_serve_page_post(struct ing_serve *s, struct ing_http_exchange *x);
void ing_serve_file(struct ing_serve *s, struct ing_http_exchange *x);

/* What is known of the request of this ID. */
void ing_serve_look(struct ing_serve *s, struct ing_http_exchange *x, const char *id,
	uint64_t wait_ms, bool is_page);
/* The seconds of the query's wait=, at most what is allowed; false, and x is answered, when it is no number. */
bool ing_serve_wait_ms(struct ing_serve *s, struct ing_http_exchange *x, uint64_t *ret_ms);
/* Asks for what is in body, which it takes. A page's answer is a redirection to the first request. */
void ing_serve_ask(struct ing_serve *s, struct ing_http_exchange *x, struct ing_body *body,
	uint64_t wait_ms, bool is_page);
