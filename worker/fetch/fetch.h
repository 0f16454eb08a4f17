/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fetch.h - transfers: one GET over HTTP/1.1 each; redirects are not followed here.
 *
 * Owns the curl multi handle, the resolver and every transfer. Loop thread only. done() is called
 * exactly once for each transfer that is not cancelled, never from inside ing_fetch_start(). No
 * connection is made to an address of IANA's special-purpose registries (private, loopback,
 * link-local …) unless fetch.allow_address has it, nor to one in fetch.deny_address. The check is
 * made on the socket's address of every connection.
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

/* The cookies of one request (RFC 6265), kept over its hops. At most 50 cookies of 4 KiB are taken from
 * one answer, at most 150 and 8 KiB in all are sent; a jar over 256 KiB or 500 cookies is emptied. Loop
 * thread. */
struct ing_cookies *ing_cookies_new(void);
void ing_cookies_free(struct ing_cookies *jar); /* NULL is fine; no transfer may be using it */
/* A hash of the cookies: changes when one is added, removed or gets another value, not when the same
 * one is set again. */
uint64_t ing_cookies_version(const struct ing_cookies *jar);

/* settings is copied, its strings are not. max_connections: kept open, those in use included.
 * -CONFIG or -SYSTEM, err names the key. */
int ing_fetch_new(struct uv_loop_s *loop, const struct ing_fetch_settings *settings,
	unsigned max_connections, struct ing_fetch **ret, struct ing_error *err) ING_MUST_CHECK;
/* Cancels all transfers. Not from inside done(). The loop must turn once more for handles to close. NULL
 * is fine. */
void ing_fetch_free(struct ing_fetch *f);

/* Takes the reference to ex, which is never NULL. */
typedef void ing_fetch_done_f(void *ctx, struct ing_exchange *ex);

/* Zero-initialise; all but url are optional. */
struct ing_fetch_request {
	const char *url;         /* absolute http or https, WHATWG-serialised */
	struct ing_cookies *jar; /* borrowed; NULL: no cookies */
	const char *referer;     /* the URL of the hop before, or NULL */
	const char *accept;      /* value of the Accept field; NULL: any type will do */
	uint64_t deadline_ms; /* ing_now_ms() clock, 0: none; ends the transfer as read-timeout when
				 it comes before the transfer's own limit */
	size_t max_body_bytes; /* less than fetch.max_body_bytes; 0: that */
	/* when the certificate cannot be verified, try again without verification */
	bool tls_fallback;
};

/* Starts a GET of req->url. Everything in req but the jar is copied. */
struct ing_transfer *ing_fetch_start(struct ing_fetch *f, const struct ing_fetch_request *req,
	ing_fetch_done_f *done, void *ctx);
/* There is no room for bodies on the disk of `key` (static): all transfers end as worker-error, unless
 * their answer has come whole; nothing of them is kept. */
void ing_fetch_abort_disk(struct ing_fetch *f, const char *key);
void ing_fetch_cancel(struct ing_transfer *t); /* done() will not be called */

/* Looks up the first address that a transfer of the URL would connect to, for struct
 * ing_gate_lookup_ops. done() is called once, perhaps before the function returns, with a borrowed
 * address or NULL: no such name, all addresses blocked, or fetch.connect_to or a proxy apply. While
 * the lookup is pending *ret_state is not NULL; it must stay in place until done(). Shares queries and
 * cache with the transfers. */
struct ing_addr;
void ing_fetch_lookup(struct ing_fetch *f, const char *url,
	void (*done)(void *ctx, const struct ing_addr *addr), void *ctx, void **ret_state);
void ing_fetch_lookup_stop(void *state); /* done() will not be called; NULL is fine */

/* The disk of spool.dir is full and bodies wait for room: start no new transfers. Those waiting resume
 * by themselves, but their time limits apply. */
bool ing_fetch_blocked(const struct ing_fetch *f);
/* Why; NULL: it is not. */
const char *ing_fetch_trouble(const struct ing_fetch *f);

size_t ing_fetch_active(const struct ing_fetch *f); /* transfers that are not done */
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_fetch_stats(const struct ing_fetch *f, struct ing_fetch_stats *ret);
