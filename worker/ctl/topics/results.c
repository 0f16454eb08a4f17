/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl results: the results topic on stdout in order of time, a value a line; those that are wanted, and with
 * --dead the dead letters instead.
 *
 * With --list, results that pass the other filters are kept until there are enough to ask the database about, or no more
 * are there: order and count are the same.
 */
#include <getopt.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/topics/dead.h"
#include "worker/ctl/topics/results_filter.h"
#include "worker/ctl/topics/results_list.h"
#include "worker/ctl/since.h"
#include "worker/ctl/topics/topic_reader.h"

#define VERB "results"
#define POLL_MS 100

struct results {
	struct ing_topic_reader_conf reader;
	struct ing_results_filter filter;
	const char *list_name;
	bool dead, headers;
	uint64_t count;      /* 0: no limit */
	uint64_t timeout_ms; /* 0: none */
	uint64_t deadline_ms, printed;
	struct ing_results_list *list;
	rd_kafka_message_t *kept[ING_RESULTS_LIST_BATCH]; /* wanted, if they are of the list */
	size_t kept_count;
};

static bool has_enough(const struct results *r)
{
	return r->count > 0 && r->printed >= r->count;
}

static bool wants_more(const struct results *r)
{
	return !has_enough(r) && (r->timeout_ms == 0 || ing_now_ms() < r->deadline_ms);
}

/* --- printing --- */

static json_t *headers_of(const rd_kafka_message_t *m)
{
	json_t *o = json_object();
	rd_kafka_headers_t *headers;
	const char *name;
	const void *value;
	size_t bytes;
	if (rd_kafka_message_headers(m, &headers) != 0)
		return o;
	for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &bytes) == 0; i++) {
		json_t *key = ing_json_text(name); /* valid UTF-8 */
		ing_json_set(o, json_string_value(key),
			value != NULL ? ing_json_textn(value, bytes) : NULL);
		json_decref(key);
	}
	return o;
}

static void set_time(json_t *o, const rd_kafka_message_t *m)
{
	char text[ING_ISO8601_BYTES] = "";
	rd_kafka_timestamp_type_t type;
	int64_t ms = rd_kafka_message_timestamp(m, &type);
	if (ms >= 0)
		ing_format_iso8601(
			(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, 3,
			text);
	ing_json_set_text(o, "time", ms >= 0 ? text : NULL);
}

/* The value as it is if it is JSON, else as a text. */
static void print_with_headers(const rd_kafka_message_t *m)
{
	json_t *o = json_object();
	json_t *value =
		m->payload == NULL ? NULL : ing_json_parse(m->payload, m->len, &ing_json_own, NULL);
	if (value == NULL && m->payload != NULL)
		value = ing_json_textn(m->payload, m->len);
	ing_json_set(o, "key", m->key != NULL ? ing_json_textn(m->key, m->key_len) : NULL);
	ing_json_set_number(o, "partition", m->partition);
	ing_json_set_number(o, "offset", m->offset);
	set_time(o, m);
	ing_json_set(o, "headers", headers_of(m));
	ing_json_set(o, "value", value);
	char *text = ing_json_dump(o, NULL);
	puts(text);
	free(text);
	json_decref(o);
}

static void print_letter(const rd_kafka_message_t *m)
{
	struct ing_header headers[ING_DEAD_MAX_HEADERS];
	struct ing_dead_letter letter;
	if (ing_dead_letter_of(m, headers, &letter))
		ing_dead_print_whole(&letter, true);
}

/* Takes m. */
static void print_message(struct results *r, rd_kafka_message_t *m)
{
	if (r->dead) {
		print_letter(m);
	} else if (r->headers) {
		print_with_headers(m);
	} else {
		fwrite(m->payload, 1, m->len, stdout);
		putchar('\n');
	}
	r->printed++;
	rd_kafka_message_destroy(m);
}

/* --- choosing --- */

static bool is_note(const rd_kafka_message_t *m)
{
	struct ing_header headers[ING_DEAD_MAX_HEADERS];
	struct ing_dead_letter letter;
	return !ing_dead_letter_of(m, headers, &letter);
}

static bool is_wanted(const struct results *r, const rd_kafka_message_t *m)
{
	return r->dead ? !is_note(m)
		       : ing_results_wants(&r->filter, m->key, m->key_len, m->payload, m->len);
}

static int print_kept(struct results *r)
{
	struct ing_results_key keys[ING_RESULTS_LIST_BATCH];
	bool is_in[ING_RESULTS_LIST_BATCH];
	struct ing_error err = {0};
	size_t n = r->kept_count;
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct ing_results_key){r->kept[i]->key, r->kept[i]->key_len};
	if (n > 0 && ing_results_list_ask(r->list, keys, n, is_in, &err) != 0)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
	r->kept_count = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_in[i] && !has_enough(r))
			print_message(r, r->kept[i]);
		else
			rd_kafka_message_destroy(r->kept[i]);
	}
	return ING_CTL_OK;
}

/* Takes m. An exit code. */
static int take_message(struct results *r, rd_kafka_message_t *m)
{
	if (!is_wanted(r, m)) {
		rd_kafka_message_destroy(m);
		return ING_CTL_OK;
	}
	if (r->list == NULL) {
		print_message(r, m);
		return ING_CTL_OK;
	}
	r->kept[r->kept_count++] = m;
	return r->kept_count == ING_RESULTS_LIST_BATCH ? print_kept(r) : ING_CTL_OK;
}

/* Reads for at most timeout_ms. */
static int read_some(struct results *r, struct ing_topic_reader *reader, int timeout_ms,
	enum ing_topic_read *ret)
{
	rd_kafka_message_t *m;
	*ret = ing_topic_reader_next(reader, timeout_ms, &m);
	if (*ret == ING_TOPIC_MESSAGE)
		return take_message(r, m);
	return *ret == ING_TOPIC_FAILED ? ING_CTL_ENVIRONMENT : ING_CTL_OK;
}

/* A reader of ours should see what there is. */
static int show(struct results *r)
{
	int code = print_kept(r);
	if (code == ING_CTL_OK && !ing_ctl_flush_stdout(VERB))
		code = ING_CTL_ENVIRONMENT;
	return code;
}

static int print_messages(struct results *r, struct ing_topic_reader *reader)
{
	enum ing_topic_read read = ING_TOPIC_WAITING;
	int code = ING_CTL_OK;
	while (code == ING_CTL_OK && wants_more(r) && read != ING_TOPIC_END) {
		code = read_some(r, reader, 0, &read);
		if (code != ING_CTL_OK || read != ING_TOPIC_WAITING)
			continue;
		code = show(r);
		if (code == ING_CTL_OK && wants_more(r))
			code = read_some(r, reader, POLL_MS, &read);
	}
	if (code == ING_CTL_OK)
		code = show(r);
	if (code != ING_CTL_OK)
		return code;
	/* Fewer than asked for, or not all in time. */
	bool short_of = r->printed < r->count ||
			(!r->reader.follow && r->count == 0 && read != ING_TOPIC_END);
	return short_of ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static int print_results(struct results *r)
{
	struct ing_error err = {0};
	struct ing_topic_reader *reader = NULL;
	r->deadline_ms = ing_now_ms() + r->timeout_ms;
	r->reader.wait_ms = r->timeout_ms;
	int rc = ing_topic_reader_new(&r->reader, &reader, &err);
	if (rc != 0)
		return ing_ctl_fail(rc == -ING_FAIL_CONFIG ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT,
			VERB, "%s: %s", r->reader.brokers, err.msg);
	int code = print_messages(r, reader);
	for (size_t i = 0; i < r->kept_count; i++)
		rd_kafka_message_destroy(r->kept[i]);
	ing_topic_reader_free(reader);
	return code;
}

/* --- the command --- */

static const struct ing_option options[] = {
	{"follow", NULL, "print new results as they arrive; waits for a missing topic", .code = 'f',
		.letter = 'f'},
	{"from-beginning", NULL, "with --follow: existing results, too", .code = 'B'},
	{"since", "TIME", "from then on: 90m, 12h, 7d, 2w ago, or a date (UTC); also with --follow",
		.code = 'S'},
	{"status", "S,...", "results with one of these statuses; may be repeated", .code = 'a',
		.words = ING_WORDS_STATUSES},
	{"id", "ID",
		"the results of a request: 40 hexadecimal digits, the key of its results; may be repeated",
		.code = 'i'},
	{"host", "H", "results that began or ended at this host, without www.; may be repeated",
		.code = 'o'},
	{"list", "NAME", "results of requests of a list in the database", .code = 'l'},
	{"dead", NULL, "dead letters instead: messages that are no requests, as JSON objects",
		.code = 'd'},
	{"headers", NULL, "objects with key, partition, offset, time, headers and value",
		.code = 'H'},
	{"count", "N", "stop after N results", .code = 'n', .letter = 'n'},
	{"timeout", "S", "stop after S seconds", .code = 's'},
	{"topic", "TOPIC", "instead of kafka.topics.results (or dead)", .code = 't', .letter = 't'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{0},
};

static int refuse(const struct ing_error *err)
{
	return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s", err->msg);
}

/* Of a comma list, which is cut up. -1: go on. */
static int take_statuses(struct results *r, char *list)
{
	struct ing_error err = {0};
	for (char *slug; (slug = strsep(&list, ",")) != NULL;) {
		if (ing_results_want_status(&r->filter, slug, &err) != 0)
			return refuse(&err);
	}
	return -1;
}

/* -1: go on. */
static int take_since(struct results *r, const char *text)
{
	struct ing_since since;
	if (!ing_since_parse(text, &since))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--since: neither a time (90m, 12h, 7d) nor a date (2026-11-23): %s", text);
	int64_t at_s = since.is_ago ? (int64_t)ing_wall_now().tv_sec - since.ago_s : since.at_s;
	r->reader.since_ms = ING_MAX(at_s * 1000, (int64_t)1);
	return -1;
}

/* -1: go on; else the exit code. */
static int take_filter(struct results *r, int c)
{
	struct ing_error err = {0};
	switch (c) {
	case 'S':
		return take_since(r, optarg);
	case 'a':
		return take_statuses(r, optarg);
	case 'i':
		return ing_results_want_id(&r->filter, optarg, &err) == 0 ? -1 : refuse(&err);
	case 'o':
		return ing_results_want_host(&r->filter, optarg, &err) == 0 ? -1 : refuse(&err);
	case 'l':
		r->list_name = optarg;
		return -1;
	case 'd':
		r->dead = true;
		return -1;
	case 'H':
		r->headers = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct results *r = ctx;
	switch (c) {
	case 'B':
		r->reader.from_beginning = true;
		return -1;
	case 'f':
		r->reader.follow = true;
		return -1;
	case 'n':
		if (ing_ctl_number(optarg, UINT64_MAX / 2, &r->count))
			return -1;
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--count: not a positive number: %s", optarg);
	case 's':
		if (!ing_ctl_number(optarg, 1000000, &r->timeout_ms))
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--timeout: not a number of seconds: %s", optarg);
		r->timeout_ms *= 1000;
		return -1;
	case 't':
		r->reader.topic = optarg;
		return -1;
	case 'b':
		r->reader.brokers = optarg;
		return -1;
	default:
		return take_filter(r, c);
	}
}

static int check_options(const struct results *r)
{
	const struct ing_results_filter *f = &r->filter;
	bool is_filtered =
		f->status_count + f->host_count + f->id_count > 0 || r->list_name != NULL;
	if (r->dead && (is_filtered || r->headers))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--dead: dead letters have no status, ID, host or list, and always their headers");
	return ING_CTL_OK;
}

static int open_list(struct results *r, const struct ing_conf *conf)
{
	struct ing_error err = {0};
	if (r->list_name == NULL)
		return ING_CTL_OK;
	if (conf->postgres.dsn == NULL || conf->postgres.dsn[0] == '\0')
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--list: postgres.dsn is not set");
	if (ing_results_list_open(conf->postgres.dsn, r->list_name, &r->list, &err) == 0)
		return ING_CTL_OK;
	return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "--list: %s", err.msg);
}

static int run(struct results *r, const struct ing_conf *conf)
{
	r->reader.conf = conf;
	if (r->reader.brokers == NULL)
		r->reader.brokers = conf->kafka.brokers;
	if (r->reader.topic == NULL)
		r->reader.topic =
			conf->kafka.output_topics[r->dead ? ING_OUTPUT_DEAD : ING_OUTPUT_RESULTS];
	int code = open_list(r, conf);
	if (code == ING_CTL_OK)
		code = print_results(r);
	ing_results_list_free(r->list);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_results_usage = {
	.name = "results",
	.synopsis = "[--follow [--from-beginning]] [--since TIME] [FILTER]... [OPTION]...",
	.summary = "print the results topic",
	.text = "Prints the results topic as JSON lines in the order of time: the results in it now, or with "
		"--follow new ones. Of several values of one filter any may match, of several filters all "
		"must.",
	.details =
		"New results are held back for half a second, for older ones that other partitions may "
		"still bring. With --dead dead letters are printed instead, as objects with headers and "
		"value (or value_base64).",
	.options = options,
	.exits = {ING_EXIT_OK, "fewer than N results or timeout, or there is no such list",
		ING_EXIT_USAGE, "no broker answers, or the topic or the database is not there"},
	.examples =
		"The failures of one host since yesterday, and what comes:\n\n"
		"  ingestctl results --follow --since 24h --host example.org --status no-pdf-link,timeout",
};

int ing_ctl_results(int argc, char **argv, const struct ing_ctl *ctl)
{
	static struct results r;
	r = (struct results){.reader = {.verb = VERB}};
	optind = 1;
	int code = ing_usage_take_all(&ing_ctl_results_usage, argc, argv, take_option, &r);
	if (code >= 0)
		return code;
	struct ing_conf *conf;
	code = check_options(&r);
	if (code == ING_CTL_OK)
		code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = run(&r, conf);
	ing_conf_free(conf);
	return code;
}
