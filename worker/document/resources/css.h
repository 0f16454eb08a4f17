/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * css.h - the URLs that a style sheet, or a style attribute, refers to.
 *
 * Tokens are those of CSS Syntax Level 3: comments, escapes, strings, url() with and without quotes, bad
 * strings and bad URLs. Of the grammar only so much is followed as tells what a URL is for. The cost is
 * linear in the bytes. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum ing_css_use {
	ING_CSS_IMPORT, /* of an @import that stands before all other rules */
	ING_CSS_FONT,   /* in @font-face */
	ING_CSS_IMAGE,  /* of any other declaration */
};

enum ing_css_input {
	ING_CSS_SHEET,
	ING_CSS_DECLARATIONS, /* the value of a style attribute */
};

/* Gets a URL as it is written, escapes undone, neither resolved nor trimmed; borrowed, with a NUL behind
 * it. Returns false to stop. */
typedef bool ing_css_sink_f(void *ctx, enum ing_css_use use, const char *url, size_t bytes);

/* css: UTF-8, or any bytes in which ASCII is ASCII. URLs of over ING_URL_MAX_BYTES are left out. */
void ing_css_references(
	const char *css, size_t bytes, enum ing_css_input input, ing_css_sink_f *sink, void *ctx);
