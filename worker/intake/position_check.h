/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * position_check.h - whether a position is still valid in a partition's log, and from which offset
 * to read otherwise.
 *
 * librdkafka 2.0 knows neither topic ids nor leader epochs. A changed log shows in its bounds, and
 * in the group's committed offset: Kafka deletes that with the topic, so that it is missing after
 * the topic was deleted and created again, however long the new log is. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* What the brokers reported of one partition. */
struct ing_broker_offsets {
	bool has_committed;  /* the coordinator answered: `committed` is set */
	bool has_bounds;     /* the leader answered: `low` and `high` are set */
	bool bounds_queried; /* false: there was no time left to query the leader */
	int64_t committed;   /* the group's offset; -1: it has none */
	int64_t low, high;   /* log start offset; log end offset (one past the newest) */
};

enum ing_position_state {
	ING_POSITION_UNKNOWN, /* an answer is missing: query again */
	ING_POSITION_VALID,
	ING_POSITION_DELETED,         /* retention deleted messages that were not read */
	ING_POSITION_BEYOND_END,      /* the log ends before it: truncated, or topic recreated */
	ING_POSITION_TOPIC_RECREATED, /* the group had a committed offset and has none */
};

struct ing_position_check {
	enum ing_position_state state;
	int64_t start; /* the offset to read from, unless UNKNOWN */
	int64_t lost;  /* DELETED: number of offsets that were never read */
};

/* position: the next offset to be read, or -1 to read from the group's offset, or from the log start
 * when it has none. group_has_offset: the group had a committed offset before. A log that ends
 * before the position is read from its start, because nothing tells which of its messages are new.
 */
struct ing_position_check ing_position_check(
	int64_t position, bool group_has_offset, const struct ing_broker_offsets *reported);
