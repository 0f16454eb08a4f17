/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result_visits.h - what is kept of how a request came to its result, for `ingestctl explain
 * request` (ingest_file_result.visits). Pure; loop thread.
 *
 * An object; members that are 0 or do not apply are left out:
 *   came        when this worker read the message that led to the result
 *   took_ms     from then until its rows were made
 *   instance, lane, partition, offset   who read it, and where
 *   topic       if it is not the lane's own
 *   attempt     tries before this one that ended with a status worth repeating soon
 *   parked      how often it waited in a topic of parked requests
 *   first_seen  when it was first read, if it was parked
 *   urls        those that were asked for, without sub-resources:
 *     url       left out of the first when it is the row's base_url, and of the last when it is
 *               terminal_url; cut where it is long ("cut": true)
 *     via       redirect, link; left out of the first
 *     wait_ms   before its (last) transfer began, in all; of it
 *     robots_ms   for robots.txt, and
 *     host_ms     for its turn at its host, where `before` requests were before it
 *     ms        of its transfers
 *     tries     if there were several
 *     http      status of the answer; or
 *     failed    slug of why none came
 *     dt        datetime of the answer, as in cdx; left out of the last (terminal_dt)
 *   left_out    URLs for which there was no room
 */
#pragma once
#include <stdint.h>
#include "common/base/macros.h"
#include "worker/model/lane.h"

#define ING_VISITS_BYTES ((size_t)4096)

struct ing_row_result;
struct ing_work;

struct ing_visits_origin {    /* how the request came */
	int64_t came_ms;      /* since 1970 */
	uint64_t took_ms;     /* since then */
	const char *instance; /* NULL: none */
	enum ing_lane lane;
	const char *topic; /* NULL: the lane's */
	int32_t partition; /* -1: not known */
	int64_t offset;
	unsigned attempt, parkings; /* before this one */
	int64_t first_seen_ms;      /* if it was parked */
};

/* In w's arena; row: what the other columns say. */
const char *ing_result_visits(struct ing_work *w, const struct ing_visits_origin *origin,
	const struct ing_row_result *row);
