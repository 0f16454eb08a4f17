/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * control.h - a socket in state.dir by which operators on this machine ask a running worker
 * (STATE_DIR/INSTANCE.sock, mode 0600): one JSON object in a line in, one in a line out, then the
 * connection is closed.
 *
 * Owns: the listening socket and its connections, of which it serves a few at a time, each for a
 * few seconds and a few KiB of question at most. Thread: loop only. What the questions are is the
 * handler's business.
 */
#pragma once
#include <jansson.h>
#include "common/base/error.h"

struct uv_loop_s;
struct ing_control;

/* Answers a question; both are objects. Never NULL. The caller frees the answer. */
typedef json_t *ing_control_f(void *ctx, const json_t *question);

/* A socket left by a dead process is replaced. -SYSTEM (path too long for a socket, folder not
 * writable). */
int ing_control_new(struct uv_loop_s *loop, const char *path, ing_control_f *handler, void *ctx,
	struct ing_control **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_control_free(
	struct ing_control *c); /* NULL is fine; removes the socket; run the loop once more */

/* For clients (ingestctl), blocking: *ret is the answer, the caller's. -UNAVAILABLE when no worker
 * listens there. */
int ing_control_ask(const char *path, const json_t *question, unsigned timeout_ms, json_t **ret,
	struct ing_error *err) ING_MUST_CHECK;
