/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries of megabytes, which take milliseconds each to be made, one after the other: many jobs may end in one
 * turn of the loop, as their exchanges come to disk together and their deadlines pass together. Loop thread.
 */
#include <utlist.h>

#include "worker/job/pipeline_priv.h"

/* A job that keeps less is delivered at once. */
#define BIG_BYTES ((size_t)64 << 10)
/* Kept by the jobs that are delivered in one turn; a single one may have more. */
#define TURN_BYTES ((size_t)1 << 20)

/* libuv calls it before it waits for events: the first time within the turn in which the first job got ready, which
 * may have computed for long already. */
static void on_delivering(uv_idle_t *delivering)
{
	struct ing_pipeline *p = delivering->data;
	if (!p->has_turn) {
		p->has_turn = true;
		return;
	}
	for (size_t bytes = 0; p->ready != NULL && bytes < TURN_BYTES;) {
		struct ing_job *job = p->ready->job;
		bytes += job->work->derived_bytes;
		ing_job_leave_turn(job);
		ing_job_deliver(job);
	}
	if (p->ready == NULL)
		uv_idle_stop(delivering);
}

/* -------------------------------------------------------------------------------------------- */

void ing_job_deliver_in_turn(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	struct ing_work *w = job->work;
	if (w->derived_bytes < BIG_BYTES) {
		ing_job_deliver(job);
		return;
	}
	ing_must(!w->is_ready);
	w->is_ready = true;
	DL_APPEND2(p->ready, w, prev_ready, next_ready);
	if (!uv_is_active((uv_handle_t *)&p->delivering))
		p->has_turn = false;
	uv_idle_start(&p->delivering, on_delivering);
}

void ing_job_leave_turn(struct ing_job *job)
{
	struct ing_work *w = job->work;
	if (w == NULL || !w->is_ready)
		return;
	w->is_ready = false;
	DL_DELETE2(job->pipeline->ready, w, prev_ready, next_ready);
}
