/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl submit and results, as functions, against librdkafka's in-process cluster.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "mock_kafka.h"
#include "worker/ctl/ctl.h"

#define MAX_ARGS 12
#define OUTPUT_BYTES 20000

struct output {
	int code;
	char out[OUTPUT_BYTES], err[OUTPUT_BYTES];
};

static char *const no_sets[] = {NULL};
static const struct ing_ctl ctl = {NULL, no_sets};

static int make_file(const char *text)
{
	char path[] = "/tmp/ing-verbs-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void read_back(int fd, char *to)
{
	ssize_t n = pread(fd, to, OUTPUT_BYTES - 1, 0);
	assert_true(n >= 0);
	to[n] = '\0';
	close(fd);
}

/* Runs a verb with stdout, stderr and (when not NULL) stdin replaced by files. */
static void run(struct output *o, int (*verb)(int, char **, const struct ing_ctl *),
	const char *input, const char *const *args)
{
	char words[MAX_ARGS][100];
	char *argv[MAX_ARGS + 1];
	int argc = 0;
	for (; args[argc] != NULL; argc++) {
		assert_true(argc < MAX_ARGS);
		snprintf(words[argc], sizeof(words[0]), "%s", args[argc]);
		argv[argc] = words[argc];
	}
	argv[argc] = NULL;
	int files[3] = {make_file(input != NULL ? input : ""), make_file(""), make_file("")};
	int saved[3];
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 3; i++) {
		saved[i] = dup(i);
		dup2(files[i], i);
	}
	rewind(stdin);
	o->code = verb(argc, argv, &ctl);
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	close(files[0]);
	read_back(files[1], o->out);
	read_back(files[2], o->err);
}

#define RUN(o, verb, input, ...) run(o, verb, input, (const char *const[]){__VA_ARGS__, NULL})

static unsigned count_lines(const char *text)
{
	unsigned n = 0;
	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

#define GOOD "{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/%d\"}\n"

static void test_submit(void **state)
{
	(void)state;
	struct mock_kafka k;
	static struct output o;
	char input[4000] = "";
	mock_kafka_init(&k, 1);
	mock_kafka_topic(&k, "requests", 4);
	for (int i = 0; i < 8; i++)
		snprintf(input + strlen(input), sizeof(input) - strlen(input), GOOD, i);
	RUN(&o, ing_ctl_submit, input, "submit", "--brokers", k.brokers, "--topic", "requests",
		"-");
	assert_int_equal(o.code, 0);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, "8 requests sent to requests\n"));
	/* All at once, yet spread evenly, and exactly as written. */
	for (int i = 0; i < 4; i++)
		assert_int_equal(mock_kafka_end(&k, "requests", i), 2);
	rd_kafka_t *reader = mock_kafka_reader(&k, "requests", 1);
	rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, 10000);
	assert_non_null(m);
	const char *want = "{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/0\"}";
	assert_int_equal(m->err, 0);
	assert_int_equal(m->len, strlen(want));
	assert_memory_equal(m->payload, want, strlen(want));
	assert_int_equal(m->key_len, 0);
	rd_kafka_message_destroy(m);
	mock_kafka_reader_free(reader);
	mock_kafka_done(&k);
}

static void test_submit_bad_lines(void **state)
{
	(void)state;
	struct mock_kafka k;
	static struct output o;
	mock_kafka_init(&k, 1);
	mock_kafka_topic(&k, "requests", 1);
	RUN(&o, ing_ctl_submit,
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}\r\n"
		"\n"
		"{\"ingest_type\":\"pdf\"\n"
		"{\"ingest_type\":\"nonsense\",\"base_url\":\"https://a.example/\"}\n"
		"{\"ingest_type\":\"html\",\"base_url\":\"https://a.example/\"}",
		"submit", "--brokers", k.brokers, "--topic", "requests", "-");
	assert_int_equal(o.code, 1);
	assert_non_null(strstr(o.err, "stdin:3: "));
	assert_non_null(strstr(o.err, "stdin:4: "));
	assert_null(strstr(o.err, "stdin:5: "));
	assert_non_null(strstr(o.err, "2 requests sent to requests, 2 bad lines skipped\n"));
	assert_int_equal(mock_kafka_end(&k, "requests", 0), 2);
	mock_kafka_done(&k);
}

/* The topic of a lane is the configured one, by default that of requests with the lane's name. */
static void test_submit_by_lane(void **state)
{
	(void)state;
	struct mock_kafka k;
	static struct output o;
	static const struct {
		const char *lane, *topic;
	} cases[] = {
		{"priority", "ingest-file-requests-priority"},
		{"requests", "ingest-file-requests"},
		{"daily", "ingest-file-requests-daily"},
		{"bulk", "ingest-file-requests-bulk"},
	};
	mock_kafka_init(&k, 1);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		mock_kafka_topic(&k, cases[i].topic, 1);
		RUN(&o, ing_ctl_submit,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}\n", "submit",
			"--brokers", k.brokers, "--lane", cases[i].lane, "-");
		assert_int_equal(o.code, 0);
		assert_int_equal(mock_kafka_end(&k, cases[i].topic, 0), 1);
	}
	RUN(&o, ing_ctl_submit, "", "submit", "--brokers", k.brokers, "--lane", "fast", "-");
	assert_int_equal(o.code, 2);
	assert_non_null(strstr(o.err, "fast is no lane"));
	RUN(&o, ing_ctl_submit, "", "submit", "--lane", "bulk", "--topic", "requests", "-");
	assert_int_equal(o.code, 2);
	mock_kafka_done(&k);
}

static void test_submit_refusals(void **state)
{
	(void)state;
	struct mock_kafka k;
	static struct output o;
	mock_kafka_init(&k, 1);
	mock_kafka_topic(&k, "requests", 1);
	RUN(&o, ing_ctl_submit, NULL, "submit", "--help");
	assert_int_equal(o.code, 0);
	assert_non_null(strstr(o.out, "usage: "));
	RUN(&o, ing_ctl_submit, NULL, "submit");
	assert_int_equal(o.code, 2);
	RUN(&o, ing_ctl_submit, NULL, "submit", "--nonsense", "-");
	assert_int_equal(o.code, 2);
	RUN(&o, ing_ctl_submit, NULL, "submit", "--brokers", k.brokers, "/nowhere/at/all");
	assert_int_equal(o.code, 3);
	assert_non_null(strstr(o.err, "/nowhere/at/all: No such file"));
	rd_kafka_mock_topic_set_error(
		k.cluster, "requests", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	RUN(&o, ing_ctl_submit, "{}", "submit", "--brokers", k.brokers, "--topic", "requests", "-");
	assert_int_equal(o.code, 3);
	assert_non_null(strstr(o.err, "requests: there is no such topic"));
	mock_kafka_done(&k);
}

static void test_submit_not_delivered(void **state)
{
	(void)state;
	struct mock_kafka k;
	static struct output o;
	mock_kafka_init(&k, 1);
	mock_kafka_topic(&k, "requests", 1);
	rd_kafka_mock_push_request_errors(
		k.cluster, 0, 1, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	RUN(&o, ing_ctl_submit, "{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}\n",
		"submit", "--brokers", k.brokers, "--topic", "requests", "-");
	assert_int_equal(o.code, 3);
	assert_non_null(strstr(o.err, "0 requests sent to requests, 1 not delivered: Broker: Topic "
				      "authorization failed\n"));
	mock_kafka_done(&k);
}

static void test_results(void **state)
{
	(void)state;
	struct mock_kafka k;
	static struct output o;
	mock_kafka_init(&k, 1);
	mock_kafka_topic(&k, "results", 3);
	mock_kafka_topic(&k, "empty", 2);
	mock_kafka_fill(&k, "results", 2, "r", 100); /* the third partition is empty */
#define TO "--brokers", k.brokers, "--topic", "results"
	RUN(&o, ing_ctl_results, NULL, "results", TO);
	assert_int_equal(o.code, 0);
	assert_int_equal(count_lines(o.out), 100);
	assert_non_null(strstr(o.out, "r99\n"));
	RUN(&o, ing_ctl_results, NULL, "results", "--from-beginning", TO);
	assert_int_equal(count_lines(o.out), 100);
	RUN(&o, ing_ctl_results, NULL, "results", "--count", "7", TO);
	assert_int_equal(o.code, 0);
	assert_int_equal(count_lines(o.out), 7);
	RUN(&o, ing_ctl_results, NULL, "results", "--count", "101", TO);
	assert_int_equal(o.code, 1);
	assert_int_equal(count_lines(o.out), 100);
	RUN(&o, ing_ctl_results, NULL, "results", "--brokers", k.brokers, "--topic", "empty");
	assert_int_equal(o.code, 0);
	assert_string_equal(o.out, "");
	/* Following from the end sees nothing of what was there. */
	RUN(&o, ing_ctl_results, NULL, "results", "--follow", "--timeout", "1", TO);
	assert_int_equal(o.code, 0);
	assert_string_equal(o.out, "");
	RUN(&o, ing_ctl_results, NULL, "results", "--follow", "--from-beginning", "--timeout", "2",
		TO);
	assert_int_equal(o.code, 0);
	assert_int_equal(count_lines(o.out), 100);
	RUN(&o, ing_ctl_results, NULL, "results", "--follow", "--count", "1", "--timeout", "1", TO);
	assert_int_equal(o.code, 1);
	mock_kafka_done(&k);
}

static void test_results_usage(void **state)
{
	(void)state;
	static struct output o;
	static const char *const bad[][4] = {
		{"results", "--count", "0"},
		{"results", "--count", "x"},
		{"results", "--count", "-1"},
		{"results", "--count", "99999999999999999999"},
		{"results", "--timeout", "1s"},
		{"results", "--nonsense"},
		{"results", "file"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		run(&o, ing_ctl_results, NULL, bad[i]);
		assert_int_equal(o.code, 2);
	}
	RUN(&o, ing_ctl_results, NULL, "results", "--help");
	assert_int_equal(o.code, 0);
	assert_non_null(strstr(o.out, "--from-beginning"));
	/* Nobody listens on port 1. */
	RUN(&o, ing_ctl_results, NULL, "results", "--brokers", "127.0.0.1:1", "--timeout", "2");
	assert_int_equal(o.code, 3);
	assert_non_null(strstr(o.err, "127.0.0.1:1: no broker answers"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_submit),
		cmocka_unit_test(test_submit_bad_lines),
		cmocka_unit_test(test_submit_by_lane),
		cmocka_unit_test(test_submit_refusals),
		cmocka_unit_test(test_submit_not_delivered),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_results_usage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
