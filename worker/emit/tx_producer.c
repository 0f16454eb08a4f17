/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One transaction after the other. All calls of librdkafka are made by the thread, reports and errors
 * come to it too, as callbacks from inside rd_kafka_flush() and rd_kafka_poll().
 *
 * No call waits longer than CALL_MS, so that the thread can end. The transactional calls of librdkafka
 * go on in the background then and are resumed by the next call of the same function, which is the only
 * one that is allowed: once a commit has begun, the transaction cannot be aborted any more.
 */
#include "worker/emit/tx_producer.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/log.h"

#define CALL_MS 2000
/* Between two tries of a call that failed at once. */
#define RETRY_MS 50
/* How long a wait for acknowledgements may go on before `unwanted` is looked at. */
#define REPORTS_MS 20
/* Errors of the idle producer are taken this often. */
#define IDLE_MS 1000
#define CHECK_MS 5000
/* A commit that begins later may come after the coordinator has aborted the transaction: then its answer
 * does not tell what became of it. */
#define COMMIT_BY_MS (ING_TRANSACTION_TIMEOUT_MS * 8 / 10)
/* For reports that are due, after an abort. */
#define SETTLE_MS 1000
#define METADATA_MS 2000
#define LOG_EVERY_MS 30000

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

enum verdict { DONE, AGAIN, ABORT, FAIL };

static bool is_closing(const struct ing_tx_producer *p)
{
	return __atomic_load_n(&p->closing, __ATOMIC_RELAXED);
}

static bool is_unwanted(const struct ing_tx_producer *p, const struct ing_tx_batch *b)
{
	return is_closing(p) || __atomic_load_n(&b->unwanted, __ATOMIC_RELAXED);
}

static bool has_failed(const struct ing_tx_producer *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_RELAXED) == ING_TX_FAILED;
}

static void set_state(struct ing_tx_producer *p, enum ing_tx_state state)
{
	__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
	p->wake(p->ctx);
}

/* Nothing of the open transaction is committed, nor can it be, so that its records can be produced again
 * by a new producer:
 * - The coordinator has given it up, as it was open for too long (brokers were away, or we did not run).
 *   That looks as if another producer had fenced us. If there is such another worker, it has the
 *   partitions, and the group's coordinator takes no positions of ours any more.
 * - The coordinator has no such transaction to abort: it went away before it heard of it. */
static bool is_lost(struct ing_tx_producer *p, rd_kafka_resp_err_t code)
{
	bool expired = code == RD_KAFKA_RESP_ERR__FENCED &&
		       ing_now_ms() - p->begun_ms >= ING_TRANSACTION_TIMEOUT_MS;
	bool unheard = code == RD_KAFKA_RESP_ERR_INVALID_TXN_STATE && p->aborting;
	p->lost = p->lost || (p->begun_ms > 0 && (expired || unheard));
	return p->lost;
}

static void fail(
	struct ing_tx_producer *p, const char *call, rd_kafka_resp_err_t code, const char *why)
{
	if (has_failed(p))
		return;
	char reason[400] = "";
	rd_kafka_resp_err_t first = rd_kafka_fatal_error(p->producer.rk, reason, sizeof(reason));
	if (is_lost(p, first != 0 ? first : code))
		return;
	ing_error_set(&p->err, ING_FAIL_UNAVAILABLE, "fatal producer error: %s: %s: %s",
		rd_kafka_err2name(first != 0 ? first : code), call, first != 0 ? reason : why);
	set_state(p, ING_TX_FAILED);
}

static void note_error(
	struct ing_tx_batch *b, const char *call, rd_kafka_resp_err_t code, const char *why)
{
	if (b->code != RD_KAFKA_RESP_ERR_NO_ERROR)
		return;
	b->code = code;
	ing_error_set(
		&b->err, ING_FAIL_UNAVAILABLE, "%s: %s: %s", call, rd_kafka_err2name(code), why);
}

/* Takes the error of a transactional call. b may be NULL. */
static enum verdict judge(struct ing_tx_producer *p, struct ing_tx_batch *b, const char *call,
	rd_kafka_error_t *error)
{
	if (error == NULL)
		return DONE;
	enum verdict verdict = FAIL;
	rd_kafka_resp_err_t code = rd_kafka_error_code(error);
	const char *why = rd_kafka_error_string(error);
	if (rd_kafka_error_is_fatal(error))
		verdict = FAIL;
	else if (rd_kafka_error_txn_requires_abort(error))
		verdict = ABORT;
	else if (rd_kafka_error_is_retriable(error))
		verdict = AGAIN;
	if (b != NULL)
		note_error(b, call, code, why);
	ing_log(ING_LOG_DEBUG, "transaction: %s: %s: %s", call, rd_kafka_err2name(code), why);
	if (verdict == FAIL)
		fail(p, call, code, why);
	rd_kafka_error_destroy(error);
	return verdict;
}

static void nap(void)
{
	struct timespec t = {.tv_nsec = RETRY_MS * 1000000L};
	nanosleep(&t, NULL);
}

/* What an abort does to messages is not its reason. */
static bool is_purged(rd_kafka_resp_err_t err)
{
	return err == RD_KAFKA_RESP_ERR__PURGE_QUEUE || err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
}

/* ---- What librdkafka calls, from inside flush() and poll() ---- */

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *ctx)
{
	(void)rk;
	struct ing_tx_producer *p = ctx;
	struct ing_tx_batch *b = p->batch;
	ing_must(b != NULL && b->unreported > 0);
	b->unreported--;
	if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
		return;
	b->failed++;
	if (!is_purged(m->err))
		note_error(b, "produce", m->err, rd_kafka_err2str(m->err));
	if (ing_producer_is_refusal(m->err)) {
		b->refused++;
		b->refused_record = m->_private;
	}
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *ctx)
{
	(void)rk;
	struct ing_tx_producer *p = ctx;
	unsigned more;
	if (code == RD_KAFKA_RESP_ERR__FATAL)
		fail(p, "producer", code, reason);
	else if (ing_log_throttle_pass(&p->throttle, LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "results: %s: %s (%u more suppressed)",
			rd_kafka_err2str(code), reason, more);
}

static int open_producer(struct ing_tx_producer *p, size_t set_bytes, struct ing_error *err)
{
	const struct ing_producer_calls calls = {on_report, on_error, p};
	p->set_bytes = set_bytes;
	p->knows_topics = p->lost = false;
	return ing_producer_open(
		&p->producer, ING_PRODUCER_TRANSACTIONAL, p->conf, set_bytes, &calls, err);
}

/* Nothing is begun until it is open and initialised again. */
static void close_producer(struct ing_tx_producer *p)
{
	if (!has_failed(p))
		__atomic_store_n(&p->state, ING_TX_STARTING, __ATOMIC_RELEASE);
	ing_producer_close(&p->producer);
}

/* ---- One batch ---- */

/* Looking the topics up in the first transaction would take a second of it. */
static void look_up_topics(struct ing_tx_producer *p)
{
	for (int i = 0; i < ING_OUTPUTS_ && !p->knows_topics; i++) {
		const struct rd_kafka_metadata *metadata;
		if (p->producer.handles[i] == NULL)
			continue;
		if (rd_kafka_metadata(
			    p->producer.rk, 0, p->producer.handles[i], &metadata, METADATA_MS) != 0)
			return;
		rd_kafka_metadata_destroy(metadata);
	}
	p->knows_topics = true;
}

static void produce(struct ing_tx_producer *p, struct ing_tx_batch *b, struct ing_emit_record *r)
{
	if (r->message == NULL || p->producer.handles[r->message->output] == NULL)
		return; /* only its position is committed */
	rd_kafka_headers_t *headers = ing_producer_headers(r->message);
	rd_kafka_resp_err_t err;
	for (;;) {
		err = ing_producer_send(&p->producer, r->message, headers, r);
		if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL || is_unwanted(p, b))
			break;
		rd_kafka_poll(p->producer.rk, REPORTS_MS);
	}
	if (headers != NULL)
		rd_kafka_headers_destroy(headers);
	if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
		b->unreported++;
		return;
	}
	b->failed++;
	note_error(b, "produce", err, rd_kafka_err2str(err));
	if (err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
		b->refused++;
		b->refused_record = r;
	}
}

static enum verdict check_positions(struct ing_tx_batch *b)
{
	const struct ing_positions *positions = b->positions;
	if (positions->check == NULL)
		return DONE;
	switch (positions->check(positions, CHECK_MS)) {
	case ING_POSITIONS_VALID:
		return DONE;
	case ING_POSITIONS_TOPIC_RECREATED:
		b->recreated = true;
		note_error(b, "positions", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
			"the topic was made anew");
		return ABORT;
	case ING_POSITIONS_NO_ANSWER:
		break;
	}
	note_error(b, "positions", RD_KAFKA_RESP_ERR__TIMED_OUT, "they can't be checked");
	return ABORT;
}

static rd_kafka_topic_partition_list_t *make_offsets(const struct ing_positions *positions)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new((int)positions->count);
	for (size_t i = 0; i < positions->count; i++) {
		const struct ing_position *at = &positions->all[i];
		rd_kafka_topic_partition_t *to =
			rd_kafka_topic_partition_list_add(list, at->topic, at->partition);
		to->offset = at->offset;
		to->metadata = ing_strdup(at->metadata); /* freed with the list */
		to->metadata_size = strlen(at->metadata);
	}
	return list;
}

/* An error that is neither retriable nor fatal aborts: the transaction can't be committed after it. */
static enum verdict send_positions(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	rd_kafka_topic_partition_list_t *offsets = make_offsets(b->positions);
	enum verdict verdict = AGAIN;
	uint64_t until_ms = ing_now_ms() + ING_TRANSACTION_TIMEOUT_MS;
	while (verdict == AGAIN && !is_unwanted(p, b) && ing_now_ms() < until_ms) {
		verdict = judge(p, b, "send_offsets",
			rd_kafka_send_offsets_to_transaction(
				p->producer.rk, offsets, b->positions->group_metadata, CALL_MS));
		if (verdict == AGAIN)
			nap();
	}
	rd_kafka_topic_partition_list_destroy(offsets);
	return verdict == AGAIN ? ABORT : verdict;
}

/* Until it is known: afterwards the messages are there once, or never. */
static enum verdict produce_all(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	for (size_t i = 0; i < b->count && b->failed == 0; i++)
		produce(p, b, b->records[i]);
	while (b->unreported > 0 && b->failed == 0) {
		if (is_unwanted(p, b))
			return ABORT;
		if (has_failed(p) || p->lost)
			return FAIL;
		rd_kafka_flush(p->producer.rk, REPORTS_MS);
	}
	if (b->failed == 0)
		return DONE;
	if (b->code != RD_KAFKA_RESP_ERR_NO_ERROR)
		return ABORT;
	/* librdkafka has given the transaction up, and tells why by the next call only. */
	return send_positions(p, b) == FAIL ? FAIL : ABORT;
}

static void commit(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	enum verdict verdict = AGAIN;
	p->begun_ms = 0;
	while (verdict == AGAIN) {
		verdict =
			judge(p, b, "commit", rd_kafka_commit_transaction(p->producer.rk, CALL_MS));
		if (verdict == AGAIN && is_closing(p))
			break;
		if (verdict == AGAIN)
			nap();
	}
	b->end = verdict == DONE    ? ING_TX_COMMITTED
		 : verdict == ABORT ? ING_TX_ABORTED
				    : ING_TX_UNKNOWN;
}

/* A transaction that we can't abort is aborted by its coordinator; this producer commits nothing after
 * it. */
static void abort_transaction(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	enum verdict verdict = AGAIN;
	p->aborting = true;
	while (verdict == AGAIN) {
		verdict = judge(p, b, "abort", rd_kafka_abort_transaction(p->producer.rk, CALL_MS));
		if (verdict == AGAIN && is_closing(p))
			break;
		if (verdict == AGAIN)
			nap();
	}
	p->aborting = false;
	if (verdict == ABORT)
		fail(p, "abort", b->code, b->err.msg);
}

static enum verdict fill_transaction(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	enum verdict verdict = produce_all(p, b);
	if (verdict == DONE)
		verdict = check_positions(b);
	if (verdict == DONE && b->positions->count > 0)
		verdict = send_positions(p, b);
	if (verdict == DONE && is_unwanted(p, b))
		verdict = ABORT;
	if (verdict == DONE && ing_now_ms() - p->begun_ms > COMMIT_BY_MS) {
		note_error(b, "commit", RD_KAFKA_RESP_ERR__TIMED_OUT, "brokers are too slow");
		verdict = ABORT;
	}
	b->called_off = verdict == ABORT && is_unwanted(p, b);
	return verdict;
}

static void run_transaction(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	enum verdict verdict = judge(p, b, "begin", rd_kafka_begin_transaction(p->producer.rk));
	if (verdict != DONE) {
		if (verdict == ABORT)
			abort_transaction(p, b);
		return;
	}
	verdict = fill_transaction(p, b);
	if (verdict == DONE) {
		commit(p, b);
		if (b->end != ING_TX_ABORTED)
			return;
		verdict = ABORT;
	}
	if (verdict == ABORT)
		abort_transaction(p, b);
	if (b->refused > 0)
		b->end = ING_TX_REFUSED;
}

/* Messages refer to values of the records, whose owner may free them when the batch has ended. So no
 * producer may have any of them then. */
static void settle_reports(struct ing_tx_producer *p, const struct ing_tx_batch *b)
{
	if (b->unreported > 0 && !has_failed(p) && !p->lost)
		rd_kafka_flush(p->producer.rk, SETTLE_MS);
	if (b->unreported > 0 || has_failed(p) || p->lost)
		close_producer(p);
}

static void run_batch(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	uint64_t since_ms = ing_now_ms();
	b->end = ING_TX_ABORTED;
	if (p->producer.rk != NULL && !has_failed(p) && !is_unwanted(p, b)) {
		p->batch = b;
		p->begun_ms = since_ms;
		look_up_topics(p);
		run_transaction(p, b);
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
	unsigned more;
	while (!is_closing(p) && !has_failed(p)) {
		rd_kafka_error_t *error = rd_kafka_init_transactions(p->producer.rk, CALL_MS);
		if (error == NULL) {
			set_state(p, ING_TX_READY);
			return;
		}
		if (rd_kafka_error_is_fatal(error))
			fail(p, "init", rd_kafka_error_code(error), rd_kafka_error_string(error));
		else if (ing_log_throttle_pass(&p->throttle, LOG_EVERY_MS, &more))
			ing_log(ING_LOG_WARNING,
				"transactions: %s; trying again (%u more suppressed)",
				rd_kafka_error_string(error), more);
		rd_kafka_error_destroy(error);
		rd_kafka_poll(p->producer.rk, 0);
		nap();
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
		if (p->set_bytes > b->set_bytes && !has_failed(p))
			reopen_producer(p, b->set_bytes);
		run_batch(p, b);
		if (p->producer.rk == NULL && !has_failed(p) && !is_closing(p))
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
