/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Producers write all sorts of things into an Info dictionary; whatever it is, a string comes out.
 */
#include "worker/document/pdf_string.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"

#define REPLACEMENT 0xfffdu
#define LANGUAGE_ESCAPE 0x1bu /* in UTF-16: a language code stands between two of them */

/* PDFDocEncoding where it is not Latin-1: 0x18 to 0x1f, and 0x80 to 0xa0. */
static const uint16_t low_marks[] = {
	0x02d8, 0x02c7, 0x02c6, 0x02d9, 0x02dd, 0x02db, 0x02da, 0x02dc};
static const uint16_t high_marks[] = {0x2022, 0x2020, 0x2021, 0x2026, 0x2014, 0x2013, 0x0192,
	0x2044, 0x2039, 0x203a, 0x2212, 0x2030, 0x201e, 0x201c, 0x201d, 0x2018, 0x2019, 0x201a,
	0x2122, 0xfb01, 0xfb02, 0x0141, 0x0152, 0x0160, 0x0178, 0x017d, 0x0131, 0x0142, 0x0153,
	0x0161, 0x017e, REPLACEMENT, 0x20ac};

static uint32_t from_doc_encoding(unsigned char c)
{
	if (c >= 0x18 && c < 0x20)
		return low_marks[c - 0x18];
	if (c >= 0x80 && c <= 0xa0)
		return high_marks[c - 0x80];
	return c == 0xad ? REPLACEMENT : c;
}

static bool is_control(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7f && c < 0xa0);
}

static void add(struct ing_buf *out, uint32_t c)
{
	char utf8[ING_UTF8_BYTES];
	ing_buf_add(out, utf8, ing_utf8_encode(is_control(c) ? ' ' : c, utf8));
}

/* What is behind the limit is not looked at, but it tells where the last character ends. */
static bool is_full(const struct ing_buf *out)
{
	return out->len + ING_UTF8_BYTES > out->max;
}

static void add_doc_encoding(struct ing_buf *out, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes && !is_full(out); i++)
		add(out, from_doc_encoding((unsigned char)s[i]));
}

/* Returns false when some of it is no UTF-8. */
static bool add_utf8(struct ing_buf *out, const char *s, size_t bytes)
{
	bool good = true;
	while (bytes > 0 && !is_full(out)) {
		uint32_t c;
		good = good && ing_utf8_sequence(s, bytes) > 0;
		size_t n = ing_utf8_decode(s, bytes, &c);
		add(out, c);
		s += n;
		bytes -= n;
	}
	return good;
}

static uint32_t unit_at(const char *s, bool little)
{
	uint32_t a = (unsigned char)s[0];
	uint32_t b = (unsigned char)s[1];
	return little ? b << 8 | a : a << 8 | b;
}

/* Returns false when a surrogate stands alone. An odd byte at the end is left out. */
static bool add_utf16(struct ing_buf *out, const char *s, size_t bytes, bool little)
{
	bool good = true;
	bool in_escape = false;
	for (size_t i = 0; i + 2 <= bytes && !is_full(out); i += 2) {
		uint32_t c = unit_at(s + i, little);
		if (c == LANGUAGE_ESCAPE)
			in_escape = !in_escape;
		if (c == LANGUAGE_ESCAPE || in_escape)
			continue;
		uint32_t low = i + 4 <= bytes ? unit_at(s + i + 2, little) : 0;
		if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i += 2;
		} else if (c >= 0xd800 && c < 0xe000) {
			good = false;
			c = REPLACEMENT;
		}
		add(out, c);
	}
	return good;
}

static bool begins_with(const char *s, size_t bytes, const char *mark, size_t mark_bytes)
{
	return bytes >= mark_bytes && memcmp(s, mark, mark_bytes) == 0;
}

/* Returns false when a string that says what it is cannot be decoded. */
static bool decode(struct ing_buf *out, const char *s, size_t bytes)
{
	if (begins_with(s, bytes, "\xfe\xff", 2))
		return add_utf16(out, s + 2, bytes - 2, false);
	if (begins_with(s, bytes, "\xff\xfe", 2))
		return add_utf16(out, s + 2, bytes - 2, true);
	if (begins_with(s, bytes, "\xef\xbb\xbf", 3))
		return add_utf8(out, s + 3, bytes - 3);
	if (ing_utf8_valid(s, bytes))
		return add_utf8(out, s, bytes);
	add_doc_encoding(out, s, bytes);
	return true;
}

/* --- dates --- */

/* Reads `count` digits, or none. Returns -1 when there are no such. */
static int take_digits(const char **at, int count)
{
	int n = 0;
	for (int i = 0; i < count; i++) {
		char c = (*at)[i];
		if (c < '0' || c > '9')
			return -1;
		n = 10 * n + (c - '0');
	}
	*at += count;
	return n;
}

/* The next two digits in their range, or what holds when they are left out. Returns -1 for what is
 * out of its range. */
static int take_field(const char **at, int least, int most)
{
	int n = take_digits(at, 2);
	if (n < 0)
		return least;
	return n >= least && n <= most ? n : -1;
}

static bool write_offset(const char *at, char ret[8])
{
	char sign = *at;
	snprintf(ret, 8, "Z");
	if (sign != '+' && sign != '-')
		return true;
	at++;
	int hours = take_field(&at, 0, 23);
	if (*at == '\'')
		at++;
	int minutes = take_field(&at, 0, 59);
	if (hours < 0 || minutes < 0)
		return false;
	if (hours != 0 || minutes != 0)
		snprintf(ret, 8, "%c%02d:%02d", sign, hours % 24, minutes % 60);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

char *ing_pdf_string(const char *s, size_t bytes, size_t max_bytes, bool *undecodable)
{
	struct ing_buf out;
	ing_buf_init(&out, max_bytes + 2 * ING_UTF8_BYTES);
	if (!decode(&out, s, bytes))
		*undecodable = true;
	size_t cut = ing_utf8_cut(ing_buf_str(&out), out.len, max_bytes);
	char *text = ing_buf_steal(&out);
	while (cut > 0 && text[cut - 1] == ' ')
		cut--;
	text[cut] = '\0';
	return text;
}

char *ing_pdf_date(const char *s)
{
	if (strncmp(s, "D:", 2) == 0)
		s += 2;
	int year = take_digits(&s, 4);
	int month = take_field(&s, 1, 12);
	int day = take_field(&s, 1, 31);
	int hour = take_field(&s, 0, 23);
	int minute = take_field(&s, 0, 59);
	int second = take_field(&s, 0, 59);
	char offset[8];
	if (year <= 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0 ||
		!write_offset(s, offset))
		return NULL;
	char text[80]; /* room for any int, as the compiler cannot know their ranges */
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d%s", year, month, day, hour,
		minute, second, offset);
	return ing_strdup(text);
}
