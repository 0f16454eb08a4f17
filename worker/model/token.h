/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * token.h - where a message came from, as intake counts: what is finished by it is never read
 * again. Plain data, copied by value; opaque to everyone but intake.
 */
#pragma once
#include <stdint.h>

struct ing_token {
	int32_t partition_index; /* index into intake's own table of partitions */
	uint32_t epoch;          /* of the partition's assignment; never 0 */
	int64_t offset;          /* Kafka offset, or line number (1-based) */
};
