/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * freshness.h - whether a publication or web page that is kept is fetched again, and what becomes of its
 * counters then. Times are 64 bits wide, so that no cool-down is too long. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/refetch.h"

struct ing_publication_settings;

struct ing_freshness_state {
	int64_t fetch_time_ms; /* since 1970; 0: never */
	int64_t retry_counter; /* fetches since then, none of which was due */
	bool empty, final;
	bool exception; /* a resource failed in a way that may pass */
};

enum ing_freshness {
	ING_FRESHNESS_KEPT,  /* it may not be fetched yet */
	ING_FRESHNESS_RETRY, /* one of its tries in between */
	ING_FRESHNESS_DUE,   /* its cool-down is over, or it was never fetched */
};

/* Of what was never fetched as a whole, too. A fetch_time_ms that is in the future is now. */
enum ing_freshness ing_freshness(const struct ing_refetch_rules *rules,
	const struct ing_freshness_state *state, int64_t now_ms);
/* fetch_time_ms and retry_counter after a fetch at now_ms, whatever the others are. */
void ing_freshness_fetched(
	const struct ing_refetch_rules *rules, struct ing_freshness_state *state, int64_t now_ms);

struct ing_refetch_rules ing_refetch_rules(const struct ing_publication_settings *s);
