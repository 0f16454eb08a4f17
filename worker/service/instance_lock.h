/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * instance_lock.h - a lock on an instance name, so that no two workers of one state.dir have the
 * same: DIR/INSTANCE.lock, held until the process ends. Any thread.
 */
#pragma once
#include "common/base/error.h"

/* Create dir if it is missing, and take the lock. *ret_fd holds it (close()). -LOCKED when another
 * process has it; -CONFIG, -SYSTEM and others when the file cannot be opened or locked. */
int ing_instance_lock(
	const char *dir, const char *instance, int *ret_fd, struct ing_error *err) ING_MUST_CHECK;
