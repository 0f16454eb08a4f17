/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_progress.h - what a run says of itself on stderr: on a terminal a bar, else a line every
 * ING_RUN_SAY_MS as long as hosts hold it or nothing ends; and at the end how the requests ended.
 *
 * Reads the engine, changes nothing. Thread: loop only.
 */
#pragma once
#include <uv.h>
#include "common/base/buf.h"

struct ing_engine;

#define ING_RUN_SAY_MS 10000

struct ing_run_counts {
	uint64_t lines;      /* of the input; 0: not known */
	uint64_t results;    /* written by this run */
	uint64_t hits;       /* of them */
	uint64_t bad;        /* lines that are no requests */
	uint64_t had_result; /* left out: --resume */
	uint64_t was_bad;    /* likewise; not in bad */
};

struct ing_run_progress {
	const char *verb;
	const struct ing_engine *engine;     /* borrowed */
	const struct ing_run_counts *counts; /* borrowed */
	uv_timer_t timer;
	bool bar;
	uint64_t started_ms, waits_ms; /* when the run began; when `waits` was made */
	uint64_t finished;             /* requests when the last line was due */
	struct ing_buf waits;
};

/* Starts the timer on the engine's loop. */
void ing_run_progress_start(struct ing_run_progress *p, const char *verb, struct ing_engine *engine,
	const struct ing_run_counts *counts);
/* Closes it: the loop must turn once more. Harmless when it was not started. */
void ing_run_progress_stop(struct ing_run_progress *p);
/* For who writes something else to stderr: takes the bar away, until it is next drawn. */
void ing_run_progress_clear(const struct ing_run_progress *p);
/* How many requests ended how; nothing when there were none. */
void ing_run_progress_summary(const struct ing_run_progress *p);
