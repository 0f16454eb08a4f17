/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The end of the loop: when everything is finished, or when the time for it is over. Whether it is
 * finished is looked up at short intervals, as several stages and threads have a part in it.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine_priv.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/visit/robots_fetch.h"

#define POLL_MS 10

static bool is_finished(const struct ing_engine *e)
{
	return ing_engine_idle(e) && ing_emit_outstanding(e->outside.emit) == 0;
}

static void cancel(struct ing_engine *e)
{
	ing_log(ING_LOG_WARNING,
		"stopping: the time limit has passed, cancelling what is unfinished");
	e->cancelled = true;
	e->stop_by_ms = ing_now_ms() + ING_ENGINE_CANCEL_MS;
	ing_pipeline_cancel(e->pipeline);
	ing_robots_fetches_cancel(e->robots_fetches);
}

static void on_poll(uv_timer_t *timer)
{
	struct ing_engine *e = timer->data;
	if (ing_pipeline_idle(e->pipeline))
		ing_robots_fetches_cancel(e->robots_fetches); /* no request waits for them */
	bool late = e->stop_by_ms > 0 && ing_now_ms() >= e->stop_by_ms;
	if (is_finished(e) || (late && e->cancelled))
		uv_stop(&e->loop);
	else if (late)
		cancel(e);
}

static void start_polling(struct ing_engine *e)
{
	uv_timer_start(&e->stop_timer, on_poll, 0, POLL_MS);
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_init_stop(struct ing_engine *e)
{
	uv_timer_init(&e->loop, &e->stop_timer);
	e->stop_timer.data = e;
}

void ing_engine_done_stop(struct ing_engine *e)
{
	uv_close((uv_handle_t *)&e->stop_timer, NULL);
}

void ing_engine_finish(struct ing_engine *e)
{
	start_polling(e);
}

void ing_engine_stop(struct ing_engine *e, unsigned drain_ms)
{
	uint64_t by_ms = ing_now_ms() + drain_ms;
	if (e->stop_by_ms == 0 || by_ms < e->stop_by_ms)
		e->stop_by_ms = by_ms;
	ing_intake_stop(e->outside.intake);
	ing_pipeline_drain(e->pipeline);
	start_polling(e);
}
