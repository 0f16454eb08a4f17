/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One transaction, from begin to commit or abort, and what its errors mean. All of it runs on the
 * producer's thread; reports and errors of librdkafka come to it, too, as callbacks from inside
 * rd_kafka_flush() and rd_kafka_poll().
 *
 * No call waits longer than CALL_MS, so that the thread can end. The transactional calls of librdkafka
 * go on in the background then and are resumed by the next call of the same function, which is the only
 * one that is allowed: once a commit has begun, the transaction cannot be aborted any more.
 */
#include <librdkafka/rdkafka.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/emit/tx_priv.h"

#define CALL_MS ING_TX_CALL_MS
/* Between two tries of a call that failed at once. */
#define RETRY_MS 50
/* How long a wait for acknowledgements may go on before `unwanted` is looked at. */
#define REPORTS_MS 20
#define CHECK_MS 5000
/* A commit that begins later may come after the coordinator has aborted the transaction: then its answer
 * does not tell what became of it. */
#define COMMIT_BY_MS (ING_TRANSACTION_TIMEOUT_MS * 8 / 10)
#define METADATA_MS 2000

enum verdict { DONE, AGAIN, ABORT, FAIL };

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

void ing_tx_fail(
	struct ing_tx_producer *p, const char *call, rd_kafka_resp_err_t code, const char *why)
{
	if (ing_tx_has_failed(p))
		return;
	char reason[400] = "";
	rd_kafka_resp_err_t first = rd_kafka_fatal_error(p->producer.rk, reason, sizeof(reason));
	if (is_lost(p, first != 0 ? first : code))
		return;
	ing_error_set(&p->err, ING_FAIL_UNAVAILABLE, "fatal producer error: %s: %s: %s",
		rd_kafka_err2name(first != 0 ? first : code), call, first != 0 ? reason : why);
	ing_tx_set_state(p, ING_TX_FAILED);
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
		ing_tx_fail(p, call, code, why);
	rd_kafka_error_destroy(error);
	return verdict;
}

void ing_tx_nap(void)
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

void ing_tx_on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *ctx)
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

void ing_tx_on_error(rd_kafka_t *rk, int code, const char *reason, void *ctx)
{
	(void)rk;
	struct ing_tx_producer *p = ctx;
	if (code == RD_KAFKA_RESP_ERR__FATAL)
		ing_tx_fail(p, "producer", code, reason);
	else
		ing_log_throttled(&p->throttle, ING_TX_LOG_EVERY_MS, ING_LOG_WARNING,
			"results: %s: %s", rd_kafka_err2str(code), reason);
}

/* ---- The steps of a transaction ---- */

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
		if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL || ing_tx_is_unwanted(p, b))
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

/* When it fails, the transaction can't be committed any more. */
static enum verdict send_positions(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	rd_kafka_topic_partition_list_t *offsets = make_offsets(b->positions);
	enum verdict verdict = AGAIN;
	uint64_t until_ms = ing_now_ms() + ING_TRANSACTION_TIMEOUT_MS;
	while (verdict == AGAIN && !ing_tx_is_unwanted(p, b) && ing_now_ms() < until_ms) {
		verdict = judge(p, b, "send_offsets",
			rd_kafka_send_offsets_to_transaction(
				p->producer.rk, offsets, b->positions->group_metadata, CALL_MS));
		if (verdict == AGAIN)
			ing_tx_nap();
	}
	rd_kafka_topic_partition_list_destroy(offsets);
	return verdict == AGAIN ? ABORT : verdict;
}

static enum verdict produce_all(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	for (size_t i = 0; i < b->count && b->failed == 0; i++)
		produce(p, b, b->records[i]);
	while (b->unreported > 0 && b->failed == 0) {
		if (ing_tx_is_unwanted(p, b))
			return ABORT;
		if (ing_tx_has_failed(p) || p->lost)
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

/* Until it is known: afterwards the messages are there once, or never. */
static void commit(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	enum verdict verdict = AGAIN;
	p->begun_ms = 0;
	while (verdict == AGAIN) {
		verdict =
			judge(p, b, "commit", rd_kafka_commit_transaction(p->producer.rk, CALL_MS));
		if (verdict == AGAIN && ing_tx_is_closing(p))
			break;
		if (verdict == AGAIN)
			ing_tx_nap();
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
		if (verdict == AGAIN && ing_tx_is_closing(p))
			break;
		if (verdict == AGAIN)
			ing_tx_nap();
	}
	p->aborting = false;
	if (verdict == ABORT)
		ing_tx_fail(p, "abort", b->code, b->err.msg);
}

static enum verdict fill_transaction(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	enum verdict verdict = produce_all(p, b);
	if (verdict == DONE)
		verdict = check_positions(b);
	if (verdict == DONE && b->positions->count > 0)
		verdict = send_positions(p, b);
	if (verdict == DONE && ing_tx_is_unwanted(p, b))
		verdict = ABORT;
	if (verdict == DONE && ing_now_ms() - p->begun_ms > COMMIT_BY_MS) {
		note_error(b, "commit", RD_KAFKA_RESP_ERR__TIMED_OUT, "brokers are too slow");
		verdict = ABORT;
	}
	b->called_off = verdict == ABORT && ing_tx_is_unwanted(p, b);
	return verdict;
}

/* -------------------------------------------------------------------------------------------- */

void ing_tx_run(struct ing_tx_producer *p, struct ing_tx_batch *b)
{
	look_up_topics(p);
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
