/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * main_text.h - which nodes of a page are its main text: what a reader came for, without menus,
 * notices, share bars, recommendations, comments and reference lists.
 *
 * Owns a bitmap of the text nodes that are kept, and work memory; both are used again for the next
 * page. The tree is not changed. The cost is linear in the nodes of the page and the bytes of its
 * text, whatever its shape; nothing recurses. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/markup/tree.h"

struct ing_main_text;

struct ing_main_text *ing_main_text_new(void);
void ing_main_text_free(struct ing_main_text *m); /* NULL is fine */

/* What rules for the page's site have selected: the main text is in these elements, whatever the
 * page looks like. No hints (NULL or a count of 0): it is guessed. */
struct ing_main_text_hints {
	const ing_node *chosen; /* in document order */
	size_t chosen_count;
};

/* Decide for a page. t may be used and changed no more than by selectors until the next call. */
void ing_main_text_select(
	struct ing_main_text *m, struct ing_tree *t, const struct ing_main_text_hints *hints);
/* Whether a text node is main text. */
bool ing_main_text_keeps(const struct ing_main_text *m, ing_node text);
/* Returns the smallest element that has all that is kept; NONE when nothing is. */
ing_node ing_main_text_top(const struct ing_main_text *m);
/* The main text itself where no node of the page has it, but its description (articleBody): a paragraph
 * a line, borrowed until the next page. Nothing is kept then. Returns NULL on other pages. */
const char *ing_main_text_article(const struct ing_main_text *m, size_t *ret_bytes);
