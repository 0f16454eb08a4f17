/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One growing array of entries, and for each topic an array of indices into it by partition number.
 */
#include "worker/intake/partitions.h"

#include <stdlib.h>

#define FIRST_CAP 16

static struct ing_partition *add_partition(struct ing_partitions *s, unsigned topic, int32_t number)
{
	if (s->count == s->cap) {
		s->cap = s->cap == 0 ? FIRST_CAP : s->cap * 2;
		s->all = ing_realloc(s->all, s->cap * sizeof(*s->all));
	}
	struct ing_partition *part = ing_alloc(sizeof(*part));
	*part = (struct ing_partition){
		.topic = topic, .number = number, .index = (int32_t)s->count, .committed = -1};
	ing_offset_tracker_init(&part->offsets, -1);
	s->all[s->count++] = part;
	return part;
}

/* What an epoch leaves behind. */
static void clear(struct ing_partition *part)
{
	ing_offset_tracker_done(&part->offsets);
	ing_position_map_free(ING_TAKE(part->map));
	while (part->answers != NULL) {
		struct ing_answer *a = part->answers;
		part->answers = a->next;
		ing_answer_free(a);
	}
	part->next_offset = part->log_end = -1;
	part->reset_to_start = part->held = part->fenced = part->commit_first = false;
	part->slow_logged = part->full_logged = false;
	part->slow_until_ms = part->validate_due_ms = 0;
	part->mark = (struct ing_log_mark){-1, -1};
	part->committed = -1;
	part->changes = part->committed_changes = part->sent_changes = 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_partitions_done(struct ing_partitions *s)
{
	for (size_t i = 0; i < s->count; i++) {
		clear(s->all[i]);
		free(s->all[i]);
	}
	free(s->all);
	for (size_t i = 0; i < ING_INTAKE_TOPICS; i++)
		free(s->topics[i].index);
	*s = (struct ing_partitions){0};
}

struct ing_partition *ing_partitions_find(
	const struct ing_partitions *s, unsigned topic, int32_t number)
{
	if (number < 0 || (size_t)number >= s->topics[topic].count)
		return NULL;
	int32_t i = s->topics[topic].index[number];
	return i < 0 ? NULL : s->all[i];
}

struct ing_partition *ing_partitions_add(struct ing_partitions *s, unsigned topic, int32_t number)
{
	if (number < 0 || number >= ING_MAX_PARTITION)
		return NULL;
	struct ing_partition *found = ing_partitions_find(s, topic, number);
	if (found != NULL)
		return found;
	size_t want = (size_t)number + 1;
	if (want > s->topics[topic].count) {
		int32_t *index =
			ing_realloc(s->topics[topic].index, want * sizeof(*s->topics[topic].index));
		for (size_t i = s->topics[topic].count; i < want; i++)
			index[i] = -1;
		s->topics[topic].index = index;
		s->topics[topic].count = want;
	}
	struct ing_partition *part = add_partition(s, topic, number);
	s->topics[topic].index[number] = part->index;
	return part;
}

struct ing_partition *ing_partitions_of_token(
	const struct ing_partitions *s, const struct ing_token *t)
{
	ing_must(t->partition_index >= 0 && (size_t)t->partition_index < s->count);
	struct ing_partition *part = s->all[t->partition_index];
	return ing_partition_is_assigned(part) && part->epoch == t->epoch ? part : NULL;
}

void ing_partition_begin_epoch(
	struct ing_partition *part, uint32_t epoch, enum ing_partition_stage stage)
{
	clear(part);
	part->epoch = epoch;
	part->stage = stage;
}

void ing_partition_end_epoch(struct ing_partition *part)
{
	clear(part);
	part->stage = ING_PARTITION_UNASSIGNED;
}

bool ing_partition_is_assigned(const struct ing_partition *part)
{
	return part->stage != ING_PARTITION_UNASSIGNED;
}

bool ing_partition_is_checked(const struct ing_partition *part)
{
	return part->stage == ING_PARTITION_STARTING || part->stage == ING_PARTITION_READY;
}

void ing_partition_set_position(
	struct ing_partition *part, int64_t position, struct ing_position_map *map)
{
	ing_offset_tracker_done(&part->offsets);
	ing_offset_tracker_init(&part->offsets, position);
	if (map != NULL)
		ing_position_map_restore(map, &part->offsets);
	part->map = map;
	part->next_offset = position;
}

bool ing_partition_is_commit_due(const struct ing_partition *part)
{
	if (part->stage == ING_PARTITION_STARTING)
		return true;
	return part->stage == ING_PARTITION_READY &&
	       (part->changes != part->committed_changes ||
		       ing_offset_tracker_committable(&part->offsets) != part->committed);
}

void ing_partition_set_committed(struct ing_partition *part, int64_t offset)
{
	part->group_has_offset = true;
	if (part->commit_epoch != part->epoch || !ing_partition_is_assigned(part))
		return;
	part->committed = offset;
	part->committed_changes = part->sent_changes;
}
