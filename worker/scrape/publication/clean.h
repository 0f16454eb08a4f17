/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clean.h - the main content of a page without rules: navigation, footers and side matter are left
 * out.
 *
 * The tree is not changed: what is removed is a set of nodes to skip. Linear in the page. Pure; any
 * thread that owns the view.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/scrape/view.h"

/* Of a page's text, after which reading stops; books in one page have 4 MB. */
#define ING_CLEAN_MAX_TEXT_BYTES ((size_t)8 << 20)

/* What is kept of a page between two ways to clean it: for struct ing_view, in the arena. both: ing_clean_text() will
 * be asked for both of its texts, with the same ceiling, so that most of them is made once. */
struct ing_clean_page *ing_clean_page_new(struct ing_arena *ar, bool both);
/* Returns a bit for every node of the tree, in the view's arena, set for elements to skip.
 * publication: reference lists too. */
const uint64_t *ing_clean_mark(const struct ing_view *v, bool publication);
/* Append the longest description of the <meta> elements and the cleaned body, formatted, with an
 * empty line between them. */
void ing_clean_text(const struct ing_view *v, bool publication, struct ing_buf *out);
/* Returns the number of words, separated by white space, of the body's text before cleaning. */
uint32_t ing_clean_word_count(const struct ing_view *v);
