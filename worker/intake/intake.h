/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * intake.h - where requests come from: a Kafka consumer group (intake_kafka.c) or JSON lines
 * (intake_lines.c).
 *
 * One interface, loop thread only. Every message handed to on_message() carries a token; exactly
 * one ing_intake_finish() is owed for each token, unless the token's assignment was revoked, after
 * which finish() is harmless and ignored.
 *
 * Kafka: offsets are committed only up to the contiguous low-water mark of finished tokens per
 * partition; revocation and assignment are handled on the loop through the consumer's queue; the
 * epoch of a partition's assignment is part of the token, so what an old owner finishes is never
 * committed. A partition whose log turns out to be another one than was read (its topic made anew,
 * the log truncated) gets a new epoch, too, and is read from its start. Polling goes on while
 * paused.
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
	/* A message of at most kafka.max_message_bytes. The receiver decides whether it is
	 * readable. */
	void (*on_message)(void *ctx, const struct ing_message *m);
	/* The epoch of these tokens has ended: cancel their jobs; their results must not be
	 * sent. */
	void (*on_revoked)(void *ctx, int32_t partition_slot, uint32_t epoch);
	void (*on_assigned)(void *ctx,
		unsigned partitions); /* also with 0: an empty assignment is an assignment */
	void (*on_end)(void *ctx);    /* lines: input exhausted; never with Kafka */
	void (*on_fatal)(void *ctx,
		const struct ing_error *err); /* the consumer cannot go on: exit and be restarted */
};

/* The topic of ING_LANE_REQUESTS must be there; those of other lanes may appear (or not) while we
 * run. settings and instance are not needed after the call. */
int ing_intake_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err) ING_MUST_CHECK;

/* fd is read on the loop (a pipe, terminal or file) and stays the caller's. Lines over
 * ING_MAX_REQUEST_BYTES come through on_message cut to that length plus one byte, so that the
 * receiver refuses them like any other over-long message. */
int ing_intake_lines_new(struct uv_loop_s *loop, int fd, const char *name,
	const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err) ING_MUST_CHECK;

void ing_intake_start(struct ing_intake *in);
void ing_intake_finish(
	struct ing_intake *in, struct ing_token t); /* result delivered, rows committed */
/* Backpressure, a lane at a time: while paused no further on_message() of the lane comes, but the
 * group membership is kept. Idempotent; a lane without a topic is fine. */
void ing_intake_pause(struct ing_intake *in, enum ing_lane lane, bool paused);
/* Stop taking messages for good (first SIGTERM); tokens still owed may be finished and are
 * committed. */
void ing_intake_stop(struct ing_intake *in);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_intake_stats(const struct ing_intake *in, struct ing_intake_stats *ret);
/* Commit what is finished, close, free; no event comes any more. Blocks up to some seconds. Kafka:
 * membership is static, so the group keeps this worker's partitions for it until session.timeout.ms
 * has passed, and a restart within that time gets them back at once. The loop must turn once more,
 * for libuv closes handles there. NULL is fine. */
void ing_intake_free(struct ing_intake *in);
