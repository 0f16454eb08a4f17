/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_stats.h - what came of each scraping rule: how often it was tried, matched, failed at a
 * limit, and led to a document. A rule that is applied and never matches has rotted.
 *
 * Counts by name, so that a reload of the rules keeps the counters of those that stay. Examiners
 * report by number, and the number means something only within the set of rules that they have;
 * the set before the current one is remembered, for what is under way during a reload. Thread:
 * loop only.
 */
#pragma once
#include <stdint.h>
#include "common/base/buf.h"
#include "common/base/error.h"
#include "worker/model/rule_hits.h"

struct ing_rule_stats;

struct ing_rule_stats *ing_rule_stats_new(void);
void ing_rule_stats_free(struct ing_rule_stats *rs); /* NULL is fine */

/* The rules from now on. Names are copied; several rules of one name share its counters. Counters
 * of names that neither this set nor the one before has are dropped. */
void ing_rule_stats_set_rules(
	struct ing_rule_stats *rs, uint64_t digest, const char *const *names, size_t count);

/* What an examiner reported; numbers and digests that are not known are ignored. y NULL: so is
 * everything. */
void ing_rule_stats_add(
	struct ing_rule_stats *rs, uint64_t digest, const struct ing_rule_hit *hits, size_t count);
/* Name of a rule, borrowed until the next ing_rule_stats_set_rules(); NULL: not known. */
const char *ing_rule_stats_name(const struct ing_rule_stats *rs, uint64_t digest, uint32_t rule);
/* A request that followed this rule's link ended with a document. */
void ing_rule_stats_add_document(struct ing_rule_stats *rs, const char *name);

/* Append the counters of the current rules as one JSON object, sorted by name, a rule a line:
 * {"since": RFC 3339, "digest": 16 hex digits, "rules": {NAME: {"applied", "matched", "failed",
 * "led_to_document"}}}. */
void ing_rule_stats_json(const struct ing_rule_stats *rs, struct ing_buf *out);
/* The same into a file, which is replaced whole: a reader sees the old one or the new one. */
int ing_rule_stats_write(
	const char *json, size_t bytes, const char *path, struct ing_error *err) ING_MUST_CHECK;
