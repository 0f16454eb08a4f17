/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tokens.h - the words that id, class, role and aria-label are made of, and what they say about an
 * element: that it is navigation, perhaps navigation, the main content, a list of references.
 *
 * Lists and patterns are PubFetcher's; README.md says where ours differ. Words compare without
 * ASCII case. Pure; any thread; linear in the value.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* A value cut into words: at white space, controls, '_' and '-', between a lower and an upper case
 * letter, and between letter and digit. Set s and end (valid UTF-8), then call next. */
struct ing_tokens {
	const char *s, *end;
};

bool ing_tokens_next(struct ing_tokens *ts, const char **ret, size_t *ret_bytes);

enum ing_token {
	ING_TOKEN_MENU = 1,        /* navigation or footer, surely */
	ING_TOKEN_MAYBE = 2,       /* side matter, unless the main content is around or in it */
	ING_TOKEN_REFERENCES = 4,  /* a reference list */
	ING_TOKEN_ROLE_MENU = 8,   /* as a word of role or aria-label */
	ING_TOKEN_ROLE_MAYBE = 16, /* the same */
	ING_TOKEN_ROLE_MAIN = 32,  /* the same */
};

/* What a word says: enum ing_token bits. _role for words of role and aria-label. */
unsigned ing_token_classify_name(const char *s, size_t bytes);
unsigned ing_token_classify_role(const char *s, size_t bytes);

enum ing_content_mark { ING_CONTENT_NONE, ING_CONTENT_MAIN, ING_CONTENT_TITLE };
/* A whole id or class that is one word for the main content (main, content, article…) or for its
 * title, with nothing but other characters than letters around it. */
enum ing_content_mark ing_token_content_mark(const char *s, size_t bytes);
