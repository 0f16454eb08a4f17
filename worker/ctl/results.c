/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl results: the results topic on stdout, a value a line.
 */
#include <getopt.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/topic_reader.h"

#define VERB "results"
#define POLL_MS 100

struct results {
	struct ing_topic_reader_conf reader;
	uint64_t count;      /* 0: no limit */
	uint64_t timeout_ms; /* 0: none */
	uint64_t deadline_ms, printed;
};

static bool wants_more(const struct results *r)
{
	return (r->count == 0 || r->printed < r->count) &&
	       (r->timeout_ms == 0 || ing_now_ms() < r->deadline_ms);
}

static enum ing_topic_read print_next(
	struct results *r, struct ing_topic_reader *reader, int timeout_ms)
{
	rd_kafka_message_t *m;
	enum ing_topic_read read = ing_topic_reader_next(reader, timeout_ms, &m);
	if (read != ING_TOPIC_MESSAGE)
		return read;
	fwrite(m->payload, 1, m->len, stdout);
	putchar('\n');
	r->printed++;
	rd_kafka_message_destroy(m);
	return read;
}

static int print_messages(struct results *r, struct ing_topic_reader *reader)
{
	enum ing_topic_read read = ING_TOPIC_WAITING;
	while (wants_more(r) && read != ING_TOPIC_END) {
		read = print_next(r, reader, 0);
		if (read == ING_TOPIC_WAITING) { /* a reader of ours should see what there is */
			if (!ing_ctl_flush_stdout(VERB))
				return ING_CTL_ENVIRONMENT;
			read = print_next(r, reader, POLL_MS);
		}
		if (read == ING_TOPIC_FAILED)
			return ING_CTL_ENVIRONMENT;
	}
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
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
	ing_topic_reader_free(reader);
	return code;
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
	struct results r = {.reader = {.verb = VERB}};
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
	r.reader.conf = conf;
	if (r.reader.brokers == NULL)
		r.reader.brokers = conf->kafka.brokers;
	if (r.reader.topic == NULL)
		r.reader.topic = conf->kafka.output_topics[ING_OUTPUT_RESULTS];
	code = print_results(&r);
	ing_conf_free(conf);
	return code;
}
