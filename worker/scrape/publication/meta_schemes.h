/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * meta_schemes.h - the families of <meta> elements that describe a publication: HighWire, EPrints,
 * bepress, Dublin Core, Open Graph, Twitter, and those without a name of their own.
 *
 * One thread; memory is the view's arena's.
 */
#pragma once
#include "worker/scrape/publication/corresponding_authors.h"
#include "worker/scrape/publication/fulltext_links.h"
#include "worker/scrape/publication/parts.h"
#include "worker/scrape/view.h"

/* What is gathered of one page. */
struct ing_publication_fields {
	struct ing_parts parts;
	struct ing_fulltext_links links;
	struct ing_authors authors;
	const char *journal_title; /* NULL: not known */
	const char *pub_date;      /* YYYY-MM-DD; NULL: not known, or not to the day */
	bool oa;                   /* surely open access; false: not known */
};

/* Offer what the page's <meta> elements say to what its site's rules gave. page_type: of the page;
 * nothing from it is of a better type. */
void ing_meta_schemes_read(const struct ing_view *v, enum ing_part_type page_type,
	struct ing_publication_fields *fields);
