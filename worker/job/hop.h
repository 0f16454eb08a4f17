/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hop.h - the decisions of the hop loop: where to go after a body was looked into, or how the
 * request ends. Pure functions over plain data, so that every rule can be a line in a table of
 * cases.
 *
 * job.max_hops is how many links from pages are followed. A URL asked for again is a loop only if
 * no cookie has changed since it was last asked for.
 */
#pragma once
#include <stdbool.h>
#include "worker/model/findings.h"
#include "worker/model/request.h"
#include "worker/visit/target.h"

/* What is known when a decision is due. */
struct ing_hop_view {
	const char *url;             /* just fetched */
	unsigned landings, max_hops; /* links followed so far, and at most */
	/* Was url asked for before, with the cookies as they are now? */
	bool (*asked_before)(void *ctx, const char *url);
	ing_verdict_fn *verdict; /* NULL: no rules */
	void *ctx;
};

struct ing_decision ing_hop_after_examine(
	const struct ing_hop_view *v, const struct ing_request *r, const struct ing_findings *f);
/* Whether a whole file is the one that expect_hash names, if it does: to be asked of what would be
 * a success. */
bool ing_hop_hash_expected(const struct ing_request *r, const struct ing_file_meta *file);
/* The end of an answer with a bad HTTP status that was examined for walls. */
struct ing_decision ing_hop_after_walls(const struct ing_findings *f);
