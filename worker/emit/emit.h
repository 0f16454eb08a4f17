/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * emit.h - where results and side products go: Kafka topics (emit_kafka.c) or files (emit_lines.c).
 * One interface, loop thread only.
 *
 * A record (ing_emit_commit()) is the message that answers a request. It is committed together with
 * the position of that request: with Kafka, exactly once, in one transaction; with Kafka, at least
 * once, acknowledged first, and intake commits the position later; with files, a line written.
 * Positions come from intake through ing_emit_wire().
 *
 * A side message (ing_emit_put()) belongs to no position: it is acknowledged by all in-sync
 * replicas before its record is committed. Sent twice it does no harm.
 *
 * Transient errors are retried without limit. Callbacks come on the loop, never from inside a call.
 * The loop must turn once more after ing_emit_free() for libuv to close the handles.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/model/metrics.h"
#include "worker/model/outputs.h"
#include "worker/model/positions.h"

struct uv_loop_s;
struct ing_emit;
struct ing_kafka_settings;

struct ing_emit_user {
	void (*done)(void *ctx, bool ok);
	/* Kafka: called right before the message is given to librdkafka; false drops it. NULL: always
	 * wanted. */
	bool (*wanted)(const void *ctx);
};

enum ing_emit_end {
	ING_EMIT_COMMITTED, /* the message is there, and its token finished or in a commit */
	ING_EMIT_REFUSED,   /* the broker will never take it; its token is not finished */
	ING_EMIT_DROPPED,   /* not committed: its token is not finished */
};

/* Embedded in its owner, who sets the members down to done; they stay as they are until done(). */
struct ing_emit_record {
	struct ing_token token;
	const struct ing_output_message *message; /* NULL: the position alone */
	bool urgent; /* somebody waits for it: its transaction does not wait for more */
	/* Once for each commit. The record is its owner's again and may be committed anew. */
	void (*done)(struct ing_emit_record *r, enum ing_emit_end end);

	/* emit's own. */
	struct ing_emit_record *prev, *next;
	uint64_t since_ms;
	uint8_t state;
	bool dropped;
};

/* Creates topics that do not exist, with a fitting max.message.bytes, when the broker allows it.
 * settings and instance are copied. */
int ing_emit_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, void (*on_fatal)(void *ctx, const struct ing_error *err),
	void *fatal_ctx, struct ing_emit **ret, struct ing_error *err) ING_MUST_CHECK;
/* results go to results_fd (which stays the caller's) as JSON lines; the other outputs are appended
 * to their files (worker/model/outputs.def) in dir (NULL: dropped). Written by a thread of
 * its own. After the first write error every put is done(false) and every record dropped, and the
 * function set below is called once with an error that names the file. */
int ing_emit_lines_new(struct uv_loop_s *loop, int results_fd, const char *dir,
	struct ing_emit **ret, struct ing_error *err) ING_MUST_CHECK;

/* Only for ing_emit_lines_new(): on_fatal() is called once, on the loop, when an output cannot be
 * written (EPIPE, ENOSPC …); nothing more is written then. Without it the error is only logged. */
void ing_emit_lines_on_fatal(
	struct ing_emit *e, void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx);

/* Before the first record. Copied; what it refers to outlives the emitter. */
void ing_emit_wire(struct ing_emit *e, const struct ing_positions_ops *positions);

/* The largest value for this output, with room for key and headers. */
size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output topic);
/* Takes the value, copies key and headers. user, which outlives the message, is called with ctx:
 * done() with ok true after all in-sync replicas have acknowledged the message, or the line is
 * written; ok is false only for a message that the broker will never accept (too large), or that was
 * not wanted any more when it was to be sent. */
void ing_emit_put(struct ing_emit *e, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx);
/* What is put to this output is kept: its topic exists as far as we know, or it has a file. Messages of
 * others are dropped, but for those whose row says that their request is answered (done(false)). */
bool ing_emit_has(const struct ing_emit *e, enum ing_output output);
/* Its token is of a current epoch. */
void ing_emit_commit(struct ing_emit *e, struct ing_emit_record *r);
/* The epoch is over (revoked), or everything is (cancelled): records of it end as ING_EMIT_DROPPED.
 * An open transaction that has one is aborted, and its others are produced again. A record whose
 * commit is on its way cannot be called back and may still end as ING_EMIT_COMMITTED. */
void ing_emit_drop(struct ing_emit *e, int32_t partition_index, uint32_t epoch);
void ing_emit_drop_all(struct ing_emit *e);
/* Messages and records that are not done. */
unsigned ing_emit_outstanding(const struct ing_emit *e);
/* Intake should stop: brokers down, topics not checked yet, transactions that do not get through,
 * or too many messages waiting. */
bool ing_emit_blocked(const struct ing_emit *e);
/* Why, as far as is known, valid until the next call; NULL: it is not. */
const char *ing_emit_trouble(const struct ing_emit *e);
/* Its rows of worker/model/metrics.def, as they are now. Of transactions only. */
void ing_emit_stats(const struct ing_emit *e, struct ing_emit_stats *ret);
/* Flushes for at most 5 s and calls done() for what is acknowledged or committed by then; there is no
 * done() for the rest, whose owner may not be freed before. Intake is freed after it. NULL is fine. */
void ing_emit_free(struct ing_emit *e);
