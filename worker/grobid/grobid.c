/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests wait, work (a transfer, or the rest before a further one), and when they have ended stand
 * in a third list, from which they are told when no call of ours is on the stack. One timer serves
 * all rests. Loop.
 *
 * What surprises: a request that rests keeps its place among those at work, so that a server that is busy or cannot
 * be reached is asked by fewer.
 */
#include "worker/grobid/grobid.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/grobid/grobid_priv.h"
#include "worker/model/limits.h"

#define CONNECT_TIMEOUT_MS 5000
/* A busy server is asked again after a second, doubled up to this; it may ask for longer. */
#define MOST_BUSY_REST_MS 10000u
#define MOST_ASKED_REST_S 60u
#define REST_MS 1000u       /* after other failures */
#define SUSPECT_MS 5000u    /* for so long connections may fail before the server is away */
#define PROBE_REST_MS 5000u /* between probes of one that is */
#define MOST_BROKEN 2u      /* tries */
#define MOST_LOCAL 10u      /* tries */
#define BLOCKED_MS 30000u   /* nothing has ended for so long */
/* Ends are told for so long in a turn of the loop: a result is made of each, of megabytes at times, and a
 * server that is away ends all that wait. */
#define TELL_MS 20u
#define MAX_PROBE_BYTES 1024 /* "true" */

static void arm(struct ing_grobid *g);

static void move_to(struct ing_grobid_request *r, struct ing_grobid_request **list)
{
	struct ing_grobid *g = r->grobid;
	if (r->list != NULL)
		DL_DELETE(*r->list, r);
	g->waiting_count -= r->list == &g->waiting;
	g->working_count -= r->list == &g->working;
	r->list = list;
	if (list != NULL)
		DL_APPEND(*list, r);
	g->waiting_count += list == &g->waiting;
	g->working_count += list == &g->working;
}

/* Takes what *answer has. */
static void end_with(struct ing_grobid_request *r, struct ing_grobid_answer *answer)
{
	r->end = *answer;
	*answer = (struct ing_grobid_answer){.fd = -1};
	r->rest_until_ms = 0;
	r->grobid->last_end_ms = ing_now_ms();
	move_to(r, &r->grobid->ended);
}

static void end_unreached(struct ing_grobid_request *r)
{
	struct ing_grobid_answer a = {.status = "error-connect",
		.status_code = ING_GROBID_NO_CONNECTION,
		.error_msg = ing_strdup("GROBID cannot be reached"),
		.fd = -1};
	end_with(r, &a);
}

/* --- whether the server is there --- */

static void note_reached(struct ing_grobid *g)
{
	if (g->reach == ING_GROBID_AWAY)
		ing_log(ING_LOG_INFO, "GROBID is reached again");
	g->reach = ING_GROBID_REACHED;
	g->stats.away = 0;
}

static void give_up(struct ing_grobid *g, const char *detail)
{
	struct ing_grobid_request *r;
	struct ing_grobid_request *next;
	g->reach = ING_GROBID_AWAY;
	g->stats.away = 1;
	g->probe_at_ms = ing_now_ms() + PROBE_REST_MS;
	ing_log(ING_LOG_WARNING,
		"GROBID cannot be reached: %s; documents are delivered without its results until it is",
		detail);
	DL_FOREACH_SAFE (g->waiting, r, next)
		end_unreached(r);
	DL_FOREACH_SAFE (g->working, r, next)
		if (r->rest_until_ms > 0)
			end_unreached(r);
}

static void note_unreached(struct ing_grobid *g, const char *detail)
{
	uint64_t now_ms = ing_now_ms();
	g->stats.unreached++;
	if (g->reach == ING_GROBID_REACHED) {
		g->reach = ING_GROBID_SUSPECT;
		g->suspect_since_ms = now_ms;
	} else if (g->reach == ING_GROBID_SUSPECT && now_ms - g->suspect_since_ms >= SUSPECT_MS)
		give_up(g, detail);
}

static void on_probed(struct ing_http_client_request *probe, struct ing_http_client_answer *a)
{
	struct ing_grobid *g = ING_CONTAINER(probe, struct ing_grobid, probe);
	if (a->end == ING_HTTP_CLIENT_ANSWERED)
		note_reached(g);
	else
		g->probe_at_ms = ing_now_ms() + PROBE_REST_MS;
	arm(g);
}

static void send_probe(struct ing_grobid *g)
{
	g->probe_at_ms = 0;
	g->probe = (struct ing_http_client_request){.method = "GET",
		.url = g->probe_url,
		.max_answer_bytes = MAX_PROBE_BYTES,
		.timeout_ms = CONNECT_TIMEOUT_MS,
		.done = on_probed};
	ing_http_client_put(g->http, &g->probe);
}

/* --- tries --- */

static uint64_t busy_rest_ms(const struct ing_grobid_request *r, unsigned retry_after_s)
{
	uint64_t ms = ING_MIN(REST_MS << ING_MIN(r->busy - 1, 8u), MOST_BUSY_REST_MS);
	ms = ING_MAX(ms, 1000ull * ING_MIN(retry_after_s, MOST_ASKED_REST_S));
	return ms + (uint64_t)random() % (ms / 4 + 1); /* not all at once */
}

/* How long to rest before a further try; 0: there is none. */
static uint64_t rest_after(
	struct ing_grobid_request *r, enum ing_grobid_try try, unsigned retry_after_s)
{
	struct ing_grobid *g = r->grobid;
	uint64_t spent_ms = ing_now_ms() - r->first_ms;
	uint64_t rest_ms = REST_MS;
	switch (try) {
	case ING_GROBID_TRY_BUSY:
		g->stats.busy++;
		r->busy++;
		rest_ms = busy_rest_ms(r, retry_after_s);
		return spent_ms + rest_ms <= g->conf.settings.timeout_ms ? rest_ms : 0;
	case ING_GROBID_TRY_UNREACHED:
		return g->reach != ING_GROBID_AWAY ? rest_ms : 0;
	case ING_GROBID_TRY_LOST:
		return ++r->broken < MOST_BROKEN ? rest_ms : 0;
	case ING_GROBID_TRY_LOCAL:
		return ++r->local < MOST_LOCAL ? rest_ms : 0;
	case ING_GROBID_TRY_END:
		break;
	}
	return 0;
}

static void drop_answer(struct ing_grobid_answer *answer)
{
	free(answer->error_msg);
	if (answer->fd >= 0)
		close(answer->fd);
}

static void count_answer(struct ing_grobid *g, uint64_t took_ms)
{
	g->stats.answer_ms += took_ms;
	ing_histogram_add(g->stats.answer_us, ING_METRIC_DURATION, took_ms * 1000);
}

static void on_tried(struct ing_http_client_request *http, struct ing_http_client_answer *a)
{
	struct ing_grobid_request *r = ING_CONTAINER(http, struct ing_grobid_request, http);
	struct ing_grobid *g = r->grobid;
	struct ing_grobid_answer answer;
	enum ing_grobid_try try = ing_grobid_judge(a, &answer);
	if (try == ING_GROBID_TRY_UNREACHED)
		note_unreached(g, a->detail);
	else if (a->status > 0)
		note_reached(g);
	uint64_t rest_ms = rest_after(r, try, a->retry_after_s);
	if (rest_ms > 0) {
		r->rest_until_ms = ing_now_ms() + rest_ms;
		drop_answer(&answer);
	} else {
		char *type = answer.content_type != NULL ? ing_strdup(answer.content_type) : NULL;
		free(r->content_type);
		r->content_type = type;
		answer.content_type = type;
		if (try == ING_GROBID_TRY_END)
			count_answer(g, a->took_ms);
		end_with(r, &answer);
	}
	arm(g);
}

static void begin(struct ing_grobid_request *r)
{
	uint64_t now_ms = ing_now_ms();
	r->rest_until_ms = 0;
	r->first_ms = r->first_ms > 0 ? r->first_ms : now_ms;
	if (r->list != &r->grobid->working)
		move_to(r, &r->grobid->working);
	ing_grobid_call(r->grobid, r, on_tried);
}

static void go_on(struct ing_grobid *g)
{
	uint64_t now_ms = ing_now_ms();
	struct ing_grobid_request *r;
	DL_FOREACH (g->working, r)
		if (r->rest_until_ms > 0 && r->rest_until_ms <= now_ms)
			begin(r);
	while (g->waiting != NULL && g->working_count < g->conf.settings.concurrency &&
		(g->reach == ING_GROBID_REACHED || g->working_count == 0))
		begin(g->waiting);
	if (g->reach == ING_GROBID_AWAY && g->probe_at_ms > 0 && g->probe_at_ms <= now_ms)
		send_probe(g);
}

static void count_end(struct ing_grobid *g, const struct ing_grobid_answer *a)
{
	if (strcmp(a->status, "success") == 0)
		g->stats.answered++;
	else if (strcmp(a->status, "error-connect") == 0)
		g->stats.error_connect++;
	else if (strcmp(a->status, "error-timeout") == 0)
		g->stats.error_timeout++;
	else
		g->stats.error++;
}

static void tell(struct ing_grobid_request *r)
{
	struct ing_grobid_answer a = r->end;
	char *content_type = ING_TAKE(r->content_type);
	count_end(r->grobid, &a);
	move_to(r, NULL);
	r->end = (struct ing_grobid_answer){.fd = -1};
	ing_grobid_call_done(r);
	r->grobid = NULL;
	r->done(r, &a);
	drop_answer(&a);
	free(content_type);
}

static void on_timer(uv_timer_t *timer)
{
	struct ing_grobid *g = timer->data;
	go_on(g);
	uint64_t until_ms = ing_now_ms() + TELL_MS;
	while (g->ended != NULL && ing_now_ms() < until_ms)
		tell(g->ended);
	go_on(g);
	arm(g);
}

/* For what is due next; never in the same turn, in which a timer of zero that a timer starts would run. */
static void arm(struct ing_grobid *g)
{
	uint64_t at_ms = UINT64_MAX;
	const struct ing_grobid_request *r;
	bool free_place = g->working_count < g->conf.settings.concurrency &&
			  (g->reach == ING_GROBID_REACHED || g->working_count == 0);
	if (g->ended != NULL || (g->waiting != NULL && free_place))
		at_ms = 0;
	DL_FOREACH (g->working, r)
		if (r->rest_until_ms > 0)
			at_ms = ING_MIN(at_ms, r->rest_until_ms);
	if (g->reach == ING_GROBID_AWAY && g->probe_at_ms > 0)
		at_ms = ING_MIN(at_ms, g->probe_at_ms);
	uint64_t now_ms = ing_now_ms();
	if (at_ms == UINT64_MAX)
		uv_timer_stop(g->timer);
	else
		uv_timer_start(g->timer, on_timer, at_ms > now_ms ? at_ms - now_ms : 1, 0);
}

static char *url_of(const char *base, const char *path)
{
	size_t bytes = strlen(base);
	while (bytes > 0 && base[bytes - 1] == '/')
		bytes--;
	char *url = ing_alloc(bytes + strlen(path) + 1);
	memcpy(url, base, bytes);
	memcpy(url + bytes, path, strlen(path));
	return url;
}

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

/* -------------------------------------------------------------------------------------------- */

int ing_grobid_new(struct uv_loop_s *loop, const struct ing_grobid_conf *conf,
	struct ing_grobid **ret, struct ing_error *err)
{
	struct ing_http_client *http;
	struct ing_http_client_settings settings = {.user_agent = conf->user_agent,
		.max_transfers = conf->settings.concurrency + 1, /* a probe */
		.connect_timeout_ms = ING_MIN(conf->settings.timeout_ms, CONNECT_TIMEOUT_MS)};
	int rc = ing_http_client_new(loop, &settings, &http, err);
	if (rc != 0)
		return rc;
	struct ing_grobid *g = ing_alloc(sizeof(*g));
	g->conf = *conf;
	g->http = http;
	g->urls[ING_GROBID_DOCUMENT] = url_of(conf->settings.url, "/api/processFulltextDocument");
	g->urls[ING_GROBID_CITATIONS] = url_of(conf->settings.url, "/api/processCitationList");
	g->probe_url = url_of(conf->settings.url, "/api/isalive");
	g->last_end_ms = ing_now_ms();
	g->timer = ing_alloc(sizeof(*g->timer));
	uv_timer_init(loop, g->timer);
	g->timer->data = g;
	*ret = g;
	return 0;
}

void ing_grobid_free(struct ing_grobid *g)
{
	if (g == NULL)
		return;
	struct ing_grobid_request **lists[] = {&g->waiting, &g->working, &g->ended};
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++)
		while (*lists[i] != NULL)
			ing_grobid_cancel(*lists[i]);
	ing_http_client_free(g->http);
	uv_close((uv_handle_t *)g->timer, free_handle);
	for (size_t i = 0; i < ING_ARRAY_LEN(g->urls); i++)
		free(g->urls[i]);
	free(g->probe_url);
	free(g);
}

void ing_grobid_put(struct ing_grobid *g, struct ing_grobid_request *r)
{
	ing_must(r->grobid == NULL);
	r->grobid = g;
	r->list = NULL;
	r->first_ms = r->rest_until_ms = 0;
	r->busy = r->broken = r->local = 0;
	r->end = (struct ing_grobid_answer){.fd = -1};
	if (g->waiting_count + g->working_count == 0)
		g->last_end_ms = ing_now_ms(); /* nobody has waited until now */
	move_to(r, &g->waiting);
	if (r->body.bytes > ING_GROBID_MAX_BODY_BYTES) {
		struct ing_grobid_answer a = {.status = "blob-too-large",
			.status_code = ING_GROBID_NOT_SENT,
			.error_msg = ing_strdup("the document has over 268435456 bytes"),
			.fd = -1};
		end_with(r, &a);
	} else if (g->reach == ING_GROBID_AWAY)
		end_unreached(r);
	arm(g);
}

void ing_grobid_cancel(struct ing_grobid_request *r)
{
	struct ing_grobid *g = r->grobid;
	if (g == NULL)
		return;
	move_to(r, NULL);
	ing_grobid_call_done(r);
	free(ING_TAKE(r->content_type));
	r->grobid = NULL;
	arm(g);
}

bool ing_grobid_is_full(const struct ing_grobid *g)
{
	return g->waiting_count > 2 * g->conf.settings.concurrency;
}

bool ing_grobid_blocks(const struct ing_grobid *g)
{
	return ing_grobid_is_full(g) && ing_now_ms() - g->last_end_ms >= BLOCKED_MS;
}

void ing_grobid_stats(const struct ing_grobid *g, struct ing_grobid_stats *ret)
{
	*ret = g->stats;
	ret->waiting = g->waiting_count;
	ret->working = g->working_count;
}
