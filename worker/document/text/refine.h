/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * refine.h - the steps of the last pass over the blocks [from, to) of the container that look at what
 * stands before and behind a block.
 */
#pragma once
#include "worker/document/text/main_text_priv.h"

#define ING_PARAGRAPH_CHARS 100
#define ING_SENTENCE_CHARS 50

/* A block that nobody writes but as part of a text. */
static inline bool ing_text_is_paragraph(const struct ing_text_block *b)
{
	if (ing_text_is_heading(b) || b->link_chars * 2 > b->chars)
		return false;
	return b->chars >= ING_PARAGRAPH_CHARS || (b->chars >= ING_SENTENCE_CHARS && b->ended) ||
	       (b->mark & (ING_MARK_PRE | ING_MARK_QUOTE)) != 0;
}

/* Whether a block is in a caption, by its element or its name. */
bool ing_refine_in_caption(const struct ing_main_text *m, const struct ing_text_block *b);
/* Drop what begins with a phrase, and behind a heading of what follows an article all, if it is the
 * lesser part; before that such a heading may be one of the text. */
void ing_refine_cut_end(struct ing_main_text *m, uint32_t from, uint32_t to);
/* Drop bylines and dates before the first paragraph; lines and calls behind the last one. */
void ing_refine_trim_lead(struct ing_main_text *m, uint32_t from, uint32_t to);
void ing_refine_trim_tail(struct ing_main_text *m, uint32_t from, uint32_t to);
/* Drop headings that no text follows before the next one of their level. */
void ing_refine_drop_headings(struct ing_main_text *m, uint32_t from, uint32_t to);
/* Keep paragraphs between the headline and the container. */
void ing_refine_keep_lead(struct ing_main_text *m, uint32_t from);
