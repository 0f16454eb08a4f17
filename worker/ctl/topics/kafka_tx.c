/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls are repeated as long as librdkafka says that they may be, and the coordinator keeps the transaction.
 * What ends otherwise is aborted here, so that the caller has one decision: again, with a new producer, or not at all.
 */
#include "worker/ctl/topics/kafka_tx.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/topics/kafka.h"

/* A producer that ends in the middle holds readers of committed messages up for so long, unless it is begun again. */
#define TRANSACTION_MS 60000
/* Messages end before their transaction does. */
#define MESSAGE_MS "48000"
#define CALL_MS 5000
#define NAP_MS 50

struct ing_ctl_tx {
	rd_kafka_t *rk;
	uint64_t begun_ms;       /* of the open transaction; 0: none */
	bool too_big;            /* a message of the open transaction was refused for its size */
	rd_kafka_resp_err_t why; /* of the first message that failed */
};

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *ctx)
{
	(void)rk;
	(void)ctx;
	struct ing_ctl_tx *tx = m->_private;
	bool purged = m->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
		      m->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
	if (m->err == 0 || purged)
		return;
	tx->too_big |= m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
	if (tx->why == 0)
		tx->why = m->err;
}

/* The coordinator has given the transaction up, as it was open for too long. That looks as if another producer had begun. */
static bool has_expired(const struct ing_ctl_tx *tx)
{
	return tx->begun_ms > 0 && ing_now_ms() - tx->begun_ms >= TRANSACTION_MS;
}

static int fail_for_good(struct ing_ctl_tx *tx, const char *what, const char *words,
	rd_kafka_resp_err_t code, struct ing_error *err)
{
	char reason[400] = "";
	rd_kafka_resp_err_t first = rd_kafka_fatal_error(tx->rk, reason, sizeof(reason));
	bool fenced = first == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR__FENCED ||
		      first == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH ||
		      first == RD_KAFKA_RESP_ERR_PRODUCER_FENCED;
	bool denied = first == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED ||
		      code == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
	bool lost = !denied && (!fenced || has_expired(tx));
	tx->begun_ms = 0;
	if (lost)
		return ing_error_set(
			err, ING_FAIL_TIMEOUT, "%s: %s", what, reason[0] != '\0' ? reason : words);
	if (fenced)
		return ing_error_set(err, ING_FAIL_LOCKED,
			"%s: another producer with the same transactional identifier has begun",
			what);
	return ing_error_set(err, ING_FAIL_LOCKED, "%s: %s", what, words);
}

/* Repeats a call until it has ended, or wait_ms are over. Takes nothing; NULL: success. */
typedef rd_kafka_error_t *step_f(struct ing_ctl_tx *tx, const void *ctx);

static rd_kafka_error_t *repeat(
	struct ing_ctl_tx *tx, step_f *step, const void *ctx, uint64_t wait_ms)
{
	uint64_t until_ms = ing_now_ms() + wait_ms;
	for (;;) {
		rd_kafka_error_t *error = step(tx, ctx);
		if (error == NULL || !rd_kafka_error_is_retriable(error) ||
			ing_now_ms() >= until_ms)
			return error;
		rd_kafka_error_destroy(error);
		rd_kafka_poll(tx->rk, 0);
		usleep(NAP_MS * 1000);
	}
}

static rd_kafka_error_t *init_step(struct ing_ctl_tx *tx, const void *ctx)
{
	(void)ctx;
	return rd_kafka_init_transactions(tx->rk, CALL_MS);
}

static rd_kafka_error_t *abort_step(struct ing_ctl_tx *tx, const void *ctx)
{
	(void)ctx;
	return rd_kafka_abort_transaction(tx->rk, CALL_MS);
}

static rd_kafka_error_t *commit_step(struct ing_ctl_tx *tx, const void *ctx)
{
	(void)ctx;
	return rd_kafka_commit_transaction(tx->rk, CALL_MS);
}

struct offsets {
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_consumer_group_metadata_t *group;
};

static rd_kafka_error_t *offsets_step(struct ing_ctl_tx *tx, const void *ctx)
{
	const struct offsets *o = ctx;
	return rd_kafka_send_offsets_to_transaction(tx->rk, o->list, o->group, CALL_MS);
}

/* The transaction has failed for the reason in *err. Returns its code, or that the end is not known. */
static int abort_open(struct ing_ctl_tx *tx, struct ing_error *err)
{
	rd_kafka_error_t *error = repeat(tx, abort_step, NULL, TRANSACTION_MS);
	tx->begun_ms = 0;
	if (error == NULL)
		return -(int)err->code;
	rd_kafka_error_destroy(error);
	err->code = ING_FAIL_TIMEOUT;
	return -ING_FAIL_TIMEOUT;
}

/* Takes the error of a call inside a transaction; NULL: success. */
static int judge(
	struct ing_ctl_tx *tx, const char *what, rd_kafka_error_t *error, struct ing_error *err)
{
	if (error == NULL)
		return 0;
	rd_kafka_resp_err_t code = rd_kafka_error_code(error);
	bool fatal = rd_kafka_error_is_fatal(error);
	char words[300];
	snprintf(words, sizeof(words), "%s",
		tx->why != 0 ? rd_kafka_err2str(tx->why) : rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	if (fatal)
		return fail_for_good(tx, what, words, code, err);
	ing_error_set(
		err, tx->too_big ? ING_FAIL_TOO_BIG : ING_FAIL_UNAVAILABLE, "%s: %s", what, words);
	return abort_open(tx, err);
}

static int send_position(
	struct ing_ctl_tx *tx, const struct ing_ctl_tx_position *position, struct ing_error *err)
{
	struct offsets o = {rd_kafka_topic_partition_list_new(1),
		rd_kafka_consumer_group_metadata_new(position->group)};
	rd_kafka_topic_partition_t *to =
		rd_kafka_topic_partition_list_add(o.list, position->topic, position->partition);
	to->offset = position->offset;
	to->metadata = ing_strdup(position->metadata); /* freed with the list */
	to->metadata_size = strlen(position->metadata);
	int rc = judge(tx, "the position", repeat(tx, offsets_step, &o, TRANSACTION_MS / 2), err);
	rd_kafka_consumer_group_metadata_destroy(o.group);
	rd_kafka_topic_partition_list_destroy(o.list);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_tx_new(
	const struct ing_ctl_tx_conf *conf, struct ing_ctl_tx **ret, struct ing_error *err)
{
	char message_bytes[24];
	char transaction_ms[24];
	snprintf(message_bytes, sizeof(message_bytes), "%zu", conf->message_bytes);
	snprintf(transaction_ms, sizeof(transaction_ms), "%d", TRANSACTION_MS);
	const struct ing_kafka_setting settings[] = {
		{"transactional.id", conf->id, true},
		{"transaction.timeout.ms", transaction_ms, true},
		{"message.timeout.ms", MESSAGE_MS, true},
		{"message.max.bytes", message_bytes, true},
		{"linger.ms", "5", false},
		/* Without it each transaction waits 100 ms for the one before to be concluded. */
		{"retry.backoff.ms", "5", false},
		/* Back soon after a broker's restart; the default waits for up to 10 s. */
		{"reconnect.backoff.max.ms", "2000", false},
		{"compression.codec", "lz4", false},
		{conf->singly ? "batch.num.messages" : NULL, "1", true},
		{NULL, NULL, false},
	};
	rd_kafka_t *rk;
	int rc = ing_ctl_kafka_new(ING_KAFKA_PRODUCER, conf->verb, conf->brokers, conf->conf,
		settings, on_report, &rk, err);
	if (rc < 0)
		return rc;
	*ret = ing_alloc(sizeof(**ret));
	**ret = (struct ing_ctl_tx){.rk = rk};
	return 0;
}

void ing_ctl_tx_free(struct ing_ctl_tx *tx)
{
	if (tx == NULL)
		return;
	rd_kafka_destroy(tx->rk);
	free(tx);
}

struct rd_kafka_s *ing_ctl_tx_client(struct ing_ctl_tx *tx)
{
	return tx->rk;
}

int ing_ctl_tx_init(struct ing_ctl_tx *tx, int wait_ms, struct ing_error *err)
{
	rd_kafka_error_t *error = repeat(tx, init_step, NULL, (uint64_t)wait_ms);
	if (error == NULL)
		return 0;
	bool fatal = rd_kafka_error_is_fatal(error);
	rd_kafka_resp_err_t code = rd_kafka_error_code(error);
	char words[300];
	snprintf(words, sizeof(words), "%s", rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	if (fatal)
		return fail_for_good(tx, "transactions", words, code, err);
	return ing_error_set(err, ING_FAIL_UNAVAILABLE, "transactions: %s", words);
}

int ing_ctl_tx_begin(struct ing_ctl_tx *tx, struct ing_error *err)
{
	rd_kafka_poll(tx->rk, 0);
	tx->too_big = false;
	tx->why = 0;
	tx->begun_ms = ing_now_ms();
	return judge(tx, "a transaction", rd_kafka_begin_transaction(tx->rk), err);
}

int ing_ctl_tx_produce(
	struct ing_ctl_tx *tx, const struct ing_ctl_tx_message *m, struct ing_error *err)
{
	/* librdkafka copies the bytes at once, whatever the types of its parameters say. */
	void *value = (void *)(uintptr_t)m->value;
	rd_kafka_resp_err_t code;
	do {
		code = rd_kafka_producev(tx->rk, RD_KAFKA_V_RKT(m->topic),
			RD_KAFKA_V_PARTITION(m->partition), RD_KAFKA_V_KEY(m->key, m->key_bytes),
			RD_KAFKA_V_VALUE(value, m->value_bytes), RD_KAFKA_V_OPAQUE(tx),
			RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(m->headers),
			RD_KAFKA_V_END);
		if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
			rd_kafka_poll(tx->rk, 100);
	} while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL);
	if (code == 0)
		return 0;
	if (m->headers != NULL)
		rd_kafka_headers_destroy(m->headers);
	if (rd_kafka_fatal_error(tx->rk, NULL, 0) != 0)
		return fail_for_good(
			tx, rd_kafka_topic_name(m->topic), rd_kafka_err2str(code), code, err);
	/* __STATE: the transaction has failed already, by messages before this one. */
	bool too_big = tx->too_big || code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
	ing_error_set(err, too_big ? ING_FAIL_TOO_BIG : ING_FAIL_UNAVAILABLE, "%s: %s",
		rd_kafka_topic_name(m->topic), rd_kafka_err2str(tx->why != 0 ? tx->why : code));
	return abort_open(tx, err);
}

int ing_ctl_tx_commit(
	struct ing_ctl_tx *tx, const struct ing_ctl_tx_position *position, struct ing_error *err)
{
	int rc = position != NULL ? send_position(tx, position, err) : 0;
	if (rc != 0)
		return rc;
	rd_kafka_error_t *error = repeat(tx, commit_step, NULL, TRANSACTION_MS);
	/* A commit that has begun cannot be aborted any more. */
	if (error != NULL && rd_kafka_error_is_retriable(error)) {
		ing_error_set(
			err, ING_FAIL_TIMEOUT, "the transaction: %s", rd_kafka_error_string(error));
		rd_kafka_error_destroy(error);
		rc = -ING_FAIL_TIMEOUT;
	} else {
		rc = judge(tx, "the transaction was not committed", error, err);
	}
	tx->begun_ms = 0;
	return rc;
}
