/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * meta.h - the <meta> elements of a page, read once, found by name.
 *
 * Names are compared without ASCII case. Owned by the view's page (memory in its arena). One
 * thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/scrape/view.h"

enum ing_meta_key { /* the attribute that names it */
	ING_META_NAME,
	ING_META_PROPERTY,
	ING_META_ITEMPROP,
	ING_META_ID,
	ING_META_HTTP_EQUIV,
};

struct ing_meta {
	const struct ing_meta *next; /* in document order */
	ing_node node;
	const char *name, *property, *itemprop, *id, *http_equiv; /* lower case, trimmed; NULL */
	const char *scheme;                                       /* lower case; NULL */
	const char *content;                                      /* as written; NULL without */
	size_t content_bytes;
};

/* Fills v->metas. */
void ing_metas_read(struct ing_view *v);
const struct ing_meta *ing_metas_first(const struct ing_view *v);
/* The first one behind `after` (NULL: of all) whose key is `lower`. Names are hashed: a look costs
 * nothing of the page's size, and a loop that passes on what it got costs what there is of the
 * name; with an element of another name as `after` it costs as much each time. */
const struct ing_meta *ing_metas_find(const struct ing_view *v, const struct ing_meta *after,
	enum ing_meta_key key, const char *lower);
/* name or property equals `dotted`, each '.' of which stands for '.' or ':' (PubFetcher's reading:
 * dc.title, DC:Title). */
const struct ing_meta *ing_metas_find_dotted(
	const struct ing_view *v, const struct ing_meta *after, const char *dotted);
