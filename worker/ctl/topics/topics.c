/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl topics create | check: the topics of the configuration, as the table of
 * worker/emit/topic_plan.h says they have to be.
 */
#include <errno.h>
#include <getopt.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/topics/ask.h"
#include "worker/ctl/topics/print.h"
#include "worker/intake/lane_names.h"
#include "worker/model/tier.h"

#define VERB "topics"
#define BROKER_WAIT_S 15
#define MAX_TOPIC_BYTES 249 /* of Kafka */
#define MAX_PARTITIONS 10000
#define MAX_REPLICATION 1000

struct options {
	bool create, lanes, json;
	int partitions;  /* 0: not given */
	int replication; /* -1: not given */
	int timeout_s;
	const char *prefix, *brokers;
};

/* ---- Names ---- */

/* The lane's topic, or NULL when there is none. *ret_auto: it is named after that of requests. */
static char *lane_name(const struct ing_conf *conf, enum ing_topic_use use, bool *ret_auto)
{
	static const enum ing_lane lanes[] = {
		[ING_TOPIC_REQUESTS] = ING_LANE_REQUESTS,
		[ING_TOPIC_PRIORITY] = ING_LANE_PRIORITY,
		[ING_TOPIC_DAILY] = ING_LANE_DAILY,
		[ING_TOPIC_BULK] = ING_LANE_BULK,
	};
	enum ing_lane lane = lanes[use];
	*ret_auto = lane != ING_LANE_REQUESTS && strcmp(conf->kafka.lane_topics[lane], "auto") == 0;
	return ing_lane_topic_name(lane, conf->kafka.lane_topics);
}

/* As configured; heap. NULL when there is none. */
static char *name_of(const struct ing_conf *conf, enum ing_topic_use use, bool *ret_auto)
{
	if (use <= ING_TOPIC_BULK)
		return lane_name(conf, use, ret_auto);
	*ret_auto = false;
	enum ing_output output = ING_OUTPUT_OF_TOPIC(use);
	const char *name = conf->kafka.output_topics[output];
	int tier = ing_tier_of_output(output);
	if (tier >= 0)
		return ing_tier_topic_name(
			(enum ing_tier)tier, name, conf->kafka.lane_topics[ING_LANE_REQUESTS]);
	return *name == '\0' ? NULL : ing_strdup(name);
}

/* Takes name; NULL when prefix and name are too long together. */
static char *put_prefix(const char *prefix, char *name)
{
	char whole[MAX_TOPIC_BYTES + 1];
	int n = snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	free(name);
	return (size_t)n < sizeof(whole) ? ing_strdup(whole) : NULL;
}

/* The topics that the command is about. An exit code. */
static int list_topics(
	const struct options *o, const struct ing_conf *conf, struct ing_ctl_topics *t)
{
	t->max_message_bytes = conf->kafka.max_message_bytes;
	for (int use = 0; use < ING_TOPICS_; use++) {
		bool is_auto;
		char *name = name_of(conf, (enum ing_topic_use)use, &is_auto);
		bool optional = is_auto && !o->lanes;
		if (name == NULL && is_auto && o->lanes)
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"%s: a name as that of requests and the lane's behind it is too long",
				ing_topic_plan((enum ing_topic_use)use)->key);
		if (name == NULL || (optional && o->create)) {
			free(name);
			continue;
		}
		name = put_prefix(o->prefix, name);
		if (name == NULL)
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--prefix: %s: the name of a topic has at most %d characters",
				ing_topic_plan((enum ing_topic_use)use)->key, MAX_TOPIC_BYTES);
		t->list[t->count++] = (struct ing_ctl_topic){
			.use = (enum ing_topic_use)use, .name = name, .optional = optional};
	}
	return ING_CTL_OK;
}

/* ---- Verbs ---- */

static int check(
	rd_kafka_t *rk, struct ing_ctl_topics *t, const struct options *o, struct ing_error *err)
{
	if (ing_ctl_topics_describe(rk, t, err) != 0)
		return ING_CTL_ENVIRONMENT;
	bool negative = false;
	bool unknown = false;
	for (size_t i = 0; i < t->count; i++) {
		int code = ing_ctl_topics_print_check(t, &t->list[i], o->partitions, o->json);
		negative |= code == ING_CTL_NEGATIVE;
		unknown |= code == ING_CTL_ENVIRONMENT;
	}
	return negative ? ING_CTL_NEGATIVE : unknown ? ING_CTL_ENVIRONMENT : ING_CTL_OK;
}

static int create(
	rd_kafka_t *rk, struct ing_ctl_topics *t, const struct options *o, struct ing_error *err)
{
	if (ing_ctl_topics_create(rk, t, o->partitions, o->replication, err) != 0)
		return ING_CTL_ENVIRONMENT;
	int code = ING_CTL_OK;
	for (size_t i = 0; i < t->count; i++)
		if (ing_ctl_topics_print_created(&t->list[i], o->json) != ING_CTL_OK)
			code = ING_CTL_NEGATIVE;
	return code;
}

static int query_cluster(
	struct ing_ctl_topics *t, const struct options *o, const struct ing_conf *conf)
{
	static const struct ing_kafka_setting none[] = {{NULL, NULL, false}};
	const char *brokers = o->brokers != NULL ? o->brokers : conf->kafka.brokers;
	struct ing_error err = {0};
	rd_kafka_t *rk = NULL;
	int code;
	/* A producer's properties, as it is with them that the worker creates topics. */
	int rc = ing_ctl_kafka_new(ING_KAFKA_PRODUCER, VERB, brokers, conf, none, NULL, &rk, &err);
	if (rc != 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s", err.msg);
	if (ing_ctl_topics_find(rk, t, o->timeout_s * 1000, &err) != 0)
		code = ING_CTL_ENVIRONMENT;
	else
		code = o->create ? create(rk, t, o, &err) : check(rk, t, o, &err);
	if (err.code != 0)
		ing_ctl_fail((enum ing_ctl_exit)code, VERB, "%s: %s", brokers, err.msg);
	rd_kafka_destroy(rk);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

/* ---- Options ---- */

static const struct ing_option options[] = {
	{"lanes", NULL,
		"include the automatic lane topics (TOPIC-priority, -daily, -bulk); lane topics with a "
		"configured name are always included",
		.code = 'l'},
	{"partitions", "N", "number of partitions (12; dead letters: 1); check: the minimum",
		.code = 'n'},
	{"replication", "N", "replication factor (the default of the cluster)", .code = 'r',
		.of = "create"},
	{"prefix", "TEXT", "prefix of every name", .code = 'p'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{"timeout", "S", "seconds to wait for a broker (" ING_USAGE_NUMBER(BROKER_WAIT_S) ")",
		.code = 's'},
	{"json", NULL, "print JSON lines", .code = 'j'},
	{0},
};

static const struct ing_usage create_usage = {
	.name = "topics create",
	.synopsis = "[--lanes] [--partitions N] [--replication N] [OPTION]...",
	.summary = "create missing topics with the settings that the worker needs",
	.text = "Creates missing topics with the settings that the worker needs, and prints TOPIC: created or "
		"TOPIC: exists. Existing topics are not changed.",
	.details =
		"Requests, parked ones too, are retained for 90 days, results and dead letters without "
		"limit; the PDF text topic is compacted. The daemon creates missing topics that it writes "
		"to, but not those that it reads.",
	.parent = &ing_ctl_topics_usage,
};

static const struct ing_usage check_usage = {
	.name = "topics check",
	.synopsis = "[--lanes] [--partitions N] [OPTION]...",
	.summary = "print for each topic: good, missing, or unsuitable and why",
	.text = "Prints a line for each topic: good with its settings, missing with its user, or unsuitable "
		"with the required change: a max.message.bytes that is too small, a wrong cleanup.policy, a "
		"retention limit on results or dead letters, or fewer partitions than N.",
	.details =
		"Lane topics named after the requests topic are checked if they exist; with --lanes they "
		"are required. With --json each line is an object with topic, key (of the configuration) "
		"and state (created, exists, refused; good, missing, unsuitable, unknown), and here also "
		"partitions, settings and problems.",
	.parent = &ing_ctl_topics_usage,
};

static const struct ing_usage *const verbs_below[] = {&create_usage, &check_usage, NULL};

/* -1: go on; else the exit code. */
static int take_number(const char *option, const char *text, int max, int *ret)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || n < 1 || n > max)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: not a number from 1 to %d: %s",
			option, max, text);
	*ret = (int)n;
	return -1;
}

static int take_prefix(const char *text, const char **ret)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	if (text[strspn(text, allowed)] != '\0')
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--prefix: must be made of letters, digits and . _ -");
	*ret = text;
	return -1;
}

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	switch (c) {
	case 'l':
		o->lanes = true;
		return -1;
	case 'n':
		return take_number("--partitions", optarg, MAX_PARTITIONS, &o->partitions);
	case 'r':
		return take_number("--replication", optarg, MAX_REPLICATION, &o->replication);
	case 's':
		return take_number("--timeout", optarg, 86400, &o->timeout_s);
	case 'p':
		return take_prefix(optarg, &o->prefix);
	case 'b':
		o->brokers = optarg;
		return -1;
	case 'j':
		o->json = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

/* create or check, the one argument. An exit code. */
static int take_action(struct options *o, int argc, char **argv)
{
	const char *word = optind == argc - 1 ? argv[optind] : "";
	o->create = strcmp(word, "create") == 0;
	if (!o->create && strcmp(word, "check") != 0)
		return ing_usage_refuse_below(
			&ing_ctl_topics_usage, optind < argc ? argv[optind] : NULL);
	if (!o->create && o->replication > 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--replication is an option of create");
	return ING_CTL_OK;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_topics_usage = {
	.name = "topics",
	.summary = "create or check the Kafka topics",
	.text = "Names, brokers and size limits come from the configuration: kafka.topics.*, kafka.brokers, "
		"kafka.max_message_bytes; TLS and authentication: kafka.properties.",
	.options = options,
	.exits = {"all topics exist (check: and are good)", "some do not", ING_EXIT_USAGE,
		"no broker answers or the settings cannot be read"},
	.examples =
		"Set up a cluster and a database:\n\n"
		"  ingestctl --config ingest-worker.yaml topics create --lanes --partitions 24\n"
		"  ingestctl --config ingest-worker.yaml db migrate",
	.below = verbs_below,
};

int ing_ctl_topics(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {.replication = -1, .timeout_s = BROKER_WAIT_S, .prefix = ""};
	int code = ing_usage_take(&ing_ctl_topics_usage, argc, argv, take_option, &o);
	if (code >= 0)
		return code;
	code = take_action(&o, argc, argv);
	if (code != ING_CTL_OK)
		return code;
	struct ing_conf *conf;
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	struct ing_ctl_topics topics = {0};
	code = list_topics(&o, conf, &topics);
	if (code == ING_CTL_OK)
		code = query_cluster(&topics, &o, conf);
	ing_ctl_topics_done(&topics);
	ing_conf_free(conf);
	return code;
}
