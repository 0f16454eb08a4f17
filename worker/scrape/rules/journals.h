/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * journals.h - journals.yaml: which site a URL belongs to, and how that site's article pages are
 * read. PubFetcher's format; files written for it load as they are.
 *
 * Part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/rules/registry.h"

struct ing_rule_hits;

enum ing_journal_key { /* those whose value is a selector */
	ING_JOURNAL_PMID,
	ING_JOURNAL_PMCID,
	ING_JOURNAL_DOI,
	ING_JOURNAL_TITLE,
	ING_JOURNAL_SUBTITLE,
	ING_JOURNAL_KEYWORDS,
	ING_JOURNAL_KEYWORDS_SPLIT,
	ING_JOURNAL_ABSTRACT,
	ING_JOURNAL_FULLTEXT,
	ING_JOURNAL_FULLTEXT_A,
	ING_JOURNAL_PDF_A,
	ING_JOURNAL_CORRESP_AUTHOR_NAMES,
	ING_JOURNAL_CORRESP_AUTHOR_EMAILS,
	ING_JOURNAL_KEYS_
};

struct ing_journal_rule {
	const struct ing_selector *selector; /* NULL: no such key */
	const char *attr; /* ours: the value is this attribute instead of text (or href); NULL */
	unsigned parents; /* ours: that many steps up from what was found */
	uint32_t rule;    /* number, for rule_hits.h */
};

struct ing_journal_rewrite {         /* *_src and *_dst */
	const struct ing_regex *src; /* NULL: no such pair */
	const char *dst;             /* Java replacement, checked */
	uint32_t rule;
};

struct ing_journal_site {
	const char *name;
	struct ing_journal_rule keys[ING_JOURNAL_KEYS_];
	struct ing_journal_rewrite fulltext, pdf;
	const char *wait_until; /* a browser's selector; kept for whoever has one */
	uint32_t rule;          /* of the entry as a whole */
};

/* `first` of the journals files in the order of loading; merged and validated (1.2-1.7 of the
 * reference: four documents, or the three of older files; last match wins; override by key). */
struct ing_journals *ing_journals_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_journals_free(struct ing_journals *j);
/* The site of a page by its final URL, or NULL. A pattern that meets its limit does not match, and
 * is noted as its site's ING_RULE_FAILED unless hits is NULL. */
const struct ing_journal_site *ing_journals_site(
	const struct ing_journals *j, const char *url, struct ing_rule_hits *hits);
/* Is a URL one that only a browser with JavaScript can read; one for which the browser is to be
 * restarted? A pattern that meets its limit does not match. */
bool ing_journals_javascript(const struct ing_journals *j, const char *url);
bool ing_journals_restart(const struct ing_journals *j, const char *url);
size_t ing_journals_count(const struct ing_journals *j); /* sites */
size_t ing_journals_pattern_count(const struct ing_journals *j);
