/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl results: the results topic on stdout, a value a line. Reads all partitions side by
 * side, committed messages only, and joins no group, so that it disturbs nobody. The order is each
 * partition's own.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/kafka.h"

#define VERB "results"
#define BROKER_WAIT_MS 15000
#define POLL_MS 100

struct part {
	int64_t end; /* as of the start */
	bool done;   /* read up to there; never when following */
};

struct results {
	const char *brokers, *topic_name;
	bool from_beginning, follow;
	uint64_t count;      /* 0: no limit */
	uint64_t timeout_ms; /* 0: none */

	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	rd_kafka_queue_t *queue;
	struct part *parts;
	int part_count, open_parts;
	int started; /* partitions being consumed */
	uint64_t deadline_ms, printed;
};

static bool has_time(const struct results *r)
{
	return r->timeout_ms == 0 || ing_now_ms() < r->deadline_ms;
}

static bool wants_more(const struct results *r)
{
	return (r->count == 0 || r->printed < r->count) && r->open_parts > 0 && has_time(r);
}

static void finish_part(struct results *r, int32_t partition)
{
	struct part *p = &r->parts[partition];
	if (!p->done && !r->follow) {
		p->done = true;
		r->open_parts--;
	}
}

/* Starts reading one partition; an empty one is finished at once unless we follow. */
static int start_part(struct results *r, int32_t partition, struct ing_error *err)
{
	int64_t low, high;
	rd_kafka_resp_err_t rc = rd_kafka_query_watermark_offsets(
		r->rk, r->topic_name, partition, &low, &high, BROKER_WAIT_MS);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: partition %" PRId32 ": %s",
			r->topic_name, partition, rd_kafka_err2str(rc));
	r->parts[partition].end = high;
	if (low >= high && !r->follow) {
		finish_part(r, partition);
		return 0;
	}
	int64_t from = r->follow && !r->from_beginning ? high : low;
	if (rd_kafka_consume_start_queue(r->topic, partition, from, r->queue) != 0)
		return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: partition %" PRId32 ": %s",
			r->topic_name, partition, rd_kafka_err2str(rd_kafka_last_error()));
	r->started++;
	return 0;
}

static int start_parts(struct results *r, struct ing_error *err)
{
	int64_t wait_ms = BROKER_WAIT_MS;
	if (r->timeout_ms > 0)
		wait_ms = (int64_t)ING_MIN(r->timeout_ms, (uint64_t)INT32_MAX);
	else if (r->follow)
		wait_ms = INT64_MAX / 2; /* follow a topic that is yet to come */
	int rc = ing_ctl_kafka_partitions(r->rk, r->topic, wait_ms, r->follow, &r->part_count, err);
	if (rc < 0)
		return rc;
	r->parts = ing_alloc((size_t)r->part_count * sizeof(*r->parts));
	r->open_parts = r->part_count;
	for (int32_t i = 0; rc == 0 && i < r->part_count; i++)
		rc = start_part(r, i, err);
	return rc;
}

/* False when something is wrong that does not pass. */
static bool take_message(struct results *r, const rd_kafka_message_t *m)
{
	if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		finish_part(r, m->partition);
		return true;
	}
	if (m->err != 0) {
		ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", r->topic_name,
			rd_kafka_message_errstr(m));
		return m->err == RD_KAFKA_RESP_ERR__TRANSPORT ||
		       m->err == RD_KAFKA_RESP_ERR__TIMED_OUT;
	}
	struct part *p = &r->parts[m->partition];
	if (p->done)
		return true;
	if (r->follow || m->offset < p->end) {
		fwrite(m->payload, 1, m->len, stdout);
		putchar('\n');
		r->printed++;
	}
	if (m->offset + 1 >= p->end)
		finish_part(r, m->partition);
	return true;
}

static int print_messages(struct results *r)
{
	while (wants_more(r)) {
		rd_kafka_message_t *m = rd_kafka_consume_queue(r->queue, 0);
		if (m == NULL) { /* a reader of ours should see what there is */
			if (!ing_ctl_flush_stdout(VERB))
				return ING_CTL_ENVIRONMENT;
			m = rd_kafka_consume_queue(r->queue, POLL_MS);
		}
		rd_kafka_poll(r->rk, 0);
		if (m == NULL)
			continue;
		bool fine = take_message(r, m);
		rd_kafka_message_destroy(m);
		if (!fine)
			return ING_CTL_ENVIRONMENT;
	}
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	/* Fewer than asked for, or not all in time. */
	bool short_of = r->printed < r->count || (!r->follow && r->count == 0 && r->open_parts > 0);
	return short_of ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static void close_all(struct results *r)
{
	if (r->started > 0)
		for (int32_t i = 0; i < r->part_count; i++)
			rd_kafka_consume_stop(r->topic, i);
	if (r->queue != NULL)
		rd_kafka_queue_destroy(r->queue);
	if (r->topic != NULL)
		rd_kafka_topic_destroy(r->topic);
	if (r->rk != NULL)
		rd_kafka_destroy(r->rk);
	free(r->parts);
}

static int print_results(struct results *r, const struct ing_conf *conf)
{
	static const struct ing_kafka_setting settings[] = {
		{"isolation.level", "read_committed", false},
		{"enable.partition.eof", "true", true},
		{"auto.offset.reset", "earliest", false},
		/* What is fetched ahead is dropped when --count is reached. */
		{"queued.max.messages.kbytes", "16384", false},
		{NULL, NULL, false},
	};
	struct ing_error err = {0};
	int rc = ing_ctl_kafka_new(
		ING_KAFKA_CONSUMER, VERB, r->brokers, conf, settings, NULL, &r->rk, &err);
	if (rc == 0) {
		r->topic = rd_kafka_topic_new(r->rk, r->topic_name, NULL);
		r->queue = rd_kafka_queue_new(r->rk);
		r->deadline_ms = ing_now_ms() + r->timeout_ms;
		rc = start_parts(r, &err);
	}
	int code;
	if (rc == 0)
		code = print_messages(r);
	else
		code = ing_ctl_fail(rc == -ING_FAIL_CONFIG ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT,
			VERB, "%s: %s", r->brokers, err.msg);
	close_all(r);
	return code;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || n == 0 || n > max)
		return false;
	*ret = n;
	return true;
}

static void print_help(void)
{
	printf("usage: ingestctl [--config FILE] [--set KEY=VALUE]... results [OPTION]...\n\n"
	       "Prints the results topic as JSON lines: the results in it now, or with --follow new ones.\n\n"
	       "  --from-beginning  with --follow: existing results, too\n"
	       "  --follow          print new results as they arrive; waits for a missing topic\n"
	       "  --count N         stop after N results\n"
	       "  --timeout S       stop after S seconds\n"
	       "  --topic TOPIC     instead of kafka.topics.results\n"
	       "  --brokers LIST    instead of kafka.brokers\n\n"
	       "Exit status: 0 success, 1 fewer than N results or timeout, 2 usage or configuration,\n"
	       "3 no broker answers or the topic does not exist.\n");
}

/* -1: go on; else the exit code. */
static int take_option(struct results *r, int c)
{
	switch (c) {
	case 'B':
		r->from_beginning = true;
		return -1;
	case 'f':
		r->follow = true;
		return -1;
	case 'n':
		if (parse_number(optarg, UINT64_MAX / 2, &r->count))
			return -1;
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--count: not a positive number: %s", optarg);
	case 's':
		if (!parse_number(optarg, 1000000, &r->timeout_ms))
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--timeout: not a number of seconds: %s", optarg);
		r->timeout_ms *= 1000;
		return -1;
	case 't':
		r->topic_name = optarg;
		return -1;
	case 'b':
		r->brokers = optarg;
		return -1;
	case 'h':
		print_help();
		return ING_CTL_OK;
	default:
		return ING_CTL_USAGE;
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_results(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct option options[] = {
		{"from-beginning", no_argument, NULL, 'B'},
		{"follow", no_argument, NULL, 'f'},
		{"count", required_argument, NULL, 'n'},
		{"timeout", required_argument, NULL, 's'},
		{"topic", required_argument, NULL, 't'},
		{"brokers", required_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct results r = {0};
	optind = 1;
	for (;;) {
		int c = ing_ctl_option(argc, argv, "fn:t:b:h", options);
		if (c == -1)
			break;
		int code = take_option(&r, c);
		if (code >= 0)
			return code;
	}
	if (optind != argc)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "takes no argument: %s", argv[optind]);
	struct ing_conf *conf;
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (r.brokers == NULL)
		r.brokers = conf->kafka.brokers;
	if (r.topic_name == NULL)
		r.topic_name = conf->kafka.output_topics[ING_OUTPUT_RESULTS];
	code = print_results(&r, conf);
	ing_conf_free(conf);
	return code;
}
