/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs the passes over a page, and owns their memory, which is input-sized: when it is short nothing
 * is kept.
 */
#include "worker/document/text/main_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/text/article_body.h"
#include "worker/document/text/main_text_priv.h"

/* Memory for more nodes is given back before the next page. */
#define KEPT_NODES ((size_t)1 << 18)

static void free_arrays(struct ing_main_text *m)
{
	free(ING_TAKE(m->kept));
	free(ING_TAKE(m->kinds));
	free(ING_TAKE(m->marks));
	free(ING_TAKE(m->words));
	free(ING_TAKE(m->before));
	free(ING_TAKE(m->blocks));
	free(ING_TAKE(m->sums));
	m->kept_cap = m->kinds_cap = m->marks_cap = m->words_cap = m->before_cap = 0;
	m->blocks_cap = m->sums_cap = 0;
}

static bool make_room(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	size_t nodes = (size_t)t->count + 1;
	size_t words = (nodes + 63) / 64;
	m->kept_nodes = 0;
	if (m->marks_cap > KEPT_NODES && nodes < KEPT_NODES / 2)
		free_arrays(m);
	if (!ing_main_text_grow(&m->marks, &m->marks_cap, nodes, sizeof(*m->marks)) ||
		!ing_main_text_grow(&m->words, &m->words_cap, nodes, sizeof(*m->words)) ||
		!ing_main_text_grow(&m->before, &m->before_cap, nodes, sizeof(*m->before)) ||
		!ing_main_text_grow(&m->kinds, &m->kinds_cap, t->name_count, sizeof(*m->kinds)) ||
		!ing_main_text_grow(&m->kept, &m->kept_cap, words, sizeof(*m->kept)))
		return false;
	memset(m->kept, 0, words * sizeof(*m->kept));
	m->kept_nodes = t->count;
	for (uint32_t i = 0; i < t->name_count; i++)
		m->kinds[i] = ing_kind_of_name(t->names[i].text, t->names[i].bytes);
	return true;
}

static void keep_block(struct ing_main_text *m, const struct ing_text_block *b)
{
	const struct ing_tree *t = m->tree;
	for (ing_node n = b->first; n <= b->last; n++) {
		bool text = t->nodes[n].kind == ING_NODE_TEXT || t->nodes[n].kind == ING_NODE_CDATA;
		if (text && !(m->marks[n] & ING_MARK_DROPPED))
			m->kept[n / 64] |= (uint64_t)1 << (n % 64);
	}
}

/* The smallest element with the first and the last block that are kept. */
static ing_node find_top(const struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	ing_node top = ING_NODE_NONE;
	ing_node last = ING_NODE_NONE;
	for (uint32_t i = 0; i < m->block_count; i++) {
		if (m->blocks[i].why != ING_VERDICT_KEPT)
			continue;
		if (top == ING_NODE_NONE)
			top = m->blocks[i].owner;
		last = m->blocks[i].last;
	}
	while (top != ING_NODE_NONE && t->nodes[top].end <= last)
		top = t->nodes[top].parent;
	return top;
}

/* Whether less than half of the blocks [from, to) is boilerplate. */
static bool is_clean(const struct ing_main_text *m, uint32_t from, uint32_t to)
{
	uint64_t all = 0;
	uint64_t dropped = 0;
	for (uint32_t i = from; i < to; i++) {
		all += m->blocks[i].chars;
		if (m->blocks[i].mark & ING_MARK_DROPPED)
			dropped += m->blocks[i].chars;
	}
	return dropped * 2 < all;
}

/* What a rule selects is kept, but for scripts and what is hidden; without the boilerplate and the
 * references in it, unless that is most of it: then names mislead. */
static void keep_chosen(struct ing_main_text *m, const struct ing_main_text_hints *hints)
{
	const struct ing_tree *t = m->tree;
	ing_main_text_drop_boilerplate(m);
	ing_main_text_drop_references(m);
	for (uint32_t i = 0; i < m->block_count; i++)
		m->blocks[i].why = ING_VERDICT_OUTSIDE;
	ing_node end = 0; /* what is below it has been looked at */
	for (size_t c = 0; c < hints->chosen_count; c++) {
		ing_node n = hints->chosen[c];
		if (t->nodes[n].kind != ING_NODE_ELEMENT || t->nodes[n].end <= end)
			continue;
		end = t->nodes[n].end;
		uint32_t to = m->before[end];
		bool clean = is_clean(m, m->before[n], to);
		for (uint32_t i = m->before[n]; i < to; i++) {
			if (!clean || !(m->blocks[i].mark & ING_MARK_DROPPED))
				m->blocks[i].why = ING_VERDICT_KEPT;
		}
	}
}

static void guess(struct ing_main_text *m)
{
	ing_main_text_read_title(m);
	ing_main_text_drop_boilerplate(m);
	ing_main_text_drop_references(m);
	ing_node container = ing_main_text_container(m);
	if (container == ING_NODE_NONE)
		container = ing_tree_body(m->tree);
	for (uint32_t i = 0; i < m->block_count; i++)
		m->blocks[i].why = m->blocks[i].mark & ING_MARK_DROPPED ? ING_VERDICT_NAMED
									: ING_VERDICT_OUTSIDE;
	ing_main_text_refine(m, container);
	ing_main_text_hear_article(m);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_main_text_grow(void *array, size_t *cap, size_t count, size_t bytes)
{
	void *old;
	memcpy(&old, array, sizeof(old));
	if (count <= *cap)
		return true;
	size_t more = count + count / 4 + 256;
	void *p = realloc(old, more * bytes);
	if (p == NULL)
		return false;
	memcpy(array, &p, sizeof(p));
	*cap = more;
	return true;
}

void ing_main_text_sum(struct ing_main_text *m)
{
	m->sums[0] = (struct ing_text_sum){0};
	for (uint32_t i = 0; i < m->block_count; i++) {
		const struct ing_text_block *b = &m->blocks[i];
		m->sums[i + 1] = (struct ing_text_sum){.value = m->sums[i].value + b->value,
			.text = m->sums[i].text + ING_MAX(b->value, 0),
			.chars = m->sums[i].chars + b->chars,
			.link_chars = m->sums[i].link_chars + b->link_chars};
	}
}

struct ing_main_text *ing_main_text_new(void)
{
	struct ing_main_text *m = ing_alloc(sizeof(*m));
	m->top = ING_NODE_NONE;
	ing_buf_init(&m->folded, (size_t)4 * ING_FOLDED_BYTES);
	ing_buf_init(&m->article, ING_MAX_ARTICLE_BODY_BYTES + 1);
	return m;
}

void ing_main_text_free(struct ing_main_text *m)
{
	if (m == NULL)
		return;
	free_arrays(m);
	ing_buf_done(&m->folded);
	ing_buf_done(&m->article);
	free(m);
}

void ing_main_text_select(
	struct ing_main_text *m, struct ing_tree *t, const struct ing_main_text_hints *hints)
{
	m->tree = t;
	m->top = ING_NODE_NONE;
	m->block_count = 0;
	m->is_article = false;
	if (!make_room(m))
		return;
	ing_main_text_mark(m);
	if (!ing_main_text_blocks(m) || !ing_main_text_grow(&m->sums, &m->sums_cap,
						(size_t)m->block_count + 1, sizeof(*m->sums)))
		return;
	if (hints != NULL && hints->chosen_count > 0)
		keep_chosen(m, hints);
	else
		guess(m);
	if (m->is_article)
		return;
	for (uint32_t i = 0; i < m->block_count; i++) {
		if (m->blocks[i].why == ING_VERDICT_KEPT)
			keep_block(m, &m->blocks[i]);
	}
	m->top = find_top(m);
}

bool ing_main_text_keeps(const struct ing_main_text *m, ing_node text)
{
	return text < m->kept_nodes && ((m->kept[text / 64] >> (text % 64)) & 1) != 0;
}

ing_node ing_main_text_top(const struct ing_main_text *m)
{
	return m->top;
}

const char *ing_main_text_article(const struct ing_main_text *m, size_t *ret_bytes)
{
	if (!m->is_article)
		return NULL;
	*ret_bytes = m->article.len;
	return m->article.data;
}
