/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * child.h - looking into a file that may do harm: in a forked child, with limits, text coming back.
 *
 * The daemon's examiners are walled in far better. Here an operator has chosen the file and waits
 * for the answer, so what matters is that a crash, a hang or a bomb ends as a message.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"

/* Runs in the child: append what is to come back to out. */
typedef void ing_ctl_child_f(void *ctx, struct ing_buf *out);

#define ING_CTL_CHILD_BYTES ((size_t)64 << 20) /* of answer */

/* In a forked child: die with the parent, no core, bounded memory; cpu_s 0: no bound on CPU
 * time. */
void ing_ctl_child_limits(unsigned cpu_s);

/* Fork, run fn, collect its output into *ret (initialised here, the caller's on success).
 * Returns 0, -ING_FAIL_TIMEOUT, -ING_FAIL_CRASH, -ING_FAIL_TOO_BIG or -ING_FAIL_SYSTEM with
 * words in *err. */
int ing_ctl_child(ing_ctl_child_f *fn, void *ctx, unsigned timeout_ms, struct ing_buf *ret,
	struct ing_error *err) ING_MUST_CHECK;
