/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The producer against librdkafka's in-process cluster: acknowledgements, refusals, outages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "mock_kafka.h"
#include "worker/emit/emit.h"
#include "worker/model/settings.h"
#include "worker/emit/topics.h"

#define REQUESTS "requests"
#define RESULTS "results"
#define DEAD "results-dead"
#define MAX_BYTES ((size_t)200000)
#define LONG_MS 20000

enum { API_PRODUCE = 0, API_INIT_PRODUCER_ID = 22 };

static bool still_wanted;

struct fixture {
	struct mock_kafka kafka;
	uv_loop_t loop;
	struct ing_emit *e;
	unsigned ok, refused, fatals;
	bool inside_put;
	unsigned put_more; /* puts that done() makes */
};

/* In place of ing_topics_describe(): the in-process cluster has no controller, whom that would ask.
 * Nothing to ask: taken as it is. */
bool __wrap_ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers);
static size_t limit_bytes = SIZE_MAX; /* what the results topic is said to take */
bool __wrap_ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers)
{
	(void)rk;
	(void)answers;
	t->limit_bytes[ING_OUTPUT_RESULTS] = limit_bytes;
	t->missing[ING_OUTPUT_PARKED_1H] = true;
	return false;
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	print_message("  fatal: %s\n", err->msg);
	((struct fixture *)ctx)->fatals++;
}

static void open_emit(struct fixture *f, const char *property)
{
	char text[100] = "";
	char *properties[] = {NULL, NULL};
	if (property != NULL) {
		snprintf(text, sizeof(text), "%s", property);
		properties[0] = text;
	}
	const struct ing_kafka_settings settings = {
		.brokers = f->kafka.brokers,
		.lane_topics = {[ING_LANE_REQUESTS] = REQUESTS},
		.output_topics = {[ING_OUTPUT_RESULTS] = RESULTS,
			[ING_OUTPUT_DEAD] = DEAD,
			[ING_OUTPUT_PARKED_1M] = "auto",
			[ING_OUTPUT_PARKED_1H] = "auto"},
		.max_message_bytes = MAX_BYTES,
		.properties = {.values = properties},
	};
	struct ing_error err = {0};
	assert_int_equal(
		ing_emit_kafka_new(&f->loop, &settings, "one", on_fatal, f, &f->e, &err), 0);
}

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	mock_kafka_init(&f->kafka, 1);
	mock_kafka_topic(&f->kafka, RESULTS, 1);
	mock_kafka_topic(&f->kafka, DEAD, 1);
	uv_loop_init(&f->loop);
}

static void close_emit(struct fixture *f)
{
	ing_emit_free(ING_TAKE(f->e));
	uv_run(&f->loop, UV_RUN_DEFAULT);
}

static void teardown(struct fixture *f)
{
	close_emit(f);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	mock_kafka_done(&f->kafka);
}

static void on_done(void *ctx, bool ok);

static const struct ing_emit_user user = {.done = on_done};

static void put_value(struct fixture *f, enum ing_output topic, const char *value, size_t bytes)
{
	struct ing_output_message m = {
		.output = topic, .value = ing_strndup(value, bytes), .value_bytes = bytes};
	f->inside_put = true;
	ing_emit_put(f->e, &m, &user, f);
	f->inside_put = false;
}

static void put_number(struct fixture *f, unsigned number)
{
	char value[20];
	snprintf(value, sizeof(value), "v%u", number);
	put_value(f, ING_OUTPUT_RESULTS, value, strlen(value));
}

static void on_done(void *ctx, bool ok)
{
	struct fixture *f = ctx;
	assert_false(f->inside_put);
	if (ok)
		f->ok++;
	else
		f->refused++;
	if (f->put_more > 0)
		put_number(f, 1000 + --f->put_more);
}

static void put_numbers(struct fixture *f, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_number(f, i);
}

static void wait_ok(struct fixture *f, unsigned count)
{
	assert_true(mock_turn_count(&f->loop, &f->ok, count, LONG_MS));
}

/* The results topic holds v0 … v(count-1) once each, in any order. */
static void expect_numbers(struct fixture *f, unsigned count)
{
	unsigned seen[2000] = {0};
	assert_true(count <= 2000);
	assert_int_equal(mock_kafka_end(&f->kafka, RESULTS, 0), count);
	rd_kafka_t *reader = mock_kafka_reader(&f->kafka, RESULTS, 1);
	for (unsigned i = 0; i < count; i++) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, 10000);
		assert_non_null(m);
		assert_int_equal(m->err, 0);
		char text[20];
		unsigned number = 0;
		snprintf(text, sizeof(text), "%.*s", (int)m->len, (const char *)m->payload);
		assert_int_equal(sscanf(text, "v%u", &number), 1);
		assert_true(number < count);
		assert_int_equal(seen[number]++, 0);
		rd_kafka_message_destroy(m);
	}
	mock_kafka_reader_free(reader);
}

/* ---- What arrives ---- */

static void test_key_and_headers(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	static const struct ing_header headers[] = {{"reason", "syntax"}, {"empty", ""}};
	char key[] = "k\0y";
	struct ing_output_message put = {
		.output = ING_OUTPUT_DEAD,
		.key = key,
		.key_bytes = 3,
		.value = ing_strndup("\xff\0x", 3),
		.value_bytes = 3,
		.headers = headers,
		.header_count = 2,
	};
	ing_emit_put(f.e, &put, &user, &f);
	memset(key, 'x', sizeof(key)); /* it was copied */
	assert_int_equal(ing_emit_outstanding(f.e), 1);
	wait_ok(&f, 1);
	assert_int_equal(ing_emit_outstanding(f.e), 0);

	rd_kafka_t *reader = mock_kafka_reader(&f.kafka, DEAD, 1);
	rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, 10000);
	assert_non_null(m);
	assert_int_equal(m->err, 0);
	assert_int_equal(m->key_len, 3);
	assert_memory_equal(m->key, "k\0y", 3);
	assert_int_equal(m->len, 3);
	assert_memory_equal(m->payload, "\xff\0x", 3);
	rd_kafka_headers_t *got;
	const void *value;
	size_t bytes;
	assert_int_equal(rd_kafka_message_headers(m, &got), 0);
	assert_int_equal(rd_kafka_header_get_last(got, "reason", &value, &bytes), 0);
	assert_int_equal(bytes, 6);
	assert_memory_equal(value, "syntax", 6);
	assert_int_equal(rd_kafka_header_get_last(got, "empty", &value, &bytes), 0);
	assert_int_equal(bytes, 0);
	rd_kafka_message_destroy(m);
	mock_kafka_reader_free(reader);
	teardown(&f);
}

/* done() may put; everything is counted. */
static void test_put_from_done(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	f.put_more = 50;
	put_number(&f, 0);
	wait_ok(&f, 51);
	assert_int_equal(ing_emit_outstanding(f.e), 0);
	assert_false(ing_emit_blocked(f.e));
	teardown(&f);
}

/* A topic without a name takes everything and keeps nothing. */
static void test_dropped(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	put_value(&f, ING_OUTPUT_PDF_TEXT, "text", 4);
	assert_int_equal(ing_emit_outstanding(f.e), 1);
	wait_ok(&f, 1);
	assert_int_equal(ing_emit_outstanding(f.e), 0);
	teardown(&f);
}

/* ---- What is refused ---- */

/* Dropping it would lose the request: whoever has put it is told. */
static void a_parked_request_without_its_topic_is_refused(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	mock_kafka_topic(&f.kafka, REQUESTS "-parked-1m", 1);
	open_emit(&f, NULL);
	put_value(&f, ING_OUTPUT_PARKED_1M, "one", 3);
	wait_ok(&f, 1);
	assert_true(ing_emit_has(f.e, ING_OUTPUT_RESULTS));
	assert_true(ing_emit_has(f.e, ING_OUTPUT_PARKED_1M));
	assert_int_equal(f.ok, 1);
	assert_false(ing_emit_has(f.e, ING_OUTPUT_PARKED_1H)); /* missing */
	assert_false(ing_emit_has(f.e, ING_OUTPUT_PARKED_1D)); /* none configured */
	put_value(&f, ING_OUTPUT_PARKED_1H, "two", 3);
	put_value(&f, ING_OUTPUT_PARKED_1D, "three", 5);
	assert_true(mock_turn_count(&f.loop, &f.refused, 2, LONG_MS));
	assert_int_equal(f.ok, 1);
	assert_int_equal(f.refused, 2);
	assert_false(ing_emit_blocked(f.e)); /* nobody waits for them */
	teardown(&f);
}

static void test_too_large(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	char *value = ing_alloc(MAX_BYTES + 1);
	for (size_t i = 0; i <= MAX_BYTES; i++)
		value[i] = (char)rand(); /* does not compress */
	assert_int_equal(ing_emit_max_value_bytes(f.e, ING_OUTPUT_RESULTS), MAX_BYTES);
	put_value(&f, ING_OUTPUT_RESULTS, value, MAX_BYTES);
	put_value(&f, ING_OUTPUT_RESULTS, value, MAX_BYTES + 1);
	put_value(&f, ING_OUTPUT_RESULTS, value, 0);
	wait_ok(&f, 2);
	assert_true(mock_turn_count(&f.loop, &f.refused, 1, LONG_MS));

	value[70000] = '\0';
	memset(value, 'h', 70000);
	struct ing_header header = {"long", value};
	ing_emit_put(f.e,
		&(struct ing_output_message){.output = ING_OUTPUT_DEAD,
			.value = ing_strdup("v"),
			.value_bytes = 1,
			.headers = &header,
			.header_count = 1},
		&user, &f);
	assert_true(mock_turn_count(&f.loop, &f.refused, 2, LONG_MS));
	assert_int_equal(f.ok, 2);
	free(value);
	teardown(&f);
}

/* The topic takes less than we would send: known before the first message, its batches fit, too. */
static void test_small_topic(void **state)
{
	(void)state;
	struct fixture f;
	const size_t bytes = 30000;
	static char value[MAX_BYTES + 1];
	memset(value, 'v', sizeof(value));
	static const struct {
		size_t limit, max_value;
	} cases[] = {{150000, 150000 - 65536}, {50000, 25000}, {400000, MAX_BYTES}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		limit_bytes = cases[i].limit;
		setup(&f);
		open_emit(&f, NULL);
		put_value(&f, ING_OUTPUT_RESULTS, value, MAX_BYTES + 1);
		put_value(&f, ING_OUTPUT_RESULTS, value, bytes); /* nothing is known yet */
		assert_true(mock_turn_count(&f.loop, &f.refused, 1, LONG_MS));
		bool fits = bytes <= cases[i].max_value;
		assert_true(
			mock_turn_count(&f.loop, fits ? &f.ok : &f.refused, fits ? 1 : 2, LONG_MS));
		assert_int_equal(
			ing_emit_max_value_bytes(f.e, ING_OUTPUT_RESULTS), cases[i].max_value);
		limit_bytes = SIZE_MAX;
		teardown(&f);
	}
}

/* The broker refuses a whole batch: each message gets a second chance alone. */
static void test_refused_batch(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, "producer.linger.ms=200");
	put_number(&f, 0);
	wait_ok(&f, 1); /* topics are checked, the connection is up */
	rd_kafka_mock_push_request_errors(
		f.kafka.cluster, API_PRODUCE, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	for (unsigned i = 1; i < 6; i++)
		put_number(&f, i);
	wait_ok(&f, 6);
	assert_int_equal(f.refused, 0);
	expect_numbers(&f, 6);

	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_PRODUCE, 2,
		RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	for (unsigned i = 0; i < 3; i++)
		put_number(&f, i);
	wait_ok(&f, 8);
	assert_true(mock_turn_count(&f.loop, &f.refused, 1, LONG_MS));
	assert_int_equal(ing_emit_outstanding(f.e), 0);
	put_number(&f, 9);
	wait_ok(&f, 9);
	assert_int_equal(f.refused, 1);
	assert_int_equal(f.fatals, 0);
	teardown(&f);
}

/* ---- What passes ---- */

static void test_passing_errors(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_PRODUCE, 5,
		RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
		RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR__TRANSPORT,
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	put_numbers(&f, 200);
	wait_ok(&f, 200);
	assert_int_equal(f.refused, 0);
	assert_int_equal(f.fatals, 0);
	expect_numbers(&f, 200);
	teardown(&f);
}

static void test_queue_full(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, "producer.queue.buffering.max.messages=10");
	put_number(&f, 0);
	wait_ok(&f, 1);
	assert_false(ing_emit_blocked(f.e));
	for (unsigned i = 1; i < 500; i++)
		put_number(&f, i);
	assert_int_equal(ing_emit_outstanding(f.e), 499);
	bool was_blocked = false;
	while (f.ok < 500) {
		uv_run(&f.loop, UV_RUN_ONCE);
		was_blocked = was_blocked || ing_emit_blocked(f.e);
	}
	assert_true(was_blocked);
	assert_false(ing_emit_blocked(f.e));
	expect_numbers(&f, 500);
	teardown(&f);
}

static void test_outage(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	assert_true(ing_emit_blocked(f.e)); /* the topics are not checked yet */
	put_numbers(&f, 10);
	wait_ok(&f, 10);
	assert_false(ing_emit_blocked(f.e));
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	for (unsigned i = 10; i < 60; i++)
		put_number(&f, i);
	mock_turn_until(&f.loop, NULL, 5500);
	assert_int_equal(f.ok, 10);
	assert_true(ing_emit_blocked(f.e));
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	wait_ok(&f, 60);
	assert_false(ing_emit_blocked(f.e));
	expect_numbers(&f, 60);
	teardown(&f);
}

static void test_outage_at_start(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	open_emit(&f, NULL);
	put_numbers(&f, 10);
	mock_turn_until(&f.loop, NULL, 1500);
	assert_true(ing_emit_blocked(f.e));
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	wait_ok(&f, 10);
	assert_false(ing_emit_blocked(f.e));
	expect_numbers(&f, 10);
	teardown(&f);
}

/* ---- The end ---- */

/* Freed at once: what is outstanding goes out, and done() says so. */
static void test_flush(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	put_numbers(&f, 100);
	close_emit(&f);
	assert_int_equal(f.ok, 100);
	expect_numbers(&f, 100);
	teardown(&f);
}

/* No broker: the end is bounded, and what is not known to be delivered is not said to be. */
static void test_flush_without_broker(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	put_numbers(&f, 10);
	wait_ok(&f, 10);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	put_numbers(&f, 10);
	uint64_t before = ing_now_ms();
	close_emit(&f);
	assert_true(ing_now_ms() - before < 8000);
	assert_int_equal(f.ok, 10);
	assert_int_equal(f.refused, 0);
	teardown(&f);
}

static void test_fatal(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	rd_kafka_mock_push_request_errors(f.kafka.cluster, API_INIT_PRODUCER_ID, 1,
		RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
	open_emit(&f, NULL);
	put_numbers(&f, 3);
	assert_true(mock_turn_count(&f.loop, &f.fatals, 1, LONG_MS));
	mock_turn_until(&f.loop, NULL, 1200);
	assert_int_equal(f.fatals, 1);
	assert_int_equal(f.ok, 0);
	assert_true(ing_emit_blocked(f.e));
	teardown(&f);
}

static void test_settings(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	char text[] = "enable.idempotence=false";
	char *properties[] = {text, NULL};
	const struct ing_kafka_settings settings = {
		.brokers = f.kafka.brokers,
		.output_topics = {[ING_OUTPUT_RESULTS] = RESULTS},
		.max_message_bytes = MAX_BYTES,
		.properties = {.values = properties},
	};
	struct ing_error err = {0};
	assert_int_equal(ing_emit_kafka_new(&f.loop, &settings, "one", on_fatal, &f, &f.e, &err),
		-ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "enable.idempotence"));
	teardown(&f);
}

static bool is_wanted(const void *ctx)
{
	(void)ctx;
	return still_wanted;
}

static const struct ing_emit_user asking = {.done = on_done, .wanted = is_wanted};

/* The brokers are away; what waits for them and is revoked meanwhile is never sent, and is given
 * back. */
static void test_what_is_not_wanted_any_more_is_not_sent(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_emit(&f, NULL);
	put_numbers(&f, 1);
	wait_ok(&f, 1);
	rd_kafka_mock_broker_set_down(f.kafka.cluster, 1);
	put_number(&f, 1);
	uint64_t deadline = ing_now_ms() + LONG_MS;
	while (!ing_emit_blocked(f.e) && ing_now_ms() < deadline)
		mock_turn_until(&f.loop, NULL, 20);
	assert_true(ing_emit_blocked(f.e));
	still_wanted = true;
	for (int i = 0; i < 50; i++)
		ing_emit_put(f.e,
			&(struct ing_output_message){.output = ING_OUTPUT_RESULTS,
				.value = ing_strdup("revoked"),
				.value_bytes = 7},
			&asking, &f);
	mock_turn_until(&f.loop, NULL, 100);
	still_wanted = false;
	rd_kafka_mock_broker_set_up(f.kafka.cluster, 1);
	put_number(&f, 2);
	wait_ok(&f, 3);
	assert_true(mock_turn_count(&f.loop, &f.refused, 50, LONG_MS));
	assert_int_equal(ing_emit_outstanding(f.e), 0);
	expect_numbers(&f, 3);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_and_headers),
		cmocka_unit_test(test_put_from_done),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(a_parked_request_without_its_topic_is_refused),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_small_topic),
		cmocka_unit_test(test_refused_batch),
		cmocka_unit_test(test_passing_errors),
		cmocka_unit_test(test_queue_full),
		cmocka_unit_test(test_outage),
		cmocka_unit_test(test_outage_at_start),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_flush_without_broker),
		cmocka_unit_test(test_fatal),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_what_is_not_wanted_any_more_is_not_sent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
