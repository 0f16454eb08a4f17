/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * White space is Unicode's, and the four ASCII separators that the replaced system counts as such.
 */
#include "worker/document/words.h"

#include <stdbool.h>
#include <string.h>

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static bool is_ascii_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

/* Bytes of the white-space character at s, 0 when there is none. s ends in a NUL. */
static size_t space_at(const char *s)
{
	static const char *const wide[] = {
		"\u00a0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
	unsigned char c = (unsigned char)s[0];
	if (c < 0x80)
		return is_ascii_space(c) ? 1 : 0;
	if (c == 0xc2 && (unsigned char)s[1] == 0x85) /* U+0085 */
		return 2;
	if (c != 0xc2 && (c < 0xe1 || c > 0xe3))
		return 0;
	if (strncmp(s, "\xe2\x80", 2) == 0 && (unsigned char)s[2] >= 0x80 &&
		(unsigned char)s[2] <= 0x8a) /* U+2000 to U+200A */
		return 3;
	for (size_t i = 0; i < ING_ARRAY_LEN(wide); i++) {
		size_t n = strlen(wide[i]);
		if (strncmp(s, wide[i], n) == 0)
			return n;
	}
	return 0;
}

size_t ing_words_chars(const char *s, size_t bytes)
{
	size_t chars = 0;
	for (size_t i = 0; i < bytes; i++)
		chars += is_continuation(s[i]) ? 0 : 1;
	return chars;
}

size_t ing_words_cut(const char *s, size_t max_chars)
{
	size_t i = 0;
	for (; s[i] != '\0'; i++) {
		if (is_continuation(s[i]))
			continue;
		if (max_chars == 0)
			break;
		max_chars--;
	}
	return i;
}

uint32_t ing_words_count(const char *s)
{
	uint32_t words = 0;
	bool inside = false;
	while (*s != '\0') {
		size_t space = space_at(s);
		if (space == 0 && !inside)
			words++;
		inside = space == 0;
		s += space > 0 ? space : 1;
	}
	return words;
}
