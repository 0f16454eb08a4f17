/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ring of offsets in rising order. Finishing finds its entry by bisection and flips it to its
 * complement, which is negative; then finished entries leave at the head. Each entry enters and
 * leaves once, so that the mark moves in constant time on average, however far a slow message has
 * held it back. The head is always unfinished.
 */
#include "worker/intake/mark.h"

#include <stdlib.h>

#define FIRST_CAP 64

static int64_t *entry(const struct ing_mark *m, size_t i)
{
	return &m->ring[(m->head + i) & (m->cap - 1)];
}

static int64_t offset_of(int64_t e)
{
	return e < 0 ? ~e : e;
}

static void grow(struct ing_mark *m)
{
	size_t cap = m->cap == 0 ? FIRST_CAP : m->cap * 2;
	int64_t *ring = ing_alloc(cap * sizeof(*ring));
	for (size_t i = 0; i < m->count; i++)
		ring[i] = *entry(m, i);
	free(m->ring);
	m->ring = ring;
	m->cap = cap;
	m->head = 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_mark_init(struct ing_mark *m, int64_t start)
{
	*m = (struct ing_mark){.position = start};
}

void ing_mark_done(struct ing_mark *m)
{
	free(m->ring);
	ing_mark_init(m, -1);
}

bool ing_mark_begin(struct ing_mark *m, int64_t offset)
{
	if (offset < 0 || offset == INT64_MAX || offset < m->position || ing_mark_full(m))
		return false;
	if (m->count == m->cap)
		grow(m);
	*entry(m, m->count++) = offset;
	m->position = offset + 1;
	return true;
}

bool ing_mark_finish(struct ing_mark *m, int64_t offset)
{
	size_t low = 0;
	size_t high = m->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (offset_of(*entry(m, middle)) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->count || *entry(m, low) != offset)
		return false;
	*entry(m, low) = ~offset;
	while (m->count > 0 && *entry(m, 0) < 0) {
		m->head = (m->head + 1) & (m->cap - 1);
		m->count--;
	}
	return true;
}

void ing_mark_skip(struct ing_mark *m, int64_t offset)
{
	m->position = ING_MAX(m->position, offset);
}

bool ing_mark_full(const struct ing_mark *m)
{
	return m->count >= ING_MARK_MAX;
}

int64_t ing_mark_position(const struct ing_mark *m)
{
	return m->count > 0 ? *entry(m, 0) : m->position;
}
