/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * errand.h - getting a URL for ourselves, not for a request: robots.txt. Through the gate like
 * every URL, redirects and second tries too; each answer is archived, with a CDX row, before it is
 * believed.
 *
 * Owns: the errands under way. Thread: loop only. done() comes once, never from inside a call,
 * unless the errands are cancelled.
 */
#pragma once
#include "worker/gate/robots.h"
#include "worker/job/job.h"

struct ing_errands;

struct ing_errand_conf {
	unsigned max_redirects; /* robots.txt: RFC 9309 2.3.1.2 wants five at least */
	size_t max_body_bytes;  /* as sent; what is longer is cut, not refused */
	size_t max_decoded_bytes;
	unsigned deadline_ms; /* work on one errand */
	const struct ing_stages
		*stages; /* gate, fetch, archive, store, on_cdx; copied when wired */
};

struct ing_errands *ing_errands_new(const struct ing_errand_conf *conf);
void ing_errands_wire(struct ing_errands *e, const struct ing_stages *stages); /* copied */
void ing_errands_free(struct ing_errands *e); /* NULL is fine; ing_errands_idle() */
/* For struct ing_robots_conf.get: what comes is told by ing_robots_got(). */
void ing_errands_get_robots(
	struct ing_errands *e, const char *url, struct ing_robots *robots, void *token);
/* Call off what waits or is being fetched. Records and rows under way may still be owed: run the
 * loop until idle. */
void ing_errands_cancel(struct ing_errands *e);
bool ing_errands_idle(const struct ing_errands *e);
/* Other URL rules: a redirect to a URL they refuse leads nowhere. */
void ing_errands_set_urlrules(struct ing_errands *e, const struct ing_urlrules *urlrules);
