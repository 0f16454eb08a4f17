/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pipeline_priv.h - the pipeline's insides, shared by its files: pipeline.c (states, birth and
 * death), pipeline_flow.c (backpressure), pipeline_visits.c (how URLs are asked for),
 * pipeline_existing.c (what the tables may answer), pipeline_exams.c (what they bring is
 * examined), pipeline_hops.c (and leads on), pipeline_publication.c and pipeline_publications.c (publications), pipeline_resources.c (what shows a page that was found), pipeline_orders.c (what operators have ordered), pipeline_derive.c
 * (what GROBID makes of the document), pipeline_ready.c (deliveries of megabytes take turns), pipeline_end.c (from the decided status to the delivery), pipeline_park.c (requests that
 * wait in a topic, not in memory). Thread: loop only.
 */
#pragma once
#include <uv.h>

#include "worker/job/job.h"
#include "worker/job/publication.h"
#include "worker/job/shares.h"
#include "worker/model/parked.h"

/* The message of a job, as it came. */
struct ing_job_message {
	int64_t first_seen_ms; /* since 1970 */
	unsigned attempt;      /* tries before this one */
	uint32_t value_bytes, key_bytes;
	uint16_t replays;  /* of a dead letter that it was */
	uint16_t parkings; /* before it came this time */
	bool has_key;
	char data[]; /* value, then key */
};

struct ing_delivery;

struct ing_pipeline {
	struct ing_pipeline_conf conf;
	struct ing_stages stages;
	struct ing_shares *shares;
	/* Heap; NULL: none. */
	char *lane_topics[ING_LANES_], *tier_topics[ING_TIERS_];
	struct ing_job **jobs;      /* by partition_index: lists, oldest first */
	size_t slot_count;          /* of jobs */
	struct ing_work *examining; /* list: those with examinations under way */
	struct ing_work *ready;     /* list: those whose delivery waits for its turn */
	uv_idle_t delivering;
	uv_prepare_t turn;      /* begins: */
	uint64_t turn_began_ns; /* CPU time of the thread; 0: before the first of them got ready */
	unsigned long_turns;    /* in a row, which had no room for a delivery */
	unsigned open_handles;
	struct ing_publications publications;
	struct ing_job_resources *resources; /* list: of pages whose sub-resources are visited */
	uint64_t resources_checked_ms;
	size_t resource_bytes; /* what such jobs keep, of which derived_bytes knows nothing */
	unsigned job_count, lane_jobs[ING_LANES_];
	size_t derived_bytes, message_bytes;
	bool draining;
	bool paused[ING_LANES_]; /* intake */
	const char *blocked_by;
	uint64_t blocked_since_ms;
	enum ing_flow_hold hold; /* of the gate */
	uint64_t hold_since_ms;
	bool blocked_logged;
	struct ing_held_message *suspects; /* list: messages that are to be parsed alone */
	bool alone_at_work;                /* a suspect has been admitted */
	struct ing_journal_mark parsing;   /* the message that is being parsed */
	uv_timer_t tick;
	struct ing_pipeline_stats stats;
};

/* pipeline.c */
/* The one place where a job's state changes; refuses edges that job_states.dot does not have. */
void ing_job_set_state(struct ing_job *job, enum ing_job_state state);
/* The heavy half: made when the job is admitted (or ends before). */
void ing_job_start_work(struct ing_job *job);
/* The job now keeps `bytes` of text. */
void ing_job_account_derived(struct ing_job *job, size_t bytes);
void ing_job_free(struct ing_job *job);
/* True when the job was cancelled; it is freed once nothing is owed. */
bool ing_job_drop_cancelled(struct ing_job *job);

/* pipeline_flow.c */
/* Pause or resume intake, and hold or release the gate. */
void ing_pipeline_balance(struct ing_pipeline *p);
/* The gate alone. */
void ing_pipeline_hold_gate(struct ing_pipeline *p);
/* There is no room for a further request of this lane. */
bool ing_pipeline_is_full(const struct ing_pipeline *p, enum ing_lane lane);

/* The message that it came by. False: its assignment is over. */
static inline bool ing_job_source(const struct ing_job *job, struct ing_source *ret)
{
	return ing_intake_source(job->pipeline->stages.intake, job->token, ret);
}

/* pipeline_orders.c: what operators have told the worker to leave undone */
/* The instance or the lane is paused: nothing of it starts, and no time passes for it. */
bool ing_pipeline_is_paused(const struct ing_pipeline *p, enum ing_lane lane);
/* No message of the lane is to be taken. */
bool ing_pipeline_leaves_lane(const struct ing_pipeline *p, enum ing_lane lane);
/* Time does not count against the job: it is paused, or waits for an order to end. */
bool ing_job_is_ordered_to_wait(struct ing_job *job);
/* For struct ing_visit_user of any visit of a job. */
uint64_t ing_job_accepted_ms(const struct ing_visit *v);

/* pipeline_suspects.c: what has been in flight when a process died */
/* The stage that the job is in, for the crash journal. */
void ing_job_note_stage(struct ing_job *job);
void ing_job_enter_stage(struct ing_job *job, enum ing_journal_stage stage);
/* It has come through all of them. */
void ing_job_acquit(struct ing_job *job);
/* The message is a suspect: it waits, or has gone to dead letters. */
bool ing_pipeline_take_suspect(struct ing_pipeline *p, const struct ing_message *m);
/* Nobody else may begin a stage. */
bool ing_pipeline_waits_for_suspects(const struct ing_pipeline *p);
/* Those go on for which nobody is at work any more. */
void ing_pipeline_serve_suspects(struct ing_pipeline *p);
/* Drop those of an assignment; of all: NULL. */
void ing_pipeline_drop_suspects(struct ing_pipeline *p, const struct ing_token *of);
/* pipeline.c: alone: it waits to be the only one at work. */
void ing_pipeline_accept(struct ing_pipeline *p, const struct ing_message *m, bool alone);

/* pipeline_visits.c */
void ing_job_init_visits(struct ing_job *job);
/* Another kind of first visit, which has not begun. */
void ing_job_init_first_visit(struct ing_job *job, const struct ing_visit_user *user);
/* Where it begins, heap; of a job whose beginning was a URL that could be asked for. */
char *ing_job_derive_start(const struct ing_job *job);
/* Wait for the first transfer: a job in NEW, its start as ing_target_start() gave it. The job may be
 * gone afterwards, as after all that begins or ends visits. */
void ing_job_wait(struct ing_job *job, const char *url);
/* One more visit, ready to be started; its url is set. */
void ing_job_add_visit(
	struct ing_job *job, struct ing_job_visit *further, const struct ing_visit_user *user);
/* For struct ing_visit_user of any visit of a job. */
void ing_job_on_visit_changed(struct ing_visit *v);
void ing_job_on_visit_settled(struct ing_visit *v);
void ing_job_on_no_descriptor(struct ing_visit *v);
bool ing_job_visit_source(const struct ing_visit *v, struct ing_source *ret);
/* One more visit, of a link; beside others or after them. url: copied; referer: in the arena. */
void ing_job_visit(struct ing_job *job, const char *url, const char *referer);
/* Of an admitted job: FETCHING while a visit transfers, else EXAMINING, else GATED. */
void ing_job_update_state(struct ing_job *job);
/* Was url asked for before, by any of the visits, with the cookies as they are now? */
bool ing_job_asked_before(const struct ing_job *job, const char *url);
/* As ing_visit_cancel(), all that have not ended. */
void ing_job_cancel_visits(struct ing_job *job, bool at_once);
/* Of any of the visits: see visit.h. */
bool ing_job_owes(struct ing_job *job);
/* Of any of the chain's. */
bool ing_job_has_lost_answer(struct ing_job *job);
bool ing_job_waits_for_hold(struct ing_job *job);
bool ing_job_waits_for_order(struct ing_job *job);
/* Of all of them. */
bool ing_job_is_idle(struct ing_job *job);

/* pipeline_existing.c */
/* The tables may answer such a request. */
bool ing_pipeline_looks_up(
	const struct ing_pipeline *p, const struct ing_request *request, enum ing_lane lane);
/* Ask the tables for an earlier result, if the request may be answered with one; a job in NEW.
 * False: it is to be fetched. */
bool ing_job_look_up(struct ing_job *job, const struct ing_request *request);

/* pipeline_exams.c */
/* What becomes of an examination. */
struct ing_exam_use {
	/* f: checked; freed by the caller. The job may be gone afterwards, as after late(). */
	void (*examined)(struct ing_job *job, struct ing_visit *v, struct ing_visit_step *step,
		struct ing_findings *f);
	void (*late)(struct ing_job *job, struct ing_visit *v); /* job.deadline_ms has passed */
};
/* Looking into what a visit has brought. */
struct ing_job_exam {
	unsigned magic;
	struct ing_job_exam *prev, *next; /* of the job */
	struct ing_job *job;
	const struct ing_exam_use *use;
	struct ing_visit *visit;
	struct ing_visit_step *step;
	struct ing_exchange *exchange;
	struct ing_exam_task *ticket;
	uint64_t end_ms; /* when the deadline ends it; UINT64_MAX: no examiner has it */
};
/* want: enum ing_want bits. */
struct ing_exam_request ing_job_question(
	const struct ing_job *job, const struct ing_exchange *ex, unsigned want);
/* Look into what a visit has brought. */
void ing_job_examine(struct ing_job *job, struct ing_visit *v,
	const struct ing_visit_outcome *outcome, const struct ing_exam_request *q,
	const struct ing_exam_use *use);
void ing_job_cancel_exams(struct ing_job *job);
/* Call off the examinations that are past the deadline. */
void ing_pipeline_check_deadlines(struct ing_pipeline *p, uint64_t now_ms);

/* pipeline_hops.c */
/* Look into what a visit of the chain has brought; its outcome is EXAMINE or WALLS. */
void ing_job_examine_hop(
	struct ing_job *job, struct ing_visit *v, const struct ing_visit_outcome *outcome);

/* pipeline_derive.c */
/* A body that is being looked into may be one for GROBID: keep it, instead of any before. */
void ing_job_keep_document(struct ing_job *job, struct ing_exchange *exchange);
/* It was, by what was found. */
bool ing_job_is_for_grobid(const struct ing_job *job);
void ing_job_drop_document(struct ing_job *job);
/* Let GROBID read the document of a job whose status is decided and which owes nothing; it is
 * delivered afterwards. False: there is nothing to read. */
bool ing_job_derive(struct ing_job *job);
void ing_job_cancel_deriving(struct ing_job *job);

/* pipeline_park.c */
void ing_pipeline_init_parking(struct ing_pipeline *p);
void ing_pipeline_done_parking(struct ing_pipeline *p);
/* What is to become of a message with a request. */
struct ing_arrival {
	struct ing_parked parked; /* its headers; first_seen_ms is set */
	int tier;                 /* it is to be parked in this one; -1: it may wait here */
	uint64_t delay_ms;        /* for so long */
	bool for_share;           /* that is why, or */
	bool for_order;           /* this is; else it is not due yet */
	bool too_old;             /* it should be parked, and is too old for that */
	bool came_back;           /* from a tier, for host */
	char host[ING_PARKED_VALUE_BYTES]; /* that it counts for; "": none */
};
/* start: where it begins; NULL: nowhere, it ends at once. */
void ing_pipeline_receive(struct ing_pipeline *p, const struct ing_message *m, const char *start,
	struct ing_arrival *ret);
void ing_pipeline_park_message(struct ing_pipeline *p, const struct ing_message *m,
	const char *start, const struct ing_arrival *arrival);
/* Count the job for its host. */
void ing_job_reserve_share(struct ing_job *job, const struct ing_arrival *arrival);
/* The job is about to wait for the host of url. False: that has its share, and the job has ended;
 * it may be gone. */
bool ing_job_take_share(struct ing_job *job, const char *url);
void ing_job_leave_share(struct ing_job *job);
/* A delivery that parks the job, whose status is decided and which owes nothing. NULL: it gets a
 * result, which says why. */
struct ing_delivery *ing_job_make_parked(struct ing_job *job);

/* pipeline_end.c */
/* The job, whose status is decided and which owes nothing; it is freed. */
void ing_job_deliver(struct ing_job *job);
/* The same, in a later turn of the loop if that takes long. */
void ing_job_deliver_in_turn(struct ing_job *job);
/* It is not to be delivered any more. Harmless if it was not to be. */
void ing_job_leave_turn(struct ing_job *job);
/* Takes it. */
void ing_pipeline_deliver(struct ing_pipeline *p, struct ing_delivery *delivery);
/* Rows of the answers, and lines of the capture index. */
void ing_job_add_captures(struct ing_job *job, struct ing_delivery *delivery);
/* The status is decided; visits and examinations under way are cancelled. Works from every state
 * before ARCHIVING. detail: for error_message, copied; or NULL. The job may be gone. */
void ing_job_end(struct ing_job *job, enum ing_status status, const char *detail);
void ing_job_end_late(struct ing_job *job); /* job.deadline_ms has passed */
/* Of a job that cannot be parked once more for a host that has its share. */
void ing_job_end_crowded(struct ing_job *job);
/* A visit owes nothing any more. */
void ing_job_on_settled(struct ing_job *job);
/* m->answer only has to be committed: nothing is fetched. */
void ing_pipeline_commit_answer(struct ing_pipeline *p, const struct ing_message *m);
/* Send a message that is no request to the topic of dead letters. */
void ing_pipeline_dead_letter(
	struct ing_pipeline *p, const struct ing_message *m, const struct ing_error *err);
