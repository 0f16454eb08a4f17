/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a topic exists is asked by the list of all of them: a question for one by name would make
 * it, where the cluster creates topics by itself.
 */
#include "worker/ctl/topics/ask.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

#define ANSWER_MS 30000
/* The controller has created a topic some time before its brokers know of it. */
#define KNOWN_WAIT_MS 10000
#define KNOWN_ASK_MS 50

static bool is_first_of_its_name(const struct ing_ctl_topics *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(t->list[k].name, t->list[i].name) == 0)
			return false;
	return true;
}

static int partitions_of(const struct rd_kafka_metadata *all, const char *name)
{
	for (int i = 0; i < all->topic_cnt; i++)
		if (strcmp(all->topics[i].topic, name) == 0)
			return all->topics[i].err == 0 ? all->topics[i].partition_cnt : 0;
	return 0;
}

static rd_kafka_AdminOptions_t *make_options(rd_kafka_t *rk, rd_kafka_admin_op_t op)
{
	char reason[128];
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, op);
	rd_kafka_AdminOptions_set_request_timeout(options, ANSWER_MS, reason, sizeof(reason));
	return options;
}

/* The answer to a request (librdkafka gives one always), or NULL and *err. */
static rd_kafka_event_t *wait_answer(rd_kafka_queue_t *queue, struct ing_error *err)
{
	rd_kafka_event_t *event = rd_kafka_queue_poll(queue, -1);
	if (event != NULL && rd_kafka_event_error(event) == 0)
		return event;
	ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s",
		event != NULL ? rd_kafka_event_error_string(event) : "no answer");
	rd_kafka_event_destroy(event);
	return NULL;
}

static void set_refusal(struct ing_ctl_topic *topic, rd_kafka_resp_err_t why, const char *words)
{
	free(topic->refusal);
	topic->refusal =
		ing_strdup(words != NULL && *words != '\0' ? words : rd_kafka_err2str(why));
}

static void take_created(struct ing_ctl_topics *t, const rd_kafka_topic_result_t *result)
{
	rd_kafka_resp_err_t why = rd_kafka_topic_result_error(result);
	for (size_t i = 0; i < t->count; i++) {
		struct ing_ctl_topic *topic = &t->list[i];
		if (strcmp(topic->name, rd_kafka_topic_result_name(result)) != 0)
			continue;
		topic->created = why == 0 && is_first_of_its_name(t, i);
		/* It exists: somebody else was quicker, or we may not see it. */
		if (why != 0 && why != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
			set_refusal(topic, why, rd_kafka_topic_result_error_string(result));
	}
}

static void take_settings(struct ing_ctl_topics *t, const rd_kafka_ConfigResource_t *resource)
{
	size_t count;
	rd_kafka_resp_err_t why = rd_kafka_ConfigResource_error(resource);
	const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
	for (size_t i = 0; i < t->count; i++) {
		struct ing_ctl_topic *topic = &t->list[i];
		if (strcmp(topic->name, rd_kafka_ConfigResource_name(resource)) != 0)
			continue;
		if (why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
			topic->partitions = 0; /* deleted since it was found */
			continue;
		}
		if (why != 0) {
			set_refusal(topic, why, rd_kafka_ConfigResource_error_string(resource));
			continue;
		}
		topic->settings = json_object();
		for (size_t k = 0; k < count; k++) {
			ing_json_set_text(topic->settings, rd_kafka_ConfigEntry_name(entries[k]),
				rd_kafka_ConfigEntry_value(entries[k]));
		}
	}
}

static int send_create(rd_kafka_t *rk, rd_kafka_NewTopic_t **made, size_t count,
	struct ing_ctl_topics *t, struct ing_error *err)
{
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_AdminOptions_t *options = make_options(rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_CreateTopics(rk, made, count, options, queue);
	rd_kafka_event_t *event = wait_answer(queue, err);
	int rc = event == NULL ? -(int)err->code : 0;
	if (event != NULL) {
		const rd_kafka_topic_result_t **results = rd_kafka_CreateTopics_result_topics(
			rd_kafka_event_CreateTopics_result(event), &count);
		for (size_t i = 0; i < count; i++)
			take_created(t, results[i]);
		rd_kafka_event_destroy(event);
	}
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_queue_destroy(queue);
	return rc;
}

static bool is_any_unknown(const struct ing_ctl_topics *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].created && t->list[i].partitions == 0)
			return true;
	return false;
}

/* Ends without an error: who may create topics need not be allowed to see them. */
static void wait_known(rd_kafka_t *rk, struct ing_ctl_topics *t)
{
	uint64_t end_ms = ing_now_ms() + KNOWN_WAIT_MS;
	int rc = 0;
	while (rc == 0 && is_any_unknown(t) && ing_now_ms() < end_ms) {
		usleep(KNOWN_ASK_MS * 1000);
		rc = ing_ctl_topics_find(rk, t, KNOWN_WAIT_MS, NULL);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_ctl_topics_done(struct ing_ctl_topics *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->list[i].name);
		free(t->list[i].refusal);
		json_decref(t->list[i].settings);
	}
	*t = (struct ing_ctl_topics){0};
}

int ing_ctl_topics_find(
	struct rd_kafka_s *rk, struct ing_ctl_topics *t, int timeout_ms, struct ing_error *err)
{
	const struct rd_kafka_metadata *all;
	rd_kafka_resp_err_t why = rd_kafka_metadata(rk, 1, NULL, &all, timeout_ms);
	rd_kafka_poll(rk, 0); /* what went wrong with each broker, to stderr */
	if (why != 0)
		return ing_error_set(
			err, ING_FAIL_UNAVAILABLE, "no broker answers: %s", rd_kafka_err2str(why));
	for (size_t i = 0; i < t->count; i++)
		t->list[i].partitions = partitions_of(all, t->list[i].name);
	rd_kafka_metadata_destroy(all);
	return 0;
}

int ing_ctl_topics_create(struct rd_kafka_s *rk, struct ing_ctl_topics *t, int partitions,
	int replication, struct ing_error *err)
{
	rd_kafka_NewTopic_t *made[ING_TOPICS_];
	size_t count = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->count; i++) {
		const struct ing_ctl_topic *topic = &t->list[i];
		if (topic->partitions > 0 || !is_first_of_its_name(t, i))
			continue;
		int wish = ing_topic_plan(topic->use)->traffic ? partitions : 0;
		rc = ing_topic_plan_new(topic->use, topic->name, t->max_message_bytes, wish,
			replication, &made[count], err);
		count += rc == 0;
	}
	if (rc == 0 && count > 0)
		rc = send_create(rk, made, count, t, err);
	rd_kafka_NewTopic_destroy_array(made, count);
	if (rc == 0)
		wait_known(rk, t);
	return rc;
}

int ing_ctl_topics_describe(struct rd_kafka_s *rk, struct ing_ctl_topics *t, struct ing_error *err)
{
	rd_kafka_ConfigResource_t *asked[ING_TOPICS_];
	size_t count = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].partitions > 0 && is_first_of_its_name(t, i))
			asked[count++] = rd_kafka_ConfigResource_new(
				RD_KAFKA_RESOURCE_TOPIC, t->list[i].name);
	if (count == 0)
		return 0;
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_AdminOptions_t *options = make_options(rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
	rd_kafka_DescribeConfigs(rk, asked, count, options, queue);
	rd_kafka_ConfigResource_destroy_array(asked, count);
	rd_kafka_event_t *event = wait_answer(queue, err);
	int rc = event == NULL ? -(int)err->code : 0;
	if (event != NULL) {
		const rd_kafka_ConfigResource_t **found = rd_kafka_DescribeConfigs_result_resources(
			rd_kafka_event_DescribeConfigs_result(event), &count);
		for (size_t i = 0; i < count; i++)
			take_settings(t, found[i]);
		rd_kafka_event_destroy(event);
	}
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_queue_destroy(queue);
	return rc;
}
