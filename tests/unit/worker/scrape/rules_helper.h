/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules_helper.h - a rule file and a page, both given as text, for the tests of what rules find.
 *
 * Owns all that the rules and the view point to. One thread.
 */
#pragma once
#include "view_helper.h"
#include "worker/scrape/rules/rules.h"

struct rules_helper {
	struct ing_rule_files files;
	struct ing_report report;
	struct ing_rules *rules; /* NULL: the text is wrong, see report */
	struct ing_matcher *matcher;
	struct view_helper page;
	struct ing_view view;
};

void rules_helper_init(struct rules_helper *h);
void rules_helper_done(struct rules_helper *h);
/* Load rules from a text; what was loaded before is gone. False: there are errors. */
bool rules_helper_load(struct rules_helper *h, enum ing_rule_kind kind, const char *yaml);
/* Read a page, with a matcher; url may be NULL. */
const struct ing_view *rules_helper_read(
	struct rules_helper *h, const char *page, size_t bytes, const char *url);
/* What the rule of that name did on the page read last; 0: it is not noted. */
unsigned rules_helper_did(const struct rules_helper *h, const char *rule);
/* The report has an error at LINE:COLUMN that contains `words`. */
bool rules_helper_has_error(const struct rules_helper *h, int line, int column, const char *words);

struct rules_mistake {
	const char *yaml;
	int line, column;
	const char *words;
};
/* Every text is refused with an error at its place that holds its words; what is not is printed.
 * Number of those that are not. */
unsigned rules_helper_unsaid(struct rules_helper *h, enum ing_rule_kind kind,
	const struct rules_mistake *mistakes, size_t count);
