/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * claim.h - partitions become ours (partition_owner), and what earlier owners left uncommitted in
 * result_outbox comes back.
 *
 * Owns: a database thread of its own (common/data/pg_thread.h), so that a claim neither waits
 * behind a batch nor holds one up while it waits for the batch of a worker that stands still. The
 * claims are intake's; the thread works on copies, so that only the loop touches them. All
 * functions: loop.
 *
 * Each claim raises the fence, also when it is repeated because the answer was lost. Whoever finds
 * itself fenced (ING_STORE_FENCED, superseded) while its assignment holds must claim again: the
 * last claim need not be that of the group's present member.
 */
#pragma once
#include "common/base/error.h"

struct uv_loop_s;
struct ing_claim;
struct ing_claims;
struct ing_upkeep;

/* upkeep is told of claims, and gets the rows that recover() finds finished. Error: as
 * ing_pg_thread_new(). */
int ing_claims_new(struct uv_loop_s *loop, const char *dsn, struct ing_upkeep *upkeep,
	struct ing_claims **ret, struct ing_error *err) ING_MUST_CHECK;
/* Claims under way are dropped: done() is not called. NULL is fine. */
void ing_claims_free(struct ing_claims *claims);
/* Why none is carried out, valid until the next call; NULL: they are. */
const char *ing_claims_trouble(const struct ing_claims *claims);

/* As in struct ing_claim_ops (worker/model/positions.h). */
void ing_claims_claim(struct ing_claims *claims, struct ing_claim *c);
void ing_claims_recover(struct ing_claims *claims, struct ing_claim *c);
void ing_claims_cancel(struct ing_claims *claims, struct ing_claim *c);
