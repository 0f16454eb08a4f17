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
/* The topic of a lane. configured: ing_kafka_settings.lane_topics; NULL is "". Heap; NULL when the
 * lane has none, also when an automatic name would be longer than Kafka takes. */
char *ing_lane_topic(enum ing_lane lane, const char *const configured[ING_LANES_]);
