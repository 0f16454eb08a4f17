/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * About a hundred rules are tried on a page, and flags of one rule are added one after the other:
 * a list that is searched from its end is enough.
 */
#include "worker/model/rule_hits.h"

void ing_rule_hits_add(struct ing_rule_hits *hits, uint32_t rule, unsigned flags)
{
	size_t i = hits->count;
	while (i > 0 && hits->items[i - 1].rule != rule)
		i--;
	if (i > 0) {
		hits->items[i - 1].flags |= flags;
	} else if (hits->count < ING_MAX_RULE_HITS) {
		hits->items[hits->count++] = (struct ing_rule_hit){.rule = rule, .flags = flags};
	}
}
