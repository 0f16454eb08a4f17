/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text_priv.h - shared by text.c, formatted.c and lower.c.
 */
#pragma once
#include "common/markup/text.h"

/* The code point at the front of UTF-8 text (bytes > 0) and how many bytes it takes; an ill-formed
 * byte counts as U+FFFD of one byte. */
size_t ing_text_point(const char *s, size_t bytes, uint32_t *ret);
