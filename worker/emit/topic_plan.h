/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topic_plan.h - every topic of the system: how it is created, and what it must be like. One table
 * for the worker, which creates the topics it writes to, and for `ingestctl topics`, which creates
 * and checks all of them. Any thread.
 */
#pragma once
#include <stddef.h>
#include "common/base/error.h"
#include "worker/model/outputs.h"

struct rd_kafka_NewTopic_s;

enum ing_topic_use {
	ING_TOPIC_REQUESTS,
	ING_TOPIC_PRIORITY,
	ING_TOPIC_DAILY,
	ING_TOPIC_BULK,
#define OUTPUT(NAME, member, fallback, least, key, size, form, refused, shared, file, noun, who,   \
	sentence)                                                                                  \
	ING_TOPIC_##NAME,
#include "worker/model/outputs.def"
#undef OUTPUT
	ING_TOPICS_
};

#define ING_TOPIC_OF_OUTPUT(output) ((enum ing_topic_use)(ING_TOPIC_BULK + 1 + (output)))
/* Of topics that are an output's. */
#define ING_OUTPUT_OF_TOPIC(use) ((enum ing_output)((use) - (ING_TOPIC_BULK + 1)))

/* What a record's key, headers and framing may take beside its value. A dead letter's headers are
 * the largest. */
#define ING_RECORD_ROOM_BYTES ((size_t)65536)
/* librdkafka's own limit of a message. */
#define ING_RECORD_MAX_BYTES ((size_t)1000000000)

#define ING_TOPIC_LIMIT "max.message.bytes" /* Kafka's name of the setting */
#define ING_TOPIC_PLAN_SETTINGS 3

/* A topic's setting, under Kafka's name, beside max.message.bytes. */
struct ing_topic_setting {
	const char *name; /* NULL: there are no more */
	const char *value;
	/* another value loses messages; else the value is only what it is created with */
	bool must;
};

struct ing_topic_plan {
	const char *key; /* of the configuration: the topic's name */
	const char *who; /* needs it, as a clause: "the worker reads …" */
	bool traffic;    /* shared by workers or importers: as many partitions as asked for */
	int partitions;  /* by default */
	struct ing_topic_setting settings[ING_TOPIC_PLAN_SETTINGS + 1];
};

const struct ing_topic_plan *ing_topic_plan(enum ing_topic_use use);
/* The max.message.bytes that a topic is created with. max_message_bytes:
 * kafka.max_message_bytes. */
size_t ing_topic_plan_limit_bytes(enum ing_topic_use use, size_t max_message_bytes);
/* The least max.message.bytes with which no message that may be sent is refused. */
size_t ing_topic_plan_least_bytes(enum ing_topic_use use, size_t max_message_bytes);
/* A topic for rd_kafka_CreateTopics() (rd_kafka_NewTopic_destroy()). partitions and replication: 0
 * and -1 for the plan's and the cluster's own. -ING_FAIL_INVALID for a name or number that Kafka
 * does not know. */
int ing_topic_plan_new(enum ing_topic_use use, const char *name, size_t max_message_bytes,
	int partitions, int replication, struct rd_kafka_NewTopic_s **ret,
	struct ing_error *err) ING_MUST_CHECK;
