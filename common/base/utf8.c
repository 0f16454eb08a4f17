/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plain decoder by the ranges of Unicode's table of well-formed byte sequences.
 */
#include "common/base/utf8.h"

#include <string.h>

#define REPLACEMENT 0xfffd

/* Sixteen bytes that are counted at once; the compiler has instructions for that on most machines. */
typedef unsigned char lanes __attribute__((vector_size(16)));
#define MIN_LANES_BYTES 64 /* of a text that is checked so: for less it costs more */
#define MAX_LANE_ADDS 127  /* of two units at most, which a byte can count */

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t ing_utf8_sequence(const char *s, size_t bytes)
{
	const unsigned char *u = (const unsigned char *)s;
	if (bytes == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2)
		return 0;
	if (u[0] < 0xe0)
		return bytes >= 2 && is_continuation(u[1]) ? 2 : 0;
	if (u[0] < 0xf0) {
		if (bytes < 3 || !is_continuation(u[1]) || !is_continuation(u[2]))
			return 0;
		if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f))
			return 0; /* overlong, or a surrogate */
		return 3;
	}
	if (u[0] > 0xf4 || bytes < 4)
		return 0;
	if (!is_continuation(u[1]) || !is_continuation(u[2]) || !is_continuation(u[3]))
		return 0;
	if ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0; /* overlong, or past U+10FFFF */
	return 4;
}

size_t ing_utf8_decode(const char *s, size_t bytes, uint32_t *ret)
{
	const unsigned char *u = (const unsigned char *)s;
	if (bytes > 0 && u[0] < 0x80) {
		*ret = u[0];
		return 1;
	}
	size_t n = ing_utf8_sequence(s, bytes);
	if (n == 0) {
		*ret = REPLACEMENT;
		return 1;
	}
	uint32_t c = n == 2 ? u[0] & 0x1fU : n == 3 ? u[0] & 0x0fU : u[0] & 0x07U;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (u[i] & 0x3fU);
	*ret = c;
	return n;
}

size_t ing_utf8_encode(uint32_t c, char out[ING_UTF8_BYTES])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = REPLACEMENT;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

/* The first place from i on at which there are not eight bytes of ASCII. */
static size_t skip_ascii(const char *s, size_t bytes, size_t i)
{
	for (uint64_t eight; bytes - i >= sizeof(eight); i += sizeof(eight)) {
		memcpy(&eight, s + i, sizeof(eight));
		if (eight & UINT64_C(0x8080808080808080))
			break;
	}
	return i;
}

size_t ing_utf8_ascii_run(const char *s, size_t bytes)
{
	size_t i = skip_ascii(s, bytes, 0);
	while (i < bytes && (unsigned char)s[i] < 0x80)
		i++;
	return i;
}

static lanes load(const char *s)
{
	lanes l;
	memcpy(&l, s, sizeof(l));
	return l;
}

/* Whether one of sixteen bytes cannot stand after the three before it, which are read, too. What is right of those
 * three, and of all bytes after them, is well-formed but for its end. */
static bool has_misplaced(const char *s)
{
	lanes c = load(s), before = load(s - 1);
	lanes follows = (lanes)(before >= 0xc2) | (lanes)(load(s - 2) >= 0xe0) |
			(lanes)(load(s - 3) >= 0xf0);
	lanes bad = follows ^ (lanes)((c & 0xc0) == 0x80);
	bad |= (lanes)((c & 0xfe) == 0xc0) | (lanes)(c >= 0xf5);
	bad |= (lanes)(before == 0xe0) & (lanes)(c < 0xa0); /* overlong */
	bad |= (lanes)(before == 0xed) & (lanes)(c > 0x9f); /* a surrogate */
	bad |= (lanes)(before == 0xf0) & (lanes)(c < 0x90); /* overlong */
	bad |= (lanes)(before == 0xf4) & (lanes)(c > 0x8f); /* past U+10FFFF */
	uint64_t halves[2];
	memcpy(halves, &bad, sizeof(bad));
	return (halves[0] | halves[1]) != 0;
}

/* Where the sequence begins that is not complete at i; i, if all are. */
static size_t begin_of_sequence(const char *s, size_t i)
{
	static const unsigned char leads[] = {0xc2, 0xe0, 0xf0};
	for (size_t k = 1; k <= sizeof(leads) && k <= i; k++)
		if ((unsigned char)s[i - k] >= leads[k - 1])
			return i - k;
	return i;
}

/* Goes through whole lanes that are well-formed; *ret_at: where a sequence begins. Returns false at one that is
 * not. */
static bool check_lanes(const char *s, size_t bytes, size_t *ret_at)
{
	size_t i = *ret_at;
	while (i >= 3 && bytes - i >= sizeof(lanes)) {
		if (has_misplaced(s + i))
			return false;
		i += sizeof(lanes);
		if ((unsigned char)s[i - 1] < 0x80)
			i = skip_ascii(s, bytes, i);
	}
	*ret_at = begin_of_sequence(s, i);
	return true;
}

bool ing_utf8_valid(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		i = skip_ascii(s, bytes, i);
		if (bytes - i >= MIN_LANES_BYTES && !check_lanes(s, bytes, &i))
			return false;
		if (i == bytes)
			break;
		size_t n = ing_utf8_sequence(s + i, bytes - i);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

char *ing_utf8_clean(const char *s, size_t bytes, size_t *ret_bytes)
{
	if (bytes > (SIZE_MAX - 1) / 3)
		return NULL;
	char *to = ing_try_alloc(bytes * 3 + 1);
	if (to == NULL)
		return NULL;
	size_t out = 0;
	for (size_t i = 0; i < bytes;) {
		size_t n = s[i] == '\0' ? 0 : ing_utf8_sequence(s + i, bytes - i);
		if (n == 0) {
			memcpy(to + out, "\xef\xbf\xbd", 3);
			out += 3;
			i++;
			continue;
		}
		memcpy(to + out, s + i, n);
		out += n;
		i += n;
	}
	to[out] = '\0';
	if (ret_bytes != NULL)
		*ret_bytes = out;
	return to;
}

size_t ing_utf8_cut(const char *s, size_t bytes, size_t max_bytes)
{
	if (bytes <= max_bytes)
		return bytes;
	size_t n = max_bytes;
	while (n > 0 && is_continuation((unsigned char)s[n]))
		n--;
	return n;
}

size_t ing_utf8_utf16_units(const char *s, size_t bytes)
{
	size_t units = 0;
	size_t i = 0;
	while (bytes - i >= sizeof(lanes)) {
		lanes counts = {0};
		for (int k = 0; k < MAX_LANE_ADDS && bytes - i >= sizeof(lanes); k++) {
			lanes some;
			memcpy(&some, s + i, sizeof(some));
			/* A comparison that holds is -1. */
			counts -= (lanes)(((some & 0xc0) != 0x80) + (some >= 0xf0));
			i += sizeof(some);
		}
		for (size_t k = 0; k < sizeof(lanes); k++)
			units += counts[k];
	}
	for (; i < bytes; i++) {
		unsigned char c = (unsigned char)s[i];
		units += !is_continuation(c);
		units += c >= 0xf0; /* beyond the BMP: a surrogate pair */
	}
	return units;
}
