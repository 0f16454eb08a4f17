/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pipeline_priv.h - the pipeline's insides, shared by its files: pipeline.c (states, birth and
 * death), pipeline_flow.c (backpressure), pipeline_gate.c (robots.txt, the gate, second tries),
 * pipeline_hops.c (answers and pages), pipeline_end.c (from the decided status to the delivery).
 * Thread: loop only.
 */
#pragma once
#include <uv.h>

#include "worker/job/job.h"

struct ing_pipeline {
	struct ing_pipeline_conf conf;
	struct ing_stages stages;
	struct ing_job **jobs; /* by partition_slot: lists, oldest first */
	size_t slot_count;     /* of jobs */
	struct ing_work *examining;
	unsigned job_count, lane_jobs[ING_LANES_];
	size_t text_bytes, message_bytes;
	bool draining;
	bool paused[ING_LANES_]; /* intake */
	const char *blocked_by;
	uint64_t blocked_since_ms;
	bool blocked_said;
	uv_timer_t tick;
	uv_idle_t waking;
	struct ing_robots_waiter *woken; /* list: jobs that go on asking robots.txt */
	uint64_t robots_ns;              /* spent on that since the turn began */
	unsigned open_handles;
	struct ing_pipeline_stats stats;
};

/* pipeline.c */
/* The one place where a job's state changes; refuses edges that job_states.dot does not have. */
void ing_job_set_state(struct ing_job *job, enum ing_job_state state);
/* The heavy half: made when the job is admitted (or ends before). next_url is set, the message
 * dropped. */
void ing_job_start_work(struct ing_job *job);
/* `bytes` of PDF text are now what the job keeps. */
void ing_job_account_text(struct ing_job *job, size_t bytes);
void ing_job_free(struct ing_job *job);
/* True when the job was cancelled; it is freed once nothing is owed. */
bool ing_job_drop_cancelled(struct ing_job *job);

/* pipeline_flow.c */
/* Backpressure: one place that decides whether requests are taken in and whether waiting ones are
 * admitted. */
void ing_pipeline_balance(struct ing_pipeline *p);
/* The half of it that concerns the gate. */
void ing_pipeline_hold_gate(struct ing_pipeline *p);
/* No room for a further request of this lane. */
bool ing_pipeline_is_full(const struct ing_pipeline *p, enum ing_lane lane);

/* pipeline_gate.c */
/* What the rules say of a URL; ctx: the pipeline. */
struct ing_url_decision ing_pipeline_judge(void *pipeline, const char *url);
/* Those whose robots.txt has come go on, for some milliseconds a turn of the loop. */
void ing_pipeline_on_waking(uv_idle_t *waking);
/* Callbacks of a new job. */
void ing_job_init_waiting(struct ing_job *job);
/* Wait for the first fetch: a job in NEW, its start as ing_target_start() gave it. */
void ing_job_wait(struct ing_job *job, const char *url);
/* Takes url (heap): wait for the next one. From FETCHING or EXAMINING. */
void ing_job_go_to(struct ing_job *job, char *url, enum ing_via via);
/* Wait for another try of the last URL, if its answer and the deadline allow one; else false. From
 * FETCHING or EXAMINING; ex is not used afterwards. */
bool ing_job_try_again(struct ing_job *job, const struct ing_exchange *ex);
/* Waits for a host that is held, itself or its robots.txt: not worth a drain. */
bool ing_job_waits_for_hold(const struct ing_job *job);
/* The deadline's clock stands from now on. False: its time is up. */
bool ing_job_stop_clock(struct ing_work *w);
/* Out of the gate and of the lists for robots.txt. */
void ing_job_stop_waiting(struct ing_job *job);

/* pipeline_hops.c */
/* The ing_fetch_done_f of a job's transfer. */
void ing_job_on_fetched(void *job, struct ing_exchange *ex);
/* End the examinations whose deadline has passed. */
void ing_pipeline_check_deadlines(struct ing_pipeline *p, uint64_t now_ms);

/* pipeline_end.c */
/* The status is decided. Works from every state before ARCHIVING. words: copied; or NULL. The job
 * may be freed. */
void ing_job_end(struct ing_job *job, enum ing_status status, const char *words);
void ing_job_end_late(struct ing_job *job); /* job.deadline_ms has passed */
void ing_job_on_archived(struct ing_archive_item *item);
/* An unreadable message to the dead-letter topic. */
void ing_pipeline_dead_letter(
	struct ing_pipeline *p, const struct ing_message *m, const struct ing_error *err);
