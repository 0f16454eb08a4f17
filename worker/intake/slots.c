/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One growing array of slots, and for each lane an array of where its partitions are in it.
 */
#include "worker/intake/slots.h"

#include <stdlib.h>

#define FIRST_CAP 16

static int32_t add_slot(struct ing_slots *s, enum ing_lane lane, int32_t partition)
{
	if (s->count == s->cap) {
		s->cap = s->cap == 0 ? FIRST_CAP : s->cap * 2;
		s->all = ing_realloc(s->all, s->cap * sizeof(*s->all));
	}
	s->all[s->count] = (struct ing_slot){.lane = lane, .partition = partition, .committed = -1};
	return (int32_t)s->count++;
}

/* -------------------------------------------------------------------------------------------- */

void ing_slots_done(struct ing_slots *s)
{
	for (size_t i = 0; i < s->count; i++)
		ing_mark_done(&s->all[i].mark);
	free(s->all);
	for (size_t i = 0; i < ING_LANES_; i++)
		free(s->lanes[i].index);
	*s = (struct ing_slots){0};
}

struct ing_slot *ing_slots_find(const struct ing_slots *s, enum ing_lane lane, int32_t partition)
{
	if (partition < 0 || (size_t)partition >= s->lanes[lane].count)
		return NULL;
	int32_t i = s->lanes[lane].index[partition];
	return i < 0 ? NULL : &s->all[i];
}

struct ing_slot *ing_slots_make(struct ing_slots *s, enum ing_lane lane, int32_t partition)
{
	if (partition < 0 || partition >= ING_SLOTS_MAX_PARTITIONS)
		return NULL;
	struct ing_slot *found = ing_slots_find(s, lane, partition);
	if (found != NULL)
		return found;
	size_t want = (size_t)partition + 1;
	if (want > s->lanes[lane].count) {
		int32_t *index =
			ing_realloc(s->lanes[lane].index, want * sizeof(*s->lanes[lane].index));
		for (size_t i = s->lanes[lane].count; i < want; i++)
			index[i] = -1;
		s->lanes[lane].index = index;
		s->lanes[lane].count = want;
	}
	int32_t i = add_slot(s, lane, partition);
	s->lanes[lane].index[partition] = i;
	return &s->all[i];
}

int32_t ing_slots_index(const struct ing_slots *s, const struct ing_slot *slot)
{
	return (int32_t)(slot - s->all);
}

void ing_slot_begin(struct ing_slot *slot, uint32_t epoch)
{
	ing_mark_done(&slot->mark);
	slot->epoch = epoch;
	slot->assigned = true;
	slot->adrift = true;
	slot->went_back = false;
	slot->committed = -1;
}

void ing_slot_end(struct ing_slot *slot)
{
	slot->assigned = false;
	slot->adrift = false;
	ing_mark_done(&slot->mark);
}

bool ing_slot_is_read(const struct ing_slot *slot)
{
	return slot->assigned && !slot->adrift && slot->staked;
}

bool ing_slot_is_due(const struct ing_slot *slot)
{
	return slot->assigned && !slot->adrift && ing_mark_position(&slot->mark) >= 0 &&
	       ing_mark_position(&slot->mark) != slot->committed;
}

void ing_slot_note_committed(struct ing_slot *slot, int64_t offset)
{
	slot->staked = true;
	if (slot->sent_epoch == slot->epoch)
		slot->committed = offset;
}
