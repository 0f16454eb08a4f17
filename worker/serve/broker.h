/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * broker.h - requests onto the topic of a lane, results from theirs.
 *
 * Owns: a producer and a consumer of librdkafka's, which have threads of their own and wake the loop. The consumer joins
 * no group; it begins at the ends that the partitions have before the first message is accepted, so that no result
 * of it is missed, and sees committed messages only. What blocks (the first look at the topics, and one every minute for
 * new partitions) is done by a thread of libuv's pool. Loop thread only.
 *
 * While the brokers are away nothing is accepted (ing_broker_why_not()); what was accepted and is not acknowledged in
 * time is reported as failed. A result that was sent in the meantime is read when they are back.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"
#include "common/kafka/properties.h"

struct ing_broker;
struct ing_conf;
struct uv_loop_s;

struct ing_broker_conf {
	const char *brokers; /* borrowed, as all of these */
	struct ing_kafka_properties properties;
	const char *requests_topic; /* where requests go, if it exists */
	const char *other_topic;    /* else there; NULL: there is no other */
	const char *results_topic;
	void *ctx;
	/* The report about a message, once for each that was accepted. */
	void (*delivered)(void *ctx, void *opaque, bool ok);
	void (*result)(void *ctx, const char *key, size_t key_bytes, const char *value,
		size_t value_bytes);
	/* librdkafka can produce nothing more. */
	void (*broken)(void *ctx, const char *why);
};

/* Returns without waiting for a broker. Error: -CONFIG, -SYSTEM. */
int ing_broker_new(struct uv_loop_s *loop, const struct ing_broker_conf *conf,
	struct ing_broker **ret, struct ing_error *err) ING_MUST_CHECK;
/* Reports that are outstanding do not come. May wait for a thread that asks a broker, some seconds. The loop must turn
 * once more. NULL is fine. */
void ing_broker_free(struct ing_broker *b);

/* Why nothing is accepted now, for a log line; NULL: it is. */
const char *ing_broker_why_not(const struct ing_broker *b);
/* Copied. False: it was not accepted, and there will be no report. */
bool ing_broker_produce(struct ing_broker *b, const char *message, size_t bytes, void *opaque);
