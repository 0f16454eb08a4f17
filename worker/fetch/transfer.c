/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The phases of one transfer: queued -> resolving -> running (possibly at several addresses in turn)
 * -> flushing -> finished. Every step is a call from the loop; a step that fails goes straight to
 * finished. The exchange is filled as values become known; its outcome is decided once, when the body
 * is complete.
 *
 * connect_timeout_ms covers the lookup, TCP and TLS over up to three addresses, each but the last of
 * which gets half of the time left, then over those of the other address family. A connection that is
 * offered a TLS session gets half of it, too: when it fails, perhaps for the session, another one is
 * made without.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>
#include "common/base/clock.h"
#include "worker/fetch/fetch_priv.h"
#include "worker/model/limits.h"

/* Minimum time for one address, however many are left. */
#define MIN_ATTEMPT_MS 1000
/* For writing a body to disk that arrived within the time limit. */
#define FLUSH_GRACE_MS 2000

/* An exchange with the accounted memory of its head and body. It may outlive the ing_fetch. */
struct spooled_exchange {
	struct ing_exchange ex;
	struct ing_spool_hold head, body;
};

static void destroy_exchange(struct ing_exchange *ex)
{
	struct spooled_exchange *h = ING_CONTAINER(ex, struct spooled_exchange, ex);
	struct ing_spool_hold head = h->head;
	struct ing_spool_hold body = h->body;
	ing_spool_release(&body, &ex->body_fd);
	ing_exchange_free(ex);
	ing_spool_release(&head, NULL);
}

static void move(struct ing_transfer *t, struct ing_transfer **from, struct ing_transfer **to)
{
	DL_DELETE(*from, t);
	DL_APPEND(*to, t);
}

static unsigned elapsed_us(const struct ing_transfer *t)
{
	uint64_t us = uv_hrtime() / 1000 - t->began_us;
	return (unsigned)ING_MIN(us, (uint64_t)UINT32_MAX);
}

static size_t head_bytes_of(const struct ing_exchange *ex)
{
	const char *const values[] = {ex->location, ex->content_type, ex->content_encoding};
	size_t bytes = ex->response.cap;
	for (size_t i = 0; i < ING_ARRAY_LEN(values); i++)
		bytes += values[i] != NULL ? strlen(values[i]) + 1 : 0;
	return bytes;
}

/* ---- the end ---- */

/* The exchange is complete: releases what the transfer holds; done() is due. */
static void finish(struct ing_transfer *t)
{
	struct spooled_exchange *h = ING_CONTAINER(t->ex, struct spooled_exchange, ex);
	ing_outcome_decide(t);
	if (h->head.spool !=
		NULL) /* the part that moved to the exchange; the rest is freed with t */
		ing_spool_hold_head(t->fetch->spool, &h->head, head_bytes_of(t->ex));
	t->phase = ING_TRANSFER_FINISHED;
	t->ex->total_us = t->began_us != 0 ? elapsed_us(t) : 0;
	if (t->body != NULL && t->ex->answered)
		t->ex->body_bytes =
			ing_spool_body_take(ING_TAKE(t->body), &t->ex->body_fd, &h->body);
	t->fetch->stats.exchanges++;
	t->fetch->stats.body_bytes += t->ex->body_bytes;
	ing_histogram_add(t->fetch->stats.transfer_us, ING_METRIC_DURATION, t->ex->total_us);
	if (t->ex->answered)
		ing_histogram_add(t->fetch->stats.body_size, ING_METRIC_SIZE, t->ex->body_bytes);
	move(t, &t->fetch->active, &t->fetch->finished);
	ing_fetch_kick(t->fetch);
}

/* Finishes without having connected. */
static void finish_early(struct ing_transfer *t, enum ing_status outcome, const char *fmt, ...)
	ING_PRINTF(3, 4);

static void finish_early(struct ing_transfer *t, enum ing_status outcome, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(t->ex->detail, sizeof(t->ex->detail), fmt, ap);
	va_end(ap);
	t->ex->outcome = outcome;
	t->phase = ING_TRANSFER_FINISHED;
	t->ex->total_us = t->began_us != 0 ? elapsed_us(t) : 0;
	t->fetch->stats.exchanges++;
	move(t, &t->fetch->active, &t->fetch->finished);
	ing_fetch_kick(t->fetch);
}

static void leave_multi(struct ing_transfer *t)
{
	struct ing_fetch *f = t->fetch;
	ing_multi_remove(f->multi, t->easy);
	ing_easy_detach(t);
	if (f->pool_count < ING_FETCH_POOL)
		f->pool[f->pool_count++] = t->easy;
	else
		curl_easy_cleanup(t->easy);
	t->easy = NULL;
}

/* Removes the transfer from the multi handle and completes the body. */
static void end_running(struct ing_transfer *t, CURLcode rc)
{
	t->rc = rc;
	ing_easy_report(t);
	leave_multi(t);
	t->phase = ING_TRANSFER_FLUSHING;
	t->flush_limit_ms = ING_MAX(t->limit_ms, ing_now_ms() + FLUSH_GRACE_MS);
	if (t->abort == ING_ABORT_DISK)
		ing_spool_body_discard(ING_TAKE(t->body));
	bool complete =
		t->body == NULL || t->head.state != ING_HTTP_DONE || ing_spool_body_finish(t->body);
	if (complete && t->abort == ING_ABORT_NONE && t->body != NULL &&
		ing_spool_body_error(t->body) != NULL)
		t->abort = ING_ABORT_SPOOL; /* its last bytes could not be stored */
	if (complete)
		finish(t);
}

/* The attempt ends without the beginning of an answer: the session that its connection was offered is
 * under suspicion. A certificate that was refused must not be believed because a session came with it
 * (in TLS 1.2 one does before curl looks at the name). */
static void judge_session(const struct ing_transfer *t, CURLcode rc)
{
	if (rc != CURLE_OK && t->wire_bytes == 0 && t->target.https &&
		(t->offered || ing_outcome_is_unverified(rc)))
		ing_easy_forget_session(t);
}

static void abort_running(struct ing_transfer *t, enum ing_transfer_abort why)
{
	t->abort = why;
	if (why == ING_ABORT_LIMIT && !t->sent)
		judge_session(t, CURLE_ABORTED_BY_CALLBACK);
	end_running(t, CURLE_ABORTED_BY_CALLBACK);
}

/* ---- connecting ---- */

static void try_address(struct ing_transfer *t)
{
	struct ing_fetch *f = t->fetch;
	uint64_t now = ing_now_ms();
	uint64_t left = t->connect_limit_ms > now ? t->connect_limit_ms - now : 0;
	t->offered = false;
	if (t->addr_at + 1 < t->addr_count || ing_easy_may_resume(t))
		left /= 2; /* leave time for the others */
	t->easy = f->pool_count > 0 ? f->pool[--f->pool_count] : ing_easy_new();
	t->phase = ING_TRANSFER_RUNNING;
	t->sent = false; /* set by an attempt on a dead reused connection */
	ing_easy_prepare(t, (unsigned)ING_MAX(left, MIN_ATTEMPT_MS));
	ing_multi_add(f->multi, t->easy);
}

/* The connection failed with the session that it was offered, before the request was sent. */
static bool may_try_full_tls(const struct ing_transfer *t, CURLcode rc)
{
	return rc != CURLE_OK && t->offered && !t->sent && t->abort == ING_ABORT_NONE &&
	       !ing_outcome_is_unverified(rc) && ing_now_ms() < t->connect_limit_ms;
}

/* No connection was made, and there is time for another attempt. */
static bool may_try_again(const struct ing_transfer *t, CURLcode rc)
{
	return (rc == CURLE_COULDNT_CONNECT || rc == CURLE_OPERATION_TIMEDOUT) && !t->sent &&
	       t->abort == ING_ABORT_NONE && ing_now_ms() < t->connect_limit_ms;
}

/* Keeps the addresses that may be connected to. Returns NULL, or the reason why there is none. */
static const char *keep_addresses(
	struct ing_transfer *t, const struct ing_addr *addrs, unsigned count)
{
	const char *refusal = NULL;
	t->addr_at = 0;
	t->addr_count = 0;
	for (unsigned i = 0; i < count && t->addr_count < ING_FETCH_TRIES; i++) {
		const char *why = NULL;
		if (!t->route.via_proxy)
			why = ing_addr_refusal(&addrs[i], &t->fetch->allow, &t->fetch->deny);
		if (why == NULL)
			t->addrs[t->addr_count++] = addrs[i];
		else if (refusal == NULL)
			refusal = why;
	}
	return t->addr_count > 0 ? NULL : refusal;
}

static void use_addresses(struct ing_transfer *t, const struct ing_addr *addrs, unsigned count)
{
	const char *refusal = keep_addresses(t, addrs, count);
	if (refusal == NULL)
		try_address(t);
	else
		finish_early(t, ING_STATUS_BLOCKED_ADDRESS, "%.150s: %s", t->route.host, refusal);
}

/* Addresses of the other family, after none of the first could be connected to. Without any, the outcome
 * of the first ones stands. */
static void on_other_addresses(struct ing_dns_lookup *lookup, const struct ing_dns_answer *answer)
{
	struct ing_transfer *t = ING_CONTAINER(lookup, struct ing_transfer, lookup);
	if (answer->count > 0 && keep_addresses(t, answer->addrs, answer->count) == NULL)
		try_address(t);
	else
		finish(t);
}

static void on_addresses(struct ing_dns_lookup *lookup, const struct ing_dns_answer *answer)
{
	struct ing_transfer *t = ING_CONTAINER(lookup, struct ing_transfer, lookup);
	t->ex->dns_us = elapsed_us(t);
	ing_histogram_add(t->fetch->stats.dns_us, ING_METRIC_DURATION, t->ex->dns_us);
	t->ex->transient = answer->count == 0 && answer->transient;
	t->both_families = answer->both_families;
	t->ex->no_descriptor = answer->no_descriptor;
	if (answer->count > 0)
		use_addresses(t, answer->addrs, answer->count);
	else if (answer->no_descriptor)
		finish_early(
			t, ING_STATUS_WORKER_ERROR, "%.150s: %s", t->route.host, answer->detail);
	else if (t->route.via_proxy)
		finish_early(t, ING_STATUS_CONNECT_ERROR, "fetch.proxy: %.150s: %s", t->route.host,
			answer->detail);
	else
		finish_early(t, ING_STATUS_INVALID_HOST_RESOLUTION, "%.150s: %s", t->route.host,
			answer->detail);
}

static void set_limits(struct ing_transfer *t)
{
	const struct ing_fetch_settings *settings = &t->fetch->settings;
	uint64_t now = ing_now_ms();
	t->began_us = uv_hrtime() / 1000;
	t->ex->started = ing_wall_now();
	t->limit_ms = now + settings->timeout_ms;
	t->connect_limit_ms = now + settings->connect_timeout_ms;
	if (t->deadline_ms != 0 && t->deadline_ms < t->limit_ms)
		t->limit_ms = t->deadline_ms;
}

/* ---- limits ---- */

static void check_running(struct ing_transfer *t, uint64_t now_ms)
{
	const struct ing_fetch_settings *settings = &t->fetch->settings;
	if (now_ms >= t->limit_ms) {
		abort_running(t, ING_ABORT_LIMIT);
		return;
	}
	if (t->stall_from_ms == 0 || t->paused || settings->stall_ms == 0 ||
		now_ms - t->stall_from_ms < settings->stall_ms)
		return;
	uint64_t wanted = (uint64_t)settings->min_speed_bytes * (now_ms - t->stall_from_ms) / 1000;
	if (t->wire_bytes - t->stall_from_bytes < ING_MAX(wanted, 1)) {
		abort_running(t, ING_ABORT_STALL);
		return;
	}
	t->stall_from_ms = now_ms;
	t->stall_from_bytes = t->wire_bytes;
}

static void check_resolving(struct ing_transfer *t, uint64_t now_ms)
{
	if (now_ms >= t->limit_ms) {
		ing_resolver_stop(&t->lookup);
		t->abort = ING_ABORT_LIMIT;
		finish(t);
	} else if (now_ms >= t->connect_limit_ms && t->rc != CURLE_OK) {
		ing_resolver_stop(&t->lookup);
		finish(t); /* with the outcome of the first addresses */
	} else if (now_ms >= t->connect_limit_ms) {
		ing_resolver_stop(&t->lookup);
		t->ex->transient = true;
		finish_early(t, ING_STATUS_INVALID_HOST_RESOLUTION,
			"%.150s: no answer within fetch.connect_timeout_ms", t->route.host);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_transfer *ing_transfer_new(struct ing_fetch *f, const struct ing_fetch_request *req)
{
	struct ing_transfer *t = ing_alloc(sizeof(*t));
	struct ing_error err = {0};
	t->magic = ING_TRANSFER_MAGIC;
	t->fetch = f;
	t->ex = ing_exchange_new(sizeof(struct spooled_exchange));
	t->ex->destroy = destroy_exchange;
	t->jar = req->jar;
	t->deadline_ms = req->deadline_ms;
	t->tls_fallback = req->tls_fallback;
	t->max_body_bytes = f->settings.max_body_bytes;
	if (req->max_body_bytes != 0)
		t->max_body_bytes = ING_MIN(t->max_body_bytes, req->max_body_bytes);
	ing_http_head_init(&t->head, f->settings.max_header_bytes, f->settings.max_header_fields);
	DL_APPEND(f->active, t);
	f->count++;
	if (ing_target_init(&t->target, req->url, &err) != 0) {
		t->ex->url = ing_strndup(req->url, strnlen(req->url, ING_MAX_URL_BYTES));
		t->ex->started = ing_wall_now();
		finish_early(t, ING_STATUS_INVALID_URL, "%s", err.msg);
		return t;
	}
	t->ex->url = ing_strdup(t->target.url);
	t->ex->dropped_userinfo = t->target.had_userinfo;
	move(t, &f->active, &f->queued);
	return t;
}

void ing_transfer_begin(struct ing_transfer *t)
{
	struct ing_fetch *f = t->fetch;
	struct ing_addr addr;
	move(t, &f->queued, &f->active);
	set_limits(t);
	t->phase = ING_TRANSFER_RESOLVING;
	if (!ing_ports_allow(&f->ports, t->target.port)) {
		finish_early(t, ING_STATUS_BLOCKED_ADDRESS,
			"%.150s: port %u is neither 80, 443 nor in fetch.allow_port",
			t->target.host, t->target.port);
		return;
	}
	t->route = ing_routes_find(&f->routes, &t->target);
	if (t->route.via_proxy && ing_addr_parse(t->target.host, &addr)) {
		const char *refusal = ing_addr_refusal(&addr, &f->allow, &f->deny);
		if (refusal != NULL) {
			finish_early(
				t, ING_STATUS_BLOCKED_ADDRESS, "%s: %s", t->target.host, refusal);
			return;
		}
	}
	if (ing_addr_parse(t->route.host, &addr)) {
		t->both_families = true;
		use_addresses(t, &addr, 1);
		return;
	}
	t->lookup.done = on_addresses;
	ing_resolver_start(f->resolver, &t->lookup, t->route.host);
}

void ing_transfer_curl_done(struct ing_transfer *t, CURLcode rc)
{
	judge_session(t, rc);
	if (may_try_full_tls(t, rc)) {
		leave_multi(t);
		try_address(t);
		return;
	}
	if (t->tls_fallback && !t->unverified && ing_outcome_is_unverified(rc) &&
		ing_now_ms() < t->connect_limit_ms) {
		leave_multi(t);
		t->unverified = true;
		try_address(t);
		return;
	}
	bool again = may_try_again(t, rc);
	if (again && t->addr_at + 1 < t->addr_count) {
		leave_multi(t);
		t->addr_at++;
		t->unverified = false;
		try_address(t);
	} else if (again && !t->both_families) {
		t->rc = rc;
		ing_easy_report(t);
		leave_multi(t);
		t->both_families = true;
		t->unverified = false;
		t->phase = ING_TRANSFER_RESOLVING;
		t->lookup.done = on_other_addresses;
		ing_resolver_start_other(t->fetch->resolver, &t->lookup, t->route.host);
	} else {
		end_running(t, rc);
	}
}

void ing_transfer_check_limits(struct ing_transfer *t, uint64_t now_ms)
{
	switch (t->phase) {
	case ING_TRANSFER_RESOLVING:
		check_resolving(t, now_ms);
		break;
	case ING_TRANSFER_RUNNING:
		check_running(t, now_ms);
		break;
	case ING_TRANSFER_FLUSHING:
		if (now_ms < t->flush_limit_ms)
			break;
		t->abort = ING_ABORT_FLUSH;
		finish(t);
		break;
	case ING_TRANSFER_QUEUED:
	case ING_TRANSFER_FINISHED:
		break;
	}
}

void ing_transfer_abort_disk(struct ing_transfer *t, const char *key)
{
	if (t->phase == ING_TRANSFER_FINISHED)
		return;
	t->fetch->stats.disk_aborts++;
	t->refusal = key;
	if (t->phase == ING_TRANSFER_RUNNING) {
		abort_running(t, ING_ABORT_DISK);
		return;
	}
	if (t->phase == ING_TRANSFER_QUEUED)
		move(t, &t->fetch->queued, &t->fetch->active);
	ing_resolver_stop(&t->lookup);
	ing_spool_body_discard(ING_TAKE(t->body));
	t->abort = ING_ABORT_DISK;
	finish(t);
}

void ing_transfer_free(struct ing_transfer *t)
{
	struct ing_fetch *f = t->fetch;
	ing_must(t->magic == ING_TRANSFER_MAGIC);
	if (t->phase == ING_TRANSFER_RUNNING)
		leave_multi(t);
	ing_resolver_stop(&t->lookup);
	ing_spool_body_discard(t->body);
	if (t->phase == ING_TRANSFER_QUEUED)
		DL_DELETE(f->queued, t);
	else if (t->phase == ING_TRANSFER_FINISHED)
		DL_DELETE(f->finished, t);
	else
		DL_DELETE(f->active, t);
	f->count--;
	ing_exchange_unref(t->ex);
	ing_http_head_done(&t->head);
	ing_target_done(&t->target);
	free(t->referer);
	curl_slist_free_all(t->headers);
	t->magic = 0;
	free(t);
}

void ing_transfer_resume_body(void *ctx)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, ctx, ING_TRANSFER_MAGIC);
	t->paused = false;
	t->stall_from_ms = ing_now_ms();
	t->stall_from_bytes = t->wire_bytes;
	CURLcode rc = ing_multi_resume(t->fetch->multi, t->easy);
	if (rc != CURLE_OK)
		end_running(t, rc);
}

void ing_transfer_account_head(struct ing_transfer *t)
{
	struct spooled_exchange *h = ING_CONTAINER(t->ex, struct spooled_exchange, ex);
	ing_spool_hold_head(t->fetch->spool, &h->head, ing_http_head_memory(&t->head));
}

void ing_transfer_body_written(void *ctx)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, ctx, ING_TRANSFER_MAGIC);
	if (ing_spool_body_error(t->body) != NULL)
		t->abort = ING_ABORT_SPOOL;
	finish(t);
}
