/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings of the two producers, and giving a message to one.
 */
#include "worker/emit/producer.h"

#include <stdio.h>

#include "common/kafka/settings.h"
#include "worker/emit/topic_plan.h"

#define NUMBER_CHARS 24

static void print_number(char text[NUMBER_CHARS], size_t n)
{
	snprintf(text, NUMBER_CHARS, "%zu", n);
}

static int make_settings(enum ing_producer_kind kind, const struct ing_producer_conf *conf,
	size_t batch_bytes, rd_kafka_conf_t **ret, struct ing_error *err)
{
	char message_bytes[NUMBER_CHARS], batch[NUMBER_CHARS], queue_kbytes[NUMBER_CHARS];
	char timeout_ms[NUMBER_CHARS], message_ms[NUMBER_CHARS], client_id[300];
	bool transactional = kind == ING_PRODUCER_TRANSACTIONAL;
	size_t largest = conf->max_message_bytes + ING_RECORD_ROOM_BYTES;
	print_number(message_bytes, largest);
	print_number(batch, batch_bytes);
	print_number(queue_kbytes, ING_MAX(2 * largest, (size_t)64 << 20) / 1024);
	print_number(timeout_ms, ING_TRANSACTION_TIMEOUT_MS);
	/* A message that is not acknowledged ends its transaction before the coordinator does,
	 * which would fence the producer. Messages of no transaction are retried without limit. */
	print_number(message_ms, transactional ? ING_TRANSACTION_TIMEOUT_MS * 8 / 10 : 0);
	snprintf(client_id, sizeof(client_id), "ingest-worker-%s", conf->instance);
	const struct ing_kafka_setting settings[] = {
		{"enable.idempotence", "true", true},
		{"acks", "all", true},
		{"message.timeout.ms", message_ms, true},
		{"message.max.bytes", message_bytes, true},
		{"batch.size", batch, false},
		{"queue.buffering.max.kbytes", queue_kbytes, false},
		{"linger.ms", transactional ? "1" : "20", false},
		/* Back soon after a broker's restart; the default waits for up to 10 s. */
		{"reconnect.backoff.max.ms", "2000", false},
		{"compression.codec", "lz4", false},
		/* As Java's clients: the same key goes to the same partition whoever produces
		 * it. */
		{"partitioner", "murmur2_random", false},
		{"socket.keepalive.enable", "true", false},
		/* What follows is the transactional producer's. Without the first each transaction
		 * waits 100 ms for the one before to be concluded. */
		{transactional ? "retry.backoff.ms" : NULL, "5", false},
		{"transactional.id", conf->transactional_id, true},
		{"transaction.timeout.ms", timeout_ms, true},
		{NULL, NULL, false},
	};
	return ing_kafka_settings_new(ING_KAFKA_PRODUCER, conf->brokers, client_id, settings,
		&conf->properties, ret, err);
}

/* -------------------------------------------------------------------------------------------- */

int ing_producer_open(struct ing_producer *p, enum ing_producer_kind kind,
	const struct ing_producer_conf *conf, size_t batch_bytes,
	const struct ing_producer_calls *calls, struct ing_error *err)
{
	rd_kafka_conf_t *settings;
	int rc = make_settings(kind, conf, batch_bytes, &settings, err);
	if (rc < 0)
		return rc;
	if (calls != NULL) {
		rd_kafka_conf_set_dr_msg_cb(settings, calls->on_report);
		rd_kafka_conf_set_error_cb(settings, calls->on_error);
		rd_kafka_conf_set_opaque(settings, calls->ctx);
	} else {
		rd_kafka_conf_set_events(settings, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
	}
	char reason[256];
	p->rk = rd_kafka_new(RD_KAFKA_PRODUCER, settings, reason, sizeof(reason));
	if (p->rk == NULL) {
		rd_kafka_conf_destroy(settings);
		return ing_error_set(err, ING_FAIL_CONFIG, "Kafka producer: %s", reason);
	}
	p->batch_bytes = batch_bytes;
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (conf->topics[i] != NULL)
			p->handles[i] = rd_kafka_topic_new(p->rk, conf->topics[i], NULL);
	return 0;
}

void ing_producer_close(struct ing_producer *p)
{
	if (p->rk == NULL)
		return;
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (p->handles[i] != NULL)
			rd_kafka_topic_destroy(p->handles[i]);
	rd_kafka_destroy(p->rk);
	*p = (struct ing_producer){0};
}

rd_kafka_headers_t *ing_producer_headers(const struct ing_output_message *m)
{
	if (m->header_count == 0)
		return NULL;
	rd_kafka_headers_t *headers = rd_kafka_headers_new(m->header_count);
	for (size_t i = 0; i < m->header_count; i++)
		rd_kafka_header_add(headers, m->headers[i].name, -1, m->headers[i].value, -1);
	return headers;
}

rd_kafka_resp_err_t ing_producer_send(struct ing_producer *p, const struct ing_output_message *m,
	const rd_kafka_headers_t *headers, void *opaque)
{
	static char none[1]; /* an empty value, which is not the same as no value */
	rd_kafka_headers_t *given = headers != NULL ? rd_kafka_headers_copy(headers) : NULL;
	rd_kafka_vu_t vus[] = {
		{.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = p->handles[m->output]},
		{.vtype = RD_KAFKA_VTYPE_VALUE,
			.u.mem = {m->value != NULL ? m->value : none, m->value_bytes}},
		{.vtype = RD_KAFKA_VTYPE_KEY,
			.u.mem = {(void *)(uintptr_t)m->key, m->key == NULL ? 0 : m->key_bytes}},
		{.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque},
		{.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = given},
	};
	size_t count = ING_ARRAY_LEN(vus) - (given == NULL ? 1 : 0);
	rd_kafka_error_t *error = rd_kafka_produceva(p->rk, vus, count);
	if (error == NULL)
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	rd_kafka_resp_err_t err = rd_kafka_error_code(error);
	rd_kafka_error_destroy(error);
	if (given != NULL)
		rd_kafka_headers_destroy(given); /* given away only on success */
	return err;
}

bool ing_producer_is_refusal(rd_kafka_resp_err_t err)
{
	return err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
	       err == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || err == RD_KAFKA_RESP_ERR_INVALID_MSG ||
	       err == RD_KAFKA_RESP_ERR_INVALID_RECORD;
}
