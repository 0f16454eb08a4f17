/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Making and freeing snapshots, and the names of what is checked.
 */
#include "worker/service/snapshot.h"

#include <stdlib.h>

#include "common/base/macros.h"

/* -------------------------------------------------------------------------------------------- */

const char *ing_ready_name(enum ing_ready_check check)
{
	static const char *const names[ING_READY_CHECKS_] = {
		[ING_READY_PARTITIONS] = "partitions",
		[ING_READY_BROKERS] = "brokers",
		[ING_READY_DATABASE] = "database",
		[ING_READY_DISK] = "disk",
		[ING_READY_EXAMINERS] = "examiners",
	};
	return names[check];
}

struct ing_snapshot *ing_snapshot_new(void)
{
	return ing_alloc(sizeof(struct ing_snapshot));
}

void ing_snapshot_free(void *snapshot)
{
	struct ing_snapshot *s = snapshot;
	if (s == NULL)
		return;
	free(s->status);
	free(s);
}

bool ing_snapshot_is_ready(const struct ing_snapshot *s)
{
	for (int i = 0; i < ING_READY_CHECKS_; i++)
		if (s->wrong[i][0] != '\0')
			return false;
	return true;
}
