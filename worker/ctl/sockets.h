/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sockets.h - the control sockets of the workers on this machine: those in state.dir, and those in folders directly below
 * it, as service units give each instance a folder of its own (/var/lib/ingest-worker/INSTANCE).
 *
 * A socket at which nobody listens is what a dead worker left. Thread: any; the caller frees the list.
 */
#pragma once
#include <stddef.h>

#include "common/base/error.h"
#include "common/base/macros.h"

struct ing_ctl_sockets {
	char **paths; /* sorted */
	size_t count;
};

/* Lists at most 256. A folder below that cannot be read is left out.
 * Returns 0 also when there is no such folder; -SYSTEM: state_dir cannot be read. */
int ing_ctl_sockets_find(
	const char *state_dir, struct ing_ctl_sockets *ret, struct ing_error *err) ING_MUST_CHECK;

void ing_ctl_sockets_done(struct ing_ctl_sockets *s);
