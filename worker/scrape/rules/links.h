/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links.h - where a page says that its document is: the <meta> links of scholarly search engines,
 * which hold on any site and need no rule, then the patterns of links.yaml in their order.
 *
 * The table is part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/model/kinds.h"
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/view.h"

struct ing_link {
	const char *url;       /* absolute http(s), at most ING_MAX_URL_BYTES; NULL: none */
	const char *technique; /* which signal or pattern: "citation_pdf_url", "embed" … */
	bool self;             /* it is the page's own address: there was nothing better */
	uint32_t rule;         /* of links.yaml; UINT32_MAX: a signal without rule */
};

struct ing_links *ing_links_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_links_free(struct ing_links *l);
size_t ing_links_count(const struct ing_links *l);

/* The best link of a kind; url in the view's arena. */
struct ing_link ing_links_find(
	const struct ing_links *l, const struct ing_view *v, enum ing_link_kind kind);
/* Links that are never followed: resolvers that lead back, frames, unfilled templates. */
bool ing_link_is_ignored(const char *url);
/* The address is the page's own, fragment aside. */
bool ing_link_is_self(const struct ing_view *v, const char *url);
