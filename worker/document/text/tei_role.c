/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table by name, and the few class names that publishers have in common.
 */
#include "worker/document/text/tei_role.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/text/tei_body.h"

#define LONGEST 10 /* bytes of the longest name below */
#define LONG_CELL_BYTES 3000

static const struct entry {
	char name[LONGEST + 1];
	struct ing_tei_element element;
} names[] = {
	{"a", {ING_TEI_ROLE_LINK, 0}},
	{"address", {ING_TEI_ROLE_BLOCK, 0}},
	{"article", {ING_TEI_ROLE_SECTION, 0}},
	{"b", {ING_TEI_ROLE_SPAN, ING_TEI_BOLD}},
	{"blockquote", {ING_TEI_ROLE_QUOTE, 0}},
	{"br", {ING_TEI_ROLE_BREAK, 0}},
	{"caption", {ING_TEI_ROLE_CAPTION, 0}},
	{"cite", {ING_TEI_ROLE_SPAN, ING_TEI_ITALIC}},
	{"code", {ING_TEI_ROLE_SPAN, ING_TEI_CODE}},
	{"dd", {ING_TEI_ROLE_ITEM, 0}},
	{"del", {ING_TEI_ROLE_SPAN, ING_TEI_DELETED}},
	{"dfn", {ING_TEI_ROLE_SPAN, ING_TEI_ITALIC}},
	{"dir", {ING_TEI_ROLE_LIST, 0}},
	{"dl", {ING_TEI_ROLE_LIST, 0}},
	{"dt", {ING_TEI_ROLE_TERM, 0}},
	{"em", {ING_TEI_ROLE_SPAN, ING_TEI_ITALIC}},
	{"figcaption", {ING_TEI_ROLE_CAPTION, 0}},
	{"figure", {ING_TEI_ROLE_FIGURE, 0}},
	{"h1", {ING_TEI_ROLE_HEADING, 1}},
	{"h2", {ING_TEI_ROLE_HEADING, 2}},
	{"h3", {ING_TEI_ROLE_HEADING, 3}},
	{"h4", {ING_TEI_ROLE_HEADING, 4}},
	{"h5", {ING_TEI_ROLE_HEADING, 5}},
	{"h6", {ING_TEI_ROLE_HEADING, 6}},
	{"i", {ING_TEI_ROLE_SPAN, ING_TEI_ITALIC}},
	{"img", {ING_TEI_ROLE_IMAGE, 0}},
	{"kbd", {ING_TEI_ROLE_SPAN, ING_TEI_CODE}},
	{"li", {ING_TEI_ROLE_ITEM, 0}},
	{"listing", {ING_TEI_ROLE_PRE, 0}},
	{"math", {ING_TEI_ROLE_MATH, 0}},
	{"menu", {ING_TEI_ROLE_LIST, 0}},
	{"ol", {ING_TEI_ROLE_LIST, 0}},
	{"pre", {ING_TEI_ROLE_PRE, 0}},
	{"q", {ING_TEI_ROLE_SPAN, ING_TEI_QUOTED}},
	{"s", {ING_TEI_ROLE_SPAN, ING_TEI_DELETED}},
	{"samp", {ING_TEI_ROLE_SPAN, ING_TEI_CODE}},
	{"script", {ING_TEI_ROLE_SCRIPT, 0}},
	{"section", {ING_TEI_ROLE_SECTION, 0}},
	{"strike", {ING_TEI_ROLE_SPAN, ING_TEI_DELETED}},
	{"strong", {ING_TEI_ROLE_SPAN, ING_TEI_BOLD}},
	{"sub", {ING_TEI_ROLE_SPAN, ING_TEI_SUBSCRIPT}},
	{"sup", {ING_TEI_ROLE_SPAN, ING_TEI_SUPERSCRIPT}},
	{"table", {ING_TEI_ROLE_TABLE, 0}},
	{"td", {ING_TEI_ROLE_CELL, 0}},
	{"th", {ING_TEI_ROLE_CELL, 1}},
	{"tr", {ING_TEI_ROLE_ROW, 0}},
	{"tt", {ING_TEI_ROLE_SPAN, ING_TEI_CODE}},
	{"u", {ING_TEI_ROLE_SPAN, ING_TEI_UNDERLINE}},
	{"ul", {ING_TEI_ROLE_LIST, 0}},
	{"var", {ING_TEI_ROLE_SPAN, ING_TEI_ITALIC}},
	{"xmp", {ING_TEI_ROLE_PRE, 0}},
};

/* Of <div>, <p> and <span>, in lower case. */
static const struct {
	const char *word;
	uint8_t role;
} classes[] = {
	{"fig", ING_TEI_ROLE_FIGURE},
	{"figure", ING_TEI_ROLE_FIGURE},
	{"wp-caption", ING_TEI_ROLE_FIGURE},
	{"caption", ING_TEI_ROLE_CAPTION},
	{"figcaption", ING_TEI_ROLE_CAPTION},
	{"wp-caption-text", ING_TEI_ROLE_CAPTION},
	{"katex-html", ING_TEI_ROLE_COPY},
	{"mathjax_preview", ING_TEI_ROLE_COPY},
};

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct entry *)entry)->name);
}

static const struct ing_tree_name *name_of(const struct ing_tree *t, ing_node n)
{
	return &t->names[t->nodes[n].el.name];
}

static struct ing_tei_element of_class(const struct ing_tree *t, ing_node n, bool is_block)
{
	struct ing_tei_element e = {is_block ? ING_TEI_ROLE_BLOCK : ING_TEI_ROLE_NONE, 0};
	if (ing_tree_attr(t, n, "class", NULL) == NULL)
		return e;
	for (size_t i = 0; i < ING_ARRAY_LEN(classes); i++)
		if ((is_block || classes[i].role == ING_TEI_ROLE_COPY) &&
			ing_tree_attr_has_word(t, n, "class", classes[i].word)) {
			e.role = classes[i].role;
			break;
		}
	return e;
}

/* <div role=heading aria-level=2> */
static bool is_aria_heading(const struct ing_tree *t, ing_node n, uint8_t *ret_level)
{
	if (!ing_tree_attr_has_word(t, n, "role", "heading"))
		return false;
	const char *level = ing_tree_attr(t, n, "aria-level", NULL);
	*ret_level = level != NULL && *level >= '1' && *level <= '6' ? (uint8_t)(*level - '0') : 2;
	return true;
}

/* Whether something inside a table says that it is no table of data. */
static bool is_layout_part(const struct ing_tree *t, ing_node n)
{
	static const char *const parts[] = {"article", "figure", "form", "h1", "h2", "h3", "h4",
		"h5", "h6", "main", "nav", "section", "table"};
	const char *name = ing_tree_name(t, n);
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++)
		if (strcmp(name, parts[i]) == 0)
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_tei_element ing_tei_element(const struct ing_tree *t, ing_node n)
{
	const struct ing_tree_name *name = name_of(t, n);
	const struct entry *found = NULL;
	struct ing_tei_element e;
	if (name->bytes <= LONGEST)
		found = bsearch(name->text, names, ING_ARRAY_LEN(names), sizeof(names[0]), compare);
	if (found != NULL)
		return found->element;
	bool is_block = (name->flags & (ING_NAME_BLOCK | ING_NAME_INLINE)) == ING_NAME_BLOCK ||
			strcmp(name->text, "p") == 0;
	if (is_block && is_aria_heading(t, n, &e.value)) {
		e.role = ING_TEI_ROLE_HEADING;
		return e;
	}
	return of_class(t, n, is_block);
}

bool ing_tei_is_layout(const struct ing_tree *t, ing_node table)
{
	unsigned cells = 0, most_cells = 0;
	uint32_t cell_end = 0, cell_bytes = 0;
	if (ing_tree_attr_has_word(t, table, "role", "presentation") ||
		ing_tree_attr_has_word(t, table, "role", "none"))
		return true;
	for (ing_node n = table + 1; n < t->nodes[table].end; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		if (node->kind == ING_NODE_TEXT && n < cell_end) {
			cell_bytes = ING_MIN(cell_bytes, LONG_CELL_BYTES) +
				     ING_MIN(node->text.bytes, LONG_CELL_BYTES + 1);
			if (cell_bytes > LONG_CELL_BYTES)
				return true;
		}
		if (node->kind != ING_NODE_ELEMENT)
			continue;
		if (is_layout_part(t, n))
			return true;
		if (ing_tree_is(t, n, "tr")) {
			cells = 0;
		} else if (ing_tree_is(t, n, "td") || ing_tree_is(t, n, "th")) {
			cells++;
			most_cells = ING_MAX(most_cells, cells);
			cell_end = node->end;
			cell_bytes = 0;
		}
	}
	return most_cells < 2;
}
