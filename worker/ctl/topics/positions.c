/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl positions show | forget: the group's committed positions with their maps
 * (worker/intake/position_map.h), and the way out when a worker cannot read one.
 *
 * The coordinator takes no plain commit from outside while the group has members, and the worker that
 * holds the partition is one. It takes a transaction's, from a producer that names the group and no
 * member; so the group need not be stopped.
 */
#include <getopt.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/json.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/intake/lane_names.h"
#include "worker/intake/position_map.h"
#include "worker/intake/topics.h"

#define VERB "positions"
#define BROKER_WAIT_S 15
#define MAX_PARTITION 99999

struct options {
	bool forget, json, force;
	int timeout_s;
	const char *brokers;
	const char *topic; /* NULL: all */
	int partition;     /* -1: all */
};

struct position {
	int64_t offset; /* -1: none */
	size_t map_chars;
	bool readable;
	struct ing_error why;     /* else */
	uint64_t finished_beyond; /* of the map */
	int64_t map_end;
};

static int timeout_ms(const struct options *o)
{
	return o->timeout_s * 1000;
}

/* ---- Reading ---- */

static int open_consumer(const struct options *o, const struct ing_conf *conf, rd_kafka_t **ret)
{
	const struct ing_kafka_setting settings[] = {
		{"group.id", conf->kafka.group, true},
		{"isolation.level", "read_committed", true},
		{NULL, NULL, false},
	};
	struct ing_error err = {0};
	const char *brokers = o->brokers != NULL ? o->brokers : conf->kafka.brokers;
	if (ing_ctl_kafka_new(ING_KAFKA_CONSUMER, VERB, brokers, conf, settings, NULL, ret, &err) !=
		0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s", err.msg);
	return ING_CTL_OK;
}

static void read_position(const rd_kafka_topic_partition_t *elem, struct position *ret)
{
	struct ing_position_map *map = NULL;
	struct ing_error err = {0};
	*ret = (struct position){.offset = elem->offset >= 0 ? elem->offset : -1, .readable = true};
	/* Some clients end it with a NUL. */
	if (ret->offset >= 0 && elem->metadata_size > 0)
		ret->map_chars = strnlen(elem->metadata, elem->metadata_size);
	if (ret->map_chars == 0)
		return;
	ret->readable = ing_position_map_decode(elem->metadata, ret->map_chars, &map, &err) == 0;
	if (ret->readable && ing_position_map_low_water(map) != ret->offset) {
		ret->readable = false;
		ing_error_set(&err, ING_FAIL_SYNTAX, "position map: of another position");
	}
	if (ret->readable) {
		ret->finished_beyond = ing_position_map_count(map);
		ret->map_end = ing_position_map_end(map);
	}
	ret->why = err;
	ing_position_map_free(map);
}

/* ---- Printing ---- */

static void print_json(const rd_kafka_topic_partition_t *elem, const struct position *p)
{
	json_t *o = json_pack("{s:s, s:i, s:o}", "topic", elem->topic, "partition",
		(int)elem->partition, "position",
		p->offset >= 0 ? json_integer(p->offset) : json_null());
	if (p->map_chars > 0)
		json_object_set_new(o, "map_chars", json_integer((json_int_t)p->map_chars));
	if (p->map_chars > 0 && p->readable) {
		json_object_set_new(
			o, "finished_beyond", json_integer((json_int_t)p->finished_beyond));
		json_object_set_new(o, "map_end", json_integer(p->map_end));
	}
	if (!p->readable)
		json_object_set_new(o, "unreadable", json_string(p->why.msg));
	ing_ctl_json_print(o);
}

static void print_text(const rd_kafka_topic_partition_t *elem, const struct position *p)
{
	printf("%s %" PRId32 ": ", elem->topic, elem->partition);
	if (p->offset < 0)
		printf("no position\n");
	else if (p->map_chars == 0)
		printf("position %" PRId64 "\n", p->offset);
	else if (p->readable)
		printf("position %" PRId64 ", %" PRIu64
		       " finished beyond it, the last at offset %" PRId64
		       " (map of %zu characters)\n",
			p->offset, p->finished_beyond, p->map_end - 1, p->map_chars);
	else
		printf("position %" PRId64 ", held: its map of %zu characters cannot be read: %s\n",
			p->offset, p->map_chars, p->why.msg);
}

/* ---- show ---- */

/* Of a lane or tier; heap, or NULL when it has none. */
static char *topic_of(const struct ing_conf *conf, unsigned number)
{
	if (number < ING_LANES_)
		return ing_lane_topic_name((enum ing_lane)number, conf->kafka.lane_topics);
	enum ing_tier tier = (enum ing_tier)(number - ING_LANES_);
	return ing_tier_topic_name(tier, conf->kafka.output_topics[ING_OUTPUT_OF_TIER(tier)],
		conf->kafka.lane_topics[ING_LANE_REQUESTS]);
}

/* Adds the partitions of a topic, if it exists. */
static int add_partitions(rd_kafka_t *rk, const struct options *o, const char *topic,
	rd_kafka_topic_partition_list_t *list)
{
	struct ing_error err = {0};
	int count = 0;
	rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
	int rc = ing_ctl_kafka_partitions(rk, handle, timeout_ms(o), false, &count, &err);
	rd_kafka_topic_destroy(handle);
	if (rc == -ING_FAIL_NOT_FOUND)
		return ING_CTL_OK;
	if (rc != 0)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
	for (int i = 0; i < count; i++)
		if (o->partition < 0 || i == o->partition)
			rd_kafka_topic_partition_list_add(list, topic, i);
	return ING_CTL_OK;
}

static int list_partitions(rd_kafka_t *rk, const struct options *o, const struct ing_conf *conf,
	rd_kafka_topic_partition_list_t *list)
{
	if (o->topic != NULL)
		return add_partitions(rk, o, o->topic, list);
	int code = ING_CTL_OK;
	for (unsigned i = 0; i < ING_INTAKE_TOPICS && code == ING_CTL_OK; i++) {
		char *topic = topic_of(conf, i);
		if (topic != NULL)
			code = add_partitions(rk, o, topic, list);
		free(topic);
	}
	return code;
}

static int print_positions(const rd_kafka_topic_partition_list_t *list, bool json)
{
	int code = ING_CTL_OK;
	for (int i = 0; i < list->cnt; i++) {
		struct position p;
		if (list->elems[i].err != 0)
			return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s %d: %s",
				list->elems[i].topic, (int)list->elems[i].partition,
				rd_kafka_err2str(list->elems[i].err));
		read_position(&list->elems[i], &p);
		if (json)
			print_json(&list->elems[i], &p);
		else
			print_text(&list->elems[i], &p);
		if (!p.readable)
			code = ING_CTL_NEGATIVE;
	}
	return code;
}

static int query_positions(
	rd_kafka_t *rk, const struct options *o, rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_resp_err_t err = list->cnt > 0 ? rd_kafka_committed(rk, list, timeout_ms(o)) : 0;
	if (err != 0)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "the group's coordinator: %s",
			rd_kafka_err2str(err));
	return ING_CTL_OK;
}

static int show(const struct options *o, const struct ing_conf *conf)
{
	rd_kafka_t *rk;
	int code = open_consumer(o, conf, &rk);
	if (code != ING_CTL_OK)
		return code;
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
	code = list_partitions(rk, o, conf, list);
	if (code == ING_CTL_OK && list->cnt == 0 && o->topic != NULL)
		code = ing_ctl_fail(
			ING_CTL_NEGATIVE, VERB, "%s: no such topic or partition", o->topic);
	if (code == ING_CTL_OK)
		code = query_positions(rk, o, list);
	if (code == ING_CTL_OK)
		code = print_positions(list, o->json);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

/* ---- forget ---- */

/* Frees the error. */
static int fail_transaction(const char *step, rd_kafka_error_t *error)
{
	int code = ing_ctl_fail(
		ING_CTL_ENVIRONMENT, VERB, "%s: %s", step, rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	return code;
}

static int commit_without_map(rd_kafka_t *rk, const struct options *o, const struct ing_conf *conf,
	const rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_error_t *error = rd_kafka_init_transactions(rk, timeout_ms(o));
	if (error != NULL)
		return fail_transaction("init_transactions", error);
	error = rd_kafka_begin_transaction(rk);
	if (error != NULL)
		return fail_transaction("begin_transaction", error);
	rd_kafka_consumer_group_metadata_t *group =
		rd_kafka_consumer_group_metadata_new(conf->kafka.group);
	error = rd_kafka_send_offsets_to_transaction(rk, list, group, timeout_ms(o));
	rd_kafka_consumer_group_metadata_destroy(group);
	if (error != NULL)
		return fail_transaction("send_offsets_to_transaction", error);
	error = rd_kafka_commit_transaction(rk, timeout_ms(o));
	return error == NULL ? ING_CTL_OK : fail_transaction("commit_transaction", error);
}

static int rewrite(const struct options *o, const struct ing_conf *conf, int64_t position)
{
	char id[300];
	snprintf(id, sizeof(id), "%s-ingestctl", conf->kafka.group);
	const struct ing_kafka_setting settings[] = {
		{"transactional.id", id, true},
		{"transaction.timeout.ms", "10000", true},
		{NULL, NULL, false},
	};
	struct ing_error err = {0};
	rd_kafka_t *rk;
	const char *brokers = o->brokers != NULL ? o->brokers : conf->kafka.brokers;
	if (ing_ctl_kafka_new(ING_KAFKA_PRODUCER, VERB, brokers, conf, settings, NULL, &rk, &err) !=
		0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s", err.msg);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, o->topic, o->partition)->offset = position;
	int code = commit_without_map(rk, o, conf, list);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
	return code;
}

/* May the map of this position be forgotten? -1: yes; else the exit code. */
static int refuse(const struct options *o, const struct position *p)
{
	if (p->offset < 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s %d: the group has no position",
			o->topic, o->partition);
	if (p->map_chars == 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB,
			"%s %d: position %" PRId64 " has no map", o->topic, o->partition,
			p->offset);
	if (p->readable && !o->force)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB,
			"%s %d: the map can be read, and without it %" PRIu64
			" requests would be done again; --force does it all the same",
			o->topic, o->partition, p->finished_beyond);
	return -1;
}

static int forget(const struct options *o, const struct ing_conf *conf)
{
	rd_kafka_t *rk;
	int code = open_consumer(o, conf, &rk);
	if (code != ING_CTL_OK)
		return code;
	struct position p = {.offset = -1};
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, o->topic, o->partition);
	code = query_positions(rk, o, list);
	if (code == ING_CTL_OK)
		read_position(&list->elems[0], &p);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
	if (code != ING_CTL_OK)
		return code;
	code = refuse(o, &p);
	if (code >= 0)
		return code;
	code = rewrite(o, conf, p.offset);
	if (code != ING_CTL_OK)
		return code;
	printf("%s %d: map forgotten, reading goes on at offset %" PRId64 "\n", o->topic,
		o->partition, p.offset);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

/* ---- Options ---- */

static const struct ing_option options[] = {
	{"force", NULL,
		"forget a map that can be read; stop the workers first, or the one that reads the partition "
		"writes it again",
		.code = 'f', .of = "forget"},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{"timeout", "S", "seconds to wait for the brokers (" ING_USAGE_NUMBER(BROKER_WAIT_S) ")",
		.code = 's'},
	{"json", NULL, "print JSON lines", .code = 'j', .of = "show"},
	{0},
};

static const struct ing_usage show_usage = {
	.name = "positions show",
	.synopsis = "[TOPIC [PARTITION]] [OPTION]...",
	.summary = "print the committed position of each partition, and what its map says",
	.text = "Prints a line for each partition of the topics that the worker reads: its position, how many "
		"requests beyond it are finished, and whether its map can be read. The exit status is 1 when "
		"one cannot.",
	.details =
		"With --json each line is an object with topic, partition and position (null: none), and "
		"with a map map_chars, and finished_beyond and map_end (the offset behind the last finished "
		"request), or unreadable with the reason.",
	.parent = &ing_ctl_positions_usage,
};

static const struct ing_usage forget_usage = {
	.name = "positions forget",
	.synopsis = "TOPIC PARTITION [--force] [OPTION]...",
	.summary = "commit the position of a partition without its map",
	.text = "Commits the position without its map: a partition whose map the worker cannot read is held "
		"until then. What was finished beyond the position is done again. It needs the right to use "
		"the transactional id GROUP-ingestctl.",
	.details =
		"A worker that holds a partition says so every 30 seconds, and the metric "
		"ing_intake_held_partitions counts it. That happens when a newer version has written the "
		"map, or another program has committed positions for the group. After this command the "
		"worker goes on there within seconds. A map that can be read is forgotten only with "
		"--force, which is for a group whose workers are stopped.",
	.parent = &ing_ctl_positions_usage,
};

static const struct ing_usage *const verbs_below[] = {&show_usage, &forget_usage, NULL};

/* Returns -1 when it is none from min to max. */
static int number_of(const char *text, int min, int max)
{
	char *end;
	long n = strtol(text, &end, 10);
	return *text < '0' || *text > '9' || *end != '\0' || n < min || n > max ? -1 : (int)n;
}

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	switch (c) {
	case 'f':
		o->force = true;
		return -1;
	case 'j':
		o->json = true;
		return -1;
	case 'b':
		o->brokers = optarg;
		return -1;
	case 's':
		o->timeout_s = number_of(optarg, 1, 86400);
		if (o->timeout_s < 0)
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--timeout: not a number from 1 to 86400: %s", optarg);
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

static int take_arguments(struct options *o, int argc, char **argv)
{
	const char *action = optind < argc ? argv[optind] : "";
	int count = argc - optind - 1;
	o->forget = strcmp(action, "forget") == 0;
	if (!o->forget && strcmp(action, "show") != 0)
		return ing_usage_refuse_below(
			&ing_ctl_positions_usage, optind < argc ? action : NULL);
	if (count > 2 || (o->forget && count != 2))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: expected %s", action,
			o->forget ? "a topic and a partition" : "at most a topic and a partition");
	if (!o->forget && o->force)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--force is an option of forget");
	if (count > 0)
		o->topic = argv[optind + 1];
	if (count > 1)
		o->partition = number_of(argv[optind + 2], 0, MAX_PARTITION);
	if (count > 1 && o->partition < 0)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "not the number of a partition: %s", argv[optind + 2]);
	return ING_CTL_OK;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_positions_usage = {
	.name = "positions",
	.summary = "show the group's committed positions, or give up a map that cannot be read",
	.text = "The position of a partition is the offset below which all requests are finished; it is "
		"committed for the consumer group kafka.group. Requests beyond it that are finished are listed "
		"in a map, which is the metadata of the commit. Group, topics and brokers come from the "
		"configuration: kafka.group, kafka.topics.*, kafka.brokers; TLS and authentication: "
		"kafka.properties.",
	.options = options,
	.exits = {"all maps can be read, or the map is forgotten",
		"a map cannot be read, or there is nothing to forget", ING_EXIT_USAGE,
		"no broker answers"},
	.below = verbs_below,
};

int ing_ctl_positions(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {.timeout_s = BROKER_WAIT_S, .partition = -1};
	int code = ing_usage_take(&ing_ctl_positions_usage, argc, argv, take_option, &o);
	if (code >= 0)
		return code;
	code = take_arguments(&o, argc, argv);
	if (code != ING_CTL_OK)
		return code;
	struct ing_conf *conf;
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = o.forget ? forget(&o, conf) : show(&o, conf);
	ing_conf_free(conf);
	return code;
}
