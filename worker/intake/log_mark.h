/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log_mark.h - reads one message of a log, to see whether the log is the one that was read before.
 * Blocks for up to 4 s, so never on the loop: libuv's pool.
 */
#pragma once
#include <librdkafka/rdkafka.h>
#include "worker/intake/position_check.h"

/* Opens a consumer of its own, with the settings of rk, outside of the group. */
enum ing_mark_state ing_log_mark_find(
	rd_kafka_t *rk, const char *topic, int32_t partition, const struct ing_log_mark *mark);
