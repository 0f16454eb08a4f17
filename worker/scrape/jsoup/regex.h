/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex.h - regular expressions of scraping rules, on PCRE2, which only regex.c includes.
 *
 * Rules are written for Java. What PCRE2 reads in the same way is used as it is; what only Java
 * knows or reads differently ([a&&[b]], nested classes, \p{IsLatin}, \p{Alpha}, \p{javaX}, (?U),
 * (?d), (?u), \uXXXX) is refused when compiling, with a message that says what to write instead.
 * Without flags \d \s \w \b are ASCII and matching is case-sensitive.
 *
 * PCRE2's interpreter is used, not its JIT, because a service may not write code. Where a pattern
 * has texts of which every match contains one ("captcha-delivery.com/"), these are looked for first
 * (literals.h), at a hundredth of PCRE2's costs. A match that needs too many steps ends with
 * ING_REGEX_LIMIT. A compiled expression is immutable: any thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"

struct ing_regex;

enum ing_regex_flag {
	ING_REGEX_BYTES = 1, /* no UTF: for URLs, whose caseless matching is ASCII's */
	ING_REGEX_NO_CASE = 2,
	/* Texts that lack what every match contains are given to PCRE2, too: for tests. */
	ING_REGEX_PCRE2_ALONE = 4,
};

enum ing_regex_end { ING_REGEX_NO, ING_REGEX_YES, ING_REGEX_LIMIT };

/* Compile. Returns 0, -SYNTAX or -UNSUPPORTED; err->column is the character in pattern, counted
 * from 1. */
int ing_regex_compile(const char *pattern, size_t bytes, unsigned flags, struct ing_regex **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_regex_free(struct ing_regex *r); /* NULL is fine */

/* Whether the expression matches anywhere in the text, which must be valid UTF-8 unless
 * ING_REGEX_BYTES (not checked). */
enum ing_regex_end ing_regex_find(const struct ing_regex *r, const char *text, size_t bytes);

/* The groups of the leftmost match, at most `max`: from[i] and to[i] in bytes, SIZE_MAX for a group
 * that did not take part. Group 0 is the match. */
enum ing_regex_end ing_regex_groups(const struct ing_regex *r, const char *text, size_t bytes,
	size_t max, size_t *from, size_t *to);
/* Returns the number of a named group, or -1. */
int ing_regex_group_number(const struct ing_regex *r, const char *name);
/* Returns the name of the i-th named group (from 0, by number), or NULL past the last. ret_number
 * may be NULL. */
const char *ing_regex_group_name(const struct ing_regex *r, unsigned i, unsigned *ret_number);

/* Append text with its leftmost match replaced, as Java's replaceFirst(): $1 and ${name} are
 * groups, a backslash quotes. NO: nothing matched, text is appended unchanged. */
enum ing_regex_end ing_regex_replace_first(const struct ing_regex *r, const char *text,
	size_t bytes, const char *replacement, struct ing_buf *out);
/* Check a replacement for use with r. Returns 0, or -SYNTAX with its column. */
int ing_regex_check_replacement(
	const struct ing_regex *r, const char *replacement, struct ing_error *err) ING_MUST_CHECK;
