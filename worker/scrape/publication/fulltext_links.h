/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fulltext_links.h - the links of a publication to its full texts, best type first.
 *
 * Two links are one if host, port, path and query are the same; the better type stays. Links to
 * doi.org lead back to where one came from and are ignored; PubMed, PMC and Europe PMC pages are
 * read by identifier, so that instead of their address the identifier in it is of use. Memory is
 * the arena's. One thread.
 */
#pragma once
#include "worker/scrape/publication/parts.h"

#define ING_MAX_FULLTEXT_LINKS 200

struct ing_fulltext_link {
	const char *url;
	const char *key; /* by which links are the same */
	enum ing_part_type type;
};

struct ing_fulltext_links {
	struct ing_fulltext_link items[ING_MAX_FULLTEXT_LINKS];
	size_t count;
};

/* url: absolute. Also may offer an identifier to ps. */
void ing_fulltext_links_add(struct ing_fulltext_links *links, struct ing_parts *ps, const char *url,
	enum ing_part_type type);
/* [{"url","type"}]. New reference. */
json_t *ing_fulltext_links_json(const struct ing_fulltext_links *links);
