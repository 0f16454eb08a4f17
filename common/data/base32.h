/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * base32.h - RFC 4648 section 6 base 32 (A-Z 2-7, padded with '='), and hexadecimal. Pure
 * functions.
 *
 * WARC and CDX write SHA-1 in base 32: 20 bytes are 32 characters, without padding.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* Characters that `bytes` bytes become, padding included, the NUL not. */
#define ING_BASE32_CHARS(bytes) (((bytes) + 4) / 5 * 8)
#define ING_SHA1_BASE32_CHARS 32

/* ret_text has room for ING_BASE32_CHARS(bytes) + 1. */
void ing_base32_encode(const void *data, size_t bytes, char *ret_text);
/* Lower case and missing padding are accepted, as archives' indexes hold both; anything else
 * outside the alphabet, stray bits after the last byte and impossible lengths are not. Returns 0
 * with the bytes and their number (*ret_bytes), or -ING_FAIL_SYNTAX, or -ING_FAIL_TOO_BIG when they
 * need more than `room`. */
int ing_base32_decode(const char *text, size_t chars, void *ret_data, size_t room,
	size_t *ret_bytes) ING_MUST_CHECK;

/* ret_text has room for 2 * bytes + 1; lower case. */
void ing_hex_encode(const void *data, size_t bytes, char *ret_text);
/* Either case. False: not exactly 2 * bytes hexadecimal digits; then ret_data is undefined. */
bool ing_hex_decode(const char *text, void *ret_data, size_t bytes) ING_MUST_CHECK;
