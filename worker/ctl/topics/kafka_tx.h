/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_tx.h - a transactional producer for a command: one transaction after the other, in the calling thread.
 *
 * Of two producers with the same transactional identifier the earlier one fails at its next transaction. Errors of all calls:
 * -ING_FAIL_UNAVAILABLE: nothing of the transaction is committed, it may be repeated.
 * -ING_FAIL_TOO_BIG: likewise, but a message is larger than its topic takes.
 * -ING_FAIL_LOCKED: likewise, and for good: another producer has begun, or the brokers do not allow it.
 * -ING_FAIL_TIMEOUT: what has become of the transaction is not known; a new producer's ing_ctl_tx_init() settles it.
 * One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"

struct ing_conf;
struct ing_ctl_tx;
struct rd_kafka_s;
struct rd_kafka_topic_s;
struct rd_kafka_headers_s;

struct ing_ctl_tx_conf {
	const char *verb, *brokers; /* borrowed for good */
	const struct ing_conf *conf;
	const char *id;       /* transactional.id */
	size_t message_bytes; /* of the largest message, headers included */
	bool singly;          /* each message as a set of its own: a topic's limit is one of sets */
};

struct ing_ctl_tx_message {
	struct rd_kafka_topic_s *topic; /* of ing_ctl_tx_client() */
	int32_t partition;              /* RD_KAFKA_PARTITION_UA: by the key */
	const void *key;                /* NULL: none */
	size_t key_bytes;
	const void *value; /* NULL: none */
	size_t value_bytes;
	struct rd_kafka_headers_s *headers; /* taken, whatever is returned; NULL: none */
};

struct ing_ctl_tx_position { /* of a group that has no members */
	const char *group, *topic;
	int32_t partition;
	int64_t offset;
	const char *metadata; /* text */
};

/* -ING_FAIL_CONFIG. Asks no broker. */
int ing_ctl_tx_new(const struct ing_ctl_tx_conf *conf, struct ing_ctl_tx **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_ctl_tx_free(struct ing_ctl_tx
		*tx); /* NULL is fine; an open transaction is aborted later, by its coordinator */
struct rd_kafka_s *ing_ctl_tx_client(struct ing_ctl_tx *tx);
/* Once, before all others: waits for the end of what an earlier producer has begun to commit, and aborts what it has left. */
int ing_ctl_tx_init(struct ing_ctl_tx *tx, int wait_ms, struct ing_error *err) ING_MUST_CHECK;
int ing_ctl_tx_begin(struct ing_ctl_tx *tx, struct ing_error *err) ING_MUST_CHECK;
/* The bytes are copied. */
int ing_ctl_tx_produce(struct ing_ctl_tx *tx, const struct ing_ctl_tx_message *m,
	struct ing_error *err) ING_MUST_CHECK;
/* With a position (NULL: none), which is committed if the messages are. */
int ing_ctl_tx_commit(struct ing_ctl_tx *tx, const struct ing_ctl_tx_position *position,
	struct ing_error *err) ING_MUST_CHECK;
