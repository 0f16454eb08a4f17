/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * POST /ingest. An exchange waits for two things, one after the other: that each of its messages was acknowledged, which ends
 * within librdkafka's message.timeout.ms, and, with wait=, for the results.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "worker/serve/serve_priv.h"

#define AWAY_S 5 /* Retry-After while the brokers are away */

struct asked_request {
	struct ing_wait wait;
	char key[ING_ASK_KEY_BYTES + 1];
	struct ing_request *request; /* NULL when it is not to be stored (any more) */
	enum ing_wait_end counted;   /* as what */
};

struct post {
	struct ing_pending pending;
	size_t count, at[ING_WAIT_FAILED + 1];
	bool many, is_page, ready, waits;
	struct asked_request requests[];
};

static const char *state_of(const struct asked_request *r)
{
	switch (r->wait.at) {
	case ING_WAIT_DONE:
		return "done";
	case ING_WAIT_FAILED:
		return "refused";
	default:
		return "queued";
	}
}

static void add_request(struct post *p, const struct asked_request *r)
{
	struct ing_blob *answer = r->wait.at == ING_WAIT_DONE
					  ? ing_asks_answer(p->pending.serve->asks, r->key)
					  : NULL;
	if (answer != NULL)
		ing_http_add_blob(p->pending.x, answer);
	else
		ing_answer_add_state(p->pending.x, r->key, state_of(r));
}

static void answer_page(struct post *p)
{
	char location[80];
	snprintf(location, sizeof(location), "/?id=%s", p->requests[0].key);
	ing_answer_common(p->pending.x);
	ing_http_add_header(p->pending.x, "Location",
		p->requests[0].wait.at == ING_WAIT_FAILED ? "/?problem=away" : location);
	ing_http_answer(p->pending.x, 303);
}

static void answer_post(struct post *p)
{
	struct ing_http_exchange *x = p->pending.x;
	char text[80];
	if (p->is_page) {
		answer_page(p);
		return;
	}
	if (!p->many && p->at[ING_WAIT_FAILED] > 0) {
		ing_answer_retry(x, 503, AWAY_S, "kafka-away",
			"the request was not acknowledged: it is not accepted");
		return;
	}
	if (p->many)
		ing_http_add_text(x, "{\"requests\":[");
	for (size_t i = 0; i < p->count; i++) {
		if (i > 0)
			ing_http_add_text(x, ",");
		add_request(p, &p->requests[i]);
	}
	ing_http_add_text(x, p->many ? "]}\n" : "\n");
	bool done = p->at[ING_WAIT_DONE] == p->count;
	if (p->at[ING_WAIT_FAILED] > 0) {
		snprintf(text, sizeof(text), "%d", AWAY_S);
		ing_http_add_header(x, "Retry-After", text);
	} else if (!done && !p->many) {
		snprintf(text, sizeof(text), "/ingest/%s", p->requests[0].key);
		ing_http_add_header(x, "Location", text);
	}
	ing_answer_json(x, p->at[ING_WAIT_FAILED] > 0 ? 503u : done ? 200u : 202u);
}

static void answer_if_ready(struct post *p)
{
	if (!p->ready || ing_http_answered(p->pending.x) || p->at[ING_WAIT_SENDING] > 0)
		return;
	if (!p->waits || p->at[ING_WAIT_RESULT] == 0)
		answer_post(p);
}

static void count(struct post *p, struct asked_request *r)
{
	p->at[r->counted]--;
	r->counted = r->wait.at;
	p->at[r->counted]++;
	if (r->request == NULL || r->wait.at == ING_WAIT_SENDING)
		return;
	if (r->wait.at != ING_WAIT_FAILED)
		ing_tables_add(p->pending.serve->tables, r->request);
	ing_request_free(ING_TAKE(r->request));
}

static void on_moved(struct ing_wait *w)
{
	struct post *p = w->ctx;
	count(p, ING_CONTAINER(w, struct asked_request, wait));
	answer_if_ready(p);
}

static void on_expired(struct ing_pending *pending)
{
	struct post *p = ING_CONTAINER(pending, struct post, pending);
	p->waits = false;
	answer_if_ready(p);
}

static void on_gone(struct ing_pending *pending)
{
	struct post *p = ING_CONTAINER(pending, struct post, pending);
	for (size_t i = 0; i < p->count; i++) {
		ing_asks_leave(pending->serve->asks, &p->requests[i].wait);
		ing_request_free(p->requests[i].request);
	}
	free(p);
}

static void ask(struct post *p, struct asked_request *r, struct ing_body_request *b)
{
	struct ing_serve *s = p->pending.serve;
	memcpy(r->key, b->request->key, sizeof(r->key));
	r->wait.moved = on_moved;
	r->wait.ctx = p;
	p->at[ING_WAIT_SENDING]++;
	bool produce = ing_asks_begin(
		s->asks, r->key, b->message, b->message_bytes, ing_now_ms(), &r->wait);
	if (produce && s->tables != NULL)
		r->request = ING_TAKE(b->request);
	if (r->wait.at != ING_WAIT_SENDING)
		count(p, r);
	if (!produce)
		return;
	struct ing_ask_delivery *d = ing_wait_delivery(&r->wait);
	if (!ing_broker_produce(s->broker, b->message, b->message_bytes, d))
		ing_asks_delivered(s->asks, d, false);
}

static bool says_lines(const struct ing_http_exchange *x)
{
	static const char *const types[] = {
		"application/x-ndjson", "application/jsonl", "application/x-jsonlines"};
	const char *type = ing_http_header(x, "Content-Type");
	for (size_t i = 0; type != NULL && i < ING_ARRAY_LEN(types); i++)
		if (strncasecmp(type, types[i], strlen(types[i])) == 0)
			return true;
	return false;
}

static void answer_errors(struct ing_http_exchange *x, json_t *errors)
{
	json_t *o = json_object();
	json_t *answer = json_object();
	json_t *first = json_array_get(errors, 0);
	const char *member = ing_json_get_text(first, "member");
	char message[700];
	snprintf(message, sizeof(message), "%s%s%s", member != NULL ? member : "",
		member != NULL ? ": " : "", ing_json_get_text(first, "reason"));
	ing_json_set_text(o, "code", "invalid-request");
	ing_json_set_text(o, "message", message);
	ing_json_set(o, "errors", errors);
	ing_json_set(answer, "error", o);
	size_t bytes;
	char *text = ing_json_dump(answer, &bytes);
	ing_http_add_textn(x, text, bytes);
	ing_http_add_text(x, "\n");
	free(text);
	json_decref(answer);
	ing_answer_json(x, 400);
}

/* ------------------------------------------------------------------------------------------ */

bool ing_serve_wait_ms(struct ing_serve *s, struct ing_http_exchange *x, uint64_t *ret_ms)
{
	const char *wait = ing_http_query(x, "wait");
	char *end = NULL;
	*ret_ms = 0;
	if (wait == NULL)
		return true;
	double seconds = strtod(wait, &end);
	if (strspn(wait, "0123456789.") != strlen(wait) || end == wait || *end != '\0') {
		ing_answer_error(x, 400, "invalid-wait", "wait: not a number of seconds");
		return false;
	}
	*ret_ms = (uint64_t)(1000 * ING_MIN(seconds, (double)s->conf.max_wait_s));
	return true;
}

void ing_serve_ask(struct ing_serve *s, struct ing_http_exchange *x, struct ing_body *body,
	uint64_t wait_ms, bool is_page)
{
	const char *why_not = ing_broker_why_not(s->broker);
	if (why_not != NULL) {
		ing_body_done(body);
		ing_answer_retry(
			x, 503, AWAY_S, "kafka-away", "Kafka is away: no request is accepted");
		return;
	}
	struct post *p = ing_alloc(sizeof(*p) + body->count * sizeof(p->requests[0]));
	p->count = body->count;
	p->many = body->many;
	p->is_page = is_page;
	p->waits = wait_ms > 0;
	p->pending.expired = on_expired;
	p->pending.gone = on_gone;
	p->pending.deadline_ms = p->waits ? ing_now_ms() + wait_ms : 0;
	ing_pending_add(s, x, &p->pending);
	for (size_t i = 0; i < p->count; i++)
		ask(p, &p->requests[i], &body->requests[i]);
	ing_body_done(body);
	p->ready = true;
	answer_if_ready(p);
}

void ing_serve_post(struct ing_serve *s, struct ing_http_exchange *x)
{
	static const char source[] = "savepapernow-web";
	const struct ing_body_limits limits = {s->conf.max_requests, source};
	struct ing_body body;
	json_t *errors;
	size_t bytes;
	uint64_t wait_ms;
	const char *data = ing_http_body(x, &bytes);
	if (!ing_serve_wait_ms(s, x, &wait_ms))
		return;
	if (ing_body_parse(data, bytes, says_lines(x), &limits, &body, &errors) != 0) {
		answer_errors(x, errors);
		return;
	}
	ing_serve_charge(s, x, (double)(body.count - 1));
	ing_serve_ask(s, x, &body, wait_ms, false);
}
