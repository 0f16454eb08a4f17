/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kept nodes as text: one pass over the tree in document order.
 */
#include "worker/document/text/plain.h"

#include <string.h>

#include "common/base/utf8.h"
#include "worker/document/text/main_text_priv.h"

struct writer {
	struct ing_buf *out;
	size_t start; /* of our text in out */
	char pending; /* what divides from what came before: 0, ' ', '\t', '\n' */
	bool pre;
};

static void divide(struct writer *w, char by)
{
	static const char order[] = {' ', '\t', '\n'};
	const char *a = w->pending != 0 ? memchr(order, w->pending, sizeof(order)) : NULL;
	const char *b = memchr(order, by, sizeof(order));
	if (a == NULL || b > a)
		w->pending = by;
}

static void flush(struct writer *w)
{
	if (w->pending != 0 && w->out->len > w->start)
		ing_buf_add_char(w->out, w->pending);
	w->pending = 0;
}

static void add_folded(struct writer *w, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		if ((unsigned char)s[i] <= ' ') {
			divide(w, ' ');
			i++;
			continue;
		}
		if ((unsigned char)s[i] == 0xc2 && (unsigned char)s[i + 1] == 0xa0) { /* NBSP */
			divide(w, ' ');
			i += 2;
			continue;
		}
		if ((unsigned char)s[i] == 0xc2 &&
			(unsigned char)s[i + 1] == 0xad) { /* soft hyphen */
			i += 2;
			continue;
		}
		if (memcmp(s + i, "\xe2\x80\x8b", ING_MIN(bytes - i, 3u)) == 0) {
			i += 3;
			continue;
		}
		size_t n = i;
		while (n < bytes && (unsigned char)s[n] > ' ' && (unsigned char)s[n] != 0xc2 &&
			(unsigned char)s[n] != 0xe2)
			n++;
		if (n == i)
			n += ing_utf8_sequence(s + i, bytes - i);
		flush(w);
		ing_buf_add(w->out, s + i, n - i);
		i = n;
	}
}

/* Line ends are kept. */
static void add_verbatim(struct writer *w, const char *s, size_t bytes)
{
	flush(w);
	ing_buf_add(w->out, s, bytes);
}

/* -------------------------------------------------------------------------------------------- */

void ing_main_text_plain(
	const struct ing_main_text *m, const struct ing_tree *t, struct ing_buf *out)
{
	if (m->top == ING_NODE_NONE)
		return;
	struct writer w = {.out = out, .start = out->len};
	ing_node open = m->top;
	ing_node end = t->nodes[m->top].end;
	for (ing_node n = m->top; n < end && !out->failed; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		while (open != m->top && t->nodes[open].end <= n) {
			if (m->marks[open] & ING_KIND_BLOCK)
				divide(&w, m->marks[open] & ING_KIND_CELL ? '\t' : '\n');
			open = t->nodes[open].parent;
		}
		if (node->kind == ING_NODE_ELEMENT) {
			open = n;
			if (m->marks[n] & ING_KIND_BREAK)
				divide(&w, '\n');
			else if (m->marks[n] & ING_KIND_BLOCK)
				divide(&w, m->marks[n] & ING_KIND_CELL ? '\t' : '\n');
		} else if (ing_main_text_keeps(m, n)) {
			if (m->marks[n] & ING_MARK_PRE)
				add_verbatim(&w, node->text.data, node->text.bytes);
			else
				add_folded(&w, node->text.data, node->text.bytes);
		} else if (node->kind == ING_NODE_TEXT && !(m->marks[n] & ING_MARK_DROPPED)) {
			divide(&w, ' ');
		}
	}
	if (out->len > w.start)
		ing_buf_add_char(out, '\n');
}
