/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_parked.h - requests that a run has parked (worker/model/tier.h), in files of its folder: emit
 * appends to them, here they are read back when they are due.
 *
 * A file is a tier, whose front is the first that is due, as a topic of the daemon is. Of each file
 * the front is in memory, no more. What an earlier run of the folder has left there is not read back:
 * its requests are in the input, too. With --resume what it says of them is kept in memory (150 bytes
 * each) and goes with them, so that tries are counted and nothing comes back before it is due.
 *
 * Owns: the files, which are removed when all requests are done. Thread: the loop's. Reading blocks,
 * as these are files that were written just before.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"
#include "worker/model/parked.h"
#include "worker/model/tier.h"

struct ing_message;
struct ing_run_parked;

struct ing_run_parked_user {
	/* A message may be given out. */
	bool (*takes)(void *ctx);
	void (*give)(void *ctx, const struct ing_message *m);
	/* A file cannot be read. */
	void (*failed)(void *ctx, const struct ing_error *err);
	void *ctx;
};

/* The files are there: emit has opened them. -SYSTEM. */
int ing_run_parked_open(const char *dir, bool resume, struct ing_run_parked **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_run_parked_free(struct ing_run_parked *p); /* NULL is fine */
/* Another one is in its file, whole. */
void ing_run_parked_added(struct ing_run_parked *p, enum ing_tier tier);
/* Gives out what is due. To be called now and then. */
void ing_run_parked_serve(struct ing_run_parked *p, const struct ing_run_parked_user *user);
bool ing_run_parked_is_empty(const struct ing_run_parked *p);
/* What an earlier run says of a request of the input. Each entry is returned once; its texts are valid
 * until the next call. False: nothing. */
bool ing_run_parked_restore(
	struct ing_run_parked *p, const char *line, size_t bytes, struct ing_parked *ret);
void ing_run_parked_remove(const char *dir); /* the files */
