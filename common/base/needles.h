/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * needles.h - which of some fixed strings a text contains, in one pass over the text.
 *
 * For lists that are known when the program is built: 64 strings of 4 to 64 bytes at most. Nothing is kept
 * between calls. Pure; any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define ING_MAX_NEEDLES 64
#define ING_MIN_NEEDLE_BYTES 4
#define ING_MAX_NEEDLE_BYTES 64

/* Returns a bit for each needle that s contains, the first one's the lowest. Case-sensitive. The longer the
 * shortest needle, the faster: one place of each (its bytes - 3) is looked at. */
uint64_t ing_needles_in(const char *s, size_t bytes, const char *const *needles, size_t count);
