/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka.h - what the verbs that speak Kafka share. One thread.
 */
#pragma once
#include "common/kafka/settings.h"

struct ing_conf;
struct rd_kafka_s;
struct rd_kafka_topic_s;
struct rd_kafka_message_s;

/* Delivery reports; ctx is the verb's name, the message's topic has the opaque it was made with. */
typedef void ing_ctl_report_f(struct rd_kafka_s *rk, const struct rd_kafka_message_s *m, void *ctx);

/* A client with these settings (ended by a NULL key), the configuration's properties over them.
 * What goes wrong with the brokers later is said on stderr, not too often. Caller owns *ret
 * (rd_kafka_destroy()). */
int ing_ctl_kafka_new(enum ing_kafka_role role, const char *verb, const char *brokers,
	const struct ing_conf *conf, const struct ing_kafka_setting *settings,
	ing_ctl_report_f *on_report, struct rd_kafka_s **ret, struct ing_error *err) ING_MUST_CHECK;

/* How many partitions the topic has, waiting at most wait_ms for a broker to answer and, with
 * wait_topic, for the topic to exist. -ING_FAIL_UNAVAILABLE when no broker answers,
 * -ING_FAIL_NOT_FOUND when there is no such topic. */
int ing_ctl_kafka_partitions(struct rd_kafka_s *rk, struct rd_kafka_topic_s *topic, int64_t wait_ms,
	bool wait_topic, int *ret_count, struct ing_error *err) ING_MUST_CHECK;

/* The topic of a lane; NULL: that of requests. Heap; NULL, and the reason said, when there is none. */
char *ing_ctl_lane_topic(const char *verb, const char *lane, const struct ing_conf *conf);
