/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extract.h - the values that a rule's selector picks out of a page: texts, formatted texts,
 * attributes, links.
 *
 * Notes what the rule did in the view's rule_hits. Values are in the view's arena, at most
 * ING_CLEAN_MAX_TEXT_BYTES a rule. A rule that meets a limit gives nothing. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/publication/parts.h"
#include "worker/scrape/view.h"
#include "worker/scrape/rules/webpages.h"

struct ing_extraction {
	const struct ing_selector *selector; /* NULL: nothing is extracted, nothing noted */
	const char *attr; /* the value is this attribute, instead of text or href; NULL */
	unsigned parents; /* that many steps up from what was found; each element counts once */
	uint32_t rule;    /* for rule_hits.h */
};

struct ing_extraction ing_extraction_of_journal(
	const struct ing_journal_site *site, enum ing_journal_key key);
struct ing_extraction ing_extraction_of_webpage(const struct ing_webpage_value *value);

enum ing_extract_style {
	ING_EXTRACT_TEXT,      /* text(), with written-out heading tags in it replaced */
	ING_EXTRACT_FORMATTED, /* lines and paragraphs kept */
	ING_EXTRACT_LINK,      /* absolute URL of href; an attribute named is resolved too */
	ING_EXTRACT_ADDRESS,   /* the same, but an attribute named is taken as it stands */
};

struct ing_extracted {
	const struct ing_text_value *items; /* none of them empty */
	size_t count;
};

/* Values of all elements, or (first) of the first element alone, if it has one. */
struct ing_extracted ing_extract(const struct ing_view *v, struct ing_extraction extraction,
	enum ing_extract_style style, bool first);
/* Values joined by `between`; "" when there are none. In the arena. */
struct ing_text_value ing_extracted_join(
	const struct ing_view *v, struct ing_extracted extracted, const char *between);
/* The page's <title>, white space folded; "" when it has none. In the arena. */
struct ing_text_value ing_extract_title(const struct ing_view *v);
