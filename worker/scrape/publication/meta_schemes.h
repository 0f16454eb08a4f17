/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * meta_schemes.h - the metadata schemes of <meta> elements that describe a publication: HighWire,
 * EPrints, bepress, Dublin Core, Open Graph, Twitter, and names without a scheme.
 *
 * Memory is in the view's arena. One thread.
 */
#pragma once
#include "worker/scrape/publication/corresponding_authors.h"
#include "worker/scrape/publication/fulltext_links.h"
#include "worker/scrape/publication/parts.h"
#include "worker/scrape/view.h"

/* What is known of a publication from one page. */
struct ing_publication_fields {
	struct ing_parts parts;
	struct ing_fulltext_links links;
	struct ing_authors authors;
	const char *journal_title; /* NULL: unknown */
	const char *pub_date;      /* YYYY-MM-DD; NULL: not known, or not to the day */
	const char *licence;       /* as the page says, a URL or words; NULL */
	bool oa;                   /* open access; false: unknown */
};

/* Returns the parts, a new reference: {"pmid": {"content","type"} … "keywords": {"list","type"} …
 * "abstract", "fulltext", "corresp_author": [{"name","orcid","email","phone","uri"}], "oa",
 * "preprint", "journal_title", "pub_date"}; absent parts are null. */
json_t *ing_publication_fields_json(const struct ing_publication_fields *fields);

/* Add what the page's <meta> elements say to `fields`, which may have values from the site's rules.
 * page_type is the type of the page: no value gets a better one. */
void ing_meta_schemes_read(const struct ing_view *v, enum ing_part_type page_type,
	enum ing_metas_use use, struct ing_publication_fields *fields);
