/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Second pass: the text of the page as blocks, with figures about each. A block ends where a block
 * element begins or ends, and at two <br>.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/text/main_text_priv.h"

#define WIDE_CHARS 3 /* an ideograph or a syllable says as much as so many letters */

struct counts {
	uint32_t chars, words, digits;
	bool ended; /* the last mark ends a sentence; quotes and brackets behind it do not count */
	bool in_word;
};

static bool is_wide(uint32_t c)
{
	return (c >= 0x2e80 && c < 0xa000) || (c >= 0xac00 && c < 0xd7b0) ||
	       (c >= 0xf900 && c < 0xfb00) || (c >= 0x20000 && c < 0x30000);
}

static bool is_blank(uint32_t c)
{
	return c == 0xa0 || c == 0xad || c == 0x200b || c == 0x3000 || c == 0xfeff;
}

static bool ends_sentence(uint32_t c)
{
	return c == '.' || c == '!' || c == '?' || c == 0x2026 || c == 0x3002 || c == 0xff01 ||
	       c == 0xff1f || c == 0x061f || c == 0x06d4 || c == 0x0964;
}

static bool closes_quote(uint32_t c)
{
	return c == '"' || c == ')' || c == '\'' || c == ']' || c == 0xbb || c == 0x2019 ||
	       c == 0x201c || c == 0x201d || c == 0x300d;
}

static void count_char(struct counts *c, uint32_t code)
{
	if (ends_sentence(code))
		c->ended = true;
	else if (!closes_quote(code))
		c->ended = false;
	if (is_wide(code)) {
		c->chars += WIDE_CHARS;
		c->words++;
	} else {
		c->chars++;
		c->digits += code >= '0' && code <= '9';
		c->words += !c->in_word;
	}
	c->in_word = true;
}

static void count_text(struct counts *c, const char *s, size_t bytes)
{
	c->in_word = false;
	for (size_t i = 0; i < bytes;) {
		uint32_t code = (unsigned char)s[i];
		if (code < 0x80)
			i++;
		else
			i += ing_utf8_decode(s + i, bytes - i, &code);
		if (code <= ' ' || is_blank(code))
			c->in_word = false;
		else
			count_char(c, code);
	}
}

struct reader {
	struct ing_main_text *m;
	ing_node owner;           /* the nearest block element that is open */
	struct ing_text_block *b; /* the block that is open, or NULL */
	bool broke;               /* a <br> was last */
};

/* Elements that end before n are closed. */
static void close_elements(struct reader *r, ing_node n)
{
	const struct ing_tree_node *nodes = r->m->tree->nodes;
	while (nodes[r->owner].end <= n) {
		r->b = NULL;
		do
			r->owner = nodes[r->owner].parent;
		while (!ing_main_text_is_block(r->m, r->owner));
	}
}

static void open_element(struct reader *r, ing_node n)
{
	if (ing_main_text_is_block(r->m, n)) {
		r->b = NULL;
		if (!(r->m->marks[n] & ING_MARK_DROPPED))
			r->owner = n;
	} else if (r->m->marks[n] & ING_KIND_BREAK) {
		if (r->broke)
			r->b = NULL;
		r->broke = true;
	}
}

static bool add_text(struct reader *r, ing_node n)
{
	struct ing_main_text *m = r->m;
	const struct ing_tree_node *node = &m->tree->nodes[n];
	struct counts c = {.ended = r->b != NULL && r->b->ended};
	count_text(&c, node->text.data, node->text.bytes);
	if (c.chars == 0)
		return true;
	r->broke = false;
	if (r->b == NULL) {
		if (!ing_main_text_grow(&m->blocks, &m->blocks_cap, (size_t)m->block_count + 1,
			    sizeof(*m->blocks)))
			return false;
		r->b = &m->blocks[m->block_count++];
		*r->b = (struct ing_text_block){
			.first = n, .owner = r->owner, .mark = m->marks[r->owner]};
	}
	r->b->last = n;
	r->b->chars += c.chars;
	r->b->words += c.words;
	r->b->digits = (uint16_t)ING_MIN(r->b->digits + c.digits, (uint32_t)UINT16_MAX);
	r->b->ended = c.ended;
	if (m->marks[n] & ING_MARK_LINK)
		r->b->link_chars += c.chars;
	return true;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_main_text_blocks(struct ing_main_text *m)
{
	const struct ing_tree *t = m->tree;
	struct reader r = {.m = m};
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		close_elements(&r, n);
		m->before[n] = m->block_count;
		if (node->kind == ING_NODE_ELEMENT)
			open_element(&r, n);
		else if ((node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA) &&
			 !(m->marks[n] & ING_MARK_DROPPED) && !add_text(&r, n))
			return false;
	}
	m->before[t->count] = m->block_count;
	return true;
}
