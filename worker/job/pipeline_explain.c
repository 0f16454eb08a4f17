/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a request is now, for operators: it is found by its message, as the ID of each would have to be
 * computed. Loop thread; a walk over the requests of one partition.
 */
#include "worker/job/pipeline_priv.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "common/net/url.h"
#include "worker/fleet/orders.h"
#include "worker/model/job_state.h"
#include "worker/model/lane.h"
#include "worker/model/source.h"

static const struct ing_job *find(
	const struct ing_pipeline *p, const char *topic, int32_t partition, int64_t offset)
{
	for (size_t i = 0; i < p->slot_count; i++) {
		const struct ing_job *job = p->jobs[i];
		struct ing_source source;
		if (job == NULL || !ing_job_source(job, &source) || source.partition != partition ||
			strcmp(source.topic, topic) != 0)
			continue;
		while (job != NULL && job->token.offset != offset)
			job = job->next;
		return job;
	}
	return NULL;
}

/* It may still be in the queue of a host that is paused: it finds the order at its turn. */
static bool is_ordered_to_wait(const struct ing_job *job, const char *url)
{
	const struct ing_pipeline *p = job->pipeline;
	enum ing_lane lane = (enum ing_lane)job->lane;
	return ing_pipeline_is_paused(p, lane) ||
	       (url != NULL &&
		       ing_orders_holding(p->stages.orders, url, lane, job->accepted_ms) != NULL);
}

static const char *wait_of(const struct ing_job *job, const struct ing_visit *v, const char *url)
{
	if (v->state == ING_VISIT_TRANSFER)
		return "transfer";
	if (is_ordered_to_wait(job, url))
		return "order";
	if (v->robots.entry != NULL)
		return "robots.txt";
	if (v->waiter.state == ING_GATE_WAITING)
		return "host";
	return v->waiter.state == ING_GATE_DELAYED ? "next try" : "worker";
}

/* A visit that has not ended. */
static void add_visit(json_t *list, const struct ing_job *job, const struct ing_visit *v)
{
	struct ing_visits *visits = job->pipeline->stages.visits;
	char host[ING_URL_HOST_BYTES];
	if (v->state != ING_VISIT_WAITING && v->state != ING_VISIT_TRANSFER)
		return;
	const char *url = ing_visit_url(v);
	char *start = url == NULL && v == &job->first ? ing_job_derive_start(job) : NULL;
	if (url == NULL)
		url = start;
	json_t *o = json_object();
	ing_json_set_text(o, "url", url);
	ing_json_set_text(o, "host",
		url != NULL && ing_visits_host(visits, url, host, sizeof(host)) ? host : NULL);
	ing_json_set_text(o, "for", wait_of(job, v, url));
	ing_json_set_count(o, "since_ms", (uint32_t)ing_now_ms() - v->since_ms);
	if (v->waiter.state == ING_GATE_WAITING)
		ing_json_set_count(o, "before", v->waiter.before);
	ing_json_append(list, o);
	free(start);
}

static json_t *explain(const struct ing_job *job)
{
	json_t *o = json_object();
	json_t *visits = json_array();
	const struct ing_pipeline *p = job->pipeline;
	enum ing_job_state state = (enum ing_job_state)job->state;
	ing_json_set_text(o, "state", ing_job_state_label(state));
	ing_json_set_text(o, "state_words", ing_job_state_meaning(state));
	ing_json_set_text(o, "lane", ing_lane_name((enum ing_lane)job->lane));
	ing_json_set_count(o, "age_ms", ing_now_ms() - job->accepted_ms);
	ing_json_set_count(o, "urls_asked", job->work != NULL ? job->work->steps.count : 0);
	ing_json_set_text(o, "blocked_by", ing_pipeline_blocked_by(p));
	add_visit(visits, job, &job->first);
	for (const struct ing_job_visit *f = job->work != NULL ? job->work->further : NULL;
		f != NULL; f = f->next)
		add_visit(visits, job, &f->visit);
	ing_json_set(o, "visits", visits);
	return o;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_pipeline_explain(
	const struct ing_pipeline *p, const char *topic, int32_t partition, int64_t offset)
{
	const struct ing_job *job = find(p, topic, partition, offset);
	json_t *o = job != NULL ? explain(job) : json_object();
	ing_json_set_bool(o, "known", job != NULL);
	return o;
}
