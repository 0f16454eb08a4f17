/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators' orders (fleet/orders.h) in the pipeline. Loop thread.
 *
 * A pause of the instance holds the gate; that of a host or a lane is kept by the visits (visit_orders.c), and a
 * drained host by pipeline_park.c. Here: which lanes are read, whose time stands still, and when an
 * instance that is drained has finished.
 */
#include <utlist.h>

#include "worker/deliver/deliver.h"
#include "worker/fleet/orders.h"
#include "worker/job/pipeline_priv.h"

static bool is_pause(const struct ing_order *order)
{
	return order != NULL && order->action == ING_ACTION_PAUSE;
}

/* It waits for something that may take long, and for nothing else. */
static bool waits_long(struct ing_job *job)
{
	return (job->state == ING_JOB_WAITING || job->state == ING_JOB_GATED) &&
	       ing_job_waits_for_hold(job) && !ing_job_owes(job);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_pipeline_is_paused(const struct ing_pipeline *p, enum ing_lane lane)
{
	return is_pause(ing_orders_instance(p->stages.orders)) ||
	       is_pause(ing_orders_lane(p->stages.orders, lane));
}

bool ing_pipeline_leaves_lane(const struct ing_pipeline *p, enum ing_lane lane)
{
	return ing_orders_instance(p->stages.orders) != NULL ||
	       ing_orders_lane(p->stages.orders, lane) != NULL;
}

bool ing_job_is_ordered_to_wait(struct ing_job *job)
{
	return ing_pipeline_is_paused(job->pipeline, (enum ing_lane)job->lane) ||
	       ing_job_waits_for_order(job);
}

uint64_t ing_job_accepted_ms(const struct ing_visit *v)
{
	const struct ing_job *job;
	ING_CAST_OBJ(job, v->ctx, ING_JOB_MAGIC);
	return job->accepted_ms;
}

void ing_pipeline_on_orders(struct ing_pipeline *p)
{
	for (int i = 0; i < ING_LANES_ && p->stages.intake != NULL; i++)
		ing_intake_hold_lane(p->stages.intake, (enum ing_lane)i,
			ing_orders_lane(p->stages.orders, (enum ing_lane)i) != NULL);
	ing_visits_on_orders(p->stages.visits);
	ing_pipeline_balance(p);
}

bool ing_pipeline_is_drained(struct ing_pipeline *p)
{
	const struct ing_deliver_load *load = ing_deliver_load(p->stages.deliver);
	if (load->results + load->parked + load->dead_letters > 0 || p->suspects != NULL)
		return false;
	for (size_t i = 0; i < p->slot_count; i++) {
		struct ing_job *job;
		DL_FOREACH (p->jobs[i], job)
			if (!waits_long(job))
				return false;
	}
	return true;
}
