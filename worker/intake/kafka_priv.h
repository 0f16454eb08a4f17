/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_priv.h - the state of the Kafka intake, shared by its files. Loop thread only.
 *
 *     intake_kafka.c     start, stop, the table of functions
 *     kafka_take.c       messages: what may be taken when, what is handed out
 *     kafka_fetch.c      queues of partitions, and what is fetched into them
 *     kafka_assign.c     rebalances, epochs
 *     kafka_claim.c      the store's fence and what it has of the outbox
 *     kafka_validate.c   position, map and log of a partition, as the brokers have them
 *     kafka_commit.c     commits by intake itself
 *     kafka_batch.c      commits by emit
 *     kafka_lag.c        how far the positions are behind the ends of their logs
 *     kafka_errors.c     errors and their log lines
 */
#pragma once
#include <librdkafka/rdkafka.h>

#include "common/base/log.h"
#include "worker/intake/intake_priv.h"
#include "worker/intake/offset_query.h"
#include "worker/intake/partitions.h"

struct uv_timer_s;

/* Errors of one kind are logged at most this often. */
#define ING_KAFKA_LOG_EVERY_MS 30000

struct kafka_topic {
	char *name;              /* NULL: none */
	int64_t max_wait_ms;     /* of a tier: a message is not held for longer; of a lane 0 */
	size_t first;            /* index of the partition to begin the next turn with */
	bool missing;            /* the topic does not exist */
	bool missing_unreported; /* … and this is still to be logged */
	bool denied;             /* reading it is not authorized; logged */
};

enum kafka_phase {
	KAFKA_UNASSIGNED,
	KAFKA_ASSIGNED,
	KAFKA_REVOKING, /* its jobs are cancelled, its last offsets are not committed yet */
};

/* The consumer group as it is in an assignment. Emit's thread reads it during a commit, which may
 * outlast the assignment. */
struct kafka_group {
	unsigned refs;
	rd_kafka_consumer_group_metadata_t *metadata;
};

struct kafka_intake {
	struct ing_intake base;
	struct uv_loop_s *loop;
	struct ing_intake_events ev;
	struct ing_claim_ops claims; /* without ctx: there is no database */
	bool exactly_once;           /* positions are committed by emit */
	struct kafka_topic topics[ING_INTAKE_TOPICS];
	bool paused[ING_LANES_];
	bool held[ING_LANES_]; /* by order: parked messages of it are passed on */
	const char *name;      /* the topic of requests, for the log */
	char *group_id, *instance;
	rd_kafka_t *rk;
	rd_kafka_queue_t *consumer_queue; /* rebalances, errors */
	rd_kafka_queue_t *commit_replies;
	struct ing_kafka_wake *wake;
	struct uv_timer_s *timer;      /* for what is due before the next tick; heap */
	struct ing_digester *digester; /* of messages */

	struct ing_partitions partitions;
	uint32_t last_epoch;
	unsigned turn; /* number of this call of serve() */
	enum kafka_phase phase;
	struct kafka_group *group; /* while assigned */
	bool fetch_wanted;         /* partitions are ready that are not fetched */
	uint64_t fetch_due_ms;     /* until then others may get ready, too */

	/* At most one commit of ours, or the query before it, is pending. Beside it at most one
	 * query for partitions that await validation, which can take seconds and must not delay
	 * commits. Stale: of an assignment that has ended, its answer is ignored. */
	struct ing_offset_query *commit_query, *validation_query; /* or NULL */
	bool commit_query_stale, validation_query_stale;
	bool commit_pending;
	/* A query of log ends, the same way; or NULL. */
	struct ing_offset_query *lag_query;
	uint64_t lag_due_ms;
	bool lag_soon;              /* in this assignment it has been brought forward */
	bool validation_wanted;     /* some partition may await validation */
	size_t validate_from;       /* index of the partition to begin the next query with */
	uint64_t validation_due_ms; /* next query of partitions that were not answered */
	uint64_t commit_due_ms;
	uint64_t idle_check_due_ms; /* of partitions with nothing to commit */
	struct kafka_batch *batch;  /* emit's commit under way, or NULL */
	/* REVOKING: the offsets still to be committed, or NULL; until when that is tried */
	rd_kafka_topic_partition_list_t *revoked_offsets;
	uint64_t revocation_deadline_ms;
	struct ing_intake_stats stats;

	bool started, stopped, closing;
	bool away;           /* it has left the group, or is not to join it */
	bool had_assignment; /* on_assigned() has been called */
	bool fatal, fatal_reported;
	bool brokers_down;          /* logged */
	bool all_brokers_down;      /* and none has answered since */
	bool silent;                /* none has answered the last query for positions */
	char brokers_error[300];    /* the last one */
	uint64_t close_deadline_ms; /* once closing */
	struct ing_log_throttle brokers_throttle, error_throttle, commit_throttle, restart_throttle,
		validation_throttle, claim_throttle, silence_throttle;
};

/* intake_kafka.c */

struct kafka_intake *ing_kafka_intake_of(struct ing_intake *base);
/* Returns the number of a topic, or ING_INTAKE_TOPICS when it is none of ours. */
unsigned ing_kafka_topic_of(const struct kafka_intake *in, const char *name);
/* serve() is called in so many milliseconds, if not before. */
void ing_kafka_serve_in(struct kafka_intake *in, uint64_t ms);

/* kafka_take.c */

/* Hands out messages for one turn of the loop. Returns true when there may be more. */
bool ing_kafka_take_messages(struct kafka_intake *in);

/* kafka_fetch.c */

/* Empties the consumer queue: rebalances and errors. */
void ing_kafka_serve_consumer_queue(struct kafka_intake *in);
/* m: an error of a partition that is ready. */
void ing_kafka_handle_partition_error(
	struct kafka_intake *in, struct ing_partition *part, const rd_kafka_message_t *m);
/* The partition is ready: fetching starts soon (ing_kafka_serve_fetching()). */
void ing_kafka_want_fetching(struct kafka_intake *in);
/* Assigns all partitions that are ready to the consumer, each at its position, when that is due. */
void ing_kafka_serve_fetching(struct kafka_intake *in);
/* No message of it is taken any more; what was fetched is dropped. */
void ing_kafka_close_queue(struct ing_partition *part);

/* kafka_assign.c */

/* librdkafka's rebalance_cb. */
void ing_kafka_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
	rd_kafka_topic_partition_list_t *parts, void *intake);
/* Cancels the jobs of the partition and begins a new epoch. The caller goes on from there. */
void ing_kafka_renew_epoch(struct kafka_intake *in, struct ing_partition *part);
/* The same because the log has changed; it awaits validation. */
void ing_kafka_restart_partition(struct kafka_intake *in, struct ing_partition *part);
/* Begins new epochs for partitions that the store has fenced. */
void ing_kafka_serve_fenced(struct kafka_intake *in);
/* Ends a revocation when its last offsets are committed or its deadline has passed. */
void ing_kafka_continue_revocation(struct kafka_intake *in);
/* For shutdown: commits, and blocks until in->close_deadline_ms at most. To be called before the
 * consumer is closed, because a closed consumer does not return committed offsets. */
void ing_kafka_commit_on_close(struct kafka_intake *in);
void ing_kafka_group_unref(struct kafka_group *g); /* NULL is fine */

/* kafka_claim.c */

/* The partition's epoch has begun: claims it, at once or in delay_ms. */
void ing_kafka_claim(struct kafka_intake *in, struct ing_partition *part, uint64_t delay_ms);
/* Another worker has claimed it since: begins a new epoch, and claims it again in a while. */
void ing_kafka_restart_claim(struct kafka_intake *in, struct ing_partition *part);
/* Its position is known: asks the store what of it is answered but not committed. */
void ing_kafka_recover(struct kafka_intake *in, struct ing_partition *part);
/* Nothing is under way for the partition any more. */
void ing_kafka_cancel_claim(struct kafka_intake *in, struct ing_partition *part);
void ing_kafka_free_claim(struct ing_partition *part);
/* Where the last owner's work ended, if this assignment has claimed the partition and the store knew
 * of one; else NULL. */
const struct ing_claim *ing_kafka_last_owner(const struct ing_partition *part);
/* Starts claims that are due. */
void ing_kafka_serve_claims(struct kafka_intake *in);

/* kafka_validate.c */

/* The partition's position has to be checked against the brokers' log; no message is taken from it
 * until then. */
void ing_kafka_request_validation(struct kafka_intake *in, struct ing_partition *part);
/* Position, map and answers are known: it starts, or its position is committed first. */
void ing_kafka_start_partition(struct kafka_intake *in, struct ing_partition *part);
/* Starts the query that is due, unless one is pending. */
void ing_kafka_serve_validation(struct kafka_intake *in);

/* kafka_commit.c */

/* Returns the positions that are due to be committed by us, or NULL when there is none. The caller
 * destroys the list. */
rd_kafka_topic_partition_list_t *ing_kafka_list_due_commits(struct kafka_intake *in);
/* Starts the queries and commits that are due, unless one is pending. */
void ing_kafka_serve_commits(struct kafka_intake *in);
/* Takes the reply to a commit. Returns false when none came within timeout_ms. */
bool ing_kafka_take_commit_reply(struct kafka_intake *in, int timeout_ms);
/* Commits in->revoked_offsets and waits for the reply, until in->close_deadline_ms at most. */
void ing_kafka_commit_revoked_now(struct kafka_intake *in);
void ing_kafka_log_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err);
/* The position of a partition as it would be committed. metadata: heap, the caller's. */
struct ing_position ing_kafka_position_of(
	const struct kafka_intake *in, const struct ing_partition *part, char **ret_metadata);

/* kafka_batch.c: struct ing_intake_ops.begin_commit and end_commit */

struct ing_positions *ing_kafka_begin_batch(
	void *base, const struct ing_token *tokens, size_t count);
void ing_kafka_end_batch(void *base, struct ing_positions *p, bool committed);

/* kafka_lag.c */

/* Starts the query of log ends that is due, unless one is pending. */
void ing_kafka_serve_lag(struct kafka_intake *in);
/* Adds the lag of an assigned partition, if it is known. */
void ing_kafka_count_lag(const struct ing_partition *part, struct ing_intake_stats *to);

/* kafka_errors.c */

/* topic: the topic concerned, or NULL. */
void ing_kafka_handle_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason);
/* A broker has answered: ends "brokers down". */
void ing_kafka_set_brokers_up(struct kafka_intake *in);
/* Reports what was collected since the last call: missing topics in one line, a fatal error. */
void ing_kafka_report(struct kafka_intake *in);
