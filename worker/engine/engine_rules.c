/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reloading the rules, and the file of their statistics. Loop thread; while the loop runs, the file is
 * written by a thread of libuv's pool.
 *
 * A new set of rules is loaded beside the current one and given to the examiners first, as they may
 * refuse it. When they have it, the URL rules and the names of the statistics change with it.
 */
#include "worker/engine/engine_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "common/base/log.h"
#include "worker/conf/conf.h"
#include "worker/examine/pool.h"
#include "worker/job/job.h"
#include "worker/rules/rule_stats.h"
#include "worker/scrape/rules/rules.h"
#include "worker/visit/visit.h"

#define MAX_STATS_BYTES ((size_t)64 << 20)

static void end_reload(struct ing_engine *e)
{
	e->reloading = false;
	if (e->reload_again) {
		e->reload_again = false;
		ing_engine_reload_rules(e);
	} else if (e->outside.on_reloaded != NULL) {
		e->outside.on_reloaded(e->outside.ctx);
	}
}

static void refuse_rules(struct ing_engine *e, const char *why)
{
	ing_log(ING_LOG_ERROR, "rules not reloaded, the current ones stay in use: %s", why);
	ing_ruleset_done(&e->next_rules);
	end_reload(e);
}

static void on_examiners_reloaded(void *ctx, bool good)
{
	struct ing_engine *e = ctx;
	if (!good) {
		refuse_rules(e, "the examiners cannot load them");
		return;
	}
	struct ing_ruleset old = e->rules;
	e->rules = e->next_rules;
	e->next_rules = (struct ing_ruleset){.fd = -1};
	const struct ing_rules *rules = e->rules.rules;
	ing_visits_set_rules(e->visits, e->rules.url_rules, e->rules.host_rules);
	ing_gate_set_host_rules(e->gate, e->rules.host_rules);
	ing_robots_set_host_rules(e->robots, e->rules.host_rules);
	ing_rule_stats_set_rules(e->rule_stats, rules->digest, rules->names, rules->count);
	ing_ruleset_done(&old);
	ing_log(ING_LOG_INFO, "rules reloaded: %zu rules", ing_ruleset_count(&e->rules));
	end_reload(e);
}

/* --- rule statistics --- */

struct stats_file {
	uv_work_t work;
	char *path;
	struct ing_buf json;
};

static void write_file(const struct ing_buf *json, const char *path)
{
	struct ing_error err = {0};
	if (ing_replace_file(path, ing_buf_str(json), json->len, &err) != 0)
		ing_log(ING_LOG_WARNING, "rule statistics not written: %s", err.msg);
}

/* The days that a process before has counted. Before the loop runs. */
static void load_days(struct ing_engine *e)
{
	struct ing_buf json;
	struct ing_error err = {0};
	static char block[64 << 10];
	FILE *f = fopen(e->rule_stats_path, "rbe");
	if (f == NULL)
		return;
	ing_buf_init(&json, MAX_STATS_BYTES);
	for (size_t n = fread(block, 1, sizeof(block), f); n > 0;
		n = fread(block, 1, sizeof(block), f))
		ing_buf_add(&json, block, n);
	fclose(f);
	if (json.failed ||
		ing_rule_stats_load(e->rule_stats, ing_buf_str(&json), json.len, &err) != 0)
		ing_log(ING_LOG_WARNING, "%s: the rules' statistics of earlier days cannot be read",
			e->rule_stats_path);
	ing_buf_done(&json);
}

/* On a thread of libuv's pool. */
static void on_write(uv_work_t *work)
{
	const struct stats_file *f = work->data;
	write_file(&f->json, f->path);
}

static void on_written(uv_work_t *work, int status)
{
	struct stats_file *f = work->data;
	(void)status;
	ing_buf_done(&f->json);
	free(f->path);
	free(f);
}

static void on_timer(uv_timer_t *timer)
{
	struct ing_engine *e = timer->data;
	struct stats_file *f = ing_alloc(sizeof(*f));
	f->work.data = f;
	f->path = ing_strdup(e->rule_stats_path);
	ing_buf_init(&f->json, MAX_STATS_BYTES);
	ing_rule_stats_json(e->rule_stats, &f->json);
	int rc = uv_queue_work(&e->loop, &f->work, on_write, on_written);
	ing_must(rc == 0);
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_reload_rules(struct ing_engine *e)
{
	struct ing_report report;
	struct ing_error err = {0};
	if (e->reloading) {
		e->reload_again = true;
		return;
	}
	e->reloading = true;
	ing_report_init(&report);
	int rc = ing_ruleset_load(
		e->conf->rules_dir, e->conf->filters, &e->next_rules, &report, &err);
	ing_ruleset_log_report(&report);
	ing_report_done(&report);
	if (rc == 0)
		rc = ing_pool_reload(e->pool, e->next_rules.fd, on_examiners_reloaded, e, &err);
	if (rc != 0)
		refuse_rules(e, err.msg);
}

void ing_engine_init_rule_stats(struct ing_engine *e)
{
	uv_timer_init(&e->loop, &e->rule_stats_timer);
	e->rule_stats_timer.data = e;
}

void ing_engine_done_rule_stats(struct ing_engine *e)
{
	uv_close((uv_handle_t *)&e->rule_stats_timer, NULL);
	free(ING_TAKE(e->rule_stats_path));
}

void ing_engine_keep_rule_stats(struct ing_engine *e, const char *path, unsigned every_ms)
{
	e->rule_stats_path = ing_strdup(path);
	if (every_ms == 0)
		return;
	load_days(e);
	uv_timer_start(&e->rule_stats_timer, on_timer, 0, every_ms);
}

void ing_engine_write_rule_stats(const struct ing_engine *e)
{
	struct ing_buf json;
	if (e->rule_stats_path == NULL)
		return;
	ing_buf_init(&json, MAX_STATS_BYTES);
	ing_rule_stats_json(e->rule_stats, &json);
	write_file(&json, e->rule_stats_path);
	ing_buf_done(&json);
}
