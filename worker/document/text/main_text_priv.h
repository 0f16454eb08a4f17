/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * main_text_priv.h - what the passes over a page share: marks of its nodes, its text as blocks, sums
 * over the blocks of a subtree. One thread.
 */
#pragma once
#include <stdlib.h>
#include "common/base/buf.h"
#include "common/markup/tree.h"
#include "worker/document/text/class_words.h"
#include "worker/document/text/kind.h"
#include "worker/document/text/main_text.h"

/* State of a node, beside its kind, which fills the low bits; inherited. */
#define ING_MARK_DROPPED (1u << 20) /* no text; of a block: boilerplate */
#define ING_MARK_LINK (1u << 21)    /* inside <a> */
#define ING_MARK_PRE (1u << 22)
#define ING_MARK_QUOTE (1u << 23)
#define ING_MARK_ITEM (1u << 24)
#define ING_MARK_CELL (1u << 25)
#define ING_MARK_HEADING (1u << 26)
#define ING_MARK_INHERITED (0x7fu << 20)

/* Why a block is not kept. */
enum ing_text_verdict {
	ING_VERDICT_KEPT,
	ING_VERDICT_OUTSIDE, /* of the chosen element */
	ING_VERDICT_NAMED,   /* in an element with boilerplate's names */
	ING_VERDICT_LINKS,   /* little but links */
	ING_VERDICT_TITLE,   /* says the page's title */
	ING_VERDICT_PHRASE,  /* a caption, or begins like what stands around articles */
	ING_VERDICT_LEAD,    /* between the title and the first paragraph, and none */
	ING_VERDICT_TAIL,    /* behind the last paragraph */
	ING_VERDICT_END,     /* behind a heading of what follows an article */
	ING_VERDICT_HEADING, /* a heading of nothing */
};

/* Text between two boundaries of blocks. */
struct ing_text_block {
	ing_node first, last; /* text nodes; what is between them and not dropped is the block's */
	ing_node owner;       /* nearest block element */
	uint32_t mark;        /* the owner's */
	uint32_t chars;       /* all but white space; an ideograph counts as three */
	uint32_t link_chars;
	uint32_t words;
	int32_t value; /* how much it says that an element with it is the main text */
	uint16_t digits;
	bool ended;     /* by the end of a sentence */
	uint8_t why;    /* enum ing_text_verdict */
	uint8_t phrase; /* enum ing_phrase, of a short block */
};

/* Sums over the blocks before one. */
struct ing_text_sum {
	int64_t value, text; /* text: of values over 0 */
	uint64_t chars, link_chars;
};

#define ING_TITLE_SLOTS 256 /* a power of two, at least twice the words */

/* The words of the page's title and first <h1>, as hashes: open addressing, 0 is free. */
struct ing_text_title {
	uint64_t slots[ING_TITLE_SLOTS];
	unsigned count;
};

struct ing_main_text {
	const struct ing_tree *tree;
	uint64_t *kept; /* by node, for nodes below kept_nodes */
	size_t kept_cap, kept_nodes;
	uint32_t *kinds; /* by name: enum ing_kind */
	size_t kinds_cap;
	uint32_t *marks;  /* by node */
	uint32_t *words;  /* by node: enum ing_class_word */
	uint32_t *before; /* by node, and one more: blocks that begin before it */
	size_t marks_cap, words_cap, before_cap;
	struct ing_text_block *blocks;
	size_t blocks_cap;
	uint32_t block_count;
	struct ing_text_sum *sums; /* block_count + 1 */
	size_t sums_cap;
	ing_node top;
	struct ing_text_title title;
	struct ing_buf folded;  /* the text last folded */
	struct ing_buf article; /* what the page states as its text, a paragraph a line */
	bool is_article;        /* which is the main text: the page shows it not */
};

/* Make room for `count` items of `bytes` in the array at *(void **)array; what is in it stays. */
bool ing_main_text_grow(void *array, size_t *cap, size_t count, size_t bytes) ING_MUST_CHECK;

/* mark.c, blocks.c: the passes that read the page. The second is false when memory is short. */
void ing_main_text_mark(struct ing_main_text *m);
bool ing_main_text_blocks(struct ing_main_text *m) ING_MUST_CHECK;
/* boilerplate.c, references.c: mark the blocks of elements with boilerplate's names, and of lists of
 * references, as dropped. */
void ing_main_text_drop_boilerplate(struct ing_main_text *m);
void ing_main_text_drop_references(struct ing_main_text *m);
/* container.c: the element that has the main text, or NONE. */
ing_node ing_main_text_container(struct ing_main_text *m);
/* refine.c: verdicts of the blocks in the container, and of a lead before it. */
void ing_main_text_refine(struct ing_main_text *m, ing_node container);
/* article_hint.c: what the articleBody of the page says about the verdicts. */
void ing_main_text_hear_article(struct ing_main_text *m);

/* title.c */
#define ING_FOLDED_BYTES 240 /* of a text: a beginning, or a title */
/* Make m->folded the beginning of a block's text: in lower case, white space folded. */
void ing_main_text_fold(struct ing_main_text *m, const struct ing_text_block *b);
void ing_main_text_read_title(struct ing_main_text *m);
/* How many hundredths of a block's words are in the title. */
unsigned ing_main_text_title_share(struct ing_main_text *m, const struct ing_text_block *b);
/* The level, 1 to 6, of a block in a heading. */
int ing_main_text_level(const struct ing_main_text *m, const struct ing_text_block *b);
bool ing_main_text_is_title(struct ing_main_text *m, const struct ing_text_block *b);

/* Sums for the values of now. */
void ing_main_text_sum(struct ing_main_text *m);

static inline int64_t ing_main_text_value(const struct ing_main_text *m, ing_node n)
{
	return m->sums[m->before[m->tree->nodes[n].end]].value - m->sums[m->before[n]].value;
}

static inline bool ing_text_is_heading(const struct ing_text_block *b)
{
	return (b->mark & ING_MARK_HEADING) != 0;
}

/* Whether most of a text is links. */
static inline bool ing_text_is_links(uint64_t link_chars, uint64_t chars)
{
	return link_chars * 3 > chars * 2;
}

/* Whether it is an element that has blocks of its own, which may be the container of a text. */
static inline bool ing_main_text_is_block(const struct ing_main_text *m, ing_node n)
{
	return m->tree->nodes[n].kind == ING_NODE_ELEMENT &&
	       (m->marks[n] & (ING_KIND_BLOCK | ING_KIND_PAGE)) != 0;
}
