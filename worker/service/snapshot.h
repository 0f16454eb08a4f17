/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * snapshot.h - the state of a worker at one moment, as others than its loop may see it: made on the
 * loop each second, handed over by a mailbox (mailbox.h), owned by whoever took it.
 *
 * Plain data. Thread: the owner's.
 */
#pragma once
#include <stdbool.h>
#include "worker/model/metrics.h"

#define ING_SNAPSHOT_MS 1000 /* from one to the next */
/* So long after somebody has asked for the state of hosts it is part of each snapshot. */
#define ING_SNAPSHOT_ASKED_MS 60000

/* What a worker needs to do its work. */
enum ing_ready_check {
	ING_READY_PARTITIONS,
	ING_READY_BROKERS,
	ING_READY_DATABASE,
	ING_READY_DISK,
	ING_READY_EXAMINERS,
	ING_READY_CHECKS_
};
const char *ing_ready_name(enum ing_ready_check check); /* "database"; static */

struct ing_snapshot {
	struct ing_metrics metrics;
	/* Of each check what is wrong; "" when nothing is. */
	char wrong[ING_READY_CHECKS_][120];
	bool detailed; /* somebody had asked: status has the hosts, too */
	char *status;  /* schemas/worker-status.schema.json, heap; NULL: not known */
};

struct ing_snapshot *ing_snapshot_new(void); /* all zero */
/* Of struct ing_mailbox, so void. NULL is fine. */
void ing_snapshot_free(void *snapshot);
bool ing_snapshot_is_ready(const struct ing_snapshot *s);
