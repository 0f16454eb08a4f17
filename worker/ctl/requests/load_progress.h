/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_load_progress.h - what a load says of itself: on a terminal a line that is redrawn, on stderr, and the bad lines. Thread:
 * any, one at a time for each function but progress_words(), which keeps the line and what others print apart.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "worker/store/requests/load.h"

#define ING_LOAD_BAD_SHOWN 20

struct ing_load_progress {
	const char *input; /* its name */
	FILE *bad;         /* --bad; NULL: stderr has the first ING_LOAD_BAD_SHOWN */
	bool terminal;
	uint64_t started_ms, size;      /* bytes of the input; 0: not known */
	uint64_t first_bytes, first_ms; /* when it last went over what was stored before */
	pthread_mutex_t lock;
	uint64_t shown;
	bool bad_failed;
};

struct ing_load_state {
	uint64_t bytes, lines; /* read */
	struct ing_load_counts counts;
	bool blocked, folding;
};

void ing_load_progress_init(struct ing_load_progress *p, const char *input, int fd);
void ing_load_progress_done(struct ing_load_progress *p);
/* Draw the line, where there is a terminal. */
void ing_load_progress_draw(struct ing_load_progress *p, const struct ing_load_state *state);
void ing_load_progress_clear(struct ing_load_progress *p);
/* Any thread: print a line of words to stderr in the line's place. */
void ing_load_progress_words(struct ing_load_progress *p, const char *words);
/* Any thread: "LINE: reason" each with its end. */
void ing_load_progress_bad(struct ing_load_progress *p, const char *words, size_t bytes);
