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

static const struct {
	const char *property;
	enum ing_kafka_role role;
	const char *key, *want; /* value of key afterwards */
	const char *error;      /* or a part of the message */
} cases[] = {
	{"session.timeout.ms=7000", ING_KAFKA_CONSUMER, "session.timeout.ms", "7000", NULL},
	{"linger.ms=5", ING_KAFKA_PRODUCER, "linger.ms", "5", NULL},
	{"consumer.linger.ms=5", ING_KAFKA_PRODUCER, "linger.ms", "20", NULL},
	{"producer.linger.ms=5", ING_KAFKA_PRODUCER, "linger.ms", "5", NULL},
	{"consumer.session.timeout.ms=7000", ING_KAFKA_CONSUMER, "session.timeout.ms", "7000",
		NULL},
	{"producer.no.such.thing=1", ING_KAFKA_CONSUMER, "enable.auto.commit", "false", NULL},
	{"sasl.password=a=b=c", ING_KAFKA_CONSUMER, "sasl.password", "a=b=c", NULL},
	{"client.rack=", ING_KAFKA_CONSUMER, "client.rack", "", NULL},
	{"client.id=me", ING_KAFKA_CONSUMER, "client.id", "me", NULL},
	{"acks=1", ING_KAFKA_PRODUCER, "acks", "1", NULL},
	{"no.such.thing=1", ING_KAFKA_CONSUMER, NULL, NULL, "no.such.thing"},
	{"consumer.no.such.thing=1", ING_KAFKA_CONSUMER, NULL, NULL, "no.such.thing"},
	{"session.timeout.ms=soon", ING_KAFKA_CONSUMER, NULL, NULL, "session.timeout.ms"},
	{"session.timeout.ms=-5", ING_KAFKA_CONSUMER, NULL, NULL, "session.timeout.ms"},
	{"enable.auto.commit=true", ING_KAFKA_CONSUMER, NULL, NULL, "enable.auto.commit"},
	{"Enable.Auto.Commit=true", ING_KAFKA_CONSUMER, NULL, NULL, "is set by the program itself"},
	{"consumer.enable.auto.commit=true", ING_KAFKA_CONSUMER, NULL, NULL, "enable.auto.commit"},
	{"bootstrap.servers=x", ING_KAFKA_CONSUMER, NULL, NULL, "bootstrap.servers"},
	{"metadata.broker.list=x", ING_KAFKA_PRODUCER, NULL, NULL, "metadata.broker.list"},
	{"linger.ms", ING_KAFKA_PRODUCER, NULL, NULL, "\"linger.ms\""},
	{"=5", ING_KAFKA_PRODUCER, NULL, NULL, "\"=5\""},
	{"", ING_KAFKA_PRODUCER, NULL, NULL, "key=value"},
};

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
