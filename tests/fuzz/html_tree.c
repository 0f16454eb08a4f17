/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page from bytes to the flat tree, its text and its links. The first byte chooses a Content-Type
 * and whether little nesting is allowed, which small pages reach. Nodes that are copied as early as
 * possible make the same tree.
 */
#include "tests/fuzz/target.h"

#include "tests/fuzz/check_tree.h"
#include "tests/fuzz/same_tree.h"

#include "common/markup/html.h"

/* A page is read twice. */
FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 4000, .heap_kb = 4000, .heap_byte = 1000);

/* lexbor copies a chosen option, with all that is in it, into <selectedcontent>: a tree may end up
 * below another one then. */
static void check_depth(const struct ing_tree *t, unsigned open_elements)
{
	static unsigned depth[(size_t)1 << 16];
	if (t->count > ING_ARRAY_LEN(depth) ||
		ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "selectedcontent") !=
			ING_NODE_NONE)
		return;
	for (ing_node n = 1; n < t->count; n++) {
		depth[n] = depth[t->nodes[n].parent] + 1;
		ing_must(depth[n] <= open_elements + 4);
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const types[] = {NULL, "text/html; charset=utf-8",
		"text/html; charset=iso-2022-jp", "text/html; charset=gb18030",
		"text/html; charset=utf-16", "text/html; charset=windows-1252"};
	struct ing_html_limits limits = {
		.open_elements = 512,
		.tag_attributes = 256,
		.names = 10000,
		.tree_bytes = (size_t)8 << 20,
		.cpu_ms = 2000,
	};
	static struct ing_html *html, *early; /* reused, as examiners do */
	static struct ing_tree *tree, *other;
	if (html == NULL) {
		html = ing_html_new();
		early = ing_html_new();
		tree = ing_tree_new();
		other = ing_tree_new();
		ing_html_set_window(early, 0);
	}
	if (size == 0)
		return;
	if (data[0] & 0x40)
		limits.open_elements = 16;
	const char *type = types[data[0] % ING_ARRAY_LEN(types)];
	enum ing_html_end end = ing_html_parse(html, data + 1, size - 1, type, &limits);
	ing_html_fill(html, tree);
	enum ing_html_end other_end =
		ing_html_read(early, other, data + 1, size - 1, type, &limits);
	/* What is stopped is so at another place: it takes other memory. */
	ing_must(end == other_end || end == ING_HTML_COSTLY || other_end == ING_HTML_COSTLY);
	ing_must(end == ING_HTML_COSTLY || other_end == ING_HTML_COSTLY ||
		 first_difference(tree, other) == ING_NODE_NONE);
	check_depth(tree, limits.open_elements);
	check_tree(tree, ing_tree_body(tree));
}
