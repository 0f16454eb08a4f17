/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stack of open blocks. Each kind of block takes text in one of four ways (enum holds), from which
 * follows what has to be opened or ended before something can be written.
 */
#include "worker/document/text/tei_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOWEST 7 /* level of a division without a heading */

enum holds {
	HOLDS_BLOCKS, /* text needs a paragraph */
	HOLDS_BOTH,
	HOLDS_TEXT,  /* and no blocks */
	HOLDS_PARTS, /* rows, cells, items */
};

static const struct {
	const char *name;
	enum holds holds;
	enum ing_tei_block part; /* of one that holds parts: the kind */
} blocks[ING_TEI_BLOCKS_] = {
	[ING_TEI_BODY] = {"body", HOLDS_BLOCKS, 0},
	[ING_TEI_DIV] = {"div", HOLDS_BLOCKS, 0},
	[ING_TEI_HEAD] = {"head", HOLDS_TEXT, 0},
	[ING_TEI_LABEL] = {"label", HOLDS_TEXT, 0},
	[ING_TEI_NOTE] = {"note", HOLDS_TEXT, 0},
	[ING_TEI_P] = {"p", HOLDS_TEXT, 0},
	[ING_TEI_QUOTE] = {"quote", HOLDS_BLOCKS, 0},
	[ING_TEI_FIGURE] = {"figure", HOLDS_BLOCKS, 0},
	[ING_TEI_LIST] = {"list", HOLDS_PARTS, ING_TEI_ITEM},
	[ING_TEI_ITEM] = {"item", HOLDS_BOTH, 0},
	[ING_TEI_TABLE] = {"table", HOLDS_PARTS, ING_TEI_ROW},
	[ING_TEI_ROW] = {"row", HOLDS_PARTS, ING_TEI_CELL},
	[ING_TEI_CELL] = {"cell", HOLDS_BOTH, 0},
};

static const struct {
	const char *name, *rend;
} spans[ING_TEI_SPANS_] = {
	[ING_TEI_BOLD] = {"hi", "bold"},
	[ING_TEI_ITALIC] = {"hi", "italic"},
	[ING_TEI_UNDERLINE] = {"hi", "underline"},
	[ING_TEI_SUPERSCRIPT] = {"hi", "superscript"},
	[ING_TEI_SUBSCRIPT] = {"hi", "subscript"},
	[ING_TEI_DELETED] = {"del", NULL},
	[ING_TEI_QUOTED] = {"q", NULL},
	[ING_TEI_CODE] = {"code", NULL},
	[ING_TEI_REF] = {"ref", NULL},
};

static struct ing_tei_open *top(struct ing_tei_body *b)
{
	return &b->open[b->depth - 1];
}

static enum holds top_holds(const struct ing_tei_body *b)
{
	return blocks[b->open[b->depth - 1].block].holds;
}

/* --- markup inside lines --- */

static void open_spans(struct ing_tei_body *b)
{
	for (; b->open_spans < b->span_count; b->open_spans++) {
		unsigned span = b->spans[b->open_spans].span;
		ing_tei_xml_start(b->xml, spans[span].name);
		if (spans[span].rend != NULL)
			ing_tei_xml_attr(b->xml, "rend", spans[span].rend);
		const char *target = b->spans[b->open_spans].target;
		if (target != NULL && b->spans[b->open_spans].written++ < ING_TEI_MAX_TARGETS)
			ing_tei_xml_attr(b->xml, "target", target);
	}
}

static void close_spans(struct ing_tei_body *b)
{
	while (b->open_spans > 0)
		ing_tei_xml_end(b->xml, spans[b->spans[--b->open_spans].span].name);
}

static bool in_code(const struct ing_tei_body *b)
{
	return b->span_count > 0 && b->spans[b->span_count - 1].span == ING_TEI_CODE;
}

/* --- the stack --- */

/* The start tag is left open for attributes. */
static void open_block(struct ing_tei_body *b, enum ing_tei_block block)
{
	struct ing_tei_open *parent = top(b);
	ing_must(b->depth < ING_ARRAY_LEN(b->open));
	parent->has_text = false;
	parent->has_parts = parent->has_parts || block == ING_TEI_DIV ||
			    blocks[parent->block].holds == HOLDS_PARTS;
	parent->filled = parent->filled || (block != ING_TEI_HEAD && block != ING_TEI_FIGURE);
	b->pending_break = b->pending_space = false;
	b->open[b->depth++] = (struct ing_tei_open){.block = (uint8_t)block, .level = LOWEST};
	ing_tei_xml_start(b->xml, blocks[block].name);
}

/* TEI has no tables without rows, no lists without items, and no labels without their items. */
static void complete(struct ing_tei_body *b)
{
	const struct ing_tei_open *o = top(b);
	bool is_list = o->block == ING_TEI_LIST;
	if (blocks[o->block].holds != HOLDS_PARTS || (o->has_parts && !o->labelled))
		return;
	if (is_list && o->gloss && !o->labelled) {
		ing_tei_xml_start(b->xml, "label");
		ing_tei_xml_end(b->xml, "label");
	}
	if (o->block == ING_TEI_TABLE)
		ing_tei_xml_start(b->xml, "row");
	ing_tei_xml_start(b->xml, is_list ? "item" : "cell");
	ing_tei_xml_end(b->xml, is_list ? "item" : "cell");
	if (o->block == ING_TEI_TABLE)
		ing_tei_xml_end(b->xml, "row");
}

static void close_block(struct ing_tei_body *b)
{
	close_spans(b);
	complete(b);
	ing_tei_xml_end(b->xml, blocks[top(b)->block].name);
	ing_tei_xml_line(b->xml);
	b->depth--;
	b->pending_break = b->pending_space = false;
	if (b->depth > 0)
		top(b)->has_text = false;
}

static void close_to(struct ing_tei_body *b, unsigned depth)
{
	while (b->depth > depth)
		close_block(b);
}

/* Open the part of a list, table or row that the page does not have. */
static void open_implied_parts(struct ing_tei_body *b)
{
	while (top_holds(b) == HOLDS_PARTS) {
		struct ing_tei_open *o = top(b);
		if (o->gloss && !o->labelled) {
			ing_tei_xml_start(b->xml, "label");
			ing_tei_xml_end(b->xml, "label");
		}
		o->labelled = false;
		open_block(b, blocks[o->block].part);
		top(b)->implied = true;
	}
}

/* TEI allows nothing behind a division but divisions. */
static void open_division(struct ing_tei_body *b)
{
	const struct ing_tei_open *o = top(b);
	if ((o->block == ING_TEI_DIV || o->block == ING_TEI_BODY) && o->has_parts)
		open_block(b, ING_TEI_DIV);
}

/* Make a place for a block. Returns false when there is none. */
static bool make_room(struct ing_tei_body *b)
{
	ing_tei_body_divide(b);
	if (top_holds(b) == HOLDS_TEXT || b->depth >= ING_TEI_MAX_DEPTH)
		return false;
	open_implied_parts(b);
	open_division(b);
	close_spans(b);
	return true;
}

/* Make a place for text. */
static void make_line(struct ing_tei_body *b)
{
	if (top_holds(b) == HOLDS_PARTS)
		open_implied_parts(b);
	if (top_holds(b) != HOLDS_BLOCKS)
		return;
	open_division(b);
	open_block(b, ING_TEI_P);
}

static unsigned begin(struct ing_tei_body *b, enum ing_tei_block block)
{
	if (!make_room(b))
		return b->depth;
	open_block(b, block);
	return b->depth - 1;
}

/* End what was implied in the list, table or row at hand. Returns false when that is of another
 * kind. */
static bool reach(struct ing_tei_body *b, enum ing_tei_block block)
{
	unsigned depth = b->depth;
	while (depth > 1 && b->open[depth - 1].block != block &&
		(b->open[depth - 1].implied || b->open[depth - 1].block == ING_TEI_P))
		depth--;
	if (b->open[depth - 1].block != block)
		return false;
	close_to(b, depth);
	return true;
}

/* Before anything that stands in a line. */
static void begin_content(struct ing_tei_body *b)
{
	make_line(b);
	struct ing_tei_open *o = top(b);
	bool code = in_code(b) && b->open_spans == b->span_count;
	if (b->pending_break && o->has_text && code) {
		ing_tei_xml_text(b->xml, "\n", 1);
	} else if (b->pending_break && o->has_text) {
		ing_tei_xml_start(b->xml, "lb");
		ing_tei_xml_end(b->xml, "lb");
	} else if (b->pending_space && o->has_text) {
		ing_tei_xml_text(b->xml, " ", 1);
	}
	b->pending_break = b->pending_space = false;
	o->has_text = true;
	open_spans(b);
}

static bool is_space(char c)
{
	return (unsigned char)c <= ' ';
}

/* -------------------------------------------------------------------------------------------- */

void ing_tei_body_init(struct ing_tei_body *b, struct ing_tei_xml *xml)
{
	memset(b, 0, sizeof(*b));
	b->xml = xml;
	b->open[b->depth++] = (struct ing_tei_open){.block = ING_TEI_BODY};
	ing_tei_xml_start(xml, "body");
	ing_tei_xml_line(xml);
}

void ing_tei_body_done(struct ing_tei_body *b)
{
	while (b->span_count > 0)
		ing_tei_body_pop(b);
	close_to(b, 1);
	if (!top(b)->filled) {
		ing_tei_xml_start(b->xml, "p");
		ing_tei_xml_end(b->xml, "p");
	}
	close_block(b);
}

void ing_tei_body_divide(struct ing_tei_body *b)
{
	if (top(b)->block == ING_TEI_P)
		close_block(b);
	else if (top(b)->has_text)
		b->pending_break = true;
	b->pending_space = false;
}

void ing_tei_body_break(struct ing_tei_body *b)
{
	if (b->pending_break && top(b)->block == ING_TEI_P && !in_code(b))
		close_block(b);
	else if (top(b)->has_text)
		b->pending_break = true;
}

unsigned ing_tei_body_heading(struct ing_tei_body *b, unsigned level)
{
	ing_tei_body_divide(b);
	bool in_flow = top(b)->block == ING_TEI_DIV || top(b)->block == ING_TEI_BODY;
	if (!in_flow || b->depth + 2 >= ING_TEI_MAX_DEPTH)
		return begin(b, ING_TEI_LABEL);
	close_spans(b);
	while (top(b)->block == ING_TEI_DIV && top(b)->level >= level)
		close_block(b);
	open_block(b, ING_TEI_DIV);
	top(b)->level = (uint8_t)level;
	open_block(b, ING_TEI_HEAD);
	return b->depth - 1;
}

unsigned ing_tei_body_list(struct ing_tei_body *b, const char *rend, bool gloss)
{
	unsigned depth = begin(b, ING_TEI_LIST);
	if (depth == b->depth)
		return depth;
	ing_tei_xml_attr(b->xml, gloss ? "type" : "rend", gloss ? "gloss" : rend);
	top(b)->gloss = gloss;
	return depth;
}

unsigned ing_tei_body_item(struct ing_tei_body *b)
{
	if (!reach(b, ING_TEI_LIST) || b->depth >= ING_TEI_MAX_DEPTH) {
		ing_tei_body_divide(b);
		return b->depth;
	}
	unsigned depth = b->depth;
	open_implied_parts(b);
	top(b)->implied = false;
	return depth;
}

unsigned ing_tei_body_label(struct ing_tei_body *b)
{
	if (!reach(b, ING_TEI_LIST) || !top(b)->gloss)
		return ing_tei_body_item(b);
	if (top(b)->labelled) {
		ing_tei_xml_start(b->xml, "item");
		ing_tei_xml_end(b->xml, "item");
	}
	top(b)->labelled = true;
	open_block(b, ING_TEI_LABEL);
	return b->depth - 1;
}

unsigned ing_tei_body_table(struct ing_tei_body *b)
{
	return begin(b, ING_TEI_TABLE);
}

unsigned ing_tei_body_row(struct ing_tei_body *b, bool is_label)
{
	if (!reach(b, ING_TEI_TABLE) || b->depth >= ING_TEI_MAX_DEPTH) {
		ing_tei_body_divide(b);
		return b->depth;
	}
	open_block(b, ING_TEI_ROW);
	if (is_label)
		ing_tei_xml_attr(b->xml, "role", "label");
	return b->depth - 1;
}

unsigned ing_tei_body_cell(struct ing_tei_body *b, bool is_label, unsigned cols, unsigned rows)
{
	char number[16];
	if (!reach(b, ING_TEI_ROW) || b->depth >= ING_TEI_MAX_DEPTH) {
		ing_tei_body_divide(b);
		return b->depth;
	}
	open_block(b, ING_TEI_CELL);
	if (is_label)
		ing_tei_xml_attr(b->xml, "role", "label");
	snprintf(number, sizeof(number), "%u", cols);
	if (cols > 1)
		ing_tei_xml_attr(b->xml, "cols", number);
	snprintf(number, sizeof(number), "%u", rows);
	if (rows > 1)
		ing_tei_xml_attr(b->xml, "rows", number);
	return b->depth - 1;
}

unsigned ing_tei_body_quote(struct ing_tei_body *b)
{
	return begin(b, ING_TEI_QUOTE);
}

unsigned ing_tei_body_figure(struct ing_tei_body *b)
{
	return begin(b, ING_TEI_FIGURE);
}

unsigned ing_tei_body_caption(struct ing_tei_body *b)
{
	ing_tei_body_divide(b);
	struct ing_tei_open *o = top(b);
	if (o->block == ING_TEI_FIGURE || (o->block == ING_TEI_TABLE && !o->has_parts)) {
		bool had_parts = o->has_parts;
		open_block(b, ING_TEI_HEAD);
		b->open[b->depth - 2].has_parts = had_parts;
		return b->depth - 1;
	}
	return o->block == ING_TEI_TABLE ? begin(b, ING_TEI_NOTE) : b->depth;
}

void ing_tei_body_close(struct ing_tei_body *b, unsigned depth)
{
	if (depth < b->depth)
		close_to(b, depth);
	else
		ing_tei_body_divide(b);
}

unsigned ing_tei_body_section(struct ing_tei_body *b)
{
	ing_tei_body_divide(b);
	return b->depth;
}

void ing_tei_body_close_section(struct ing_tei_body *b, unsigned depth)
{
	ing_tei_body_divide(b);
	while (b->depth > depth && top(b)->block == ING_TEI_DIV && top(b)->filled)
		close_block(b);
}

bool ing_tei_body_is_in(const struct ing_tei_body *b, enum ing_tei_block block)
{
	return b->open[b->depth - 1].block == block;
}

bool ing_tei_body_push(struct ing_tei_body *b, enum ing_tei_span span, char *target)
{
	bool useless = b->span_count == ING_TEI_MAX_SPANS || in_code(b);
	for (unsigned i = 0; i < b->span_count && !useless; i++)
		useless = b->spans[i].span == span;
	if (useless) {
		free(target);
		return false;
	}
	b->spans[b->span_count].span = (uint8_t)span;
	b->spans[b->span_count].written = 0;
	b->spans[b->span_count++].target = target;
	return true;
}

void ing_tei_body_pop(struct ing_tei_body *b)
{
	ing_must(b->span_count > 0);
	if (b->open_spans == b->span_count)
		ing_tei_xml_end(b->xml, spans[b->spans[--b->open_spans].span].name);
	b->span_count--;
	free(ING_TAKE(b->spans[b->span_count].target));
}

void ing_tei_body_text(struct ing_tei_body *b, const char *s, size_t bytes, bool verbatim)
{
	if (verbatim && bytes > 0) {
		begin_content(b);
		ing_tei_xml_text(b->xml, s, bytes);
		return;
	}
	for (size_t i = 0; i < bytes;) {
		size_t from = i;
		while (i < bytes && !is_space(s[i]))
			i++;
		if (i > from) {
			begin_content(b);
			ing_tei_xml_text(b->xml, s + from, i - from);
		}
		for (; i < bytes && is_space(s[i]); i++)
			b->pending_space = true;
	}
}

void ing_tei_body_space(struct ing_tei_body *b)
{
	b->pending_space = true;
}

bool ing_tei_body_place(struct ing_tei_body *b)
{
	if (in_code(b))
		return false;
	begin_content(b);
	return true;
}

void ing_tei_body_graphic(struct ing_tei_body *b, const char *url, const char *alt)
{
	if (top(b)->block == ING_TEI_P && b->open[b->depth - 2].block == ING_TEI_FIGURE)
		close_block(b);
	if (top(b)->block != ING_TEI_FIGURE)
		return;
	ing_tei_xml_start(b->xml, "graphic");
	ing_tei_xml_attr(b->xml, "url", url);
	ing_tei_xml_end(b->xml, "graphic");
	ing_tei_xml_line(b->xml);
	ing_tei_xml_leaf(b->xml, "figDesc", alt);
}
