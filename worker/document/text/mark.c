/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First pass: kinds of elements, what their names say, what is hidden. What is hidden is not dropped
 * here but treated like boilerplate's names, because some pages hide all of themselves until a
 * script has run.
 */
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "worker/document/text/main_text_priv.h"

/* A name of more words is a title that was made an anchor. */
#define MOST_WORDS_CLASS 6
#define MOST_WORDS_ID 4

/* Names of an element within a line that drop it. */
#define DROPS_INLINE (ING_WORD_CREDIT | ING_WORD_HIDDEN | ING_WORD_INVISIBLE | ING_WORD_SHARE)

static bool has_style(const char *style, const char *property, const char *value)
{
	const char *at = strcasestr(style, property);
	if (at == NULL)
		return false;
	at += strlen(property);
	at += strspn(at, " \t:");
	return strncasecmp(at, value, strlen(value)) == 0;
}

static bool is_hiding(const char *style)
{
	return has_style(style, "display", "none") || has_style(style, "visibility", "hidden");
}

static uint32_t words_of_role(const char *role)
{
	static const char *const roles[] = {"navigation", "banner", "contentinfo", "complementary",
		"search", "dialog", "alertdialog", "menu", "menubar", "toolbar", "alert", "button",
		"tooltip", "tablist"};
	for (size_t i = 0; i < ING_ARRAY_LEN(roles); i++) {
		if (strcasecmp(role, roles[i]) == 0)
			return ING_WORD_NAV;
	}
	return 0;
}

static uint32_t words_of_attr(const char *name, const struct ing_tree_attr *a)
{
	if (strcmp(name, "class") == 0)
		return ing_class_words(a->value, a->bytes, MOST_WORDS_CLASS);
	if (strcmp(name, "id") == 0)
		return ing_class_words(a->value, a->bytes, MOST_WORDS_ID);
	if (strcmp(name, "style") == 0)
		return is_hiding(a->value) ? ING_WORD_INVISIBLE : 0;
	if (strcmp(name, "hidden") == 0)
		return ING_WORD_INVISIBLE;
	if (strcmp(name, "aria-hidden") == 0)
		return strcasecmp(a->value, "true") == 0 ? ING_WORD_INVISIBLE : 0;
	if (strcmp(name, "role") == 0)
		return words_of_role(a->value);
	if (strcmp(name, "itemprop") == 0 && strcasecmp(a->value, "articleBody") == 0)
		return ING_WORD_ARTICLE | ING_WORD_BODY | ING_WORD_MAIN;
	return 0;
}

static uint32_t read_words(const struct ing_tree *t, const struct ing_tree_node *node)
{
	uint32_t words = 0;
	for (uint32_t i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		words |= words_of_attr(t->names[a->name].text, a);
	}
	return words;
}

static uint32_t inherited_of_kind(uint32_t kind)
{
	static const struct {
		uint32_t kind, mark;
	} rows[] = {
		{ING_KIND_DROPPED, ING_MARK_DROPPED},
		{ING_KIND_LINK, ING_MARK_LINK},
		{ING_KIND_PRE, ING_MARK_PRE},
		{ING_KIND_QUOTE, ING_MARK_QUOTE},
		{ING_KIND_ITEM, ING_MARK_ITEM},
		{ING_KIND_CELL, ING_MARK_CELL},
		{ING_KIND_HEADING, ING_MARK_HEADING},
	};
	uint32_t mark = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(rows); i++) {
		if (kind & rows[i].kind)
			mark |= rows[i].mark;
	}
	return mark;
}

/* A heading's link to itself. */
static bool is_anchor(const struct ing_tree *t, ing_node n)
{
	const char *href = ing_tree_attr(t, n, "href", NULL);
	return href != NULL && strchr(href, '#') != NULL;
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_mark(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		uint32_t up = n == 0 ? 0 : m->marks[node->parent] & ING_MARK_INHERITED;
		m->words[n] = 0;
		m->marks[n] = up;
		if (node->kind != ING_NODE_ELEMENT)
			continue;
		uint32_t kind = n == 0 ? ING_KIND_PAGE : m->kinds[node->el.name];
		m->marks[n] |= kind | inherited_of_kind(kind);
		if ((kind & ING_KIND_LINK) && (up & ING_MARK_HEADING) && is_anchor(t, n))
			m->marks[n] &= ~ING_MARK_LINK;
		/* The names of <html> and <body> are about what is on the page. */
		if ((m->marks[n] & ING_MARK_DROPPED) || (kind & ING_KIND_PAGE))
			continue;
		m->words[n] = read_words(t, node);
		if (!(kind & (ING_KIND_BLOCK | ING_KIND_LINK)) && (m->words[n] & DROPS_INLINE))
			m->marks[n] |= ING_MARK_DROPPED;
	}
}
