/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * enqueue.h - planning and sending together: what `requests enqueue` does with a selection, and `reingest` with a job's.
 *
 * What an earlier run has planned is sent first. If that run was asked for the same, nothing more is planned: a
 * command that is repeated after a break ends with the messages of one that was not broken. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ing_conf;
struct ing_selection;

struct ing_enqueue { /* all borrowed */
	const char *verb, *brokers;
	const struct ing_conf *conf;
	const char *name, *topic;
	const struct ing_selection *selection; /* NULL: only what is planned is sent */
	const char *asked; /* the selection in words, for repetitions to be known */
	uint64_t max_lag;  /* 0: no limit */
	bool force_recrawl, dry_run, take_over, quiet;
};

/* Returns the exit code; what was done, and what is wrong, has been said on stderr. A dry run prints the number on stdout. */
int ing_enqueue_run(const struct ing_enqueue *e);
/* Drops what is planned and not sent. Returns the exit code. */
int ing_enqueue_drop(const struct ing_enqueue *e);
