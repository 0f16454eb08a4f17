/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The daemon. Beside `ingestctl run` (worker/ctl/run/work.c) the only code that opens intake, store and
 * emit.
 *
 * Stopping: the first SIGTERM or SIGINT stops intake and drops requests that wait for a host; running
 * ones may finish within stop.drain_ms and are cancelled then; finished offsets are committed and the
 * group is left. A second signal exits at once: the next owner processes again what was unfinished.
 */
#include "worker/engine/daemon.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/conf/conf.h"
#include "worker/model/version.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/journal/journal.h"
#include "worker/model/metrics.h"
#include "worker/service/endpoint.h"
#include "worker/service/hosts_watch.h"
#include "worker/service/instance_lock.h"
#include "worker/service/notify.h"
#include "worker/service/snapshot.h"
#include "worker/store/store.h"

#define STATUS_MS ING_SNAPSHOT_MS
#define STATUS_BYTES 4000
#define RULE_STATS_MS 60000
#define CLOSE_MS 15000  /* consumer, producer and database may each take some seconds to close */
#define EXTEND_MS 15000 /* a turn of the loop while it drains takes nowhere near that long */

struct worker {
	const struct ing_conf *conf;
	struct ing_engine engine;
	int lock_fd;
	struct ing_journal *journal; /* NULL: none */
	uv_signal_t on_term, on_int, on_hup;
	uv_timer_t status, watchdog;
	bool ready, stopping;
	uint64_t stop_by_ms; /* what runs then is cancelled */
	uint64_t last_results;
	struct ing_hosts_watch hosts;
	struct ing_endpoint *endpoint; /* NULL: off */
	enum ing_daemon_exit exit_code;
};

/* --- stopping --- */

static void start_stopping(struct worker *w, const char *why, unsigned drain_ms)
{
	if (w->stopping)
		return;
	w->stopping = true;
	ing_engine_set_phase(&w->engine, ING_PHASE_STOPPING);
	ing_log(ING_LOG_INFO, "%s: stopping, running requests may take %u ms", why, drain_ms);
	w->stop_by_ms = ing_now_ms() + drain_ms;
	ing_notify_stopping(EXTEND_MS);
	ing_engine_stop(&w->engine, drain_ms);
}

static void on_signal(uv_signal_t *s, int signum)
{
	struct worker *w = s->data;
	if (w->stopping) {
		ing_log(ING_LOG_WARNING, "second signal: exit at once");
		_exit(ING_DAEMON_RUNTIME);
	}
	start_stopping(w, signum == SIGTERM ? "SIGTERM" : "SIGINT", w->conf->drain_ms);
}

static void on_sighup(uv_signal_t *s, int signum)
{
	struct worker *w = s->data;
	(void)signum;
	if (w->stopping)
		return;
	ing_log(ING_LOG_INFO, "SIGHUP: reloading the rules in %s", w->conf->rules_dir);
	if (w->ready)
		ing_notify_reloading();
	ing_engine_reload_rules(&w->engine);
}

static void on_reloaded(void *ctx)
{
	const struct worker *w = ctx;
	if (w->ready && !w->stopping)
		ing_notify_ready();
}

/* --- events of intake and emit --- */

static void on_message(void *ctx, const struct ing_message *m)
{
	struct worker *w = ctx;
	ing_pipeline_on_message(w->engine.pipeline, m);
}

static void on_revoked(void *ctx, int32_t partition_index, uint32_t epoch)
{
	struct worker *w = ctx;
	ing_pipeline_on_revoked(w->engine.pipeline, partition_index, epoch);
}

static void be_ready(struct worker *w)
{
	if (!w->ready)
		ing_notify_ready();
	w->ready = true;
}

static void on_assigned(void *ctx, unsigned partitions)
{
	struct worker *w = ctx;
	ing_log(ING_LOG_INFO, "assigned %u partitions", partitions);
	be_ready(w);
	if (!w->stopping)
		ing_engine_set_phase(&w->engine, ING_PHASE_RUNNING);
}

static void on_end(void *ctx)
{
	(void)ctx; /* Kafka does not end */
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct worker *w = ctx;
	ing_log(ING_LOG_ERROR, "%s", err->msg);
	w->exit_code = ING_DAEMON_RUNTIME;
	/* Nothing can be delivered or committed any more, so there is nothing to wait for. */
	start_stopping(w, "fatal error", 0);
}

static void on_result(void *ctx, enum ing_status status, const struct ing_result_facts *facts)
{
	const struct worker *w = ctx;
	ing_engine_log_result(&w->engine, status, facts);
}

static void on_dead_letter(void *ctx, const struct ing_message *m, const struct ing_error *err)
{
	const struct worker *w = ctx;
	ing_engine_log_dead_letter(&w->engine, m, err);
}

/* --- files in state.dir --- */

/* Heap. */
static char *path_in_state(const struct worker *w, const char *name, const char *suffix)
{
	struct ing_buf path;
	ing_buf_init(&path, 8192);
	ing_buf_printf(&path, "%s/%s%s", w->conf->state_dir, name, suffix);
	return ing_buf_steal(&path);
}

/* The daemon works without its socket, too. */
static void open_control(struct worker *w)
{
	struct ing_error err = {0};
	char *path = path_in_state(w, w->conf->instance, ".sock");
	if (ing_engine_open_control(&w->engine, path, w->conf->instance, &err) != 0)
		ing_log(ING_LOG_WARNING, "no control socket: %s", err.msg);
	free(path);
}

static void keep_order(struct worker *w)
{
	char *path = path_in_state(w, w->conf->instance, ".order");
	ing_engine_keep_order(&w->engine, path);
	free(path);
}

static void keep_rule_stats(struct worker *w)
{
	char *path = path_in_state(w, "rule-yield", ".json");
	ing_engine_keep_rule_stats(&w->engine, path, RULE_STATS_MS);
	free(path);
}

/* --- timers --- */

static void extend_stop(const struct worker *w, uint64_t jobs)
{
	uint64_t now_ms = ing_now_ms();
	ing_notify_extend(EXTEND_MS);
	ing_notify_status("stopping, requests under way: %" PRIu64 ", time left for them: %" PRIu64
			  " s",
		jobs, w->stop_by_ms > now_ms ? (w->stop_by_ms - now_ms + 999) / 1000 : 0);
}

static void on_status(uv_timer_t *t)
{
	struct worker *w = t->data;
	struct ing_metrics now;
	ing_engine_metrics(&w->engine, &now);
	if (w->endpoint != NULL)
		ing_engine_publish(&w->engine,
			(struct ing_engine_phase){.assigned = w->ready, .stopping = w->stopping},
			&now, ing_endpoint_mailbox(w->endpoint));
	if (w->stopping) {
		extend_stop(w, now.pipeline.jobs);
		return;
	}
	if (ing_engine_is_drained(&w->engine))
		be_ready(w); /* no assignment comes */
	uint64_t results = now.deliver.results;
	struct ing_buf words;
	ing_buf_init(&words, STATUS_BYTES);
	ing_metrics_add_status(&now, (results - w->last_results) * 1000 / STATUS_MS, &words);
	ing_hosts_add_status(w->engine.gate, &words);
	size_t numbers = words.len;
	ing_buf_add_str(&words, "; held: ");
	if (!ing_engine_held_by(&w->engine, &words))
		words.len = numbers;
	ing_notify_status("%.*s", (int)words.len, ing_buf_str(&words));
	w->last_results = results;
	ing_buf_clear(&words);
	if (ing_hosts_watch(&w->hosts, w->engine.gate, ing_now_ms(), &words))
		ing_log(ING_LOG_INFO, "%s", ing_buf_str(&words));
	ing_buf_done(&words);
}

static void on_watchdog(uv_timer_t *t)
{
	(void)t;
	ing_notify_watchdog();
}

static void start_timers(struct worker *w)
{
	uv_loop_t *loop = &w->engine.loop;
	uv_signal_init(loop, &w->on_term);
	uv_signal_init(loop, &w->on_int);
	uv_signal_init(loop, &w->on_hup);
	uv_timer_init(loop, &w->status);
	uv_timer_init(loop, &w->watchdog);
	w->on_term.data = w->on_int.data = w->on_hup.data = w;
	w->status.data = w->watchdog.data = w;
	uv_signal_start(&w->on_term, on_signal, SIGTERM);
	uv_signal_start(&w->on_int, on_signal, SIGINT);
	uv_signal_start(&w->on_hup, on_sighup, SIGHUP);
	uv_timer_start(&w->status, on_status, STATUS_MS, STATUS_MS);
	unsigned watchdog_ms = ing_notify_watchdog_ms();
	if (watchdog_ms > 0)
		uv_timer_start(&w->watchdog, on_watchdog, 0, watchdog_ms);
}

static void stop_timers(struct worker *w)
{
	uv_close((uv_handle_t *)&w->on_term, NULL);
	uv_close((uv_handle_t *)&w->on_int, NULL);
	uv_close((uv_handle_t *)&w->on_hup, NULL);
	uv_close((uv_handle_t *)&w->status, NULL);
	uv_close((uv_handle_t *)&w->watchdog, NULL);
}

/* --- Kafka and PostgreSQL --- */

/* Without a database partitions are not claimed. */
static int open_store(struct worker *w, struct ing_claim_ops *ret_claims, struct ing_error *err)
{
	const struct ing_postgres_settings *settings = &w->conf->postgres;
	struct ing_engine *e = &w->engine;
	if (settings->dsn[0] == '\0') {
		ing_log(ING_LOG_INFO, "postgres.dsn is empty: no rows are written");
		return 0;
	}
	int rc = ing_store_new(&e->loop, settings, &e->outside.store, err);
	if (rc == 0)
		*ret_claims = ing_store_claim_ops(e->outside.store);
	return rc;
}

static int open_outside(struct worker *w, struct ing_error *err)
{
	const struct ing_conf *c = w->conf;
	uv_loop_t *loop = &w->engine.loop;
	struct ing_engine_outside *outside = &w->engine.outside;
	const struct ing_intake_events events = {
		.ctx = w,
		.on_message = on_message,
		.on_revoked = on_revoked,
		.on_assigned = on_assigned,
		.on_end = on_end,
		.on_fatal = on_fatal,
	};
	outside->on_result = on_result;
	outside->on_dead_letter = on_dead_letter;
	outside->on_reloaded = on_reloaded;
	outside->ctx = w;
	struct ing_claim_ops claims = {0};
	int rc = open_store(w, &claims, err);
	if (rc == 0)
		rc = ing_emit_kafka_new(
			loop, &c->kafka, c->instance, on_fatal, w, &outside->emit, err);
	if (rc == 0)
		rc = ing_intake_kafka_new(
			loop, &c->kafka, c->instance, &claims, &events, &outside->intake, err);
	return rc;
}

/* The daemon works without it, too. */
static void open_journal(struct worker *w)
{
	struct ing_error err = {0};
	char *path = path_in_state(w, w->conf->instance, ".crash-journal");
	if (ing_journal_open(path, &w->journal, &err) != 0)
		ing_log(ING_LOG_ERROR, "%s: a request that kills the worker will not be found",
			err.msg);
	free(path);
	w->engine.outside.journal = w->journal;
}

/* Before what takes long to start, so that health can be asked for meanwhile. */
static int open_endpoint(struct worker *w, struct ing_error *err)
{
	char at[200];
	if (w->conf->metrics.listen[0] == '\0')
		return 0;
	int rc = ing_endpoint_new(&w->conf->metrics, &w->endpoint, err);
	if (rc != 0)
		return rc;
	ing_endpoint_listening(w->endpoint, at, sizeof(at));
	ing_log(ING_LOG_INFO, "metrics at %s", at);
	return 0;
}

static int open_all(struct worker *w, struct ing_error *err)
{
	int rc = ing_instance_lock(w->conf->state_dir, w->conf->instance, &w->lock_fd, err);
	if (rc == 0)
		rc = open_endpoint(w, err);
	if (rc == 0)
		rc = ing_engine_init(&w->engine, w->conf, ING_ENGINE_SHARED, err);
	if (rc == 0)
		rc = open_outside(w, err);
	if (rc == 0)
		open_journal(w);
	return rc;
}

static void log_metrics(const struct worker *w)
{
	struct ing_metrics last;
	ing_engine_metrics(&w->engine, &last);
	char *line = ing_metrics_line(&last);
	ing_log(ING_LOG_INFO, "stopped: %s", line);
	free(line);
}

static void run(struct worker *w)
{
	keep_order(w);
	ing_engine_wire(&w->engine);
	start_timers(w);
	keep_rule_stats(w);
	open_control(w);
	ing_log(ING_LOG_INFO, "ingest-worker " ING_VERSION " as %s: waiting for partitions of %s",
		w->conf->instance, w->conf->kafka.lane_topics[ING_LANE_REQUESTS]);
	ing_intake_start(w->engine.outside.intake);
	if (ing_engine_is_drained(&w->engine))
		be_ready(w);
	ing_engine_run(&w->engine);
	log_metrics(w);
	ing_notify_extend(CLOSE_MS);
	stop_timers(w); /* from here on a second signal ends the process by default */
	signal(SIGHUP, SIG_IGN);
	if (ing_engine_idle(&w->engine))
		return;
	/* A database or disk that is away still holds requests; their offsets are not committed. */
	ing_log(ING_LOG_WARNING,
		"leaving unfinished requests to the next owner of their partitions");
	ing_engine_abandon(&w->engine);
	ing_journal_close(w->journal);
	ing_endpoint_free(w->endpoint);
	_exit(w->exit_code);
}

/* -------------------------------------------------------------------------------------------- */

enum ing_daemon_exit ing_daemon_run(const struct ing_conf *conf)
{
	struct worker w = {.conf = conf, .lock_fd = -1};
	struct ing_error err = {0};
	if (open_all(&w, &err) == 0) {
		run(&w);
	} else {
		ing_log(ING_LOG_ERROR, "%s", err.msg);
		w.exit_code =
			err.code == ING_FAIL_CONFIG ? ING_DAEMON_CONFIG : ING_DAEMON_ENVIRONMENT;
	}
	ing_engine_done(&w.engine);
	ing_journal_close(w.journal);
	ing_endpoint_free(w.endpoint);
	if (w.lock_fd >= 0)
		close(w.lock_fd);
	return w.exit_code;
}
