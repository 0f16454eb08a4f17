/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Making, joining, running and freeing the parts.
 */
#include "worker/engine/engine.h"

#include "worker/deliver/deliver.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine_priv.h"
#include "worker/gate/fleet/lease.h"
#include "worker/gate/gate.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/job/result.h"
#include "worker/job/result_short.h"
#include "worker/scrape/rules/rules.h"
#include "worker/service/turn.h"
#include "worker/visit/robots_fetch.h"
#include "worker/visit/visit.h"

static void free_parts(struct ing_engine *e, size_t count)
{
	while (count > 0)
		ing_engine_parts[--count].done(e);
	e->conf = NULL;
}

static bool needs_browser(void *ctx, const char *url, bool is_webpage)
{
	const struct ing_engine *e = ctx;
	return ing_rules_need_browser(e->rules.rules, url, is_webpage);
}

/* -------------------------------------------------------------------------------------------- */

int ing_engine_init(struct ing_engine *e, const struct ing_conf *conf,
	enum ing_engine_sharing sharing, struct ing_error *err)
{
	*e = (struct ing_engine){
		.conf = conf,
		.shared = sharing == ING_ENGINE_SHARED,
		.keeping = sharing == ING_ENGINE_KEEPING,
		.rules.fd = -1,
		.next_rules.fd = -1,
	};
	for (size_t i = 0; i < ing_engine_part_count; i++) {
		int rc = ing_engine_parts[i].init(e, err);
		if (rc != 0) {
			free_parts(e, i);
			return rc;
		}
	}
	return 0;
}

void ing_engine_done(struct ing_engine *e)
{
	if (e->conf != NULL)
		free_parts(e, ing_engine_part_count);
}

void ing_engine_abandon(struct ing_engine *e)
{
	ing_engine_done_fleet(e);
	ing_emit_free(ING_TAKE(e->outside.emit)); /* what it has committed is finished */
	ing_intake_free(ING_TAKE(e->outside.intake));
	ing_gate_free(ING_TAKE(e->gate)); /* it knows the pauses that hosts are due */
	ing_leases_free(ING_TAKE(e->leases));
}

void ing_engine_wire(struct ing_engine *e)
{
	const struct ing_positions_ops positions = ing_intake_positions_ops(e->outside.intake);
	ing_emit_wire(e->outside.emit, &positions);
	ing_deliver_wire(e->deliver, &(struct ing_deliver_stages){
					     .intake = e->outside.intake,
					     .store = e->outside.store,
					     .emit = e->outside.emit,
					     .objects = e->objects,
					     .on_cdx = e->outside.on_cdx,
					     .shorten = ing_result_shorten,
					     .answer_parked = ing_result_answer_parked,
					     .ctx = e->outside.ctx,
					     .output = e->outside.output,
					     .without_outbox = !e->shared,
				     });
	struct ing_stages stages = {
		.intake = e->outside.intake,
		.visits = e->visits,
		.pool = e->pool,
		.grobid = e->grobid,
		.deliver = e->deliver,
		.lookup = e->lookup,
		.journal = e->outside.journal,
		.orders = e->orders,
		.needs_browser = needs_browser,
		.rules_ctx = e,
	};
	ing_engine_wire_status(e, &stages);
	ing_pipeline_wire(e->pipeline, &stages);
	ing_visits_wire(e->visits, &(struct ing_visits_stages){
					   .gate = e->gate,
					   .robots = e->robots,
					   .robots_fetcher = {ing_robots_fetch_raise_lane,
						   ing_robots_fetch_waits_for_hold,
						   e->robots_fetches, ing_robots_fetch_asked_by},
					   .fetch = e->fetch,
					   .archive = e->archive,
					   .originals = e->originals,
					   .lookup = e->lookup,
					   .disk = e->disk,
				   });
	ing_robots_fetches_wire(e->robots_fetches, &(struct ing_robots_fetch_stages){
							   .visits = e->visits,
							   .robots = e->robots,
							   .pool = e->pool,
							   .deliver = e->deliver,
							   .journal = e->outside.journal,
						   });
	ing_engine_wire_orders(e);
}

void ing_engine_run(struct ing_engine *e)
{
	ing_turns_begin(e->turns);
	uv_run(&e->loop, UV_RUN_DEFAULT);
	ing_turns_end(e->turns);
	ing_engine_write_rule_stats(e);
}

bool ing_engine_idle(const struct ing_engine *e)
{
	return ing_pipeline_idle(e->pipeline) && ing_robots_fetches_idle(e->robots_fetches);
}
