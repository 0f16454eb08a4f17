/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_input.h - the input of a run, which may be compressed, a list of URLs or another list (worker/seeds): request
 * lines come out of a descriptor.
 *
 * A file of request lines that is not compressed, and a terminal, are that descriptor themselves. Everything else is read
 * by a thread of its own and comes through a pipe. Without a source the first line that is neither blank nor a comment
 * decides: one that begins with http:// or https:// makes it a list of URLs; anything else is request lines. The same
 * input gives the same lines, so that a run can be resumed.
 *
 * Records that cannot be read, and an input that ends early, are named on stderr by the thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_seed_source;

#define ING_RUN_INPUT_SETTINGS 32

struct ing_run_input_plan {
	const char *name; /* of the file, for messages */
	int fd;           /* borrowed; what it points to is read up to no particular place */
	const char *dir;  /* seedlists.dir */
	struct ing_seed_source *source; /* NULL: none; taken */
	const char *const
		*settings; /* of the source, or of a list of URLs: NAME=VALUE, NULL-terminated */
	bool quiet;        /* nothing but what is wrong */
};

struct ing_run_input;

/* Returns 0; *ret is NULL when the plan's own descriptor is to be read. -USAGE: settings, and the input has requests already; or
 * -SYSTEM. */
int ing_run_input_open(struct ing_run_input_plan *plan, struct ing_run_input **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Readable: request lines. */
int ing_run_input_fd(const struct ing_run_input *in);
/* The rest of it could not be read, which has been said. NULL is fine. */
bool ing_run_input_failed(const struct ing_run_input *in);

struct ing_run_input_end {
	uint64_t bad; /* records that could not be read */
	bool failed;
};
/* Nothing more is wanted; the descriptor is closed. NULL is fine. A thread that waits for input is left alone: the process is
 * about to end. */
struct ing_run_input_end ing_run_input_close(struct ing_run_input *in);
