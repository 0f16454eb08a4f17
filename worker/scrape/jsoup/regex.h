/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex.h - regular expressions as scraping rules use them, on PCRE2, which only regex.c includes.
 *
 * Rules were written for Java. What PCRE2 reads in the same way is taken as it is; what only Java
 * knows, or reads otherwise ([a&&[b]], nested classes, \p{IsLatin}, \p{Alpha}, \p{javaX}, (?U),
 * (?d),
 * (?u), \uXXXX), is refused when compiling, with words that say what to write instead. Without
 * flags \d \s \w \b are ASCII and matching heeds case.
 *
 * The interpreter is used, not the JIT: a service may not write code. Every match has a limit of
 * steps, and ends in ING_REGEX_LIMIT when it is met. A compiled expression is immutable, any
 * thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"

struct ing_regex;

enum ing_regex_flag {
	ING_REGEX_BYTES = 1, /* no UTF: for URLs, whose caseless matching is ASCII's */
	ING_REGEX_NO_CASE = 2,
};

enum ing_regex_end { ING_REGEX_NO, ING_REGEX_YES, ING_REGEX_LIMIT };

/* -SYNTAX or -UNSUPPORTED; err->column is the character (1-based) in pattern. */
int ing_regex_compile(const char *pattern, size_t bytes, unsigned flags, struct ing_regex **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_regex_free(struct ing_regex *r); /* NULL is fine */

/* Found anywhere in the text? Text under UTF must be valid UTF-8 (ours always is; it is not
 * checked again). */
enum ing_regex_end ing_regex_find(const struct ing_regex *r, const char *text, size_t bytes);

/* Groups of the leftmost match: from[i] and to[i] in bytes; SIZE_MAX when the group took no part.
 * Group 0 is the match. At most `max` are written. */
enum ing_regex_end ing_regex_groups(const struct ing_regex *r, const char *text, size_t bytes,
	size_t max, size_t *from, size_t *to);
/* Number of a named group, or -1. */
int ing_regex_group_number(const struct ing_regex *r, const char *name);
/* The i-th named group's name (0-based, by number), NULL past the last; *ret_number may be NULL. */
const char *ing_regex_group_name(const struct ing_regex *r, unsigned i, unsigned *ret_number);

/* Java's replaceFirst: append text with its leftmost match replaced; $1 and ${name} are groups, a
 * backslash quotes. NO: nothing matched, text is appended as it is. */
enum ing_regex_end ing_regex_replace_first(const struct ing_regex *r, const char *text,
	size_t bytes, const char *replacement, struct ing_buf *out);
/* Is `replacement` one that ing_regex_replace_first() can apply with r? -SYNTAX with column. */
int ing_regex_check_replacement(
	const struct ing_regex *r, const char *replacement, struct ing_error *err) ING_MUST_CHECK;
