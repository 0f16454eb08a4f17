/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * upkeep.h - what is to be done in result_outbox and partition_owner once positions are committed:
 * rows deleted, low waters brought up to date. It goes with a batch, or by itself when none comes.
 *
 * Owns copies of what it was given. The functions of the first group are the loop's, those of the
 * second the database thread's. Losing it does no harm: at the next claim of a partition its
 * committed rows are deleted (claim.h), and low waters serve when the brokers have lost theirs.
 */
#pragma once
#include "common/data/pg.h"

struct ing_claim;
struct ing_positions;
struct ing_source;
struct ing_upkeep;

/* wake() is called by the loop when there was nothing to do before: the thread may be waiting
 * without end. */
struct ing_upkeep *ing_upkeep_new(void (*wake)(void *ctx), void *ctx);
void ing_upkeep_free(struct ing_upkeep *u); /* NULL is fine */

void ing_upkeep_prune(struct ing_upkeep *u, const struct ing_source *source);
/* Positions of partitions that were never claimed are ignored. */
void ing_upkeep_committed(struct ing_upkeep *u, const struct ing_positions *p);
/* Its partition is ours from now on. */
void ing_upkeep_claimed(struct ing_upkeep *u, const struct ing_claim *c);

/* How long until it should be done without a batch; -1: there is nothing to do. */
int ing_upkeep_wait_ms(struct ing_upkeep *u);
/* In an open transaction, before it checks fences: at most max_rows deletions, and, at most once a
 * second, the low waters. Afterwards written(): the transaction has committed, or has not. */
enum ing_pg_rc ing_upkeep_write(struct ing_upkeep *u, struct ing_pg *pg, size_t max_rows,
	struct ing_error *err) ING_MUST_CHECK;
/* Returns how many rows were asked to be deleted. */
size_t ing_upkeep_written(struct ing_upkeep *u, bool committed);
