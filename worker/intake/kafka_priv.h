/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_priv.h - the state of the Kafka intake, shared by its files: intake_kafka.c (messages,
 * start and stop), kafka_assign.c (rebalances), kafka_positions.c (validation of positions,
 * commits) and kafka_errors.c (errors and their log lines). Loop thread only.
 */
#pragma once
#include <librdkafka/rdkafka.h>

#include "common/base/log.h"
#include "worker/intake/intake_priv.h"
#include "worker/intake/offset_query.h"
#include "worker/intake/partitions.h"

/* Errors of one kind are logged at most this often. */
#define ING_KAFKA_LOG_EVERY_MS 30000

struct kafka_lane {
	char *topic;                /* NULL: none, and no queue */
	rd_kafka_queue_t *messages; /* of all its partitions */
	size_t full_partitions;     /* assigned ones whose offset tracker is full */
	bool paused;
	bool missing;            /* the topic does not exist */
	bool missing_unreported; /* … and this is still to be logged */
	bool denied;             /* reading it is not authorized; logged */
};

enum kafka_phase {
	KAFKA_UNASSIGNED,
	KAFKA_ASSIGNED,
	KAFKA_REVOKING, /* its jobs are cancelled, its last offsets are not committed yet */
};

struct kafka_intake {
	struct ing_intake base;
	struct uv_loop_s *loop;
	struct ing_intake_events ev;
	struct kafka_lane lanes[ING_LANES_];
	const char *name; /* the topic of requests, for the log */
	rd_kafka_t *rk;
	rd_kafka_queue_t *consumer_queue; /* rebalances, errors */
	rd_kafka_queue_t *commit_replies;
	struct ing_kafka_wake *wake;

	struct ing_partitions partitions;
	uint32_t last_epoch;
	enum kafka_phase phase;

	/* At most one commit, or the query before it, is pending. Beside it at most one query for
	 * partitions that await validation, which can take seconds and must not delay commits.
	 * Stale: of an assignment that has ended, its answer is ignored. */
	struct ing_offset_query *commit_query, *validation_query; /* or NULL */
	bool commit_query_stale, validation_query_stale;
	bool commit_pending;
	bool validation_wanted;     /* some partition may await validation */
	size_t validate_from;       /* index of the partition to begin the next query with */
	uint64_t validation_due_ms; /* next query of partitions that were not answered */
	uint64_t commit_due_ms;
	uint64_t idle_check_due_ms; /* of partitions with nothing to commit */
	/* REVOKING: the offsets still to be committed, or NULL; until when that is tried */
	rd_kafka_topic_partition_list_t *revoked_offsets;
	uint64_t revocation_deadline_ms;
	struct ing_intake_stats stats;

	bool started, stopped, closing;
	bool had_assignment; /* on_assigned() has been called */
	bool fatal, fatal_reported;
	bool brokers_down;          /* logged */
	uint64_t close_deadline_ms; /* once closing */
	struct ing_log_throttle brokers_throttle, error_throttle, commit_throttle, restart_throttle,
		validation_throttle;
};

/* Returns the lane of a topic, or ING_LANES_ when it is none of ours. */
enum ing_lane ing_kafka_lane_of(const struct kafka_intake *in, const char *topic);

/* kafka_assign.c */

/* librdkafka's rebalance_cb. */
void ing_kafka_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
	rd_kafka_topic_partition_list_t *parts, void *intake);
/* Assigns all validated partitions to the consumer, each at its position. */
void ing_kafka_start_fetching(struct kafka_intake *in);
/* The log has changed: cancels the jobs of the partition and begins a new epoch, which awaits
 * validation. */
void ing_kafka_restart_partition(struct kafka_intake *in, struct ing_partition *part);
/* The partition's position has to be checked again; no message is taken from it until then. */
void ing_kafka_request_validation(struct kafka_intake *in, struct ing_partition *part);
/* Ends a revocation when its last offsets are committed or its deadline has passed. */
void ing_kafka_continue_revocation(struct kafka_intake *in);
/* For shutdown: commits, and blocks until in->close_deadline_ms at most. To be called before the
 * consumer is closed, because a closed consumer does not return committed offsets. */
void ing_kafka_commit_on_close(struct kafka_intake *in);

/* kafka_positions.c */

/* Returns the offsets that are due to be committed, or NULL when there is none. The caller destroys
 * the list. */
rd_kafka_topic_partition_list_t *ing_kafka_list_due_commits(struct kafka_intake *in);
/* Starts the queries and commits that are due, unless one is pending. */
void ing_kafka_serve_positions(struct kafka_intake *in);
/* Takes the reply to a commit. Returns false when none came within timeout_ms. */
bool ing_kafka_take_commit_reply(struct kafka_intake *in, int timeout_ms);
/* Commits in->revoked_offsets and waits for the reply, until in->close_deadline_ms at most. */
void ing_kafka_commit_revoked_now(struct kafka_intake *in);
void ing_kafka_log_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err);

/* kafka_errors.c */

/* topic: the topic concerned, or NULL. */
void ing_kafka_handle_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason);
/* A broker has answered: ends "brokers down". */
void ing_kafka_set_brokers_up(struct kafka_intake *in);
/* Reports what was collected since the last call: missing topics in one line, a fatal error. */
void ing_kafka_report(struct kafka_intake *in);
