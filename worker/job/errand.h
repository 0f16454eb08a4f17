/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * errand.h - getting a URL for ourselves, not for a request: robots.txt. Through the gate like
 * every URL, redirects and second tries too; each answer is archived, with a CDX row, and a file
 * examined, before it is believed.
 *
 * Owns: the errands under way, with their questions in the pool. Thread: loop only.
 * ing_robots_got() comes once for each, never from inside a call, unless the errands are cancelled.
 */
#pragma once
#include "worker/gate/robots/robots.h"
#include "worker/job/job.h"

struct ing_errands;

struct ing_errand_conf {
	unsigned max_redirects;                /* in a row; RFC 9309 2.3.1.2 wants five at least */
	size_t max_body_bytes;                 /* as sent; what is longer is cut, not refused */
	const char *agent;                     /* fetch.user_agent, borrowed: whose rules count */
	unsigned deadline_ms;                  /* work on one errand; waiting does not count */
	const struct ing_url_rules *url_rules; /* borrowed; NULL: none */
	const struct ing_host_rules *host_rules;       /* borrowed; NULL: none */
	const struct ing_blocked_hosts *blocked_hosts; /* borrowed; NULL: none */
	bool tls_fallback;                             /* where host_rules do not say */
};

struct ing_errands *ing_errands_new(const struct ing_errand_conf *conf);
/* gate, robots, fetch, archive, pool, store and on_cdx are used; copied, before the first
 * errand. */
void ing_errands_wire(struct ing_errands *e, const struct ing_stages *stages);
void ing_errands_free(struct ing_errands *e); /* NULL is fine; ing_errands_idle() */
/* For struct ing_robots_conf.get, with the struct ing_errands as ctx: what comes is told to
 * stages.robots by ing_robots_got().
 *
 * SUCCESS is told with the HTTP status: of a 2xx with its rules; of a redirect when it leads
 * nowhere (too many of them, no URL, one that the rules or the guard refuse). BODY_TOO_LARGE
 * is no failure: the first part counts. A redirect that there is no time to follow is TIMEOUT. A
 * body of 2xx that cannot be decoded is BAD_CONTENT_ENCODING; one that its examiner did not
 * survive, or has answered with nonsense, PARSE_CRASH, or PARSE_TIMEOUT; a host blocked by its
 * operator SKIP_URL_BLOCKLIST; a host that the gate gives up HOST_BACKOFF. */
void ing_errands_get_robots(void *errands, const char *url, void *token);
/* Somebody of this lane waits for the file: it is got with the urgency of the most urgent of them,
 * of the bulk lane until anybody says so. entry: of a waiter for which ing_robots_ask() has said
 * PENDING, which is the token that get() was given. */
void ing_errands_hurry(
	struct ing_errands *e, const struct ing_robots_entry *entry, enum ing_lane lane);
/* The file that somebody waits for, entry as above, waits for a host that is held. */
bool ing_errands_wait_for_hold(const struct ing_errands *e, const struct ing_robots_entry *entry);
/* Call off what waits, is being fetched or examined; robots is told nothing. Records and rows under
 * way may still be owed: run the loop until idle. */
void ing_errands_cancel(struct ing_errands *e);
bool ing_errands_idle(const struct ing_errands *e);
/* Other rules from now on; the ones before are not looked at again. */
void ing_errands_set_rules(struct ing_errands *e, const struct ing_url_rules *url_rules,
	const struct ing_host_rules *host_rules);
