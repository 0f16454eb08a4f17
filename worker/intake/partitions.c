/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One growing array of entries, and for each lane an array of indices into it by partition number.
 */
#include "worker/intake/partitions.h"

#include <stdlib.h>

#define FIRST_CAP 16

static int32_t add_partition(struct ing_partitions *s, enum ing_lane lane, int32_t number)
{
	if (s->count == s->cap) {
		s->cap = s->cap == 0 ? FIRST_CAP : s->cap * 2;
		s->all = ing_realloc(s->all, s->cap * sizeof(*s->all));
	}
	s->all[s->count] = (struct ing_partition){.lane = lane, .number = number, .committed = -1};
	return (int32_t)s->count++;
}

/* -------------------------------------------------------------------------------------------- */

void ing_partitions_done(struct ing_partitions *s)
{
	for (size_t i = 0; i < s->count; i++)
		ing_offset_tracker_done(&s->all[i].offsets);
	free(s->all);
	for (size_t i = 0; i < ING_LANES_; i++)
		free(s->lanes[i].index);
	*s = (struct ing_partitions){0};
}

struct ing_partition *ing_partitions_find(
	const struct ing_partitions *s, enum ing_lane lane, int32_t number)
{
	if (number < 0 || (size_t)number >= s->lanes[lane].count)
		return NULL;
	int32_t i = s->lanes[lane].index[number];
	return i < 0 ? NULL : &s->all[i];
}

struct ing_partition *ing_partitions_add(
	struct ing_partitions *s, enum ing_lane lane, int32_t number)
{
	if (number < 0 || number >= ING_MAX_PARTITION)
		return NULL;
	struct ing_partition *found = ing_partitions_find(s, lane, number);
	if (found != NULL)
		return found;
	size_t want = (size_t)number + 1;
	if (want > s->lanes[lane].count) {
		int32_t *index =
			ing_realloc(s->lanes[lane].index, want * sizeof(*s->lanes[lane].index));
		for (size_t i = s->lanes[lane].count; i < want; i++)
			index[i] = -1;
		s->lanes[lane].index = index;
		s->lanes[lane].count = want;
	}
	int32_t i = add_partition(s, lane, number);
	s->lanes[lane].index[number] = i;
	return &s->all[i];
}

int32_t ing_partitions_index(const struct ing_partitions *s, const struct ing_partition *part)
{
	return (int32_t)(part - s->all);
}

void ing_partition_begin_epoch(struct ing_partition *part, uint32_t epoch)
{
	ing_offset_tracker_done(&part->offsets);
	part->epoch = epoch;
	part->assigned = true;
	part->awaits_validation = true;
	part->reset_to_start = false;
	part->committed = -1;
}

void ing_partition_end_epoch(struct ing_partition *part)
{
	part->assigned = false;
	part->awaits_validation = false;
	ing_offset_tracker_done(&part->offsets);
}

bool ing_partition_is_fetched(const struct ing_partition *part)
{
	return part->assigned && !part->awaits_validation && part->group_has_offset;
}

bool ing_partition_is_commit_due(const struct ing_partition *part)
{
	return part->assigned && !part->awaits_validation &&
	       ing_offset_tracker_committable(&part->offsets) >= 0 &&
	       ing_offset_tracker_committable(&part->offsets) != part->committed;
}

void ing_partition_set_committed(struct ing_partition *part, int64_t offset)
{
	part->group_has_offset = true;
	if (part->commit_epoch == part->epoch)
		part->committed = offset;
}
