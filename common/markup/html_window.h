/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_window.h - private to html*.c: memory of lexbor's nodes is used again while the page is
 * still being read.
 *
 * Owns a second pool for nodes, which takes turns with the document's. One thread.
 */
#pragma once
#include <stddef.h>

struct ing_html_filler;
struct ing_html_window;
struct lxb_html_document;
struct lxb_html_tree;

/* As good as 192 and 400 KiB in time, and least in memory. */
#define ING_HTML_WINDOW_BYTES ((size_t)64 << 10)

struct ing_html_window *ing_html_window_new(struct lxb_html_document *doc);
void ing_html_window_free(struct ing_html_window *w); /* NULL is fine; before the document */
/* For tests. 0: at every token at which it can be done. */
void ing_html_window_set(struct ing_html_window *w, size_t bytes);

/* Before a token is built: when nodes take too much memory, and none but the open ones can change,
 * let f copy them to its tree, and drop them. */
void ing_html_window_look(
	struct ing_html_window *w, struct lxb_html_tree *tree, struct ing_html_filler *f);
