/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingest-worker: the daemon. Reads the configuration, builds the stages, wires them to Kafka and
 * PostgreSQL, and runs the loop until it is told to stop. The only code that knows every stage,
 * beside `ingestctl run`.
 *
 * Stopping: the first SIGTERM (or SIGINT) stops intake and drops what has not been admitted; what
 * is under way may finish within stop.drain_ms; then the rest is cancelled, finished offsets are
 * committed and the group is left. A second signal exits at once: whatever that loses is done again
 * by the next owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/folder.h"
#include "common/base/log.h"
#include "common/base/options.h"
#include "worker/conf/conf.h"
#include "worker/conf/version.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine.h"
#include "worker/gate/gate.h"
#include "worker/service/hosts.h"
#include "worker/service/hosts_watch.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/model/metrics.h"
#include "worker/engine/ruleset.h"
#include "worker/service/control.h"
#include "worker/service/notify.h"
#include "worker/store/store.h"

#define MAX_SETS 256
#define STATUS_MS 1000
#define YIELD_MS 60000 /* between two writings of the rules' counters */
#define STOP_POLL_MS 20
#define CANCEL_GRACE_MS 5000 /* for callbacks of threads after the drain's bound */
#define CLOSE_MS 15000 /* consumer, producer and database may each take some seconds to close */
#define SECOND_SIGNAL_EXIT 1

enum exit_code { EXIT_OK = 0, EXIT_RUNTIME = 1, EXIT_CONFIG = 2, EXIT_ENVIRONMENT = 3 };

struct options {
	const char *config_file;
	char *sets[MAX_SETS + 1];
	size_t set_count;
	bool check_config, dump_config, dump_man;
};

struct worker {
	const struct ing_conf *conf;
	struct ing_engine engine;
	struct ing_intake *intake;
	struct ing_emit *emit;
	struct ing_store *store;
	struct ing_control *control; /* NULL: it could not be opened */
	int lock_fd;
	uv_signal_t on_term, on_int, on_hup;
	uv_timer_t status, watchdog, stop, rule_stats;
	char *yield_path;
	bool ready, stopping, cancelled;
	uint64_t stop_by_ms;
	uint64_t last_results;
	struct ing_hosts_watch hosts;
	enum exit_code exit_code;
};

/* --- the lock on the instance's name --- */

static int lock_instance(struct worker *w, struct ing_error *err)
{
	const struct ing_conf *c = w->conf;
	char path[4096];
	int rc = ing_folder_make(c->state_dir, "state.dir", err);
	if (rc != 0)
		return rc;
	int n = snprintf(path, sizeof(path), "%s/%s.lock", c->state_dir, c->instance);
	if (n < 0 || (size_t)n >= sizeof(path))
		return ing_error_set(err, ING_FAIL_CONFIG, "state.dir: path too long");
	w->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (w->lock_fd < 0)
		return ing_error_sys(err, errno, "state.dir: cannot open %s", path);
	if (flock(w->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return ing_error_sys(err, errno, "state.dir: cannot lock %s", path);
	return ing_error_set(err, ING_FAIL_LOCKED,
		"instance %s: another worker of this name is running (it holds %s)", c->instance,
		path);
}

/* --- stopping --- */

static void finish(struct worker *w)
{
	uv_stop(&w->engine.loop);
}

static void on_stop_poll(uv_timer_t *t)
{
	struct worker *w = t->data;
	uint64_t now = ing_now_ms();
	ing_engine_settle(&w->engine);
	if (ing_engine_idle(&w->engine) && ing_emit_outstanding(w->emit) == 0) {
		finish(w);
	} else if (now >= w->stop_by_ms && !w->cancelled) {
		ing_log(ING_LOG_WARNING,
			"the time to finish has passed: calling off what is under way");
		w->cancelled = true;
		w->stop_by_ms = now + CANCEL_GRACE_MS;
		ing_engine_cancel(&w->engine);
	} else if (now >= w->stop_by_ms) {
		finish(w);
	}
}

static void start_stopping(struct worker *w, const char *why, unsigned drain_ms)
{
	if (w->stopping)
		return;
	w->stopping = true;
	w->stop_by_ms = ing_now_ms() + drain_ms;
	ing_log(ING_LOG_INFO, "%s: stopping, at most %u ms for what is under way", why, drain_ms);
	ing_notify_stopping(drain_ms + CANCEL_GRACE_MS + CLOSE_MS);
	ing_intake_stop(w->intake);
	ing_pipeline_drain(w->engine.pipeline);
	uv_timer_start(&w->stop, on_stop_poll, 0, STOP_POLL_MS);
}

static void on_signal(uv_signal_t *s, int signum)
{
	struct worker *w = s->data;
	if (w->stopping) {
		ing_log(ING_LOG_WARNING, "second signal: out");
		_exit(SECOND_SIGNAL_EXIT);
	}
	start_stopping(w, signum == SIGTERM ? "SIGTERM" : "SIGINT", w->conf->drain_ms);
}

static void on_sighup(uv_signal_t *s, int signum)
{
	struct worker *w = s->data;
	(void)signum;
	if (w->stopping)
		return;
	ing_log(ING_LOG_INFO, "SIGHUP: reading the rules of %s again", w->conf->rules_dir);
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

static void on_assigned(void *ctx, unsigned partitions)
{
	struct worker *w = ctx;
	ing_log(ING_LOG_INFO, "assigned %u partitions", partitions);
	if (!w->ready)
		ing_notify_ready();
	w->ready = true;
}

static void on_end(void *ctx)
{
	(void)ctx; /* Kafka does not end */
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct worker *w = ctx;
	ing_log(ING_LOG_ERROR, "%s", err->msg);
	w->exit_code = EXIT_RUNTIME;
	/* Nothing can be delivered or committed any more, so there is nothing to wait for. */
	start_stopping(w, "fatal error", 0);
}

static void on_dead_letter(void *ctx, const struct ing_message *m, const struct ing_error *err)
{
	static struct ing_log_throttle gate;
	unsigned more = 0;
	(void)ctx;
	if (ing_log_throttle_pass(&gate, 5000, &more))
		ing_log(ING_LOG_WARNING, "dead letter: %s [%d] offset %lld: %s (%u more before)",
			m->topic, m->partition, (long long)m->token.offset, err->msg, more);
}

/* --- operators' questions --- */

static json_t *on_question(void *ctx, const json_t *question)
{
	const struct worker *w = ctx;
	return ing_hosts_answer(
		&(struct ing_hosts_sources){
			.gate = w->engine.gate,
			.robots = w->engine.robots,
			.host_rules = w->engine.rules.host_rules,
			.blocked_hosts = w->engine.blocks,
			.instance = w->conf->instance,
		},
		question);
}

/* A worker without its socket does its work all the same. */
static void open_control(struct worker *w)
{
	struct ing_error err = {0};
	struct ing_buf path;
	ing_buf_init(&path, 8192);
	ing_buf_printf(&path, "%s/%s.sock", w->conf->state_dir, w->conf->instance);
	if (ing_control_new(
		    &w->engine.loop, ing_buf_str(&path), on_question, w, &w->control, &err) != 0)
		ing_log(ING_LOG_WARNING, "no control socket: %s", err.msg);
	ing_buf_done(&path);
}

/* --- timers --- */

static void on_status(uv_timer_t *t)
{
	struct worker *w = t->data;
	struct ing_metrics now;
	ing_engine_metrics(&w->engine, &now);
	uint64_t results = now.deliver.results;
	const char *blocked = ing_pipeline_blocked_by(w->engine.pipeline);
	struct ing_buf words;
	ing_buf_init(&words, 1000);
	ing_metrics_add_status(&now, (results - w->last_results) * 1000 / STATUS_MS, &words);
	ing_hosts_add_status(w->engine.gate, &words);
	ing_notify_status("%s%s%s", ing_buf_str(&words), blocked != NULL ? ", waiting for " : "",
		blocked != NULL ? blocked : "");
	w->last_results = results;
	ing_buf_clear(&words);
	if (ing_hosts_watch(&w->hosts, w->engine.gate, ing_now_ms(), &words))
		ing_log(ING_LOG_INFO, "%s", ing_buf_str(&words));
	ing_buf_done(&words);
}

static void on_yield(uv_timer_t *t)
{
	struct worker *w = t->data;
	ing_engine_write_yield_soon(&w->engine, w->yield_path);
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
	uv_timer_init(loop, &w->stop);
	uv_timer_init(loop, &w->rule_stats);
	w->on_term.data = w->on_int.data = w->on_hup.data = w;
	w->status.data = w->watchdog.data = w->stop.data = w->rule_stats.data = w;
	uv_signal_start(&w->on_term, on_signal, SIGTERM);
	uv_signal_start(&w->on_int, on_signal, SIGINT);
	uv_signal_start(&w->on_hup, on_sighup, SIGHUP);
	uv_timer_start(&w->status, on_status, STATUS_MS, STATUS_MS);
	uv_timer_start(&w->rule_stats, on_yield, 0, YIELD_MS);
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
	uv_close((uv_handle_t *)&w->stop, NULL);
	uv_close((uv_handle_t *)&w->rule_stats, NULL);
}

/* --- the servers' side --- */

static int open_store(struct worker *w, struct ing_error *err)
{
	const struct ing_conf *c = w->conf;
	if (c->postgres.dsn[0] == '\0') {
		ing_log(ING_LOG_INFO, "postgres.dsn is empty: no rows will be written");
		return 0;
	}
	return ing_store_new(&w->engine.loop, &c->postgres, &w->store, err);
}

static int open_emit(struct worker *w, struct ing_error *err)
{
	const struct ing_conf *c = w->conf;
	return ing_emit_kafka_new(
		&w->engine.loop, &c->kafka, c->instance, on_fatal, w, &w->emit, err);
}

static int open_intake(struct worker *w, struct ing_error *err)
{
	const struct ing_conf *c = w->conf;
	struct ing_intake_events events = {
		.ctx = w,
		.on_message = on_message,
		.on_revoked = on_revoked,
		.on_assigned = on_assigned,
		.on_end = on_end,
		.on_fatal = on_fatal,
	};
	return ing_intake_kafka_new(
		&w->engine.loop, &c->kafka, c->instance, &events, &w->intake, err);
}

/* Heap. */
static char *yield_path(const struct ing_conf *c)
{
	struct ing_buf path;
	ing_buf_init(&path, 8192);
	ing_buf_printf(&path, "%s/rule-yield.json", c->state_dir);
	return ing_buf_steal(&path);
}

static void close_all(struct worker *w)
{
	ing_control_free(ING_TAKE(w->control));
	/* Commits what is finished; first, so that the new owner can start. */
	ing_intake_free(ING_TAKE(w->intake));
	ing_emit_free(ING_TAKE(w->emit));
	ing_store_free(ING_TAKE(w->store));
	ing_engine_done(&w->engine);
	free(ING_TAKE(w->yield_path));
}

static enum exit_code run(struct worker *w, struct ing_error *err)
{
	if (lock_instance(w, err) != 0 ||
		ing_engine_init(&w->engine, w->conf, ING_ENGINE_FLEET, err) != 0 ||
		open_store(w, err) != 0 || open_emit(w, err) != 0 || open_intake(w, err) != 0) {
		close_all(w);
		return err->code == ING_FAIL_CONFIG ? EXIT_CONFIG : EXIT_ENVIRONMENT;
	}
	ing_engine_wire(&w->engine, &(struct ing_engine_outside){
					    .intake = w->intake,
					    .store = w->store,
					    .emit = w->emit,
					    .on_dead_letter = on_dead_letter,
					    .ctx = w,
				    });
	w->engine.on_reloaded = on_reloaded;
	w->engine.on_reloaded_ctx = w;
	w->yield_path = yield_path(w->conf);
	start_timers(w);
	open_control(w);
	ing_log(ING_LOG_INFO, "ingest-worker " ING_VERSION " as %s: waiting for partitions of %s",
		w->conf->instance, w->conf->kafka.lane_topics[ING_LANE_REQUESTS]);
	ing_intake_start(w->intake);
	ing_engine_run(&w->engine);

	struct ing_metrics last;
	ing_engine_metrics(&w->engine, &last);
	char *stats = ing_metrics_line(&last);
	ing_log(ING_LOG_INFO, "stopped: %s", stats);
	free(stats);
	ing_engine_write_yield(&w->engine, w->yield_path);
	stop_timers(w); /* from here on a second signal has its default effect: out */
	signal(SIGHUP, SIG_IGN);
	if (!ing_engine_idle(&w->engine)) {
		/* A database or disk that is away still holds jobs. Their offsets are not
		 * committed. */
		ing_log(ING_LOG_WARNING, "leaving unfinished requests to whoever owns them next");
		ing_intake_free(ING_TAKE(w->intake));
		ing_engine_abandon(&w->engine);
		_exit(w->exit_code);
	}
	close_all(w);
	return w->exit_code;
}

/* --- the command line --- */

/* The rule files are part of what an operator wants checked before a start. */
static enum exit_code check_rules(const struct ing_conf *conf)
{
	struct ing_ruleset rules;
	struct ing_report report;
	struct ing_error err = {0};
	ing_report_init(&report);
	int rc = ing_ruleset_load(conf->rules_dir, &rules, &report, &err);
	ing_report_print(&report, true, stderr);
	ing_report_done(&report);
	if (rc != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return err.code == ING_FAIL_CONFIG ? EXIT_CONFIG : EXIT_ENVIRONMENT;
	}
	ing_ruleset_done(&rules);
	printf("ingest-worker: the configuration is good\n");
	return EXIT_OK;
}

static void print_usage(FILE *to)
{
	fprintf(to,
		"usage: ingest-worker [--config FILE] [--set KEY=VALUE]...\n"
		"                     [--check-config] [--dump-config] [--dump-man] [--version] [--help]\n");
}

/* Returns -1 to go on, or the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"set", required_argument, NULL, 's'},
		{"check-config", no_argument, NULL, 'k'},
		{"dump-config", no_argument, NULL, 'd'},
		{"dump-man", no_argument, NULL, 'm'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	for (;;) {
		int c = ing_options_next(argc, argv, "h", options);
		if (c == -1)
			break;
		switch (c) {
		case 'c':
			o->config_file = optarg;
			break;
		case 's':
			if (o->set_count == MAX_SETS) {
				fprintf(stderr, "ingest-worker: more than %d --set\n", MAX_SETS);
				return EXIT_CONFIG;
			}
			o->sets[o->set_count++] = optarg;
			break;
		case 'k':
			o->check_config = true;
			break;
		case 'd':
			o->dump_config = true;
			break;
		case 'm':
			o->dump_man = true;
			break;
		case 'V':
			printf("ingest-worker %s\n", ING_VERSION);
			return EXIT_OK;
		case 'h':
			print_usage(stdout);
			return EXIT_OK;
		default:
			print_usage(stderr);
			return EXIT_CONFIG;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "ingest-worker: unexpected argument: %s\n", argv[optind]);
		return EXIT_CONFIG;
	}
	return -1;
}

/* -------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	struct options options = {0};
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* until there is a loop to reload the rules in */
	int code = parse_options(argc, argv, &options);
	if (code >= 0)
		return code;
	if (options.dump_man) {
		ing_conf_dump_man(stdout);
		return EXIT_OK;
	}
	struct ing_conf *conf = NULL;
	struct ing_report report = {0};
	/* A dump is also how one gets a first file to fill in, so it needs no contact yet. */
	enum ing_conf_use use = options.dump_config ? ING_CONF_CTL : ING_CONF_DAEMON;
	if (ing_conf_load(options.config_file, options.sets, use, &conf, &report) != 0) {
		ing_report_print_errors(&report, stderr);
		ing_report_done(&report);
		return EXIT_CONFIG;
	}
	ing_report_done(&report);
	code = EXIT_OK;
	if (options.dump_config) {
		ing_conf_dump(conf, stdout);
	} else if (options.check_config) {
		code = (int)check_rules(conf);
	} else {
		struct worker w = {.conf = conf, .lock_fd = -1};
		struct ing_error err = {0};
		ing_log_init(conf->log_level);
		ing_descriptors_reserve();
		code = (int)run(&w, &err);
		if (err.code != ING_FAIL_NONE)
			ing_log(ING_LOG_ERROR, "%s", err.msg);
		if (w.lock_fd >= 0)
			close(w.lock_fd);
	}
	ing_conf_free(conf);
	return code;
}
