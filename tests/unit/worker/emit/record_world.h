/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * record_world.h - an emitter with numbered records, and an intake that counts what it is told.
 * Record N has the value "vN", and the token of offset N in partition N % RECORD_PARTITIONS, epoch 1.
 * Failures fail the test.
 *
 * Transactions are watched between us and librdkafka (--wrap): the in-process cluster keeps neither
 * markers of transactions nor the positions in them, so that what a reader would see can only be
 * told from their outcome. At each commit it is checked that the transaction has the positions of
 * exactly its messages.
 */
#pragma once
#include <stdbool.h>
#include "tests/unit/common/kafka/mock_kafka.h"
#include "worker/emit/emit.h"
#include "worker/model/settings.h"

#include <uv.h>

#define RECORD_TOPIC "results"
#define RECORD_PARTITIONS 4
#define RECORD_MAX 2000
#define RECORD_VALUE_MAX ((size_t)200000)
#define RECORD_WAIT_MS 60000 /* a ceiling, which only a hang reaches */

/* What librdkafka was asked in transactions, and how it ended: a record counts as committed when the
 * commit of its transaction has succeeded. */
struct record_ledger {
	unsigned begun, committed, aborted;
	unsigned committed_records[RECORD_MAX]; /* how often each was committed */
	unsigned largest;                       /* transaction, in records */
};

struct record {
	struct ing_emit_record r;
	struct ing_output_message message;
	struct record_world *world;
	unsigned ends[3];  /* by enum ing_emit_end */
	unsigned finished; /* positions.finish(), or end() of a commit */
};

struct record_world {
	struct mock_kafka kafka;
	uv_loop_t loop;
	struct ing_emit *e;
	struct record *records; /* RECORD_MAX */
	unsigned committed, refused, dropped, fatals;
	char fatal_text[600];
	bool inside;
	unsigned begun_positions;           /* begin() that was answered */
	bool positions_open;                /* begun, not ended */
	bool no_positions;                  /* begin() returns NULL */
	enum ing_positions_check checks[8]; /* answers, one after the other */
	unsigned check_count;               /* then all are valid. Atomic. */
	rd_kafka_consumer_group_metadata_t *group_metadata;
	struct ing_positions_ops positions; /* given to the emitter when it is opened */
};

/* What RECORD_TOPIC is said to take. */
extern size_t record_limit_bytes;
/* batch.size of the transactional producer that was used last. */
extern size_t record_set_bytes;

/* An in-process cluster with RECORD_TOPIC, one partition of it. */
void record_world_init(struct record_world *w, int brokers);
/* properties: NULL-terminated, or NULL. */
void record_world_open(
	struct record_world *w, enum ing_guarantee delivery, char *const *properties);
/* Frees the emitter. */
void record_world_close(struct record_world *w);
void record_world_done(struct record_world *w);

/* Another value for a record, before its commit. Copied. */
void record_set_value(struct record_world *w, unsigned n, const char *value, size_t bytes);
/* For an output without a topic. */
void record_set_silent(struct record_world *w, unsigned n);
/* Without a message. */
void record_set_bare(struct record_world *w, unsigned n);
void record_commit(struct record_world *w, unsigned n);
void record_commit_range(struct record_world *w, unsigned from, unsigned count);
/* Until so many have ended so. */
void record_wait(struct record_world *w, const unsigned *counter, unsigned want);
/* The topic holds the values of these records once each, in any order, and nothing else. */
void record_expect_messages(struct record_world *w, unsigned from, unsigned count);
/* Each of them has ended once, like this, and its token was finished if it was committed. */
void record_expect_ends(
	struct record_world *w, unsigned from, unsigned count, enum ing_emit_end end);

/* Copied under its lock. */
void record_ledger_get(struct record_ledger *ret);
/* Each of them is committed once, and its token finished once; and nothing else is. */
void record_expect_committed(struct record_world *w, unsigned from, unsigned count);
