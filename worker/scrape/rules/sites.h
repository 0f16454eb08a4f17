/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sites.h - sites.yaml: what has to be put together to get to a site's document: from the page's
 * address, JSON and scripts inside it, form fields. Asked when links.h found nothing.
 *
 * The table is part of struct ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/view.h"

struct ing_site_next {
	const char *url;       /* absolute http(s); NULL: none */
	bool is_pdf;           /* said to be the PDF; else another page on the way */
	const char *technique; /* the entry's name */
	const char *stage;     /* release_stage, or NULL */
	uint32_t rule;
};

struct ing_sites *ing_sites_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_sites_free(struct ing_sites *s);
size_t ing_sites_count(const struct ing_sites *s);

/* The first entry that is about this page and gives a URL other than the page's own. */
struct ing_site_next ing_sites_find(const struct ing_sites *s, const struct ing_view *v);
