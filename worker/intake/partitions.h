/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * partitions.h - the partitions of all lanes in one table.
 *
 * An entry is added when its partition is first assigned and keeps its index until the end, so that
 * a token of an earlier assignment still finds it and differs from it in the epoch. Owns the
 * entries and their offset trackers. Pure; loop thread only.
 */
#pragma once
#include "worker/model/lane.h"
#include "worker/intake/offset_tracker.h"

/* Partition numbers come from the brokers and size an array: higher ones are refused. No Kafka
 * cluster has nearly so many partitions of one topic. */
#define ING_MAX_PARTITION 100000

struct ing_partition {
	enum ing_lane lane;
	int32_t number; /* Kafka's */
	uint32_t epoch; /* of the current or the last assignment; 0: never assigned */
	bool assigned;
	/* While assigned: the position has to be checked against the brokers' log before messages
	 * are taken (KIP-320 calls this validation). Set at each assignment, and when a message or an
	 * error shows that the log has changed. */
	bool awaits_validation;
	bool reset_to_start; /* a message below the position came: read from the log's start */
	struct ing_offset_tracker offsets; /* while assigned */
	int64_t committed;     /* in this epoch, as the coordinator acknowledged; -1: nothing */
	uint32_t commit_epoch; /* the epoch in which the pending commit was sent */
	/* The group had a committed offset when it was last queried. Kafka deletes it with the topic,
	 * so that its absence shows that the topic was deleted. No message is taken before it is
	 * set. */
	bool group_has_offset;
};

struct ing_partitions { /* zero-initialised: empty */
	struct ing_partition *all;
	size_t count, cap;
	struct {
		int32_t *index; /* into all, by partition number; -1: none */
		size_t count;
	} lanes[ING_LANES_];
};

void ing_partitions_done(struct ing_partitions *s);
/* Returns the entry, valid until the next ing_partitions_add(), or NULL when the partition was
 * never assigned. */
struct ing_partition *ing_partitions_find(
	const struct ing_partitions *s, enum ing_lane lane, int32_t number);
/* Returns the existing or a new entry, or NULL when the number is negative or over
 * ING_MAX_PARTITION - 1. */
struct ing_partition *ing_partitions_add(
	struct ing_partitions *s, enum ing_lane lane, int32_t number);
/* An assignment begins, or the log is to be read from its start: a new epoch, awaiting
 * validation. */
void ing_partition_begin_epoch(struct ing_partition *part, uint32_t epoch);
void ing_partition_end_epoch(struct ing_partition *part);
/* Assigned, validated, and the group has a committed offset: its messages are taken. */
bool ing_partition_is_fetched(const struct ing_partition *part);
/* There is an offset to commit that the coordinator has not acknowledged. */
bool ing_partition_is_commit_due(const struct ing_partition *part);
/* The pending commit was acknowledged: the group's offset is `offset`, which may be lower than
 * before. */
void ing_partition_set_committed(struct ing_partition *part, int64_t offset);
int32_t ing_partitions_index(const struct ing_partitions *s, const struct ing_partition *part);
