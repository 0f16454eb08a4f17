/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slow_patterns.h - finds regular expressions that cost much on a page, before a page does: each is
 * looked for in texts made for it, and its steps are counted (worker/scrape/jsoup/regex_steps.h).
 *
 * Owns the texts. One thread at a time.
 */
#pragma once
#include <stddef.h>

struct ing_slow_patterns;

/* What an expression is looked for in. */
enum ing_pattern_scope {
	ING_PATTERN_SHORT, /* URLs, attributes, titles */
	ING_PATTERN_PAGE,  /* a page's source, its scripts, the text of elements */
};

struct ing_slow_patterns *ing_slow_patterns_new(void);
void ing_slow_patterns_free(struct ing_slow_patterns *s); /* NULL is fine */

/* Why the pattern is slow, and what to do, static; NULL: it is not. `flags` as for
 * ing_regex_compile(), which has accepted it. */
const char *ing_slow_patterns_judge(struct ing_slow_patterns *s, enum ing_pattern_scope scope,
	const char *pattern, size_t bytes, unsigned flags);
