/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One loop over the range of nodes: start tags on the way down, end tags on the way up.
 */
#include "worker/scrape/jsoup/outer.h"

#include <string.h>

static const char *written_name(const struct ing_tree *t, ing_node n)
{
	return t->names[t->nodes[n].el.written].text;
}

/* HTML 13.1.2: elements that have no end tag. */
static bool is_void(const struct ing_tree *t, ing_node n)
{
	static const char *const names[] = {"area", "base", "basefont", "bgsound", "br", "col",
		"embed", "frame", "hr", "img", "input", "keygen", "link", "meta", "param", "source",
		"track", "wbr"};
	const char *name = t->names[t->nodes[n].el.name].text;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static void add_escaped(struct ing_buf *out, const char *s, size_t bytes, bool attr, bool html)
{
	size_t from = 0;
	for (size_t i = 0; i < bytes; i++) {
		const char *entity = NULL;
		size_t taken = 1;
		if (s[i] == '&')
			entity = "&amp;";
		else if (s[i] == '"' && attr)
			entity = "&quot;";
		else if (s[i] == '<' && (!attr || !html))
			entity = "&lt;";
		else if (s[i] == '>' && (!attr || !html))
			entity = "&gt;";
		else if (html && s[i] == '\xc2' && i + 1 < bytes && s[i + 1] == '\xa0') {
			entity = "&nbsp;";
			taken = 2;
		}
		if (entity == NULL)
			continue;
		ing_buf_add(out, s + from, i - from);
		ing_buf_add_str(out, entity);
		from = i + taken;
		i += taken - 1;
	}
	ing_buf_add(out, s + from, bytes - from);
}

static void add_start(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	const struct ing_tree_node *node = &t->nodes[n];
	ing_buf_add_char(out, '<');
	ing_buf_add_str(out, written_name(t, n));
	for (unsigned i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		ing_buf_add_char(out, ' ');
		ing_buf_add_str(out, t->names[a->name].text);
		ing_buf_add_str(out, "=\"");
		add_escaped(out, a->value, a->bytes, true, !t->xml);
		ing_buf_add_char(out, '"');
	}
	ing_buf_add_str(out, t->xml && node->end == n + 1 ? "/>" : ">");
}

static void add_end(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	if (n == ING_NODE_DOCUMENT || (t->xml ? t->nodes[n].end == n + 1 : is_void(t, n)))
		return;
	ing_buf_add_str(out, "</");
	ing_buf_add_str(out, written_name(t, n));
	ing_buf_add_char(out, '>');
}

static void add_node(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	const struct ing_tree_node *node = &t->nodes[n];
	switch ((enum ing_node_kind)node->kind) {
	case ING_NODE_ELEMENT:
		if (n != ING_NODE_DOCUMENT)
			add_start(t, n, out);
		break;
	case ING_NODE_TEXT:
		add_escaped(out, node->text.data, node->text.bytes, false, !t->xml);
		break;
	case ING_NODE_CDATA:
		ing_buf_add_str(out, "<![CDATA[");
		ing_buf_add(out, node->text.data, node->text.bytes);
		ing_buf_add_str(out, "]]>");
		break;
	case ING_NODE_DATA:
		ing_buf_add(out, node->text.data, node->text.bytes);
		break;
	case ING_NODE_COMMENT:
		ing_buf_add_str(out, "<!--");
		ing_buf_add(out, node->text.data, node->text.bytes);
		ing_buf_add_str(out, "-->");
		break;
	case ING_NODE_OTHER:
		break;
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_outer(const struct ing_tree *t, ing_node root, struct ing_buf *out)
{
	ing_node end = t->nodes[root].end;
	for (ing_node n = root; n < end && !out->failed; n++) {
		add_node(t, n, out);
		/* Every element that ends here, innermost first. */
		for (ing_node up = n; t->nodes[up].end == n + 1; up = t->nodes[up].parent) {
			if (t->nodes[up].kind == ING_NODE_ELEMENT)
				add_end(t, up, out);
			if (up == root)
				break;
		}
	}
}
