/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operator's properties over ours: what is taken, what is refused and how that is said.
 */
#include <librdkafka/rdkafka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/kafka/settings.h"

static const struct ing_kafka_setting ours[] = {
	{"enable.auto.commit", "false", true},
	{"linger.ms", "20", false},
	{NULL, NULL, false},
};

/* clang-format off */
static const struct {
	const char *property;
	enum ing_kafka_role role;
	const char *key, *want; /* value of key afterwards */
	const char *error;      /* or a part of the message */
} cases[] = {
	{.property = "session.timeout.ms=7000", .role = ING_KAFKA_CONSUMER,
		.key = "session.timeout.ms", .want = "7000"},
	{.property = "linger.ms=5", .role = ING_KAFKA_PRODUCER, .key = "linger.ms", .want = "5"},
	{.property = "consumer.linger.ms=5", .role = ING_KAFKA_PRODUCER, .key = "linger.ms",
		.want = "20"},
	{.property = "producer.linger.ms=5", .role = ING_KAFKA_PRODUCER, .key = "linger.ms",
		.want = "5"},
	{.property = "consumer.session.timeout.ms=7000", .role = ING_KAFKA_CONSUMER,
		.key = "session.timeout.ms", .want = "7000"},
	{.property = "producer.no.such.thing=1", .role = ING_KAFKA_CONSUMER,
		.key = "enable.auto.commit", .want = "false"},
	{.property = "sasl.password=a=b=c", .role = ING_KAFKA_CONSUMER, .key = "sasl.password",
		.want = "a=b=c"},
	{.property = "client.rack=", .role = ING_KAFKA_CONSUMER, .key = "client.rack", .want = ""},
	{.property = "client.id=me", .role = ING_KAFKA_CONSUMER, .key = "client.id", .want = "me"},
	{.property = "acks=1", .role = ING_KAFKA_PRODUCER, .key = "acks", .want = "1"},
	{.property = "no.such.thing=1", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "no.such.thing"},
	{.property = "consumer.no.such.thing=1", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "no.such.thing"},
	{.property = "session.timeout.ms=soon", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "session.timeout.ms"},
	{.property = "session.timeout.ms=-5", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "session.timeout.ms"},
	{.property = "enable.auto.commit=true", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "enable.auto.commit"},
	{.property = "Enable.Auto.Commit=true", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "is set by the program itself"},
	{.property = "consumer.enable.auto.commit=true", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "enable.auto.commit"},
	{.property = "bootstrap.servers=x", .role = ING_KAFKA_CONSUMER, .want = NULL,
		.error = "bootstrap.servers"},
	{.property = "metadata.broker.list=x", .role = ING_KAFKA_PRODUCER, .want = NULL,
		.error = "metadata.broker.list"},
	{.property = "linger.ms", .role = ING_KAFKA_PRODUCER, .want = NULL,
		.error = "\"linger.ms\""},
	{.property = "=5", .role = ING_KAFKA_PRODUCER, .want = NULL, .error = "\"=5\""},
	{.property = "", .role = ING_KAFKA_PRODUCER, .want = NULL, .error = "key=value"},
};
/* clang-format on */

static void test_properties(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("  %s\n", cases[i].property);
		char property[80];
		strncpy(property, cases[i].property, sizeof(property) - 1);
		property[sizeof(property) - 1] = '\0';
		char *properties[] = {property, NULL};
		struct ing_error err = {0};
		rd_kafka_conf_t *conf = NULL;
		int rc = ing_kafka_settings_new(
			cases[i].role, "localhost:1", "id", ours, properties, &conf, &err);
		if (cases[i].error != NULL) {
			assert_int_equal(rc, -ING_FAIL_CONFIG);
			assert_non_null(strstr(err.msg, cases[i].error));
			assert_null(conf);
			continue;
		}
		assert_int_equal(rc, 0);
		char got[80];
		size_t bytes = sizeof(got);
		assert_int_equal(
			rd_kafka_conf_get(conf, cases[i].key, got, &bytes), RD_KAFKA_CONF_OK);
		assert_string_equal(got, cases[i].want);
		rd_kafka_conf_destroy(conf);
	}
}

static void test_no_brokers(void **state)
{
	(void)state;
	struct ing_error err = {0};
	rd_kafka_conf_t *conf = NULL;
	assert_int_equal(
		ing_kafka_settings_new(ING_KAFKA_CONSUMER, "", "id", ours, NULL, &conf, &err),
		-ING_FAIL_CONFIG);
	assert_string_equal(err.msg, "Kafka: no brokers are configured");
}

/* A key longer than any that exists must not be taken for its beginning. */
static void test_long_key(void **state)
{
	(void)state;
	char property[600];
	memset(property, 'k', sizeof(property));
	property[sizeof(property) - 3] = '=';
	property[sizeof(property) - 1] = '\0';
	char *properties[] = {property, NULL};
	struct ing_error err = {0};
	rd_kafka_conf_t *conf = NULL;
	assert_int_equal(ing_kafka_settings_new(ING_KAFKA_CONSUMER, "localhost:1", "id", ours,
				 properties, &conf, &err),
		-ING_FAIL_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_no_brokers),
		cmocka_unit_test(test_long_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
