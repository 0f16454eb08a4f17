/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * words.h - counting in UTF-8 text. Pure functions.
 */
#pragma once
#include "common/base/macros.h"

/* Characters (code points): every byte that does not continue one. */
size_t ing_words_chars(const char *s, size_t bytes);
/* Length in bytes of the first max_chars characters. */
size_t ing_words_cut(const char *s, size_t max_chars);
/* Words: runs of anything but white space, Unicode's included (a non-breaking space divides). */
uint32_t ing_words_count(const char *s);
