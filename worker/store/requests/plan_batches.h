/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_batches.h - plans as their sender sees them: how far they are, their batches, what has been sent, and the end of a plan
 * before its time. Each call is one statement outside of a transaction, which may be repeated on
 * a new connection when the answer is lost. No state. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/buf.h"
#include "common/data/pg.h"

#define ING_PLAN_NAME_BYTES 201
#define ING_PLAN_TOPIC_BYTES 250
#define ING_PLAN_LINEAGE_BYTES 37

struct ing_plan { /* as of enqueue_plan */
	char id[16];
	char name[ING_PLAN_NAME_BYTES], topic[ING_PLAN_TOPIC_BYTES],
		lineage[ING_PLAN_LINEAGE_BYTES];
	char *asked; /* heap; NULL: nothing */
	int64_t planned, begun, sent, requests, requests_sent;
};

/* ret: zero-initialised, or of an earlier call. *ret_found: there is one of this name. */
enum ing_pg_rc ing_plan_find(struct ing_pg *pg, const char *name, struct ing_plan *ret,
	bool *ret_found, struct ing_error *err) ING_MUST_CHECK;
void ing_plan_done(struct ing_plan *plan);

/* A batch's lines into *lines (emptied before), each with its end. *ret_requests 0: there is none of this number. */
enum ing_pg_rc ing_plan_read_batch(struct ing_pg *pg, const struct ing_plan *plan, int64_t batch,
	struct ing_buf *lines, unsigned *ret_requests, struct ing_error *err) ING_MUST_CHECK;
/* Batches before `end` may have been sent from now on. */
enum ing_pg_rc ing_plan_note_begun(struct ing_pg *pg, struct ing_plan *plan, int64_t end,
	struct ing_error *err) ING_MUST_CHECK;
/* Batches before `end` are sent: they are deleted. */
enum ing_pg_rc ing_plan_note_sent(struct ing_pg *pg, struct ing_plan *plan, int64_t end,
	struct ing_error *err) ING_MUST_CHECK;
/* The batches from plan->sent to plan->planned are deleted without having been sent, and their documents are no longer queued; what
 * has been planned since stays. *ret_requests: how many there were. */
enum ing_pg_rc ing_plan_abandon(struct ing_pg *pg, struct ing_plan *plan, uint64_t *ret_requests,
	struct ing_error *err) ING_MUST_CHECK;
