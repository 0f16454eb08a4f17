/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topics.h - the topics we produce to: whether they exist, how large their messages may be, and
 * making missing ones.
 *
 * Private to emit_kafka.c. Requests are asynchronous; their answers come as events on the given
 * queue. Loop thread.
 */
#pragma once
#include "common/base/log.h"
#include "worker/emit/emit.h"
#include "worker/emit/topic_plan.h"
#include "worker/model/settings.h"

struct rd_kafka_s;
struct rd_kafka_op_s;
struct rd_kafka_queue_s;

struct ing_topics {
	char *names[ING_OUTPUTS_]; /* NULL: dropped */
	size_t max_message_bytes;  /* largest value we want to send */
	/* The topic's own max.message.bytes; SIZE_MAX while not known. */
	size_t limit_bytes[ING_OUTPUTS_];
	bool missing[ING_OUTPUTS_];
	bool refused[ING_OUTPUTS_]; /* to be created; only of those that nobody waits for */
	bool warned[ING_OUTPUTS_];
	struct ing_log_throttle refused_throttle, silent_throttle;
};

enum ing_topics_answer {
	ING_TOPICS_READY,   /* all that are needed exist, or their owner does not let us look */
	ING_TOPICS_MISSING, /* some do not exist: create them */
	ING_TOPICS_CREATED, /* look again */
	ING_TOPICS_RETRY,   /* no answer: ask again later */
};

void ing_topics_init(struct ing_topics *t, const struct ing_kafka_settings *settings);
void ing_topics_done(struct ing_topics *t);
/* False when there is no topic at all: nothing is asked. */
bool ing_topics_describe(
	struct ing_topics *t, struct rd_kafka_s *rk, struct rd_kafka_queue_s *answers);
void ing_topics_create(
	struct ing_topics *t, struct rd_kafka_s *rk, struct rd_kafka_queue_s *answers);
/* Takes a DescribeConfigs or CreateTopics result event (which stays the caller's). */
enum ing_topics_answer ing_topics_take(struct ing_topics *t, struct rd_kafka_op_s *event);
/* Bytes of key and headers, and of a value, that a message of this topic may have. */
size_t ing_topics_room_bytes(const struct ing_topics *t, enum ing_output topic);
size_t ing_topics_max_value_bytes(const struct ing_topics *t, enum ing_output topic);
/* Bytes of key and headers as they are sent. */
size_t ing_topics_beside_bytes(const struct ing_output_message *m);
/* Whether the topic takes such a message, as far as we know. */
bool ing_topics_fit(
	const struct ing_topics *t, enum ing_output topic, size_t value_bytes, size_t beside_bytes);
/* The output has a topic, and it is not known to be missing. */
bool ing_topics_have(const struct ing_topics *t, enum ing_output topic);
/* A topic that nobody waits for is missing: look again now and then. */
bool ing_topics_lack_optional(const struct ing_topics *t);
/* The smallest limit_bytes: a batch may not be larger. */
size_t ing_topics_smallest_limit(const struct ing_topics *t);
