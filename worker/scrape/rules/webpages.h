/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * webpages.h - webpages.yaml: how the pages of a site that are not articles are read: title,
 * content, licence, language. PubFetcher's format.
 *
 * Part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/rules/registry.h"

struct ing_rule_hits;

enum ing_webpage_key {
	ING_WEBPAGE_TITLE,
	ING_WEBPAGE_CONTENT,
	ING_WEBPAGE_LICENSE,
	ING_WEBPAGE_LANGUAGE,
	ING_WEBPAGE_KEYS_
};

struct ing_webpage_value {
	bool given;                          /* the key is there */
	const struct ing_selector *selector; /* NULL: given as an empty text, the value is "" */
	const char *attr;                    /* ours: an attribute instead of text; NULL */
	unsigned parents;                    /* ours: steps up */
	uint32_t rule;
};

enum ing_javascript { ING_JS_DECIDE, ING_JS_NO, ING_JS_YES };

struct ing_webpage_rule {
	const char *pattern; /* as written; the rule's name */
	struct ing_webpage_value keys[ING_WEBPAGE_KEYS_];
	enum ing_javascript javascript;
	const char *wait_until;
	uint32_t rule;
};

struct ing_webpages *ing_webpages_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_webpages_free(struct ing_webpages *w);
/* Returns the last rule whose pattern matches, or NULL. A pattern that meets its limit does not
 * match; its rule gets ING_RULE_FAILED unless hits is NULL. */
const struct ing_webpage_rule *ing_webpages_find(
	const struct ing_webpages *w, const char *url, struct ing_rule_hits *hits);
size_t ing_webpages_count(const struct ing_webpages *w);
