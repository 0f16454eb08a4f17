/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unicode.h - classes and case of Unicode characters, on libunistring, which only unicode.c
 * includes.
 *
 * The C library knows both only through a locale, whose files a sandboxed process cannot open.
 * Answers are those of the library's Unicode version: 14.0 in Debian 12. Pure; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "common/base/buf.h"

enum ing_char_class {    /* by general category */
	ING_CHAR_NONE,   /* punctuation, symbols, marks, unassigned */
	ING_CHAR_SPACE,  /* Z*, Cc, Cf */
	ING_CHAR_DIGIT,  /* N* */
	ING_CHAR_UPPER,  /* Lu */
	ING_CHAR_LOWER,  /* Ll */
	ING_CHAR_LETTER, /* Lt, Lm, Lo */
};

/* Class of a code point; NONE for what is no code point. */
enum ing_char_class ing_char_class(uint32_t code_point);

/* Append UTF-8 text in lower case, as Java's String.toLowerCase() with the root locale gives it:
 * simple mappings, U+0130 as "i" with U+0307, and a capital sigma at the end of a word as the final
 * one. Ill-formed bytes are copied. At out's ceiling out fails. Linear in bytes. */
void ing_unicode_lower(const char *s, size_t bytes, struct ing_buf *out);

/* Append the letters of UTF-8 text in lower case without their marks ("Müller-Ågren" is
 * "mulleragren"), compatibility forms as what they stand for (NFKD). Ill-formed bytes are dropped.
 * At most the first 4,096 bytes of text are read. */
void ing_unicode_letters(const char *s, size_t bytes, struct ing_buf *out);
