/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl submit: request lines to the topic of a lane, each as it stands in the file. Lines that
 * the worker would refuse are named and left out. Partitions are filled in turn, so that a short
 * file reaches every worker. Returns when all is acknowledged.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/line_splitter.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/model/request.h"
#include "worker/model/limits.h"

#define VERB "submit"
#define BLOCK_BYTES 65536
#define BROKER_WAIT_MS 15000
/* How long one request may wait for its acknowledgement: an operator is looking on. */
#define DELIVERY_MS "60000"

struct submit {
	const char *input_name;
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	int partitions, next_partition;
	uint64_t sent, bad, failed;
	bool broken; /* nothing more can be sent */
	char why[256];
};

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *ctx)
{
	(void)rk;
	(void)ctx;
	if (m->err == 0)
		return;
	struct submit *s = rd_kafka_topic_opaque(m->rkt);
	/* Not rd_kafka_message_errstr(), which takes a produced payload for the words. */
	if (s->failed++ == 0)
		snprintf(s->why, sizeof(s->why), "%s", rd_kafka_err2str(m->err));
}

static void produce_line(struct submit *s, const struct ing_line *line)
{
	int partition = s->next_partition;
	s->next_partition = (partition + 1) % s->partitions;
	for (;;) {
		/* librdkafka copies the bytes at once, whatever the type of its parameter says. */
		int rc = rd_kafka_produce(s->topic, partition, RD_KAFKA_MSG_F_COPY,
			(void *)(uintptr_t)line->text, line->bytes, NULL, 0, NULL);
		rd_kafka_resp_err_t err = rd_kafka_last_error();
		if (rc == 0) {
			s->sent++;
			return;
		}
		if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
			s->sent++;
			if (s->failed++ == 0)
				snprintf(s->why, sizeof(s->why), "%s", rd_kafka_err2str(err));
			s->broken = err == RD_KAFKA_RESP_ERR__FATAL;
			return;
		}
		rd_kafka_poll(s->rk, 100);
	}
}

static void take_line(struct submit *s, const struct ing_line *line)
{
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	if (ing_request_parse(line->text, line->bytes, &request, &err) != 0) {
		s->bad++;
		fprintf(stderr, "%s:%" PRId64 ": %s\n", s->input_name, line->number, err.msg);
		return;
	}
	ing_request_free(request);
	produce_line(s, line);
}

static int read_input(struct submit *s, FILE *f)
{
	static char block[BLOCK_BYTES];
	struct ing_line_splitter splitter;
	struct ing_line line;
	size_t n;
	int code = ING_CTL_OK;
	ing_line_splitter_init(&splitter, ING_MAX_REQUEST_BYTES);
	do {
		n = fread(block, 1, sizeof(block), f);
		if (n > 0)
			ing_line_splitter_feed(&splitter, block, n);
		else
			ing_line_splitter_end(&splitter);
		while (!s->broken && ing_line_splitter_next(&splitter, &line))
			take_line(s, &line);
		rd_kafka_poll(s->rk, 0);
	} while (n > 0 && !s->broken);
	if (ferror(f))
		code = ing_ctl_fail(
			ING_CTL_ENVIRONMENT, VERB, "%s: %s", s->input_name, strerror(errno));
	ing_line_splitter_done(&splitter);
	return code;
}

static int make_producer(
	struct submit *s, const struct ing_conf *conf, const char *brokers, struct ing_error *err)
{
	char message_bytes[24];
	/* The line, and the record's own fields. */
	snprintf(message_bytes, sizeof(message_bytes), "%zu", ING_MAX_REQUEST_BYTES + 65536);
	const struct ing_kafka_setting settings[] = {
		{"enable.idempotence", "true", false},
		{"message.max.bytes", message_bytes, false},
		{"message.timeout.ms", DELIVERY_MS, false},
		{"linger.ms", "20", false},
		{"compression.codec", "lz4", false},
		{NULL, NULL, false},
	};
	return ing_ctl_kafka_new(
		ING_KAFKA_PRODUCER, VERB, brokers, conf, settings, on_report, &s->rk, err);
}

static int open_topic(struct submit *s, const char *name, struct ing_error *err)
{
	rd_kafka_topic_conf_t *conf = rd_kafka_default_topic_conf_dup(s->rk);
	rd_kafka_topic_conf_set_opaque(conf, s);
	s->topic = rd_kafka_topic_new(s->rk, name, conf);
	return ing_ctl_kafka_partitions(
		s->rk, s->topic, BROKER_WAIT_MS, false, &s->partitions, err);
}

static int finish(struct submit *s, int code, const char *name)
{
	while (rd_kafka_outq_len(s->rk) > 0 && !s->broken) {
		rd_kafka_resp_err_t err = rd_kafka_flush(s->rk, 1000);
		s->broken = err != 0 && err != RD_KAFKA_RESP_ERR__TIMED_OUT;
	}
	uint64_t lost = s->failed;
	if (s->broken)
		lost += (uint64_t)rd_kafka_outq_len(s->rk);
	fprintf(stderr, "ingestctl submit: %" PRIu64 " request%s sent to %s", s->sent - lost,
		ING_PLURAL_S(s->sent - lost), name);
	if (s->bad > 0)
		fprintf(stderr, ", %" PRIu64 " bad line%s skipped", s->bad, ING_PLURAL_S(s->bad));
	if (lost > 0)
		fprintf(stderr, ", %" PRIu64 " not delivered: %s", lost, s->why);
	fputc('\n', stderr);
	if (lost > 0)
		return ING_CTL_ENVIRONMENT;
	if (code == ING_CTL_OK && s->bad > 0)
		return ING_CTL_NEGATIVE;
	return code;
}

static int submit_all(struct submit *s, const struct ing_conf *conf, const char *path,
	const char *brokers, const char *name)
{
	struct ing_error err = {0};
	FILE *f = ing_ctl_open_input(VERB, path);
	if (f == NULL)
		return ING_CTL_ENVIRONMENT;
	int code = ING_CTL_OK;
	if (make_producer(s, conf, brokers, &err) != 0 || open_topic(s, name, &err) != 0) {
		code = err.code == ING_FAIL_CONFIG ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT;
		ing_ctl_fail((enum ing_ctl_exit)code, VERB, "%s: %s", brokers, err.msg);
	} else {
		code = finish(s, read_input(s, f), name);
	}
	ing_ctl_close_input(f);
	if (s->topic != NULL)
		rd_kafka_topic_destroy(s->topic);
	if (s->rk != NULL)
		rd_kafka_destroy(s->rk);
	return code;
}

struct submit_options {
	const char *topic, *brokers, *lane, *path;
};

static const struct ing_option options[] = {
	{"lane", "LANE", "the topic of a lane: priority, daily or bulk", .code = 'l', .letter = 'l',
		.words = ING_WORDS_LANES},
	{"topic", "TOPIC", "instead of kafka.topics.requests", .code = 't', .letter = 't'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{0},
};

/* -1: go on; else the exit code. */
static int parse_options(int argc, char **argv, struct submit_options *o)
{
	optind = 1;
	for (int c; (c = ing_usage_next(&ing_ctl_submit_usage, argc, argv)) != -1;) {
		if (c == 't')
			o->topic = optarg;
		else if (c == 'l')
			o->lane = optarg;
		else if (c == 'b')
			o->brokers = optarg;
		else
			return ing_usage_code(c);
	}
	if (o->topic != NULL && o->lane != NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--topic and --lane exclude each other");
	if (optind != argc - 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give one FILE, or - for standard input");
	o->path = argv[optind];
	return -1;
}

/* Heap; NULL, and the reason said, when there is no such lane. */
static char *find_topic(const struct submit_options *o, const struct ing_conf *conf)
{
	return o->topic != NULL ? ing_strdup(o->topic) : ing_ctl_lane_topic(VERB, o->lane, conf);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_submit_usage = {
	.name = "submit",
	.synopsis = "[--lane LANE | --topic TOPIC] [--brokers LIST] FILE|-",
	.summary = "validate request lines and produce them to Kafka",
	.text = "Validates ingest requests (JSON lines) and produces them to the requests topic "
		"(kafka.topics.requests, unless --topic is given), or to the topic of a lane. "
		"Invalid lines are reported on stderr with their number, and skipped.",
	.options = options,
	.exits = {"all lines were sent", "some were invalid", ING_EXIT_USAGE,
		"the file cannot be read, the topic does not exist, or not all requests were "
		"delivered"},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_submit(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct submit_options o = {0};
	int code = parse_options(argc, argv, &o);
	if (code >= 0)
		return code;
	struct ing_conf *conf;
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	struct submit s = {.input_name = strcmp(o.path, "-") == 0 ? "stdin" : o.path};
	char *topic = find_topic(&o, conf);
	if (topic == NULL)
		code = ING_CTL_USAGE;
	else
		code = submit_all(&s, conf, o.path,
			o.brokers != NULL ? o.brokers : conf->kafka.brokers, topic);
	free(topic);
	ing_conf_free(conf);
	return code;
}
