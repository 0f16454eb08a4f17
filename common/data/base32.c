/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both codings move bits through a small accumulator; there is no state and no thread to think of.
 */
#include "common/data/base32.h"

#include "common/base/error.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
static const char digits[] = "0123456789abcdef";

static int base32_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	if (c >= '2' && c <= '7')
		return c - '2' + 26;
	return -1;
}

/* Drop the padding: at most six '=', and only up to a multiple of eight. Returns the characters
 * left, or SIZE_MAX. */
static size_t strip_padding(const char *text, size_t chars)
{
	size_t end = chars;
	while (end > 0 && text[end - 1] == '=')
		end--;
	if (end == chars)
		return end;
	return chars % 8 == 0 && chars - end <= 6 ? end : SIZE_MAX;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* -------------------------------------------------------------------------------------------- */

void ing_base32_encode(const void *data, size_t bytes, char *ret_text)
{
	const unsigned char *from = data;
	unsigned bits = 0;
	unsigned have = 0;
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		bits = bits << 8 | from[i];
		have += 8;
		while (have >= 5) {
			have -= 5;
			ret_text[n++] = alphabet[bits >> have & 31];
		}
		bits &= (1u << have) - 1;
	}
	if (have > 0)
		ret_text[n++] = alphabet[bits << (5 - have) & 31];
	while (n % 8 != 0)
		ret_text[n++] = '=';
	ret_text[n] = '\0';
}

int ing_base32_decode(
	const char *text, size_t chars, void *ret_data, size_t room, size_t *ret_bytes)
{
	chars = strip_padding(text, chars);
	/* 1, 3 and 6 characters over a multiple of 8 would end within a byte (RFC 4648 section
	 * 6). */
	if (chars == SIZE_MAX || chars % 8 == 1 || chars % 8 == 3 || chars % 8 == 6)
		return -ING_FAIL_SYNTAX;
	if (chars / 8 * 5 + chars % 8 * 5 / 8 > room)
		return -ING_FAIL_TOO_BIG;
	unsigned char *to = ret_data;
	unsigned bits = 0;
	unsigned have = 0;
	size_t n = 0;
	for (size_t i = 0; i < chars; i++) {
		int value = base32_value(text[i]);
		if (value < 0)
			return -ING_FAIL_SYNTAX;
		bits = bits << 5 | (unsigned)value;
		have += 5;
		if (have >= 8) {
			have -= 8;
			to[n++] = (unsigned char)(bits >> have);
		}
		bits &= (1u << have) - 1;
	}
	if (bits != 0)
		return -ING_FAIL_SYNTAX;
	*ret_bytes = n;
	return 0;
}

void ing_hex_encode(const void *data, size_t bytes, char *ret_text)
{
	const unsigned char *from = data;
	for (size_t i = 0; i < bytes; i++) {
		ret_text[2 * i] = digits[from[i] >> 4];
		ret_text[2 * i + 1] = digits[from[i] & 15];
	}
	ret_text[2 * bytes] = '\0';
}

bool ing_hex_decode(const char *text, void *ret_data, size_t bytes)
{
	unsigned char *to = ret_data;
	for (size_t i = 0; i < bytes; i++) {
		int high = hex_value(text[2 * i]);
		int low = high >= 0 ? hex_value(text[2 * i + 1]) : -1;
		if (low < 0)
			return false;
		to[i] = (unsigned char)(high << 4 | low);
	}
	return text[2 * bytes] == '\0';
}
