/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * offset_tracker.h - which offsets of one partition are finished, and so which one to commit.
 *
 * Messages begin in the order of their offsets and finish in any order. The offset to commit is the
 * low-water mark: the lowest unfinished one, or the next to begin when all are finished. Offsets
 * may have gaps (compaction, transaction markers); an offset that never began does not hold the
 * commit back. Memory is eight bytes for each message from the lowest unfinished to the newest, at
 * most ING_OFFSET_TRACKER_MAX of them. Pure; one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* Messages from the lowest unfinished to the newest: what a crash makes us repeat at most, and
 * 2 MiB. At 50 results a second from a partition, one request may wait for its host for 87 minutes
 * before the partition stops. */
#define ING_OFFSET_TRACKER_MAX ((size_t)1 << 18)

struct ing_offset_tracker {
	int64_t *ring; /* offsets from the lowest unfinished on, rising; ~offset once finished */
	size_t cap;    /* of ring, a power of two, or 0 */
	size_t head, count; /* oldest entry and number of entries */
	int64_t position;   /* the next offset to begin is at least this; -1: not known yet */
};

/* start: the offset to begin at, or -1 when it is not known yet. */
void ing_offset_tracker_init(struct ing_offset_tracker *t, int64_t start);
/* May be repeated, and called on a zero-initialised tracker. */
void ing_offset_tracker_done(struct ing_offset_tracker *t);
/* A message is taken. Returns false, and changes nothing, when its offset is negative or below the
 * position, or when the tracker is full. */
bool ing_offset_tracker_begin(struct ing_offset_tracker *t, int64_t offset);
/* A message is finished. Returns false when it has not begun or is already finished. */
bool ing_offset_tracker_finish(struct ing_offset_tracker *t, int64_t offset);
/* The log has no messages below `offset` any more: the position rises to it. Unfinished messages
 * stay unfinished. */
void ing_offset_tracker_skip(struct ing_offset_tracker *t, int64_t offset);
bool ing_offset_tracker_is_full(const struct ing_offset_tracker *t);
/* Returns the offset to commit, or -1 when no position is known yet. */
int64_t ing_offset_tracker_committable(const struct ing_offset_tracker *t);
