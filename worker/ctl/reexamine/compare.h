/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_compare.h - what today's rules make of an archived page, beside what became of the request that
 * met it. A line of JSON on stdout for each difference, and counts of them by rule and by host.
 *
 * The tables have the end of a request, not its way: a hit is known to have been led on by the page that it
 * began at, a failure ended at its last page. Thread: one.
 */
#pragma once
#include "common/data/json.h"

struct ing_findings;
struct ing_reexamine_compare;
struct ing_reexamine_document;
struct ing_ruleset;

/* rules: borrowed. */
struct ing_reexamine_compare *ing_reexamine_compare_new(const struct ing_ruleset *rules);
void ing_reexamine_compare_free(struct ing_reexamine_compare *c); /* NULL is fine */
/* Findings that ended with ING_EXAM_OK; their scope may be corrected (worker/job/hop.h). */
void ing_reexamine_compare(struct ing_reexamine_compare *c, const struct ing_reexamine_document *d,
	struct ing_findings *f);
/* {"same", "gained", "lost", "changed", "by_rule": [...], "by_host": [...]}, most differences first. New
 * reference. */
json_t *ing_reexamine_compare_json(struct ing_reexamine_compare *c);
