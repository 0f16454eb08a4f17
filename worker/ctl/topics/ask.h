/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topics_ask.h - what `ingestctl topics` asks of a cluster. Each function waits for the answer and
 * writes it into the list. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"
#include "worker/emit/topic_plan.h"

struct rd_kafka_s;

struct ing_ctl_topic {
	enum ing_topic_use use;
	char *name;    /* ours */
	bool optional; /* its absence is no fault */
	/* What the cluster says. */
	int partitions; /* 0: there is no such topic, or we may not see it */
	bool created;
	char *refusal;    /* why it was not created, or its settings not shown; NULL */
	json_t *settings; /* name to value, both text; NULL: not known */
};

struct ing_ctl_topics {
	struct ing_ctl_topic list[ING_TOPICS_];
	size_t count;
	size_t max_message_bytes; /* kafka.max_message_bytes */
};

void ing_ctl_topics_done(struct ing_ctl_topics *t);

/* Fills in the partitions. -ING_FAIL_UNAVAILABLE, of these all, when no broker answers. */
int ing_ctl_topics_find(struct rd_kafka_s *rk, struct ing_ctl_topics *t, int timeout_ms,
	struct ing_error *err) ING_MUST_CHECK;
/* Creates those that are not there, and waits for the brokers to know them. partitions
 * (of topics with traffic) and replication as ing_topic_plan_new() has them. What the cluster
 * refuses is in the topic's refusal. */
int ing_ctl_topics_create(struct rd_kafka_s *rk, struct ing_ctl_topics *t, int partitions,
	int replication, struct ing_error *err) ING_MUST_CHECK;
/* Fills in the settings of those that are there. */
int ing_ctl_topics_describe(
	struct rd_kafka_s *rk, struct ing_ctl_topics *t, struct ing_error *err) ING_MUST_CHECK;
