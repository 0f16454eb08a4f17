/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_work.h - the work of a run: the stages of the daemon with lines of a file in place of Kafka
 * and no database, from the first line to the last result.
 *
 * It ends when every request has its result, for which waiting and work are bounded; after SIGINT or
 * SIGTERM, when running requests are finished or stop.drain_ms has passed; after a second signal at
 * once, with exit status ING_CTL_INTERRUPTED. However it ends, kill -9 included, the results have one
 * line for each finished request.
 *
 * Owns: the engine. Thread: the main one, which becomes the loop
 * thread.
 */
#pragma once
#include "worker/ctl/run/progress.h"
#include "worker/engine/engine.h"

struct ing_conf;
struct ing_run_done;
struct ing_run_folder;
struct ing_run_input;
struct ing_run_parked;
struct ing_run_summary;

struct ing_run_work {
	/* The caller's, who sets them; all outlive the work. */
	const struct ing_conf *conf;
	const char *verb; /* for messages */
	const char *input_name;
	int input_fd;
	const struct ing_run_input *input; /* NULL: the descriptor is the file's own */
	const char *out_dir;               /* NULL: results go to results_fd, the rest nowhere */
	int results_fd;                    /* without out_dir */
	bool quiet;                        /* no bar, no words about progress, no summary */
	bool keeps;                        /* into postgres.dsn, if that is set */
	struct ing_run_folder *folder;     /* of out_dir */
	struct ing_run_done *before;       /* NULL: everything is to be done */
	struct ing_run_summary *summary;   /* of out_dir; NULL: none */
	const char *temp_dirs[2];          /* empty folders to remove if it ends at once; or NULL */
	struct ing_run_counts counts;      /* lines; the rest is counted here */

	/* Ours. */
	struct ing_engine engine;
	char *socket_path;
	struct ing_run_progress progress;
	struct ing_run_parked *parked; /* of out_dir; NULL: none */
	uv_timer_t serving;            /* of what is parked, and the summary */
	uint64_t summed_up_ms;         /* when that was last written */
	bool input_over;
	uv_signal_t on_term, on_int;
	bool interrupted; /* by a signal */
	bool failed;      /* and error says why */
	bool unsummed;    /* it has been said that the summary cannot be written */
	struct ing_error error;
};

/* ing_run_work_close() is due whatever it returns. */
int ing_run_work_open(struct ing_run_work *w, struct ing_error *err) ING_MUST_CHECK;
/* Returns when it has ended: see `interrupted` and `failed`. False: something will never end (a
 * disk or reader that is away holds requests), and the process must, by ing_run_work_leave(). */
bool ing_run_work_do(struct ing_run_work *w) ING_MUST_CHECK;
void ing_run_work_leave(struct ing_run_work *w, int exit_status) __attribute__((noreturn));
/* What was not opened is fine. */
void ing_run_work_close(struct ing_run_work *w);
