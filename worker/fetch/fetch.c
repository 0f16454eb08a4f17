/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pool of transfers: shared state, pacing of starts, and the only place that calls done().
 *
 * Starts are paced by what transfers cost (starts.h).
 *
 * While file descriptors are short no transfer is started: it would end as if its host were down.
 *
 * Limits are checked for all active transfers every 50 ms instead of with a timer for each: a thousand
 * comparisons cost less than rearming a timer for each packet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fd_shortage.h"
#include "worker/fetch/fetch_priv.h"

#define PACE_MS 2
#define LIMITS_EVERY_MS 50
#define SHORTAGE_MS 100
/* TLS sessions of some 2,600 hosts: a chain of three certificates takes 25 KB in memory. */
#define TLS_SESSIONS_BYTES ((size_t)64 << 20)
#define FALLBACK_CA_FILE "/etc/ssl/certs/ca-certificates.crt"
#define MAX_ACCEPT_BYTES ((size_t)1024)
#define ACCEPT_ENCODING "Accept-Encoding: gzip, deflate, br" /* what the examiner decodes */

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

/* ---- turns ---- */

static void deliver_finished(struct ing_fetch *f)
{
	while (f->finished != NULL) {
		struct ing_transfer *t = f->finished;
		struct ing_exchange *ex = ing_exchange_ref(t->ex);
		ing_fetch_done_f *done = t->done;
		void *ctx = t->ctx;
		ing_transfer_free(t);
		done(ctx, ex);
	}
	if (f->count == 0)
		uv_timer_stop(f->limits);
}

static void on_pace(uv_timer_t *timer);

static void begin_queued(struct ing_fetch *f)
{
	if (f->queued == NULL)
		return;
	if (ing_fd_shortage()) {
		uv_timer_start(f->pace, on_pace, SHORTAGE_MS, 0);
		return;
	}
	unsigned allowed = ing_starts_allow(&f->starts, ing_now_us(), ing_thread_cpu_ns());
	for (; f->queued != NULL && allowed > 0; allowed--) {
		ing_starts_take(&f->starts);
		ing_transfer_begin(f->queued);
	}
	if (f->queued != NULL)
		uv_timer_start(f->pace, on_pace, PACE_MS, 0);
}

static void on_pace(uv_timer_t *timer)
{
	struct ing_fetch *f = timer->data;
	begin_queued(f);
	deliver_finished(f);
}

static void on_kick(uv_idle_t *kick)
{
	struct ing_fetch *f = kick->data;
	uv_idle_stop(kick);
	if (f->wake_wanted) {
		f->wake_wanted = false;
		ing_spool_wake(f->spool);
	}
	if (f->queued != NULL && !uv_is_active((uv_handle_t *)f->pace))
		begin_queued(f);
	deliver_finished(f);
}

static void on_limits(uv_timer_t *timer)
{
	struct ing_fetch *f = timer->data;
	struct ing_transfer *t;
	struct ing_transfer *next;
	uint64_t now = ing_now_ms();
	DL_FOREACH_SAFE (f->active, t, next)
		ing_transfer_check_limits(t, now);
	DL_FOREACH_SAFE (f->queued, t, next)
		if (t->deadline_ms != 0 && now >= t->deadline_ms)
			ing_transfer_begin(t); /* its limit is due: the next check ends it */
	deliver_finished(f);
}

static void on_memory_wanted(void *ctx)
{
	struct ing_fetch *f = ctx;
	f->wake_wanted = true;
	ing_fetch_kick(f);
}

static void on_curl_done(void *ctx, CURL *easy, CURLcode rc)
{
	struct ing_transfer *t = NULL;
	(void)ctx;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
	ing_must(t != NULL && t->magic == ING_TRANSFER_MAGIC);
	ing_transfer_curl_done(t, rc);
}

static void on_curl_idle(void *ctx)
{
	deliver_finished(ctx);
}

/* ---- setup ---- */

static int find_ca_file(struct ing_fetch *f, struct ing_error *err)
{
	const char *path = f->settings.ca_file;
	if (path == NULL || path[0] == '\0')
		path = curl_version_info(CURLVERSION_NOW)->cainfo;
	if (path == NULL)
		path = FALLBACK_CA_FILE;
	if (access(path, R_OK) != 0)
		return ing_error_sys(err, errno, "fetch.ca_file: %s", path);
	f->ca_file = ing_strdup(path);
	return 0;
}

static int make_list(
	struct ing_cidr_list *l, char *const *texts, const char *key, struct ing_error *err)
{
	int rc = ing_cidr_list_init(l, texts, err);
	if (rc != 0)
		ing_error_context(err, "%s", key);
	return rc;
}

/* The parts that fail when the configuration is wrong. */
static int make_parts(struct ing_fetch *f, struct ing_error *err)
{
	int rc = make_list(&f->allow, f->settings.allow_address, "fetch.allow_address", err);
	if (rc == 0)
		rc = make_list(&f->deny, f->settings.deny_address, "fetch.deny_address", err);
	if (rc == 0)
		rc = ing_ports_init(&f->ports, f->settings.allow_port, err);
	if (rc == 0)
		rc = ing_routes_init(&f->routes, &f->settings, err);
	if (rc == 0)
		rc = find_ca_file(f, err);
	if (rc == 0)
		rc = ing_resolver_new(f->loop,
			&(struct ing_resolver_conf){.servers = f->settings.dns_servers},
			&f->resolver, err);
	return rc;
}

static void make_handles(struct ing_fetch *f)
{
	f->kick = ing_alloc(sizeof(*f->kick));
	f->pace = ing_alloc(sizeof(*f->pace));
	f->limits = ing_alloc(sizeof(*f->limits));
	ing_must(uv_idle_init(f->loop, f->kick) == 0 && uv_timer_init(f->loop, f->pace) == 0 &&
		 uv_timer_init(f->loop, f->limits) == 0);
	f->kick->data = f;
	f->pace->data = f;
	f->limits->data = f;
}

void ing_fetch_kick(struct ing_fetch *f)
{
	uv_idle_start(f->kick, on_kick);
}

/* The fields that curl does not write by itself. */
static struct curl_slist *make_headers(const char *accept)
{
	struct ing_buf line;
	ing_buf_init(&line, MAX_ACCEPT_BYTES);
	ing_buf_printf(&line, "Accept: %s", accept != NULL ? accept : "*/*");
	ing_must(!line.failed);
	struct curl_slist *headers = curl_slist_append(NULL, ing_buf_str(&line));
	headers = headers != NULL ? curl_slist_append(headers, ACCEPT_ENCODING) : NULL;
	ing_must(headers != NULL);
	ing_buf_done(&line);
	return headers;
}

/* Returns the Referer value without fragment and user information (RFC 9110 10.1.3), or NULL when none
 * is to be sent. */
static char *make_referer(const char *referer, const struct ing_target *to)
{
	struct ing_target from;
	if (referer == NULL || to->url == NULL || ing_target_init(&from, referer, NULL) != 0)
		return NULL;
	char *text = from.https && !to->https ? NULL : ING_TAKE(from.url);
	ing_target_done(&from);
	return text;
}

/* -------------------------------------------------------------------------------------------- */

int ing_fetch_new(struct uv_loop_s *loop, const struct ing_fetch_settings *settings,
	unsigned max_connections, struct ing_fetch **ret, struct ing_error *err)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return ing_error_set(err, ING_FAIL_SYSTEM, "curl_global_init() failed");
	struct ing_fetch *f = ing_alloc(sizeof(*f));
	f->magic = ING_FETCH_MAGIC;
	f->loop = loop;
	f->settings = *settings;
	ing_starts_init(&f->starts, ing_now_us(), ing_thread_cpu_ns());
	int rc = make_parts(f, err);
	if (rc != 0) {
		ing_fetch_free(f);
		return rc;
	}
	make_handles(f);
	struct ing_multi_user user = {.done = on_curl_done, .idle = on_curl_idle, .ctx = f};
	f->multi = ing_multi_new(loop, max_connections, &user);
	f->tls = ing_tls_sessions_new(settings->tls_resume, TLS_SESSIONS_BYTES, f->ca_file);
	f->spool = ing_spool_new(
		loop, settings->spool_dir, settings->memory_bytes, on_memory_wanted, f);
	*ret = f;
	return 0;
}

void ing_fetch_free(struct ing_fetch *f)
{
	if (f == NULL)
		return;
	while (f->queued != NULL)
		ing_transfer_free(f->queued);
	while (f->active != NULL)
		ing_transfer_free(f->active);
	while (f->finished != NULL)
		ing_transfer_free(f->finished);
	while (f->pool_count > 0)
		curl_easy_cleanup(f->pool[--f->pool_count]);
	ing_multi_free(f->multi);
	ing_tls_sessions_free(f->tls);
	ing_lookups_drop(f);
	ing_resolver_free(f->resolver);
	ing_spool_free(f->spool);
	if (f->kick != NULL) {
		uv_close((uv_handle_t *)f->kick, free_handle);
		uv_close((uv_handle_t *)f->pace, free_handle);
		uv_close((uv_handle_t *)f->limits, free_handle);
	}
	ing_routes_done(&f->routes);
	ing_ports_done(&f->ports);
	ing_cidr_list_done(&f->allow);
	ing_cidr_list_done(&f->deny);
	free(f->ca_file);
	f->magic = 0;
	free(f);
	curl_global_cleanup();
}

struct ing_transfer *ing_fetch_start(
	struct ing_fetch *f, const struct ing_fetch_request *req, ing_fetch_done_f *done, void *ctx)
{
	ing_must(f->magic == ING_FETCH_MAGIC);
	struct ing_transfer *t = ing_transfer_new(f, req);
	t->done = done;
	t->ctx = ctx;
	t->referer = make_referer(req->referer, &t->target);
	t->headers = make_headers(req->accept);
	if (!uv_is_active((uv_handle_t *)f->limits))
		uv_timer_start(f->limits, on_limits, LIMITS_EVERY_MS, LIMITS_EVERY_MS);
	ing_fetch_kick(f);
	return t;
}

void ing_fetch_abort_disk(struct ing_fetch *f, const char *key)
{
	struct ing_transfer *t;
	struct ing_transfer *next;
	DL_FOREACH_SAFE (f->active, t, next)
		ing_transfer_abort_disk(t, key);
	DL_FOREACH_SAFE (f->queued, t, next)
		ing_transfer_abort_disk(t, key);
	deliver_finished(f);
}

void ing_fetch_cancel(struct ing_transfer *t)
{
	ing_transfer_free(t);
}

bool ing_fetch_blocked(const struct ing_fetch *f)
{
	return ing_spool_full(f->spool);
}

const char *ing_fetch_trouble(const struct ing_fetch *f)
{
	return ing_fetch_blocked(f) ? ing_spool_trouble(f->spool) : NULL;
}

size_t ing_fetch_active(const struct ing_fetch *f)
{
	return f->count;
}

void ing_fetch_stats(const struct ing_fetch *f, struct ing_fetch_stats *ret)
{
	*ret = f->stats;
	ret->active = f->count;
	ret->memory_bytes = ing_spool_memory_bytes(f->spool);
	ret->head_bytes = ing_spool_head_bytes(f->spool);
	ing_tls_sessions_count(f->tls, ret);
	ret->cpu_ns = ing_multi_cpu_ns(f->multi);
}
