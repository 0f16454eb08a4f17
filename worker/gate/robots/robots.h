/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.h - may a URL be fetched, by its robots.txt? A cache of parsed files by scheme and
 * authority (RFC 9309 2.3, 2.4), and the waiters for files that are being fetched. Files come in
 * parsed: no byte of one is read here.
 *
 * Owns: the cache and the lists of waiters. Thread: loop only. The file itself is fetched by
 * ing_robots_conf.fetch, through the gate like every URL. fetch() is called from inside
 * ing_robots_ask() and must not call back from there; waiters are called from inside
 * ing_robots_fetched() and from nowhere else.
 *
 * What the end of a fetch means, and for how long: robots_file.h. /robots.txt itself may always be
 * fetched; where robots are not obeyed (configuration, or a rule about the host) so may everything,
 * and no file is fetched.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/status.h"
#include "worker/model/metrics.h"

struct ing_robots;
struct ing_robots_entry;
struct ing_host_rules;
struct ing_robots_txt;

#define ING_ROBOTS_MAX_DETAIL_BYTES 300 /* of a view's detail */

/* How a fetch of a robots.txt ended. */
struct ing_robots_answer {
	/* SUCCESS: an answer came (http_status); HOST_BACKOFF: the gate refused (retry_after_s);
	 * WORKER_ERROR: a fault of this worker; else why there was no answer. */
	enum ing_status outcome;
	int http_status; /* of the last answer, that of a redirect included; 0: none came */
	/* The rules of a 2xx for our agent; borrowed during the call. NULL: none. */
	const struct ing_robots_txt *txt;
	unsigned retry_after_s;
	const char *detail; /* for error_message; borrowed; may be NULL */
};

struct ing_robots_conf {
	bool obey; /* gate.robots */
	/* Of the cache, the parsed files included. The least recently used go first; those that
	 * are being fetched or waited for stay, so these may exceed both. */
	size_t max_entries, max_bytes;
	const struct ing_host_rules *host_rules; /* borrowed; NULL: none */
	/* Fetch url (of a robots.txt; borrowed during the call), following redirects; call
	 * ing_robots_fetched(r, token, …) once, later. */
	void (*fetch)(void *ctx, const char *url, void *token);
	void *ctx;
	uint64_t (*now_ms)(void); /* NULL: ing_now_ms() */
};

enum ing_robots_verdict {
	ING_ROBOTS_ALLOWED,
	ING_ROBOTS_DISALLOWED, /* detail says by what */
	ING_ROBOTS_PENDING,    /* the file is being fetched: the waiter is in the list */
	ING_ROBOTS_FAILED,     /* there is no verdict: outcome is how the URL ends */
};

struct ing_robots_waiter { /* zero-initialise */
	struct ing_robots_waiter *prev, *next;
	struct ing_robots_entry *entry; /* NULL: not waiting */
};
/* For a waiter that is out of the list: call ing_robots_ask() again for the verdict. From inside here
 * it is PENDING only if it has expired meanwhile; later the file may also have been evicted. */
typedef void ing_robots_done_f(struct ing_robots_waiter *w);

struct ing_robots_view { /* of a verdict */
	enum ing_robots_verdict verdict;
	unsigned crawl_delay_ms; /* 0: none */
	enum ing_status outcome; /* FAILED */
	/* FAILED with HOST_BACKOFF: the gate's, less the time since; DISALLOWED because the file is
	 * unreachable: until it is fetched again. At least 1 then; else 0. */
	unsigned retry_after_s;
	const char *detail; /* DISALLOWED, FAILED: borrowed until the next call; else NULL */
};

struct ing_robots *ing_robots_new(const struct ing_robots_conf *conf);
void ing_robots_free(struct ing_robots *r); /* NULL is fine; nobody may be waiting */
/* done: of all waiters. Before the first of them. */
void ing_robots_wire(struct ing_robots *r, ing_robots_done_f *done);
/* May this URL be fetched? waiter (not waiting): called when the verdict is PENDING. NULL: nothing
 * is fetched, and what is known is used even if it has expired. A URL that is not http or https is
 * FAILED. */
struct ing_robots_view ing_robots_ask(
	struct ing_robots *r, const char *url, struct ing_robots_waiter *waiter);
/* done() will not come; harmless when not waiting. The file is fetched all the same. */
void ing_robots_leave(struct ing_robots_waiter *w);
/* The end of a fetch(). Calls the waiters in the order in which they came; done() may call
 * ing_robots_ask(), and may make others leave. */
void ing_robots_fetched(struct ing_robots *r, void *token, const struct ing_robots_answer *a);
/* Other rules about hosts from now on; present waiters still wait for the file. */
void ing_robots_set_host_rules(struct ing_robots *r, const struct ing_host_rules *rules);

struct ing_robots_info { /* for operators, of one authority */
	bool known;
	char url[300]; /* of the robots.txt; "" when ignored */
	/* "rules", "allow-all", "unreachable", "failed", "pending" (never answered yet), "ignored"
	 * (by the configuration or a rule). Static. */
	const char *verdict;
	const char *outcome; /* "failed": slug of how the URLs end, static; else NULL */
	char detail[ING_ROBOTS_MAX_DETAIL_BYTES]; /* "failed" and "unreachable": why; else "" */
	int http_status;                          /* of the last attempt; 0: none */
	uint64_t age_ms;     /* of the verdict: rules may be older than the last attempt */
	uint64_t expires_ms; /* left until it is fetched again */
	unsigned crawl_delay_ms, waiting;
	size_t bytes;
};
/* Looks for both schemes of a host name (may have ":PORT"), https first, then for both with "www."
 * before it. Describes the first whose robots.txt blocks URLs at present, else the first known. */
void ing_robots_explain(const struct ing_robots *r, const char *host, struct ing_robots_info *ret);

/* fn for each robots.txt that is being fetched while URLs wait for it: its origin ("https://example.org:8443") and how
 * many do; fn must not call this. */
void ing_robots_each_awaited(const struct ing_robots *r,
	void (*fn)(void *ctx, const char *origin, unsigned waiting), void *ctx);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_robots_stats(const struct ing_robots *r, struct ing_robots_stats *ret);
