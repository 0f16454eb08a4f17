/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * class_words.h - what the names that authors give to elements (class, id) say about the text in
 * them. Constant; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Bits of a word in such a name. */
enum ing_class_word {
	ING_WORD_NAV = 1 << 0,     /* menus, breadcrumbs, paging, search */
	ING_WORD_SHARE = 1 << 1,   /* share bars, follow us */
	ING_WORD_RELATED = 1 << 2, /* recommendations */
	ING_WORD_COMMENT = 1 << 3, /* readers' comments, ratings and their forms */
	ING_WORD_AD = 1 << 4,      /* advertisements, sponsors */
	ING_WORD_NOTICE = 1 << 5,  /* cookie notices, overlays, log-in, newsletters */
	ING_WORD_META = 1 << 6,    /* byline, date, tags, categories */
	ING_WORD_CHROME = 1 << 7,  /* footer, sidebar */
	ING_WORD_HIDDEN = 1 << 8,  /* not shown on a screen */
	ING_WORD_CREDIT = 1 << 9,  /* copyright, source of a picture */
	ING_WORD_REFERENCES = 1 << 10,
	ING_WORD_ARTICLE = 1 << 11, /* article, post, story, entry */
	ING_WORD_BODY = 1 << 12,    /* body, content, text */
	ING_WORD_MAIN = 1 << 13,
	ING_WORD_AUTHOR = 1 << 14, /* about the author */
	ING_WORD_CAPTION = 1 << 15,
	ING_WORD_NOT = 1 << 16,    /* no, has, with: the element has or lacks what follows */
	ING_WORD_LAYOUT = 1 << 17, /* says what is in the element, not what it is */
	ING_WORD_WIDGET = 1 << 18,
	ING_WORD_GALLERY = 1 << 19, /* pictures and films with their controls */
	ING_WORD_TEASER = 1 << 20,  /* a lead, or another page's */
	ING_WORD_MATH = 1 << 21,    /* a formula: no other word of the element counts */
	ING_WORD_SECTION = 1 << 24, /* of a paper: abstract, methods */
	/* Not of a word: */
	ING_WORD_STRONG = 1 << 22,    /* a whole name of menus, sidebars or comments */
	ING_WORD_INVISIBLE = 1 << 23, /* hidden by an attribute or a style */
};

/* Returns the bits of all names in a value, which white space divides. Words of a name end where letters
 * end or a capital begins. A name of more than most_words says nothing: it is a title that was made
 * an anchor. */
uint32_t ing_class_words(const char *value, size_t bytes, unsigned most_words);
