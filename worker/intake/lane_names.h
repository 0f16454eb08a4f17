/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lane_names.h - the names of lanes and of their topics. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"
#include "worker/model/lane.h"

/* "priority", "requests", "daily" or "bulk". Returns false for anything else. */
bool ing_lane_from_name(const char *name, enum ing_lane *ret);
/* configured: ing_kafka_settings.lane_topics, by lane; NULL and "" mean that the lane has no topic,
 * "auto" is the topic of requests followed by "-NAME". Returns a heap string, or NULL when the lane has
 * no topic or an automatic name would be longer than Kafka allows. */
char *ing_lane_topic_name(enum ing_lane lane, const char *const configured[ING_LANES_]);
