/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The stages of a run and their events.
 */
#include "worker/ctl/run/work.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/run/done.h"
#include "worker/ctl/run/folder.h"
#include "worker/ctl/run/input.h"
#include "worker/ctl/run/parked.h"
#include "worker/ctl/run/summary.h"
#include "worker/emit/emit.h"
#include "worker/job/job.h"
#include "worker/model/metrics.h"
#include "worker/store/store.h"

#define SERVE_MS 50
#define SUM_UP_MS 60000

/* A run goes on without. */
static void sum_up(struct ing_run_work *w, enum ing_summary_state state)
{
	struct ing_error err = {0};
	struct ing_metrics now;
	w->summed_up_ms = ing_now_ms();
	ing_engine_metrics(&w->engine, &now);
	if (ing_run_summary_write(w->summary, state, &w->counts, &now, &err) == 0 || w->unsummed)
		return;
	w->unsummed = true;
	ing_run_progress_clear(&w->progress);
	(void)ing_ctl_fail(ING_CTL_OK, w->verb, "warning: no summary: %s", err.msg);
}

static enum ing_summary_state state_of(const struct ing_run_work *w)
{
	if (w->failed || ing_run_input_failed(w->input))
		return ING_SUMMARY_FAILED;
	return w->interrupted ? ING_SUMMARY_INTERRUPTED : ING_SUMMARY_COMPLETE;
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
		"ingestctl %s: stopping; running requests have %u s to finish (a second signal exits "
		"at once)\n",
		w->verb, drain_ms / 1000);
	if (!w->failed)
		ing_engine_stop(&w->engine, drain_ms);
}

/* --- events --- */

static void print_bad_line(
	const struct ing_run_work *w, const struct ing_message *m, const struct ing_error *err)
{
	ing_run_progress_clear(&w->progress);
	fprintf(stderr, "%s:%lld: ", m->topic, (long long)m->token.offset);
	ing_ctl_print_harmless(err->msg); /* it may quote the line */
	fputc('\n', stderr);
}

/* A line of the input that is to be done; with what an earlier run says of it. */
static void begin_request(struct ing_run_work *w, const struct ing_message *m)
{
	struct ing_parked parked;
	struct ing_parked_text text;
	struct ing_header headers[ING_PARKED_HEADERS];
	struct ing_message with = *m;
	if (w->parked != NULL &&
		ing_run_parked_restore(w->parked, m->value, m->value_bytes, &parked)) {
		with.headers = headers;
		with.header_count = ing_parked_format(&parked, &text, headers);
	}
	ing_pipeline_on_message(w->engine.pipeline, &with);
}

static void on_message(void *ctx, const struct ing_message *m)
{
	struct ing_run_work *w = ctx;
	struct ing_error err = {0};
	enum ing_run_was was =
		w->before != NULL ? ing_run_done_take(w->before, m->value, m->value_bytes, &err)
				  : ING_RUN_NEW;
	if (was == ING_RUN_NEW) {
		begin_request(w, m);
		return;
	}
	if (was == ING_RUN_WAS_BAD) {
		w->counts.was_bad++;
		print_bad_line(w, m, &err);
	} else {
		w->counts.had_result++;
	}
	ing_intake_finish(w->engine.outside.intake, m->token);
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
	w->input_over = true;
	if (w->parked == NULL)
		ing_engine_finish(&w->engine);
}

/* Nothing more is read, and what is unfinished is cancelled. */
static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct ing_run_work *w = ctx;
	if (w->failed)
		return;
	w->error = *err;
	w->failed = true;
	ing_engine_stop(&w->engine, 0);
}

static void on_dead_letter(void *ctx, const struct ing_message *m, const struct ing_error *err)
{
	struct ing_run_work *w = ctx;
	w->counts.bad++;
	print_bad_line(w, m, err);
}

static void on_result(void *ctx, enum ing_status status, const struct ing_result_facts *facts)
{
	struct ing_run_work *w = ctx;
	if (w->summary != NULL)
		ing_run_summary_add(w->summary, ing_status_slug(status), facts);
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

/* --- what is parked --- */

static void on_parked(void *ctx, enum ing_tier tier)
{
	struct ing_run_work *w = ctx;
	ing_run_parked_added(w->parked, tier);
}

static bool takes_parked(void *ctx)
{
	const struct ing_run_work *w = ctx;
	return ing_pipeline_takes(w->engine.pipeline, ING_LANE_REQUESTS);
}

static void give_parked(void *ctx, const struct ing_message *m)
{
	struct ing_run_work *w = ctx;
	ing_pipeline_on_message(w->engine.pipeline, m);
}

/* What is under way may still be parked, and what is parked comes back. */
static void on_serving(uv_timer_t *timer)
{
	struct ing_run_work *w = timer->data;
	const struct ing_run_parked_user user = {takes_parked, give_parked, on_fatal, w};
	if (w->summary != NULL && ing_now_ms() - w->summed_up_ms >= SUM_UP_MS)
		sum_up(w, ING_SUMMARY_RUNNING);
	if (w->failed || w->interrupted)
		return;
	ing_run_parked_serve(w->parked, &user);
	if (!w->input_over || !ing_run_parked_is_empty(w->parked) ||
		!ing_pipeline_idle(w->engine.pipeline))
		return;
	uv_timer_stop(timer);
	ing_engine_finish(&w->engine);
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

/* For `ingestctl hosts --dir DIR`; a run works without its socket, too. */
static void open_control(struct ing_run_work *w)
{
	struct ing_error err = {0};
	if (w->folder == NULL)
		return;
	w->socket_path = path_in(w->out_dir, ING_CTL_RUN_SOCKET);
	if (ing_engine_open_control(&w->engine, w->socket_path, w->out_dir, &err) != 0)
		(void)ing_ctl_fail(ING_CTL_OK, w->verb,
			"warning: no control socket for ingestctl hosts: %s", err.msg);
}

static void keep_rule_stats(struct ing_run_work *w)
{
	if (w->out_dir == NULL)
		return;
	char *path = path_in(w->out_dir, "rule-yield.json");
	ing_engine_keep_rule_stats(&w->engine, path, 0);
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
	int results_fd = w->folder != NULL ? ing_run_folder_results_fd(w->folder) : w->results_fd;
	struct ing_engine_outside *outside = &w->engine.outside;
	bool keeps = w->keeps && w->conf->postgres.dsn[0] != '\0';
	int rc = ing_engine_init(
		&w->engine, w->conf, keeps ? ING_ENGINE_KEEPING : ING_ENGINE_ALONE, err);
	if (rc == 0 && keeps)
		rc = ing_store_new(&w->engine.loop, &w->conf->postgres, &outside->store, err);
	if (rc == 0)
		rc = ing_emit_lines_new(
			&w->engine.loop, results_fd, w->out_dir, &outside->emit, err);
	if (rc == 0)
		ing_emit_lines_on_fatal(outside->emit, on_fatal, w);
	if (rc == 0 && w->out_dir != NULL)
		rc = ing_run_parked_open(w->out_dir, w->before != NULL, &w->parked, err);
	if (rc == 0)
		rc = ing_intake_lines_new(&w->engine.loop, w->input_fd, w->input_name, &events,
			&outside->intake, err);
	if (rc != 0)
		return rc;
	outside->on_cdx = on_cdx;
	outside->on_result = on_result;
	outside->on_parked = w->parked != NULL ? on_parked : NULL;
	outside->on_dead_letter = on_dead_letter;
	outside->ctx = w;
	outside->output = "output";
	ing_engine_wire(&w->engine);
	keep_rule_stats(w);
	return 0;
}

bool ing_run_work_do(struct ing_run_work *w)
{
	uv_loop_t *loop = &w->engine.loop;
	uv_signal_init(loop, &w->on_term);
	uv_signal_init(loop, &w->on_int);
	w->on_term.data = w->on_int.data = w;
	uv_signal_start(&w->on_term, on_signal, SIGTERM);
	uv_signal_start(&w->on_int, on_signal, SIGINT);
	open_control(w);
	if (!w->quiet)
		ing_run_progress_start(&w->progress, w->verb, &w->engine, &w->counts);
	uv_timer_init(loop, &w->serving);
	w->serving.data = w;
	if (w->parked != NULL)
		uv_timer_start(&w->serving, on_serving, SERVE_MS, SERVE_MS);
	sum_up(w, ING_SUMMARY_RUNNING);
	ing_intake_start(w->engine.outside.intake);
	ing_engine_run(&w->engine);
	sum_up(w, state_of(w));
	ing_run_progress_stop(&w->progress);
	uv_close((uv_handle_t *)&w->serving, NULL);
	uv_close((uv_handle_t *)&w->on_term, NULL);
	uv_close((uv_handle_t *)&w->on_int, NULL);
	return ing_engine_idle(&w->engine);
}

void ing_run_work_leave(struct ing_run_work *w, int exit_status)
{
	sum_up(w, state_of(w));
	for (size_t i = 0; i < ING_ARRAY_LEN(w->temp_dirs); i++) {
		if (w->temp_dirs[i] != NULL)
			rmdir(w->temp_dirs[i]);
	}
	if (w->engine.control != NULL)
		unlink(w->socket_path);
	_exit(exit_status);
}

void ing_run_work_close(struct ing_run_work *w)
{
	ing_engine_done(&w->engine);
	ing_run_parked_free(ING_TAKE(w->parked));
	if (w->out_dir != NULL && w->input_over && !w->interrupted && !w->failed)
		ing_run_parked_remove(w->out_dir);
	free(ING_TAKE(w->socket_path));
}
