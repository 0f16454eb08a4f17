/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The element that has the main text. Each block has a value: characters of sentences for it, links
 * against it. The subtree with the largest sum is the best, one whose name says that it is an article
 * counts more; as a subtree is a range of blocks, sums are differences.
 */
#include "common/base/macros.h"
#include "worker/document/text/main_text_priv.h"

/* What an element's sum counts for, in tenths. */
#define WEIGHT_ANY 10
#define WEIGHT_SEMANTIC 14 /* <article>, <main> */
#define WEIGHT_NAMED 20    /* "entry-content", "post-body" */
#define WEIGHT_SURE 25     /* itemprop="articleBody", "main-article-text" */

#define HEADLINE_VALUE 400 /* the text is where the page's title stands */

#define ARTICLE_VALUE 800 /* of an article among others */
#define MANY_TEASERS 4
#define TEASER_CHARS 400 /* at most */
#define TEXT_BESIDE 1000 /* value of other text, at least: else the teasers are the page */

static int32_t value_of(const struct ing_text_block *b)
{
	int32_t text = (int32_t)(b->chars - b->link_chars);
	if (b->mark & ING_MARK_DROPPED)
		return 0;
	if (b->link_chars * 2 > b->chars)
		return -(int32_t)(b->link_chars / 2) - 10;
	return b->chars >= 80 || (b->ended && b->chars >= 40) ? text : text / 4;
}

/* A short text behind a heading that is a link. */
static bool is_teaser(const struct ing_text_block *b)
{
	const struct ing_text_block *before = b - 1;
	return b->value > 0 && b->chars < TEASER_CHARS && ing_text_is_heading(before) &&
	       (uint64_t)before->link_chars * 10 >= (uint64_t)before->chars * 8;
}

/* Several of them on a page are about other pages. */
static void lower_teasers(struct ing_main_text *m)
{
	uint32_t count = 0;
	int64_t other = 0;
	for (uint32_t i = 0; i < m->block_count; i++) {
		const struct ing_text_block *b = &m->blocks[i];
		if (i > 0 && is_teaser(b))
			count++;
		else if (b->chars >= 80)
			other += ING_MAX(b->value, 0);
	}
	if (count < MANY_TEASERS || other < TEXT_BESIDE)
		return;
	for (uint32_t i = 1; i < m->block_count; i++) {
		if (is_teaser(&m->blocks[i]))
			m->blocks[i].value = -m->blocks[i].value / 2;
	}
}

/* The heading that says most of what the title says, or NULL. */
static const struct ing_text_block *raise_headline(struct ing_main_text *m)
{
	struct ing_text_block *best = NULL;
	unsigned best_share = 79;
	for (uint32_t i = 0; i < m->block_count; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (!ing_text_is_heading(b) || (b->mark & ING_MARK_DROPPED))
			continue;
		unsigned share = ing_main_text_title_share(m, b) +
				 (ing_tree_is(m->tree, b->owner, "h1") ? 30u : 0u);
		if (share > best_share) {
			best = b;
			best_share = share;
		}
	}
	if (best != NULL)
		best->value = HEADLINE_VALUE;
	return best;
}

/* Returns the headline, or NULL. */
static const struct ing_text_block *set_values(struct ing_main_text *m)
{
	for (uint32_t i = 0; i < m->block_count; i++)
		m->blocks[i].value = value_of(&m->blocks[i]);
	lower_teasers(m);
	const struct ing_text_block *headline = raise_headline(m);
	ing_main_text_sum(m);
	return headline;
}

/* Without the headline's. */
static int64_t text_value(
	const struct ing_main_text *m, ing_node n, const struct ing_text_block *headline)
{
	bool has = headline != NULL && ing_tree_contains(m->tree, n, headline->first);
	return ing_main_text_value(m, n) - (has ? HEADLINE_VALUE : 0);
}

/* The innermost element with the largest sum; NONE when no sum is over 0. */
static ing_node largest(const struct ing_main_text *m, const struct ing_text_block *headline)
{
	static const uint32_t parts = ING_KIND_PARAGRAPH | ING_KIND_HEADING | ING_KIND_ITEM |
				      ING_KIND_CAPTION | ING_KIND_QUOTE;
	ing_node best = ING_NODE_NONE;
	int64_t best_value = 1;
	for (ing_node n = 0; n < m->tree->count; n++) {
		if (!ing_main_text_is_block(m, n) || (m->marks[n] & parts))
			continue;
		int64_t value = ing_main_text_value(m, n);
		if (value >= best_value && text_value(m, n, headline) > 0) {
			best = n;
			best_value = value;
		}
	}
	return best;
}

/* 0: its names say nothing. */
static int64_t weight_of(const struct ing_main_text *m, ing_node n)
{
	if (!ing_main_text_is_block(m, n))
		return 0;
	if ((m->words[n] & ING_WORD_ARTICLE) && (m->words[n] & ING_WORD_BODY))
		return m->words[n] & ING_WORD_MAIN ? WEIGHT_SURE : WEIGHT_NAMED;
	return m->marks[n] & ING_KIND_SEMANTIC ? WEIGHT_SEMANTIC : 0;
}

/* In an element named an article links count half against the text. */
static int64_t weighted(const struct ing_main_text *m, ing_node n)
{
	int64_t weight = weight_of(m, n);
	const struct ing_text_sum *from = &m->sums[m->before[n]];
	const struct ing_text_sum *to = &m->sums[m->before[m->tree->nodes[n].end]];
	int64_t value = to->value - from->value;
	int64_t text = to->text - from->text;
	return weight * (weight >= WEIGHT_NAMED ? (value + text) / 2 : value);
}

static ing_node best_named(const struct ing_main_text *m, ing_node best)
{
	ing_node named = best;
	int64_t named_value = best == ING_NODE_NONE ? 0 : ing_main_text_value(m, best) * WEIGHT_ANY;
	for (ing_node n = 0; n < m->tree->count; n++) {
		int64_t value = weight_of(m, n) > 0 ? weighted(m, n) : 0;
		if (value > named_value) {
			named = n;
			named_value = value;
		}
	}
	return named;
}

/* Whether another article with a headline of this level follows in the container. */
static bool has_next_article(
	const struct ing_main_text *m, ing_node container, ing_node article, int level)
{
	const struct ing_tree_node *nodes = m->tree->nodes;
	uint32_t end = m->before[nodes[container].end];
	for (uint32_t i = m->before[nodes[article].end]; i < end; i++) {
		const struct ing_text_block *b = &m->blocks[i];
		if (ing_text_is_heading(b) && !(b->mark & ING_MARK_DROPPED) &&
			ing_main_text_level(m, b) == level)
			return true;
	}
	return false;
}

/* Pages that go on with other articles: the one with the headline, if it has text enough. */
static ing_node first_article(
	const struct ing_main_text *m, ing_node container, const struct ing_text_block *headline)
{
	const struct ing_tree_node *nodes = m->tree->nodes;
	if (headline == NULL || !ing_tree_contains(m->tree, container, headline->first))
		return container;
	ing_node n = nodes[headline->first].parent;
	while (n != container && !ing_tree_is(m->tree, n, "article"))
		n = nodes[n].parent;
	return text_value(m, n, headline) >= ARTICLE_VALUE &&
			       has_next_article(m, container, n, ing_main_text_level(m, headline))
		       ? n
		       : container;
}

/* An article may be in several elements with such names: then what has all of them, unless these are
 * articles of their own. */
static ing_node join_parts(const struct ing_main_text *m, ing_node best, ing_node named)
{
	const struct ing_tree_node *nodes = m->tree->nodes;
	int64_t weight = weight_of(m, named);
	int64_t value = ing_main_text_value(m, named);
	int64_t all = 0;
	ing_node first = named;
	ing_node end = nodes[named].end;
	for (ing_node n = best; n < nodes[best].end; n++) {
		int64_t part = weight_of(m, n) >= weight ? ing_main_text_value(m, n) : 0;
		if (part <= 0)
			continue;
		all += part;
		first = ING_MIN(first, n);
		end = ING_MAX(end, nodes[n].end);
		n = nodes[n].end - 1;
	}
	if (all * 10 <= value * 11 || all >= value * 3)
		return named;
	while (nodes[first].end < end)
		first = nodes[first].parent;
	return first;
}

/* -------------------------------------------------------------------------------------------- */

ing_node ing_main_text_container(struct ing_main_text *m)
{
	const struct ing_text_block *headline = set_values(m);
	ing_node best = largest(m, headline);
	ing_node named = best_named(m, best);
	if (named == ING_NODE_NONE)
		return named;
	ing_node container =
		named == best || best == ING_NODE_NONE ? named : join_parts(m, best, named);
	return first_article(m, container, headline);
}
