/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine.h - the stages that the daemon and `ingestctl run` have in common, built from the
 * configuration.
 *
 * Owns: the loop, URL rules, gate, fetch, archive, examiner pool and pipeline. The caller adds
 * intake, emit and store, wires the pipeline and runs the loop. Thread: the one that made it, which
 * becomes the loop thread.
 */
#pragma once
#include <uv.h>
#include "common/base/error.h"

struct ing_conf;

struct ing_engine {
	uv_loop_t loop;
	const struct ing_conf *conf; /* borrowed; must outlive the engine */
	struct ing_urlrules *urlrules;
	struct ing_gate *gate;
	struct ing_fetch *fetch;
	struct ing_archive *archive; /* NULL: warc.dir is empty */
	struct ing_pool *pool;
	struct ing_pipeline *pipeline;
};

/* Makes folders that are missing (spool.dir, warc.dir). On failure nothing is left behind. */
int ing_engine_init(
	struct ing_engine *e, const struct ing_conf *conf, struct ing_error *err) ING_MUST_CHECK;
/* Nothing may be under way (ing_pipeline_idle()). Runs the loop until its handles are closed. Done
 * twice is fine. */
void ing_engine_done(struct ing_engine *e);

/* Counters and CPU time of every stage as one line of JSON; heap, caller frees. store may be NULL.
 */
struct ing_store;
char *ing_engine_stats_json(const struct ing_engine *e, const struct ing_store *store);
