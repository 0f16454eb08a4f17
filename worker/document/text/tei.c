/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One walk over the tree in document order, into those elements alone that have kept text. What an
 * element ends is kept on a stack of our own.
 */
#include "worker/document/text/tei.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/markup/link.h"
#include "common/net/url_mask.h"
#include "worker/document/text/formula.h"
#include "worker/document/text/tei_body.h"
#include "worker/document/text/tei_header.h"
#include "worker/document/text/tei_role.h"

#define MAX_TARGET_BYTES 4096 /* a longer link keeps its text only */
#define MAX_SPAN 1000         /* rows and columns of a cell, as HTML has it */

enum at_end { /* of an element */
	AT_END_NOTHING,
	AT_END_DIVIDE,
	AT_END_CLOSE, /* the block that it began */
	AT_END_CLOSE_TABLE,
	AT_END_CLOSE_SECTION,
	AT_END_POP, /* its markup inside lines */
	AT_END_POP_PRE,
};

struct frame {
	ing_node end;
	uint8_t at_end;
	uint16_t depth; /* of blocks, for CLOSE */
};

struct writer {
	struct ing_tree *tree;
	const struct ing_main_text *main_text;
	struct ing_tei_xml xml;
	struct ing_tei_body body;
	ing_node next_kept; /* first text that is written, at or behind the node at hand */
	ing_node end;
	struct frame *frames;
	size_t frame_count, frame_cap;
	bool verbatim;
	bool in_table; /* of data: its rows and cells are such */
};

/* --- what is kept --- */

static bool is_text(const struct ing_tree_node *node)
{
	return node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA;
}

static bool is_blank(const struct ing_tree_node *node)
{
	for (size_t i = 0; i < node->text.bytes; i++)
		if ((unsigned char)node->text.data[i] > ' ')
			return false;
	return true;
}

static bool is_written(const struct writer *w, ing_node n)
{
	const struct ing_tree_node *node = &w->tree->nodes[n];
	return is_text(node) && ing_main_text_keeps(w->main_text, n) && !is_blank(node);
}

/* Whether there is text to be written in [from, end). Asked in document order. */
static bool has_kept(struct writer *w, ing_node from, ing_node end)
{
	w->next_kept = ING_MAX(w->next_kept, from);
	while (w->next_kept < w->end && !is_written(w, w->next_kept))
		w->next_kept++;
	return w->next_kept < end;
}

/* --- elements --- */

static void push(struct writer *w, ing_node n, enum at_end at_end, unsigned depth)
{
	if (w->frame_count == w->frame_cap) {
		w->frame_cap = ING_MAX((size_t)64, w->frame_cap * 2);
		w->frames = ing_realloc(w->frames, w->frame_cap * sizeof(*w->frames));
	}
	w->frames[w->frame_count++] = (struct frame){
		.end = w->tree->nodes[n].end, .at_end = (uint8_t)at_end, .depth = (uint16_t)depth};
}

static void end_element(struct writer *w)
{
	const struct frame *f = &w->frames[--w->frame_count];
	switch ((enum at_end)f->at_end) {
	case AT_END_NOTHING:
		break;
	case AT_END_DIVIDE:
		ing_tei_body_divide(&w->body);
		break;
	case AT_END_CLOSE_TABLE:
		w->in_table = false;
		ing_tei_body_close(&w->body, f->depth);
		break;
	case AT_END_CLOSE:
		ing_tei_body_close(&w->body, f->depth);
		break;
	case AT_END_CLOSE_SECTION:
		ing_tei_body_close_section(&w->body, f->depth);
		break;
	case AT_END_POP_PRE:
		w->verbatim = false;
		ing_tei_body_pop(&w->body);
		ing_tei_body_divide(&w->body);
		break;
	case AT_END_POP:
		ing_tei_body_pop(&w->body);
		break;
	}
}

/* XML Schema's anyURI follows RFC 3986, which has fewer characters than browsers' URLs; brackets of
 * IPv6 addresses stay. */
static char *escape_uri(const char *url)
{
	struct ing_buf out;
	ing_buf_init(&out, 16 * (size_t)MAX_TARGET_BYTES);
	const char *host = strstr(url, "://");
	const char *path = host != NULL ? host + 3 + strcspn(host + 3, "/?#") : url;
	ing_buf_add(&out, url, (size_t)(path - url));
	for (const char *s = path; *s != '\0'; s++) {
		if (strchr("[]{}|\\^`<>\"", *s) != NULL)
			ing_buf_printf(&out, "%%%02X", (unsigned char)*s);
		else
			ing_buf_add_char(&out, *s);
	}
	return ing_buf_steal(&out);
}

/* Returns the absolute http(s) or mailto URL of an attribute on the heap, without passwords; NULL
 * when it has none. */
static char *link_of(struct writer *w, ing_node n, const char *attr)
{
	size_t bytes = 0;
	const char *value = ing_tree_attr(w->tree, n, attr, &bytes);
	if (value == NULL || bytes == 0 || bytes > MAX_TARGET_BYTES)
		return NULL;
	char *url = ing_link_resolve(w->tree, value, bytes);
	if (url == NULL || strlen(url) > MAX_TARGET_BYTES ||
		(strncmp(url, "http:", 5) != 0 && strncmp(url, "https:", 6) != 0 &&
			strncmp(url, "mailto:", 7) != 0)) {
		free(url);
		return NULL;
	}
	struct ing_buf masked;
	ing_buf_init(&masked, 4 * (size_t)MAX_TARGET_BYTES);
	ing_url_mask(url, strlen(url), &masked);
	free(url);
	url = escape_uri(ing_buf_str(&masked));
	ing_buf_done(&masked);
	return url;
}

static unsigned span_of(const struct writer *w, ing_node n, const char *attr)
{
	const char *s = ing_tree_attr(w->tree, n, attr, NULL);
	unsigned long v = s != NULL && *s >= '0' && *s <= '9' ? strtoul(s, NULL, 10) : 1;
	return (unsigned)ING_MIN(v, (unsigned long)MAX_SPAN);
}

static bool is_in_thead(const struct writer *w, ing_node row)
{
	return ing_tree_is(w->tree, w->tree->nodes[row].parent, "thead");
}

static bool is_gloss(const struct writer *w, ing_node list)
{
	return ing_tree_is(w->tree, list, "dl");
}

static void begin_table(struct writer *w, ing_node n)
{
	if (ing_tei_is_layout(w->tree, n)) {
		ing_tei_body_divide(&w->body);
		push(w, n, AT_END_DIVIDE, 0);
		return;
	}
	unsigned depth = ing_tei_body_table(&w->body);
	w->in_table = true;
	push(w, n, AT_END_CLOSE_TABLE, depth);
}

static void begin_span(struct writer *w, ing_node n, enum ing_tei_span span)
{
	bool pushed = ing_tei_body_push(&w->body, span, NULL);
	push(w, n, pushed ? AT_END_POP : AT_END_NOTHING, 0);
}

static void begin_link(struct writer *w, ing_node n)
{
	char *target = link_of(w, n, "href");
	bool pushed = target != NULL && ing_tei_body_push(&w->body, ING_TEI_REF, target);
	push(w, n, pushed ? AT_END_POP : AT_END_NOTHING, 0);
}

static void begin_pre(struct writer *w, ing_node n)
{
	ing_tei_body_divide(&w->body);
	bool pushed = ing_tei_body_push(&w->body, ING_TEI_CODE, NULL);
	w->verbatim = pushed;
	push(w, n, pushed ? AT_END_POP_PRE : AT_END_DIVIDE, 0);
}

static void begin_row_or_cell(struct writer *w, ing_node n, struct ing_tei_element e)
{
	unsigned depth;
	if (!w->in_table) {
		ing_tei_body_divide(&w->body);
		push(w, n, AT_END_DIVIDE, 0);
		return;
	}
	if (e.role == ING_TEI_ROLE_ROW)
		depth = ing_tei_body_row(&w->body, is_in_thead(w, n));
	else
		depth = ing_tei_body_cell(
			&w->body, e.value == 1, span_of(w, n, "colspan"), span_of(w, n, "rowspan"));
	push(w, n, AT_END_CLOSE, depth);
}

/* An element with kept text inside. */
static void begin_element(struct writer *w, ing_node n, struct ing_tei_element e)
{
	struct ing_tei_body *b = &w->body;
	switch ((enum ing_tei_role)e.role) {
	case ING_TEI_ROLE_SECTION:
		push(w, n, AT_END_CLOSE_SECTION, ing_tei_body_section(b));
		break;
	case ING_TEI_ROLE_HEADING:
		push(w, n, AT_END_CLOSE, ing_tei_body_heading(b, e.value));
		break;
	case ING_TEI_ROLE_LIST:
		push(w, n, AT_END_CLOSE,
			ing_tei_body_list(b,
				ing_tree_is(w->tree, n, "ol") ? "numbered" : "bulleted",
				is_gloss(w, n)));
		break;
	case ING_TEI_ROLE_ITEM:
		push(w, n, AT_END_CLOSE, ing_tei_body_item(b));
		break;
	case ING_TEI_ROLE_TERM:
		push(w, n, AT_END_CLOSE, ing_tei_body_label(b));
		break;
	case ING_TEI_ROLE_TABLE:
		begin_table(w, n);
		break;
	case ING_TEI_ROLE_ROW:
	case ING_TEI_ROLE_CELL:
		begin_row_or_cell(w, n, e);
		break;
	case ING_TEI_ROLE_CAPTION:
		push(w, n, AT_END_CLOSE, ing_tei_body_caption(b));
		break;
	case ING_TEI_ROLE_FIGURE:
		push(w, n, AT_END_CLOSE, ing_tei_body_figure(b));
		break;
	case ING_TEI_ROLE_QUOTE:
		push(w, n, AT_END_CLOSE, ing_tei_body_quote(b));
		break;
	case ING_TEI_ROLE_PRE:
		begin_pre(w, n);
		break;
	case ING_TEI_ROLE_SPAN:
		begin_span(w, n, e.value);
		break;
	case ING_TEI_ROLE_LINK:
		begin_link(w, n);
		break;
	case ING_TEI_ROLE_BLOCK:
		ing_tei_body_divide(b);
		push(w, n, AT_END_DIVIDE, 0);
		break;
	default:
		push(w, n, AT_END_NOTHING, 0);
	}
}

/* --- what has no text --- */

static void add_image(struct writer *w, ing_node n)
{
	static const char *const attrs[] = {"src", "data-src", "data-original"};
	char *url = NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(attrs) && url == NULL; i++)
		url = link_of(w, n, attrs[i]);
	if (url != NULL)
		ing_tei_body_graphic(&w->body, url, ing_tree_attr(w->tree, n, "alt", NULL));
	free(url);
}

/* A formula or a picture among kept text. */
static void add_object(struct writer *w, ing_node n, enum ing_tei_role role)
{
	bool display;
	if (role == ING_TEI_ROLE_MATH) {
		if (ing_tei_body_place(&w->body))
			ing_formula_mathml(&w->xml, w->tree, n);
		return;
	}
	const char *tex = ing_formula_tex_of(w->tree, n, &display);
	if (tex != NULL) {
		if (ing_tei_body_place(&w->body))
			ing_formula_tex(&w->xml, tex, display);
	} else if (role == ING_TEI_ROLE_IMAGE) {
		add_image(w, n);
	}
}

static bool is_object(enum ing_tei_role role)
{
	return role == ING_TEI_ROLE_MATH || role == ING_TEI_ROLE_SCRIPT ||
	       role == ING_TEI_ROLE_IMAGE;
}

/* The formulas and pictures of an element without kept text belong to the text around it, if the
 * element has no text at all. */
static void add_textless(struct writer *w, ing_node n, bool is_block)
{
	const struct ing_tree *t = w->tree;
	ing_node end = t->nodes[n].end;
	if (is_block)
		ing_tei_body_divide(&w->body);
	else if (end > n + 1)
		ing_tei_body_space(&w->body);
	for (int pass = 0; pass < 2; pass++) {
		for (ing_node i = n + 1; i < end; i++) {
			if (is_text(&t->nodes[i]) && !is_blank(&t->nodes[i]))
				return;
			if (t->nodes[i].kind != ING_NODE_ELEMENT)
				continue;
			enum ing_tei_role role = ing_tei_element(t, i).role;
			if (!is_object(role))
				continue;
			if (pass == 1) {
				if (is_block)
					ing_tei_body_divide(&w->body);
				add_object(w, i, role);
			}
			i = t->nodes[i].end - 1;
		}
	}
}

/* --- the walk --- */

/* Returns the next node. */
static ing_node enter(struct writer *w, ing_node n)
{
	const struct ing_tree_node *node = &w->tree->nodes[n];
	struct ing_tei_element e = ing_tei_element(w->tree, n);
	if (e.role == ING_TEI_ROLE_BREAK) {
		ing_tei_body_break(&w->body);
		return node->end;
	}
	if (e.role == ING_TEI_ROLE_COPY)
		return node->end;
	if (is_object(e.role)) {
		add_object(w, n, e.role);
		return node->end;
	}
	bool is_kept = has_kept(w, n, node->end);
	bool is_empty_cell = !is_kept && e.role == ING_TEI_ROLE_CELL && w->in_table &&
			     ing_tei_body_is_in(&w->body, ING_TEI_ROW);
	if (is_kept || is_empty_cell) {
		begin_element(w, n, e);
		return n + 1;
	}
	add_textless(w, n,
		e.role != ING_TEI_ROLE_NONE && e.role != ING_TEI_ROLE_SPAN &&
			e.role != ING_TEI_ROLE_LINK);
	return node->end;
}

static void walk(struct writer *w, ing_node top)
{
	const struct ing_tree *t = w->tree;
	w->end = t->nodes[top].end;
	for (ing_node n = top; n < w->end && !w->xml.out->failed;) {
		const struct ing_tree_node *node = &t->nodes[n];
		while (w->frame_count > 0 && w->frames[w->frame_count - 1].end <= n)
			end_element(w);
		if (node->kind == ING_NODE_ELEMENT) {
			n = enter(w, n);
			continue;
		}
		bool is_space = is_text(node) && is_blank(node);
		if (is_text(node) && (is_written(w, n) || (is_space && w->verbatim)))
			ing_tei_body_text(&w->body, node->text.data, node->text.bytes, w->verbatim);
		else if (is_text(node))
			ing_tei_body_space(&w->body);
		n++;
	}
	while (w->frame_count > 0)
		end_element(w);
}

static void write_article(struct writer *w, const char *article, size_t bytes)
{
	for (const char *end = article + bytes; article < end;) {
		const char *stop = memchr(article, '\n', (size_t)(end - article));
		ing_tei_body_text(&w->body, article, (size_t)(stop - article), false);
		ing_tei_body_divide(&w->body);
		article = stop + 1;
	}
}

/* -------------------------------------------------------------------------------------------- */

bool ing_tei_write(const struct ing_tei_source *source, struct ing_buf *out)
{
	struct writer w = {
		.tree = source->tree, .main_text = source->main_text, .xml = {.out = out}};
	char language[ING_TEI_LANGUAGE_BYTES];
	ing_node top = ing_main_text_top(source->main_text);
	ing_buf_add_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	ing_tei_xml_start(&w.xml, "TEI");
	ing_tei_xml_attr(&w.xml, "xmlns", "http://www.tei-c.org/ns/1.0");
	ing_tei_xml_line(&w.xml);
	ing_tei_header(&w.xml, source);
	ing_tei_xml_start(&w.xml, "text");
	if (ing_tei_language(source->language, language) != NULL)
		ing_tei_xml_attr(&w.xml, "xml:lang", language);
	ing_tei_xml_line(&w.xml);
	ing_tei_body_init(&w.body, &w.xml);
	size_t bytes;
	const char *article = ing_main_text_article(source->main_text, &bytes);
	if (article != NULL)
		write_article(&w, article, bytes);
	else if (top != ING_NODE_NONE)
		walk(&w, top);
	ing_tei_body_done(&w.body);
	ing_tei_xml_end(&w.xml, "text");
	ing_tei_xml_line(&w.xml);
	ing_tei_xml_end(&w.xml, "TEI");
	ing_tei_xml_line(&w.xml);
	free(w.frames);
	return !out->failed;
}
