/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ring of entries in rising order of offsets, with two bits for each. An offset is found by
 * bisection; finished entries are removed from the head. Each entry is added and removed once, so the
 * amortised cost is constant, however long one slow message keeps the others in the ring. The head
 * is never finished. Unfinished entries among many finished ones are found 64 at a time.
 */
#include "worker/intake/offset_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "worker/intake/position_map.h"

#define FIRST_CAP 64
#define WORD_BITS 64

static size_t slot_of(const struct ing_offset_tracker *t, size_t i)
{
	return (t->head + i) & (t->cap - 1);
}

static bool get_bit(const uint64_t *bits, size_t slot)
{
	return (bits[slot / WORD_BITS] >> (slot % WORD_BITS) & 1) != 0;
}

static void set_bit(uint64_t *bits, size_t slot, bool value)
{
	uint64_t bit = (uint64_t)1 << (slot % WORD_BITS);
	if (value)
		bits[slot / WORD_BITS] |= bit;
	else
		bits[slot / WORD_BITS] &= ~bit;
}

static void grow(struct ing_offset_tracker *t)
{
	struct ing_offset_tracker bigger = *t;
	bigger.cap = t->cap == 0 ? FIRST_CAP : t->cap * 2;
	bigger.head = 0;
	bigger.ring = ing_alloc(bigger.cap * sizeof(*bigger.ring));
	bigger.unfinished = ing_alloc(bigger.cap / WORD_BITS * sizeof(*bigger.unfinished));
	bigger.in_commit = ing_alloc(bigger.cap / WORD_BITS * sizeof(*bigger.in_commit));
	for (size_t i = 0; i < t->count; i++) {
		size_t slot = slot_of(t, i);
		bigger.ring[i] = t->ring[slot];
		set_bit(bigger.unfinished, i, get_bit(t->unfinished, slot));
		set_bit(bigger.in_commit, i, get_bit(t->in_commit, slot));
	}
	free(t->ring);
	free(t->unfinished);
	free(t->in_commit);
	*t = bigger;
}

static void remove_finished_head(struct ing_offset_tracker *t)
{
	while (t->count > 0 && !get_bit(t->unfinished, t->head) &&
		!get_bit(t->in_commit, t->head)) {
		t->last_removed = t->ring[t->head];
		t->head = slot_of(t, 1);
		t->count--;
	}
}

/* Returns the entry of the offset, or t->count when there is none. */
static size_t index_of(const struct ing_offset_tracker *t, int64_t offset)
{
	size_t i = ing_offset_tracker_lower_bound(t, offset);
	return i < t->count && ing_offset_tracker_at(t, i)->offset == offset ? i : t->count;
}

/* Moves the bit of an offset from one set to the other. NULL: finished. */
static bool move(struct ing_offset_tracker *t, int64_t offset, uint64_t *from, uint64_t *to)
{
	size_t i = index_of(t, offset);
	if (i == t->count || !get_bit(from, slot_of(t, i)))
		return false;
	set_bit(from, slot_of(t, i), false);
	if (to != NULL) {
		set_bit(to, slot_of(t, i), true);
		return true;
	}
	t->open--;
	remove_finished_head(t);
	return true;
}

/* Offsets from the oldest entry to a message of this offset, if it began. */
static uint64_t window_with(const struct ing_offset_tracker *t, int64_t offset)
{
	return t->count == 0 ? 1 : (uint64_t)(offset - t->ring[t->head].offset) + 1;
}

static bool fits(const struct ing_offset_tracker *t, int64_t offset)
{
	return t->count < ING_OFFSET_TRACKER_MAX &&
	       ing_position_map_fits(window_with(t, offset), t->open + 1);
}

static size_t next_with(const struct ing_offset_tracker *t, size_t from, bool unfinished)
{
	size_t i = from;
	while (i < t->count) {
		size_t slot = slot_of(t, i);
		uint64_t word = t->unfinished[slot / WORD_BITS];
		word = (unfinished ? word : ~word) >> (slot % WORD_BITS);
		if (word != 0)
			return ING_MIN(i + (size_t)__builtin_ctzll(word), t->count);
		i += WORD_BITS - slot % WORD_BITS;
	}
	return t->count;
}

/* -------------------------------------------------------------------------------------------- */

void ing_offset_tracker_init(struct ing_offset_tracker *t, int64_t start)
{
	*t = (struct ing_offset_tracker){.position = start, .last_removed = {-1, -1, 0}};
}

void ing_offset_tracker_done(struct ing_offset_tracker *t)
{
	free(t->ring);
	free(t->unfinished);
	free(t->in_commit);
	ing_offset_tracker_init(t, -1);
}

bool ing_offset_tracker_begin(struct ing_offset_tracker *t, const struct ing_tracked *m)
{
	if (!ing_offset_tracker_fits(t, m->offset))
		return false;
	if (t->count == t->cap)
		grow(t);
	size_t slot = slot_of(t, t->count++);
	t->ring[slot] = *m;
	set_bit(t->unfinished, slot, true);
	set_bit(t->in_commit, slot, false);
	t->open++;
	t->position = m->offset + 1;
	return true;
}

bool ing_offset_tracker_identify(struct ing_offset_tracker *t, const struct ing_tracked *m)
{
	size_t i = index_of(t, m->offset);
	if (i == t->count || !get_bit(t->unfinished, slot_of(t, i)))
		return false;
	t->ring[slot_of(t, i)] = *m;
	return true;
}

bool ing_offset_tracker_finish(struct ing_offset_tracker *t, int64_t offset)
{
	return move(t, offset, t->unfinished, NULL);
}

bool ing_offset_tracker_to_commit(struct ing_offset_tracker *t, int64_t offset)
{
	return move(t, offset, t->unfinished, t->in_commit);
}

bool ing_offset_tracker_settle(struct ing_offset_tracker *t, int64_t offset)
{
	return move(t, offset, t->in_commit, NULL);
}

bool ing_offset_tracker_reopen(struct ing_offset_tracker *t, int64_t offset)
{
	return move(t, offset, t->in_commit, t->unfinished);
}

const struct ing_tracked *ing_offset_tracker_find(
	const struct ing_offset_tracker *t, int64_t offset)
{
	size_t i = index_of(t, offset);
	if (i == t->count)
		return NULL;
	size_t slot = slot_of(t, i);
	return get_bit(t->unfinished, slot) || get_bit(t->in_commit, slot) ? &t->ring[slot] : NULL;
}

void ing_offset_tracker_skip(struct ing_offset_tracker *t, int64_t offset)
{
	t->position = ING_MAX(t->position, offset);
}

bool ing_offset_tracker_fits(const struct ing_offset_tracker *t, int64_t offset)
{
	return offset >= 0 && offset >= t->position && offset < INT64_MAX && fits(t, offset);
}

bool ing_offset_tracker_is_full(const struct ing_offset_tracker *t)
{
	return t->count > 0 && !fits(t, ing_offset_tracker_at(t, t->count - 1)->offset + 1);
}

unsigned ing_offset_tracker_fill_percent(const struct ing_offset_tracker *t)
{
	if (t->count == 0)
		return 0;
	if (ing_offset_tracker_is_full(t))
		return 100;
	unsigned entries = (unsigned)(t->count * 100 / ING_OFFSET_TRACKER_MAX);
	unsigned map = ing_position_map_fill_percent(
		window_with(t, ing_offset_tracker_at(t, t->count - 1)->offset), t->open);
	return ING_MIN(ING_MAX(entries, map), 99);
}

int64_t ing_offset_tracker_committable(const struct ing_offset_tracker *t)
{
	size_t i = ing_offset_tracker_next_unfinished(t, 0);
	return i < t->count ? ing_offset_tracker_at(t, i)->offset : t->position;
}

const struct ing_tracked *ing_offset_tracker_mark(const struct ing_offset_tracker *t)
{
	size_t i = ing_offset_tracker_next_unfinished(t, 0);
	if (i > 0)
		return ing_offset_tracker_at(t, i - 1);
	return t->last_removed.offset >= 0 ? &t->last_removed : NULL;
}

const struct ing_tracked *ing_offset_tracker_at(const struct ing_offset_tracker *t, size_t i)
{
	return &t->ring[slot_of(t, i)];
}

size_t ing_offset_tracker_lower_bound(const struct ing_offset_tracker *t, int64_t offset)
{
	size_t low = 0;
	size_t high = t->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ing_offset_tracker_at(t, middle)->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t ing_offset_tracker_next_unfinished(const struct ing_offset_tracker *t, size_t from)
{
	return next_with(t, from, true);
}

size_t ing_offset_tracker_next_finished(const struct ing_offset_tracker *t, size_t from)
{
	return next_with(t, from, false);
}

/* By words from the end: the newest entries are mostly unfinished. */
size_t ing_offset_tracker_last_finished(const struct ing_offset_tracker *t)
{
	size_t end = t->count;
	while (end > 0) {
		size_t slot = slot_of(t, end - 1);
		size_t bits = slot % WORD_BITS + 1; /* of the word, up to this slot */
		uint64_t word = ~t->unfinished[slot / WORD_BITS] << (WORD_BITS - bits);
		size_t skipped = word != 0 ? (size_t)__builtin_clzll(word) : bits;
		if (skipped < bits)
			return skipped < end ? end - 1 - skipped : t->count;
		end = bits < end ? end - bits : 0;
	}
	return t->count;
}
