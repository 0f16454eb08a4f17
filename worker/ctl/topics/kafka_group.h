/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_group.h - how many messages of a topic a consumer group has not committed yet, and a group's position with its metadata.
 * Joins no group. Calls block for up to their time limit. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"

struct ing_conf;
struct ing_group;

/* stable: positions that a transaction is about to commit are waited for. -ING_FAIL_CONFIG. Asks no broker. */
int ing_group_open(const char *verb, const char *brokers, const struct ing_conf *conf,
	const char *group, bool stable, struct ing_group **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_group_close(struct ing_group *g); /* NULL is fine */

#define ING_GROUP_METADATA_BYTES 4097
struct ing_group_position {
	int64_t offset; /* -1: there is none */
	char metadata[ING_GROUP_METADATA_BYTES];
};
/* -ING_FAIL_UNAVAILABLE. */
int ing_group_position(struct ing_group *g, const char *topic, int32_t partition,
	struct ing_group_position *ret, struct ing_error *err) ING_MUST_CHECK;
/* Of partitions 0 to partitions - 1; from the first message where the group has
 * no position. -ING_FAIL_UNAVAILABLE. */
int ing_group_lag(struct ing_group *g, const char *topic, int partitions, uint64_t *ret,
	struct ing_error *err) ING_MUST_CHECK;
/* The ends of the partitions, added up: 0: nothing has ever been in the topic. -ING_FAIL_UNAVAILABLE. */
int ing_group_topic_ends(struct ing_group *g, const char *topic, int partitions, uint64_t *ret,
	struct ing_error *err) ING_MUST_CHECK;
