/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs the passes over a page, and owns their memory.
 */
#include "worker/document/text/main_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/text/main_text_priv.h"

static void make_room(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	if (t->count + 1 > m->nodes_cap) {
		m->nodes_cap = (size_t)t->count + t->count / 4 + 1024;
		m->marks = ing_realloc(m->marks, m->nodes_cap * sizeof(*m->marks));
		m->words = ing_realloc(m->words, m->nodes_cap * sizeof(*m->words));
		m->before = ing_realloc(m->before, m->nodes_cap * sizeof(*m->before));
	}
	size_t words = (t->count + 63) / 64;
	if (words > m->kept_cap) {
		m->kept_cap = words + words / 4 + 16;
		m->kept = ing_realloc(m->kept, m->kept_cap * sizeof(*m->kept));
	}
	memset(m->kept, 0, words * sizeof(*m->kept));
	if (t->name_count > m->kinds_cap) {
		m->kinds_cap = t->name_count + 256;
		m->kinds = ing_realloc(m->kinds, m->kinds_cap * sizeof(*m->kinds));
	}
	for (uint32_t i = 0; i < t->name_count; i++)
		m->kinds[i] = ing_kind_of_name(t->names[i].text, t->names[i].bytes);
}

/* What says of an element that it is no main text, by its names. */
#define NEGATIVE                                                                                   \
	(ING_WORD_NAV | ING_WORD_SHARE | ING_WORD_RELATED | ING_WORD_COMMENT | ING_WORD_AD |       \
		ING_WORD_NOTICE | ING_WORD_META | ING_WORD_CHROME)

static int64_t sum(const struct ing_main_text *m, ing_node n)
{
	return m->sums[m->before[m->tree->nodes[n].end]] - m->sums[m->before[n]];
}

static int32_t value_of(const struct ing_text_block *b)
{
	int32_t text = (int32_t)(b->chars - b->link_chars);
	if (b->link_chars * 2 > b->chars)
		return -(int32_t)(b->link_chars / 2) - 10;
	if (b->chars >= 80 || (b->ended && b->chars >= 40))
		return text;
	return text / 4;
}

static void sum_values(struct ing_main_text *m)
{
	if (m->block_count + 1u > m->sums_cap) {
		m->sums_cap = m->block_count * 2u + 256u;
		m->sums = ing_realloc(m->sums, m->sums_cap * sizeof(*m->sums));
	}
	m->sums[0] = 0;
	for (uint32_t i = 0; i < m->block_count; i++)
		m->sums[i + 1] = m->sums[i] + m->blocks[i].value;
}

/* An element with boilerplate's names is dropped with all in it, unless that is most of the page. */
static void drop_named(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	int64_t total = 0;
	for (uint32_t i = 0; i < m->block_count; i++) {
		m->blocks[i].value = ING_MAX(value_of(&m->blocks[i]), 0);
		total += m->blocks[i].value;
	}
	sum_values(m);
	ing_node h1 = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "h1");
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		if (node->kind != ING_NODE_ELEMENT)
			continue;
		bool named = (m->words[n] & NEGATIVE) != 0 || (m->marks[n] & ING_KIND_CHROME);
		if (!named)
			continue;
		int64_t share = sum(m, n);
		if (share * 10 > total * 8 || (h1 != ING_NODE_NONE && ing_tree_contains(t, n, h1) &&
						      share * 10 > total * 3))
			continue;
		for (uint32_t i = m->before[n]; i < m->before[node->end]; i++)
			m->blocks[i].mark |= ING_MARK_DROPPED;
		n = node->end - 1;
	}
}

static ing_node choose(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	ing_node best = ING_NODE_NONE;
	int64_t best_sum = 0;
	for (uint32_t i = 0; i < m->block_count; i++)
		m->blocks[i].value =
			m->blocks[i].mark & ING_MARK_DROPPED ? 0 : value_of(&m->blocks[i]);
	sum_values(m);
	for (ing_node n = 0; n < t->count; n++) {
		if (!(m->marks[n] & (ING_KIND_BLOCK | ING_KIND_PAGE)) ||
			t->nodes[n].kind != ING_NODE_ELEMENT)
			continue;
		int64_t s = sum(m, n);
		if (s >= best_sum && s > 0) {
			best = n;
			best_sum = s;
		}
	}
	if (best == ING_NODE_NONE)
		return best;
	/* A container by its names that has most of it. */
	ing_node named = ING_NODE_NONE;
	int64_t named_sum = 0;
	int named_level = 0;
	for (ing_node n = 0; n < t->count; n++) {
		if (t->nodes[n].kind != ING_NODE_ELEMENT ||
			!(m->marks[n] & (ING_KIND_BLOCK | ING_KIND_PAGE)))
			continue;
		uint32_t w = m->words[n];
		int level = 0;
		if ((w & ING_WORD_ARTICLE) && (w & ING_WORD_BODY))
			level = (w & ING_WORD_MAIN) ? 4 : 3;
		else if (m->marks[n] & ING_KIND_SEMANTIC)
			level = 2;
		if (level == 0)
			continue;
		int64_t s = sum(m, n);
		if (s * 10 >= best_sum * 6 &&
			(level > named_level || (level == named_level && s > named_sum))) {
			named = n;
			named_sum = s;
			named_level = level;
		}
	}
	return named != ING_NODE_NONE ? named : best;
}

static void keep_block(struct ing_main_text *m, const struct ing_text_block *b)
{
	const struct ing_tree *t = m->tree;
	for (ing_node n = b->first; n <= b->last; n++)
		if ((t->nodes[n].kind == ING_NODE_TEXT || t->nodes[n].kind == ING_NODE_CDATA) &&
			!(m->marks[n] & ING_MARK_DROPPED))
			m->kept[n / 64] |= (uint64_t)1 << (n % 64);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_main_text *ing_main_text_new(void)
{
	return ing_alloc(sizeof(struct ing_main_text));
}

void ing_main_text_free(struct ing_main_text *m)
{
	if (m == NULL)
		return;
	free(m->kept);
	free(m->kinds);
	free(m->marks);
	free(m->words);
	free(m->before);
	free(m->blocks);
	free(m->sums);
	free(m);
}

void ing_main_text_select(
	struct ing_main_text *m, struct ing_tree *t, const struct ing_main_text_hints *hints)
{
	(void)hints;
	m->tree = t;
	make_room(m);
	ing_main_text_mark(m);
	ing_main_text_blocks(m);
	drop_named(m);
	ing_node top = choose(m);
	m->top = top;
	if (top == ING_NODE_NONE)
		return;
	for (uint32_t i = m->before[top]; i < m->before[t->nodes[top].end]; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if ((b->mark & ING_MARK_DROPPED) || b->link_chars * 3 > b->chars * 2)
			continue;
		if (ing_tree_is(t, b->owner, "h1"))
			continue;
		keep_block(m, b);
	}
}

bool ing_main_text_keeps(const struct ing_main_text *m, ing_node text)
{
	return (m->kept[text / 64] >> (text % 64)) & 1;
}

ing_node ing_main_text_top(const struct ing_main_text *m)
{
	return m->top;
}
