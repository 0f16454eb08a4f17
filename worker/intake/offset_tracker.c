/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ring of offsets in rising order. ing_offset_tracker_finish() finds the entry by bisection and
 * replaces it by its complement, which is negative, then removes finished entries from the head. Each
 * entry is added and removed once, so the amortised cost is constant, however long one slow message
 * keeps the others in the ring. The head is always unfinished.
 */
#include "worker/intake/offset_tracker.h"

#include <stdlib.h>

#define FIRST_CAP 64

static int64_t *entry(const struct ing_offset_tracker *t, size_t i)
{
	return &t->ring[(t->head + i) & (t->cap - 1)];
}

static int64_t offset_of(int64_t e)
{
	return e < 0 ? ~e : e;
}

static void grow(struct ing_offset_tracker *t)
{
	size_t cap = t->cap == 0 ? FIRST_CAP : t->cap * 2;
	int64_t *ring = ing_alloc(cap * sizeof(*ring));
	for (size_t i = 0; i < t->count; i++)
		ring[i] = *entry(t, i);
	free(t->ring);
	t->ring = ring;
	t->cap = cap;
	t->head = 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_offset_tracker_init(struct ing_offset_tracker *t, int64_t start)
{
	*t = (struct ing_offset_tracker){.position = start};
}

void ing_offset_tracker_done(struct ing_offset_tracker *t)
{
	free(t->ring);
	ing_offset_tracker_init(t, -1);
}

bool ing_offset_tracker_begin(struct ing_offset_tracker *t, int64_t offset)
{
	if (offset < 0 || offset == INT64_MAX || offset < t->position ||
		ing_offset_tracker_is_full(t))
		return false;
	if (t->count == t->cap)
		grow(t);
	*entry(t, t->count++) = offset;
	t->position = offset + 1;
	return true;
}

bool ing_offset_tracker_finish(struct ing_offset_tracker *t, int64_t offset)
{
	size_t low = 0;
	size_t high = t->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (offset_of(*entry(t, middle)) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->count || *entry(t, low) != offset)
		return false;
	*entry(t, low) = ~offset;
	while (t->count > 0 && *entry(t, 0) < 0) {
		t->head = (t->head + 1) & (t->cap - 1);
		t->count--;
	}
	return true;
}

void ing_offset_tracker_skip(struct ing_offset_tracker *t, int64_t offset)
{
	t->position = ING_MAX(t->position, offset);
}

bool ing_offset_tracker_is_full(const struct ing_offset_tracker *t)
{
	return t->count >= ING_OFFSET_TRACKER_MAX;
}

int64_t ing_offset_tracker_committable(const struct ing_offset_tracker *t)
{
	return t->count > 0 ? *entry(t, 0) : t->position;
}
