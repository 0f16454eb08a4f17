/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * properties.h - what the operator sets of librdkafka, by its own names: which of it is a secret, and
 * copies of it. Any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Secrets are in files, which are read whenever a client is made (common/base/key_file.h). Lists end with
 * NULL; NULL: none. */
struct ing_kafka_properties {
	char *const *values;       /* "key=value" */
	char *const *files;        /* "key=FILE": the file's content is the value */
	const char *password_file; /* of sasl.password; NULL or "": none */
};

/* A heap copy, and its end (zero-initialised is fine). */
struct ing_kafka_properties ing_kafka_properties_copy(const struct ing_kafka_properties *from);
void ing_kafka_properties_done(struct ing_kafka_properties *p);

/* Of "KEY=VALUE", where KEY may begin with a role (consumer. or producer.): whether the value is a secret,
 * which belongs into a file. */
bool ing_kafka_property_is_secret(const char *property);
