/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formulas: publishers write them in MathML, in TeX, or in both. One of them is text.
 */
#include <string.h>

#include "worker/document/xml/jats_priv.h"

#define MAX_LEVELS 4 /* between <tex-math> and its formula */

static void hide(struct ing_tree *t, ing_node n)
{
	for (ing_node i = n; i < t->nodes[n].end; i++)
		if (t->nodes[i].kind == ING_NODE_TEXT || t->nodes[i].kind == ING_NODE_CDATA)
			t->nodes[i].kind = ING_NODE_OTHER;
}

static void hide_all(struct ing_tree *t, ing_node root, const char *name)
{
	for (ing_node n = root; (n = ing_tree_next_named(t, n, root, name)) != ING_NODE_NONE;)
		hide(t, n);
}

static bool has_mathml(const struct ing_tree *t, ing_node n)
{
	return ing_element_below(t, n, "mml:math") != ING_NODE_NONE ||
	       ing_element_below(t, n, "math") != ING_NODE_NONE ||
	       ing_element_below(t, n, "m:math") != ING_NODE_NONE;
}

/* Whether the formula that TeX stands in is there as MathML, too. */
static bool is_written_twice(const struct ing_tree *t, ing_node tex)
{
	ing_node n = t->nodes[tex].parent;
	for (int i = 0; i < MAX_LEVELS && n != ING_NODE_NONE; i++, n = t->nodes[n].parent) {
		const char *name = ing_tree_name(t, n);
		bool formula = strcmp(name, "inline-formula") == 0 ||
			       strcmp(name, "disp-formula") == 0 ||
			       strcmp(name, "alternatives") == 0;
		if (!formula)
			break;
		if (has_mathml(t, n))
			return true;
	}
	return false;
}

/* Some publishers put a whole LaTeX document around each formula. */
static void trim_document(struct ing_tree *t, ing_node n, struct ing_arena *ar)
{
	static const char begin[] = "\\begin{document}", end[] = "\\end{document}";
	struct ing_tree_node *node = &t->nodes[n];
	if (node->kind != ING_NODE_TEXT && node->kind != ING_NODE_CDATA)
		return;
	const char *s = node->text.data;
	const char *from = memmem(s, node->text.bytes, begin, sizeof(begin) - 1);
	if (from == NULL)
		return;
	from += sizeof(begin) - 1;
	size_t bytes = node->text.bytes - (size_t)(from - s);
	const char *to = memmem(from, bytes, end, sizeof(end) - 1);
	if (to != NULL)
		bytes = (size_t)(to - from);
	node->text.data = ing_arena_strndup(ar, from, bytes);
	node->text.bytes = (uint32_t)bytes;
}

/* -------------------------------------------------------------------------------------------- */

void ing_jats_tidy_math(struct ing_tree *t, ing_node article, struct ing_arena *ar)
{
	/* What MathML carries along in another notation. */
	hide_all(t, article, "mml:annotation");
	hide_all(t, article, "annotation");
	hide_all(t, article, "mml:annotation-xml");
	hide_all(t, article, "annotation-xml");
	ing_node n = article;
	while ((n = ing_tree_next_named(t, n, article, "tex-math")) != ING_NODE_NONE) {
		if (is_written_twice(t, n)) {
			hide(t, n);
			continue;
		}
		for (ing_node i = n + 1; i < t->nodes[n].end; i++)
			trim_document(t, i, ar);
	}
}
