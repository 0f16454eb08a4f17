/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine.h - the stages that the daemon and `ingestctl run` have in common, built from the
 * configuration.
 *
 * Owns: the loop, the watch over its turns, rules, leases, fetch, gate, visits, robots, archive,
 * examiner pool, deliver and pipeline. The caller adds intake, emit and store, wires it all and
 * runs the loop. Thread: the one that made it, which becomes the loop thread.
 */
#pragma once
#include <uv.h>
#include "common/base/error.h"
#include "worker/model/status.h"
#include "worker/engine/ruleset.h"

struct ing_conf;
struct ing_metrics;
struct ing_cdx;
struct ing_deliver;
struct ing_emit;
struct ing_intake;
struct ing_message;
struct ing_store;

/* Whether politeness is shared through postgres.dsn, when there is one. */
enum ing_engine_company { ING_ENGINE_ALONE, ING_ENGINE_FLEET };

struct ing_engine {
	uv_loop_t loop;
	uv_work_t pool_start; /* nothing to do: has libuv start its threads */
	struct ing_turns *turns;
	const struct ing_conf *conf; /* borrowed; must outlive the engine */
	enum ing_engine_company company;
	struct ing_ruleset rules;
	struct ing_ruleset coming; /* during a reload: loaded, not in force yet */
	bool reloading, reload_again;
	void (*on_reloaded)(void *ctx); /* a reload has ended, well or badly; NULL: nobody asks */
	void *on_reloaded_ctx;
	struct ing_rule_stats *rule_stats;
	struct ing_blocked_hosts *blocks;
	struct ing_leases *leases; /* NULL: this process alone is polite */
	struct ing_fetch *fetch;
	struct ing_gate *gate;
	struct ing_visits *visits;
	struct ing_robots *robots;
	struct ing_robots_fetches *robots_fetches;
	struct ing_archive *archive;
	struct ing_pool *pool;
	struct ing_deliver *deliver;
	struct ing_pipeline *pipeline;
	/* The caller's, as they were wired. */
	const struct ing_intake *intake;
	const struct ing_store *store;
};

/* Makes folders that are missing (spool.dir, warc.dir). On failure nothing is left behind. */
int ing_engine_init(struct ing_engine *e, const struct ing_conf *conf,
	enum ing_engine_company company, struct ing_error *err) ING_MUST_CHECK;
/* Nothing may be under way (ing_engine_idle()). Runs the loop until its handles are closed. Done
 * twice is fine. */
void ing_engine_done(struct ing_engine *e);

/* Instead of done, after ing_engine_cancel(), when what is still under way will not end: other
 * workers get the leases of hosts, with what was learnt of them. All else is left to the exit,
 * which must follow. */
void ing_engine_abandon(struct ing_engine *e);

/* What the caller adds: worker/job/job.h and worker/deliver/deliver.h say when the functions are
 * called. */
struct ing_engine_outside {
	struct ing_intake *intake;
	struct ing_store *store; /* NULL: no database */
	struct ing_emit *emit;
	void (*on_cdx)(void *ctx, const struct ing_cdx *line); /* or NULL */
	void (*on_result)(void *ctx, enum ing_status status);  /* or NULL */
	void (*on_dead_letter)(
		void *ctx, const struct ing_message *m, const struct ing_error *err); /* or NULL */
	void *ctx;
	const char *output; /* what emit writes to, for words about it; NULL: "broker" */
};

/* Join the caller's stages with the engine's. Before the first message. */
void ing_engine_wire(struct ing_engine *e, const struct ing_engine_outside *outside);
/* Run the loop until it is stopped, and watch its turns (status/turn.h). */
void ing_engine_run(struct ing_engine *e);

/* No request is under way, and nothing is being got for ourselves. */
bool ing_engine_idle(const struct ing_engine *e);
/* Call off what is got for ourselves once no request waits for it any more. For whoever waits for
 * idle. */
void ing_engine_settle(struct ing_engine *e);
/* Call off everything (ing_pipeline_cancel()). */
void ing_engine_cancel(struct ing_engine *e);

/* Read the rules again and put them in force whole: URL rules at once, examiners' as
 * ing_pool_reload() has it. What is wrong with them is logged, every line of it, and the old ones
 * stay. While one reload is under way another is remembered, and done after it. */
void ing_engine_reload_rules(struct ing_engine *e);
/* Write the rules' counters (worker/rules/rule_stats.h) into a file, off the loop, or now. A
 * failure is logged. */
void ing_engine_write_yield_soon(struct ing_engine *e, const char *path);
void ing_engine_write_yield(const struct ing_engine *e, const char *path);

/* What every stage counts and measures, as it is now (worker/model/metrics.h). The stages are those
 * that were wired. On the loop's thread. */
void ing_engine_metrics(const struct ing_engine *e, struct ing_metrics *ret);
