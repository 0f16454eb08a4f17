/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_checkpoint.h - the file that says how far a `reexamine` has come. One thread.
 *
 * It names the task, too: a file of another task is refused, because its place means nothing for this one.
 */
#pragma once
#include "common/base/error.h"
#include "worker/ctl/reexamine/reexamine.h"

/* Reads the file, if it is there: sets task->after, and *ret_finished when there is nothing left. Returns
 * 0, -ING_FAIL_USAGE for a file of another task, -ING_FAIL_SYSTEM, -ING_FAIL_SYNTAX. */
int ing_reexamine_checkpoint_read(const char *path, struct ing_reexamine_task *task,
	bool *ret_finished, struct ing_error *err) ING_MUST_CHECK;
/* Writes it anew, in one step: everything up to the digest `after` is done. */
int ing_reexamine_checkpoint_write(const char *path, const struct ing_reexamine_task *task,
	const char *after, bool finished, struct ing_error *err) ING_MUST_CHECK;
