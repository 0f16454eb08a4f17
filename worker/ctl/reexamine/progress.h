/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_progress.h - how far, how fast, how long still: on a terminal a line that is drawn anew, else a
 * line now and then. stderr. One thread.
 *
 * Digests are spread evenly, so that a digest says which part of the slice is done; nothing is counted.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/ctl/reexamine/reexamine.h"

struct ing_reexamine_progress {
	const struct ing_reexamine_task *task;     /* borrowed */
	const struct ing_reexamine_counts *counts; /* borrowed */
	bool bar;
	uint64_t started_ms, said_ms;
	uint64_t rate_ms, rate_count; /* when a moment ago was, and how many there were */
	double rate;                  /* documents a second, of late */
};

void ing_reexamine_progress_start(struct ing_reexamine_progress *p,
	const struct ing_reexamine_task *task, const struct ing_reexamine_counts *counts);
/* Often. done_upto: as of struct ing_reexamine_work. blocked_by: what it waits for, or NULL. */
void ing_reexamine_progress_tick(
	struct ing_reexamine_progress *p, const char *done_upto, const char *blocked_by);
/* Before something else is written to stderr. */
void ing_reexamine_progress_clear(const struct ing_reexamine_progress *p);
/* The part of the task that is done, from 0 to 1. Pure. */
double ing_reexamine_share(const struct ing_reexamine_task *task,
	const struct ing_reexamine_counts *counts, const char *done_upto);
