/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mark.h - the low-water mark of one partition: up to where every message is finished.
 *
 * Messages are begun in the order of their offsets and finished in any order; only a position below
 * which nothing is unfinished may be committed. Offsets have gaps (compaction, transaction
 * markers): an offset that was never begun does not hold the mark back. Memory is eight bytes for
 * each message between the mark and the newest, with a ceiling. Pure; one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* Messages that may lie between the oldest unfinished and the newest begun one: what a crash makes
 * us repeat at most, and 2 MiB. At 50 results a second from a partition, one request may wait for
 * its host for 87 minutes before the rest stops. */
#define ING_MARK_MAX ((size_t)1 << 18)

struct ing_mark {
	int64_t *ring; /* offsets from the oldest unfinished on, rising; ~offset once finished */
	size_t cap;    /* of ring, a power of two, or 0 */
	size_t head, count; /* oldest entry and number of entries */
	int64_t position;   /* next offset to begin is at least this; -1: not known yet */
};

/* start: the offset to begin at, or -1 when it is not known yet. */
void ing_mark_init(struct ing_mark *m, int64_t start);
void ing_mark_done(struct ing_mark *m); /* also after done or zero-initialised */
/* A message is taken. False when its offset (>= 0) is not above all begun before, or the mark is
 * full; nothing changes. */
bool ing_mark_begin(struct ing_mark *m, int64_t offset);
/* A message is finished. False when it is not begun or already finished. */
bool ing_mark_finish(struct ing_mark *m, int64_t offset);
/* Messages below `offset` will not come: they are gone from the log. What is unfinished stays
 * so. */
void ing_mark_skip(struct ing_mark *m, int64_t offset);
bool ing_mark_full(const struct ing_mark *m);
/* The offset to commit: the lowest unfinished one, or else the next to begin; -1 when that is not
 * known. */
int64_t ing_mark_position(const struct ing_mark *m);
