/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The thread of the transactional producer: opens it, initialises transactions, runs batch after batch,
 * opens it anew when a transaction was lost. All calls of librdkafka are made by it.
 */
#include "worker/emit/tx_producer.h"

#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "worker/emit/tx_priv.h"

/* Errors of the idle producer are taken this often. */
#define IDLE_MS 1000
/* For reports that are due, after an abort. */
#define SETTLE_MS 1000

static int open_producer(struct ing_tx_producer *p, size_t set_bytes, struct ing_error *err)
{
	const struct ing_producer_calls calls = {ing_tx_on_report, ing_tx_on_error, p};
	p->set_bytes = set_bytes;
	p->knows_topics = p->lost = false;
	return ing_producer_open(
		&p->producer, ING_PRODUCER_TRANSACTIONAL, p->conf, set_bytes, &calls, err);
}

/* Nothing is begun until it is open and initialised again. */
static void close_producer(struct ing_tx_producer *p)
{
	if (!ing_tx_has_failed(p))
		__atomic_store_n(&p->state, ING_TX_STARTING, __ATOMIC_RELEASE);
	ing_producer_close(&p->producer);
}

/* Messages refer to values of the records, whose owner may free them when the batch has ended. So no
 * producer may have any of them then. */
static void settle_reports(struct ing_tx_producer *p, const struct ing_tx_batch *b)
{
	if (b->unreported > 0 && !ing_tx_has_failed(p) && !p->lost)
		rd_kafka_flush(p->producer.rk, SETTLE_MS);
	if (b->unreported > 0 || ing_tx_has_failed(p) || p->lost)
		close_producer(p);
}

static void run_batch(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	uint64_t since_ms = ing_now_ms();
	b->end = ING_TX_ABORTED;
	if (p->producer.rk != NULL && !ing_tx_has_failed(p) && !ing_tx_is_unwanted(p, b)) {
		p->batch = b;
		p->begun_ms = since_ms;
		ing_tx_run(p, b);
		settle_reports(p, b);
		p->batch = NULL;
		p->begun_ms = 0;
	}
	b->took_ms = ing_now_ms() - since_ms;
	if (ing_queue_push(&p->ended, &b->node))
		p->wake(p->ctx);
}

/* ---- The thread ---- */

/* A transaction that a producer of the same transactional.id has left open is aborted by this, and
 * that producer, if it lives, can commit nothing any more. */
static void initialise(struct ing_tx_producer *p)
{
	while (!ing_tx_is_closing(p) && !ing_tx_has_failed(p)) {
		rd_kafka_error_t *error =
			rd_kafka_init_transactions(p->producer.rk, ING_TX_CALL_MS);
		if (error == NULL) {
			ing_tx_set_state(p, ING_TX_READY);
			return;
		}
		if (rd_kafka_error_is_fatal(error))
			ing_tx_fail(p, "init", rd_kafka_error_code(error),
				rd_kafka_error_string(error));
		else
			ing_log_throttled(&p->throttle, ING_TX_LOG_EVERY_MS, ING_LOG_WARNING,
				"transactions: %s; trying again", rd_kafka_error_string(error));
		rd_kafka_error_destroy(error);
		rd_kafka_poll(p->producer.rk, 0);
		ing_tx_nap();
	}
}

static void reopen_producer(struct ing_tx_producer *p, size_t set_bytes)
{
	struct ing_error err = {0};
	close_producer(p);
	int rc = open_producer(p, set_bytes, &err);
	ing_must(rc == 0); /* the same settings were valid before */
	initialise(p);
}

static void run_batches(struct ing_tx_producer *p, struct ing_node *node)
{
	while (node != NULL) {
		struct ing_node *next = node->next;
		struct ing_tx_batch *b = ING_CONTAINER(node, struct ing_tx_batch, node);
		/* A set of messages must fit the topic with the smallest limit. */
		if (p->set_bytes > b->set_bytes && !ing_tx_has_failed(p))
			reopen_producer(p, b->set_bytes);
		run_batch(p, b);
		if (p->producer.rk == NULL && !ing_tx_has_failed(p) && !ing_tx_is_closing(p))
			reopen_producer(p, p->set_bytes);
		node = next;
	}
}

static void *run(void *arg)
{
	struct ing_tx_producer *p = arg;
	initialise(p);
	for (;;) {
		struct ing_node *node = ing_queue_wait_all(&p->todo, IDLE_MS);
		if (node == NULL && ing_queue_closed(&p->todo))
			return NULL;
		if (p->producer.rk != NULL)
			rd_kafka_poll(p->producer.rk, 0);
		run_batches(p, node);
	}
}

/* Signals are handled by the main thread. */
static int start_thread(struct ing_tx_producer *p)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int errnum = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errnum;
}

/* -------------------------------------------------------------------------------------------- */

int ing_tx_producer_new(const struct ing_producer_conf *conf, void (*wake)(void *ctx), void *ctx,
	struct ing_tx_producer **ret, struct ing_error *err)
{
	struct ing_tx_producer *p = ing_alloc(sizeof(*p));
	*p = (struct ing_tx_producer){.conf = conf, .wake = wake, .ctx = ctx};
	int rc = open_producer(p, ING_PRODUCER_BATCH_BYTES, err);
	if (rc < 0) {
		free(p);
		return rc;
	}
	ing_queue_init(&p->todo);
	ing_queue_init(&p->ended);
	int errnum = start_thread(p);
	if (errnum == 0) {
		*ret = p;
		return 0;
	}
	p->stopped = true;
	ing_tx_producer_free(p);
	return ing_error_sys(err, errnum, "results: cannot start the producer's thread");
}

void ing_tx_producer_give(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	ing_queue_push(&p->todo, &b->node);
}

struct ing_tx_batch *ing_tx_producer_take(struct ing_tx_producer *p)
{
	struct ing_node *node = ing_queue_take_all(&p->ended);
	if (node == NULL)
		return NULL;
	ing_must(node->next == NULL); /* one at a time */
	return ING_CONTAINER(node, struct ing_tx_batch, node);
}

enum ing_tx_state ing_tx_producer_state(struct ing_tx_producer *p, struct ing_error *err)
{
	enum ing_tx_state state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
	if (state == ING_TX_FAILED)
		*err = p->err;
	return state;
}

void ing_tx_producer_stop(struct ing_tx_producer *p)
{
	if (p->stopped)
		return;
	__atomic_store_n(&p->closing, true, __ATOMIC_RELAXED);
	ing_queue_close(&p->todo);
	pthread_join(p->thread, NULL);
	p->stopped = true;
}

void ing_tx_producer_free(struct ing_tx_producer *p)
{
	if (p == NULL)
		return;
	ing_must(p->stopped);
	ing_producer_close(&p->producer);
	ing_queue_done(&p->todo);
	ing_queue_done(&p->ended);
	free(p);
}
