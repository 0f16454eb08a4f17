/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_priv.h - the Kafka intake's state, shared by its files: intake_kafka.c (messages,
 * life), kafka_assign.c (assignments), kafka_positions.c (where to read, commits) and
 * kafka_errors.c (what is said about trouble). Loop thread only.
 */
#pragma once
#include <librdkafka/rdkafka.h>

#include "common/base/log.h"
#include "worker/intake/intake_priv.h"
#include "worker/intake/kafka_question.h"
#include "worker/intake/slots.h"

/* Trouble of one kind is said at most so often. */
#define ING_KAFKA_LOG_EVERY_MS 30000

struct kafka_lane {
	char *topic;                /* NULL: none, and no queue */
	rd_kafka_queue_t *messages; /* of all its partitions */
	size_t full_marks;          /* assigned slots whose mark can take no more */
	bool paused;
	bool missing;     /* there is no such topic */
	bool missing_new; /* not said yet */
	bool denied;      /* reading it is not allowed: said */
};

enum kafka_phase {
	KAFKA_AWAY, /* no assignment */
	KAFKA_OURS,
	KAFKA_LEAVING, /* revoked: its jobs are cancelled, its last positions not committed yet */
};

struct kafka_intake {
	struct ing_intake base;
	struct uv_loop_s *loop;
	struct ing_intake_events ev;
	struct kafka_lane lanes[ING_LANES_];
	const char *name; /* the topic of requests, for the log */
	rd_kafka_t *rk;
	rd_kafka_queue_t *control; /* rebalances, errors */
	rd_kafka_queue_t *answers; /* to commits */
	struct ing_kafka_wake *wake;

	struct ing_slots slots;
	uint32_t last_epoch;
	enum kafka_phase phase;

	/* One commit, or the question before it, is under way at a time; and one question about
	 * slots that are adrift, which can take long and must not hold up the others' commits. */
	struct ing_kafka_question *check, *where; /* or NULL */
	bool check_stale, where_stale; /* of an assignment that has ended: ignore the answer */
	bool committing;               /* a commit is not answered yet */
	bool adrift;     /* a slot may be; of what is not answered, ask again at ask_due_ms */
	size_t ask_from; /* the slot to begin at, so that each has its turn of being asked */
	uint64_t ask_due_ms, commit_due_ms;
	uint64_t look_due_ms; /* at the positions of slots that have nothing to commit */
	/* LEAVING: what is still to be committed, or NULL; until when that is tried */
	rd_kafka_topic_partition_list_t *last;
	uint64_t leave_by_ms;
	struct ing_intake_stats stats;

	bool started, stopped, closing;
	bool had_assignment; /* on_assigned() has been called */
	bool fatal, fatal_said;
	bool trouble;         /* brokers away: said */
	uint64_t close_by_ms; /* once closing */
	struct ing_log_gate trouble_gate, error_gate, commit_gate, back_gate, ask_gate;
};

/* The lane of a topic, or ING_LANES_. */
enum ing_lane ing_kafka_lane_of(const struct kafka_intake *in, const char *topic);

/* kafka_assign.c */
/* librdkafka's rebalance_cb. */
void ing_kafka_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
	rd_kafka_topic_partition_list_t *parts, void *intake);
/* Reads every slot that is to be read, each from where its mark is. */
void ing_kafka_read(struct kafka_intake *in);
/* The log is not the one that was read: the slot's jobs are cancelled, a new epoch begins. */
void ing_kafka_begin_anew(struct kafka_intake *in, struct ing_slot *slot);
/* Where the slot is to be read must be asked; nothing is taken of it until then. */
void ing_kafka_set_adrift(struct kafka_intake *in, struct ing_slot *slot);
/* Gives revoked partitions back once their last positions are committed, or the time is up. */
void ing_kafka_go_on_leaving(struct kafka_intake *in);
/* At the end, when the loop does not turn, and before the consumer is closed, for then it does not
 * say the group's positions any more: blocks until in->close_by_ms at most. */
void ing_kafka_commit_at_end(struct kafka_intake *in);

/* kafka_positions.c */
/* What has been finished and not been committed. NULL when there is none. Caller destroys. */
rd_kafka_topic_partition_list_t *ing_kafka_due_positions(struct kafka_intake *in);
/* Ask what is to be asked and commit what is to be committed, unless something is under way. */
void ing_kafka_see_to_positions(struct kafka_intake *in);
/* Take an answer to a commit, if one comes within timeout_ms. False when none did. */
bool ing_kafka_take_answer(struct kafka_intake *in, int timeout_ms);
/* Commit in->last and wait for the answer, until in->close_by_ms at most. */
void ing_kafka_commit_last_now(struct kafka_intake *in);
void ing_kafka_note_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err);

/* kafka_errors.c */

/* topic: that the error is about, or NULL. */
void ing_kafka_note_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason);
/* The brokers answer. */
void ing_kafka_note_contact(struct kafka_intake *in);
/* Say what was noted and is said in one line: topics that are missing, the end of the consumer. */
void ing_kafka_say(struct kafka_intake *in);
