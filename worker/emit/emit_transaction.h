/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * emit_transaction.h - records exactly once: gathers them into batches, each of which is one
 * transaction with the positions that it answers (tx_producer.h). Private to emit_kafka.c. Loop
 * thread only.
 *
 * A record is waiting, in the batch that the producer has, or ended (its done() is due). Records of an
 * aborted batch wait again, in their order.
 */
#pragma once
#include "worker/emit/emit_priv.h"
#include "worker/emit/producer.h"

struct ing_topics;
struct ing_transactions;
struct uv_loop_s;

struct ing_transactions_conf {
	const struct ing_producer_conf *producer;
	const struct ing_topics *topics;
	const struct ing_positions_ops *positions; /* filled in before the first record */
	size_t max_bytes;                          /* of all records: over it intake should stop */
	void *ctx;
	/* Once. Nothing is committed any more. */
	void (*on_fatal)(void *ctx, const struct ing_error *err);
	/* A topic of ours does not exist: no batch is begun before the next
	 * ing_transactions_open(). */
	void (*on_no_topic)(void *ctx);
};

/* Pointers in conf outlive it. */
int ing_transactions_new(struct uv_loop_s *loop, const struct ing_transactions_conf *conf,
	struct ing_transactions **ret, struct ing_error *err) ING_MUST_CHECK;
/* The topics exist, and their limits are known: batches may be begun. */
void ing_transactions_open(struct ing_transactions *t);
void ing_transactions_add(struct ing_transactions *t, struct ing_emit_record *r);
void ing_transactions_drop(struct ing_transactions *t, const struct ing_emit_range *range);
unsigned ing_transactions_outstanding(const struct ing_transactions *t);
bool ing_transactions_blocked(const struct ing_transactions *t);
/* While they are blocked: why. */
const char *ing_transactions_trouble(const struct ing_transactions *t);
/* Its rows of worker/model/metrics.def. */
void ing_transactions_stats(const struct ing_transactions *t, struct ing_emit_stats *ret);
/* In place of the loop, which turns no more: commits what there is, without waiting for more. */
void ing_transactions_serve_end(struct ing_transactions *t);
/* Aborts what is not being committed. Positions that are still in a batch end uncommitted. Blocks for
 * some seconds. NULL is fine. */
void ing_transactions_stop(struct ing_transactions *t);
/* Stopped. The loop must turn once more. NULL is fine. */
void ing_transactions_free(struct ing_transactions *t);
