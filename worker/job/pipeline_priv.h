/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pipeline_priv.h - the pipeline's insides, shared by pipeline.c (states, admission, the hop loop)
 * and pipeline_end.c (from the decided status to the acknowledged result). Thread: loop only.
 */
#pragma once
#include <uv.h>

#include "common/base/log.h"
#include "worker/job/job.h"

#define ING_PIPELINE_LOG_MS 5000

struct ing_pipeline {
	struct ing_pipeline_conf conf;
	struct ing_stages stages;
	struct ing_job *jobs;
	struct ing_job *examining;
	unsigned job_count, dead_pending;
	size_t text_bytes, message_bytes;
	bool draining;
	bool intake_paused;
	const char *blocked_by;
	uint64_t blocked_since_ms;
	bool blocked_said;
	uv_timer_t tick;
	struct ing_log_gate refused_gate;
	struct ing_pipeline_stats stats;
};

/* pipeline.c */
/* The one place where a job's state changes; refuses edges that job_states.dot does not have. */
void ing_job_set_state(struct ing_job *job, enum ing_job_state state);
/* The heavy half: made when the job is admitted (or ends before). */
void ing_job_start_work(struct ing_job *job);
/* `bytes` of PDF text are now what the job keeps. */
void ing_job_account_text(struct ing_job *job, size_t bytes);
void ing_job_free(struct ing_job *job);
/* True when the job was cancelled; it is freed once nothing is owed. */
bool ing_job_drop_cancelled(struct ing_job *job);

/* pipeline_end.c */
/* The status is decided. Works from every state before ARCHIVING. words: copied; or NULL. */
void ing_job_end(struct ing_job *job, enum ing_status status, const char *words);
void ing_job_on_archived(struct ing_archive_item *item);
/* An unreadable message to the dead-letter topic. */
void ing_pipeline_bury(
	struct ing_pipeline *p, const struct ing_message *m, const struct ing_error *err);
