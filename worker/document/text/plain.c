/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kept nodes as text: one pass over the tree in document order.
 */
#include "worker/document/text/plain.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/text/main_text_priv.h"

struct writer {
	struct ing_buf *out;
	size_t start; /* of our text in out */
	char pending; /* what divides from what came before: 0, ' ', '\t', '\n' */
};

static void divide(struct writer *w, char by)
{
	static const char order[] = {' ', '\t', '\n'};
	const char *a = w->pending != 0 ? memchr(order, w->pending, sizeof(order)) : NULL;
	const char *b = memchr(order, by, sizeof(order));
	if (a == NULL || b > a)
		w->pending = by;
}

static bool at_line(const struct writer *w)
{
	return w->out->len == w->start || w->out->data[w->out->len - 1] == '\n';
}

static void flush(struct writer *w)
{
	if (w->pending != 0 && !at_line(w))
		ing_buf_add_char(w->out, w->pending);
	w->pending = 0;
}

/* Characters that are no text of their own, or a blank: bytes of one, and whether it divides. */
static size_t skip_blank(const char *s, bool *ret_divides)
{
	static const struct {
		char text[4];
		bool divides;
	} blanks[] = {
		{"\xc2\xa0", true},      /* no-break space */
		{"\xc2\xad", false},     /* soft hyphen */
		{"\xe2\x80\x8b", false}, /* zero width space */
	};
	*ret_divides = true;
	if ((unsigned char)*s <= ' ')
		return 1;
	for (size_t i = 0; i < ING_ARRAY_LEN(blanks); i++) {
		size_t n = strlen(blanks[i].text);
		if (strncmp(s, blanks[i].text, n) == 0) {
			*ret_divides = blanks[i].divides;
			return n;
		}
	}
	return 0;
}

static bool may_be_blank(char c)
{
	return (unsigned char)c <= ' ' || c == '\xc2' || c == '\xe2';
}

static void add_folded(struct writer *w, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		bool divides;
		size_t blank = may_be_blank(s[i]) ? skip_blank(s + i, &divides) : 0;
		if (blank > 0) {
			if (divides)
				divide(w, ' ');
			i += blank;
			continue;
		}
		size_t n = i + 1;
		while (n < bytes && !may_be_blank(s[n]))
			n++;
		flush(w);
		ing_buf_add(w->out, s + i, n - i);
		i = n;
	}
}

/* Where an element begins or ends. */
static void divide_at(struct writer *w, uint32_t mark)
{
	if (mark & ING_KIND_CELL)
		divide(w, '\t');
	else if (mark & (ING_KIND_BLOCK | ING_KIND_BREAK))
		divide(w, '\n');
}

/* What fits of it, in whole characters. */
static void add_whole(struct ing_buf *out, const char *s, size_t bytes)
{
	ing_buf_add(out, s, ing_utf8_cut(s, bytes, out->max - out->len));
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_plain(
	const struct ing_main_text *m, const struct ing_tree *t, struct ing_buf *out)
{
	size_t bytes;
	const char *article = ing_main_text_article(m, &bytes);
	if (article != NULL)
		add_whole(out, article, bytes);
	if (m->top == ING_NODE_NONE)
		return;
	struct writer w = {.out = out, .start = out->len};
	ing_node open = m->top;
	ing_node end = t->nodes[m->top].end;
	for (ing_node n = m->top; n < end && !out->failed; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		for (; open != m->top && t->nodes[open].end <= n; open = t->nodes[open].parent)
			divide_at(&w, m->marks[open]);
		if (node->kind == ING_NODE_ELEMENT) {
			open = n;
			divide_at(&w, m->marks[n]);
		} else if (!ing_main_text_keeps(m, n)) {
			if (node->kind == ING_NODE_TEXT && !(m->marks[n] & ING_MARK_DROPPED))
				divide(&w, ' ');
		} else if (m->marks[n] & ING_MARK_PRE) {
			flush(&w);
			ing_buf_add(out, node->text.data, node->text.bytes);
		} else {
			add_folded(&w, node->text.data, node->text.bytes);
		}
	}
	if (!at_line(&w))
		ing_buf_add_char(out, '\n');
}
