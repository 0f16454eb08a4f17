/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the endpoint answers, a function a page and the table of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/json.h"
#include "worker/service/endpoint_head.h"
#include "worker/service/endpoint_priv.h"
#include "worker/service/status_page.h"

#define MAX_TEXT_BYTES ((size_t)4 << 20) /* the numbers have some 60 KiB */
#define ALIVE_MS 10000                   /* without a turn of the loop in it */
#define TEXT_AGE_MS 500                  /* of numbers that are given to several who ask */
#define JSON "application/json"
#define PLAIN "text/plain; charset=utf-8"

/* --- /metrics --- */

static struct ing_blob *make_text(struct ing_endpoint *e, enum ing_metrics_format format)
{
	struct ing_metrics *m = &e->snapshot->metrics;
	struct ing_buf out;
	m->absent[ING_METRIC_ROOM_endpoint] = false;
	m->endpoint = e->stats;
	m->endpoint.cpu_ns = ing_thread_cpu_ns();
	m->endpoint.loop_silence_ms = ing_mailbox_silence_ms(&e->mailbox, ing_now_ms());
	ing_endpoint_measure_process(&m->endpoint);
	ing_buf_init(&out, MAX_TEXT_BYTES);
	ing_metrics_add_text(m, format, &out);
	size_t bytes = out.len;
	return ing_blob_new(ing_buf_steal(&out), bytes);
}

static struct ing_blob *text_for(struct ing_endpoint *e, enum ing_metrics_format format)
{
	uint64_t now_ms = ing_now_ms();
	if (now_ms - e->texts_ms > TEXT_AGE_MS) {
		for (size_t i = 0; i < ING_ARRAY_LEN(e->texts); i++)
			ing_blob_unref(ING_TAKE(e->texts[i]));
		e->texts_ms = now_ms;
	}
	if (e->texts[format] == NULL)
		e->texts[format] = make_text(e, format);
	return e->texts[format];
}

static void serve_metrics(
	struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_snapshot *s)
{
	static const char *const types[] = {
		[ING_METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[ING_METRICS_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	if (s == NULL) {
		ing_endpoint_answer(x, 503, PLAIN, "the worker has no numbers yet\n");
		return;
	}
	enum ing_metrics_format format =
		ing_endpoint_wants_openmetrics(ing_http_header(x, "Accept"))
			? ING_METRICS_OPENMETRICS
			: ING_METRICS_PROMETHEUS;
	ing_http_add_header(x, "Vary", "Accept");
	ing_http_add_blob(x, text_for(e, format));
	ing_endpoint_answer(x, 200, types[format], "");
}

/* --- /healthz, /readyz --- */

static bool is_alive(const struct ing_endpoint *e, struct ing_buf *out)
{
	uint64_t silence_ms = ing_mailbox_silence_ms(&e->mailbox, ing_now_ms());
	if (silence_ms <= ALIVE_MS)
		ing_buf_add_str(out, "loop: ok\n");
	else
		ing_buf_printf(out, "loop: has not turned for %" PRIu64 " s\n", silence_ms / 1000);
	return silence_ms <= ALIVE_MS;
}

static void serve_health(
	struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_snapshot *s)
{
	struct ing_buf out;
	(void)s;
	ing_buf_init(&out, 1000);
	bool alive = is_alive(e, &out);
	ing_endpoint_answer(x, alive ? 200 : 503, PLAIN, ing_buf_str(&out));
	ing_buf_done(&out);
}

static void serve_readiness(
	struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_snapshot *s)
{
	struct ing_buf out;
	ing_buf_init(&out, 4000);
	bool ready = is_alive(e, &out) && s != NULL && ing_snapshot_is_ready(s);
	for (int i = 0; s != NULL && i < ING_READY_CHECKS_; i++)
		ing_buf_printf(&out, "%s: %s\n", ing_ready_name((enum ing_ready_check)i),
			s->wrong[i][0] != '\0' ? s->wrong[i] : "ok");
	if (s == NULL)
		ing_buf_add_str(&out, "worker: starting\n");
	ing_endpoint_answer(x, ready ? 200 : 503, PLAIN, ing_buf_str(&out));
	ing_buf_done(&out);
}

/* --- /status, /status.json --- */

static void serve_status_json(
	struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_snapshot *s)
{
	(void)e;
	if (s == NULL || s->status == NULL)
		ing_endpoint_answer(
			x, 503, JSON, "{\"error\":\"the worker does not say how it is\"}\n");
	else
		ing_endpoint_answer(x, 200, JSON, s->status);
}

static void serve_status(
	struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_snapshot *s)
{
	struct ing_buf out;
	const char *text = s != NULL ? s->status : NULL;
	json_t *status =
		text != NULL ? ing_json_parse(text, strlen(text), &ing_json_own, NULL) : NULL;
	char *policy = ing_status_page_policy();
	ing_buf_init(&out, ING_STATUS_PAGE_BYTES);
	ing_status_page(status, ing_mailbox_silence_ms(&e->mailbox, ing_now_ms()), &out);
	ing_http_add_header(x, "Content-Security-Policy", policy);
	ing_http_add_header(x, "Referrer-Policy", "no-referrer");
	ing_endpoint_answer(
		x, status != NULL ? 200 : 503, "text/html; charset=utf-8", ing_buf_str(&out));
	ing_buf_done(&out);
	free(policy);
	json_decref(status);
}

static const struct ing_endpoint_page pages[] = {
	{.path = "/metrics", .needs_snapshot = true, .serve = serve_metrics},
	{.path = "/healthz", .serve = serve_health},
	{.path = "/readyz", .serve = serve_readiness},
	{.path = "/status", .needs_snapshot = true, .detailed = true, .serve = serve_status},
	{.path = "/status.json",
		.needs_snapshot = true,
		.detailed = true,
		.serve = serve_status_json},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_endpoint_page *ing_endpoint_page(const char *path)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++)
		if (strcmp(pages[i].path, path) == 0)
			return &pages[i];
	return NULL;
}

void ing_endpoint_answer(
	struct ing_http_exchange *x, unsigned status, const char *type, const char *text)
{
	ing_http_add_header(x, "Content-Type", type);
	ing_http_add_header(x, "X-Content-Type-Options", "nosniff");
	ing_http_add_header(x, "Cache-Control", "no-store");
	ing_http_add_text(x, text);
	ing_http_answer(x, status);
}
