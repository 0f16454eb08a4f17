/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What every stage has counted, as one line of JSON.
 */
#include <jansson.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "worker/archive/archive.h"
#include "worker/engine.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/gate/gate.h"
#include "worker/gate/fleet/lease.h"
#include "worker/gate/robots/robots.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/status/turn.h"
#include "worker/store/store.h"

static double cpu_seconds(int who)
{
	struct rusage u;
	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

struct number {
	const char *name;
	uint64_t value;
};

static json_t *pack_numbers(const struct number *numbers, size_t count)
{
	json_t *o = json_object();
	for (size_t i = 0; i < count; i++)
		json_object_set_new(o, numbers[i].name, json_integer((json_int_t)numbers[i].value));
	return o;
}

static json_t *intake_stats(const struct ing_intake *intake)
{
	struct ing_intake_stats s;
	ing_intake_stats(intake, &s);
	const struct number numbers[] = {
		{"taken", s.taken},
		{"left_over", s.left_over},
		{"reread", s.reread},
		{"lost", s.lost},
		{"restarts", s.restarts},
	};
	return pack_numbers(numbers, ING_ARRAY_LEN(numbers));
}

static json_t *gate_stats(const struct ing_gate *gate)
{
	struct ing_gate_stats s;
	ing_gate_stats(gate, &s);
	const struct number numbers[] = {
		{"waiting", s.waiting},
		{"hosts", s.hosts},
		{"hosts_resting", s.hosts_resting},
		{"hosts_held", s.hosts_held},
		{"breakers_open", s.breakers_open},
		{"leases", s.leases},
		{"grants", s.grants},
		{"refused", s.refused},
		{"holds", s.holds},
		{"breaker_opens", s.breaker_opens},
		{"bytes", s.bytes},
	};
	return pack_numbers(numbers, ING_ARRAY_LEN(numbers));
}

static json_t *robots_stats(const struct ing_robots *robots)
{
	struct ing_robots_stats s;
	ing_robots_stats(robots, &s);
	const struct number numbers[] = {
		{"fetched", s.fetched},
		{"hits", s.hits},
		{"disallowed", s.disallowed},
		{"unreachable", s.unreachable},
		{"entries", s.entries},
		{"bytes", s.bytes},
	};
	return pack_numbers(numbers, ING_ARRAY_LEN(numbers));
}

static json_t *examine_stats(const struct ing_pool_stats *s)
{
	const struct number numbers[] = {
		{"crashes", s->crashes},
		{"timeouts", s->timeouts},
		{"waited", s->waited},
		{"interrupted", s->interrupted},
		{"waiting", s->waiting},
		{"waiting_late", s->waiting_late},
		{"domains_marked", s->domains_marked},
	};
	return pack_numbers(numbers, ING_ARRAY_LEN(numbers));
}

static json_t *lease_stats(const struct ing_leases *leases)
{
	struct ing_lease_stats s;
	ing_leases_stats(leases, &s);
	const struct number numbers[] = {
		{"rounds", s.rounds},
		{"asked", s.asked},
		{"granted", s.granted},
		{"returned", s.returned},
		{"extended", s.extended},
		{"database_us", s.database_us},
	};
	return pack_numbers(numbers, ING_ARRAY_LEN(numbers));
}

static json_t *turn_stats(const struct ing_turns *turns)
{
	struct ing_turn_stats s;
	ing_turns_stats(turns, &s);
	const struct number numbers[] = {
		{"turns", s.turns},
		{"busy", s.busy},
		{"blocked", s.blocked},
		{"longest_cpu_us", s.longest_cpu_us},
		{"longest_blocked_us", s.longest_blocked_us},
	};
	json_t *o = pack_numbers(numbers, ING_ARRAY_LEN(numbers));
	json_t *histogram = json_array();
	for (int i = 0; i < ING_TURN_BUCKETS; i++)
		json_array_append_new(histogram, json_integer((json_int_t)s.cpu_us[i]));
	json_object_set_new(o, "cpu_us", histogram);
	return o;
}

/* ------------------------------------------------------------------------------------------ */

char *ing_engine_stats_json(const struct ing_engine *e)
{
	const struct ing_stages *stages = ing_pipeline_stages(e->pipeline);
	struct ing_pipeline_stats p;
	ing_pipeline_stats(e->pipeline, &p);
	struct ing_fetch_stats f = {0};
	ing_fetch_stats(e->fetch, &f);
	struct ing_archive_stats a = {0};
	ing_archive_stats(e->archive, &a);
	struct ing_pool_stats x = {0};
	ing_pool_stats(e->pool, &x);
	struct ing_store_stats s = {0};
	if (stages->store != NULL)
		ing_store_stats(stages->store, &s);
	json_t *by_status = json_object();
	for (int i = 0; i < ING_STATUS_COUNT_; i++) {
		if (p.by_status[i] > 0)
			json_object_set_new(by_status, ing_status_slug((enum ing_status)i),
				json_integer((json_int_t)p.by_status[i]));
	}
	json_t *o = json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,"
			      "s:{s:f,s:f,s:f,s:f,s:f,s:f}}",
		"accepted", (json_int_t)p.accepted, "dead", (json_int_t)p.dead, "cancelled",
		(json_int_t)p.cancelled, "results", (json_int_t)p.results, "hits",
		(json_int_t)p.hits, "by_status", by_status, "exchanges", (json_int_t)f.exchanges,
		"body_bytes", (json_int_t)f.body_bytes, "warc_records", (json_int_t)a.records,
		"warc_bytes", (json_int_t)a.bytes, "warc_syncs", (json_int_t)a.syncs, "documents",
		(json_int_t)x.documents, "examiner_forks", (json_int_t)x.forks, "store_items",
		(json_int_t)s.items, "store_batches", (json_int_t)s.batches, "cpu_seconds",
		"worker", cpu_seconds(RUSAGE_SELF), "loop", cpu_seconds(RUSAGE_THREAD), "archive",
		(double)a.cpu_ns / 1e9, "store", (double)s.cpu_ns / 1e9, "examine",
		(double)x.cpu_us / 1e6, "examine_pdf", (double)x.pdf_cpu_us / 1e6);
	ing_must(o != NULL);
	json_object_set_new(o, "intake", intake_stats(stages->intake));
	json_object_set_new(o, "gate", gate_stats(e->gate));
	json_object_set_new(o, "robots", robots_stats(e->robots));
	json_object_set_new(o, "loop", turn_stats(e->turns));
	json_object_set_new(o, "examine", examine_stats(&x));
	if (e->leases != NULL)
		json_object_set_new(o, "leases", lease_stats(e->leases));
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(o);
	return text;
}
