/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * letters.h - what kind of character a character is, as far as the words of class names divide by
 * it.
 *
 * Kinds are Unicode's general categories from a table of our own (letters.inc, written by
 * letters.py): a locale's iswlower() would have to be opened from files, which an examiner's
 * sandbox has none of, and would answer by the machine. Pure; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum ing_letter_kind {
	ING_LETTER_NONE,  /* punctuation, symbols, marks, unassigned */
	ING_LETTER_SPACE, /* Z*, Cc, Cf */
	ING_LETTER_DIGIT, /* N* */
	ING_LETTER_UPPER, /* Lu */
	ING_LETTER_LOWER, /* Ll */
	ING_LETTER_OTHER, /* Lt, Lm, Lo */
};

enum ing_letter_kind ing_letter_kind(uint32_t code_point);
/* The code point at s (valid UTF-8, bytes > 0) and its length. */
uint32_t ing_letter_at(const char *s, size_t bytes, size_t *ret_bytes);
