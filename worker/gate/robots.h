/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.h - what robots.txt says about URLs: a cache of parsed files by scheme and authority (RFC
 * 9309 2.3, 2.4), and the waiting for those that are not there yet.
 *
 * Owns: the cache and the list of who waits for which file. Thread: loop only. The file itself is
 * got by somebody else (ing_robots_conf.get), through the gate like every URL; no callback comes
 * from inside a call of ours.
 *
 * Verdicts: 2xx parsed (the first ING_ROBOTS_MAX_BYTES of it); 4xx but 429, and redirects that lead
 * nowhere within the RFC's five or more: no rules, all allowed; 429, 5xx and broken answers:
 * unreachable, all disallowed, until a copy that was had before (used on, at most 30 days) or 30
 * days of silence say otherwise. Cached 24 h; unreachable ones are asked for again after 5 min,
 * doubling up to 1 h. A host that could not even be connected to has no verdict: its URLs end as
 * the connection did.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/job/status.h"

struct ing_robots;
struct ing_robots_entry;
struct ing_hostrules;

#define ING_ROBOTS_MAX_BYTES ((size_t)512 << 10) /* RFC 9309 2.5 wants 500 KiB at least */

/* What became of an attempt to get a robots.txt. */
struct ing_robots_answer {
	/* SUCCESS: an answer came (http_status), body as sent may be cut at ING_ROBOTS_MAX_BYTES;
	 * HOST_BACKOFF: the gate refused (retry_after_s); else why there is none. */
	enum ing_status outcome;
	int http_status;
	const char *body; /* content decoding done; borrowed during the call */
	size_t body_bytes;
	unsigned retry_after_s;
	const char *words; /* for error_message; borrowed; may be NULL */
};

struct ing_robots_conf {
	bool obey; /* gate.robots */
	const char
		*agent; /* fetch.user_agent; its product token is what groups are matched against */
	size_t max_entries;                    /* of the cache; the least recently used go first */
	size_t max_bytes;                      /* of the parsed files in it */
	const struct ing_hostrules *hostrules; /* borrowed; NULL: none */
	/* Get URL (of a robots.txt), redirects followed; call ing_robots_got(r, token, …) once,
	 * later. */
	void (*get)(void *ctx, const char *url, void *token);
	void *ctx;
};

enum ing_robots_verdict {
	ING_ROBOTS_ALLOWED,
	ING_ROBOTS_DISALLOWED, /* words say by what */
	ING_ROBOTS_PENDING,    /* not known yet: the waiter is in the list */
	ING_ROBOTS_FAILED,     /* the host cannot be asked: outcome is how its URLs end */
};

struct ing_robots_waiter { /* zero-initialise, set done */
	struct ing_robots_waiter *prev, *next;
	struct ing_robots_entry *entry; /* NULL: not waiting */
	/* Out of the list; ask again for the verdict, which is then not PENDING (unless the memory
	 * for it was needed elsewhere). */
	void (*done)(struct ing_robots_waiter *w);
};

struct ing_robots_view { /* of a verdict */
	enum ing_robots_verdict verdict;
	unsigned crawl_delay_ms; /* 0: none said */
	enum ing_status outcome; /* FAILED */
	unsigned retry_after_s;  /* FAILED with HOST_BACKOFF */
	const char *words;       /* DISALLOWED, FAILED: borrowed until the next call; else NULL */
};

struct ing_robots *ing_robots_new(const struct ing_robots_conf *conf);
void ing_robots_free(struct ing_robots *r); /* NULL is fine; nobody may be waiting */
/* May this URL be fetched? waiter: to be called when PENDING; NULL: only asks what is known. */
struct ing_robots_view ing_robots_ask(
	struct ing_robots *r, const char *url, struct ing_robots_waiter *waiter);
void ing_robots_leave(
	struct ing_robots_waiter *w); /* done() will not come; harmless when not waiting */
/* The answer to a get(). Wakes who waits. */
void ing_robots_got(struct ing_robots *r, void *token, const struct ing_robots_answer *a);
void ing_robots_set_hostrules(struct ing_robots *r, const struct ing_hostrules *rules);

struct ing_robots_info { /* for operators, of one authority */
	bool known;
	char url[300];
	const char *verdict; /* "rules", "allow-all", "unreachable", "ignored", "pending" */
	int http_status;     /* 0: none */
	uint64_t age_ms, expires_ms;
	unsigned crawl_delay_ms, waiting;
	size_t bytes;
};
/* Both schemes of a host name are looked for, https first. */
void ing_robots_explain(const struct ing_robots *r, const char *host, struct ing_robots_info *ret);

struct ing_robots_stats {
	uint64_t fetched, hits, disallowed, unreachable;
	size_t entries, bytes, waiting;
};
void ing_robots_stats(const struct ing_robots *r, struct ing_robots_stats *ret);
