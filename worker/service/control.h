/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * control.h - a socket in state.dir by which operators on this machine ask a running worker
 * (STATE_DIR/INSTANCE.sock, mode 0600, and whoever is neither root nor the worker's own user is refused
 * whatever the mode has become): one JSON object in a line in, one in a line out, then the
 * connection is closed.
 *
 * Owns: the listening socket and its connections. Thread: loop only. What the requests are is the
 * handler's business; what is no JSON object, or too long, is answered {"error": words} without it.
 * Bounds: ING_CONTROL_CONNECTIONS at a time (the next wait in the kernel's queue), each for
 * ING_CONTROL_TIMEOUT_MS from request to answer, and dropped then; a request of
 * ING_CONTROL_REQUEST_BYTES, kept as it comes.
 */
#pragma once
#include "common/base/error.h"
#include "common/data/json.h"

struct uv_loop_s;
struct ing_control;

#define ING_CONTROL_REQUEST_BYTES ((size_t)64 << 10) /* honest ones have a few hundred */
#define ING_CONTROL_CONNECTIONS 16
#define ING_CONTROL_TIMEOUT_MS 5000
#define ING_CONTROL_ANSWER_BYTES ((size_t)16 << 20) /* what a client takes */

/* Answers a request; both are objects. Never NULL. The caller frees the answer. */
typedef json_t *ing_control_f(void *ctx, const json_t *request);

/* Listen at path, however long it is. Whatever socket is there is replaced: the caller makes sure
 * (by the lock on the instance's name) that it is a dead process's. -SYSTEM: the folder cannot be
 * written to, or something that is no socket has the name. */
int ing_control_new(struct uv_loop_s *loop, const char *path, ing_control_f *handler, void *ctx,
	struct ing_control **ret, struct ing_error *err) ING_MUST_CHECK;
/* Stop listening, drop the connections, remove the socket if it is still ours; NULL is fine. Run
 * the loop once more. */
void ing_control_free(struct ing_control *c);

/* For clients (ingestctl), blocking: *ret is the answer, the caller's. -UNAVAILABLE: no worker
 * listens there, or it stopped before it answered; -TIMEOUT; -SYNTAX, -TOO_BIG: that was no answer;
 * -SYSTEM: the socket is another user's. */
int ing_control_ask(const char *path, const json_t *request, unsigned timeout_ms, json_t **ret,
	struct ing_error *err) ING_MUST_CHECK;
