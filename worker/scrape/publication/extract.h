/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extract.h - the values that a rule's selector gives: text, formatted text, attributes, links.
 *
 * Adds to the view's rule_hits. Values are in the view's arena, at most ING_CLEAN_MAX_TEXT_BYTES
 * for a rule. A rule that meets a limit gives nothing. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/publication/parts.h"
#include "worker/scrape/view.h"
#include "worker/scrape/rules/webpages.h"

struct ing_extraction {
	const struct ing_selector *selector; /* NULL: no values, no rule hit */
	const char *attr;                    /* this attribute instead of the text or href; NULL */
	unsigned parents;                    /* use the ancestor so many levels up, each once */
	uint32_t rule;                       /* for rule_hits.h */
	const struct ing_journal_rule *otherwise; /* when there are no values; NULL */
};

struct ing_extraction ing_extraction_of_journal(
	const struct ing_journal_site *site, enum ing_journal_key key);
struct ing_extraction ing_extraction_of_webpage(const struct ing_webpage_value *value);

enum ing_extract_style {
	ING_EXTRACT_TEXT,      /* ing_text(), with heading tags written as text replaced */
	ING_EXTRACT_FORMATTED, /* with lines and paragraphs */
	ING_EXTRACT_LINK,      /* absolute URL of href or `attr` */
	ING_EXTRACT_ADDRESS,   /* absolute URL of href; `attr` unchanged */
};

struct ing_extracted {
	const struct ing_text_value *items; /* none of them empty */
	size_t count;
	unsigned alternative; /* that gave them: 0 is the first */
};

/* Returns the values of all elements that match, or (first) of the first one only. */
struct ing_extracted ing_extract(const struct ing_view *v, struct ing_extraction extraction,
	enum ing_extract_style style, bool first);
/* Returns the elements that match themselves, in document order and in the arena; none when a limit
 * is met. Pseudo elements are left out. No rule hit. */
const ing_node *ing_extract_nodes(
	const struct ing_view *v, struct ing_extraction extraction, size_t *ret_count);
/* Returns the values joined by `between`, in the arena; "" when there are none. */
struct ing_text_value ing_extracted_join(
	const struct ing_view *v, struct ing_extracted extracted, const char *between);
/* Returns the page's <title>, white space folded, in the arena; "" when it has none. */
struct ing_text_value ing_extract_title(const struct ing_view *v);
