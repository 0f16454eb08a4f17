/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clean.h - the main content of a page without rules: what is navigation, footer, side matter is
 * left out.
 *
 * The tree is not changed: what is cleaned away is a set of nodes to be skipped. Linear in the
 * page. Pure; any thread that owns the view.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/scrape/view.h"

/* Text of a page past which no more is read: books in one page have 4 MB. */
#define ING_CLEAN_MAX_TEXT_BYTES ((size_t)8 << 20)

/* A bit for every node of the tree, in the view's arena: set for elements to be skipped.
 * publication: reference lists go too. */
const uint64_t *ing_clean_mark(const struct ing_view *v, bool publication);
/* Description (the longest of the description metas) and the cleaned body, formatted, divided by an
 * empty line. */
void ing_clean_text(const struct ing_view *v, bool publication, struct ing_buf *out);
/* Words, divided by white space, of the whole body's text (text.h), cleaned or not. */
uint32_t ing_clean_word_count(const struct ing_view *v);
