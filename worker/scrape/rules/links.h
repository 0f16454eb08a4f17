/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links.h - the link to the document that a page gives: <meta> links as scholarly search engines
 * read them, which need no rule, then the patterns of links.yaml in their order.
 *
 * The table is part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/model/kinds.h"
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/view.h"

struct ing_link {
	const char *url;       /* absolute http(s), at most ING_MAX_URL_BYTES; NULL: none */
	const char *technique; /* the <meta> or pattern it is from: "citation_pdf_url", "embed" … */
	bool self;             /* it is the page's own URL, and no other link was found */
	uint32_t rule;         /* of links.yaml; UINT32_MAX: a <meta> link */
};

struct ing_links *ing_links_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_links_free(struct ing_links *l);
size_t ing_links_count(const struct ing_links *l);

/* Returns the best link of a kind, its url in the view's arena; url is NULL when there is none. */
struct ing_link ing_links_find(
	const struct ing_links *l, const struct ing_view *v, enum ing_link_kind kind);
/* Whether a link is never followed: DOI resolvers, frames around a PDF, unfilled templates. */
bool ing_link_is_ignored(const char *url);
/* Whether a URL is the page's own, except for the fragment. */
bool ing_link_is_self(const struct ing_view *v, const char *url);
