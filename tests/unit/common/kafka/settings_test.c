/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operator's properties over ours: what is taken, what is refused and how that is said.
 */
#include <librdkafka/rdkafka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
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
		int rc = ing_kafka_settings_new(cases[i].role, "localhost:1", "id", ours,
			&(struct ing_kafka_properties){.values = properties}, &conf, &err);
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
				 &(struct ing_kafka_properties){.values = properties}, &conf, &err),
		-ING_FAIL_CONFIG);
}

static void check_secret(rd_kafka_conf_t *conf, const char *key, const char *want)
{
	char got[80];
	size_t bytes = sizeof(got);
	assert_int_equal(rd_kafka_conf_get(conf, key, got, &bytes), RD_KAFKA_CONF_OK);
	assert_string_equal(got, want);
}

static void values_come_out_of_files(void **state)
{
	(void)state;
	char path[] = "/tmp/kafka-secret-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, "pass word=1\n", 12), 12);
	close(fd);
	char own[80], other[80];
	snprintf(own, sizeof(own), "consumer.ssl.key.password=%s", path);
	snprintf(other, sizeof(other), "producer.client.rack=/nonexistent");
	char user[] = "sasl.username=me";
	char *values[] = {user, NULL};
	char *files[] = {own, other, NULL};
	struct ing_kafka_properties given = {values, files, path};
	struct ing_kafka_properties copy = ing_kafka_properties_copy(&given);
	struct ing_error err = {0};
	rd_kafka_conf_t *conf = NULL;
	assert_int_equal(ing_kafka_settings_new(
				 ING_KAFKA_CONSUMER, "localhost:1", "id", ours, &copy, &conf, &err),
		0);
	check_secret(conf, "sasl.password", "pass word=1");
	check_secret(conf, "ssl.key.password", "pass word=1");
	check_secret(conf, "sasl.username", "me");
	rd_kafka_conf_destroy(conf);
	ing_kafka_properties_done(&copy);
	/* The other role reads its own file, and nobody one for what is ours. */
	assert_int_equal(ing_kafka_settings_new(ING_KAFKA_PRODUCER, "localhost:1", "id", ours,
				 &given, &conf, &err),
		-ING_FAIL_CONFIG);
	assert_string_equal(
		err.msg, "Kafka property client.rack: /nonexistent: No such file or directory");
	char fixed[80];
	snprintf(fixed, sizeof(fixed), "enable.auto.commit=%s", path);
	char *ours_in_a_file[] = {fixed, NULL};
	ing_error_clear(&err);
	assert_int_equal(
		ing_kafka_settings_new(ING_KAFKA_CONSUMER, "localhost:1", "id", ours,
			&(struct ing_kafka_properties){.files = ours_in_a_file}, &conf, &err),
		-ING_FAIL_CONFIG);
	assert_string_equal(
		err.msg, "Kafka property enable.auto.commit: is set by the program itself");
	unlink(path);
}

static void secrets_are_known_by_their_names(void **state)
{
	(void)state;
	static const struct {
		const char *property;
		bool secret;
	} names[] = {
		{"sasl.password=x", true},
		{"SASL.Password=x", true},
		{"consumer.sasl.password=x", true},
		{"producer.ssl.key.pem=x", true},
		{"ssl.key.password=", true},
		{"sasl.oauthbearer.client.secret=x", true},
		{"sasl.username=sasl.password", false},
		{"ssl.key.location=/k", false},
		{"xsasl.password=x", false},
		{"sasl.password.x=x", false},
		{"consumer.=x", false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (ing_kafka_property_is_secret(names[i].property) != names[i].secret)
			fail_msg("%s", names[i].property);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_no_brokers),
		cmocka_unit_test(test_long_key),
		cmocka_unit_test(values_come_out_of_files),
		cmocka_unit_test(secrets_are_known_by_their_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
