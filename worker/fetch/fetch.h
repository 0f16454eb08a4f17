/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fetch.h - getting one URL's answer over HTTP/1.1; no redirect is followed here.
 *
 * Owns: the curl multi handle, the resolver and every transfer in them. Thread: loop only.
 * Every started transfer comes back through done() exactly once and never from inside
 * ing_fetch_start(), unless it is cancelled. Nobody connects to a private, loopback or link-local
 * address that fetch.allow_address does not name, nor to one that fetch.deny_address names: judged
 * on the socket's address (RFC 6890 registries), for every connection.
 */
#pragma once
#include "common/base/error.h"
#include "worker/model/exchange.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_fetch;
struct ing_transfer;
struct ing_cookies;

/* A request's cookies (RFC 6265), carried over its hops and dropped with it. Taken from one answer
 * are 50 cookies of 4 KiB, sent are 150 of together 8 KiB; a jar that grows over 256 KiB is
 * emptied. Loop thread. */
struct ing_cookies *ing_cookies_new(void);
void ing_cookies_free(struct ing_cookies *jar); /* NULL is fine; no transfer may use it any more */
/* Changes whenever a cookie is added, replaced with another value, or removed; not when the same
 * one is set again. */
uint64_t ing_cookies_version(const struct ing_cookies *jar);

/* settings is copied, its strings are not. max_connections: kept open, those in use included.
 * -CONFIG or -SYSTEM, err names the key. */
int ing_fetch_new(struct uv_loop_s *loop, const struct ing_fetch_settings *settings,
	unsigned max_connections, struct ing_fetch **ret, struct ing_error *err) ING_MUST_CHECK;
/* Not from inside done(). */
void ing_fetch_free(struct ing_fetch
		*f); /* NULL is fine; transfers still running are cancelled; before uv_loop_close,
			which must then be run once more to let handles close */

typedef void ing_fetch_done_f(
	void *ctx, struct ing_exchange *ex); /* takes the reference; ex is never NULL */

/* What a single transfer may have of its own. Zero-initialised: nothing. */
struct ing_fetch_ask {
	const char *url;         /* absolute http or https, already cleaned */
	struct ing_cookies *jar; /* borrowed; NULL: no cookies */
	const char *referer;     /* the URL before, or NULL */
	const char *accept;      /* value of the Accept field; NULL: any type will do */
	uint64_t deadline_ms; /* ing_now_ms() clock, 0: none; ends the transfer as read-timeout when
				 it comes before the transfer's own limit */
	size_t max_body_bytes; /* less than fetch.max_body_bytes; 0: that */
	/* a certificate that cannot be verified: once more without verification */
	bool tls_fallback;
};

/* GET ask->url; nothing of ask is needed after the call. */
struct ing_transfer *ing_fetch_start(
	struct ing_fetch *f, const struct ing_fetch_ask *ask, ing_fetch_done_f *done, void *ctx);
void ing_fetch_cancel(struct ing_transfer *t); /* done() will not be called */

/* The address that a URL's host would be asked at first, for struct ing_gate_lookup_ops. *ret_state
 * is not NULL while the name is being looked up, and must stay in place until then; done() comes
 * once, perhaps from inside, with NULL when there is no address: no such name, all refused by the
 * guard, connect_to or a proxy in between. The address is borrowed. Shares queries and cache with
 * the transfers. */
struct ing_addr;
void ing_fetch_lookup(struct ing_fetch *f, const char *url,
	void (*done)(void *ctx, const struct ing_addr *addr), void *ctx, void **ret_state);
void ing_fetch_lookup_stop(void *state); /* done() will not come; NULL is fine */

/* The disk of spool.dir is full and bodies wait for it: begin nothing new. They go on by
 * themselves, but their time limits run. */
bool ing_fetch_blocked(const struct ing_fetch *f);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_fetch_stats(const struct ing_fetch *f, struct ing_fetch_stats *ret);
