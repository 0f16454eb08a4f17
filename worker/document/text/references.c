/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists of references, by their heading. They are dropped before the container is looked for, because
 * they may be longer than all else: on the landing page of an article than its abstract.
 */
#include "common/base/macros.h"
#include "worker/document/text/main_text_priv.h"
#include "worker/document/text/phrases.h"

#define HEADING_CHARS 40 /* at most */
#define SECTION_LEVELS 4 /* between a heading and the element that has what it heads */
#define ENOUGH_LEFT 200  /* characters of text; a page that has less is about its references */

static bool is_heading_of_references(struct ing_main_text *m, const struct ing_text_block *b)
{
	if (!ing_text_is_heading(b) || (b->mark & ING_MARK_DROPPED) || b->chars >= HEADING_CHARS ||
		ing_text_is_links(b->link_chars, b->chars))
		return false;
	ing_main_text_fold(m, b);
	return (ing_phrases_of(ing_buf_str(&m->folded), m->folded.len) & ING_PHRASE_REFERENCES) !=
	       0;
}

/* The block behind the section that the i-th one heads: it ends with the element that has more than
 * the heading, or at a heading of its level. */
static uint32_t end_of_section(const struct ing_main_text *m, uint32_t i)
{
	const struct ing_tree_node *nodes = m->tree->nodes;
	ing_node n = m->blocks[i].owner;
	uint32_t end = i + 1;
	for (int k = 0; k < SECTION_LEVELS && n != ING_NODE_NONE && end == i + 1; k++) {
		end = ING_MAX(end, m->before[nodes[n].end]);
		n = nodes[n].parent;
	}
	int level = ing_main_text_level(m, &m->blocks[i]);
	for (uint32_t j = i + 1; j < end; j++) {
		const struct ing_text_block *b = &m->blocks[j];
		if (ing_text_is_heading(b) && ing_main_text_level(m, b) <= level)
			return j;
	}
	return end;
}

static int64_t text_chars(const struct ing_main_text *m, uint32_t from, uint32_t to)
{
	int64_t chars = 0;
	for (uint32_t i = from; i < to; i++) {
		const struct ing_text_block *b = &m->blocks[i];
		if (!(b->mark & ING_MARK_DROPPED) && b->chars >= HEADING_CHARS)
			chars += (int64_t)b->chars - b->link_chars;
	}
	return chars;
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_drop_references(struct ing_main_text *m)
{
	int64_t left = text_chars(m, 0, m->block_count);
	for (uint32_t i = 0; i < m->block_count; i++) {
		if (!is_heading_of_references(m, &m->blocks[i]))
			continue;
		uint32_t end = end_of_section(m, i);
		int64_t chars = text_chars(m, i, end);
		if (left - chars >= ENOUGH_LEFT) {
			left -= chars;
			for (uint32_t j = i; j < end; j++)
				m->blocks[j].mark |= ING_MARK_DROPPED;
		}
		i = end - 1;
	}
}
