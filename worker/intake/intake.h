/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * intake.h - where requests come from: a Kafka consumer group (intake_kafka.c) or JSON lines
 * (intake_lines.c).
 *
 * Loop thread only. Every message passed to on_message() carries a token, for which exactly one
 * ing_intake_finish() is owed; after the token's assignment was revoked the call is ignored.
 *
 * Kafka: an offset is committed when all messages below it in its partition are finished. The token
 * holds the epoch of the partition's assignment, so that what an earlier assignment finishes is
 * never committed. A partition whose log has changed (topic recreated, log truncated) gets a new
 * epoch too and is read from its start. The consumer is polled while lanes are paused.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/model/lane.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"
#include "worker/model/token.h"

struct uv_loop_s;
struct ing_intake;

struct ing_message {
	struct ing_token token;
	const char *value; /* borrowed during the call; not NUL-terminated */
	size_t value_bytes;
	const void *key; /* borrowed; NULL without */
	size_t key_bytes;
	const char *topic; /* or the file's name */
	int32_t partition;
	enum ing_lane lane;
};

struct ing_intake_events {
	void *ctx;
	/* A message of at most kafka.max_message_bytes, unparsed. */
	void (*on_message)(void *ctx, const struct ing_message *m);
	/* The epoch has ended: cancel the jobs of its tokens and discard their results. */
	void (*on_revoked)(void *ctx, int32_t partition_index, uint32_t epoch);
	/* partitions may be 0: an empty assignment. */
	void (*on_assigned)(void *ctx, unsigned partitions);
	/* Lines: end of input. Never called with Kafka. */
	void (*on_end)(void *ctx);
	/* Fatal error: no further message comes. The program should exit and be restarted. */
	void (*on_fatal)(void *ctx, const struct ing_error *err);
};

/* The topic of ING_LANE_REQUESTS must be configured. All topics may be created later. settings and
 * instance are not needed after the call. Returns -CONFIG or -SYSTEM. */
int ing_intake_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err) ING_MUST_CHECK;

/* fd (a pipe, terminal or file) stays the caller's. Lines over ING_MAX_REQUEST_BYTES are passed on
 * truncated to that length plus one byte, so that the receiver refuses them as too long. Returns
 * -SYSTEM. */
int ing_intake_lines_new(struct uv_loop_s *loop, int fd, const char *name,
	const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err) ING_MUST_CHECK;

void ing_intake_start(struct ing_intake *in);
/* The message's rows are committed and its result is delivered. */
void ing_intake_finish(struct ing_intake *in, struct ing_token t);
/* Backpressure: while a lane is paused none of its messages are passed to on_message(). May be
 * repeated; a lane without a topic is fine. */
void ing_intake_pause(struct ing_intake *in, enum ing_lane lane, bool paused);
/* No further message is taken (first SIGTERM). Tokens handed out before may still be finished, and are
 * committed. */
void ing_intake_stop(struct ing_intake *in);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_intake_stats(const struct ing_intake *in, struct ing_intake_stats *ret);
/* Commits what is finished, closes the consumer and frees; no event comes any more. Blocks for at most
 * 5 s. The loop must turn once more for libuv to close the handles. NULL is fine. */
void ing_intake_free(struct ing_intake *in);
