/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * self_run.h - another verb of ingestctl, with the same configuration, in a process of its own: it ends
 * with all its threads and helpers, whatever becomes of it. Blocks. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"
#include "worker/ctl/ctl.h"

/* Of standard input; a pipe holds it. */
#define ING_SELF_INPUT_BYTES ((size_t)32 << 10)

/* Runs `ingestctl args…` (args[0] is the verb; NULL-terminated). input: text of its standard input, or
 * NULL. What it prints goes to *ret (initialised), up to that one's ceiling. Returns 0 and its exit status in
 * *ret_code, or -ING_FAIL_SYSTEM, -ING_FAIL_TOO_BIG. */
int ing_ctl_run_self(const struct ing_ctl *ctl, const char *const *args, const char *input,
	struct ing_buf *ret, int *ret_code, struct ing_error *err) ING_MUST_CHECK;
