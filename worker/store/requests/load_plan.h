/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * load_plan.h - what of a batch of a load is planned for a topic, in the batch's transaction. No state; the connection's thread.
 */
#pragma once
#include "common/base/error.h"
#include "common/data/pg.h"

struct ing_load_plan { /* borrowed */
	const char *name, *topic;
};

/* Plan (plan.h) the requests that stand in stage_load and are stored, if their documents were never queued and have no result, each host spread
 * evenly over the batch. The last statements before COMMIT. CONFLICT and others: as of a statement. REFUSED: the plan is for another topic. */
enum ing_pg_rc ing_load_plan_write(
	struct ing_pg *pg, const struct ing_load_plan *plan, struct ing_error *err) ING_MUST_CHECK;
