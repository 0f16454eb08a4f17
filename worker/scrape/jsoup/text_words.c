/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words of an element's text, counted where they stand in the page: the text, of which nothing else
 * is wanted, is not written. What the text would be is in text.c; here are only its divisions. A
 * word goes on over the end of a node unless a block or <br> divides; what jsoup drops is not
 * counted; control characters at the ends of the text, which are trimmed, are none of its words.
 */
#include "worker/scrape/jsoup/text.h"

#include <endian.h>
#include <string.h>

#define MAX_FIRSTS 255 /* of one place, in a byte */
#define HIGH UINT64_C(0x8080808080808080)
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

struct counter {
	const struct ing_tree *t; /* NULL: of a text as it is written */
	ing_node node;
	uint32_t words;   /* of what was read */
	uint32_t settled; /* up to the last byte above U+0020: what is behind may be trimmed */
	bool in_word;
	bool begun; /* a byte above U+0020 was read */
};

enum kind {
	IN_WORD,
	WHITE,   /* of ASCII: trimmed at the ends */
	CONTROL, /* counted as part of a word, trimmed at the ends */
	MAYBE_C2,
	MAYBE_E,
};

static const uint8_t kinds[256] = {
	[0 ... 8] = CONTROL,
	['\t' ... '\r'] = WHITE,
	[0x0e ... 0x1b] = CONTROL,
	[0x1c ... ' '] = WHITE,
	[0xc2] = MAYBE_C2,
	[0xe1 ... 0xe3] = MAYBE_E,
};

/* Wide white space above U+00FF. */
static bool is_wide_space(uint32_t c)
{
	return c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
	       c == 0x202f || c == 0x205f || c == 0x3000;
}

static void add_visible(struct counter *c, bool white)
{
	c->words += !white && !c->in_word;
	c->in_word = !white;
	c->settled = c->words;
	c->begun = true;
}

static void add_control(struct counter *c)
{
	if (!c->begun)
		return;
	c->words += !c->in_word;
	c->in_word = true;
}

/* Whether U+00A0, U+00AD and U+200B stay what they are. */
static bool is_raw(const struct counter *c)
{
	return c->t == NULL || ing_text_is_preserved(c->t, c->node);
}

/* A character that begins with 0xc2: U+0085 is white, U+00A0 a space, U+00AD is dropped. */
static size_t add_c2(struct counter *c, const unsigned char *s)
{
	bool special = (s[1] == 0xa0 || s[1] == 0xad) && !is_raw(c);
	if (!special)
		add_visible(c, s[1] == 0xa0 || s[1] == 0x85);
	else if (s[1] == 0xa0)
		c->in_word = false;
	return 2;
}

static size_t add_wide(struct counter *c, const unsigned char *s)
{
	uint32_t code = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
	if (code != 0x200b || is_raw(c))
		add_visible(c, is_wide_space(code));
	return 3;
}

static size_t add_char(struct counter *c, const unsigned char *s)
{
	switch ((enum kind)kinds[*s]) {
	case WHITE:
		c->in_word = false;
		return 1;
	case CONTROL:
		add_control(c);
		return 1;
	case MAYBE_C2:
		return add_c2(c, s);
	case MAYBE_E:
		return add_wide(c, s);
	case IN_WORD:
	default:
		add_visible(c, false);
		return 1;
	}
}

/* Whether all of eight bytes are ASCII without control characters. */
static bool is_plain(uint64_t eight)
{
	uint64_t from_20 = eight + EACH(0x60);
	uint64_t tab_to_cr = (eight + EACH(0x77)) & ~(eight + EACH(0x72));
	return ((eight | ~(from_20 | tab_to_cr)) & HIGH) == 0;
}

/* Of plain bytes those that are in words, as their highest bits. */
static uint64_t find_inside(uint64_t eight)
{
	return (eight + EACH(0x5f)) & HIGH;
}

static void add_words(struct counter *c, uint32_t words, bool in_word, bool visible)
{
	c->words += words;
	c->in_word = in_word;
	if (visible) {
		c->settled = c->words;
		c->begun = true;
	}
}

/* The plain bytes at the front of s, eight at a time, in one go. Returns how many there are. */
static size_t add_plain(struct counter *c, const char *s, size_t bytes)
{
	uint64_t before = c->in_word ? 0x80 : 0, seen = 0;
	uint64_t firsts = 0; /* of each of the eight places */
	size_t n = 0;
	for (; bytes - n >= 8 && n < 8 * MAX_FIRSTS; n += 8) {
		uint64_t eight;
		memcpy(&eight, s + n, sizeof(eight));
		eight = le64toh(eight);
		if (!is_plain(eight))
			break;
		uint64_t inside = find_inside(eight);
		firsts += (inside & ~(inside << 8 | before)) >> 7;
		before = inside >> 56;
		seen |= inside;
	}
	const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);
	firsts = ((firsts & pairs) + (firsts >> 8 & pairs)) * UINT64_C(0x0001000100010001) >> 48;
	if (n > 0)
		add_words(c, (uint32_t)firsts, before != 0, seen != 0);
	return n;
}

/* Up to eight bytes and spaces behind them, if they are plain. */
static bool add_few(struct counter *c, uint64_t eight, size_t count)
{
	if (!is_plain(eight))
		return false;
	uint64_t inside = find_inside(eight);
	uint64_t first = inside & ~(inside << 8 | (c->in_word ? 0x80u : 0));
	add_words(c, (uint32_t)((first >> 7) * EACH(1) >> 56), (inside >> (8 * count - 1) & 1) != 0,
		inside != 0);
	return true;
}

/* `count` bytes, 1 to 8, and spaces behind them. */
static uint64_t load(const char *s, size_t count)
{
	const unsigned char *u = (const unsigned char *)s;
	uint64_t eight;
	if (count == 8) {
		memcpy(&eight, s, sizeof(eight));
		return le64toh(eight);
	}
	if (count >= 4) {
		uint32_t front, back;
		memcpy(&front, s, sizeof(front));
		memcpy(&back, s + count - sizeof(back), sizeof(back));
		eight = le32toh(front) | (uint64_t)le32toh(back) << 8 * (count - sizeof(back));
	} else {
		eight = u[0] | (uint64_t)u[count / 2] << 8 * (count / 2) |
			(uint64_t)u[count - 1] << 8 * (count - 1);
	}
	return eight | EACH(' ') << 8 * count;
}

static void add_text(struct counter *c, const char *s, size_t bytes)
{
	size_t i = 0;
	while (i < bytes) {
		i += add_plain(c, s + i, bytes - i);
		size_t count = ING_MIN(bytes - i, (size_t)8);
		if (count == 0)
			return;
		size_t end = i + count;
		if (add_few(c, load(s + i, count), count)) {
			i = end;
			continue;
		}
		while (i < end) /* the last character may go beyond */
			i += add_char(c, (const unsigned char *)s + i);
	}
}

/* Whether jsoup writes a space before n: n is a block or a <br>, or stands behind a block and is text or
 * formatted as inline. */
static bool is_divided(const struct ing_tree *t, ing_node n)
{
	uint32_t flags = ING_NAME_INLINE;
	if (ing_tree_is_element(t, n))
		flags = t->names[t->nodes[ing_tree_attr_owner(t, n)].el.name].flags;
	if ((flags & (ING_NAME_BLOCK | ING_NAME_BREAK)) != 0)
		return true;
	ing_node prev = t->nodes[n].prev;
	if ((flags & ING_NAME_INLINE) == 0 || prev == ING_NODE_NONE ||
		!ing_tree_is_element(t, prev))
		return false;
	prev = ing_tree_attr_owner(t, prev);
	return (t->names[t->nodes[prev].el.name].flags & ING_NAME_BLOCK) != 0;
}

/* The text is, or could be, too long: as much of it as is wanted is written. */
static uint32_t count_written(const struct ing_tree *t, ing_node n, size_t max_bytes)
{
	struct counter c = {0};
	struct ing_buf text;
	ing_buf_init(&text, max_bytes);
	ing_text(t, n, &text);
	add_text(&c, ing_buf_str(&text), text.len);
	ing_buf_done(&text);
	return c.settled;
}

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_text_word_count(const struct ing_tree *t, ing_node root, size_t max_bytes)
{
	struct counter c = {.t = t};
	size_t bytes = 0; /* the text has no more */
	for (ing_node n = root; n < t->nodes[root].end; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		bool text = node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA;
		if (!text && node->kind != ING_NODE_ELEMENT)
			continue;
		if (is_divided(t, n))
			c.in_word = false;
		bytes += text ? node->text.bytes + 1 : 1;
		if (bytes > max_bytes)
			return count_written(t, root, max_bytes);
		c.node = n;
		if (text)
			add_text(&c, node->text.data, node->text.bytes);
	}
	return c.settled;
}
