/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A position behind `sent` is of a topic that the plan was for before another, or Kafka has lost its newest: what the
 * database knows to be sent is not sent again.
 */
#include "worker/ctl/enqueue/start.h"

#include <string.h>

#include "worker/store/requests/plan_batches.h"

/* -------------------------------------------------------------------------------------------- */

enum ing_enqueue_start ing_enqueue_start(
	const struct ing_plan *plan, int64_t offset, const char *metadata, int64_t *ret_next)
{
	*ret_next = plan->sent;
	if (offset < 0)
		return plan->begun > plan->sent ? ING_START_LOST : ING_START_FIRST;
	if (strcmp(metadata, plan->lineage) != 0)
		return ING_START_OTHER;
	if (offset > plan->begun)
		return ING_START_BEYOND;
	*ret_next = ING_MAX(plan->sent, offset);
	return ING_START_AT;
}
