/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists of properties.
 */
#include "common/kafka/properties.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"

/* Those that librdkafka calls sensitive, and the one that holds a secret among other words. */
static const char *const secret_keys[] = {"sasl.password", "sasl.oauthbearer.client.secret",
	"sasl.oauthbearer.config", "ssl.key.password", "ssl.key.pem", "ssl.keystore.password"};

static const char *const roles[] = {"consumer.", "producer."};

static char *const *copy_list(char *const *from)
{
	size_t count = 0;
	while (from != NULL && from[count] != NULL)
		count++;
	char **to = ing_alloc((count + 1) * sizeof(*to));
	for (size_t i = 0; i < count; i++)
		to[i] = ing_strdup(from[i]);
	return to;
}

static void free_list(char *const *list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free((void *)(uintptr_t)list);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_kafka_properties ing_kafka_properties_copy(const struct ing_kafka_properties *from)
{
	const char *file = from->password_file != NULL ? from->password_file : "";
	return (struct ing_kafka_properties){.values = copy_list(from->values),
		.files = copy_list(from->files),
		.password_file = ing_strdup(file)};
}

void ing_kafka_properties_done(struct ing_kafka_properties *p)
{
	free_list(p->values);
	free_list(p->files);
	free((void *)(uintptr_t)p->password_file);
	*p = (struct ing_kafka_properties){0};
}

bool ing_kafka_property_is_secret(const char *property)
{
	size_t bytes = strcspn(property, "=");
	for (size_t i = 0; i < ING_ARRAY_LEN(roles); i++) {
		size_t role = strlen(roles[i]);
		if (bytes > role && strncmp(property, roles[i], role) == 0) {
			property += role;
			bytes -= role;
			break;
		}
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(secret_keys); i++)
		if (bytes == strlen(secret_keys[i]) &&
			strncasecmp(property, secret_keys[i], bytes) == 0)
			return true;
	return false;
}
