/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fold.h - adds up what the triggers have counted (fold_counts() of the schema), now and then and in small parts, between
 * batches and in a transaction of its own.
 *
 * Owns nothing. Database thread. Whoever asks for counts sees them exactly whether they are folded or not, only slower: so what goes
 * wrong here waits, and blocks nothing.
 */
#pragma once
#include "common/base/log.h"
#include "common/data/pg.h"

struct ing_fold {
	unsigned most;   /* differences at a time */
	uint64_t due_ms; /* not before */
	bool wanted;     /* something was counted since it was last done */
	struct ing_log_throttle failed_gate;
};

void ing_fold_init(struct ing_fold *f);
/* A batch was written. */
void ing_fold_want(struct ing_fold *f);
/* How long until it should be done; -1: there is nothing to do. */
int ing_fold_wait_ms(const struct ing_fold *f);
/* For ing_pg_thread_run(), ctx is a struct ing_fold. OK also when it failed but for the connection. */
enum ing_pg_rc ing_fold_write(struct ing_pg *pg, void *ctx, struct ing_error *err);
