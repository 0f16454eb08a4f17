/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * link_identity.h - whether a link says by its URL that it leads to another document than its page is
 * about. Pages list related articles, the rest of their issue, the chapters of their book, each with
 * its PDF. Pure functions; memory is the view's. One thread.
 */
#pragma once
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/view.h"

/* Whether page and link have DOIs that differ: the page in its URL or else in citation_doi, the link
 * in its URL. File endings, versions and what follows a DOI in a path do not count. */
bool ing_link_has_another_doi(const struct ing_view *v, const char *link);
/* Whether both are numbers in the same folder, as articles of a volume are, and differ. */
bool ing_link_has_another_number(const struct ing_view *v, const char *link);
/* Whether the expression's group "id" is found in the page's URL and in the link (both in lower case,
 * percent-escapes decoded), and is the same text. *failed is set when the expression met its limit. */
bool ing_link_has_same(
	const struct ing_view *v, const char *link, const struct ing_regex *same, bool *failed);
