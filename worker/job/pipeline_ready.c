/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries of megabytes, which take milliseconds each to be made, one after the other: many jobs may end in one
 * turn of the loop, as their exchanges come to disk together and their deadlines pass together. Loop thread.
 */
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/job/pipeline_priv.h"

/* A job that keeps less is delivered at once. */
#define BIG_BYTES ((size_t)64 << 10)
/* Kept by the jobs that are delivered in one turn; a single one may have more. */
#define TURN_BYTES ((size_t)1 << 20)
/* A turn that has taken longer leaves them to the next one, but not more often than this. */
#define LONG_NS 5000000u
#define MAX_LONG_TURNS 3u

/* Called directly before the loop looks for events: a turn begins. */
static void on_turn(uv_prepare_t *turn)
{
	struct ing_pipeline *p = turn->data;
	p->turn_began_ns = ing_thread_cpu_ns();
}

/* A turn in which megabytes came from an examiner is long already. All of them are when there is much to do. */
static bool has_room(struct ing_pipeline *p)
{
	if (p->turn_began_ns == 0)
		return false;
	bool is_long = ing_thread_cpu_ns() - p->turn_began_ns > LONG_NS;
	p->long_turns = is_long && p->long_turns < MAX_LONG_TURNS ? p->long_turns + 1 : 0;
	return p->long_turns == 0;
}

/* Called at the end of a turn. */
static void on_delivering(uv_idle_t *delivering)
{
	struct ing_pipeline *p = delivering->data;
	if (!has_room(p))
		return;
	for (size_t bytes = 0; p->ready != NULL && bytes < TURN_BYTES;) {
		struct ing_job *job = p->ready->job;
		bytes += job->work->derived_bytes;
		ing_job_leave_turn(job);
		ing_job_deliver(job);
	}
	if (p->ready != NULL)
		return;
	uv_idle_stop(&p->delivering);
	uv_prepare_stop(&p->turn);
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
	if (uv_is_active((uv_handle_t *)&p->delivering))
		return;
	p->turn_began_ns = 0;
	uv_idle_start(&p->delivering, on_delivering);
	uv_prepare_start(&p->turn, on_turn);
}

void ing_job_leave_turn(struct ing_job *job)
{
	struct ing_work *w = job->work;
	if (w == NULL || !w->is_ready)
		return;
	w->is_ready = false;
	DL_DELETE2(job->pipeline->ready, w, prev_ready, next_ready);
}
