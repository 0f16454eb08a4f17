/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kind.h - what an element's name says about the text in it. Constant; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Bits of an element, by its name. */
enum ing_kind {
	ING_KIND_BLOCK = 1 << 0,      /* ends the text block before it */
	ING_KIND_LINK = 1 << 1,       /* <a> */
	ING_KIND_HEADING = 1 << 2,    /* <h1> to <h6> */
	ING_KIND_DROPPED = 1 << 3,    /* what is in it is no text: scripts, widgets */
	ING_KIND_CHROME = 1 << 4,     /* <nav>, <footer>, <aside>, … */
	ING_KIND_SEMANTIC = 1 << 5,   /* <article>, <main> */
	ING_KIND_ITEM = 1 << 6,       /* <li>, <dt>, <dd> */
	ING_KIND_CELL = 1 << 7,       /* <td>, <th> */
	ING_KIND_BREAK = 1 << 8,      /* <br>, <hr> */
	ING_KIND_QUOTE = 1 << 9,      /* <blockquote>, <pre>, <figcaption>: content by intent */
	ING_KIND_PAGE = 1 << 10,      /* <html>, <body> */
	ING_KIND_PARAGRAPH = 1 << 11, /* <p> */
	ING_KIND_CAPTION = 1 << 12,   /* <figcaption>, <caption> */
	ING_KIND_PRE = 1 << 13,
	ING_KIND_HEADER = 1 << 14, /* <header> */
	ING_KIND_LIST = 1 << 15,
	ING_KIND_TABLE = 1 << 16,
	ING_KIND_FORM = 1 << 17,
	ING_KIND_FIGURE = 1 << 18,
};

uint32_t ing_kind_of_name(const char *lower, size_t bytes);
