/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * check_tree.h - what holds for every tree (common/markup/tree.h), whatever it was read from; for
 * the targets that make trees.
 */
#pragma once
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/markup/link.h"
#include "common/data/unicode.h"
#include "worker/scrape/jsoup/text.h"

static inline void check_string(const char *s, size_t bytes)
{
	ing_must(s[bytes] == '\0' && strlen(s) == bytes && ing_utf8_valid(s, bytes));
}

static inline void check_nodes(const struct ing_tree *t)
{
	uint32_t elements = 0;
	ing_must(t->count > 0 && t->nodes[ING_NODE_DOCUMENT].end == t->count);
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		ing_must(node->end > n && node->end <= t->count && !node->pseudo);
		if (n != ING_NODE_DOCUMENT) {
			ing_must(node->parent < n && node->end <= t->nodes[node->parent].end);
			ing_must(node->prev == ING_NODE_NONE
					 ? node->parent == n - 1
					 : node->prev < n && t->nodes[node->prev].end == n);
		}
		if (node->kind != ING_NODE_ELEMENT) {
			ing_must(node->end == n + 1);
			check_string(node->text.data, node->text.bytes);
			continue;
		}
		ing_must(node->el.ordinal == elements++);
		ing_must(node->el.name < t->name_count && node->el.written < t->name_count);
		ing_must(t->names[node->el.name].lower == node->el.name);
		for (unsigned i = 0; i < node->attr_count; i++) {
			const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
			ing_must(a->name < t->name_count);
			check_string(a->value, a->bytes);
		}
	}
	ing_must(elements == t->element_count);
}

static inline void check_text(
	void (*text)(const struct ing_tree *t, ing_node n, struct ing_buf *out),
	const struct ing_tree *t, ing_node n)
{
	struct ing_buf out;
	ing_buf_init(&out, (size_t)1 << 16);
	text(t, n, &out);
	ing_must(ing_utf8_valid(ing_buf_str(&out), out.len) && out.len <= out.max);
	struct ing_buf lower;
	ing_buf_init(&lower, (size_t)1 << 18);
	ing_unicode_lower(ing_buf_str(&out), out.len, &lower);
	ing_must(ing_utf8_valid(ing_buf_str(&lower), lower.len) && !lower.failed);
	ing_must(ing_utf8_utf16_units(ing_buf_str(&out), out.len) <= out.len);
	ing_buf_done(&lower);
	ing_buf_done(&out);
}

static inline void format_text(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	ing_text_formatted(t, n, NULL, out);
}

/* Words of a text, character by character. */
static inline uint32_t count_words(const char *s, size_t bytes)
{
	uint32_t words = 0, c;
	bool inside = false;
	for (size_t i = 0; i < bytes;) {
		i += ing_utf8_decode(s + i, bytes - i, &c);
		bool white = (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
			     c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
			     c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
			     c == 0x3000;
		words += !white && !inside;
		inside = !white;
	}
	return words;
}

/* What is counted in the tree is what the text has, also of a text that is cut. */
static inline void check_words(const struct ing_tree *t, ing_node n)
{
	static const size_t ceilings[] = {(size_t)8 << 20, 1000, 20};
	for (size_t i = 0; i < ING_ARRAY_LEN(ceilings); i++) {
		struct ing_buf out;
		ing_buf_init(&out, ceilings[i]);
		ing_text(t, n, &out);
		ing_must(ing_text_word_count(t, n, ceilings[i]) ==
			 count_words(ing_buf_str(&out), out.len));
		ing_buf_done(&out);
	}
}

/* The whole tree, every text function from n, the first links. */
static inline void check_tree(struct ing_tree *t, ing_node n)
{
	check_nodes(t);
	check_text(ing_text, t, n);
	check_text(ing_text_own, t, n);
	check_text(ing_text_whole, t, n);
	check_text(ing_text_whole_own, t, n);
	check_text(ing_text_data, t, n);
	check_text(format_text, t, n);
	check_words(t, n);
	(void)ing_text_has(t, n);
	ing_tree_set_url(t, "https://a.example/b/c?d#e");
	ing_node a = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "a");
	for (int i = 0; i < 16 && a != ING_NODE_NONE; i++) {
		free(ing_link_of_attr(t, a, "href"));
		a = ing_tree_next_named(t, a, ING_NODE_DOCUMENT, "a");
	}
}
