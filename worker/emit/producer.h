/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * producer.h - a Kafka producer with handles of the output topics: the idempotent one of side
 * messages, and the transactional one of records. Private to this room. A producer has one owner, and
 * is used by one thread at a time.
 */
#pragma once
#include <librdkafka/rdkafka.h>
#include "common/base/error.h"
#include "common/kafka/properties.h"
#include "worker/model/outputs.h"

/* Constant from the start, read by both threads. */
struct ing_producer_conf {
	char *brokers, *instance;
	char *transactional_id;
	struct ing_kafka_properties properties;
	char *const *topics; /* by output; NULL: dropped. Borrowed */
	size_t max_message_bytes;
};

enum ing_producer_kind { ING_PRODUCER_IDEMPOTENT, ING_PRODUCER_TRANSACTIONAL };

struct ing_producer {
	rd_kafka_t *rk; /* NULL: closed */
	rd_kafka_topic_t *handles[ING_OUTPUTS_];
	size_t batch_bytes;
};

/* librdkafka's default of batch.size. */
#define ING_PRODUCER_BATCH_BYTES ((size_t)1000000)

/* What a transaction may take before its coordinator aborts it: a worker that hangs holds the readers of
 * committed messages no longer. */
#define ING_TRANSACTION_TIMEOUT_MS 10000

/* What the producer calls; ctx is its opaque. The idempotent one has neither: its reports come as
 * events. */
struct ing_producer_calls {
	void (*on_report)(rd_kafka_t *rk, const rd_kafka_message_t *m, void *ctx);
	void (*on_error)(rd_kafka_t *rk, int err, const char *reason, void *ctx);
	void *ctx;
};

int ing_producer_open(struct ing_producer *p, enum ing_producer_kind kind,
	const struct ing_producer_conf *conf, size_t batch_bytes,
	const struct ing_producer_calls *calls, struct ing_error *err) ING_MUST_CHECK;
void ing_producer_close(struct ing_producer *p); /* a closed one is fine */

/* NULL without any. */
rd_kafka_headers_t *ing_producer_headers(const struct ing_output_message *m);
/* Value and key stay the caller's until the delivery report, which has opaque; headers are copied. */
rd_kafka_resp_err_t ing_producer_send(struct ing_producer *p, const struct ing_output_message *m,
	const rd_kafka_headers_t *headers, void *opaque);

/* The broker has refused the message, or its batch, for good. */
bool ing_producer_is_refusal(rd_kafka_resp_err_t err);
