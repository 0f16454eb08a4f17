/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The article's text as its description states it, compared with the blocks of the page by groups of
 * four words. Where the page has it, it says which blocks are main text and where they end; where the
 * page has it not (it is behind a paywall, or scripts write it), it is the main text itself.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/text/article_body.h"
#include "worker/document/text/main_text_priv.h"
#include "worker/document/text/refine.h"

#define MIN_GRAMS 50   /* a shorter text is a teaser */
#define MIN_CHARS 500  /* the same, of a text that takes the page's place */
#define GOOD_CHARS 800 /* a pick so long without a word of the article is of something else */
#define BLOCK_SHARE 80 /* hundredths of a block's groups that are in the article */
#define PAGE_SHARE 50  /* hundredths of the article's groups that are in the page */
#define PROBES 16      /* a group that has no place near its own is left out */
#define TAKEN 1u       /* bit of a slot: a block had it */

struct compare {
	struct ing_main_text *m;
	uint64_t *slots; /* open addressing, 0 is free */
	size_t mask;
	uint64_t words[4];       /* hashes of the last ones, ring */
	uint64_t word;           /* that is read; 0: between two */
	uint32_t count;          /* words so far, of a block or the article */
	uint64_t last_gram;      /* of the article */
	uint32_t grams, taken;   /* of the article */
	uint32_t all, in, fresh; /* of a block: groups; those in the article; not taken yet */
	bool adds, takes, has_last;
};

/* --- groups of words --- */

/* The slot of a group, or a free one, or NULL. */
static uint64_t *slot_of(const struct compare *c, uint64_t gram)
{
	size_t i = (size_t)(gram >> 20) & c->mask;
	for (int k = 0; k < PROBES; k++, i = (i + 1) & c->mask) {
		if (c->slots[i] == 0 || (c->slots[i] & ~(uint64_t)TAKEN) == gram)
			return &c->slots[i];
	}
	return NULL;
}

static void add_gram(struct compare *c, uint64_t gram, uint64_t *slot)
{
	c->last_gram = gram;
	if (slot == NULL || *slot != 0)
		return;
	*slot = gram;
	c->grams++;
}

static void look_up(struct compare *c, uint64_t gram, uint64_t *slot)
{
	c->all++;
	if (slot == NULL || *slot == 0)
		return;
	c->in++;
	c->has_last |= gram == c->last_gram;
	c->fresh += !(*slot & TAKEN);
	if (c->takes && !(*slot & TAKEN)) {
		*slot |= TAKEN;
		c->taken++;
	}
}

static void end_word(struct compare *c)
{
	if (c->word == 0)
		return;
	c->words[c->count++ % 4] = c->word;
	c->word = 0;
	if (c->count < 4)
		return;
	uint64_t gram = 0;
	for (uint32_t i = 0; i < 4; i++)
		gram = (gram ^ c->words[(c->count + i) % 4]) * 0x9e3779b97f4a7c15u + (gram >> 29);
	gram = (gram | 2) & ~(uint64_t)TAKEN;
	if (c->adds)
		add_gram(c, gram, slot_of(c, gram));
	else
		look_up(c, gram, slot_of(c, gram));
}

static bool is_word_char(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
	return c >= 0xc0 && !(c >= 0x2000 && c < 0x2070) && !(c >= 0x3000 && c < 0x3040) &&
	       !(c >= 0xff00 && c < 0xff10) && c != 0xfeff && c != 0xfffd;
}

/* Scripts without blanks between words: a character is one. */
static bool is_word_alone(uint32_t c)
{
	return (c >= 0x0e00 && c < 0x0f00) || (c >= 0x1000 && c < 0x10a0) ||
	       (c >= 0x2e80 && c < 0xa000) || (c >= 0xf900 && c < 0xfb00) ||
	       (c >= 0x20000 && c < 0x30000);
}

static void read_text(struct compare *c, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		uint32_t code;
		i += ing_utf8_decode(s + i, bytes - i, &code);
		if (code == 0xad || code == 0x200b)
			continue;
		bool alone = is_word_alone(code);
		if (alone || !is_word_char(code))
			end_word(c);
		if (!is_word_char(code))
			continue;
		if (code >= 'A' && code <= 'Z')
			code |= 0x20;
		c->word =
			((c->word == 0 ? 14695981039346656037u : c->word) ^ code) * 1099511628211u |
			1;
		if (alone)
			end_word(c);
	}
}

static void read_block(struct compare *c, const struct ing_text_block *b)
{
	const struct ing_main_text *m = c->m;
	c->count = c->all = c->in = c->fresh = 0;
	c->word = 0;
	c->has_last = false;
	for (ing_node n = b->first; n <= b->last; n++) {
		const struct ing_tree_node *node = &m->tree->nodes[n];
		if (node->kind == ING_NODE_ELEMENT && (m->marks[n] & ING_KIND_BREAK))
			end_word(c);
		else if ((node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA) &&
			 !(m->marks[n] & ING_MARK_DROPPED))
			read_text(c, node->text.data, node->text.bytes);
	}
	end_word(c);
}

static bool read_article(struct compare *c, const struct ing_buf *article)
{
	size_t slots = 256;
	while (slots < article->len)
		slots *= 2;
	c->slots = calloc(slots, sizeof(*c->slots));
	if (c->slots == NULL)
		return false;
	c->mask = slots - 1;
	c->adds = true;
	read_text(c, ing_buf_str(article), article->len);
	end_word(c);
	c->adds = false;
	return c->grams >= MIN_GRAMS;
}

/* --- blocks --- */

struct verdicts {
	uint32_t last; /* block that is in the article */
	bool any;
	bool ends; /* the article's last words are in that one */
	uint64_t kept_chars;
	uint32_t kept_in; /* groups in kept blocks that are in the article */
};

static bool is_in(const struct compare *c)
{
	return c->all > 0 && c->in * 100 >= c->all * BLOCK_SHARE;
}

static void take(struct compare *c, struct verdicts *v, uint32_t i)
{
	c->takes = true;
	read_block(c, &c->m->blocks[i]);
	c->takes = false;
	if (!v->any || i >= v->last) {
		v->last = i;
		v->ends = c->has_last;
	}
	v->any = true;
}

static void compare_kept(struct compare *c, struct verdicts *v)
{
	for (uint32_t i = 0; i < c->m->block_count; i++) {
		const struct ing_text_block *b = &c->m->blocks[i];
		if (b->why != ING_VERDICT_KEPT)
			continue;
		read_block(c, b);
		v->kept_chars += b->chars;
		v->kept_in += c->in;
		if (is_in(c))
			take(c, v, i);
	}
}

/* Paragraphs that were left out and have what no kept one has. */
static void compare_others(struct compare *c, struct verdicts *v, uint8_t *found)
{
	for (uint32_t i = 0; i < c->m->block_count; i++) {
		const struct ing_text_block *b = &c->m->blocks[i];
		if (b->why == ING_VERDICT_KEPT || b->why == ING_VERDICT_TITLE)
			continue;
		read_block(c, b);
		if (!ing_text_is_paragraph(b) || !is_in(c) || c->fresh * 100 < c->all * BLOCK_SHARE)
			continue;
		found[i] = 1;
		take(c, v, i);
	}
}

static void apply(struct ing_main_text *m, const struct verdicts *v, const uint8_t *found)
{
	for (uint32_t i = 0; i < m->block_count; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (found[i])
			b->why = ING_VERDICT_KEPT;
		else if (b->why == ING_VERDICT_KEPT && v->ends && i > v->last)
			b->why = ING_VERDICT_OUTSIDE;
	}
}

static uint64_t chars_of(const struct ing_buf *text)
{
	uint64_t chars = 0;
	for (size_t i = 0; i < text->len; i++)
		chars += (unsigned char)text->data[i] > ' ' &&
			 ((unsigned char)text->data[i] & 0xc0) != 0x80;
	return chars;
}

/* Whether the article is what the page does not show, and what it shows is not another. */
static bool is_missing(const struct ing_main_text *m, const struct verdicts *v)
{
	uint64_t chars = chars_of(&m->article);
	return chars >= MIN_CHARS && v->kept_chars * 2 < chars &&
	       (v->kept_in > 0 || v->kept_chars < GOOD_CHARS);
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_hear_article(struct ing_main_text *m)
{
	struct compare c = {.m = m};
	struct verdicts v = {0};
	uint8_t *found = NULL;
	ing_buf_clear(&m->article);
	m->article.failed = false;
	if (!ing_article_body_read(m->tree, &m->article) || !read_article(&c, &m->article))
		goto done;
	found = calloc((size_t)m->block_count + 1, 1);
	if (found == NULL)
		goto done;
	compare_kept(&c, &v);
	compare_others(&c, &v, found);
	if ((uint64_t)c.taken * 100 >= (uint64_t)c.grams * PAGE_SHARE)
		apply(m, &v, found);
	else
		m->is_article = is_missing(m, &v);
done:
	free(found);
	free(c.slots);
}
