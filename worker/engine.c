/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Wiring, as a table of init and done steps run forward and backward.
 */
#include "worker/engine.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/folder.h"
#include "common/base/log.h"
#include "worker/archive/archive.h"
#include "worker/conf/conf.h"
#include "worker/conf/paths.h"
#include "worker/conf/version.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/gate/gate.h"
#include "worker/job/job.h"
#include "worker/job/yield.h"
#include "worker/scrape/rules/rules.h"
#include "worker/store/store.h"

static int init_loop(struct ing_engine *e, struct ing_error *err)
{
	int rc = uv_loop_init(&e->loop);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_SYSTEM, "loop: %s", uv_strerror(rc));
	return 0;
}

static void done_loop(struct ing_engine *e)
{
	uv_run(&e->loop, UV_RUN_DEFAULT);
	int rc = uv_loop_close(&e->loop);
	if (rc != 0)
		ing_log(ING_LOG_WARNING, "loop: %s at the end", uv_strerror(rc));
}

static int init_rules(struct ing_engine *e, struct ing_error *err)
{
	struct ing_report report;
	ing_report_init(&report);
	int rc = ing_ruleset_load(e->conf->rules.dir, &e->rules, &report, err);
	ing_ruleset_log_report(&report);
	ing_report_done(&report);
	if (rc != 0)
		return rc;
	e->yield = ing_yield_new();
	ing_yield_set_rules(
		e->yield, e->rules.rules->digest, e->rules.rules->names, e->rules.rules->count);
	return 0;
}

static void done_rules(struct ing_engine *e)
{
	ing_ruleset_done(&e->rules);
	ing_ruleset_done(&e->coming);
	ing_yield_free(ING_TAKE(e->yield));
}

static int init_gate(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	e->gate = ing_gate_new(&e->loop, &(struct ing_gate_conf){
						 .concurrency = e->conf->gate.concurrency,
						 .host_concurrency = e->conf->gate.host_concurrency,
						 .patience.delay_ms = e->conf->gate.host_delay_ms,
						 .max_wait_ms = e->conf->gate.max_wait_ms,
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
	int rc = ing_folder_make(c->spool.dir, "spool.dir", err);
	if (rc != 0)
		return rc;
	struct ing_fetch_conf conf = {
		.user_agent = c->fetch.user_agent,
		.timeout_ms = c->fetch.timeout_ms,
		.connect_timeout_ms = c->fetch.connect_timeout_ms,
		.stall_ms = c->fetch.stall_ms,
		.min_speed_bytes = c->fetch.min_speed_bytes,
		.max_body_bytes = c->fetch.max_body_bytes,
		.memory_bytes = c->fetch.memory_bytes,
		.ca_file = c->fetch.ca_file,
		.proxy = c->fetch.proxy,
		.connect_to = c->fetch.connect_to,
		.allow_address = c->fetch.allow_address,
		.allow_port = c->fetch.allow_port,
		.max_header_bytes = c->fetch.max_header_bytes,
		.max_header_fields = c->fetch.max_header_fields,
		.dns_servers = c->fetch.dns_servers,
		.spool_dir = c->spool.dir,
	};
	return ing_fetch_new(&e->loop, &conf, &e->fetch, err);
}

static void done_fetch(struct ing_engine *e)
{
	ing_fetch_free(ING_TAKE(e->fetch));
}

static int init_archive(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	if (c->warc.dir == NULL || c->warc.dir[0] == '\0')
		return 0;
	int rc = ing_folder_make(c->warc.dir, "warc.dir", err);
	if (rc != 0)
		return rc;
	struct ing_archive_conf conf = {
		.dir = c->warc.dir,
		.prefix = c->warc.prefix,
		.hostname = c->instance,
		.software = "ingest-worker/" ING_VERSION,
		.user_agent = c->fetch.user_agent,
		.robots = "ignore",
		.max_bytes = c->warc.max_bytes,
	};
	return ing_archive_new(&e->loop, &conf, &e->archive, err);
}

static void done_archive(struct ing_engine *e)
{
	ing_archive_free(ING_TAKE(e->archive));
}

static int init_pool(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	struct ing_pool_conf conf = {
		.examiner_path = ing_path_examiner(),
		.examiners = c->examine.processes > 0 ? c->examine.processes
						      : uv_available_parallelism(),
		.recycle_after = c->examine.recycle_after,
		.timeout_ms = c->examine.timeout_ms,
		.memory_bytes = c->examine.memory_bytes,
		.rules_fd = e->rules.fd,
	};
	return ing_pool_new(&e->loop, &conf, &e->pool, err);
}

static void done_pool(struct ing_engine *e)
{
	ing_pool_free(ING_TAKE(e->pool));
}

static int init_pipeline(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	const struct ing_conf *c = e->conf;
	/* A PDF's fork ends a second before its examiner would be killed, so that the page's other
	 * findings survive. */
	unsigned margin_ms = c->examine.timeout_ms / 10 < 1000 ? c->examine.timeout_ms / 10 : 1000;
	e->pipeline = ing_pipeline_new(
		&e->loop, &(struct ing_pipeline_conf){
				  .max_waiting = c->intake.max_waiting,
				  .max_unacked = 4 * c->gate.concurrency + 64,
				  .max_unexamined = c->gate.concurrency,
				  .max_hops = c->job.max_hops,
				  .max_redirects = c->fetch.max_redirects,
				  .deadline_ms = c->job.deadline_ms,
				  .pdf_timeout_ms = c->examine.timeout_ms - margin_ms,
				  .max_body_bytes = c->fetch.max_body_bytes,
				  .max_ratio = c->fetch.max_ratio,
				  .max_scrape_bytes = c->scrape.max_bytes,
				  .max_message_bytes = c->kafka.max_message_bytes,
				  .urlrules = e->rules.urlrules,
				  .yield = e->yield,
			  });
	return 0;
}

static void done_pipeline(struct ing_engine *e)
{
	ing_pipeline_free(ING_TAKE(e->pipeline));
}

static const struct {
	int (*init)(struct ing_engine *e, struct ing_error *err);
	void (*done)(struct ing_engine *e);
} steps[] = {
	{init_loop, done_loop},
	{init_rules, done_rules},
	{init_gate, done_gate},
	{init_archive, done_archive},
	{init_fetch, done_fetch},
	{init_pool, done_pool},
	{init_pipeline, done_pipeline},
};

static void undo(struct ing_engine *e, size_t steps_done)
{
	while (steps_done > 0)
		steps[--steps_done].done(e);
	e->conf = NULL;
}

/* ----------------------------------------------------------------------------------------------------------
 */

int ing_engine_init(struct ing_engine *e, const struct ing_conf *conf, struct ing_error *err)
{
	*e = (struct ing_engine){.conf = conf, .rules.fd = -1, .coming.fd = -1};
	for (size_t i = 0; i < ING_ARRAY_LEN(steps); i++) {
		int rc = steps[i].init(e, err);
		if (rc != 0) {
			undo(e, i);
			return rc;
		}
	}
	return 0;
}

void ing_engine_done(struct ing_engine *e)
{
	if (e->conf != NULL)
		undo(e, ING_ARRAY_LEN(steps));
}

char *ing_engine_stats_json(const struct ing_engine *e, const struct ing_store *store)
{
	struct ing_pipeline_stats p;
	ing_pipeline_stats(e->pipeline, &p);
	struct ing_fetch_stats f = {0};
	ing_fetch_stats(e->fetch, &f);
	struct ing_archive_stats a = {0};
	if (e->archive != NULL)
		ing_archive_stats(e->archive, &a);
	struct ing_pool_stats x = {0};
	ing_pool_stats(e->pool, &x);
	struct ing_store_stats s = {0};
	if (store != NULL)
		ing_store_stats(store, &s);
	struct rusage self;
	getrusage(RUSAGE_SELF, &self);
	struct rusage thread;
	getrusage(RUSAGE_THREAD, &thread);
	double self_s = (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) +
			(double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec) / 1e6;
	double loop_s = (double)(thread.ru_utime.tv_sec + thread.ru_stime.tv_sec) +
			(double)(thread.ru_utime.tv_usec + thread.ru_stime.tv_usec) / 1e6;
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
		"worker", self_s, "loop", loop_s, "archive", (double)a.cpu_ns / 1e9, "store",
		(double)s.cpu_ns / 1e9, "examine", (double)x.cpu_us / 1e6, "examine_pdf",
		(double)x.pdf_cpu_us / 1e6);
	ing_must(o != NULL);
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(o);
	return text;
}
