/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * base64.h - RFC 4648 section 4 base 64 (A-Z a-z 0-9 + /, padded with '='). Pure functions.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* Characters that `bytes` bytes become, the NUL not. */
#define ING_BASE64_CHARS(bytes) (((bytes) + 2) / 3 * 4)

/* ret_text has room for ING_BASE64_CHARS(bytes) + 1; bytes is at most 1 GiB. */
void ing_base64_encode(const void *data, size_t bytes, char *ret_text);
/* Decode `chars` characters; ret_data has room for as many bytes, and *ret_bytes is how many there
 * are. Returns false when text is anything but base 64 with its padding (white space is not), or
 * over 1 GiB. */
bool ing_base64_decode(
	const char *text, size_t chars, void *ret_data, size_t *ret_bytes) ING_MUST_CHECK;
