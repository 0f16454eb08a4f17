/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parked_read.h - what waits in the topics of parked requests, counted by host and by when it is due:
 * all messages between the group's committed positions and the topics' ends, without those that the
 * maps of the positions (worker/intake/position_map.h) call finished. Joins no group. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"

struct ing_conf;

enum ing_parked_when { /* it is due */
	ING_PARKED_NOW,
	ING_PARKED_IN_1M, /* within a minute */
	ING_PARKED_IN_10M,
	ING_PARKED_IN_1H,
	ING_PARKED_IN_6H,
	ING_PARKED_IN_1D,
	ING_PARKED_LATER,
	ING_PARKED_WHENS_
};

struct ing_parked_host {
	const char *host; /* "-": not said */
	uint64_t count, by_when[ING_PARKED_WHENS_];
	uint64_t tried;                   /* of these, requests that were tried before */
	int64_t next_due_ms, last_due_ms; /* since 1970 */
	int64_t oldest_ms;                /* first seen; 0: not said */
};

struct ing_parked_hosts {
	struct ing_parked_host *all; /* most requests first */
	size_t count;
	uint64_t requests;
	unsigned topics; /* that there are */
};

struct ing_parked_query {
	const char *verb, *brokers; /* borrowed */
	const struct ing_conf *conf;
	const char *host; /* this one only; NULL: all */
	int timeout_ms;
};

/* -CONFIG; -UNAVAILABLE: brokers do not answer. */
int ing_parked_read(const struct ing_parked_query *q, struct ing_parked_hosts *ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_parked_hosts_done(struct ing_parked_hosts *h);
const char *ing_parked_when_name(enum ing_parked_when when); /* "now", "10m", "later" */
