/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_priv.h - the Kafka intake's state, shared by its files: intake_kafka.c (assignments,
 * messages, life), kafka_positions.c (commits) and kafka_errors.c (what is said about trouble).
 * Loop thread only.
 */
#pragma once
#include <librdkafka/rdkafka.h>

#include "common/base/log.h"
#include "worker/intake/intake_priv.h"
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

struct kafka_intake {
	struct ing_intake base;
	struct ing_intake_events ev;
	struct kafka_lane lanes[ING_LANES_];
	const char *name; /* the topic of requests, for the log */
	rd_kafka_t *rk;
	rd_kafka_queue_t *control; /* rebalances, errors */
	rd_kafka_queue_t *answers; /* to commits */
	struct ing_kafka_wake *wake;

	struct ing_slots slots;
	uint32_t last_epoch;

	bool started, stopped, closing;
	bool had_assignment; /* on_assigned() has been called */
	bool committing;     /* a commit is not answered yet */
	bool fatal, fatal_said;
	bool trouble; /* brokers away: said */
	uint64_t commit_due_ms;
	uint64_t close_by_ms; /* once closing */
	struct ing_log_gate trouble_gate, error_gate, commit_gate;
};

/* The lane of a topic, or ING_LANES_. */
enum ing_lane ing_kafka_lane_of(const struct kafka_intake *in, const char *topic);

/* Send the positions that have moved, unless a commit is under way. */
void ing_kafka_send_positions(struct kafka_intake *in);
/* Take an answer to a commit, if one comes within timeout_ms. */
bool ing_kafka_take_answer(struct kafka_intake *in, int timeout_ms);
/* Commit what is finished and wait for the answer, some seconds at most. */
void ing_kafka_commit_now(struct kafka_intake *in);

/* topic: that the error is about, or NULL. */
void ing_kafka_note_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason);
/* The brokers answer. */
void ing_kafka_note_contact(struct kafka_intake *in);
/* Say what was noted and is said in one line: topics that are missing, the end of the consumer. */
void ing_kafka_say(struct kafka_intake *in);
