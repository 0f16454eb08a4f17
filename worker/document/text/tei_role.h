/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei_role.h - what an element of a page is in a TEI document. Pure; any thread that owns the tree.
 */
#pragma once
#include <stdint.h>
#include "common/markup/tree.h"

enum ing_tei_role {
	ING_TEI_ROLE_NONE,  /* nothing: its text belongs to what is around it */
	ING_TEI_ROLE_BLOCK, /* divides the text */
	ING_TEI_ROLE_SECTION,
	ING_TEI_ROLE_HEADING,
	ING_TEI_ROLE_LIST,
	ING_TEI_ROLE_ITEM,
	ING_TEI_ROLE_TERM,
	ING_TEI_ROLE_TABLE,
	ING_TEI_ROLE_ROW,
	ING_TEI_ROLE_CELL,
	ING_TEI_ROLE_CAPTION,
	ING_TEI_ROLE_FIGURE,
	ING_TEI_ROLE_QUOTE,
	ING_TEI_ROLE_PRE,
	ING_TEI_ROLE_SPAN,
	ING_TEI_ROLE_LINK,
	ING_TEI_ROLE_BREAK,
	ING_TEI_ROLE_IMAGE,
	ING_TEI_ROLE_MATH,   /* MathML */
	ING_TEI_ROLE_SCRIPT, /* may be TeX */
	ING_TEI_ROLE_COPY,   /* a formula drawn once more */
};

struct ing_tei_element {
	uint8_t role;  /* enum ing_tei_role */
	uint8_t value; /* of a HEADING: its level; of a SPAN: enum ing_tei_span */
};

/* By name and class. */
struct ing_tei_element ing_tei_element(const struct ing_tree *t, ing_node n);
/* Whether a table is there for the layout of the page: says so, has tables, headings or figures
 * inside, has no row of two cells, or a cell as long as an article. Tables in one another are
 * walked over once in all. */
bool ing_tei_is_layout(const struct ing_tree *t, ing_node table);
