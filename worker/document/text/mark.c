/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First pass: kinds of elements, what their names say, what is hidden.
 */
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "worker/document/text/main_text_priv.h"

static bool has_style(const char *style, const char *property, const char *value)
{
	const char *at = strcasestr(style, property);
	if (at == NULL)
		return false;
	at += strlen(property);
	at += strspn(at, " \t:");
	return strncasecmp(at, value, strlen(value)) == 0;
}

static bool is_role(const char *role)
{
	static const char *const roles[] = {"navigation", "banner", "contentinfo", "complementary",
		"search", "dialog", "alertdialog", "menu", "menubar", "toolbar", "alert", "button",
		"tooltip", "tablist"};
	for (size_t i = 0; i < ING_ARRAY_LEN(roles); i++)
		if (strcasecmp(role, roles[i]) == 0)
			return true;
	return false;
}

static uint32_t read_attrs(struct ing_main_text *m, ing_node n, uint32_t *words)
{
	const struct ing_tree *t = m->tree;
	const struct ing_tree_node *node = &t->nodes[n];
	uint32_t mark = 0;
	for (uint32_t i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		const char *name = t->names[a->name].text;
		switch (name[0]) {
		case 'c':
			if (strcmp(name, "class") == 0)
				*words |= ing_class_words(a->value, a->bytes);
			break;
		case 'i':
			if (strcmp(name, "id") == 0)
				*words |= ing_class_words(a->value, a->bytes);
			else if (strcmp(name, "itemprop") == 0 &&
				 strcasecmp(a->value, "articleBody") == 0)
				*words |= ING_WORD_ARTICLE | ING_WORD_BODY | ING_WORD_MAIN;
			break;
		case 'h':
			if (strcmp(name, "hidden") == 0)
				mark |= ING_MARK_DROPPED;
			break;
		case 'a':
			if (strcmp(name, "aria-hidden") == 0 && strcasecmp(a->value, "true") == 0)
				mark |= ING_MARK_DROPPED;
			break;
		case 'r':
			if (strcmp(name, "role") == 0 && is_role(a->value))
				mark |= ING_MARK_DROPPED;
			break;
		case 's':
			if (strcmp(name, "style") == 0 &&
				(has_style(a->value, "display", "none") ||
					has_style(a->value, "visibility", "hidden")))
				mark |= ING_MARK_DROPPED;
			break;
		default:
			break;
		}
	}
	return mark;
}

static uint32_t inherited_of_kind(uint32_t kind)
{
	uint32_t mark = 0;
	if (kind & (ING_KIND_DROPPED))
		mark |= ING_MARK_DROPPED;
	if (kind & ING_KIND_LINK)
		mark |= ING_MARK_LINK;
	if (kind & ING_KIND_PRE)
		mark |= ING_MARK_PRE;
	if (kind & ING_KIND_QUOTE)
		mark |= ING_MARK_QUOTE;
	if (kind & ING_KIND_ITEM)
		mark |= ING_MARK_ITEM;
	if (kind & ING_KIND_CELL)
		mark |= ING_MARK_CELL;
	if (kind & ING_KIND_CAPTION)
		mark |= ING_MARK_CAPTION;
	if (kind & ING_KIND_HEADING)
		mark |= ING_MARK_HEADING;
	if (kind & ING_KIND_FIGURE)
		mark |= ING_MARK_FIGURE;
	return mark;
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_mark(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		uint32_t up = n == 0 ? 0 : m->marks[node->parent] & ING_MARK_INHERITED;
		m->words[n] = 0;
		if (node->kind != ING_NODE_ELEMENT) {
			m->marks[n] = up;
			continue;
		}
		uint32_t kind = n == 0 ? ING_KIND_PAGE : m->kinds[node->el.name];
		m->marks[n] = kind | up | inherited_of_kind(kind);
		if (!(m->marks[n] & ING_MARK_DROPPED) && !(kind & ING_KIND_PAGE))
			m->marks[n] |= read_attrs(m, n, &m->words[n]);
	}
}
