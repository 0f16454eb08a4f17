/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * OpenSSL counts in int, counts the bytes that padding stands for as decoded, takes '=' anywhere
 * for a zero, and passes over white space and '-' at the ends; so the text is checked here.
 */
#include "common/data/base64.h"

#include <openssl/evp.h>

#define MAX_BYTES ((size_t)1 << 30)

static bool is_digit(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '+' || c == '/';
}

/* ------------------------------------------------------------------------------------------ */

void ing_base64_encode(const void *data, size_t bytes, char *ret_text)
{
	ing_must(bytes <= MAX_BYTES);
	EVP_EncodeBlock((unsigned char *)ret_text, data, (int)bytes);
}

bool ing_base64_decode(const char *text, size_t chars, void *ret_data, size_t *ret_bytes)
{
	size_t digits = chars;
	while (digits > 0 && chars - digits < 2 && text[digits - 1] == '=')
		digits--;
	for (size_t i = 0; i < digits; i++)
		if (!is_digit(text[i]))
			return false;
	if (chars > MAX_BYTES || chars % 4 != 0)
		return false;
	int n = EVP_DecodeBlock(ret_data, (const unsigned char *)text, (int)chars);
	if (n < 0)
		return false;
	*ret_bytes = (size_t)n - (chars - digits);
	return true;
}
