/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * link.h - links of a page, as absolute URLs.
 *
 * Links are read by the WHATWG URL Standard against the page's first <base href> (itself read
 * against the page's address), or the address. Any thread that owns the tree.
 */
#pragma once
#include "common/markup/tree.h"

/* What links are relative to: the first <base> with an href that gives an absolute URL, else the
 * tree's url; NULL when neither is known. Borrowed until the tree is cleared. */
const char *ing_link_base(struct ing_tree *t);

/* Drop what stands around a link's value: white space, Unicode's too (a no-break space is no part
 * of an address), and control characters. */
void ing_link_trim(const char **s, size_t *bytes);
/* The absolute URL that a link's value means; ing_link_trim() first, and control characters within
 * are dropped; the fragment is kept. Whoever reads a value from a page gives it as it stands there:
 * cleaned before, "http:x" would be the address of a host x. Any scheme (mailto: too). Heap; NULL
 * when nothing absolute comes out; an empty value is the base itself. */
char *ing_link_resolve(struct ing_tree *t, const char *value, size_t bytes);
/* ing_link_resolve() of an attribute; NULL also without such an attribute. */
char *ing_link_of_attr(struct ing_tree *t, ing_node n, const char *name);
