/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tx_producer.h - the transactional producer: a thread that takes a batch of messages and the
 * positions that they answer to its end, one batch at a time. Private to emit_transaction.c, whose
 * thread is the loop's.
 *
 * A batch is one transaction: its messages are produced and acknowledged, the positions are checked
 * and sent, the transaction is committed; or it is aborted, and nothing of it is ever visible. The
 * positions are never committed without all messages. A commit whose answer is lost is repeated until
 * its outcome is known.
 *
 * Errors are handled as librdkafka documents: retriable ones are repeated, abortable ones abort the
 * transaction, fatal ones (a producer of the same transactional.id has started, which fences this one)
 * and all others end the producer: nothing is committed by it any more.
 */
#pragma once
#include "common/base/queue.h"
#include "worker/emit/emit.h"
#include "worker/emit/producer.h"

struct ing_tx_producer;

enum ing_tx_end {
	ING_TX_COMMITTED,
	ING_TX_ABORTED, /* nothing of it is visible: it may be given again */
	ING_TX_REFUSED, /* the same, because the broker will never take one of its messages */
	ING_TX_UNKNOWN, /* its commit has no answer, and the producer has ended */
};

/* The loop's, but between give() and take(), when it is the thread's. */
struct ing_tx_batch {
	struct ing_node node; /* first member */
	/* Set before give(). Borrowed. */
	struct ing_emit_record **records;
	size_t count;
	struct ing_positions *positions;
	size_t set_bytes; /* a set of messages may have at most */
	bool unwanted; /* set by the loop at any time: abort, unless it is being committed. Atomic. */
	/* Set by the thread. */
	enum ing_tx_end end;
	bool called_off;   /* aborted because it was unwanted */
	bool recreated;    /* aborted because the positions' log is another one now */
	size_t unreported; /* messages */
	size_t failed, refused;
	struct ing_emit_record *refused_record; /* one of the refused */
	rd_kafka_resp_err_t code;               /* of the first error */
	struct ing_error err;
	uint64_t took_ms; /* when committed */
};

enum ing_tx_state {
	ING_TX_STARTING,
	ING_TX_READY,
	ING_TX_FAILED,
};

/* wake() is called by the thread when there is something to take, and when the state has changed.
 * conf outlives the producer. */
int ing_tx_producer_new(const struct ing_producer_conf *conf, void (*wake)(void *ctx), void *ctx,
	struct ing_tx_producer **ret, struct ing_error *err) ING_MUST_CHECK;
/* Batches that are given when the producer has failed or is closing come back aborted. */
void ing_tx_producer_give(struct ing_tx_producer *p, struct ing_tx_batch *b);
/* The one that has ended, or NULL. */
struct ing_tx_batch *ing_tx_producer_take(struct ing_tx_producer *p);
/* err is set when it has failed. */
enum ing_tx_state ing_tx_producer_state(struct ing_tx_producer *p, struct ing_error *err);
/* No more retries: what is not being committed is aborted. Ends the thread, within some seconds; what
 * was given can be taken after it. */
void ing_tx_producer_stop(struct ing_tx_producer *p);
void ing_tx_producer_free(struct ing_tx_producer *p); /* stopped; NULL is fine */
