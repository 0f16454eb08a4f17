/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words of the page's title, and texts compared with them.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/unicode.h"
#include "worker/document/text/main_text_priv.h"

#define HEADING_LEVELS 4 /* between a block and its <h1> to <h6> */
#define TITLE_WORDS (ING_TITLE_SLOTS / 2)
/* A heading with so many hundredths of its words in the title says it: an <h1>, another. */
#define SHARE_H1 50
#define SHARE 80

static void fold_text(struct ing_main_text *m, const char *s, size_t bytes)
{
	char raw[ING_FOLDED_BYTES + 1 + ING_UTF8_BYTES];
	size_t n = 0;
	bool space = false;
	for (size_t i = 0; i < bytes && n < ING_FOLDED_BYTES;) {
		uint32_t c;
		size_t len = ing_utf8_decode(s + i, bytes - i, &c);
		if (c <= ' ' || c == 0xa0) {
			space = true;
		} else {
			if (space && m->folded.len + n > 0)
				raw[n++] = ' ';
			space = false;
			memcpy(raw + n, s + i, len);
			n += len;
		}
		i += len;
	}
	if (space && m->folded.len + n > 0)
		raw[n++] = ' ';
	ing_unicode_lower(raw, n, &m->folded);
}

/* Nodes from first to last. */
static void fold_nodes(struct ing_main_text *m, ing_node first, ing_node last)
{
	const struct ing_tree *t = m->tree;
	ing_buf_clear(&m->folded);
	m->folded.failed = false;
	for (ing_node n = first; n <= last && m->folded.len < ING_FOLDED_BYTES; n++) {
		if (t->nodes[n].kind == ING_NODE_TEXT)
			fold_text(m, t->nodes[n].text.data, t->nodes[n].text.bytes);
	}
}

static bool is_word_byte(char c)
{
	return (c & 0x80) != 0 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The hash of the next word, 0 at the end. */
static uint64_t next_word(const char **s, const char *end)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */
	while (*s < end && !is_word_byte(**s))
		++*s;
	if (*s == end)
		return 0;
	for (; *s < end && is_word_byte(**s); ++*s)
		hash = (hash ^ (unsigned char)**s) * 1099511628211u;
	return hash | 1;
}

/* The slot of a word, or the free one where it would be. */
static uint64_t *slot_of(struct ing_text_title *title, uint64_t word)
{
	size_t i = (size_t)(word >> 32) % ING_TITLE_SLOTS;
	while (title->slots[i] != 0 && title->slots[i] != word)
		i = (i + 1) % ING_TITLE_SLOTS;
	return &title->slots[i];
}

static void add_words(struct ing_main_text *m)
{
	const char *s = ing_buf_str(&m->folded);
	const char *end = s + m->folded.len;
	for (uint64_t w = next_word(&s, end); w != 0 && m->title.count < TITLE_WORDS;
		w = next_word(&s, end)) {
		uint64_t *slot = slot_of(&m->title, w);
		m->title.count += *slot == 0;
		*slot = w;
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_fold(struct ing_main_text *m, const struct ing_text_block *b)
{
	const struct ing_tree *t = m->tree;
	ing_buf_clear(&m->folded);
	m->folded.failed = false;
	for (ing_node n = b->first; n <= b->last && m->folded.len < ING_FOLDED_BYTES; n++) {
		if (t->nodes[n].kind == ING_NODE_TEXT && !(m->marks[n] & ING_MARK_DROPPED))
			fold_text(m, t->nodes[n].text.data, t->nodes[n].text.bytes);
	}
}

void ing_main_text_read_title(struct ing_main_text *m)
{
	static const char *const names[] = {"title", "h1"};
	m->title = (struct ing_text_title){0};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		ing_node n = ing_tree_next_named(
			m->tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, names[i]);
		if (n == ING_NODE_NONE)
			continue;
		fold_nodes(m, n, m->tree->nodes[n].end - 1);
		add_words(m);
	}
}

unsigned ing_main_text_title_share(struct ing_main_text *m, const struct ing_text_block *b)
{
	unsigned all = 0;
	unsigned found = 0;
	ing_main_text_fold(m, b);
	const char *s = ing_buf_str(&m->folded);
	const char *end = s + m->folded.len;
	for (uint64_t w = next_word(&s, end); w != 0; w = next_word(&s, end)) {
		all++;
		found += *slot_of(&m->title, w) != 0;
	}
	return all == 0 ? 0 : found * 100 / all;
}

bool ing_main_text_is_title(struct ing_main_text *m, const struct ing_text_block *b)
{
	bool h1 = ing_tree_is(m->tree, b->owner, "h1");
	if (!ing_text_is_heading(b) || (!h1 && b->words < 2))
		return false;
	return ing_main_text_title_share(m, b) >= (h1 ? SHARE_H1 : SHARE);
}

int ing_main_text_level(const struct ing_main_text *m, const struct ing_text_block *b)
{
	ing_node n = b->owner;
	for (int i = 0; i < HEADING_LEVELS && n != ING_NODE_NONE; i++) {
		if (m->marks[n] & ING_KIND_HEADING)
			return ing_tree_name(m->tree, n)[1] - '0';
		n = m->tree->nodes[n].parent;
	}
	return 6;
}
