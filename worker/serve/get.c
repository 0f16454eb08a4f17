/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GET /ingest/ID, GET /result and the page of a request: what this process knows, else what the tables have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "common/net/url_mask.h"
#include "worker/model/ingest_type.h"
#include "worker/serve/page.h"
#include "worker/serve/serve_priv.h"

#define AWAY_S 5

struct get {
	struct ing_pending pending;
	struct ing_wait wait;
	struct ing_tables_question *question;
	char key[ING_ASK_KEY_BYTES + 1];
	bool is_page;
};

/* --- answers: text is JSON, or NULL --- */

static void answer_done(struct get *g, struct ing_blob *answer)
{
	if (g->is_page) {
		ing_page_answer_json(
			g->pending.serve, g->pending.x, g->key, answer->data, answer->bytes);
		return;
	}
	ing_http_add_blob(g->pending.x, answer);
	ing_http_add_text(g->pending.x, "\n");
	ing_answer_json(g->pending.x, 200);
}

static void answer_state(struct get *g, const char *state, unsigned status)
{
	if (g->is_page) {
		ing_page_answer_state(g->pending.serve, g->pending.x, g->key, state);
		return;
	}
	ing_answer_add_state(g->pending.x, g->key, state);
	ing_http_add_text(g->pending.x, "\n");
	ing_answer_json(g->pending.x, status);
}

static void answer_unknown(struct get *g)
{
	if (g->is_page)
		ing_page_answer_state(g->pending.serve, g->pending.x, g->key, "unknown");
	else
		ing_answer_error(g->pending.x, 404, "not-found", "no such request is known");
}

static void answer_away(struct get *g)
{
	if (g->is_page)
		ing_page_answer_state(g->pending.serve, g->pending.x, g->key, "away");
	else
		ing_answer_retry(
			g->pending.x, 503, AWAY_S, "database-away", "the database does not answer");
}

/* json: an object, to which is added which request it is. */
static void answer_from_tables(struct get *g, const char *json)
{
	struct ing_buf out;
	bool done = strstr(json, "\"state\": \"done\"") != NULL;
	ing_buf_init(&out, strlen(json) + 300);
	ing_buf_printf(&out, "{\"id\":\"%s\",\"location\":\"/ingest/%s\",\"from\":\"tables\",%s",
		g->key, g->key, json + 1);
	ing_must(!out.failed);
	if (g->is_page) {
		ing_page_answer_json(g->pending.serve, g->pending.x, g->key, out.data, out.len);
	} else {
		ing_http_add_textn(g->pending.x, out.data, out.len);
		ing_http_add_text(g->pending.x, "\n");
		ing_answer_json(g->pending.x, done ? 200u : 202u);
	}
	ing_buf_done(&out);
}

static void on_tables(void *ctx, enum ing_tables_end end, const char *json)
{
	struct get *g = ctx;
	g->question = NULL;
	if (end == ING_TABLES_AWAY)
		answer_away(g);
	else if (end == ING_TABLES_NONE)
		answer_unknown(g);
	else
		answer_from_tables(g, json);
}

static void ask_tables(struct get *g)
{
	struct ing_serve *s = g->pending.serve;
	if (s->tables == NULL)
		answer_unknown(g);
	else
		g->question = ing_tables_ask_request(s->tables, g->key, on_tables, g);
}

static void answer_known(struct get *g)
{
	struct ing_serve *s = g->pending.serve;
	struct ing_blob *answer = ing_asks_answer(s->asks, g->key);
	enum ing_ask_state state = ing_asks_state(s->asks, g->key);
	if (state == ING_ASKS_DONE && answer != NULL)
		answer_done(g, answer);
	else if (state == ING_ASKS_DONE && s->tables == NULL)
		answer_state(g, "done", 200);
	else if (state == ING_ASKS_DONE || state == ING_ASKS_UNKNOWN)
		ask_tables(g);
	else
		answer_state(g, "queued", 202);
}

static void on_moved(struct ing_wait *w)
{
	struct get *g = w->ctx;
	if (!ing_http_answered(g->pending.x))
		answer_known(g);
}

static void on_expired(struct ing_pending *pending)
{
	struct get *g = ING_CONTAINER(pending, struct get, pending);
	if (g->wait.ask != NULL)
		answer_known(g);
}

static void on_gone(struct ing_pending *pending)
{
	struct get *g = ING_CONTAINER(pending, struct get, pending);
	ing_asks_leave(pending->serve->asks, &g->wait);
	ing_tables_cancel(g->question);
	free(g);
}

/* ------------------------------------------------------------------------------------------ */

void ing_serve_look(struct ing_serve *s, struct ing_http_exchange *x, const char *id,
	uint64_t wait_ms, bool is_page)
{
	struct get *g = ing_alloc(sizeof(*g));
	*g = (struct get){.pending = {.expired = on_expired, .gone = on_gone}, .is_page = is_page};
	g->wait = (struct ing_wait){.moved = on_moved, .ctx = g};
	ing_pending_add(s, x, &g->pending);
	if (!ing_answer_id(id, g->key)) {
		if (is_page)
			answer_unknown(g);
		else
			ing_answer_error(x, 400, "invalid-id", "an ID is 40 hexadecimal digits");
		return;
	}
	if (wait_ms == 0 || !ing_asks_join(s->asks, g->key, &g->wait)) {
		answer_known(g);
		return;
	}
	g->pending.deadline_ms = ing_now_ms() + wait_ms;
}

void ing_serve_get_request(struct ing_serve *s, struct ing_http_exchange *x)
{
	uint64_t wait_ms;
	if (ing_serve_wait_ms(s, x, &wait_ms))
		ing_serve_look(s, x, ing_http_path(x) + strlen("/ingest/"), wait_ms, false);
}

/* --- GET /result --- */

struct result {
	struct ing_pending pending;
	struct ing_tables_question *question;
	char *url; /* masked */
};

static void on_result_gone(struct ing_pending *pending)
{
	struct result *r = ING_CONTAINER(pending, struct result, pending);
	ing_tables_cancel(r->question);
	free(r->url);
	free(r);
}

static void on_result_expired(struct ing_pending *pending)
{
	(void)pending; /* it waits for the database alone, which has a bound of its own */
}

static void on_results(void *ctx, enum ing_tables_end end, const char *json)
{
	struct result *r = ctx;
	struct ing_http_exchange *x = r->pending.x;
	struct ing_buf url;
	r->question = NULL;
	if (end == ING_TABLES_AWAY) {
		ing_answer_retry(x, 503, AWAY_S, "database-away", "the database does not answer");
		return;
	}
	if (end == ING_TABLES_NONE) {
		ing_answer_error(x, 404, "not-found", "the tables have no result of this URL");
		return;
	}
	ing_buf_init(&url, 8 * ING_HTTP_URL_BYTES);
	ing_json_add_text(&url, r->url, strlen(r->url));
	ing_http_add_text(x, "{\"url\":");
	ing_http_add_text(x, ing_buf_str(&url));
	ing_http_add_text(x, ",\"results\":");
	ing_http_add_text(x, json);
	ing_http_add_text(x, "}\n");
	ing_buf_done(&url);
	ing_answer_json(x, 200);
}

static char *masked(const char *url)
{
	struct ing_buf out;
	ing_buf_init(&out, 4 * ING_HTTP_URL_BYTES);
	ing_url_mask(url, strlen(url), &out);
	return out.data != NULL ? ing_buf_steal(&out) : ing_strdup("");
}

void ing_serve_get_result(struct ing_serve *s, struct ing_http_exchange *x)
{
	const char *url = ing_http_query(x, "url");
	const char *type = ing_http_query(x, "type");
	enum ing_ingest_type found;
	if (url == NULL || url[0] == '\0' || strlen(url) > ING_HTTP_URL_BYTES ||
		!ing_utf8_valid(url, strlen(url))) {
		ing_answer_error(x, 400, "invalid-url", "url: a URL is needed");
		return;
	}
	if (type != NULL && !ing_ingest_type_find(type, &found)) {
		ing_answer_error(x, 400, "invalid-type", "type: none of%s", ing_ingest_type_names);
		return;
	}
	if (s->tables == NULL) {
		ing_answer_error(x, 501, "no-database", "no database is configured (postgres.dsn)");
		return;
	}
	struct result *r = ing_alloc(sizeof(*r));
	*r = (struct result){.pending = {.expired = on_result_expired, .gone = on_result_gone},
		.url = masked(url)};
	ing_pending_add(s, x, &r->pending);
	r->question = ing_tables_ask_document(
		s->tables, type != NULL ? ing_ingest_type_name(found) : NULL, url, on_results, r);
}
