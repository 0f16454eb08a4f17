/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * meta.h - the <meta> elements of a page, read once, found by name.
 *
 * Names are compared without ASCII case. Belongs to the view; memory is in its arena. One thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/scrape/view.h"

enum ing_meta_key { /* the attribute with its name */
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
/* Returns the first element after `after` (NULL: of all) whose key is `lower`, or NULL. Names are
 * hashed: a loop that passes the last result as `after` costs as much as there are elements of the
 * name; with an element of another name as `after`, each call does. */
const struct ing_meta *ing_metas_find(const struct ing_view *v, const struct ing_meta *after,
	enum ing_meta_key key, const char *lower);
/* The same with name or property equal to `dotted`, in which '.' matches ':' too (dc.title,
 * DC:Title). */
const struct ing_meta *ing_metas_find_dotted(
	const struct ing_view *v, const struct ing_meta *after, const char *dotted);
