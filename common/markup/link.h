/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * link.h - links of a page as absolute URLs.
 *
 * Links are resolved by the WHATWG URL Standard against the page's first <base href> (itself
 * resolved against the page's URL), or the page's URL. Any thread that owns the tree.
 */
#pragma once
#include "common/markup/tree.h"

/* Returns the base URL: the first <base> with an href that gives an absolute URL, else the tree's
 * url; NULL when neither is known. Borrowed until the tree is cleared. */
const char *ing_link_base(struct ing_tree *t);

/* Trim white space (Unicode's) and control characters from a link's value. */
void ing_link_trim(const char **s, size_t *bytes);
/* Returns the absolute URL of a link's value, on the heap, or NULL when it gives none. The value is
 * trimmed by ing_link_trim(), control characters inside it are dropped, the fragment is kept. Pass
 * values as they are in the page: resolved twice, "http:x" would be the URL of a host x. Any scheme
 * (mailto: too); an empty value gives the base URL. */
char *ing_link_resolve(struct ing_tree *t, const char *value, size_t bytes);
/* The same of an attribute; NULL also without such an attribute. */
char *ing_link_of_attr(struct ing_tree *t, ing_node n, const char *name);
