/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DescribeConfigs first, because it needs the least permission and tells both existence and limits;
 * CreateTopics only for what is missing. A cluster that answers neither is taken as it is: sending
 * then shows what is wrong. Topics for parked requests are tried to be created once; where that is
 * refused, or they are deleted later, their requests get a result instead.
 */
#include "worker/emit/topics.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "worker/model/tier.h"

#define REQUEST_TIMEOUT_MS 10000
#define LOG_EVERY_MS 300000

static bool is_first_of_its_name(const struct ing_topics *t, int topic)
{
	if (t->names[topic] == NULL)
		return false;
	for (int i = 0; i < topic; i++)
		if (t->names[i] != NULL && strcmp(t->names[i], t->names[topic]) == 0)
			return false;
	return true;
}

static bool is_optional(int topic)
{
	return ing_output_row((enum ing_output)topic)->refused == ING_OUTPUT_REFUSED_ANSWERED;
}

/* Somebody waits for it, or we have not tried to create it yet. */
static bool is_wanted(const struct ing_topics *t, int topic)
{
	return t->missing[topic] && !(is_optional(topic) && t->refused[topic]);
}

static rd_kafka_AdminOptions_t *make_options(rd_kafka_t *rk, rd_kafka_admin_op_t op)
{
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, op);
	char reason[128];
	rd_kafka_AdminOptions_set_request_timeout(
		options, REQUEST_TIMEOUT_MS, reason, sizeof(reason));
	return options;
}

/* ---- Answers ---- */

static size_t parse_bytes(const char *text)
{
	char *end;
	unsigned long long n = text == NULL ? 0 : strtoull(text, &end, 10);
	return n == 0 || n > SIZE_MAX ? SIZE_MAX : (size_t)n;
}

static void set_limit(struct ing_topics *t, int topic, const rd_kafka_ConfigResource_t *res)
{
	size_t count;
	const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(res, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), ING_TOPIC_LIMIT) == 0)
			t->limit_bytes[topic] = parse_bytes(rd_kafka_ConfigEntry_value(entries[i]));
	size_t least = ing_topic_plan_least_bytes(ING_TOPIC_OF_OUTPUT(topic), t->max_message_bytes);
	if (t->limit_bytes[topic] >= least || t->warned[topic])
		return;
	t->warned[topic] = true;
	ing_log(ING_LOG_WARNING,
		"%s: the topic takes messages of %zu bytes, less than what may be sent (%zu, from "
		"kafka.max_message_bytes); larger ones are refused",
		t->names[topic], t->limit_bytes[topic], least);
}

/* True when this resource's state is settled. */
static bool take_resource(struct ing_topics *t, const rd_kafka_ConfigResource_t *res)
{
	rd_kafka_resp_err_t err = rd_kafka_ConfigResource_error(res);
	const char *name = rd_kafka_ConfigResource_name(res);
	bool unclear = false;
	for (int i = 0; i < ING_OUTPUTS_; i++) {
		if (t->names[i] == NULL || strcmp(t->names[i], name) != 0)
			continue;
		t->missing[i] = err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
		if (err == 0)
			set_limit(t, i, res);
		else if (err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
			ing_log(ING_LOG_INFO,
				"%s: its settings may not be read: limits are assumed", name);
		else if (!t->missing[i])
			unclear = true;
	}
	return !unclear;
}

static enum ing_topics_answer take_described(struct ing_topics *t, rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t err = rd_kafka_event_error(event);
	if (err == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE)
		return ING_TOPICS_READY;
	if (err != 0) {
		ing_log_throttled(&t->silent_throttle, LOG_EVERY_MS, ING_LOG_WARNING,
			"topics cannot be looked at: %s; trying again",
			rd_kafka_event_error_string(event));
		return ING_TOPICS_RETRY;
	}
	size_t count;
	const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(
		rd_kafka_event_DescribeConfigs_result(event), &count);
	bool settled = true;
	for (size_t i = 0; i < count; i++)
		settled = take_resource(t, resources[i]) && settled;
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (is_wanted(t, i))
			return ING_TOPICS_MISSING;
	return settled ? ING_TOPICS_READY : ING_TOPICS_RETRY;
}

/* Returns true when nobody waits for the topic. */
static bool give_up(struct ing_topics *t, const char *name)
{
	bool is_waited_for = false;
	for (int i = 0; i < ING_OUTPUTS_; i++) {
		if (t->names[i] == NULL || strcmp(t->names[i], name) != 0)
			continue;
		t->refused[i] = true;
		is_waited_for |= !is_optional(i);
	}
	return !is_waited_for;
}

static enum ing_topics_answer take_created(struct ing_topics *t, rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t err = rd_kafka_event_error(event);
	if (err != 0) {
		ing_log_throttled(&t->refused_throttle, LOG_EVERY_MS, ING_LOG_WARNING,
			"topics cannot be created: %s; waiting for them",
			rd_kafka_event_error_string(event));
		return ING_TOPICS_RETRY;
	}
	unsigned suppressed = 0;
	bool speak = ing_log_throttle_pass(&t->refused_throttle, LOG_EVERY_MS, &suppressed);
	size_t count;
	const rd_kafka_topic_result_t **results = rd_kafka_CreateTopics_result_topics(
		rd_kafka_event_CreateTopics_result(event), &count);
	bool refused = false;
	for (size_t i = 0; i < count; i++) {
		const char *name = rd_kafka_topic_result_name(results[i]);
		err = rd_kafka_topic_result_error(results[i]);
		if (err == 0) {
			ing_log(ING_LOG_INFO, "%s: topic created", name);
		} else if (err != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
			const char *detail = rd_kafka_topic_result_error_string(results[i]);
			bool optional = give_up(t, name);
			refused |= !optional;
			if (!speak && !optional)
				continue;
			ing_log_fields(optional ? ING_LOG_INFO : ING_LOG_WARNING,
				&ING_LOG_FIELD_SUPPRESSED(suppressed), 1,
				"%s: there is no such topic, and it cannot be created: %s; %s",
				name, detail != NULL ? detail : rd_kafka_err2str(err),
				optional ? "going on without it" : "waiting for it");
		}
	}
	return refused ? ING_TOPICS_RETRY : ING_TOPICS_CREATED;
}

static rd_kafka_NewTopic_t *make_new_topic(const struct ing_topics *t, int topic)
{
	struct ing_error err = {0};
	rd_kafka_NewTopic_t *n = NULL;
	/* -1: as many copies as the cluster makes by default. */
	if (ing_topic_plan_new(ING_TOPIC_OF_OUTPUT(topic), t->names[topic], t->max_message_bytes, 0,
		    -1, &n, &err) != 0)
		ing_log(ING_LOG_ERROR, "%s", err.msg);
	return n;
}

/* -------------------------------------------------------------------------------------------- */

void ing_topics_init(struct ing_topics *t, const struct ing_kafka_settings *settings)
{
	*t = (struct ing_topics){.max_message_bytes = ING_MIN(settings->max_message_bytes,
					 ING_RECORD_MAX_BYTES - ING_RECORD_ROOM_BYTES)};
	for (int i = 0; i < ING_OUTPUTS_; i++) {
		const char *name = settings->output_topics[i];
		int tier = ing_tier_of_output((enum ing_output)i);
		if (tier >= 0)
			t->names[i] = ing_tier_topic_name((enum ing_tier)tier, name,
				settings->lane_topics[ING_LANE_REQUESTS]);
		else if (name != NULL && *name != '\0')
			t->names[i] = ing_strdup(name);
		t->limit_bytes[i] = SIZE_MAX;
	}
}

void ing_topics_done(struct ing_topics *t)
{
	for (int i = 0; i < ING_OUTPUTS_; i++)
		free(t->names[i]);
	*t = (struct ing_topics){0};
}

bool ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers)
{
	rd_kafka_ConfigResource_t *resources[ING_OUTPUTS_];
	size_t count = 0;
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (is_first_of_its_name(t, i))
			resources[count++] =
				rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, t->names[i]);
	if (count == 0)
		return false;
	rd_kafka_AdminOptions_t *options = make_options(rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
	rd_kafka_DescribeConfigs(rk, resources, count, options, answers);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_ConfigResource_destroy_array(resources, count);
	return true;
}

void ing_topics_create(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers)
{
	rd_kafka_NewTopic_t *topics[ING_OUTPUTS_];
	size_t count = 0;
	for (int i = 0; i < ING_OUTPUTS_; i++) {
		if (!is_wanted(t, i) || !is_first_of_its_name(t, i))
			continue;
		topics[count] = make_new_topic(t, i);
		if (topics[count] != NULL)
			count++;
	}
	rd_kafka_AdminOptions_t *options = make_options(rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_CreateTopics(rk, topics, count, options, answers);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_NewTopic_destroy_array(topics, count);
}

enum ing_topics_answer ing_topics_take(struct ing_topics *t, rd_kafka_event_t *event)
{
	if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT)
		return take_described(t, event);
	ing_must(rd_kafka_event_type(event) == RD_KAFKA_EVENT_CREATETOPICS_RESULT);
	return take_created(t, event);
}

size_t ing_topics_room_bytes(const struct ing_topics *t, enum ing_output topic)
{
	return ING_MIN(ING_RECORD_ROOM_BYTES, t->limit_bytes[topic] / 2);
}

size_t ing_topics_max_value_bytes(const struct ing_topics *t, enum ing_output topic)
{
	size_t limit = t->limit_bytes[topic];
	return ING_MIN(t->max_message_bytes, limit - ing_topics_room_bytes(t, topic));
}

bool ing_topics_have(const struct ing_topics *t, enum ing_output topic)
{
	return t->names[topic] != NULL && !t->missing[topic];
}

bool ing_topics_lack_optional(const struct ing_topics *t)
{
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (t->missing[i] && is_optional(i))
			return true;
	return false;
}

size_t ing_topics_beside_bytes(const struct ing_output_message *m)
{
	size_t bytes = m->key != NULL ? m->key_bytes : 0;
	for (size_t i = 0; i < m->header_count; i++) /* and two lengths of at most 5 bytes */
		bytes += strlen(m->headers[i].name) + strlen(m->headers[i].value) + 10;
	return bytes;
}

bool ing_topics_fit(
	const struct ing_topics *t, enum ing_output topic, size_t value_bytes, size_t beside_bytes)
{
	/* 512: a batch's and a record's own fields, with reserve. */
	return value_bytes <= ing_topics_max_value_bytes(t, topic) &&
	       beside_bytes + 512 <= ing_topics_room_bytes(t, topic);
}

size_t ing_topics_smallest_limit(const struct ing_topics *t)
{
	size_t smallest = SIZE_MAX;
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (t->names[i] != NULL)
			smallest = ING_MIN(smallest, t->limit_bytes[i]);
	return smallest;
}
