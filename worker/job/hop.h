/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hop.h - what follows once a body has been examined: the next URL, or the end of the request with
 * a status. Pure functions over plain data, so that each rule can be tested with a table of cases.
 *
 * job.max_hops limits how many links of pages are followed. A URL that was requested before is a
 * loop, unless a cookie has changed since.
 */
#pragma once
#include <stdbool.h>
#include "worker/model/findings.h"
#include "worker/model/request.h"
#include "worker/visit/target.h"

/* What a decision depends on, beside request and findings. */
struct ing_hop_view {
	const char *url;             /* of the body */
	unsigned landings, max_hops; /* links followed so far, and at most */
	/* Whether url was requested before, with the cookies as they are now. */
	bool (*asked_before)(void *ctx, const char *url);
	ing_verdict_fn *verdict; /* NULL: no rules */
	void *ctx;
};

/* Of a body that was examined. */
struct ing_decision ing_hop_after_examine(
	const struct ing_hop_view *v, const struct ing_request *r, struct ing_findings *f);
/* Whether a document has the digests of expect_hash; true when the request has none. */
bool ing_hop_hash_matches(const struct ing_request *r, const struct ing_file_meta *file);
/* The end of a request whose last answer had a bad HTTP status and was examined for walls only. */
struct ing_decision ing_hop_after_walls(const struct ing_findings *f);
