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

/* A message by which a log is recognised: that its offset has this timestamp. */
struct ing_log_mark {
	int64_t offset; /* -1: none is known */
	int64_t timestamp_ms;
};

enum ing_mark_state {
	ING_MARK_UNKNOWN, /* not asked, or no answer */
	ING_MARK_FOUND,
	ING_MARK_OTHER, /* there is another message, or none */
};

/* What the brokers reported of one partition. */
struct ing_broker_offsets {
	bool has_committed;  /* the coordinator answered: `committed` is set */
	bool has_bounds;     /* the leader answered: `low` and `high` are set */
	bool bounds_queried; /* false: there was no time left to query the leader */
	int64_t committed;   /* the group's offset; -1: it has none */
	char *metadata;      /* of the commit; heap, NULL when empty */
	int64_t low, high;   /* log start offset; log end offset (one past the newest) */
	enum ing_mark_state
		mark; /* asked when the group has no offset and the log has the mark's */
};

/* What we know ourselves. */
struct ing_known_position {
	int64_t next;          /* the next offset to be read; -1: nothing has been read yet */
	bool group_has_offset; /* the group had a committed offset when we last asked */
	/* Where the partition's last owner ended, by its own notes; -1: there are none. */
	int64_t last_low_water;
	struct ing_log_mark mark; /* the newest message below that */
};

enum ing_position_state {
	ING_POSITION_UNKNOWN, /* an answer is missing: query again */
	ING_POSITION_VALID,
	ING_POSITION_DELETED,         /* retention deleted messages that were not read */
	ING_POSITION_BEYOND_END,      /* the log ends before it: truncated, or topic recreated */
	ING_POSITION_TOPIC_RECREATED, /* the group had a committed offset and has none */
	ING_POSITION_EXPIRED, /* likewise, but the log is the one that was read: the brokers have
			       * expired the offset, and the last owner's is used */
	ING_POSITION_NEW_LOG, /* likewise, and the log is another one */
};

struct ing_position_check {
	enum ing_position_state state;
	int64_t position; /* below it all are finished, or deleted; unless UNKNOWN */
	int64_t start; /* the offset to read from: position, or the log start when that is higher */
};

/* Without a position of our own the group's offset counts, else the last owner's notes, else the log
 * is read from its start. A log that ends before the position is read from its start, because nothing
 * tells which of its messages are new. */
struct ing_position_check ing_position_check(
	const struct ing_known_position *known, const struct ing_broker_offsets *reported);
