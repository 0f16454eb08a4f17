/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parked.h - what the headers of a parked request say. A parked request is the message that asked
 * for it, key and value unchanged, in the topic of a tier (tier.h), with these headers:
 *
 *   attempt     tries that have ended with a status worth repeating soon (status.def); parking for
 *               another reason is none
 *   host        key of the host (gate.host_key) that it waits for
 *   not-before  when it is due
 *   origin      topic that it was first read from: its lane is that of this topic
 *   first-seen  when it was first read
 *   parkings    how often it was parked, this time included
 *   ingest.replays  how often it was replayed (letter.h); not written when it never was
 *
 * Times are milliseconds since 1970, numbers decimal. Headers are outside bytes: anyone may write to
 * the topics. What is missing or malformed is taken as if it was not there, so a message without
 * headers is a request that is due. Pure, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/outputs.h"

/* Longest value that is taken: a host's name has 253 bytes, a topic's 249. */
#define ING_PARKED_VALUE_BYTES 256
#define ING_PARKED_HEADERS 7 /* at most */
/* Larger numbers are malformed, of attempts and replays; of parkings they are this. */
#define ING_PARKED_MAX_ATTEMPT 1000u

struct ing_parked {
	unsigned attempt;
	int64_t not_before_ms, first_seen_ms; /* 0: not given */
	const char *host, *origin;            /* borrowed; NULL: not given */
	unsigned replays, parkings;
};

/* Headers that are none of these are ignored; of several with a name the last one counts. */
void ing_parked_parse(
	const struct ing_header *headers, size_t header_count, struct ing_parked *ret);

struct ing_parked_text { /* what the headers below point to */
	char attempt[12], not_before[24], first_seen[24], parkings[12], replays[12];
};
/* The headers of p, which has host and origin. Returns their number. */
size_t ing_parked_format(const struct ing_parked *p, struct ing_parked_text *text,
	struct ing_header ret[ING_PARKED_HEADERS]);
