/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elements whose names, roles or styles say that they are no main text: menus, share bars,
 * recommendations, comments, notices, what is hidden. Names mislead now and then, so an element that
 * has most of what looks like text stays. What names are surest about goes first: then less is left
 * for an article to be most of.
 */
#include "common/base/macros.h"
#include "worker/document/text/main_text_priv.h"

#define SURE (ING_WORD_INVISIBLE | ING_WORD_COMMENT | ING_WORD_NAV | ING_WORD_SHARE)
#define UNSURE                                                                                     \
	(ING_WORD_RELATED | ING_WORD_AD | ING_WORD_NOTICE | ING_WORD_META | ING_WORD_CHROME |      \
		ING_WORD_WIDGET | ING_WORD_CREDIT | ING_WORD_HIDDEN | ING_WORD_REFERENCES |        \
		ING_WORD_GALLERY | ING_WORD_AUTHOR | ING_WORD_TEASER)

/* An element with so many tenths of the text is kept: of what only authors and teasers have, of most
 * names, of the hidden, of comments, of whole names of sidebars; if it has the first <h1>. */
#define TENTHS_SMALL 2
#define TENTHS 4
#define TENTHS_INVISIBLE 6
#define TENTHS_HIDDEN 8 /* of all elements with such a word */
#define TENTHS_COMMENTS 8
#define TENTHS_STRONG 9
#define TENTHS_WITH_H1 3

/* Comments and galleries may be longer than the text; if so much is left they go. */
#define ENOUGH_LEFT 1500

struct page {
	struct ing_main_text *m;
	ing_node h1;   /* or NONE */
	int64_t total; /* value of what is not dropped yet */
};

/* Characters of what looks like sentences; part of them for short texts. */
static int32_t value_of(const struct ing_text_block *b)
{
	int32_t text = (int32_t)(b->chars - b->link_chars);
	if ((b->mark & ING_MARK_DROPPED) || b->link_chars * 2 > b->chars)
		return 0;
	return b->chars >= 80 || (b->ended && b->chars >= 40) ? text : text / 4;
}

static int64_t most_tenths(uint32_t words)
{
	if (words & ING_WORD_STRONG)
		return TENTHS_STRONG;
	if (words & ING_WORD_COMMENT)
		return TENTHS_COMMENTS;
	if (words & (ING_WORD_AUTHOR | ING_WORD_TEASER))
		return TENTHS_SMALL;
	return words & ING_WORD_INVISIBLE ? TENTHS_INVISIBLE : TENTHS;
}

/* Whether an element with these of its words is dropped. */
static bool is_boilerplate(const struct page *p, ing_node n, uint32_t words)
{
	const struct ing_main_text *m = p->m;
	ing_node end = m->tree->nodes[n].end;
	if ((m->marks[n] & ING_KIND_SEMANTIC) && !(words & (ING_WORD_COMMENT | ING_WORD_RELATED)))
		return false;
	if (words == ING_WORD_TEASER &&
		m->sums[m->before[end]].link_chars == m->sums[m->before[n]].link_chars)
		return false; /* a lead */
	int64_t share = ing_main_text_value(m, n);
	int64_t tenths = most_tenths(words | (m->words[n] & ING_WORD_STRONG));
	if (p->h1 != ING_NODE_NONE && ing_tree_contains(m->tree, n, p->h1))
		return share * 10 <= p->total * ING_MIN(tenths, TENTHS_WITH_H1);
	if ((words & (ING_WORD_COMMENT | ING_WORD_GALLERY)) && p->total - share > ENOUGH_LEFT)
		return true;
	return share * 10 <= p->total * tenths;
}

/* Of these words those whose elements have most of the text: a script shows it part by part. */
static uint32_t words_of_most(const struct page *p)
{
	static const uint32_t shown[] = {ING_WORD_INVISIBLE, ING_WORD_HIDDEN, ING_WORD_GALLERY};
	const struct ing_main_text *m = p->m;
	const struct ing_tree *t = m->tree;
	uint32_t words = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(shown); i++) {
		int64_t hidden = 0;
		for (ing_node n = 0; n < t->count; n++) {
			if (!(m->words[n] & shown[i]))
				continue;
			hidden += ing_main_text_value(m, n);
			n = t->nodes[n].end - 1;
		}
		if (hidden * 10 > p->total * TENTHS_HIDDEN)
			words |= shown[i];
	}
	return words;
}

static void drop(struct page *p, uint32_t names, uint32_t kinds)
{
	struct ing_main_text *m = p->m;
	const struct ing_tree *t = m->tree;
	for (uint32_t i = 0; i < m->block_count; i++)
		m->blocks[i].value = value_of(&m->blocks[i]);
	ing_main_text_sum(m);
	p->total = m->sums[m->block_count].value;
	names &= ~words_of_most(p);
	for (ing_node n = 0; n < t->count; n++) {
		uint32_t words = m->words[n] & names;
		ing_node end = t->nodes[n].end;
		if (t->nodes[n].kind != ING_NODE_ELEMENT || m->before[end] == m->before[n] ||
			(words == 0 && !(m->marks[n] & kinds)) || !is_boilerplate(p, n, words))
			continue;
		for (uint32_t i = m->before[n]; i < m->before[end]; i++) {
			if (m->blocks[i].last < end) /* not of an element within a line */
				m->blocks[i].mark |= ING_MARK_DROPPED;
		}
		n = end - 1;
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_drop_boilerplate(struct ing_main_text *m)
{
	struct page p = {.m = m,
		.h1 = ing_tree_next_named(m->tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "h1")};
	drop(&p, SURE, ING_KIND_CHROME | ING_KIND_FORM);
	drop(&p, SURE | UNSURE, 0);
}
