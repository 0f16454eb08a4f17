/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lanes by name, and the names of their topics.
 */
#include "worker/intake/lane_names.h"

#include <stdio.h>
#include <string.h>

#define MAX_TOPIC_BYTES 249 /* of Kafka */

/* -------------------------------------------------------------------------------------------- */

bool ing_lane_from_name(const char *name, enum ing_lane *ret)
{
	for (int i = 0; i < ING_LANES_; i++) {
		if (strcmp(ing_lane_name((enum ing_lane)i), name) != 0)
			continue;
		*ret = (enum ing_lane)i;
		return true;
	}
	return false;
}

char *ing_lane_topic_name(enum ing_lane lane, const char *const configured[ING_LANES_])
{
	const char *name = configured[lane];
	if (name == NULL || name[0] == '\0')
		return NULL;
	if (lane == ING_LANE_REQUESTS || strcmp(name, "auto") != 0)
		return ing_strdup(name);
	char topic[MAX_TOPIC_BYTES + 1];
	int n = snprintf(
		topic, sizeof(topic), "%s-%s", configured[ING_LANE_REQUESTS], ing_lane_name(lane));
	return n > 0 && (size_t)n < sizeof(topic) ? ing_strdup(topic) : NULL;
}
