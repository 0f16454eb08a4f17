/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * words.h - counting in UTF-8 text, and words that lines divide. Pure functions.
 */
#pragma once
#include "common/base/macros.h"

/* Characters (code points): every byte that does not continue one. */
size_t ing_words_chars(const char *s, size_t bytes);
/* Length in bytes of the first max_chars characters. */
size_t ing_words_cut(const char *s, size_t max_chars);
/* Words: runs of anything but white space, Unicode's included (a non-breaking space divides). */
uint32_t ing_words_count(const char *s);
/* Put together, in place, what a hyphen at the end of a line divides: "exam-\nple, it" becomes
 * "example,\nit". Between lower-case letters only: of "COVID-\nrelated" the hyphen is the author's. Returns
 * the bytes that are left, with a NUL behind them; s has room for it. */
size_t ing_words_join_lines(char *s, size_t bytes);
