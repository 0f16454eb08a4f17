/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slots.h - the partitions of all lanes in one table.
 *
 * A slot is made when its partition is first assigned and keeps its index for good, so that a token
 * of an old assignment still finds it, and its epoch tells that it is old. Owns the slots and their
 * marks. Pure; loop thread only.
 */
#pragma once
#include "worker/model/lane.h"
#include "worker/intake/mark.h"

/* Partition numbers come from outside and size a table. Kafka clusters do not go near it for one
 * topic. */
#define ING_SLOTS_MAX_PARTITIONS 100000

struct ing_slot {
	enum ing_lane lane;
	int32_t partition;
	uint32_t epoch; /* of the present or last assignment; 0 = never assigned */
	bool assigned;
	/* While assigned: where to read is to be asked of the brokers, and nothing is taken until
	 * then. So it is at first, and when its log turns out not to be the one that was read. */
	bool adrift;
	bool went_back;       /* adrift for an offset below the position: read from the start */
	struct ing_mark mark; /* while assigned */
	int64_t committed;    /* in this epoch, as acknowledged by the coordinator; -1: nothing */
	uint32_t sent_epoch;  /* of the commit under way */
	/* The group had a position when we last heard of it. It goes only with the topic, and then
	 * tells of that; so nothing is taken before there is one. */
	bool staked;
};

struct ing_slots { /* zero-initialised: empty */
	struct ing_slot *all;
	size_t count, cap;
	struct {
		int32_t *index; /* into all, by partition; -1: none */
		size_t count;
	} lanes[ING_LANES_];
};

void ing_slots_done(struct ing_slots *s);
/* NULL when the partition never was ours. Borrowed until the next ing_slots_make(). */
struct ing_slot *ing_slots_find(const struct ing_slots *s, enum ing_lane lane, int32_t partition);
/* Found or made. NULL when the number is out of bounds. */
struct ing_slot *ing_slots_make(struct ing_slots *s, enum ing_lane lane, int32_t partition);
/* An assignment begins, or the log has to be read from the start: a new epoch, adrift. */
void ing_slot_begin(struct ing_slot *slot, uint32_t epoch);
void ing_slot_end(struct ing_slot *slot);
/* It is known where to read, and the group has a position: messages are taken. */
bool ing_slot_is_read(const struct ing_slot *slot);
/* There is a position to commit that the coordinator has not acknowledged. */
bool ing_slot_is_due(const struct ing_slot *slot);
/* The commit under way was acknowledged: the group's position is `offset`, be it higher or lower
 * than before. */
void ing_slot_note_committed(struct ing_slot *slot, int64_t offset);
int32_t ing_slots_index(const struct ing_slots *s, const struct ing_slot *slot);
