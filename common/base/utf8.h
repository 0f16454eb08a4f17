/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * utf8.h - UTF-8 (Unicode table 3-7, RFC 3629): well-formedness, code points to bytes and back.
 * Pure functions; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/macros.h"

#define ING_UTF8_BYTES 4 /* of one character, at most */

/* Length (1 to 4) of the well-formed sequence at the front of s, or 0 when there is none (or bytes
 * is 0). */
size_t ing_utf8_sequence(const char *s, size_t bytes);
/* The code point at the front of s (bytes > 0) and how many bytes it takes; an ill-formed byte is
 * U+FFFD of one byte. */
size_t ing_utf8_decode(const char *s, size_t bytes, uint32_t *ret);
/* Write a code point, U+FFFD for what is none or a surrogate. Returns the bytes written, 1 to 4; no
 * NUL behind. */
size_t ing_utf8_encode(uint32_t code_point, char out[ING_UTF8_BYTES]);
bool ing_utf8_valid(const char *s, size_t bytes);
/* How many bytes of ASCII it begins with. */
size_t ing_utf8_ascii_run(const char *s, size_t bytes);
/* Heap copy (caller frees) with every ill-formed byte and every NUL replaced by U+FFFD: always
 * valid UTF-8, fit for PostgreSQL and JSON. NULL when memory is short. *ret_bytes may be NULL. */
char *ing_utf8_clean(const char *s, size_t bytes, size_t *ret_bytes);
/* The largest n <= max_bytes at which s can be cut without splitting a sequence. */
size_t ing_utf8_cut(const char *s, size_t bytes, size_t max_bytes);
/* Length in UTF-16 code units of valid UTF-8. */
size_t ing_utf8_utf16_units(const char *s, size_t bytes);
