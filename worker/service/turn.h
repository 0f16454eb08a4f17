/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * turn.h - what the turns of a loop cost: one that computes or waits for long keeps every transfer,
 * deadline and heartbeat of the worker waiting.
 *
 * A turn is all that runs between two waits for events. Two things are measured of it: the CPU time
 * of the loop's thread, and the time in which it was neither computing, nor waiting for events, nor
 * ready and waiting for a core: then it was blocked in a call. A turn with more than
 * ING_TURN_LONG_MS of either is counted, and logged (a line a minute at most).
 *
 * Owns: a prepare handle, which does not keep the loop alive, and what tests use: when the
 * environment says ING_TURN_LIMIT_MS=N (1 to 60000), whatever runs when a turn has computed, or
 * been blocked, for so long is named on stderr by its stack:
 *
 *     loop stalled: 100 ms of CPU time in one turn
 *     PROGRAM(FUNCTION+0x17) [0x55d0c0ffee17]
 *     …
 *     loop: end of the stack
 *
 * ("loop blocked: …" for a wait). That costs two signals' worth of set-up and a thread that looks
 * every few milliseconds; in production it is off.
 *
 * Thread: the loop's. About half a microsecond a turn.
 */
#pragma once
#include "common/base/error.h"
#include "worker/model/metrics.h"

struct uv_loop_s;
struct ing_turns;

#define ING_TURN_LONG_MS 100

/* Before the loop has first run. -SYSTEM: the loop cannot say how long it waits, or, in tests, no
 * timer can be had. -CONFIG: ING_TURN_LIMIT_MS is no such number. */
int ing_turns_new(
	struct uv_loop_s *loop, struct ing_turns **ret, struct ing_error *err) ING_MUST_CHECK;
/* Turns count from begin to end: directly around uv_run(), on its thread. Start-up and shutdown may
 * take what they need. */
void ing_turns_begin(struct ing_turns *t);
void ing_turns_end(struct ing_turns *t);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_turns_stats(const struct ing_turns *t, struct ing_turn_stats *ret);
/* NULL is fine. Run the loop once more: that frees the handle. */
void ing_turns_free(struct ing_turns *t);
