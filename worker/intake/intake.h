/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * intake.h - where requests come from: a Kafka consumer group (intake_kafka.c) or JSON lines
 * (intake_lines.c).
 *
 * Loop thread only. Every message passed to on_message() carries a token, which is to be finished
 * once: by ing_intake_finish(), or by a commit of its position (ing_intake_positions_ops()). After the
 * token's assignment was revoked both are ignored.
 *
 * Kafka: a position is the offset below which all messages of its partition are finished; which ones
 * beyond it are, is kept in the metadata of its commit (position_map.h), so that they are not read
 * again. The token holds the epoch of the partition's assignment, so that what an earlier assignment
 * finishes is never committed. A partition whose log has changed (topic recreated, log truncated)
 * gets a new epoch too and is read from its start. The consumer is polled while lanes are paused.
 *
 * Who commits positions: at least once, intake, with what was finished. Exactly once, emit, in the
 * transaction of the messages that answer; intake then commits only the position at which a new group
 * begins, or one that has to go back.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/model/lane.h"
#include "worker/model/metrics.h"
#include "worker/model/positions.h"
#include "worker/model/settings.h"

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
	enum ing_lane lane;   /* of a parked message that of the topic it came from */
	int64_t timestamp_ms; /* Kafka's; -1: none */
	/* Borrowed during the call. At most ING_INTAKE_MAX_HEADERS, further ones are left out. */
	const struct ing_header *headers;
	size_t header_count;
	/* NULL, or what answers it already: the rows are in PostgreSQL, but its position was not
	 * committed. It only has to be committed; nothing is fetched. Borrowed during the call. When
	 * the message itself has expired, value and key are empty. */
	const struct ing_answer *answer;
};

/* Parked requests have seven at most; more than these no program of ours writes. */
#define ING_INTAKE_MAX_HEADERS 32

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
 * instance are not needed after the call. claims: the store's, or NULL when there is no database.
 * Returns -CONFIG or -SYSTEM. */
int ing_intake_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, const struct ing_claim_ops *claims,
	const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err) ING_MUST_CHECK;

/* fd (a pipe, terminal or file) stays the caller's. Lines over ING_MAX_REQUEST_BYTES are passed on
 * truncated to that length plus one byte, so that the receiver refuses them as too long. Returns
 * -SYSTEM. */
int ing_intake_lines_new(struct uv_loop_s *loop, int fd, const char *name,
	const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err) ING_MUST_CHECK;

void ing_intake_start(struct ing_intake *in);
/* The message's rows are committed, and its result is delivered without a commit of its position, or
 * there is nothing to deliver. */
void ing_intake_finish(struct ing_intake *in, struct ing_token t);
/* For emit. Lines have only finish(). */
struct ing_positions_ops ing_intake_positions_ops(struct ing_intake *in);
/* Of a message that is not finished. Returns false, and sets nothing, when the token's epoch is over,
 * and for lines. Group and topic are valid until ing_intake_free(). */
bool ing_intake_source(const struct ing_intake *in, struct ing_token t, struct ing_source *ret);
/* The store has refused to write for this token, as the partition has another owner since. While
 * Kafka says that it is ours, it is claimed again after a few seconds, under a new epoch: the other
 * claim was late, of an assignment that is over. */
void ing_intake_fenced(struct ing_intake *in, struct ing_token t);
/* Backpressure: while a lane is paused none of its messages are passed to on_message(). May be
 * repeated; a lane without a topic is fine. */
void ing_intake_pause(struct ing_intake *in, enum ing_lane lane, bool paused);
/* An operator has ordered that a lane is not read: as pause, but for messages of it that are parked. They are passed on,
 * for else they would hold those of the other lanes behind them; the receiver parks them again. */
void ing_intake_hold_lane(struct ing_intake *in, enum ing_lane lane, bool held);
/* Leave the group: positions are committed, what is not finished is cancelled, and the partitions go to the other
 * members. Before ing_intake_start(): none is joined. May be repeated. Of lines nothing happens, as for the lanes
 * above. */
void ing_intake_leave(struct ing_intake *in);
/* Join it again. */
void ing_intake_join(struct ing_intake *in);
/* It has left, and has no partitions any more. */
bool ing_intake_is_away(const struct ing_intake *in);
/* No further message is taken (first SIGTERM). Tokens handed out before may still be finished, and are
 * committed. */
void ing_intake_stop(struct ing_intake *in);
/* Why the brokers cannot be reached, as far as is known: errors are reported at intervals, so it may be said for
 * a while when they are back. Valid until the next call; NULL: they can. */
const char *ing_intake_trouble(const struct ing_intake *in);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_intake_stats(const struct ing_intake *in, struct ing_intake_stats *ret);
/* Commits what is finished, closes the consumer and frees; no event comes any more. Blocks for at most
 * 5 s. Commits that were begun by ing_intake_positions_ops() must have ended, and claims must still be
 * valid. The loop must turn once more for libuv to close the handles. NULL is fine. */
void ing_intake_free(struct ing_intake *in);
