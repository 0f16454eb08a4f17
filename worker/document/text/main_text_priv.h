/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * main_text_priv.h - what the passes over a page share. One thread.
 */
#pragma once
#include "common/markup/tree.h"
#include "worker/document/text/class_words.h"
#include "worker/document/text/kind.h"
#include "worker/document/text/main_text.h"

/* State of a node beside its kind (which fills the low bits); all but SELF bits are inherited. */
#define ING_MARK_DROPPED (1u << 20) /* not text, hidden, or boilerplate */
#define ING_MARK_LINK (1u << 21)    /* inside <a> */
#define ING_MARK_PRE (1u << 22)
#define ING_MARK_QUOTE (1u << 23)
#define ING_MARK_ITEM (1u << 24)
#define ING_MARK_CELL (1u << 25)
#define ING_MARK_CAPTION (1u << 26)
#define ING_MARK_HEADING (1u << 27)
#define ING_MARK_FIGURE (1u << 28)
#define ING_MARK_INHERITED (0x1ffu << 20)
#define ING_MARK_KIND ((1u << 20) - 1)

/* Text between two boundaries of blocks. */
struct ing_text_block {
	ing_node first, last; /* text nodes; what is between them and not dropped is the block's */
	ing_node owner;       /* nearest block element */
	uint32_t chars;       /* letters and others but white space; an ideograph counts as three */
	uint32_t link_chars;
	uint32_t words;
	uint16_t marks; /* commas, full stops and the like */
	bool ended;     /* by the end of a sentence */
	bool keep;
	uint32_t mark;
	int32_t value;
};

struct ing_main_text {
	const struct ing_tree *tree;
	uint64_t *kept;
	size_t kept_cap;
	uint32_t *kinds; /* by name */
	size_t kinds_cap;
	uint32_t *marks;  /* by node */
	uint32_t *words;  /* by node: enum ing_class_word of an element */
	uint32_t *before; /* by node: blocks that begin before it; one more entry than nodes */
	size_t nodes_cap;
	struct ing_text_block *blocks;
	uint32_t block_count, block_cap;
	int64_t *sums; /* block_count + 1 sums of values */
	size_t sums_cap;
	ing_node top;
};

void ing_main_text_mark(struct ing_main_text *m);
void ing_main_text_blocks(struct ing_main_text *m);
