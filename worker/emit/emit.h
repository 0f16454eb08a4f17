/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * emit.h - where results and side products go: Kafka topics (emit_kafka.c, idempotent producer) or
 * files (emit_lines.c). One interface, loop thread only.
 *
 * done() is called once per put, never from inside ing_emit_put(): with ok true after all in-sync
 * replicas have acknowledged the message, or the line is written. Transient errors are retried
 * without limit; ok is false only for a message that the broker will never accept (too large), or
 * that was not wanted any more when it was to be sent.
 *
 * The loop must turn once more after ing_emit_free() for libuv to close the handles.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/model/outputs.h"

struct uv_loop_s;
struct ing_emit;
struct ing_kafka_settings;

struct ing_emit_user {
	void (*done)(void *ctx, bool ok);
	/* Kafka: called right before the message is given to librdkafka; false drops it. NULL: always
	 * wanted. */
	bool (*wanted)(const void *ctx);
};

/* Creates topics that do not exist, with a fitting max.message.bytes, when the broker allows it.
 * settings and instance are copied. */
int ing_emit_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, void (*on_fatal)(void *ctx, const struct ing_error *err),
	void *fatal_ctx, struct ing_emit **ret, struct ing_error *err) ING_MUST_CHECK;
/* results go to results_fd (which stays the caller's) as JSON lines; the other outputs are appended
 * to their files (worker/model/outputs.def) in dir (NULL: dropped). Written by a thread of
 * its own. After the first write error every put is done(false), and the function set below is
 * called once with an error that names the file. */
int ing_emit_lines_new(struct uv_loop_s *loop, int results_fd, const char *dir,
	struct ing_emit **ret, struct ing_error *err) ING_MUST_CHECK;

/* Only for ing_emit_lines_new(): on_fatal() is called once, on the loop, when an output cannot be
 * written (EPIPE, ENOSPC …); nothing more is written then. Without it the error is only logged. */
void ing_emit_lines_on_fatal(
	struct ing_emit *e, void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx);

/* The largest value for this output, with room for key and headers. */
size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output topic);
/* Takes the value, copies key and headers. user, which outlives the message, is called with ctx. */
void ing_emit_put(struct ing_emit *e, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx);
/* What is put to this output is kept: its topic exists as far as we know, or it has a file. Messages of
 * others are dropped, but for those whose row says that their request is answered (done(false)). */
bool ing_emit_has(const struct ing_emit *e, enum ing_output output);
unsigned ing_emit_outstanding(const struct ing_emit *e);
/* Intake should stop: brokers down, topics not checked yet, or too many messages waiting. */
bool ing_emit_blocked(const struct ing_emit *e);
/* Flushes for at most 5 s and calls done() for what is acknowledged by then; there is no done() for the
 * rest. NULL is fine. */
void ing_emit_free(struct ing_emit *e);
