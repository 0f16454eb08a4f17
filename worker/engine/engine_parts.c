/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The parts of the engine, in the order in which they are made: each gets its settings and the parts
 * made before it. Parts that call one another are joined afterwards (ing_engine_wire()).
 */
#include "worker/engine/engine_priv.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/folder.h"
#include "common/base/log.h"
#include "common/net/robots.h"
#include "worker/archive/archive.h"
#include "worker/conf/conf.h"
#include "worker/conf/paths.h"
#include "worker/model/version.h"
#include "worker/deliver/deliver.h"
#include "worker/disk/disk.h"
#include "worker/grobid/grobid.h"
#include "worker/document/objects/objects.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine_limits.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/gate/gate.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/fleet/lease.h"
#include "worker/gate/robots/robots.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/rules/rule_stats.h"
#include "worker/scrape/rules/rules.h"
#include "worker/service/control.h"
#include "worker/service/turn.h"
#include "worker/store/lookup/lookup.h"
#include "worker/store/store.h"
#include "worker/visit/originals.h"
#include "worker/visit/robots_fetch.h"
#include "worker/visit/visit.h"

#define ROBOTS_REDIRECTS 8 /* RFC 9309 2.3.1.2 wants five at least */
#define ROBOTS_ENTRIES 100000
#define ROBOTS_BYTES ((size_t)256 << 20)

static unsigned examiners_of(const struct ing_conf *c)
{
	return c->examine.processes > 0 ? c->examine.processes : uv_available_parallelism();
}

static int init_limits(struct ing_engine *e, struct ing_error *err)
{
	return ing_engine_check_limits(e->conf, examiners_of(e->conf), err);
}

static void done_limits(struct ing_engine *e)
{
	(void)e;
}

static void do_nothing(uv_work_t *work)
{
	(void)work;
}

/* libuv starts its threads with the first work, and aborts when it cannot: better now than with the
 * first large body. */
static int init_loop(struct ing_engine *e, struct ing_error *err)
{
	int rc = uv_loop_init(&e->loop);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_SYSTEM, "loop: %s", uv_strerror(rc));
	rc = uv_queue_work(&e->loop, &e->pool_start, do_nothing, NULL);
	ing_must(rc == 0);
	return 0;
}

static void done_loop(struct ing_engine *e)
{
	uv_run(&e->loop, UV_RUN_DEFAULT);
	int rc = uv_loop_close(&e->loop);
	if (rc != 0)
		ing_log(ING_LOG_WARNING, "loop: %s at the end", uv_strerror(rc));
}

static int init_timers(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	ing_engine_init_stop(e);
	ing_engine_init_rule_stats(e);
	return 0;
}

static void done_timers(struct ing_engine *e)
{
	ing_engine_done_stop(e);
	ing_engine_done_rule_stats(e);
}

static int init_turns(struct ing_engine *e, struct ing_error *err)
{
	return ing_turns_new(&e->loop, &e->turns, err);
}

static void done_turns(struct ing_engine *e)
{
	ing_turns_free(ING_TAKE(e->turns));
}

static int init_rules(struct ing_engine *e, struct ing_error *err)
{
	struct ing_report report;
	ing_report_init(&report);
	int rc = ing_ruleset_load(e->conf->rules_dir, e->conf->filters, &e->rules, &report, err);
	ing_ruleset_log_report(&report);
	ing_report_done(&report);
	if (rc != 0)
		return rc;
	e->rule_stats = ing_rule_stats_new();
	ing_rule_stats_set_rules(e->rule_stats, e->rules.rules->digest, e->rules.rules->names,
		e->rules.rules->count);
	return 0;
}

static void done_rules(struct ing_engine *e)
{
	ing_ruleset_done(&e->rules);
	ing_ruleset_done(&e->next_rules);
	ing_rule_stats_free(ING_TAKE(e->rule_stats));
}

/* Of the pauses that operators have set, the longest. */
static unsigned longest_set_pause_ms(const struct ing_engine *e)
{
	unsigned ms = e->conf->gate.backoff.delay_ms;
	const struct ing_host_rule *rule = ing_host_rules_entries(e->rules.host_rules);
	for (; rule != NULL; rule = rule->next)
		ms = ING_MAX(ms, rule->has_delay ? rule->delay_ms : 0);
	return ms;
}

/* Of the pauses that any host may be due. Who takes over a host at once from a dead worker does not
 * know when that has last asked it, nor which pause was due. */
static unsigned longest_pause_ms(const struct ing_engine *e)
{
	const struct ing_conf *c = e->conf;
	unsigned ms = longest_set_pause_ms(e);
	bool obeyed = c->obey_robots;
	const struct ing_host_rule *rule = ing_host_rules_entries(e->rules.host_rules);
	for (; rule != NULL; rule = rule->next)
		obeyed |= rule->obey_robots == ING_CHOICE_YES;
	if (c->gate.backoff.adaptive_factor > 0)
		ms = ING_MAX(ms, c->gate.backoff.adaptive_max_ms);
	return obeyed ? ING_MAX(ms, c->gate.backoff.crawl_delay_max_ms) : ms;
}

static void on_blocks(void *ctx, const struct ing_lease_block *blocks, size_t count)
{
	struct ing_engine *e = ctx;
	const char *first = NULL;
	size_t ignored = 0;
	ing_blocked_hosts_clear(e->blocks);
	for (size_t i = 0; i < count; i++) {
		if (ing_blocked_hosts_add(e->blocks, blocks[i].host, blocks[i].why))
			continue;
		first = first != NULL ? first : blocks[i].host;
		ignored++;
	}
	if (ignored > 0)
		ing_log(ING_LOG_WARNING,
			"host_block: %zu entries are ignored, as they name no host or one that "
			"another entry names: %.254s",
			ignored, first);
}

static int open_leases(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	if (c->postgres.dsn[0] == '\0') {
		ing_log(ING_LOG_INFO,
			"postgres.dsn is empty: hosts are shared with no other worker");
		return 0;
	}
	ing_must(ing_conf_lease_ms(c) >= ing_conf_shortest_lease_ms(c)); /* of a good file */
	struct ing_lease_conf conf = {
		.dsn = c->postgres.dsn,
		.instance = c->instance,
		.lease_ms = ing_conf_lease_ms(c),
		.round_ms = ING_CONF_LEASE_ROUND_MS,
		.statement_ms = c->postgres.statement_ms,
		.takeover_rest_ms = longest_pause_ms(e),
		.expired_rest_ms = longest_set_pause_ms(e),
	};
	int rc = ing_leases_new(&e->loop, &conf, &e->leases, err);
	if (rc == 0)
		ing_leases_on_blocks(e->leases, on_blocks, e);
	return rc;
}

static int init_leases(struct ing_engine *e, struct ing_error *err)
{
	e->blocks = ing_blocked_hosts_new();
	int rc = !e->shared && !e->keeping ? 0 : open_leases(e, err);
	if (rc != 0)
		ing_blocked_hosts_free(ING_TAKE(e->blocks));
	return rc;
}

static void done_leases(struct ing_engine *e)
{
	ing_leases_free(ING_TAKE(e->leases));
	ing_blocked_hosts_free(ING_TAKE(e->blocks));
}

static int init_lookup(struct ing_engine *e, struct ing_error *err)
{
	if ((!e->shared && !e->keeping) || e->conf->postgres.dsn[0] == '\0')
		return 0;
	return ing_lookup_new(&e->loop, &e->conf->postgres, &e->lookup, err);
}

static void done_lookup(struct ing_engine *e)
{
	ing_lookup_free(ING_TAKE(e->lookup));
}

/* --- the gate asks fetch for addresses --- */

static void on_address(void *ctx, const struct ing_addr *addr)
{
	struct ing_gate_lookup *l = ctx;
	l->state = NULL;
	l->done(l, addr);
}

static void start_lookup(void *ctx, struct ing_gate_lookup *l, const char *url)
{
	struct ing_engine *e = ctx;
	ing_fetch_lookup(e->fetch, url, on_address, l, &l->state);
}

static void stop_lookup(void *ctx, struct ing_gate_lookup *l)
{
	(void)ctx;
	ing_fetch_lookup_stop(ING_TAKE(l->state));
}

static bool has_room(void *ctx, const char *key)
{
	const struct ing_engine *e = ctx;
	return ing_pool_has_room(e->pool, key);
}

static int init_gate(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	e->gate = ing_gate_new(&e->loop, &(struct ing_gate_conf){
						 .settings = e->conf->gate,
						 .transfer_ms = ing_conf_transfer_ms(e->conf),
						 .lookup = {start_lookup, stop_lookup, e},
						 .room = {has_room, e},
						 .host_rules = e->rules.host_rules,
						 .leases = e->leases,
					 });
	return 0;
}

static void done_gate(struct ing_engine *e)
{
	ing_gate_free(ING_TAKE(e->gate));
}

static int init_fetch(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	int rc = ing_folder_make(c->fetch.spool_dir, "spool.dir", err);
	if (rc != 0)
		return rc;
	return ing_fetch_new(
		&e->loop, &c->fetch, ing_engine_connections(c->gate.concurrency), &e->fetch, err);
}

static void done_fetch(struct ing_engine *e)
{
	ing_fetch_free(ING_TAKE(e->fetch));
}

static int init_archive(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	bool writes = c->warc.dir[0] != '\0';
	int rc = writes ? ing_folder_make(c->warc.dir, "warc.dir", err) : 0;
	if (rc != 0)
		return rc;
	struct ing_archive_conf conf = {
		.settings = c->warc,
		.hostname = c->instance,
		.software = "ingest-worker/" ING_VERSION,
		.user_agent = c->fetch.user_agent,
		.robots = c->obey_robots ? "obey" : "ignore",
	};
	return ing_archive_new(&e->loop, &conf, &e->archive, err);
}

static void done_archive(struct ing_engine *e)
{
	ing_archive_free(ING_TAKE(e->archive));
}

/* --- the room on the disk --- */

static uint64_t count_written(void *ctx)
{
	const struct ing_engine *e = ctx;
	struct ing_archive_stats archive;
	struct ing_fetch_stats fetch;
	ing_archive_stats(e->archive, &archive);
	ing_fetch_stats(e->fetch, &fetch);
	return archive.bytes + fetch.body_bytes + fetch.memory_bytes;
}

static void on_disk_abort(void *ctx, const char *key)
{
	const struct ing_engine *e = ctx;
	if (e->fetch != NULL)
		ing_fetch_abort_disk(e->fetch, key);
}

static int init_disk(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	const struct ing_conf *c = e->conf;
	e->disk = ing_disk_new(
		&e->loop, &(struct ing_disk_conf){
				  .settings = c->disk,
				  .folders = {[ING_DISK_WARC] = c->warc.dir,
					  [ING_DISK_SPOOL] = c->fetch.spool_dir,
					  [ING_DISK_STATE] = e->shared ? c->state_dir : NULL,
					  [ING_DISK_STORE] = c->objects.dir},
				  .written = count_written,
				  .on_abort = on_disk_abort,
				  .ctx = e,
			  });
	return 0;
}

static void done_disk(struct ing_engine *e)
{
	ing_disk_free(ING_TAKE(e->disk));
}

static int init_pool(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	struct ing_pool_conf conf = {
		.settings = c->examine,
		.examiner_path = ing_path_examiner(),
		.capacity = c->gate.concurrency,
		.rules_fd = e->rules.fd,
	};
	conf.settings.processes = examiners_of(c);
	int rc = ing_pool_prove_sandbox(conf.examiner_path, err);
	if (rc != 0)
		return rc;
	return ing_pool_new(&e->loop, &conf, &e->pool, err);
}

static void done_pool(struct ing_engine *e)
{
	ing_pool_free(ING_TAKE(e->pool));
}

static int init_grobid(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	if (c->grobid.url == NULL)
		return 0;
	return ing_grobid_new(&e->loop,
		&(struct ing_grobid_conf){
			.settings = c->grobid,
			.user_agent = c->fetch.user_agent,
			.pool = e->pool,
			.lookup = e->lookup,
		},
		&e->grobid, err);
}

static void done_grobid(struct ing_engine *e)
{
	ing_grobid_free(ING_TAKE(e->grobid));
}

/* --- visits and robots.txt --- */

static int init_visits(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	e->visits = ing_visits_new(&e->loop, &(struct ing_visits_conf){
						     .url_rules = e->rules.url_rules,
						     .host_rules = e->rules.host_rules,
						     .blocked_hosts = e->blocks,
						     .orders = e->orders,
						     .tls_fallback = e->conf->tls_fallback,
					     });
	if (e->conf->warc.dir[0] != '\0' && e->conf->warc.revisits)
		e->originals = ing_originals_new(&e->conf->warc);
	return 0;
}

static void done_visits(struct ing_engine *e)
{
	ing_originals_free(ING_TAKE(e->originals));
	ing_visits_free(ING_TAKE(e->visits));
}

static int init_robots(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	const struct ing_conf *c = e->conf;
	e->robots_fetches = ing_robots_fetches_new(&(struct ing_robots_fetch_conf){
		.max_redirects = ROBOTS_REDIRECTS,
		.max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		.agent = c->fetch.user_agent,
		.deadline_ms = c->job.deadline_ms,
	});
	e->robots = ing_robots_new(&(struct ing_robots_conf){
		.obey = c->obey_robots,
		.max_entries = ROBOTS_ENTRIES,
		.max_bytes = ROBOTS_BYTES,
		.host_rules = e->rules.host_rules,
		.fetch = ing_robots_fetch_start,
		.ctx = e->robots_fetches,
	});
	return 0;
}

static void done_robots(struct ing_engine *e)
{
	ing_robots_fetches_free(ING_TAKE(e->robots_fetches));
	ing_robots_free(ING_TAKE(e->robots));
}

/* Of the lanes that there are: lines of a file have but one. */
static void set_weights(const struct ing_engine *e, unsigned weights[ING_LANES_])
{
	const struct ing_conf *c = e->conf;
	weights[ING_LANE_REQUESTS] = c->gate.weights[ING_LANE_REQUESTS];
	if (!e->shared)
		return;
	for (int i = 0; i < ING_LANES_; i++)
		weights[i] = c->kafka.lane_topics[i][0] != '\0' ? c->gate.weights[i] : 0;
}

/* The names by which parked requests say where they came from, and are known again. */
static void set_topics(const struct ing_engine *e, struct ing_pipeline_conf *conf)
{
	const struct ing_kafka_settings *kafka = &e->conf->kafka;
	for (int i = 0; i < ING_LANES_ && e->shared; i++)
		conf->lane_topics[i] = kafka->lane_topics[i];
	for (int i = 0; i < ING_TIERS_; i++) {
		enum ing_output output = ING_OUTPUT_OF_TIER(i);
		conf->tier_topics[i] =
			e->shared ? kafka->output_topics[output] : ing_output_row(output)->file;
	}
}

/* Somebody waits for the end of a run: not for longer than for a host that is held. */
static uint64_t longest_park_ms(const struct ing_engine *e)
{
	const struct ing_gate_settings *gate = &e->conf->gate;
	if (e->shared)
		return 0;
	if (gate->max_hold_ms == 0 || gate->max_wait_ms == 0)
		return ING_MAX(gate->max_hold_ms, gate->max_wait_ms);
	return ING_MIN(gate->max_hold_ms, gate->max_wait_ms);
}

static int init_objects(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	if (!ing_objects_wanted(&c->objects))
		return 0;
	return ing_objects_new(
		&e->loop, &c->objects, c->fetch.user_agent, c->instance, &e->objects, err);
}

static void done_objects(struct ing_engine *e)
{
	ing_objects_free(ING_TAKE(e->objects));
}

static int init_deliver(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	e->deliver = ing_deliver_new(e->conf->kafka.max_message_bytes);
	return 0;
}

static void done_deliver(struct ing_engine *e)
{
	ing_deliver_free(ING_TAKE(e->deliver));
}

static int init_pipeline(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	const struct ing_conf *c = e->conf;
	/* A PDF's reader ends a second before its examiner would be killed, so that the page's
	 * other findings survive. */
	unsigned margin_ms = c->examine.timeout_ms / 10 < 1000 ? c->examine.timeout_ms / 10 : 1000;
	struct ing_pipeline_conf conf = {
		.instance = c->instance,
		.keep_visits = c->postgres.visits,
		.settings = c->job,
		.publication = e->publication,
		.max_unacked = 4 * c->gate.concurrency + 64,
		.pdf_timeout_ms = c->examine.timeout_ms - margin_ms,
		.max_body_bytes = c->fetch.max_body_bytes,
		.rule_stats = e->rule_stats,
	};
	set_weights(e, conf.weights);
	set_topics(e, &conf);
	conf.longest_park_ms = longest_park_ms(e);
	e->pipeline = ing_pipeline_new(&e->loop, &conf);
	return 0;
}

static void done_pipeline(struct ing_engine *e)
{
	ing_pipeline_free(ING_TAKE(e->pipeline));
}

static int init_status(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	ing_engine_init_status(e);
	return 0;
}

/* The caller's part, which is freed with the engine's: emit first, whose last commits finish requests, then
 * intake, so that the next owner of the partitions can start. */
static int init_outside(struct ing_engine *e, struct ing_error *err)
{
	(void)e;
	(void)err;
	return 0;
}

static void done_outside(struct ing_engine *e)
{
	ing_control_free(ING_TAKE(e->control));
	ing_emit_free(ING_TAKE(e->outside.emit));
	ing_intake_free(ING_TAKE(e->outside.intake));
	ing_store_free(ING_TAKE(e->outside.store));
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_engine_part ing_engine_parts[] = {
	{init_limits, done_limits},
	{init_status, ing_engine_done_status},
	{ing_engine_init_publication, ing_engine_done_publication},
	{init_loop, done_loop},
	{init_timers, done_timers},
	{init_turns, done_turns},
	{ing_engine_init_orders, ing_engine_done_orders},
	{init_rules, done_rules},
	{init_leases, done_leases},
	{init_lookup, done_lookup},
	{init_fetch, done_fetch},
	{init_gate, done_gate},
	{init_visits, done_visits},
	{init_robots, done_robots},
	{init_archive, done_archive},
	{init_objects, done_objects},
	{init_disk, done_disk},
	{init_pool, done_pool},
	{init_grobid, done_grobid},
	{init_deliver, done_deliver},
	{init_pipeline, done_pipeline},
	{init_outside, done_outside},
	{ing_engine_init_fleet, ing_engine_done_fleet},
};

const size_t ing_engine_part_count = ING_ARRAY_LEN(ing_engine_parts);
