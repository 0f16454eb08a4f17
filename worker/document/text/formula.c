/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of MathML only names are written that MathML has, so that no markup of the page gets through;
 * elements that are left out leave their text.
 */
#include "worker/document/text/formula.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"

#define MATHML "http://www.w3.org/1998/Math/MathML"
#define LONGEST 14
#define MAX_DEPTH 128 /* of MathML elements; deeper ones leave their text */

static const char elements[][LONGEST + 1] = {"annotation", "maction", "merror", "mfenced", "mfrac",
	"mglyph", "mi", "mlabeledtr", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
	"mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup",
	"msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "none", "semantics"};

static const char attributes[][LONGEST + 1] = {"accent", "accentunder", "align", "alttext", "close",
	"columnalign", "columnlines", "columnspan", "dir", "display", "displaystyle", "encoding",
	"fence", "form", "frame", "largeop", "linethickness", "lspace", "mathvariant", "maxsize",
	"minsize", "movablelimits", "notation", "open", "rowalign", "rowlines", "rowspan", "rspace",
	"scriptlevel", "separator", "separators", "stretchy", "symmetric", "width"};

static int compare(const void *key, const void *name)
{
	return strcmp(key, name);
}

static const char *known(const char *name, const char (*table)[LONGEST + 1], size_t count)
{
	return bsearch(name, table, count, sizeof(table[0]), compare);
}

/* Content MathML, pictures and whatever else is there beside the presentation; not TeX. */
static bool is_other_annotation(const struct ing_tree *t, ing_node n)
{
	if (ing_tree_is(t, n, "annotation-xml"))
		return true;
	const char *encoding = ing_tree_attr(t, n, "encoding", NULL);
	return ing_tree_is(t, n, "annotation") &&
	       (encoding == NULL || strcasestr(encoding, "tex") == NULL);
}

static bool is_display(const struct ing_tree *t, ing_node math)
{
	return ing_tree_attr_has_word(t, math, "display", "block") ||
	       ing_tree_attr_has_word(t, math, "mode", "display");
}

static void add_attributes(struct ing_tei_xml *x, const struct ing_tree *t, ing_node n)
{
	const struct ing_tree_node *node = &t->nodes[n];
	for (unsigned i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		const char *name =
			known(t->names[a->name].text, attributes, ING_ARRAY_LEN(attributes));
		if (name != NULL)
			ing_tei_xml_attr(x, name, a->value);
	}
}

static bool is_blank(const struct ing_tree_node *node)
{
	size_t i = 0;
	while (i < node->text.bytes && (unsigned char)node->text.data[i] <= ' ')
		i++;
	return i == node->text.bytes;
}

static void start_formula(struct ing_tei_xml *x, const char *notation, bool display)
{
	ing_tei_xml_start(x, "formula");
	ing_tei_xml_attr(x, "notation", notation);
	if (display)
		ing_tei_xml_attr(x, "rend", "display");
}

/* -------------------------------------------------------------------------------------------- */

void ing_formula_mathml(struct ing_tei_xml *x, const struct ing_tree *t, ing_node math)
{
	struct {
		const char *name;
		ing_node end;
	} open[MAX_DEPTH];
	unsigned depth = 0;
	start_formula(x, "mathml", is_display(t, math));
	ing_tei_xml_start(x, "math");
	ing_tei_xml_attr(x, "xmlns", MATHML);
	add_attributes(x, t, math);
	for (ing_node n = math + 1; n < t->nodes[math].end; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		while (depth > 0 && open[depth - 1].end <= n)
			ing_tei_xml_end(x, open[--depth].name);
		if ((node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA) &&
			!is_blank(node))
			ing_tei_xml_text(x, node->text.data, node->text.bytes);
		if (node->kind != ING_NODE_ELEMENT)
			continue;
		if (is_other_annotation(t, n)) {
			n = node->end - 1;
			continue;
		}
		const char *name = known(ing_tree_name(t, n), elements, ING_ARRAY_LEN(elements));
		if (name == NULL || depth == MAX_DEPTH)
			continue;
		ing_tei_xml_start(x, name);
		add_attributes(x, t, n);
		open[depth].name = name;
		open[depth++].end = node->end;
	}
	while (depth > 0)
		ing_tei_xml_end(x, open[--depth].name);
	ing_tei_xml_end(x, "math");
	ing_tei_xml_end(x, "formula");
}

const char *ing_formula_tex_of(const struct ing_tree *t, ing_node n, bool *ret_display)
{
	*ret_display = false;
	if (ing_tree_is(t, n, "script")) {
		const char *type = ing_tree_attr(t, n, "type", NULL);
		ing_node data = ing_tree_first_child(t, n);
		if (type == NULL || strncasecmp(type, "math/tex", 8) != 0 ||
			data == ING_NODE_NONE || is_blank(&t->nodes[data]))
			return NULL;
		*ret_display = strcasestr(type, "display") != NULL;
		return t->nodes[data].text.data;
	}
	static const char *const classes[] = {"tex", "latex", "mathtex"};
	size_t bytes = 0;
	const char *alt = ing_tree_attr(t, n, "alt", &bytes);
	for (size_t i = 0; i < ING_ARRAY_LEN(classes) && bytes > 0; i++)
		if (ing_tree_attr_has_word(t, n, "class", classes[i]))
			return alt;
	return NULL;
}

void ing_formula_tex(struct ing_tei_xml *x, const char *tex, bool display)
{
	start_formula(x, "tex", display);
	ing_tei_xml_text(x, tex, strlen(tex));
	ing_tei_xml_end(x, "formula");
}
