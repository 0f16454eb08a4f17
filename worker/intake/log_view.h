/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log_view.h - where a partition is to be read on, from what its brokers and the group say of it.
 *
 * librdkafka 2.0 does not know a topic's identity nor a leader's epoch. What tells that a log is no
 * longer the one that was read: its bounds, and the group's position, which Kafka forgets with the
 * topic, so that it is gone when the topic has been deleted and made anew, however long the new log
 * is. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* As answered; what was not answered is not known. */
struct ing_log_view {
	bool has_committed, has_ends;
	bool asked;        /* for the bounds; false: there was no time left to */
	int64_t committed; /* the group's position; -1: it has none */
	int64_t low, high; /* the oldest offset there is; one past the newest */
};

enum ing_log_state {
	ING_LOG_UNKNOWN, /* ask again */
	ING_LOG_GOES_ON,
	ING_LOG_CUT,     /* the oldest messages are gone before they were read (retention) */
	ING_LOG_SHORTER, /* it ends before the position: truncated, or made anew */
	ING_LOG_ANEW,    /* the group had a position and has none: the topic was made anew */
};

struct ing_log_verdict {
	enum ing_log_state state;
	int64_t start; /* the offset to read at, unless UNKNOWN */
	int64_t lost;  /* CUT: how many offsets are gone unread */
};

/* position: the next offset to be read; -1: go on at the group's. staked: the group has had a
 * position. A log that is SHORTER is read from its oldest message, for nothing tells which of them
 * are new. */
struct ing_log_verdict ing_log_judge(
	int64_t position, bool staked, const struct ing_log_view *view);
