/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * progress.h - how far a command is that works through something countable: on a terminal a line that is drawn anew, else a
 * line now and then. stderr. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ing_progress {
	const char *verb, *what; /* "requests sent"; borrowed */
	uint64_t total;          /* 0: not known; may be set at any time */
	bool quiet, bar;
	bool drawn; /* something stands on the terminal's line */
	uint64_t started_ms, said_ms;
	uint64_t rate_ms, rate_count; /* when a moment ago was, and how many there were */
	double rate;                  /* a second, of late; below 0: not known yet */
};

void ing_progress_start(
	struct ing_progress *p, const char *verb, const char *what, uint64_t total, bool quiet);
/* Often. waits_for: what it stands still for; NULL: it goes on. */
void ing_progress_tick(struct ing_progress *p, uint64_t done, const char *waits_for);
/* Before something else is written to stderr. */
void ing_progress_clear(struct ing_progress *p);
/* Of the whole time, at its end. */
double ing_progress_mean_rate(const struct ing_progress *p, uint64_t done);
/* The words of a line. Pure. */
struct ing_buf;
void ing_progress_words(
	const struct ing_progress *p, uint64_t done, const char *waits_for, struct ing_buf *out);
/* Append a time in seconds for people: "2 d 3 h", "5 min". Pure. */
void ing_progress_add_duration(uint64_t s, struct ing_buf *out);
