/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_stats.h - statistics of scraping rules: how often each was tried, matched, failed at a
 * limit, and led to a document.
 *
 * Counters are kept by name, so that a reload keeps those of the rules that stay. Examiners report
 * rules by number, which is valid only within their set of rules; the previous set is kept for
 * pages that were under way during a reload. Thread: loop only.
 */
#pragma once
#include <stdint.h>
#include "common/base/buf.h"
#include "common/base/error.h"
#include "worker/model/rule_hits.h"

struct ing_rule_stats;

#define ING_RULE_STATS_DAYS 30

struct ing_rule_stats *ing_rule_stats_new(void);
void ing_rule_stats_free(struct ing_rule_stats *rs); /* NULL is fine */

/* The rules from now on. Names are copied; several rules of one name share its counters. Counters
 * of names that neither this set nor the one before has are dropped. */
void ing_rule_stats_set_rules(
	struct ing_rule_stats *rs, uint64_t digest, const char *const *names, size_t count);

/* Add what an examiner reported. Unknown numbers and digests are ignored. rs may be NULL. */
void ing_rule_stats_add(
	struct ing_rule_stats *rs, uint64_t digest, const struct ing_rule_hit *hits, size_t count);
/* Name of a rule, borrowed until the next ing_rule_stats_set_rules(); NULL: not known. */
const char *ing_rule_stats_name(const struct ing_rule_stats *rs, uint64_t digest, uint32_t rule);
/* Count a document for the rule whose link led to it. An unknown name is ignored; rs may be NULL.
 */
void ing_rule_stats_add_document(struct ing_rule_stats *rs, const char *name);

/* Append the counters of the current rules as one JSON object, sorted by name, a rule a line:
 * {"since": RFC 3339, "digest": 16 hex digits, "rules": {NAME: {"applied", "matched", "failed",
 * "led_to_document"}}, "days": {YYYY-MM-DD: {NAME: [applied, matched, failed, led to document]}}}: since
 * the process began, and of each of the last ING_RULE_STATS_DAYS days (UTC), rules that were counted. */
void ing_rule_stats_json(const struct ing_rule_stats *rs, struct ing_buf *out);
/* Take over the days of such a text, of a process before; for names that the current rules have, in
 * place of what was counted. Returns 0, or -SYNTAX and takes nothing. */
int ing_rule_stats_load(struct ing_rule_stats *rs, const char *json, size_t bytes,
	struct ing_error *err) ING_MUST_CHECK;
