/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules.h - all scraping rules, loaded and checked at once.
 *
 * Owns everything compiled from journals.yaml, webpages.yaml, links.yaml, sites.yaml and the
 * signatures of walls.yaml, each in a table of struct ing_rules (registry.h) with a header of its
 * own. Immutable once loaded: any thread. A new set replaces an old one as a whole.
 */
#pragma once
#include "worker/scrape/rules/registry.h"

/* Load all files. Errors and warnings go to the report. Returns NULL when there was an error. Free
 * with ing_rules_free(). */
struct ing_rules *ing_rules_load(const struct ing_rule_files *files, struct ing_report *report);
/* The same, with a warning for each regular expression that is slow (slow_patterns.h): takes a
 * second or more. */
struct ing_rules *ing_rules_load_thoroughly(
	const struct ing_rule_files *files, struct ing_report *report);
void ing_rules_free(struct ing_rules *r); /* NULL is fine */

/* Whether only a browser with JavaScript can read the page of a URL, by the list in journals.yaml; with
 * is_webpage also by its entry in webpages.yaml. Cheap enough for the loop thread. */
bool ing_rules_need_browser(const struct ing_rules *r, const char *url, bool is_webpage);
