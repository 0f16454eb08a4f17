/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The status as JSON. Counters come from the metrics, so that a number here is the number there.
 */
#include "worker/service/status.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "worker/fleet/orders.h"
#include "worker/service/hosts_survey.h"
#include "worker/service/recent.h"
#include "worker/service/status_priv.h"

static void set_time(json_t *o, const char *key, struct timespec t)
{
	char text[ING_ISO8601_BYTES];
	ing_format_iso8601(t, 0, text);
	ing_json_set_text(o, key, text);
}

/* Two digits are enough of a rate. */
static json_t *rate(double per_second)
{
	return json_real((double)(int64_t)(per_second * 100 + 0.5) / 100);
}

/* --- parts --- */

static json_t *rates_json(const struct ing_status_facts *f)
{
	struct ing_recent_rates r;
	json_t *o = json_object();
	ing_recent_rates(f->recent, f->now_ms, &r);
	ing_json_set(o, "results", rate(r.results));
	ing_json_set(o, "hits", rate(r.hits));
	ing_json_set(o, "parked", rate(r.parked));
	ing_json_set(o, "dead", rate(r.dead));
	return o;
}

static json_t *totals_json(const struct ing_status_facts *f)
{
	const struct ing_metrics *m = f->metrics;
	json_t *o = json_object();
	ing_json_set_count(o, "accepted", m->pipeline.accepted);
	ing_json_set_count(o, "results", m->deliver.results);
	ing_json_set_count(o, "hits", m->deliver.hits);
	ing_json_set_count(o, "parked", m->deliver.parked);
	ing_json_set_count(o, "dead", m->deliver.dead);
	ing_json_set_count(o, "transfers", m->fetch.exchanges);
	ing_json_set_count(o, "body_bytes", m->fetch.body_bytes);
	ing_json_set_count(o, "documents", m->pool.documents);
	return o;
}

static json_t *jobs_json(const struct ing_status_facts *f)
{
	const struct ing_metrics *m = f->metrics;
	json_t *o = json_object();
	json_t *states = json_object();
	ing_json_set_count(o, "under_way", m->pipeline.jobs);
	ing_json_set_count(o, "most", f->flow->max_waiting);
	ing_json_set_count(o, "oldest_ms", m->pipeline.oldest_ms);
	for (int i = 0; i < ING_JOB_STATES_; i++)
		ing_json_set_count(states, ing_job_state_label((enum ing_job_state)i),
			m->pipeline.by_state[i]);
	ing_json_set_count(states, "putting", m->deliver.putting);
	ing_json_set_count(states, "emitting", m->deliver.emitting);
	ing_json_set_count(states, "storing", m->deliver.storing);
	ing_json_set_count(states, "committing", m->deliver.committing);
	ing_json_set(o, "by_state", states);
	return o;
}

/* Messages of a lane that are not finished; NULL: not known yet. */
static json_t *lag_json(const struct ing_status_facts *f, enum ing_lane lane)
{
	const struct ing_intake_stats *in = &f->metrics->intake;
	const uint64_t lags[ING_LANES_] = {
		[ING_LANE_PRIORITY] = in->lag_priority,
		[ING_LANE_REQUESTS] = in->lag_requests,
		[ING_LANE_DAILY] = in->lag_daily,
		[ING_LANE_BULK] = in->lag_bulk,
	};
	return in->partitions_measured > 0 ? ing_json_count(lags[lane]) : NULL;
}

static json_t *lane_json(const struct ing_status_facts *f, enum ing_lane lane)
{
	const struct ing_flow_lane *l = &f->flow->lanes[lane];
	json_t *o = json_object();
	ing_json_set_text(o, "lane", ing_lane_name(lane));
	ing_json_set_text(o, "topic", f->lane_topics[lane]);
	ing_json_set(o, "lag", lag_json(f, lane));
	ing_json_set_count(o, "jobs", l->jobs);
	ing_json_set_count(o, "results_minute", ing_recent_lane(f->recent, lane, f->now_ms));
	ing_json_set_text(o, "not_read", ing_flow_pause_name(l->pause));
	return o;
}

static json_t *lanes_json(const struct ing_status_facts *f)
{
	json_t *list = json_array();
	for (int i = 0; i < ING_LANES_; i++)
		if (f->flow->lanes[i].configured)
			ing_json_append(list, lane_json(f, (enum ing_lane)i));
	return list;
}

static json_t *gate_json(const struct ing_status_facts *f)
{
	const struct ing_gate_stats *g = &f->metrics->gate;
	json_t *o = json_object();
	ing_json_set_count(o, "waiting", g->waiting);
	ing_json_set_count(o, "transfers", g->holding);
	ing_json_set_count(o, "concurrency", f->concurrency);
	ing_json_set_count(o, "hosts", g->hosts);
	ing_json_set_count(o, "hosts_resting", g->hosts_resting);
	ing_json_set_count(o, "hosts_held", g->hosts_held);
	ing_json_set_count(o, "breakers_open", g->breakers_open);
	ing_json_set_count(o, "leases", g->leases);
	ing_json_set_count(o, "robots_waiting", f->metrics->robots.waiting);
	return o;
}

static json_t *examiners_json(const struct ing_status_facts *f)
{
	const struct ing_pool_stats *p = &f->metrics->pool;
	json_t *o = json_object();
	ing_json_set_count(o, "ready", p->examiners_ready);
	ing_json_set_count(o, "waiting", p->waiting + p->waiting_late);
	ing_json_set_count(o, "crashes", p->crashes);
	ing_json_set_count(o, "timeouts", p->timeouts);
	return o;
}

static json_t *grobid_json(const struct ing_status_facts *f)
{
	const struct ing_grobid_stats *g = &f->metrics->grobid;
	if (f->metrics->absent[ING_METRIC_ROOM_grobid])
		return NULL;
	json_t *o = json_object();
	ing_json_set_count(o, "waiting", g->waiting);
	ing_json_set_count(o, "working", g->working);
	ing_json_set_bool(o, "away", g->away != 0);
	uint64_t answers = g->answered;
	ing_json_set_count(o, "answer_ms", answers > 0 ? g->answer_ms / answers : 0);
	return o;
}

static json_t *disk_json(const struct ing_status_facts *f)
{
	const struct ing_disk_stats *d = &f->metrics->disk;
	json_t *o = json_object();
	ing_json_set_bool(o, "low", d->low != 0);
	ing_json_set_count(o, "stop_bytes", f->disk_stop_bytes);
	ing_json_set_count(o, "warc_free_bytes", d->warc_free_bytes);
	ing_json_set_count(o, "spool_free_bytes", d->spool_free_bytes);
	ing_json_set_count(o, "state_free_bytes", d->state_free_bytes);
	ing_json_set_count(o, "store_free_bytes", d->store_free_bytes);
	return o;
}

static json_t *loop_json(const struct ing_status_facts *f)
{
	const struct ing_turn_stats *t = &f->metrics->turn;
	json_t *o = json_object();
	ing_json_set_count(o, "percent", f->loop_percent);
	ing_json_set_count(o, "long_turns", t->busy + t->blocked);
	return o;
}

#define ORDERS_SHOWN 20

static json_t *order_json(const struct ing_order *order, uint64_t now_ms)
{
	json_t *o = json_object();
	ing_json_set_text(o, "kind", ing_order_kind_name(order->kind));
	ing_json_set_text(o, "target", order->target);
	ing_json_set_text(o, "action", ing_order_action_name(order->action));
	ing_json_set_text(o, "why", order->why);
	ing_json_set_text(o, "by", order->by);
	ing_json_set_count(o, "age_ms", ing_order_age_ms(order, now_ms));
	ing_json_set_bool(o, "local", order->local);
	return o;
}

static json_t *orders_json(const struct ing_status_facts *f)
{
	json_t *o = json_object();
	json_t *list = json_array();
	const struct ing_order *order;
	for (size_t i = 0; i < ORDERS_SHOWN && (order = ing_orders_get(f->orders, i)) != NULL; i++)
		ing_json_append(list, order_json(order, f->now_ms));
	ing_json_set_count(o, "count", ing_orders_count(f->orders));
	ing_json_set_count(o, "held", f->metrics->pipeline.held_by_orders);
	ing_json_set(o, "first", list);
	return o;
}

static json_t *intake_json(const struct ing_status_facts *f)
{
	const struct ing_intake_stats *in = &f->metrics->intake;
	json_t *o = json_object();
	ing_json_set_count(o, "partitions", in->partitions);
	ing_json_set_count(o, "starting", in->partitions_starting);
	ing_json_set_count(o, "held", in->partitions_held);
	ing_json_set_count(o, "slow", in->partitions_slow);
	ing_json_set_count(o, "full", in->partitions_full);
	ing_json_set_count(o, "measured", in->partitions_measured);
	ing_json_set_count(o, "parked_lag", in->lag_parked);
	return o;
}

static json_t *needs_json(const struct ing_hosts_survey *s)
{
	json_t *o = json_object();
	for (int i = 0; i < ING_GATE_NEEDS_; i++) {
		if (s->hosts[i] == 0)
			continue;
		json_t *need = json_object();
		ing_json_set_count(need, "hosts", s->hosts[i]);
		ing_json_set_count(need, "requests", s->requests[i]);
		ing_json_set(o, ing_gate_need_name((enum ing_gate_need)i), need);
	}
	return o;
}

static json_t *hosts_json(const struct ing_status_facts *f)
{
	if (f->survey == NULL)
		return NULL;
	json_t *o = json_object();
	ing_json_set_count(o, "age_ms", f->now_ms - f->survey->at_ms);
	ing_json_set(o, "needs", needs_json(f->survey));
	ing_hosts_set_survey(o, f->hosts, f->survey);
	return o;
}

static void set_identity(json_t *o, const struct ing_status_facts *f)
{
	ing_json_set_text(o, "instance", f->instance);
	ing_json_set_text(o, "machine", f->machine);
	ing_json_set_number(o, "pid", f->pid);
	ing_json_set_text(o, "version", f->version);
	ing_json_set_text(o, "rules", f->rules_digest);
	set_time(o, "now", f->now);
	set_time(o, "started", f->started);
	ing_json_set_count(o, "uptime_s", (f->now_ms - f->started_ms) / 1000);
	ing_json_set_text(o, "state", ing_status_phase_name(f->phase));
}

static void set_holds(json_t *o, const struct ing_status_facts *f)
{
	json_t *holds = ing_status_holds_json(f);
	const json_t *first = json_array_get(holds, 0);
	ing_json_set(o, "held_by", ing_json_ref(json_object_get(first, "words")));
	ing_json_set(o, "holds", holds);
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_status_phase_name(enum ing_status_phase phase)
{
	switch (phase) {
	case ING_PHASE_STARTING:
		return "starting";
	case ING_PHASE_STOPPING:
		return "stopping";
	case ING_PHASE_PAUSED:
		return "paused";
	case ING_PHASE_DRAINING:
		return "draining";
	case ING_PHASE_DRAINED:
		return "drained";
	case ING_PHASE_RUNNING:
		break;
	}
	return "running";
}

json_t *ing_status_json(const struct ing_status_facts *f, unsigned parts)
{
	json_t *o = json_object();
	set_identity(o, f);
	set_holds(o, f);
	ing_json_set(o, "per_second", rates_json(f));
	ing_json_set(o, "totals", totals_json(f));
	ing_json_set(o, "jobs", jobs_json(f));
	ing_json_set(o, "lanes", lanes_json(f));
	ing_json_set(o, "gate", gate_json(f));
	ing_json_set(o, "examiners", examiners_json(f));
	ing_json_set(o, "grobid", grobid_json(f));
	ing_json_set(o, "disk", disk_json(f));
	ing_json_set(o, "intake", intake_json(f));
	ing_json_set(o, "loop", loop_json(f));
	ing_json_set(o, "orders", orders_json(f));
	if (parts & ING_SHOW_HOSTS)
		ing_json_set(o, "hosts", hosts_json(f));
	if (parts & ING_SHOW_HISTORY) {
		ing_json_set(o, "hour", ing_recent_hour_json(f->recent, f->now_ms));
		ing_json_set(o, "failures", ing_recent_failures_json(f->recent));
	}
	return o;
}
