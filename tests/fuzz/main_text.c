/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The main text of a page, guessed, or where the first byte says so in what a rule has chosen: kept
 * nodes are text inside the top element, the plain text is valid UTF-8 and no longer than the page's
 * text with a mark for each node, and a second look at the page finds the same.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "worker/document/text/main_text.h"
#include "worker/document/text/plain.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 4000, .heap_kb = 2000, .heap_byte = 800);

static size_t check_kept(const struct ing_main_text *m, const struct ing_tree *t)
{
	ing_node top = ing_main_text_top(m);
	size_t most = 1;
	for (ing_node n = 0; n < t->count; n++) {
		if (!ing_main_text_keeps(m, n))
			continue;
		ing_must(t->nodes[n].kind == ING_NODE_TEXT || t->nodes[n].kind == ING_NODE_CDATA);
		ing_must(top != ING_NODE_NONE && ing_tree_contains(t, top, n));
		most += t->nodes[n].text.bytes + 1;
	}
	return most;
}

static void read_text(struct ing_main_text *m, struct ing_tree *t,
	const struct ing_main_text_hints *hints, struct ing_buf *text)
{
	ing_buf_init(text, (size_t)1 << 24);
	ing_main_text_select(m, t, hints);
	ing_main_text_plain(m, t, text);
	ing_must(ing_utf8_valid(ing_buf_str(text), text->len));
	size_t article = 0;
	if (ing_main_text_article(m, &article) != NULL)
		ing_must(ing_main_text_top(m) == ING_NODE_NONE && article > 0);
	ing_must(text->len <= check_kept(m, t) + article);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const struct ing_html_limits limits = {
		.open_elements = 512,
		.tag_attributes = 256,
		.names = 10000,
		.tree_bytes = (size_t)8 << 20,
		.cpu_ms = 2000,
	};
	static struct ing_html *html; /* reused, as examiners do */
	static struct ing_tree *tree;
	static struct ing_main_text *m;
	if (html == NULL) {
		html = ing_html_new();
		tree = ing_tree_new();
		m = ing_main_text_new();
	}
	if (size == 0)
		return;
	ing_html_parse(html, data + 1, size - 1, "text/html; charset=utf-8", &limits);
	ing_html_fill(html, tree);
	ing_node chosen = tree->count > 0 ? data[0] % tree->count : 0;
	const struct ing_main_text_hints hints = {.chosen = &chosen, .chosen_count = data[0] & 1};
	struct ing_buf first;
	struct ing_buf second;
	read_text(m, tree, &hints, &first);
	read_text(m, tree, &hints, &second);
	ing_must(first.len == second.len &&
		 memcmp(ing_buf_str(&first), ing_buf_str(&second), first.len) == 0);
	ing_buf_done(&first);
	ing_buf_done(&second);
}
