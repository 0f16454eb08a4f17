/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tx_priv.h - what the thread of the transactional producer (tx_producer.c) and its transactions
 * (transaction.c) share. That thread only, but for what is said to be atomic.
 */
#pragma once
#include <pthread.h>
#include "common/base/log.h"
#include "worker/emit/tx_producer.h"

#define ING_TX_CALL_MS 2000
#define ING_TX_LOG_EVERY_MS 30000

struct ing_tx_producer {
	const struct ing_producer_conf *conf;
	struct ing_producer producer;
	struct ing_queue todo, ended;
	pthread_t thread;
	bool stopped;            /* the thread has ended */
	bool closing;            /* set by the loop. Atomic. */
	enum ing_tx_state state; /* set by the thread, err before it. Atomic. */
	struct ing_error err;
	bool knows_topics;
	bool aborting;
	size_t set_bytes;           /* a set of messages may have at most */
	uint64_t begun_ms;          /* of the open transaction; 0: none, or it is being committed */
	bool lost;                  /* the open transaction is; the producer is to be opened anew */
	struct ing_tx_batch *batch; /* whose messages are reported */
	struct ing_log_throttle throttle;
	void (*wake)(void *ctx);
	void *ctx;
};

static inline bool ing_tx_is_closing(const struct ing_tx_producer *p)
{
	return __atomic_load_n(&p->closing, __ATOMIC_RELAXED);
}

static inline bool ing_tx_is_unwanted(const struct ing_tx_producer *p, const struct ing_tx_batch *b)
{
	return ing_tx_is_closing(p) || __atomic_load_n(&b->unwanted, __ATOMIC_RELAXED);
}

static inline bool ing_tx_has_failed(const struct ing_tx_producer *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_RELAXED) == ING_TX_FAILED;
}

static inline void ing_tx_set_state(struct ing_tx_producer *p, enum ing_tx_state state)
{
	__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
	p->wake(p->ctx);
}

/* A fatal error: the producer has failed, unless only the open transaction is lost. */
void ing_tx_fail(
	struct ing_tx_producer *p, const char *call, rd_kafka_resp_err_t code, const char *why);
void ing_tx_nap(void);
/* For struct ing_producer_calls. */
void ing_tx_on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *ctx);
void ing_tx_on_error(rd_kafka_t *rk, int code, const char *reason, void *ctx);
/* Sets how b has ended. */
void ing_tx_run(struct ing_tx_producer *p, struct ing_tx_batch *b);
