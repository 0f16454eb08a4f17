/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tier.def as an array, and the names of topics.
 */
#include "worker/model/tier.h"

#include <stdio.h>
#include <string.h>

#define MAX_TOPIC_BYTES 249 /* of Kafka */

static const struct {
	const char *name;
	uint64_t delay_ms;
} tiers[ING_TIERS_] = {
#define TIER(NAME, name_, delay_ms_) [ING_TIER_##NAME] = {.name = #name_, .delay_ms = (delay_ms_)},
#include "worker/model/tier.def"
#undef TIER
};

#define TIER(NAME, name, delay_ms)                                                                 \
	_Static_assert(ING_OUTPUT_OF_TIER(ING_TIER_##NAME) == ING_OUTPUT_PARKED_##NAME, #name);
#include "worker/model/tier.def"
#undef TIER

/* -------------------------------------------------------------------------------------------- */

const char *ing_tier_name(enum ing_tier tier)
{
	ing_must((unsigned)tier < ING_TIERS_);
	return tiers[tier].name;
}

uint64_t ing_tier_delay_ms(enum ing_tier tier)
{
	ing_must((unsigned)tier < ING_TIERS_);
	return tiers[tier].delay_ms;
}

int ing_tier_of_output(enum ing_output output)
{
	int tier = (int)output - (int)ING_OUTPUT_PARKED_1M;
	return tier >= 0 && tier < ING_TIERS_ ? tier : -1;
}

int ing_tier_for(uint64_t wait_ms, unsigned usable)
{
	int best = -1;
	for (int i = 0; i < ING_TIERS_; i++) {
		if ((usable & (1u << i)) != 0 && (i == 0 || tiers[i].delay_ms <= wait_ms))
			best = i;
	}
	return best;
}

char *ing_tier_topic_name(enum ing_tier tier, const char *configured, const char *requests)
{
	if (configured == NULL || configured[0] == '\0')
		return NULL;
	if (strcmp(configured, "auto") != 0)
		return ing_strdup(configured);
	char topic[MAX_TOPIC_BYTES + 1];
	int n = snprintf(topic, sizeof(topic), "%s-parked-%s", requests, ing_tier_name(tier));
	return n > 0 && (size_t)n < sizeof(topic) ? ing_strdup(topic) : NULL;
}
