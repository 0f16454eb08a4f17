/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The facts of the status (service/status.h), gathered from the stages; and the results, parked requests and
 * dead letters, which pass through here to whoever wired them.
 *
 * Hosts are looked at when somebody wants to see them, at most once in HOSTS_MS, and when they are what holds the
 * worker, once in HOSTS_UNASKED_MS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/deliver/deliver.h"
#include "worker/engine/engine_priv.h"
#include "worker/fleet/fleet.h"
#include "worker/intake/lane_names.h"
#include "worker/job/job.h"
#include "worker/model/version.h"
#include "worker/scrape/rules/rules.h"
#include "worker/service/recent.h"

#define HOSTS_MS 2000
#define HOSTS_UNASKED_MS 10000 /* a look at 180,000 hosts takes 8 ms */
#define HOSTS_SHOWN 10
#define LOOP_MS 5000             /* over which the loop's share of a core is measured, at least */
#define MAX_WORDS ((size_t)2000) /* of what holds the worker */

/* Everything that the facts borrow. */
struct gathered {
	struct ing_status_facts facts;
	struct ing_metrics metrics;
	struct ing_flow flow;
	struct ing_hosts_sources hosts;
	char rules[17];
	char machine[256];
};

static bool is_surveyed(const struct ing_engine *e, uint64_t now_ms, uint64_t within_ms)
{
	return e->survey.at_ms != 0 && now_ms - e->survey.at_ms < within_ms;
}

/* Requests wait, and nothing but their hosts is in the way: then it is worth a look which, though nobody has asked. */
static bool hosts_hold(const struct ing_engine *e, const struct gathered *g)
{
	return g->flow.hold == ING_FLOW_OPEN && g->metrics.gate.waiting > 0 &&
	       g->metrics.gate.holding < e->conf->gate.concurrency;
}

static void survey(struct ing_engine *e, const struct gathered *g, bool asked, uint64_t now_ms)
{
	if (is_surveyed(e, now_ms, asked ? HOSTS_MS : HOSTS_UNASKED_MS) ||
		(!asked && !hosts_hold(e, g)))
		return;
	ing_hosts_survey_done(&e->survey);
	ing_hosts_survey(e->gate, e->robots, HOSTS_SHOWN, &e->survey);
}

/* The loop's share of a core since a while ago. */
static unsigned measure_loop(struct ing_engine *e, const struct ing_metrics *m, uint64_t now_ms)
{
	struct ing_engine_loop_share *s = &e->loop_share;
	uint64_t ms = now_ms - s->at_ms;
	if (ms < LOOP_MS)
		return s->percent;
	if (s->at_ms != 0)
		s->percent = (unsigned)((m->process.loop_cpu_us - s->cpu_us) / 10 / ms);
	s->at_ms = now_ms;
	s->cpu_us = m->process.loop_cpu_us;
	return s->percent;
}

static void gather(struct ing_engine *e, bool with_hosts, struct gathered *g)
{
	const struct ing_conf *c = e->conf;
	uint64_t now_ms = ing_now_ms();
	ing_engine_metrics(e, &g->metrics);
	ing_pipeline_flow(e->pipeline, &g->flow);
	survey(e, g, with_hosts, now_ms);
	g->hosts = ing_engine_hosts(e);
	snprintf(g->rules, sizeof(g->rules), "%016" PRIx64, e->rules.digest);
	if (gethostname(g->machine, sizeof(g->machine) - 1) != 0)
		g->machine[0] = '\0';
	g->facts = (struct ing_status_facts){
		.instance = e->control_name != NULL ? e->control_name : c->instance,
		.version = ING_VERSION,
		.machine = g->machine,
		.rules_digest = g->rules,
		.pid = (long)getpid(),
		.phase = ing_engine_phase_now(e),
		.orders = e->orders,
		.has_partitions = e->shared,
		.now = ing_wall_now(),
		.started = e->started,
		.now_ms = now_ms,
		.started_ms = e->started_ms,
		.metrics = &g->metrics,
		.flow = &g->flow,
		.recent = e->recent,
		.hosts = &g->hosts,
		.survey = is_surveyed(e, now_ms, HOSTS_UNASKED_MS) ? &e->survey : NULL,
		.concurrency = c->gate.concurrency,
		.disk_stop_bytes = c->disk.stop_bytes,
		.loop_percent = measure_loop(e, &g->metrics, now_ms),
	};
	ing_engine_away(e, now_ms, g->facts.away);
	for (int i = 0; i < ING_LANES_; i++)
		g->facts.lane_topics[i] = e->lane_topics[i];
}

/* --- what happens to requests --- */

static void on_result(void *ctx, enum ing_status status, const struct ing_result_facts *facts)
{
	const struct ing_engine *e = ctx;
	ing_recent_add(e->recent,
		&(struct ing_recent_result){
			.lane = facts->lane,
			.status = status,
			.hit = facts->hit,
			.at = ing_wall_now(),
			.took_ms = facts->took_ms,
			.key = facts->key,
			.type = facts->ingest_type,
			.host = facts->host,
			.url = facts->url,
			.last_url = facts->last_url,
			.message = facts->message,
		},
		ing_now_ms());
	if (e->outside.on_result != NULL)
		e->outside.on_result(e->outside.ctx, status, facts);
}

static void on_parked(void *ctx, enum ing_tier tier)
{
	const struct ing_engine *e = ctx;
	ing_recent_add_parked(e->recent, ing_now_ms());
	if (e->outside.on_parked != NULL)
		e->outside.on_parked(e->outside.ctx, tier);
}

static void on_dead_letter(void *ctx, const struct ing_message *m, const struct ing_error *err)
{
	const struct ing_engine *e = ctx;
	ing_recent_add_dead(e->recent, ing_now_ms());
	if (e->outside.on_dead_letter != NULL)
		e->outside.on_dead_letter(e->outside.ctx, m, err);
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_init_status(struct ing_engine *e)
{
	e->started = ing_wall_now();
	e->started_ms = ing_now_ms();
	e->recent = ing_recent_new(e->started_ms);
	for (int i = 0; i < ING_LANES_ && e->shared; i++)
		e->lane_topics[i] =
			ing_lane_topic_name((enum ing_lane)i, e->conf->kafka.lane_topics);
	e->phase = e->shared ? ING_PHASE_STARTING : ING_PHASE_RUNNING;
}

void ing_engine_done_status(struct ing_engine *e)
{
	for (int i = 0; i < ING_LANES_; i++)
		free(ING_TAKE(e->lane_topics[i]));
	ing_hosts_survey_done(&e->survey);
	ing_recent_free(ING_TAKE(e->recent));
}

void ing_engine_wire_status(struct ing_engine *e, struct ing_stages *stages)
{
	stages->on_result = on_result;
	stages->on_parked = on_parked;
	stages->on_dead_letter = on_dead_letter;
	stages->ctx = e;
}

void ing_engine_set_phase(struct ing_engine *e, enum ing_status_phase phase)
{
	e->phase = phase;
}

json_t *ing_engine_status(struct ing_engine *e, unsigned parts)
{
	struct gathered g;
	gather(e, (parts & ING_SHOW_HOSTS) != 0, &g);
	return ing_status_json(&g.facts, parts);
}

bool ing_engine_held_by(struct ing_engine *e, struct ing_buf *out)
{
	struct gathered g;
	gather(e, false, &g);
	return ing_status_held_by(&g.facts, out);
}

void ing_engine_describe(struct ing_engine *e, struct ing_fleet_state *ret)
{
	struct gathered g;
	struct ing_recent_rates rates;
	struct ing_buf words;
	gather(e, false, &g);
	ing_buf_init(&words, MAX_WORDS);
	const struct ing_intake_stats *in = &g.metrics.intake;
	json_t *status = ing_status_json(&g.facts, 0);
	ing_recent_rates(e->recent, g.facts.now_ms, &rates);
	uint64_t lag = in->lag_priority + in->lag_requests + in->lag_daily + in->lag_bulk;
	bool has_jobs = g.metrics.pipeline.jobs > 0;
	*ret = (struct ing_fleet_state){
		.state = ing_status_phase_name(g.facts.phase),
		.held_by = ing_status_held_by(&g.facts, &words) ? ing_strdup(ing_buf_str(&words))
								: NULL,
		.rules = ing_strdup(g.rules),
		.status = json_dumps(status, JSON_COMPACT),
		.partitions = (unsigned)in->partitions,
		.transfers = (unsigned)g.metrics.fetch.active,
		.lag = in->partitions > 0 && in->partitions_measured == 0 ? -1 : (int64_t)lag,
		.jobs = g.metrics.pipeline.jobs,
		.waiting = g.metrics.gate.waiting + g.metrics.pipeline.held_by_orders,
		.results = g.metrics.deliver.results,
		.hits = g.metrics.deliver.hits,
		.oldest_ms = has_jobs ? (int64_t)g.metrics.pipeline.oldest_ms : -1,
		.rate = rates.results,
	};
	json_decref(status);
	ing_buf_done(&words);
}
