/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Properties to rd_kafka_conf_t. librdkafka checks names and values itself; what is added here is
 * who may set what.
 */
#include "common/kafka/settings.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/key_file.h"
#include "common/base/log.h"
#include "common/kafka/certificate.h"

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

/* A property taken apart: "KEY=VALUE", where KEY may begin with a role. */
struct property {
	char full_key[KEY_BYTES];
	const char *key; /* without its role; NULL: it is the other role's */
	const char *value;
};

static int split_property(struct property *p, enum ing_kafka_role role, const char *text,
	const struct ing_kafka_setting *settings, struct ing_error *err)
{
	const char *equals = strchr(text, '=');
	size_t key_bytes = equals == NULL ? 0 : (size_t)(equals - text);
	if (key_bytes == 0 || key_bytes >= sizeof(p->full_key))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"Kafka property \"%.*s\": not of the form key=value",
			(int)ING_MIN(strcspn(text, " :"), (size_t)KEY_BYTES), text);
	memcpy(p->full_key, text, key_bytes);
	p->full_key[key_bytes] = '\0';
	p->key = key_for_role(role, p->full_key);
	p->value = equals + 1;
	if (p->key != NULL && is_fixed(settings, p->key))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"Kafka property %s: is set by the program itself", p->key);
	return 0;
}

static int set_property(rd_kafka_conf_t *conf, enum ing_kafka_role role,
	const struct ing_kafka_setting *settings, const char *property, struct ing_error *err)
{
	struct property p;
	int rc = split_property(&p, role, property, settings, err);
	return rc != 0 || p.key == NULL ? rc : set_one(conf, p.key, p.value, err);
}

static int set_from_file(
	rd_kafka_conf_t *conf, const char *key, const char *file, struct ing_error *err)
{
	char *text = NULL;
	int rc = ing_key_file_text(file, &text, err);
	if (rc == 0)
		rc = set_one(conf, key, text, err);
	else
		ing_error_context(err, "Kafka property %s", key);
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
	return rc;
}

static int set_file_property(rd_kafka_conf_t *conf, enum ing_kafka_role role,
	const struct ing_kafka_setting *settings, const char *property, struct ing_error *err)
{
	struct property p;
	int rc = split_property(&p, role, property, settings, err);
	return rc != 0 || p.key == NULL ? rc : set_from_file(conf, p.key, p.value, err);
}

static int set_properties(rd_kafka_conf_t *conf, enum ing_kafka_role role,
	const struct ing_kafka_setting *settings, const struct ing_kafka_properties *given,
	struct ing_error *err)
{
	int rc = 0;
	for (char *const *p = given->values; rc == 0 && p != NULL && *p != NULL; p++)
		rc = set_property(conf, role, settings, *p, err);
	for (char *const *p = given->files; rc == 0 && p != NULL && *p != NULL; p++)
		rc = set_file_property(conf, role, settings, *p, err);
	if (rc == 0 && given->password_file != NULL && given->password_file[0] != '\0')
		rc = set_from_file(conf, "sasl.password", given->password_file, err);
	return rc;
}

static int fill(rd_kafka_conf_t *conf, enum ing_kafka_role role, const char *brokers,
	const char *client_id, const struct ing_kafka_setting *settings,
	const struct ing_kafka_properties *properties, struct ing_error *err)
{
	int rc = set_one(conf, "bootstrap.servers", brokers, err);
	if (rc == 0)
		rc = set_one(conf, "client.id", client_id, err);
	for (const struct ing_kafka_setting *s = settings; rc == 0 && s->key != NULL; s++)
		rc = set_one(conf, s->key, s->value, err);
	if (rc == 0 && properties != NULL)
		rc = set_properties(conf, role, settings, properties, err);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_kafka_settings_new(enum ing_kafka_role role, const char *brokers, const char *client_id,
	const struct ing_kafka_setting *settings, const struct ing_kafka_properties *properties,
	struct rd_kafka_conf_s **ret, struct ing_error *err)
{
	if (brokers == NULL || *brokers == '\0')
		return ing_error_set(err, ING_FAIL_CONFIG, "Kafka: no brokers are configured");
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_conf_set_log_cb(conf, log_line);
	ing_kafka_watch_certificates(conf);
	int rc = fill(conf, role, brokers, client_id, settings, properties, err);
	if (rc < 0) {
		rd_kafka_conf_destroy(conf);
		return rc;
	}
	*ret = conf;
	return 0;
}
