/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * source.h - the message that a request came by, in Kafka's terms: what a position and a row of
 * result_outbox (schemas/sql) are about. Plain data, any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "worker/model/outputs.h"

struct ing_source {
	const char *group, *topic; /* borrowed from intake, which outlives all tokens */
	int32_t partition;
	int64_t offset;
	/* The two tell a message from another with the same offset, in a topic made anew. */
	int64_t timestamp_ms; /* Kafka's; -1: none */
	uint64_t digest;      /* first 8 bytes, big endian, of the SHA-1 of its value */
	/* Of the partition's assignment (table partition_owner); 0: there is no database. */
	int64_t fence;
};

/* A row of result_outbox: a message that answers a request, made by us or by an earlier owner of the
 * partition, and committed with its rows. Heap. */
struct ing_answer {
	struct ing_answer *next;
	int64_t offset, timestamp_ms; /* of the message that it answers */
	uint64_t digest;
	/* The topic that it is for is found by its output's name. Key, value and headers are heap. */
	struct ing_output_message message;
};

/* Frees it alone, not its next. NULL is fine. */
void ing_answer_free(struct ing_answer *a);
