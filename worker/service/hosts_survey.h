/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hosts_survey.h - what the gate's hosts wait for, counted, and the hosts with the most waiting requests
 * and the longest holds. Reads gate and robots, changes nothing. Thread: loop only.
 */
#pragma once
#include <stdint.h>
#include "worker/gate/gate.h"

struct ing_buf;
struct ing_robots;

#define ING_GATE_NEEDS_ (ING_NEED_GATE + 1)
#define ING_SURVEY_HOST_BYTES 300

/* A host as it was, with its strings. */
struct ing_survey_host {
	struct ing_gate_host_view view; /* key and holder are those below */
	char key[ING_SURVEY_HOST_BYTES];
	char holder[ING_SURVEY_HOST_BYTES];
	unsigned waiting;        /* in all lanes */
	unsigned robots_waiting; /* beside them: for its robots.txt */
	uint64_t pace_ms;        /* from one transfer to the next, as far as is known */
	bool held;
};

struct ing_hosts_survey {
	uint64_t at_ms; /* ing_now_ms() */
	unsigned count; /* of hosts in each list, at most */
	/* Hosts with waiting requests, by what they wait for; the requests. */
	unsigned hosts[ING_GATE_NEEDS_];
	uint64_t requests[ING_GATE_NEEDS_];
	struct ing_survey_host *waiting, *held; /* heap */
	size_t waiting_count, held_count;
};

/* Walks over all hosts. count: at least 1. robots may be NULL. */
void ing_hosts_survey(const struct ing_gate *g, const struct ing_robots *robots, unsigned count,
	struct ing_hosts_survey *ret);
/* Append what it waits for: "delay, 3 s left"; nothing when nobody waits. */
void ing_survey_add_why(const struct ing_survey_host *h, struct ing_buf *out);
void ing_hosts_survey_done(struct ing_hosts_survey *s); /* zero-initialised is fine */
