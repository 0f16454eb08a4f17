/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_hits.h - which rules were tried on a page and what came of each, so that rules that no
 * longer match anything can be found.
 *
 * A rule is named by its number in the loaded set (ing_rules.names, worker/scrape/rules/). A rule
 * has an entry only if it is about the page: its URL filter, if any, matches, or (FAILED alone) a
 * regular expression on the URL met its limit. Plain data. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ing_rule_hit_flag {
	ING_RULE_APPLIED = 1, /* was tried */
	ING_RULE_MATCHED = 2, /* gave a value */
	ING_RULE_FAILED = 4,  /* met a limit: of a regular expression, or of the page's budget */
	ING_RULE_NEXT = 8,    /* gave the next URL that was followed */
	ING_RULE_ALL = 15,
};

struct ing_rule_hit {
	uint32_t rule;
	uint32_t flags; /* enum ing_rule_hit_flag bits */
};

#define ING_MAX_RULE_HITS 512 /* of a page; further rules are not recorded */

struct ing_rule_hits {
	struct ing_rule_hit items[ING_MAX_RULE_HITS];
	size_t count;
};

/* Add flags to the rule's entry, which is made if there is none yet. */
void ing_rule_hits_add(struct ing_rule_hits *hits, uint32_t rule, unsigned flags);
