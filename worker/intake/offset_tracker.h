/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * offset_tracker.h - which offsets of one partition are finished, and so which position to commit.
 *
 * Messages begin in the order of their offsets and finish in any order. The position to commit is the
 * low-water mark: the lowest unfinished offset, or the next to begin when all are finished. What is
 * finished beyond it goes into the commit's metadata (position_map.h). Offsets may have gaps
 * (compaction, transaction markers); an offset that never began does not hold the commit back.
 *
 * A message is unfinished, then either finished at once (at least once), or in a commit, which settles
 * it when it is committed and reopens it when it is not. For the position and the map, what is in
 * a commit counts as finished.
 *
 * A message only begins when the map fits into the metadata whatever happens next: the bound
 * (ing_position_map_fits()) is on the number of unfinished offsets and on how far they lie apart,
 * both of which can only fall until the next begin. Memory is 24 bytes for each message from the
 * lowest unfinished to the newest, at most ING_OFFSET_TRACKER_MAX of them. Pure; one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* Messages from the lowest unfinished to the newest: 6 MiB. */
#define ING_OFFSET_TRACKER_MAX ((size_t)1 << 18)

struct ing_tracked {
	int64_t offset;
	int64_t timestamp_ms; /* Kafka's; -1: none */
	uint64_t digest;      /* of struct ing_source */
};

struct ing_offset_tracker {
	struct ing_tracked *ring; /* from the lowest that is not finished on, by rising offset */
	/* A bit for each slot of the ring. Neither bit: finished. */
	uint64_t *unfinished, *in_commit;
	size_t cap;         /* of ring, a power of two, or 0 */
	size_t head, count; /* oldest entry and number of entries */
	size_t open;        /* entries that are unfinished or in a commit */
	int64_t position;   /* the next offset to begin is at least this; -1: not known yet */
	struct ing_tracked
		last_removed; /* the newest entry that has left the ring; offset -1: none */
};

/* start: the offset to begin at, or -1 when it is not known yet. */
void ing_offset_tracker_init(struct ing_offset_tracker *t, int64_t start);
/* May be repeated, and called on a zero-initialised tracker. */
void ing_offset_tracker_done(struct ing_offset_tracker *t);
/* A message is taken. Returns false, and changes nothing, when its offset is negative or below the
 * position, or when ing_offset_tracker_fits() is false. */
bool ing_offset_tracker_begin(struct ing_offset_tracker *t, const struct ing_tracked *m);

/* A message that began by its offset alone (ing_position_map_restore()) has been read. Returns false
 * when the offset is not unfinished. */
bool ing_offset_tracker_identify(struct ing_offset_tracker *t, const struct ing_tracked *m);

/* Each returns false, and changes nothing, when the offset is not in the state to leave. */
bool ing_offset_tracker_finish(
	struct ing_offset_tracker *t, int64_t offset); /* unfinished → finished */
bool ing_offset_tracker_to_commit(
	struct ing_offset_tracker *t, int64_t offset); /* unfinished → in a commit */
bool ing_offset_tracker_settle(
	struct ing_offset_tracker *t, int64_t offset); /* in a commit → finished */
bool ing_offset_tracker_reopen(
	struct ing_offset_tracker *t, int64_t offset); /* in a commit → unfinished */

/* Returns the entry of a message that is unfinished or in a commit, else NULL. Valid until the tracker
 * changes. */
const struct ing_tracked *ing_offset_tracker_find(
	const struct ing_offset_tracker *t, int64_t offset);
/* The log has no messages below `offset` any more: the position rises to it. Unfinished messages
 * stay unfinished. */
void ing_offset_tracker_skip(struct ing_offset_tracker *t, int64_t offset);

/* May a message of this offset begin? */
bool ing_offset_tracker_fits(const struct ing_offset_tracker *t, int64_t offset);
/* Not even a message right behind the newest would fit. The next message may lie beyond that, and not
 * fit although this is false. */
bool ing_offset_tracker_is_full(const struct ing_offset_tracker *t);
/* How much of the bound is in use, in percent. 100: full. */
unsigned ing_offset_tracker_fill_percent(const struct ing_offset_tracker *t);

/* Returns the offset to commit, or -1 when no position is known yet. */
int64_t ing_offset_tracker_committable(const struct ing_offset_tracker *t);
/* Returns the newest message below that offset, or NULL when there is none that we have seen. */
const struct ing_tracked *ing_offset_tracker_mark(const struct ing_offset_tracker *t);

/* Entries are numbered from 0, the oldest, to t->count - 1. */

const struct ing_tracked *ing_offset_tracker_at(const struct ing_offset_tracker *t, size_t i);
/* Returns the first entry whose offset is not below that, or t->count when there is none. */
size_t ing_offset_tracker_lower_bound(const struct ing_offset_tracker *t, int64_t offset);
/* Returns the first unfinished entry from `from` on, or t->count when there is none. */
size_t ing_offset_tracker_next_unfinished(const struct ing_offset_tracker *t, size_t from);
/* The same for entries that are finished or in a commit. */
size_t ing_offset_tracker_next_finished(const struct ing_offset_tracker *t, size_t from);
/* Returns the last entry that is finished or in a commit, or t->count when there is none. */
size_t ing_offset_tracker_last_finished(const struct ing_offset_tracker *t);
