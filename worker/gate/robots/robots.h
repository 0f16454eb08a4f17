/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.h - what robots.txt says about URLs: a cache of parsed files by scheme and authority (RFC
 * 9309 2.3, 2.4), and the waiting for those that are not there yet. Rules come in parsed: no byte
 * of a file is read here.
 *
 * Owns: the cache and the list of who waits for which file. Thread: loop only. The file itself is
 * got by somebody else (ing_robots_conf.fetch), through the gate like every URL. fetch() is called
 * from inside ing_robots_ask(), and must not call back from there; waiters are woken from inside
 * ing_robots_fetched() and from nowhere else.
 *
 * What an attempt to get the file means, and for how long, is said in robots_file.h and README.md.
 * /robots.txt itself may always be fetched, and where robots are not obeyed (conf, or a rule about
 * the host) so may everything: nothing is asked for then.
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

/* What became of an attempt to get a robots.txt. */
struct ing_robots_answer {
	/* SUCCESS: an answer came (http_status); HOST_BACKOFF: the gate refused (retry_after_s);
	 * WORKER_ERROR: trouble of our own; else why there is none. */
	enum ing_status outcome;
	int http_status; /* of the last answer, that of a redirect included; 0: none came */
	/* What a 2xx says to our agent; borrowed during the call. NULL: nothing. */
	const struct ing_robots_txt *txt;
	unsigned retry_after_s;
	const char *detail; /* for error_message; borrowed; may be NULL */
};

struct ing_robots_conf {
	bool obey; /* gate.robots */
	/* Of the cache, the parsed files included. The least recently used go first; those that
	 * are being got or waited for stay, so that waiters may take it past both. */
	size_t max_entries, max_bytes;
	const struct ing_host_rules *host_rules; /* borrowed; NULL: none */
	/* Get url (of a robots.txt; borrowed during the call), redirects followed; call
	 * ing_robots_fetched(r, token, …) once, later. */
	void (*fetch)(void *ctx, const char *url, void *token);
	void *ctx;
	uint64_t (*now_ms)(void); /* NULL: ing_now_ms() */
};

enum ing_robots_verdict {
	ING_ROBOTS_ALLOWED,
	ING_ROBOTS_DISALLOWED, /* detail say by what */
	ING_ROBOTS_PENDING,    /* not known yet: the waiter is in the list */
	ING_ROBOTS_FAILED,     /* the host cannot be asked: outcome is how its URLs end */
};

struct ing_robots_waiter { /* zero-initialise, set done */
	struct ing_robots_waiter *prev, *next;
	struct ing_robots_entry *entry; /* NULL: not waiting */
	/* Out of the list; ask again for the verdict. From inside here it is PENDING only if its
	 * time has run out meanwhile; later the cache may also have dropped it. */
	void (*done)(struct ing_robots_waiter *w);
};

struct ing_robots_view { /* of a verdict */
	enum ing_robots_verdict verdict;
	unsigned crawl_delay_ms; /* 0: none said */
	enum ing_status outcome; /* FAILED */
	/* FAILED with HOST_BACKOFF: as the gate said, less the time since; DISALLOWED because the
	 * file is unreachable: when it will be asked for again. At least 1 then; else 0. */
	unsigned retry_after_s;
	const char *detail; /* DISALLOWED, FAILED: borrowed until the next call; else NULL */
};

struct ing_robots *ing_robots_new(const struct ing_robots_conf *conf);
void ing_robots_free(struct ing_robots *r); /* NULL is fine; nobody may be waiting */
/* May this URL be fetched? waiter (not waiting): to be called when PENDING. NULL: only asks what
 * is known, be it due to be asked for again; nothing is got. What is no http or https URL is
 * FAILED. */
struct ing_robots_view ing_robots_ask(
	struct ing_robots *r, const char *url, struct ing_robots_waiter *waiter);
/* done() will not come; harmless when not waiting. The file is got all the same. */
void ing_robots_leave(struct ing_robots_waiter *w);
/* The answer to a get(). Wakes who waits, in the order in which they came; done() may ask, and may
 * make others leave. */
void ing_robots_fetched(struct ing_robots *r, void *token, const struct ing_robots_answer *a);
/* Other rules about hosts from now on; who waits already is woken by the answer. */
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
	uint64_t expires_ms; /* left until it is asked for again */
	unsigned crawl_delay_ms, waiting;
	size_t bytes;
};
/* Both schemes of a host name (with ":PORT" if need be) are looked for, https first, then both with
 * "www." before it: the first whose robots.txt is in the way at present, else the first known. */
void ing_robots_explain(const struct ing_robots *r, const char *host, struct ing_robots_info *ret);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_robots_stats(const struct ing_robots *r, struct ing_robots_stats *ret);
