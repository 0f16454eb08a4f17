/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_fill.h - private to html*.c: copies lexbor's tree to the flat one, at once or bit by bit.
 *
 * A filler stands at a place in lexbor's tree: what is before it is in the flat tree. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/markup/tree.h"

struct ing_html_filler;
struct lxb_dom_node;
struct lxb_html_document;

struct ing_html_filler *ing_html_filler_new(void);
void ing_html_filler_free(struct ing_html_filler *f); /* NULL is fine */

/* Stand at the beginning of the document; the flat tree is cleared. */
void ing_html_filler_start(
	struct ing_html_filler *f, struct lxb_html_document *doc, struct ing_tree *t);
/* Copy everything up to and with the last child of `last`, which is an open element without
 * siblings behind it or its ancestors. They stay open in the flat tree. False at the flat tree's
 * ceiling, where nothing more is copied, ever. */
bool ing_html_filler_go(struct ing_html_filler *f, struct lxb_dom_node *last);
/* The node `last` of before is now this one, without children, and <html> and <body> of the document
 * are these. */
void ing_html_filler_moved(struct ing_html_filler *f, const struct lxb_dom_node *last,
	const struct lxb_dom_node *html, const struct lxb_dom_node *body);
/* Copy the rest, close everything. */
void ing_html_filler_finish(struct ing_html_filler *f);
