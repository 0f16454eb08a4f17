/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hosts_watch.h - what of hosts' holds and breakers a manager's status and the log are to say, in
 * one line each however many hosts there are. Reads the gate, changes nothing. Thread: loop only.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ing_buf;
struct ing_gate;
struct ing_robots;

#define ING_HOSTS_WATCH_MS 60000 /* between two lines of the log, at least */

struct ing_hosts_watch { /* zero-initialise */
	uint64_t opens;  /* when the last line was written: breakers opened so far … */
	uint64_t open;   /* … and hosts whose breaker is not closed */
	uint64_t due_ms; /* of the next line */
};

/* ", 3 hosts held, 1 breaker open": each part only when it is not zero. */
void ing_hosts_add_status(const struct ing_gate *g, struct ing_buf *out);
enum {
	ING_WAITS_EVERYDAY = 1, /* also hosts that are in a pause, not held */
	ING_WAITS_BRIEF = 2,    /* "waiting for a.example 35 s, b.example 8 s, and 1 more" */
};
/* "waiting for 2 hosts: a.example for another 35 s (breaker after 11 failures, 40 requests), and 1
 * more": the hosts that keep requests waiting because they are held, the longest first, `most` of
 * them by name. False, and nothing, when there are none. robots may be NULL. */
bool ing_hosts_add_waits(const struct ing_gate *g, const struct ing_robots *robots, unsigned how,
	unsigned most, struct ing_buf *out);
/* Have breakers opened or closed, and is a line due (now_ms: of ing_now_ms())? If so, it is put
 * into out. */
bool ing_hosts_watch(
	struct ing_hosts_watch *w, const struct ing_gate *g, uint64_t now_ms, struct ing_buf *out);
