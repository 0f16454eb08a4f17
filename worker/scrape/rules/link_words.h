/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * link_words.h - what the words on a link, in its file's name and around it say: that it leads to
 * another document than the one that its page is about (a guide for authors, a supplement, a cover,
 * a licence …), or to that one ("Download PDF").
 *
 * Words are compared in a folded form: lower case, without marks, each word between single spaces,
 * one at each end (" guide for authors "). A word ends at whatever is no letter or digit, between a
 * lower and an upper case letter, between letter and digit, and around Chinese, Japanese and Korean.
 * Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/buf.h"

/* Append the folded form of UTF-8 text to out; " " when it has no words. */
void ing_link_words_fold(const char *s, size_t bytes, struct ing_buf *out);

enum ing_link_words_of {        /* what a folded text is of */
	ING_LINK_WORDS_NAME,    /* the link's own words, or its file's name */
	ING_LINK_WORDS_HEADING, /* the heading that it stands under */
	ING_LINK_WORDS_FOLDER,  /* the folders of its URL */
	ING_LINK_WORDS_PLACE,   /* class, id and role of what it stands in */
};

/* Whether folded words are those of another document. Words that the folded title of the page has
 * too do not count ("A guide to beetles"), except for those of a place. title: "" when unknown. */
bool ing_link_words_are_of_another(
	const char *folded, enum ing_link_words_of of, const char *title);

enum ing_link_label {            /* how much a link's own words say that it is the document */
	ING_LINK_LABEL_OTHER,    /* none, or any other words: "Budget 2019 (PDF)" */
	ING_LINK_LABEL_DOWNLOAD, /* "Download", "View": of something */
	ING_LINK_LABEL_TEXT,     /* "Full text", "Article" */
	ING_LINK_LABEL_PDF,      /* "PDF", "Download the full article (PDF, 2 MB)" */
};
enum ing_link_label ing_link_words_label(const char *folded);
