/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of topics. What loses messages where a cluster's defaults are in force is set on every
 * topic: a cluster may compact by default (and then refuses requests, which have no key), drop what
 * is older than a week, or keep only so many bytes.
 */
#include "worker/emit/topic_plan.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>

#include "worker/model/limits.h"
#include "worker/model/tier.h"

/* Of topics with traffic: so many workers or importers can share them. */
#define TRAFFIC_PARTITIONS 12
/* A request is at most 1 MiB; a longer one is a dead letter, so the topic has to take some. */
#define REQUESTS_LIMIT_BYTES (2 * ING_MAX_REQUEST_BYTES)

/* How long requests may wait for their hosts is the operator's decision: 90 days to begin with. */
/* clang-format off */
#define WAITING {{"cleanup.policy", "delete", true}, {"retention.ms", "7776000000", false}}
#define REQUESTS(KEY, WHO) {KEY, WHO, true, TRAFFIC_PARTITIONS, WAITING}
#define KEYED_BY_PARKED WAITING
/* An importer may come months later. */
#define KEYED_BY_REQUEST KEPT
#define KEYED_BY_ORIGINAL KEPT
/* The newest message of a document counts. */
#define KEYED_BY_DOCUMENT {{"cleanup.policy", "compact", true}}
#define KEPT {{"cleanup.policy", "delete", true}, {"retention.ms", "-1", true}, {"retention.bytes", "-1", true}}

static const struct ing_topic_plan plans[ING_TOPICS_] = {
	[ING_TOPIC_REQUESTS] = REQUESTS("kafka.topics.requests", "the worker reads requests from it"),
	[ING_TOPIC_PRIORITY] = REQUESTS("kafka.topics.priority", "the worker reads urgent requests from it"),
	[ING_TOPIC_DAILY] = REQUESTS("kafka.topics.daily", "the worker reads regular harvests from it"),
	[ING_TOPIC_BULK] = REQUESTS("kafka.topics.bulk", "the worker reads large lists from it"),
#define OUTPUT(NAME, member, fallback, least, key, size, form, refused, shared, file, noun, who, sentence) \
	[ING_TOPIC_##NAME] = {"kafka.topics." #member, who, shared, shared ? TRAFFIC_PARTITIONS : 1, KEYED_BY_##key},
#include "worker/model/outputs.def"
#undef OUTPUT
};
/* clang-format on */

static bool has_requests(enum ing_topic_use use)
{
	return use <= ING_TOPIC_BULK || ing_tier_of_output(ING_OUTPUT_OF_TOPIC(use)) >= 0;
}

static int set_all(rd_kafka_NewTopic_t *topic, enum ing_topic_use use, size_t max_message_bytes)
{
	char limit[24];
	snprintf(limit, sizeof(limit), "%zu", ing_topic_plan_limit_bytes(use, max_message_bytes));
	int rc = rd_kafka_NewTopic_set_config(topic, ING_TOPIC_LIMIT, limit);
	for (const struct ing_topic_setting *s = plans[use].settings; rc == 0 && s->name != NULL;
		s++)
		rc = rd_kafka_NewTopic_set_config(topic, s->name, s->value);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_topic_plan *ing_topic_plan(enum ing_topic_use use)
{
	return &plans[use];
}

size_t ing_topic_plan_limit_bytes(enum ing_topic_use use, size_t max_message_bytes)
{
	if (has_requests(use))
		return REQUESTS_LIMIT_BYTES;
	return ing_topic_plan_least_bytes(use, max_message_bytes);
}

size_t ing_topic_plan_least_bytes(enum ing_topic_use use, size_t max_message_bytes)
{
	size_t value = has_requests(use) ? ING_MAX_REQUEST_BYTES : max_message_bytes;
	return ING_MIN(value, ING_RECORD_MAX_BYTES - ING_RECORD_ROOM_BYTES) + ING_RECORD_ROOM_BYTES;
}

int ing_topic_plan_new(enum ing_topic_use use, const char *name, size_t max_message_bytes,
	int partitions, int replication, struct rd_kafka_NewTopic_s **ret, struct ing_error *err)
{
	char reason[256];
	rd_kafka_NewTopic_t *topic =
		rd_kafka_NewTopic_new(name, partitions > 0 ? partitions : plans[use].partitions,
			replication, reason, sizeof(reason));
	if (topic == NULL)
		return ing_error_set(err, ING_FAIL_INVALID, "%s: %s", name, reason);
	int rc = set_all(topic, use, max_message_bytes);
	ing_must(rc == 0); /* it refuses nothing but NULL */
	*ret = topic;
	return 0;
}
