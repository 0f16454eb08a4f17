/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * enqueue_plan.h - a selection of stored requests becomes batches of a plan: one database transaction, whatever their number,
 * so that a break leaves nothing of it. Memory is a batch and what the selection's reader keeps. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"

struct ing_selection;

struct ing_enqueue_plan { /* all borrowed */
	const char *verb, *dsn;
	const char *name, *topic;
	const struct ing_selection *selection;
	/* The command's own words for the selection: kept, to know the command by when it is repeated after a break. */
	const char *asked;
	bool force_recrawl; /* of each request */
	bool dry_run;       /* only count */
	bool quiet;
};

/* Error: as ing_selection_open() and ing_plan_writer_open(). */
int ing_enqueue_plan(const struct ing_enqueue_plan *p, uint64_t *ret_requests,
	struct ing_error *err) ING_MUST_CHECK;
