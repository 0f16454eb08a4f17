/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * partitions.h - the partitions of all topics in one table.
 *
 * An entry is added when its partition is first assigned and keeps its address and index until the
 * end, so that a token of an earlier assignment still finds it and differs from it in the epoch.
 * Owns the entries, their offset trackers, maps and answers. Pure; loop thread only.
 *
 * Stages. An assignment goes from CLAIMING (only with a database) to VALIDATING, RECOVERING (likewise),
 * STARTING (only when the group has no position yet, or has to go back) and READY. A log that has
 * changed goes back to VALIDATING, under a new epoch.
 */
#pragma once
#include "worker/intake/offset_tracker.h"
#include "worker/intake/position_check.h"
#include "worker/intake/position_map.h"
#include "worker/intake/topics.h"
#include "worker/model/positions.h"

/* Partition numbers come from the brokers and size an array: higher ones are refused. No Kafka
 * cluster has nearly so many partitions of one topic. */
#define ING_MAX_PARTITION 100000

struct kafka_claim;
struct rd_kafka_message_s;
struct rd_kafka_queue_s;

enum ing_partition_stage {
	ING_PARTITION_UNASSIGNED,
	ING_PARTITION_CLAIMING,   /* the store raises its fence */
	ING_PARTITION_VALIDATING, /* the brokers are asked for position, map and log bounds */
	ING_PARTITION_RECOVERING, /* the store reads the answers that are not committed */
	ING_PARTITION_STARTING,   /* the position that it begins at is being committed */
	ING_PARTITION_READY,      /* messages are taken */
};

struct ing_partition {
	unsigned topic;
	int32_t number; /* Kafka's */
	int32_t index;  /* in the table */
	uint32_t epoch; /* of the current or the last assignment; 0: never assigned */
	enum ing_partition_stage stage;
	bool reset_to_start; /* a message of another log came: read from the log's start */

	/* From VALIDATING on. */
	struct ing_offset_tracker offsets;
	struct ing_position_map *map; /* of the position begun at, until it is read; or NULL */
	int64_t next_offset;          /* to be read; behind the position while there is a map */
	int64_t log_start;
	int64_t log_end;            /* as last queried; -1: not yet */
	struct ing_answer *answers; /* of messages that are not taken yet, by rising offset */
	/* Of the partition's assignment: 0 without a database. */
	int64_t fence;
	/* The newest message below the position, from the last owner's notes, as long as we have seen
	 * none ourselves. */
	struct ing_log_mark mark;

	int64_t committed; /* in this epoch, as the coordinator acknowledged; -1: nothing */
	uint64_t changes;  /* of position or map, in this epoch */
	uint64_t committed_changes;    /* those that the acknowledged commit had */
	uint64_t sent_changes;         /* and the pending one */
	struct ing_log_mark sent_mark; /* of the pending commit */
	uint32_t commit_epoch;         /* in which it was sent */
	bool in_batch;                 /* in the commit that emit has under way */
	/* The group had a committed offset when it was last queried. Kafka deletes it with the topic,
	 * so that its absence shows that the topic was deleted. No message is taken before it is
	 * set. */
	bool group_has_offset;
	/* Its position is to be committed before any message is taken: the group has none, so that
	 * its absence could not be noticed, or it has one of another log, which a crash would leave. */
	bool commit_first;

	/* VALIDATING: held, because of its map. */
	bool held;
	uint64_t held_log_due_ms;
	uint64_t validate_due_ms; /* no query before */
	bool fenced;              /* the store has another owner: it is to be claimed again */

	/* Of the Kafka intake (kafka_claim.c, kafka_take.c). */
	struct kafka_claim *claim;       /* NULL: never claimed */
	struct rd_kafka_queue_s *queue;  /* while it is fetched */
	struct rd_kafka_message_s *next; /* the front of the queue; NULL: not polled */
	enum ing_lane lane;              /* of `next` */
	uint64_t due_ms;                 /* likewise, of a parked message; 0: due */
	uint64_t slow_until_ms;          /* nothing is taken before */
	unsigned quiet_turn;             /* the turn in which it had nothing more to take */
	bool slow_logged, full_logged;
};

struct ing_partitions { /* zero-initialised: empty */
	struct ing_partition **all;
	size_t count, cap;
	struct {
		int32_t *index; /* into all, by partition number; -1: none */
		size_t count;
	} topics[ING_INTAKE_TOPICS];
};

void ing_partitions_done(struct ing_partitions *s);
/* Returns the entry, or NULL when the partition was never assigned. */
struct ing_partition *ing_partitions_find(
	const struct ing_partitions *s, unsigned topic, int32_t number);
/* Returns the existing or a new entry, or NULL when the number is negative or over
 * ING_MAX_PARTITION - 1. */
struct ing_partition *ing_partitions_add(struct ing_partitions *s, unsigned topic, int32_t number);
/* Returns the partition of a token whose epoch is not over, else NULL. */
struct ing_partition *ing_partitions_of_token(
	const struct ing_partitions *s, const struct ing_token *t);

/* An assignment begins, or the log is to be read from its start: a new epoch. The fence stays. */
void ing_partition_begin_epoch(
	struct ing_partition *part, uint32_t epoch, enum ing_partition_stage stage);
void ing_partition_end_epoch(struct ing_partition *part);
bool ing_partition_is_assigned(const struct ing_partition *part);
/* Its position is validated. */
bool ing_partition_is_checked(const struct ing_partition *part);
/* The position is known, and the map that belongs to it (taken; NULL: none). */
void ing_partition_set_position(
	struct ing_partition *part, int64_t position, struct ing_position_map *map);
/* There is something to commit that the coordinator has not acknowledged. */
bool ing_partition_is_commit_due(const struct ing_partition *part);
/* The pending commit was acknowledged: the group's offset is `offset`, which may be lower than
 * before. */
void ing_partition_set_committed(struct ing_partition *part, int64_t offset);
