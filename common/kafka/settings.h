/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * settings.h - a librdkafka configuration: our settings first, the operator's properties over them.
 *
 * A setting is fixed when correctness depends on it (who commits offsets, idempotence); a property
 * that names it is refused. Everything else the operator may override, with librdkafka's own names.
 * Any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "common/kafka/properties.h"

struct rd_kafka_conf_s;

enum ing_kafka_role { ING_KAFKA_CONSUMER, ING_KAFKA_PRODUCER };

struct ing_kafka_setting {
	const char *key;
	const char *value;
	bool fixed;
};

/* Make a configuration for a client of `role`: bootstrap servers (fixed), client.id, then
 * `settings` (ended by a NULL key), then `properties` (NULL: none): its values, then what its files hold.
 * A property whose key starts with `consumer.` or `producer.` reaches that role only, without the
 * prefix; any other reaches both. librdkafka's log lines go to our log at debug level: what matters
 * comes as error events. -ING_FAIL_CONFIG, naming the key, for a property that is not key=value,
 * unknown, out of range, fixed, or whose file cannot be read. No message repeats what
 * a file holds. Caller owns *ret (rd_kafka_conf_destroy(), or give it to
 * rd_kafka_new()). */
int ing_kafka_settings_new(enum ing_kafka_role role, const char *brokers, const char *client_id,
	const struct ing_kafka_setting *settings, const struct ing_kafka_properties *properties,
	struct rd_kafka_conf_s **ret, struct ing_error *err) ING_MUST_CHECK;
