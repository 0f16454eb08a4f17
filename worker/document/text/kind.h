/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kind.h - what an element's name says about the text in it. Constant; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Bits of an element, by its name. */
enum ing_kind {
	ING_KIND_BLOCK = 1 << 0,     /* ends the text before it */
	ING_KIND_PAGE = 1 << 1,      /* <html>, <body> */
	ING_KIND_DROPPED = 1 << 2,   /* what is in it is no text: scripts, widgets, media */
	ING_KIND_CHROME = 1 << 3,    /* <nav>, <footer>, <aside> */
	ING_KIND_FORM = 1 << 4,      /* <form>, <fieldset> */
	ING_KIND_SEMANTIC = 1 << 5,  /* <article>, <main> */
	ING_KIND_LINK = 1 << 6,      /* <a> */
	ING_KIND_BREAK = 1 << 7,     /* <br> */
	ING_KIND_HEADING = 1 << 8,   /* <h1> to <h6> */
	ING_KIND_PARAGRAPH = 1 << 9, /* <p> */
	ING_KIND_LIST = 1 << 10,     /* <ul>, <ol>, <dl>, … */
	ING_KIND_ITEM = 1 << 11,     /* <li>, <dt>, <dd> */
	ING_KIND_TABLE = 1 << 12,
	ING_KIND_CELL = 1 << 13,    /* <td>, <th> */
	ING_KIND_QUOTE = 1 << 14,   /* <blockquote>, <pre>: text by intent */
	ING_KIND_PRE = 1 << 15,     /* white space is kept */
	ING_KIND_CAPTION = 1 << 16, /* <figcaption> */
};

uint32_t ing_kind_of_name(const char *lower, size_t bytes);
