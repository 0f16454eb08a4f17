/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tier.h - the topics in which requests are parked until they are due (tier.def). Pure, any thread.
 */
#pragma once
#include <stdint.h>
#include "common/base/macros.h"
#include "worker/model/outputs.h"

enum ing_tier { /* shortest first */
#define TIER(NAME, name, delay_ms) ING_TIER_##NAME,
#include "worker/model/tier.def"
#undef TIER
	ING_TIERS_
};

#define ING_OUTPUT_OF_TIER(tier) ((enum ing_output)((int)ING_OUTPUT_PARKED_1M + (int)(tier)))

const char *ing_tier_name(enum ing_tier tier); /* "10m" */
uint64_t ing_tier_delay_ms(enum ing_tier tier);
/* The tier whose output it is, or -1. */
int ing_tier_of_output(enum ing_output output);
/* The longest tier that is over within wait_ms, or the shortest of all; when that is not in `usable`
 * (bits 1 << tier), the next shorter one that is. -1: none. */
int ing_tier_for(uint64_t wait_ms, unsigned usable);
/* configured: kafka.topics.parked_NAME; "auto" is the topic of requests followed by "-parked-NAME".
 * Returns a heap string, or NULL when the tier has no topic (configured is NULL or "") or an
 * automatic name would be longer than Kafka allows. */
char *ing_tier_topic_name(enum ing_tier tier, const char *configured, const char *requests);
