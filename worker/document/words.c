/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * White space is Unicode's, and the four ASCII separators that the replaced system counts as such.
 */
#include "worker/document/words.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/unicode.h"

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

/* Of the hyphen that ends at `end`: a hyphen-minus, a soft hyphen or U+2010. 0: there is none. */
static size_t hyphen_before(const char *s, size_t end)
{
	static const char *const hyphens[] = {"-", "\xc2\xad", "\xe2\x80\x90"};
	for (size_t i = 0; i < ING_ARRAY_LEN(hyphens); i++) {
		size_t n = strlen(hyphens[i]);
		if (end >= n && memcmp(s + end - n, hyphens[i], n) == 0)
			return n;
	}
	return 0;
}

static bool begins_lower(const char *s, size_t bytes)
{
	uint32_t c;
	if (bytes == 0)
		return false;
	ing_utf8_decode(s, bytes, &c);
	return ing_char_class(c) == ING_CHAR_LOWER;
}

static bool ends_lower(const char *s, size_t end)
{
	size_t at = end;
	while (at > 0 && end - at < ING_UTF8_BYTES) {
		at--;
		if (((unsigned char)s[at] & 0xc0) != 0x80)
			return begins_lower(s + at, end - at);
	}
	return false;
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

size_t ing_words_join_lines(char *s, size_t bytes)
{
	size_t to = 0;
	bool owes_newline = false; /* the word that was put together gets it behind it */
	for (size_t from = 0; from < bytes;) {
		char c = s[from];
		size_t hyphen = c == '\n' ? hyphen_before(s, to) : 0;
		if (hyphen > 0 && ends_lower(s, to - hyphen) &&
			begins_lower(s + from + 1, bytes - from - 1)) {
			to -= hyphen;
			from++;
			owes_newline = true;
			continue;
		}
		if (owes_newline && (c == ' ' || c == '\n')) {
			c = '\n';
			owes_newline = false;
		}
		s[to++] = c;
		from++;
	}
	s[to] = '\0';
	return to;
}
