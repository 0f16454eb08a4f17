/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Properties to rd_kafka_conf_t. librdkafka checks names and values itself; what is added here is
 * who may set what.
 */
#include "common/kafka/settings.h"

#include <librdkafka/rdkafka.h>
#include <string.h>
#include <strings.h>

#include "common/base/log.h"

/* Longest name librdkafka has is below 50 characters. */
#define KEY_BYTES 128

static const char consumer_prefix[] = "consumer.";
static const char producer_prefix[] = "producer.";

/* librdkafka has two names for this one; both are ours. */
static const char *const broker_keys[] = {"bootstrap.servers", "metadata.broker.list"};

/* @locality librdkafka's threads. */
static void log_line(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	(void)level;
	ing_log(ING_LOG_DEBUG, "%s: %s: %s", rd_kafka_name(rk), facility, text);
}

static bool is_fixed(const struct ing_kafka_setting *settings, const char *key)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(broker_keys); i++)
		if (strcasecmp(key, broker_keys[i]) == 0)
			return true;
	for (const struct ing_kafka_setting *s = settings; s->key != NULL; s++)
		if (s->fixed && strcasecmp(key, s->key) == 0)
			return true;
	return false;
}

static int set_one(rd_kafka_conf_t *conf, const char *key, const char *value, struct ing_error *err)
{
	char reason[256];
	if (rd_kafka_conf_set(conf, key, value, reason, sizeof(reason)) == RD_KAFKA_CONF_OK)
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG, "Kafka property %s: %s", key, reason);
}

/* The key's name without its role; NULL when the property is for the other role. */
static const char *key_for_role(enum ing_kafka_role role, const char *key)
{
	if (strncmp(key, consumer_prefix, strlen(consumer_prefix)) == 0)
		return role == ING_KAFKA_CONSUMER ? key + strlen(consumer_prefix) : NULL;
	if (strncmp(key, producer_prefix, strlen(producer_prefix)) == 0)
		return role == ING_KAFKA_PRODUCER ? key + strlen(producer_prefix) : NULL;
	return key;
}

static int set_property(rd_kafka_conf_t *conf, enum ing_kafka_role role,
	const struct ing_kafka_setting *settings, const char *property, struct ing_error *err)
{
	const char *equals = strchr(property, '=');
	char full_key[KEY_BYTES];
	size_t key_bytes = equals == NULL ? 0 : (size_t)(equals - property);
	if (key_bytes == 0 || key_bytes >= sizeof(full_key))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"Kafka property \"%s\": not of the form key=value", property);
	memcpy(full_key, property, key_bytes);
	full_key[key_bytes] = '\0';
	const char *key = key_for_role(role, full_key);
	if (key == NULL)
		return 0;
	if (is_fixed(settings, key))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"Kafka property %s: is set by the program itself", key);
	return set_one(conf, key, equals + 1, err);
}

static int fill(rd_kafka_conf_t *conf, enum ing_kafka_role role, const char *brokers,
	const char *client_id, const struct ing_kafka_setting *settings, char *const *properties,
	struct ing_error *err)
{
	int rc = set_one(conf, "bootstrap.servers", brokers, err);
	if (rc == 0)
		rc = set_one(conf, "client.id", client_id, err);
	for (const struct ing_kafka_setting *s = settings; rc == 0 && s->key != NULL; s++)
		rc = set_one(conf, s->key, s->value, err);
	for (char *const *p = properties; rc == 0 && p != NULL && *p != NULL; p++)
		rc = set_property(conf, role, settings, *p, err);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_kafka_settings_new(enum ing_kafka_role role, const char *brokers, const char *client_id,
	const struct ing_kafka_setting *settings, char *const *properties,
	struct rd_kafka_conf_s **ret, struct ing_error *err)
{
	if (brokers == NULL || *brokers == '\0')
		return ing_error_set(err, ING_FAIL_CONFIG, "Kafka: no brokers are configured");
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_conf_set_log_cb(conf, log_line);
	int rc = fill(conf, role, brokers, client_id, settings, properties, err);
	if (rc < 0) {
		rd_kafka_conf_destroy(conf);
		return rc;
	}
	*ret = conf;
	return 0;
}
