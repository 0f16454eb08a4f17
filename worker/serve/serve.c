/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who may ask for what (the table of routes), and the parts: made, reloaded, stopped.
 */
#include "worker/serve/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/net/http_server_tls.h"
#include "worker/conf/conf.h"
#include "worker/serve/files.h"
#include "worker/serve/serve_priv.h"

#define TICK_MS 50
#define MAX_CLIENTS 65536 /* of the limiter; 120 bytes each */
#define MAX_KNOWN 100000  /* requests; 300 bytes each */
#define HEAD_BYTES 32768
#define IDLE_MS 15000
#define REQUEST_MS 30000
#define ANSWER_MS 120000
#define STOP_MS 15000 /* for what is under way: acknowledgements take 10 s at most */
#define ROWS_MS 2000  /* for rows to be written at the end */

enum access {
	OPEN,  /* for everybody, at any rate */
	PAGE,  /* for everybody */
	READS, /* needs a token if the server is private */
	ASKS,  /* needs a token if there are any */
};

typedef void serve_f(struct ing_serve *s, struct ing_http_exchange *x);

struct route {
	const char *method, *path;
	bool prefix;
	enum access access;
	serve_f *serve;
};

static const struct route routes[] = {
	{"POST", "/ingest", false, ASKS, ing_serve_post},
	{"GET", "/ingest/", true, READS, ing_serve_get_request},
	{"GET", "/result", false, READS, ing_serve_get_result},
	{"GET", "/healthz", false, OPEN, ing_serve_health},
	{"GET", "/openapi.json", false, PAGE, ing_serve_file},
	{"GET", "/page.js", false, PAGE, ing_serve_file},
	{"GET", "/page.css", false, PAGE, ing_serve_file},
	{"GET", "/", false, PAGE, ing_serve_page},
	{"POST", "/", false, PAGE, ing_serve_page_post},
};

static bool is_method(const char *asked, const char *of_route)
{
	return strcmp(asked, of_route) == 0 ||
	       (strcmp(asked, "HEAD") == 0 && strcmp(of_route, "GET") == 0);
}

static bool is_path(const char *path, const struct route *r)
{
	size_t bytes = strlen(r->path);
	return r->prefix ? strncmp(path, r->path, bytes) == 0 && path[bytes] != '\0'
			 : strcmp(path, r->path) == 0;
}

/* NULL, and x is answered, when there is none. */
static const struct route *find_route(const struct ing_serve *s, struct ing_http_exchange *x)
{
	struct ing_buf allow;
	ing_buf_init(&allow, 100);
	for (size_t i = 0; i < ING_ARRAY_LEN(routes); i++) {
		const struct route *r = &routes[i];
		if (!is_path(ing_http_path(x), r) ||
			(s->conf.is_private && strcmp(r->path, "/") == 0))
			continue;
		if (is_method(ing_http_method(x), r->method)) {
			ing_buf_done(&allow);
			return r;
		}
		ing_buf_printf(&allow, "%s%s", allow.len > 0 ? ", " : "",
			r->method[0] == 'G' ? "GET, HEAD" : r->method);
	}
	if (allow.len == 0) {
		ing_answer_error(x, 404, "not-found", "there is nothing here");
	} else {
		ing_http_add_header(x, "Allow", allow.data);
		ing_answer_error(x, 405, "method-not-allowed", "allowed: %s", allow.data);
	}
	ing_buf_done(&allow);
	return NULL;
}

/* Whom requests of x are counted for. */
static struct ing_addr client_of(const struct ing_serve *s, const struct ing_http_exchange *x)
{
	struct ing_addr client = *ing_http_peer(x);
	const char *forwarded = ing_http_header(x, "X-Forwarded-For");
	if (forwarded == NULL || !ing_cidr_list_contains(&s->conf.proxies, &client))
		return client;
	/* The last one is what the proxy itself has seen. */
	const char *comma = strrchr(forwarded, ',');
	const char *last = comma != NULL ? comma + 1 : forwarded;
	char text[ING_ADDR_TEXT_BYTES + 2];
	snprintf(text, sizeof(text), "%s", last + strspn(last, " \t"));
	text[strcspn(text, " \t")] = '\0';
	struct ing_addr found;
	return ing_addr_parse(text, &found) ? found : client;
}

/* A page of another site sends its visitors' browsers here. */
static bool is_from_elsewhere(const struct ing_http_exchange *x)
{
	const char *site = ing_http_header(x, "Sec-Fetch-Site");
	const char *origin = ing_http_header(x, "Origin");
	const char *host = ing_http_header(x, "Host");
	if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return true;
	if (origin == NULL)
		return false;
	const char *of_origin = strstr(origin, "://");
	return of_origin == NULL || host == NULL || strcasecmp(of_origin + 3, host) != 0;
}

static bool is_allowed(const struct ing_serve *s, const struct ing_http_exchange *x, enum access a)
{
	if (s->bearers == NULL || a == OPEN || a == PAGE || (a == READS && !s->conf.is_private))
		return true;
	return ing_bearers_authorize(s->bearers, ing_http_header(x, "Authorization"));
}

static void begin(void *ctx, struct ing_http_exchange *x)
{
	struct ing_serve *s;
	ING_CAST_OBJ(s, ctx, ING_SERVE_MAGIC);
	const struct route *r = find_route(s, x);
	if (r == NULL)
		return;
	if (s->stopping) {
		ing_answer_retry(x, 503, 5, "stopping", "the server is stopping");
		return;
	}
	struct ing_addr client = client_of(s, x);
	unsigned seconds = r->access == OPEN ? 0
					     : ing_limiter_take(s->limiter, &client,
						       r->access == ASKS ? 1 : 0.2, ing_now_ms());
	if (seconds > 0) {
		ing_answer_retry(
			x, 429, seconds, "too-many-requests", "try again in %u s", seconds);
	} else if (r->method[0] == 'P' && is_from_elsewhere(x)) {
		ing_answer_error(x, 403, "other-origin", "sent by a page of another site");
	} else if (!is_allowed(s, x, r->access)) {
		ing_http_add_header(x, "WWW-Authenticate", "Bearer");
		ing_answer_error(
			x, 401, "unauthorized", "a token is needed: Authorization: Bearer");
	}
}

static void serve(void *ctx, struct ing_http_exchange *x)
{
	struct ing_serve *s;
	ING_CAST_OBJ(s, ctx, ING_SERVE_MAGIC);
	const struct route *r = find_route(s, x); /* as in begin() */
	if (r != NULL)
		r->serve(s, x);
}

static void gone(void *ctx, struct ing_http_exchange *x)
{
	struct ing_serve *s = ctx;
	struct ing_pending *p = *ing_http_slot(x);
	if (p == NULL)
		return;
	DL_DELETE(s->pending, p);
	p->gone(p);
}

static void refused(void *ctx, struct ing_http_exchange *x, unsigned status, const char *why)
{
	(void)ctx;
	(void)status;
	char text[300];
	snprintf(text, sizeof(text), "{\"error\":{\"code\":\"bad-http\",\"message\":\"%s\"}}\n",
		why);
	ing_http_add_header(x, "Content-Type", "application/json");
	ing_http_add_text(x, text);
}

/* --- the broker --- */

static void delivered(void *ctx, void *opaque, bool ok)
{
	struct ing_serve *s = ctx;
	ing_asks_delivered(s->asks, opaque, ok);
}

static void result(
	void *ctx, const char *key, size_t key_bytes, const char *value, size_t value_bytes)
{
	struct ing_serve *s = ctx;
	ing_asks_result(s->asks, key, key_bytes, value, value_bytes);
}

static void broken(void *ctx, const char *why)
{
	struct ing_serve *s = ctx;
	s->conf.broken(s->conf.ctx, why);
}

/* --- time --- */

static void on_tick(uv_timer_t *timer)
{
	struct ing_serve *s;
	ING_CAST_OBJ(s, timer->data, ING_SERVE_MAGIC);
	uint64_t now = ing_now_ms();
	struct ing_pending *p;
	DL_FOREACH (s->pending, p) {
		if (p->deadline_ms == 0 || now < p->deadline_ms)
			continue;
		p->deadline_ms = 0;
		if (!ing_http_answered(p->x))
			p->expired(p);
	}
	ing_tables_tick(s->tables);
	if (!s->stopping || s->told_stopped)
		return;
	if (ing_http_server_connections(s->http) > 0 && now < s->stop_ms)
		return;
	s->told_stopped = true;
	s->conf.stopped(s->conf.ctx);
}

/* --- parts --- */

static int make_http(struct ing_serve *s, struct ing_error *err)
{
	struct ing_http_server_conf http = {.tls = s->tls,
		.max_connections = s->conf.max_connections,
		.max_per_address = s->conf.max_per_address,
		.head_bytes = HEAD_BYTES,
		.max_body_bytes = s->conf.max_body_bytes,
		.idle_ms = IDLE_MS,
		.request_ms = REQUEST_MS,
		.answer_ms = ANSWER_MS,
		.ctx = s,
		.begin = begin,
		.serve = serve,
		.gone = gone,
		.refused = refused};
	int rc = ing_http_listen(s->conf.listen, &http.listen_fd, err);
	if (rc != 0)
		return rc;
	ing_http_listening(http.listen_fd, s->address, sizeof(s->address));
	return ing_http_server_new(s->loop, &http, &s->http, err);
}

static int make_broker(struct ing_serve *s, struct ing_error *err)
{
	const struct ing_kafka_settings *k = &s->worker->kafka;
	const struct ing_broker_conf broker = {
		.brokers = s->conf.brokers != NULL ? s->conf.brokers : k->brokers,
		.properties = k->properties,
		.requests_topic = s->conf.requests_topic,
		.other_topic = s->conf.other_topic,
		.results_topic = k->output_topics[ING_OUTPUT_RESULTS],
		.ctx = s,
		.delivered = delivered,
		.result = result,
		.broken = broken};
	return ing_broker_new(s->loop, &broker, &s->broker, err);
}

static int make_parts(struct ing_serve *s, struct ing_error *err)
{
	int rc = 0;
	if (s->conf.token_file != NULL)
		rc = ing_bearers_load(s->conf.token_file, &s->bearers, err);
	if (rc == 0 && s->conf.cert_file != NULL)
		rc = ing_http_tls_new(s->conf.cert_file, s->conf.key_file, &s->tls, err);
	if (rc == 0 && s->worker->postgres.dsn[0] != '\0')
		rc = ing_tables_new(s->loop, &s->worker->postgres, &s->tables, err);
	if (rc == 0)
		rc = make_broker(s, err);
	if (rc == 0)
		rc = make_http(s, err);
	return rc;
}

static void on_closed(uv_handle_t *handle)
{
	struct ing_serve *s;
	ING_CAST_OBJ(s, handle->data, ING_SERVE_MAGIC);
	s->magic = 0;
	free(s);
}

/* ------------------------------------------------------------------------------------------ */

int ing_serve_new(struct uv_loop_s *loop, const struct ing_serve_conf *conf,
	const struct ing_conf *worker, struct ing_serve **ret, struct ing_error *err)
{
	struct ing_serve *s = ing_alloc(sizeof(*s));
	*s = (struct ing_serve){
		.magic = ING_SERVE_MAGIC, .conf = *conf, .worker = worker, .loop = loop};
	ing_must(uv_timer_init(loop, &s->tick) == 0);
	s->tick.data = s;
	uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
	s->limiter = ing_limiter_new(conf->rate, conf->burst, MAX_CLIENTS);
	s->asks = ing_asks_new(MAX_KNOWN, conf->result_bytes);
	int rc = make_parts(s, err);
	if (rc == 0)
		*ret = s;
	else
		ing_serve_free(s);
	return rc;
}

void ing_serve_reload(struct ing_serve *s)
{
	struct ing_error err = {0};
	struct ing_bearers *tokens;
	if (s->bearers != NULL && ing_bearers_load(s->conf.token_file, &tokens, &err) == 0) {
		ing_bearers_free(s->bearers);
		s->bearers = tokens;
	}
	if (err.code == ING_FAIL_NONE && s->tls != NULL)
		(void)!ing_http_tls_reload(s->tls, &err);
	if (err.code == ING_FAIL_NONE)
		ing_log(ING_LOG_INFO, "tokens and certificate were read again");
	else
		ing_log(ING_LOG_ERROR, "%s: what was read before stays in use", err.msg);
}

void ing_serve_stop(struct ing_serve *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	s->stop_ms = ing_now_ms() + STOP_MS;
	ing_http_server_quiesce(s->http);
	struct ing_pending *p;
	DL_FOREACH (s->pending, p) {
		p->deadline_ms = 0;
		if (!ing_http_answered(p->x))
			p->expired(p);
	}
}

void ing_serve_free(struct ing_serve *s)
{
	if (s == NULL)
		return;
	struct ing_pending *p;
	DL_FOREACH (s->pending, p) {
		if (!ing_http_answered(p->x))
			ing_answer_retry(p->x, 503, 5, "stopping", "the server is stopping");
	}
	ing_http_server_free(s->http);
	ing_broker_free(s->broker);
	ing_tables_free(s->tables, ROWS_MS);
	ing_asks_free(s->asks);
	ing_limiter_free(s->limiter);
	ing_bearers_free(s->bearers);
	ing_http_tls_free(s->tls);
	uv_close((uv_handle_t *)&s->tick, on_closed);
}

const char *ing_serve_address(const struct ing_serve *s)
{
	return s->address;
}

void ing_serve_status(const struct ing_serve *s, char *ret, size_t ret_bytes)
{
	struct ing_asks_stats stats;
	ing_asks_stats(s->asks, &stats);
	const char *why_not = ing_broker_why_not(s->broker);
	snprintf(ret, ret_bytes,
		"%u connections, %zu requests without a result, %" PRIu64 " results%s%s",
		ing_http_server_connections(s->http), stats.waiting, stats.results,
		why_not != NULL ? "; Kafka is away" : "",
		s->tables != NULL && ing_tables_away(s->tables) ? "; the database is away" : "");
}

void ing_pending_add(struct ing_serve *s, struct ing_http_exchange *x, struct ing_pending *p)
{
	p->serve = s;
	p->x = x;
	*ing_http_slot(x) = p;
	DL_APPEND(s->pending, p);
}

void ing_serve_charge(struct ing_serve *s, struct ing_http_exchange *x, double tokens)
{
	struct ing_addr client = client_of(s, x);
	ing_limiter_charge(s->limiter, &client, tokens, ing_now_ms());
}

void ing_serve_health(struct ing_serve *s, struct ing_http_exchange *x)
{
	char text[200];
	bool kafka = ing_broker_why_not(s->broker) == NULL;
	snprintf(text, sizeof(text), "{\"status\":\"%s\",\"kafka\":%s,\"database\":%s}\n",
		kafka ? "ok" : "away", kafka ? "true" : "false",
		s->tables == NULL            ? "null"
		: ing_tables_away(s->tables) ? "false"
					     : "true");
	ing_http_add_text(x, text);
	ing_answer_json(x, kafka ? 200 : 503);
}

void ing_serve_file(struct ing_serve *s, struct ing_http_exchange *x)
{
	(void)s;
	for (size_t i = 0; i < ing_serve_file_count; i++) {
		const struct ing_serve_file *f = &ing_serve_files[i];
		if (strcmp(f->path, ing_http_path(x)) != 0)
			continue;
		ing_http_add_header(x, "Content-Type", f->type);
		ing_http_add_header(x, "X-Content-Type-Options", "nosniff");
		ing_http_add_header(x, "Cache-Control", "max-age=300");
		ing_http_add_textn(x, f->data, f->bytes);
		ing_http_answer(x, 200);
		return;
	}
	ing_answer_error(x, 404, "not-found", "there is nothing here");
}
