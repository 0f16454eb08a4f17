/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Second pass: the text that is shown, as blocks, with figures about each.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/text/main_text_priv.h"

static bool is_wide(uint32_t c)
{
	return (c >= 0x2e80 && c < 0xa000) || (c >= 0xac00 && c < 0xd7b0) ||
	       (c >= 0xf900 && c < 0xfb00) || (c >= 0x20000 && c < 0x30000);
}

/* Marks of sentences beyond ASCII. */
static bool is_mark(uint32_t c, bool *ret_end)
{
	switch (c) {
	case 0x3002: /* ideographic full stop */
	case 0xff01:
	case 0xff1f:
	case 0x061f: /* Arabic question mark */
	case 0x06d4:
	case 0x0964: /* danda */
	case 0x2026:
		*ret_end = true;
		return true;
	case 0x3001:
	case 0xff0c:
	case 0xff1a:
	case 0xff1b:
	case 0x060c: /* Arabic comma */
	case 0x061b:
		*ret_end = false;
		return true;
	default:
		return false;
	}
}

struct counts {
	uint32_t chars, words, marks;
	bool ended;
};

static struct counts count_text(const char *s, size_t bytes, bool *ended)
{
	struct counts c = {0};
	bool in_word = false;
	for (size_t i = 0; i < bytes;) {
		unsigned char b = (unsigned char)s[i];
		if (b <= ' ') {
			in_word = false;
			i++;
			continue;
		}
		if (b < 0x80) {
			i++;
			c.chars++;
			if (!in_word) {
				c.words++;
				in_word = true;
			}
			if (b == ',' || b == ';')
				c.marks++;
			if (b == '.' || b == '!' || b == '?' || b == ':') {
				c.marks++;
				*ended = true;
			} else if (b != '"' && b != ')' && b != '\'' && b != ']')
				*ended = false;
			continue;
		}
		uint32_t code;
		i += ing_utf8_decode(s + i, bytes - i, &code);
		if (code == 0xa0 || code == 0x200b || code == 0xad || code == 0x3000 ||
			code == 0xfeff) {
			in_word = false;
			continue;
		}
		bool end = false;
		if (is_mark(code, &end)) {
			c.marks++;
			*ended = end;
		} else if (code != 0x201d && code != 0x2019 && code != 0xbb && code != 0x201c &&
			   code != 0x300d)
			*ended = false;
		if (is_wide(code)) {
			c.chars += 3;
			c.words++;
		} else {
			c.chars++;
			if (!in_word)
				c.words++;
		}
		in_word = true;
	}
	return c;
}

static struct ing_text_block *new_block(struct ing_main_text *m, ing_node n, ing_node owner)
{
	if (m->block_count == m->block_cap) {
		m->block_cap = m->block_cap * 2 + 256;
		m->blocks = ing_realloc(m->blocks, m->block_cap * sizeof(*m->blocks));
	}
	struct ing_text_block *b = &m->blocks[m->block_count++];
	*b = (struct ing_text_block){
		.first = n, .last = n, .owner = owner, .mark = m->marks[owner]};
	return b;
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_blocks(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	ing_node owner = 0; /* nearest block element that is open */
	struct ing_text_block *b = NULL;
	bool broke = false; /* <br> was the last thing */
	m->block_count = 0;
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		while (t->nodes[owner].end <= n) {
			b = NULL;
			do
				owner = t->nodes[owner].parent;
			while (!(m->marks[owner] & (ING_KIND_BLOCK | ING_KIND_PAGE)));
		}
		m->before[n] = m->block_count;
		if (node->kind == ING_NODE_ELEMENT) {
			if (m->marks[n] & (ING_KIND_BLOCK | ING_KIND_PAGE)) {
				owner = n;
				b = NULL;
			} else if (m->marks[n] & ING_KIND_BREAK) {
				if (broke)
					b = NULL;
				broke = true;
			}
			if (m->marks[n] & ING_MARK_DROPPED) {
				for (ing_node i = n; i < node->end; i++)
					m->before[i] = m->block_count;
				if (owner == n)
					owner = node->parent;
				while (!(m->marks[owner] & (ING_KIND_BLOCK | ING_KIND_PAGE)))
					owner = t->nodes[owner].parent;
				n = node->end - 1;
			}
			continue;
		}
		if (node->kind != ING_NODE_TEXT && node->kind != ING_NODE_CDATA)
			continue;
		bool ended = b != NULL && b->ended;
		struct counts c = count_text(node->text.data, node->text.bytes, &ended);
		if (c.chars == 0)
			continue;
		broke = false;
		if (b == NULL)
			b = new_block(m, n, owner);
		b->last = n;
		b->chars += c.chars;
		b->words += c.words;
		b->marks = (uint16_t)ING_MIN(b->marks + c.marks, 60000u);
		b->ended = ended;
		if (m->marks[n] & ING_MARK_LINK)
			b->link_chars += c.chars;
	}
	m->before[t->count] = m->block_count;
}
