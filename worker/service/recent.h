/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recent.h - what became of requests lately: results of the last hour by minute, lane and status, the
 * rates of the last minute, and the last failures.
 *
 * A failure is a result that is no hit and was not answered from the tables. Its texts come from
 * outside: URLs, hosts and messages are kept as valid UTF-8, cut to ING_RECENT_TEXT_BYTES, and are
 * whoever shows them to escape.
 *
 * Owns: about 100 KiB of counters and copies. Times are arguments (ing_now_ms()). Thread: loop only.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "common/data/json.h"
#include "worker/model/lane.h"
#include "worker/model/status.h"

struct ing_recent;

#define ING_RECENT_MINUTES 60
#define ING_RECENT_FAILURES 50
#define ING_RECENT_TEXT_BYTES ((size_t)300)

struct ing_recent_result {
	enum ing_lane lane;
	enum ing_status status;
	bool hit;
	struct timespec at; /* UTC */
	uint64_t took_ms;
	const char *key, *type, *host, *url, *last_url, *message; /* copied; each may be NULL */
};

/* Per second, over the last minute, or since the start when that is less. */
struct ing_recent_rates {
	double results, hits, parked, dead;
};

struct ing_recent *ing_recent_new(uint64_t now_ms);
void ing_recent_free(struct ing_recent *r); /* NULL is fine */

/* A result was acknowledged; a request was parked; a message was no readable request. */
void ing_recent_add(struct ing_recent *r, const struct ing_recent_result *result, uint64_t now_ms);
void ing_recent_add_parked(struct ing_recent *r, uint64_t now_ms);
void ing_recent_add_dead(struct ing_recent *r, uint64_t now_ms);

void ing_recent_rates(const struct ing_recent *r, uint64_t now_ms, struct ing_recent_rates *ret);
/* Results of a lane within the last minute, as counted in seconds, the current one included. */
uint64_t ing_recent_lane(const struct ing_recent *r, enum ing_lane lane, uint64_t now_ms);
/* The last hour: {"results", "hits", "parked", "dead", "by_status": {SLUG: n}, "by_lane": {NAME: {"results",
 * "hits"}}, "minutes": {"results": [60 numbers, the current minute last], "hits": […]}}. */
json_t *ing_recent_hour_json(const struct ing_recent *r, uint64_t now_ms);
/* The last failures, the newest first: {"at", "id", "type", "lane", "status", "host", "url", "last_url",
 * "message", "took_ms"}. */
json_t *ing_recent_failures_json(const struct ing_recent *r);
