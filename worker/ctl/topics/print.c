/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a topic must be like is what the worker needs so that no message is refused or lost;
 * everything else about it is the operator's decision.
 */
#include "worker/ctl/topics/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/topics/ask.h"

#define VERB "topics"

/* ---- Judging ---- */

static const char *setting_of(const struct ing_ctl_topic *topic, const char *name)
{
	const char *value = ing_json_get_text(topic->settings, name);
	return value != NULL ? value : "not set";
}

static void add_problem(json_t *problems, const char *fmt, ...) ING_PRINTF(2, 3);
static void add_problem(json_t *problems, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	ing_json_append(problems, json_vsprintf(fmt, ap));
	va_end(ap);
}

/* What has to change about a topic that is there; a new reference. */
static json_t *find_problems(
	const struct ing_ctl_topics *t, const struct ing_ctl_topic *topic, int partitions)
{
	json_t *problems = json_array();
	const struct ing_topic_plan *plan = ing_topic_plan(topic->use);
	if (plan->traffic && topic->partitions < partitions)
		add_problem(problems, "%d partition%s, wanted %d", topic->partitions,
			topic->partitions == 1 ? "" : "s", partitions);
	if (topic->settings == NULL)
		return problems;
	const char *limit = setting_of(topic, ING_TOPIC_LIMIT);
	size_t least = ing_topic_plan_least_bytes(topic->use, t->max_message_bytes);
	if (strtoull(limit, NULL, 10) < least)
		add_problem(problems, ING_TOPIC_LIMIT " is %s, must be at least %zu", limit, least);
	for (const struct ing_topic_setting *s = plan->settings; s->name != NULL; s++) {
		const char *value = setting_of(topic, s->name);
		if (s->must && strcmp(value, s->value) != 0)
			add_problem(problems, "%s is %s, must be %s", s->name, value, s->value);
	}
	return problems;
}

/* The settings that the plan is about; a new reference, null when they are not known. */
static json_t *shown_settings(const struct ing_ctl_topic *topic)
{
	if (topic->settings == NULL)
		return json_null();
	json_t *shown = json_object();
	json_object_set(shown, ING_TOPIC_LIMIT, json_object_get(topic->settings, ING_TOPIC_LIMIT));
	const struct ing_topic_setting *s = ing_topic_plan(topic->use)->settings;
	for (; s->name != NULL; s++)
		json_object_set(shown, s->name, json_object_get(topic->settings, s->name));
	return shown;
}

/* ---- Printing ---- */

static void print_check_json(
	const struct ing_ctl_topic *topic, const char *state, const json_t *problems)
{
	json_t *line = json_object();
	ing_json_set_text(line, "topic", topic->name);
	ing_json_set_text(line, "key", ing_topic_plan(topic->use)->key);
	ing_json_set_text(line, "state", state);
	ing_json_set_number(line, "partitions", topic->partitions);
	ing_json_set(line, "settings", shown_settings(topic));
	ing_json_set(line, "problems", json_deep_copy(problems));
	ing_ctl_json_print(line);
}

static void print_check(
	const struct ing_ctl_topic *topic, const char *state, const json_t *problems)
{
	const struct ing_topic_plan *plan = ing_topic_plan(topic->use);
	printf("%s: %s", topic->name, state);
	size_t i;
	json_t *problem;
	json_array_foreach (problems, i, problem)
		printf("%s %s", i == 0 ? ":" : ";", json_string_value(problem));
	if (topic->partitions == 0) {
		printf(": %s (%s)\n", plan->who, plan->key);
		return;
	}
	if (json_array_size(problems) == 0 && topic->settings != NULL) {
		printf(": %d partition%s, " ING_TOPIC_LIMIT " %s", topic->partitions,
			topic->partitions == 1 ? "" : "s", setting_of(topic, ING_TOPIC_LIMIT));
		for (const struct ing_topic_setting *s = plan->settings; s->name != NULL; s++)
			printf(", %s %s", s->name, setting_of(topic, s->name));
	}
	putchar('\n');
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_topics_print_check(const struct ing_ctl_topics *t, const struct ing_ctl_topic *topic,
	int partitions, bool json)
{
	if (topic->optional && topic->partitions == 0)
		return ING_CTL_OK;
	json_t *problems =
		topic->partitions > 0 ? find_problems(t, topic, partitions) : json_array();
	int code = ING_CTL_OK;
	const char *state = "good";
	if (topic->partitions == 0) {
		code = ING_CTL_NEGATIVE;
		state = "missing";
	} else if (json_array_size(problems) > 0) {
		code = ING_CTL_NEGATIVE;
		state = "unsuitable";
	} else if (topic->settings == NULL) {
		code = ING_CTL_ENVIRONMENT;
		state = "unknown";
	}
	if (topic->refusal != NULL)
		ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: its settings may not be read: %s",
			topic->name, topic->refusal);
	if (json)
		print_check_json(topic, state, problems);
	else
		print_check(topic, state, problems);
	json_decref(problems);
	return code;
}

int ing_ctl_topics_print_created(const struct ing_ctl_topic *topic, bool json)
{
	const char *state = topic->refusal != NULL ? "refused"
			    : topic->created       ? "created"
						   : "exists";
	if (topic->refusal != NULL)
		ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: cannot be created: %s", topic->name,
			topic->refusal);
	int code = topic->refusal != NULL ? ING_CTL_NEGATIVE : ING_CTL_OK;
	if (!json) {
		printf("%s: %s\n", topic->name, state);
		return code;
	}
	json_t *line = json_object();
	ing_json_set_text(line, "topic", topic->name);
	ing_json_set_text(line, "key", ing_topic_plan(topic->use)->key);
	ing_json_set_text(line, "state", state);
	ing_ctl_json_print(line);
	return code;
}
