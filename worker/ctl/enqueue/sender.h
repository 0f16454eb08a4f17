/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * enqueue_sender.h - what the sender of a plan is made of, and how it waits, asks the database and begins. Private to
 * enqueue_send.c and enqueue_sender.c. The thread of ing_enqueue_send()'s caller.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/data/pg.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/enqueue/send.h"
#include "worker/ctl/progress.h"
#include "worker/store/requests/plan_batches.h"

struct ing_ctl_tx;
struct ing_group;
struct rd_kafka_topic_s;

struct ing_sender {
	const struct ing_enqueue_send *conf;
	char *group_name;
	struct ing_pg *pg;
	struct ing_plan plan;
	struct ing_ctl_tx *tx;
	struct ing_group *group, *workers;
	struct rd_kafka_topic_s *topic;
	int partitions;
	struct ing_buf lines; /* of the batch */
	unsigned requests;    /* of the batch */
	int64_t next;         /* batch */
	uint64_t lag, sent;
	bool lag_known;
	bool singly;               /* sets of messages were too large for the topic */
	uint64_t failing_since_ms; /* 0: it is not */
	unsigned backoff_ms;
	struct ing_progress progress;
	int code; /* when it has failed */
};

/* *ret_found: there is such a plan. Close it whatever is returned; negative: s->code is the exit code, and what is wrong has been said. */
int ing_sender_open(struct ing_sender *s, const struct ing_enqueue_send *conf, const char *what,
	bool *ret_found);
void ing_sender_close(struct ing_sender *s);

/* Says it, and sets the exit code. Returns -1. */
int ing_sender_fail(struct ing_sender *s, enum ing_ctl_exit code, const char *words);
bool ing_sender_is_stopped(const struct ing_sender *s);
/* Waits, and shows for what. */
void ing_sender_nap(struct ing_sender *s, unsigned ms, const char *waits_for);
/* After a failure that may pass, which is cleared: waits a moment. False: it has not passed for too long, or the sender is stopped. */
bool ing_sender_may_try_again(struct ing_sender *s, const char *waits_for, struct ing_error *err);
void ing_sender_goes_well(struct ing_sender *s);

/* A statement that may be repeated, which it is on new connections until it has an answer. Negative: as ing_sender_open(). */
typedef enum ing_pg_rc ing_sender_statement_f(
	struct ing_sender *s, int64_t number, struct ing_error *err);
int ing_sender_execute(struct ing_sender *s, ing_sender_statement_f *statement, int64_t number);
ing_sender_statement_f ing_sender_find_plan, ing_sender_note_sent;

/* New clients, and the first batch that is not committed. From here on an earlier producer of the plan can commit nothing more. Negative: as
 * ing_sender_open(). */
int ing_sender_begin(struct ing_sender *s);
/* The transaction under way, with a position. Error: as ing_ctl_tx_commit(). */
int ing_sender_commit(struct ing_sender *s, int64_t number, struct ing_error *err);
