/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * answers.h - what the tests of result_outbox and partition_owner share: partitions that are
 * claimed through a store, requests that came from them, and their answers.
 */
#pragma once
#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/model/positions.h"
#include "worker/store/outbox.h"

struct partition {
	struct ing_claim claim; /* first */
	unsigned done;          /* calls */
};

/* An item with a row for each table and an answer, whose message has this offset. */
struct request {
	struct entry entry; /* first */
	struct ing_source source;
	struct ing_output_message message;
	char key[32];
	char *value; /* borrowed */
};

/* A store in a new database whose batches have so many items once it has warmed up. */
const char *answers_open(struct bench *b, unsigned batch_rows);

void start_claim(struct bench *b, struct partition *p, const char *topic, int32_t partition);
void await_claim(struct bench *b, struct partition *p, unsigned done);
void claim_partition(struct bench *b, struct partition *p, const char *topic, int32_t partition);
void claim_again(struct bench *b, struct partition *p);
void recover_partition(struct bench *b, struct partition *p);
/* Kafka has this position; the message before it is the mark. */
void commit_position(struct bench *b, const struct partition *p, int64_t offset);

void fill_request(struct bench *b, const struct partition *p, struct request *r, unsigned offset,
	const char *value);
void put_request(struct bench *b, const struct partition *p, struct request *r, unsigned offset,
	const char *value);
/* Key, headers and value are those of r's message, and it answers r's source. */
void assert_answers(const struct ing_answer *answer, const struct request *r);

/* Turns the loop until the query says so. */
void await_number(struct bench *b, const char *dsn, const char *sql, long want);
/* Nobody uses the table until the connection is closed. */
struct ing_pg *lock_table(const char *dsn, const char *name);
