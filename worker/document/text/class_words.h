/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * class_words.h - what the names that authors give to elements (class, id, role, …) say about the
 * text in them. Constant; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Bits of a word in such a name. */
enum ing_class_word {
	ING_WORD_NAV = 1 << 0,     /* menus, breadcrumbs, paging, search */
	ING_WORD_SHARE = 1 << 1,   /* share bars, follow us */
	ING_WORD_RELATED = 1 << 2, /* recommendations */
	ING_WORD_COMMENT = 1 << 3, /* readers' comments and their forms */
	ING_WORD_AD = 1 << 4,      /* advertisements, sponsors */
	ING_WORD_NOTICE = 1 << 5,  /* cookie notices, overlays, log-in, newsletters */
	ING_WORD_META = 1 << 6,    /* byline, date, tags, categories */
	ING_WORD_CHROME = 1 << 7,  /* footer, sidebar, widget */
	ING_WORD_HIDDEN = 1 << 8,  /* not shown on a screen */
	ING_WORD_CREDIT = 1 << 9,  /* copyright, source of a picture */
	ING_WORD_REFERENCES = 1 << 10,
	ING_WORD_TITLE = 1 << 11,
	ING_WORD_ARTICLE = 1 << 12, /* article, post, story, entry */
	ING_WORD_BODY = 1 << 13,    /* body, content, text */
	ING_WORD_MAIN = 1 << 14,
	ING_WORD_AUTHOR = 1 << 15, /* about the author */
	ING_WORD_CAPTION = 1 << 16,
	ING_WORD_LIST = 1 << 17, /* list, grid, feed, card: of items like one another */
	ING_WORD_NOT =
		1 << 18, /* no, has, with: says of the element that it has or lacks something */
	ING_WORD_EMBED = 1 << 19, /* quotations of other services */
};

/* Returns the bits of all words in a value; words end where letters end or a capital begins. */
uint32_t ing_class_words(const char *value, size_t bytes);
