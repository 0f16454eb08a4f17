/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sites.h - sites.yaml: document URLs that no link gives and that are built from the page's URL,
 * from JSON and scripts inside it, and from form fields. Used when links.h finds nothing.
 *
 * The table is part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/view.h"

struct ing_site_next {
	const char *url; /* absolute http(s); NULL: none */
	bool is_pdf;     /* expected to be the PDF; otherwise the next page on the way to it */
	const char *technique; /* the entry's name */
	const char *stage;     /* release_stage, or NULL */
	uint32_t rule;
};

struct ing_sites *ing_sites_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_sites_free(struct ing_sites *s);
size_t ing_sites_count(const struct ing_sites *s);

/* Returns the URL of the first entry whose filter matches the page and which gives a URL other than
 * the page's own; url is NULL when there is none. */
struct ing_site_next ing_sites_find(const struct ing_sites *s, const struct ing_view *v);
