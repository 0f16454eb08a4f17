/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fulltext_links.h - links of a publication to its full texts, best type first.
 *
 * Two links are the same if host, port, path and query are; the better type is kept. Links to
 * doi.org are ignored, as they lead back; PubMed, PMC and Europe PMC pages give their identifier in
 * place of the link, but for a PDF that such a page itself offers. Memory is in the arena. One
 * thread.
 */
#pragma once
#include "worker/scrape/publication/parts.h"

#define ING_MAX_FULLTEXT_LINKS 200

struct ing_fulltext_link {
	const char *url;
	const char *key; /* host, port, path and query */
	enum ing_part_type type;
};

struct ing_fulltext_links {
	struct ing_fulltext_link items[ING_MAX_FULLTEXT_LINKS];
	size_t count;
};

/* Add an absolute URL, or the identifier in it to ps. */
void ing_fulltext_links_add(struct ing_fulltext_links *links, struct ing_parts *ps, const char *url,
	enum ing_part_type type);
/* Returns [{"url","type"}], a new reference. */
json_t *ing_fulltext_links_json(const struct ing_fulltext_links *links);
