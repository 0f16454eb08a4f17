/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The stages of a run and their events.
 */
#include "worker/ctl/run_work.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/run_done.h"
#include "worker/ctl/run_folder.h"
#include "worker/emit/emit.h"
#include "worker/service/hosts.h"
#include "worker/job/job.h"
#include "worker/service/control.h"

#define VERB "run"
#define POLL_MS 10
/* For threads to give back what was called off: as long as the daemon allows. */
#define CANCEL_GRACE_MS 10000

/* --- the end --- */

static void stop_taking(struct ing_run_work *w, unsigned drain_ms)
{
	w->stop_by_ms = ing_now_ms() + drain_ms;
	ing_intake_stop(w->intake);
	ing_pipeline_drain(w->engine.pipeline);
}

static void on_poll(uv_timer_t *t)
{
	struct ing_run_work *w = t->data;
	if (!w->ended && !w->interrupted && !w->failed)
		return;
	ing_engine_settle(&w->engine);
	bool out_of_time = (w->interrupted || w->failed) && ing_now_ms() >= w->stop_by_ms;
	if (ing_engine_idle(&w->engine) && ing_emit_outstanding(w->emit) == 0) {
		uv_stop(&w->engine.loop);
	} else if (out_of_time && !w->cancelled) {
		w->cancelled = true;
		w->stop_by_ms = ing_now_ms() + CANCEL_GRACE_MS;
		ing_engine_cancel(&w->engine);
	} else if (out_of_time) {
		uv_stop(&w->engine.loop);
	}
}

static void on_signal(uv_signal_t *s, int signum)
{
	struct ing_run_work *w = s->data;
	(void)signum;
	if (w->interrupted)
		ing_run_work_leave(w, ING_CTL_INTERRUPTED);
	w->interrupted = true;
	unsigned drain_ms = w->conf->drain_ms;
	ing_run_progress_clear(&w->progress);
	fprintf(stderr,
		"ingestctl run: stopping; what is under way has %u s to finish (again to leave at "
		"once)\n",
		drain_ms / 1000);
	if (!w->failed)
		stop_taking(w, drain_ms);
}

/* --- events --- */

/* The words may quote the line, and what a line does to a terminal is not its author's to say. */
static void print_harmless(const char *words)
{
	for (const char *c = words; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned)(unsigned char)*c);
		else
			fputc(*c, stderr);
	}
}

static void say_bad(
	const struct ing_run_work *w, const struct ing_message *m, const struct ing_error *err)
{
	ing_run_progress_clear(&w->progress);
	fprintf(stderr, "%s:%lld: ", m->topic, (long long)m->token.offset);
	print_harmless(err->msg);
	fputc('\n', stderr);
}

static void on_message(void *ctx, const struct ing_message *m)
{
	struct ing_run_work *w = ctx;
	struct ing_error err = {0};
	enum ing_run_was was =
		w->before != NULL ? ing_run_done_take(w->before, m->value, m->value_bytes, &err)
				  : ING_RUN_NEW;
	if (was == ING_RUN_NEW) {
		ing_pipeline_on_message(w->engine.pipeline, m);
		return;
	}
	if (was == ING_RUN_WAS_BAD) {
		w->counts.was_bad++;
		say_bad(w, m, &err);
	} else {
		w->counts.had_result++;
	}
	ing_intake_finish(w->intake, m->token);
}

static void on_revoked(void *ctx, int32_t partition_index, uint32_t epoch)
{
	(void)ctx; /* lines have one owner */
	(void)partition_index;
	(void)epoch;
}

static void on_assigned(void *ctx, unsigned partitions)
{
	(void)ctx;
	(void)partitions;
}

static void on_end(void *ctx)
{
	struct ing_run_work *w = ctx;
	w->ended = true;
}

/* Nothing more is read, and on_poll() calls off what is under way. */
static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct ing_run_work *w = ctx;
	if (w->failed)
		return;
	w->error = *err;
	w->failed = true;
	stop_taking(w, 0);
}

static void on_dead_letter(void *ctx, const struct ing_message *m, const struct ing_error *err)
{
	struct ing_run_work *w = ctx;
	w->counts.bad++;
	say_bad(w, m, err);
}

static void on_result(void *ctx, enum ing_status status)
{
	struct ing_run_work *w = ctx;
	w->counts.results++;
	w->counts.hits += status == ING_STATUS_SUCCESS;
}

static void on_cdx(void *ctx, const struct ing_cdx *row)
{
	struct ing_run_work *w = ctx;
	struct ing_error err = {0};
	if (w->folder != NULL && ing_run_folder_add_row(w->folder, row, &err) != 0)
		on_fatal(w, &err);
}

/* Of `ingestctl hosts --dir DIR`. */
static json_t *on_question(void *ctx, const json_t *question)
{
	const struct ing_run_work *w = ctx;
	return ing_hosts_answer(
		&(struct ing_hosts_sources){
			.gate = w->engine.gate,
			.robots = w->engine.robots,
			.host_rules = w->engine.rules.host_rules,
			.blocked_hosts = w->engine.blocks,
			.instance = w->out_dir,
		},
		question);
}

/* --- set-up --- */

/* Heap. */
static char *path_in(const char *dir, const char *name)
{
	struct ing_buf path;
	ing_buf_init(&path, 65536);
	ing_buf_printf(&path, "%s/%s", dir, name);
	return ing_buf_steal(&path);
}

/* A run without its socket does its work all the same. */
static void open_control(struct ing_run_work *w)
{
	struct ing_error err = {0};
	if (w->folder == NULL)
		return;
	w->socket_path = path_in(w->out_dir, ING_CTL_RUN_SOCKET);
	if (ing_control_new(&w->engine.loop, w->socket_path, on_question, w, &w->control, &err) !=
		0)
		(void)ing_ctl_fail(
			ING_CTL_OK, VERB, "warning: ingestctl hosts cannot ask: %s", err.msg);
}

/* What came of each rule, beside the results. */
static void write_yield(const struct ing_run_work *w)
{
	if (w->out_dir == NULL)
		return;
	char *path = path_in(w->out_dir, "rule-yield.json");
	ing_engine_write_yield(&w->engine, path);
	free(path);
}

/* -------------------------------------------------------------------------------------------- */

int ing_run_work_open(struct ing_run_work *w, struct ing_error *err)
{
	struct ing_intake_events events = {
		.ctx = w,
		.on_message = on_message,
		.on_revoked = on_revoked,
		.on_assigned = on_assigned,
		.on_end = on_end,
		.on_fatal = on_fatal,
	};
	int results_fd = w->folder != NULL ? ing_run_folder_results_fd(w->folder) : STDOUT_FILENO;
	int rc = ing_engine_init(&w->engine, w->conf, ING_ENGINE_ALONE, err);
	if (rc == 0)
		rc = ing_emit_lines_new(&w->engine.loop, results_fd, w->out_dir, &w->emit, err);
	if (rc == 0)
		ing_emit_lines_on_fatal(w->emit, on_fatal, w);
	if (rc == 0)
		rc = ing_intake_lines_new(
			&w->engine.loop, w->input_fd, w->input_name, &events, &w->intake, err);
	if (rc != 0)
		return rc;
	ing_engine_wire(&w->engine, &(struct ing_engine_outside){
					    .intake = w->intake,
					    .emit = w->emit,
					    .on_cdx = on_cdx,
					    .on_result = on_result,
					    .on_dead_letter = on_dead_letter,
					    .ctx = w,
					    .output = "output",
				    });
	return 0;
}

bool ing_run_work_do(struct ing_run_work *w)
{
	uv_loop_t *loop = &w->engine.loop;
	uv_timer_init(loop, &w->poll);
	uv_signal_init(loop, &w->on_term);
	uv_signal_init(loop, &w->on_int);
	w->poll.data = w->on_term.data = w->on_int.data = w;
	uv_timer_start(&w->poll, on_poll, POLL_MS, POLL_MS);
	uv_signal_start(&w->on_term, on_signal, SIGTERM);
	uv_signal_start(&w->on_int, on_signal, SIGINT);
	open_control(w);
	ing_run_progress_start(&w->progress, &w->engine, &w->counts);
	ing_intake_start(w->intake);
	ing_engine_run(&w->engine);
	ing_run_progress_stop(&w->progress);
	ing_control_free(ING_TAKE(w->control));
	uv_close((uv_handle_t *)&w->poll, NULL);
	uv_close((uv_handle_t *)&w->on_term, NULL);
	uv_close((uv_handle_t *)&w->on_int, NULL);
	write_yield(w);
	return ing_engine_idle(&w->engine);
}

void ing_run_work_leave(const struct ing_run_work *w, int exit_status)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(w->temp_dirs); i++) {
		if (w->temp_dirs[i] != NULL)
			rmdir(w->temp_dirs[i]);
	}
	if (w->control != NULL)
		unlink(w->socket_path);
	_exit(exit_status);
}

void ing_run_work_close(struct ing_run_work *w)
{
	ing_intake_free(ING_TAKE(w->intake));
	ing_emit_free(ING_TAKE(w->emit));
	ing_engine_done(&w->engine);
	free(ING_TAKE(w->socket_path));
}
