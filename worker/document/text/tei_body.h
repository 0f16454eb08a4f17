/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei_body.h - the body of a TEI document, built from blocks and text in document order.
 *
 * Knows what TEI P5 allows where, and nothing of HTML: whatever order the calls come in, the body is
 * valid. A paragraph opens with its first text and ends with the next block. What cannot stand where
 * it is asked for (a table in a heading, a 200th level) becomes text, divided from the text around
 * it. One thread; the owner calls ing_tei_body_done().
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/document/text/tei_xml.h"

#define ING_TEI_MAX_DEPTH 192 /* of blocks in one another */
#define ING_TEI_MAX_SPANS 8   /* of markup inside a line, in one another */
#define ING_TEI_MAX_TARGETS 8 /* how often a link's address is written, which spans blocks */

enum ing_tei_block {
	ING_TEI_BODY,
	ING_TEI_DIV,
	ING_TEI_HEAD,
	ING_TEI_LABEL,
	ING_TEI_NOTE,
	ING_TEI_P,
	ING_TEI_QUOTE,
	ING_TEI_FIGURE,
	ING_TEI_LIST,
	ING_TEI_ITEM,
	ING_TEI_TABLE,
	ING_TEI_ROW,
	ING_TEI_CELL,
	ING_TEI_BLOCKS_
};

enum ing_tei_span {
	ING_TEI_BOLD,
	ING_TEI_ITALIC,
	ING_TEI_UNDERLINE,
	ING_TEI_SUPERSCRIPT,
	ING_TEI_SUBSCRIPT,
	ING_TEI_DELETED,
	ING_TEI_QUOTED,
	ING_TEI_CODE, /* has text and nothing else in it */
	ING_TEI_REF,
	ING_TEI_SPANS_
};

struct ing_tei_open { /* a block that is open */
	uint8_t block;
	uint8_t level;  /* of a DIV: its heading's, 1 to 7; 7 without one */
	bool implied;   /* the page has no such element */
	bool has_text;  /* text of its own since it, or the last block in it, ended */
	bool has_parts; /* a DIV inside it; rows; items */
	bool gloss;     /* of a LIST: of pairs of label and item */
	bool labelled;  /* of such a list: the last part is a label */
	bool filled;    /* of the BODY and a DIV: more than a heading and figures */
};

struct ing_tei_body {
	struct ing_tei_xml *xml;
	struct ing_tei_open open[ING_TEI_MAX_DEPTH + 8];
	unsigned depth;
	struct {
		uint8_t span;
		char *target;     /* of a REF; heap */
		unsigned written; /* how often */
	} spans[ING_TEI_MAX_SPANS];
	unsigned span_count, open_spans; /* wanted, and written in the block at hand */
	bool pending_space, pending_break;
};

void ing_tei_body_init(struct ing_tei_body *b, struct ing_tei_xml *xml); /* writes <body> */
void ing_tei_body_done(struct ing_tei_body *b);                          /* writes </body> */

/* End a paragraph; elsewhere, divide the text before from the text after. */
void ing_tei_body_divide(struct ing_tei_body *b);
void ing_tei_body_break(struct ing_tei_body *b); /* a line's; two in a row end a paragraph */

/* Begin a block: what stands before it is ended. Returns the depth for ing_tei_body_close(), which
 * ends the block and all that is open inside it. Where TEI has no place for the block, nothing is
 * begun. */
unsigned ing_tei_body_heading(struct ing_tei_body *b, unsigned level); /* 1 to 6 */
unsigned ing_tei_body_list(struct ing_tei_body *b, const char *rend, bool gloss);
unsigned ing_tei_body_item(struct ing_tei_body *b);
unsigned ing_tei_body_label(struct ing_tei_body *b); /* of a gloss list */
unsigned ing_tei_body_table(struct ing_tei_body *b);
unsigned ing_tei_body_row(struct ing_tei_body *b, bool is_label);
unsigned ing_tei_body_cell(struct ing_tei_body *b, bool is_label, unsigned cols, unsigned rows);
unsigned ing_tei_body_quote(struct ing_tei_body *b);
unsigned ing_tei_body_figure(struct ing_tei_body *b);
unsigned ing_tei_body_caption(struct ing_tei_body *b); /* of the figure or
							* table at hand */
void ing_tei_body_close(struct ing_tei_body *b, unsigned depth);
/* Where a section of the page begins; ing_tei_body_close_section() ends the divisions that its
 * headings have begun, unless they have nothing but these. */
unsigned ing_tei_body_section(struct ing_tei_body *b);
void ing_tei_body_close_section(struct ing_tei_body *b, unsigned depth);
/* Whether a block of this kind is open and the next block would stand right in it. */
bool ing_tei_body_is_in(const struct ing_tei_body *b, enum ing_tei_block block);

/* Markup inside lines, until it is popped; written with the first text inside it. Returns false
 * when it is left out (then it is not popped). Takes target (REF; else NULL). */
bool ing_tei_body_push(struct ing_tei_body *b, enum ing_tei_span span, char *target);
void ing_tei_body_pop(struct ing_tei_body *b);

/* Text: white space is folded, unless `verbatim`. */
void ing_tei_body_text(struct ing_tei_body *b, const char *s, size_t bytes, bool verbatim);
void ing_tei_body_space(struct ing_tei_body *b);
/* Make a place for an element that stands in text, and write it to b->xml then. Returns false where
 * only text may stand. */
bool ing_tei_body_place(struct ing_tei_body *b);
/* The picture of the figure at hand, if there is one. alt may be NULL. */
void ing_tei_body_graphic(struct ing_tei_body *b, const char *url, const char *alt);
