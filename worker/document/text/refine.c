/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Last pass: which blocks of the container are main text, and what of a lead
 * stands before it. One step an idea, in the order of ing_main_text_refine();
 * what needs neighbours is in refine_ends.c.
 */
#include "worker/document/text/refine.h"

#include <strings.h>

#include "common/base/macros.h"
#include "worker/document/text/phrases.h"

/* How far an element is looked for around a block. */
#define LIST_LEVELS 12
#define CAPTION_LEVELS 4
#define CAPTION_NAME_LEVELS 2

#define CAPTION_CHARS 500 /* a longer one is text */
#define PHRASE_CHARS 120  /* so is a longer block, however it begins */
#define ASIDE_CHARS 40
#define HEADING_CHARS 60 /* of an end, when it is a sentence */

/* --- links --- */

/* Whether the list or the table that a block is in has more than links. */
static bool in_mixed_list(const struct ing_main_text *m, const struct ing_text_block *b)
{
	const struct ing_tree_node *nodes = m->tree->nodes;
	ing_node n = b->owner;
	for (int i = 0; i < LIST_LEVELS && n != ING_NODE_NONE; i++, n = nodes[n].parent) {
		if (!(m->marks[n] & (ING_KIND_LIST | ING_KIND_TABLE)))
			continue;
		const struct ing_text_sum *from = &m->sums[m->before[n]];
		const struct ing_text_sum *to = &m->sums[m->before[nodes[n].end]];
		return to->link_chars - from->link_chars < (to->chars - from->chars) / 2;
	}
	return false;
}

static void drop_links(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		bool item = (b->mark & (ING_MARK_ITEM | ING_MARK_CELL)) != 0;
		if (b->why == ING_VERDICT_KEPT && !ing_text_is_heading(b) &&
			ing_text_is_links(b->link_chars, b->chars) &&
			!(item && in_mixed_list(m, b)))
			b->why = ING_VERDICT_LINKS;
	}
}

/* --- the title, which the record has --- */

static void drop_title(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why != ING_VERDICT_KEPT)
			continue;
		if (ing_text_is_paragraph(b))
			return;
		if (ing_main_text_is_title(m, b))
			b->why = ING_VERDICT_TITLE;
	}
}

/* --- captions --- */

/* Whether the page has a record as scholarly pages have it. */
static bool is_scholarly(const struct ing_tree *t)
{
	static const char prefix[] = "citation_";
	ing_node n = ING_NODE_DOCUMENT;
	while ((n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "meta")) != ING_NODE_NONE) {
		const char *name = ing_tree_attr(t, n, "name", NULL);
		if (name != NULL && strncasecmp(name, prefix, sizeof(prefix) - 1) == 0)
			return true;
	}
	return false;
}

/* "fig. 2", "abbildung 4:", "表1": the caption of a numbered figure or table.
 */
static bool is_numbered(const char *s, size_t bytes)
{
	size_t i = 0;
	while (i < bytes && i < 24 && ((s[i] >= 'a' && s[i] <= 'z') || (s[i] & 0x80)))
		i++;
	size_t word = i;
	while (i < bytes && (s[i] == '.' || s[i] == ' '))
		i++;
	return word > 0 && i < bytes && s[i] >= '0' && s[i] <= '9';
}

/* Captions of figures are text, those of the pictures of news are not. */
static void drop_captions(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	if (is_scholarly(m->tree))
		return;
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why != ING_VERDICT_KEPT || b->chars > CAPTION_CHARS ||
			!ing_refine_in_caption(m, b))
			continue;
		ing_main_text_fold(m, b);
		if (!is_numbered(ing_buf_str(&m->folded), m->folded.len))
			b->why = ING_VERDICT_PHRASE;
	}
}

/* --- phrases --- */

static unsigned phrase_of(struct ing_main_text *m, const struct ing_text_block *b)
{
	ing_main_text_fold(m, b);
	unsigned kinds = ing_phrases_of(ing_buf_str(&m->folded), m->folded.len);
	if ((kinds & ING_PHRASE_END) && (b->chars <= HEADING_CHARS || !b->ended))
		return ING_PHRASE_END;
	if ((kinds & ING_PHRASE_CREDIT) && !ing_text_is_heading(b))
		return ING_PHRASE_CREDIT;
	if ((kinds & ING_PHRASE_ASIDE) && b->chars <= ASIDE_CHARS)
		return ING_PHRASE_ASIDE;
	return 0;
}

static void read_phrases(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why == ING_VERDICT_KEPT && b->chars <= PHRASE_CHARS)
			b->phrase = (uint8_t)phrase_of(m, b);
	}
}

/* --- nothing left --- */

/* A page of a few words: all of it, but the title when there is more. */
static void keep_few_words(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (m->blocks[i].why == ING_VERDICT_KEPT)
			return;
	}
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why != ING_VERDICT_NAMED && b->why != ING_VERDICT_TITLE)
			b->why = ING_VERDICT_KEPT;
	}
}

/* -------------------------------------------------------------------------------------------- */

bool ing_refine_in_caption(const struct ing_main_text *m, const struct ing_text_block *b)
{
	ing_node n = b->owner;
	for (int i = 0; i < CAPTION_LEVELS && n != ING_NODE_NONE; i++) {
		if ((m->marks[n] & ING_KIND_CAPTION) != 0 ||
			((m->words[n] & ING_WORD_CAPTION) != 0 && i < CAPTION_NAME_LEVELS))
			return true;
		n = m->tree->nodes[n].parent;
	}
	return false;
}

void ing_main_text_refine(struct ing_main_text *m, ing_node container)
{
	uint32_t from = m->before[container];
	uint32_t to = m->before[m->tree->nodes[container].end];
	for (uint32_t i = from; i < to; i++) {
		if (m->blocks[i].why == ING_VERDICT_OUTSIDE)
			m->blocks[i].why = ING_VERDICT_KEPT;
	}
	drop_links(m, from, to);
	drop_title(m, from, to);
	drop_captions(m, from, to);
	read_phrases(m, from, to);
	ing_refine_cut_end(m, from, to);
	ing_refine_trim_lead(m, from, to);
	ing_refine_trim_tail(m, from, to);
	ing_refine_drop_headings(m, from, to);
	keep_few_words(m, from, to);
	ing_refine_keep_lead(m, from);
}
