/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * phrases.h - how the short texts begin that pages put around an article, in many languages.
 * Constant; any thread.
 */
#pragma once
#include <stddef.h>

enum ing_phrase {
	ING_PHRASE_ASIDE = 1,  /* a line that is no main text: a share button, a date */
	ING_PHRASE_CREDIT = 2, /* who made or owns a picture */
	ING_PHRASE_END =
		4, /* a heading of what follows an article: recommendations, comments, tags */
	ING_PHRASE_REFERENCES = 8, /* a heading of a list of references */
	ING_PHRASE_CLOSING = 16,   /* a last paragraph about the page: follow us, support us */
};

/* Returns the kinds (enum ing_phrase) with which a text may begin, 0 for any other. The text is in lower
 * case, without white space at its beginning. */
unsigned ing_phrases_of(const char *lower, size_t bytes);
