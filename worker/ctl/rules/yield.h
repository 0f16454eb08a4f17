/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules_yield.h - how often each rule was applied and found something, by the files rule-yield.json of
 * workers (worker/rules/rule_stats.h), over the last days. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define ING_CTL_YIELD_DAYS 30u

struct ing_ctl_yields; /* sums by name of the rule */

struct ing_ctl_yield {
	uint64_t applied, matched, failed, led;
};

struct ing_ctl_yields *ing_ctl_yields_new(void);
void ing_ctl_yields_free(struct ing_ctl_yields *y); /* NULL is fine */
/* Add the last `days` days (UTC, today included) of a file. False after a message on stderr. */
bool ing_ctl_yields_read(struct ing_ctl_yields *y, const char *path, unsigned days);
/* Of a rule, "journals.yaml plos title"; zeros when it was never counted. y may be NULL. */
struct ing_ctl_yield ing_ctl_yields_of(const struct ing_ctl_yields *y, const char *name);
/* Tab-separated, sorted by name: a line of column names, then one for each rule that was counted. */
void ing_ctl_yields_print(const struct ing_ctl_yields *y);
