/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * css_token.h - tokens of CSS (CSS Syntax Level 3, section 4), as far as the search for URLs needs them:
 * numbers and dimensions are one kind, and have no value.
 *
 * Every byte is read once. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/buf.h"

enum ing_css_token {
	ING_CT_END,
	ING_CT_SPACE, /* comments too, and the marks of an HTML comment */
	ING_CT_WORD,  /* value: its name */
	ING_CT_FUNCTION,
	ING_CT_AT,
	ING_CT_STRING, /* value: what is between the quotes */
	ING_CT_URL,    /* without quotes; value: what is between the brackets */
	ING_CT_BAD,    /* a string with a line's end in it, a URL with a quote in it */
	ING_CT_OTHER,  /* number, hash */
	ING_CT_SIGN,   /* one character: brackets, ";", … */
};

struct ing_css_tokens {
	const char *at, *end;
	char sign;            /* of SIGN */
	struct ing_buf value; /* escapes undone; failed: longer than the ceiling, and cut */
};

void ing_css_tokens_init(
	struct ing_css_tokens *t, const char *css, size_t bytes, size_t max_value_bytes);
void ing_css_tokens_done(struct ing_css_tokens *t);
enum ing_css_token ing_css_next(struct ing_css_tokens *t);
/* Whether the value is a word, in any ASCII case. */
bool ing_css_value_is(const struct ing_css_tokens *t, const char *lower);
