/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tokens.h - the words of the attributes id, class, role and aria-label, and what they say about an
 * element: navigation, possibly navigation, main content, reference list.
 *
 * The word lists are PubFetcher's; README.md says where ours differ. Words are compared without
 * ASCII case. Pure; any thread; linear in the value.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Iterator over the words of a value, which end at white space, controls, '_' and '-', between a
 * lower and an upper case letter, and between a letter and a digit. Set s and end (valid UTF-8),
 * then call ing_tokens_next(). */
struct ing_tokens {
	const char *s, *end;
};

bool ing_tokens_next(struct ing_tokens *ts, const char **ret, size_t *ret_bytes);

enum ing_token {
	ING_TOKEN_MENU = 1,        /* navigation or footer */
	ING_TOKEN_MAYBE = 2,       /* side matter, unless around or inside the main content */
	ING_TOKEN_REFERENCES = 4,  /* a reference list */
	ING_TOKEN_ROLE_MENU = 8,   /* as a word of role or aria-label */
	ING_TOKEN_ROLE_MAYBE = 16, /* the same */
	ING_TOKEN_ROLE_MAIN = 32,  /* the same */
};

/* Return the enum ing_token bits of a word of id and class, and of role and aria-label. */
unsigned ing_token_classify_name(const char *s, size_t bytes);
unsigned ing_token_classify_role(const char *s, size_t bytes);

enum ing_content_mark { ING_CONTENT_NONE, ING_CONTENT_MAIN, ING_CONTENT_TITLE };
/* Whether a whole id or class, apart from characters other than letters around it, is a word for
 * the main content (main, content, article…) or for its title. */
enum ing_content_mark ing_token_content_mark(const char *s, size_t bytes);
