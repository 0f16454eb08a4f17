/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * positions.h - the seams between intake, which knows the positions of partitions, emit, which
 * commits them with the messages that answer, and the store, which fences their owners. Intake and
 * emit, and intake and store, do not know one another: who wires them hands each the other's
 * functions, as one of the structs below. Plain data; thread: loop, unless a member says otherwise.
 *
 * A commit: begin() → the messages are produced, check(), the positions are sent, the transaction is
 * committed (emit's thread) → end(). At most one is under way.
 *
 * A claim: at each assignment intake claims the partition (claim(): its fence is raised, so that
 * no earlier owner writes any more), then asks the brokers for position and map, then reads what of
 * the outbox is not committed (recover()), then takes messages.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/source.h"
#include "worker/model/token.h"

struct ing_position {
	const char *topic;
	int32_t partition;
	int64_t offset; /* low water: all below it are finished */
	const char
		*metadata; /* position map (worker/intake/position_map.h); "" when none beyond it */
	/* The newest message below the low water that we have seen, to recognise the log by; -1:
	 * none. */
	int64_t mark_offset, mark_timestamp_ms;
	int64_t fence;
};

enum ing_positions_check {
	ING_POSITIONS_VALID,
	ING_POSITIONS_TOPIC_RECREATED,
	ING_POSITIONS_NO_ANSWER
};

/* Intake's, from begin() to end(). */
struct ing_positions {
	struct ing_position *all;
	size_t count;
	const void *group_metadata; /* rd_kafka_consumer_group_metadata_t: of the assignment */
	/* emit's thread, blocks for at most timeout_ms: are they positions in the logs that there are
	 * now? */
	enum ing_positions_check (*check)(const struct ing_positions *p, int timeout_ms);
};

/* Intake, as emit sees it. */
struct ing_positions_ops {
	void *ctx;
	/* The positions of the tokens' partitions, as they are when the tokens are finished. NULL:
	 * the assignment is ending; nothing is to be committed, the records will be dropped. All
	 * tokens are of current epochs. */
	struct ing_positions *(*begin)(void *ctx, const struct ing_token *tokens, size_t count);
	/* committed: the tokens are finished; else they are as before begin(). Frees p. */
	void (*end)(void *ctx, struct ing_positions *p, bool committed);
	/* At least once: the token's message is acknowledged; intake commits its position later. */
	void (*finish)(void *ctx, struct ing_token token);
};

/* A partition that is being claimed, then recovered. Embedded in its owner. */
struct ing_claim {
	/* Set before claim(). */
	const char *group, *topic, *instance;
	int32_t partition;
	/* Set by claim(). */
	int64_t fence;     /* at least 1 */
	int64_t low_water; /* as the last owner stored it; -1: none */
	int64_t mark_offset, mark_timestamp_ms;
	/* Set before recover(): the committed position and map (offsets that are finished). Rows that
	 * they cover are deleted, the others come back, by rising offset. */
	int64_t position;
	bool (*is_finished)(const void *ctx, int64_t offset); /* loop; ctx: finished_ctx */
	const void *finished_ctx;
	struct ing_answer *answers; /* set by recover(); the callee's */
	bool superseded; /* set by recover(): another instance has raised the fence since */
	void (*done)(struct ing_claim *c); /* loop; after claim(), and again after recover() */
};

/* The store, as intake sees it. Retried until the database has answered. */
struct ing_claim_ops {
	void *ctx; /* NULL: there is no database: nothing is called */
	void (*claim)(void *ctx, struct ing_claim *c);
	void (*recover)(void *ctx, struct ing_claim *c);
	/* done() will not come; c is not used any more. Harmless when nothing is under way. */
	void (*cancel)(void *ctx, struct ing_claim *c);
	/* These positions are committed: what partition_owner has of low water and mark is brought up
	 * to date, with the next batch, at most once a second. Copied. */
	void (*committed)(void *ctx, const struct ing_positions *p);
};
