/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules.h - the whole set of scraping rules, loaded and checked at once.
 *
 * Owns: everything compiled from journals.yaml, webpages.yaml, links.yaml, sites.yaml and the
 * content signatures of walls.yaml, each in a table of its own (journals.h, webpages.h, links.h,
 * sites.h, wall_signatures.h) of struct ing_rules (registry.h). Immutable once loaded, any number of
 * threads. A new set replaces an old one whole; nothing is merged into a running one.
 */
#pragma once
#include "worker/scrape/rules/registry.h"

/* Load all that is in `files`. Errors and warnings go to the report, all of them; NULL when there
 * was an error. Free with ing_rules_free(). */
struct ing_rules *ing_rules_load(const struct ing_rule_files *files, struct ing_report *report);
void ing_rules_free(struct ing_rules *r); /* NULL is fine */
