/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lane_topic.h - which topic a lane reads from, as the configuration says it. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"
#include "worker/model/lane.h"

/* The lane named "priority", "requests", "daily" or "bulk"; false for anything else. */
bool ing_lane_parse(const char *name, enum ing_lane *ret);
/* configured: kafka.topics.NAME of the lane; "auto" is that of requests with "-NAME" behind it. For
 * ING_LANE_REQUESTS it is `requests`, whatever is configured. Heap; NULL: the lane has none, also
 * when the name would be longer than Kafka takes. */
char *ing_lane_topic(enum ing_lane lane, const char *configured, const char *requests);
