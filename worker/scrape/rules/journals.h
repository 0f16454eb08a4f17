/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * journals.h - journals.yaml: which site a URL belongs to, and how article pages of that site are
 * read. PubFetcher's format; its files load unchanged.
 *
 * Part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/rules/registry.h"

struct ing_rule_hits;

enum ing_journal_key { /* keys whose value is a selector */
	ING_JOURNAL_PMID,
	ING_JOURNAL_PMCID,
	ING_JOURNAL_DOI,
	ING_JOURNAL_TITLE,
	ING_JOURNAL_SUBTITLE,
	ING_JOURNAL_KEYWORDS,
	ING_JOURNAL_KEYWORDS_SPLIT,
	ING_JOURNAL_MESH, /* ours */
	ING_JOURNAL_ABSTRACT,
	ING_JOURNAL_FULLTEXT,
	ING_JOURNAL_FULLTEXT_A,
	ING_JOURNAL_PDF_A,
	ING_JOURNAL_CORRESP_AUTHOR_NAMES,
	ING_JOURNAL_CORRESP_AUTHOR_EMAILS,
	ING_JOURNAL_KEYS_
};

#define ING_MAX_ALTERNATIVES 16 /* of a key; a site has had so many layouts at most */

struct ing_journal_rule {
	const struct ing_selector *selector; /* NULL: no such key */
	const char *attr; /* ours: this attribute instead of the text (or href); NULL */
	unsigned parents; /* ours: use the ancestor so many levels up */
	uint32_t rule;    /* its number (rule_hits.h) */
	const struct ing_journal_rule *otherwise; /* ours: when this one finds nothing; NULL */
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
	const char *wait_until; /* a selector for a browser; not used yet */
	uint32_t rule;          /* number of the entry */
};

/* Load the journals files in their order, merged: the last URL expression that matches counts, a
 * site that is defined again replaces the former one. Errors go to the report. */
struct ing_journals *ing_journals_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_journals_free(struct ing_journals *j);
/* Returns the site of a page by its final URL, or NULL. A pattern that meets its limit does not
 * match; its site gets ING_RULE_FAILED unless hits is NULL. */
const struct ing_journal_site *ing_journals_site(
	const struct ing_journals *j, const char *url, struct ing_rule_hits *hits);
/* Returns the site of that name, or NULL. */
const struct ing_journal_site *ing_journals_named(const struct ing_journals *j, const char *name);
/* Whether a URL needs a browser with JavaScript; whether the browser has to be restarted for it. A
 * pattern that meets its limit does not match. */
bool ing_journals_javascript(const struct ing_journals *j, const char *url);
bool ing_journals_restart(const struct ing_journals *j, const char *url);
size_t ing_journals_count(const struct ing_journals *j); /* sites */
size_t ing_journals_pattern_count(const struct ing_journals *j);
