/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Eight bytes are looked at together.
 */
#include "common/data/json_text.h"

#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"

static bool needs_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

#define MAX_ESCAPE_BYTES 6
#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* The highest bit of a byte is set when the byte is below n, which is at most 128; not exact for the bytes
 * that follow one which is, in the order of the number's digits. */
static uint64_t bytes_below(uint64_t eight, unsigned char n)
{
	return (eight - EACH_BYTE(n)) & ~eight & EACH_BYTE(0x80);
}

/* How many of eight bytes stand before the first that needs an escape. */
static size_t plain_of_eight(const char *text)
{
	uint64_t eight;
	memcpy(&eight, text, sizeof(eight));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	eight = __builtin_bswap64(eight);
#endif
	uint64_t found = bytes_below(eight, 0x20) | bytes_below(eight ^ EACH_BYTE('"'), 1) |
			 bytes_below(eight ^ EACH_BYTE('\\'), 1);
	return found == 0 ? sizeof(eight) : (size_t)__builtin_ctzll(found) / 8;
}

static bool is_plain(const char *text, size_t bytes)
{
	size_t i = 0;
	while (bytes - i >= 8 && plain_of_eight(text + i) == 8)
		i += 8;
	while (i < bytes && !needs_escape((unsigned char)text[i]))
		i++;
	return i == bytes;
}

/* Returns its bytes, at most MAX_ESCAPE_BYTES. */
static size_t put_escape(char *to, unsigned char c)
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	static const char hex[] = "0123456789abcdef";
	to[0] = '\\';
	to[1] = c < 0x20 ? letters[c] : (char)c;
	if (to[1] != '\0')
		return 2;
	memcpy(to + 1, "u00", 3);
	to[4] = hex[c >> 4];
	to[5] = hex[c & 15];
	return MAX_ESCAPE_BYTES;
}

/* Appends the beginning of a text, `bytes` of at least one. Returns how much of it. */
static size_t add_piece(struct ing_buf *b, const char *text, size_t bytes)
{
	char piece[1024];
	size_t i = 0, n = 0;
	while (i < bytes && n + 8 + MAX_ESCAPE_BYTES <= sizeof(piece)) {
		if (bytes - i >= 8) {
			size_t plain = plain_of_eight(text + i);
			memcpy(piece + n, text + i, 8); /* which costs less than fewer */
			i += plain;
			n += plain;
			if (plain == 8)
				continue;
		}
		if (needs_escape((unsigned char)text[i]))
			n += put_escape(piece + n, (unsigned char)text[i]);
		else
			piece[n++] = text[i];
		i++;
	}
	ing_buf_add(b, piece, n);
	return i;
}

/* A string without escapes: most keys, names and URLs. */
static bool add_plain(struct ing_buf *b, const char *text, size_t bytes)
{
	char *to = ing_buf_reserve(b, bytes + 2);
	if (to == NULL)
		return false;
	to[0] = '"';
	if (bytes > 0)
		memcpy(to + 1, text, bytes);
	to[bytes + 1] = '"';
	ing_buf_commit(b, bytes + 2);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_json_add_text(struct ing_buf *b, const char *text, size_t bytes)
{
	if (is_plain(text, bytes))
		return add_plain(b, text, bytes);
	if (bytes < b->max - b->len)
		ing_buf_reserve(b, bytes); /* once, for a long text */
	ing_buf_add_char(b, '"');
	for (size_t i = 0; i < bytes && !b->failed;) /* of what does not fit most is spared */
		i += add_piece(b, text + i, bytes - i);
	return ing_buf_add_char(b, '"');
}

bool ing_json_is_shallow(const char *json, size_t bytes, int depth)
{
	return ing_json_is_small(json, bytes, depth, SIZE_MAX);
}

bool ing_json_is_small(const char *json, size_t bytes, int depth, size_t values)
{
	int open = 0;
	bool in_string = false;
	size_t seen = 1; /* the first of each list and map is counted with its bracket */
	for (size_t i = 0; i < bytes; i++) {
		char c = json[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++open > depth || ++seen > values)
				return false;
		} else if (c == '}' || c == ']') {
			open--;
		} else if (c == ',' && ++seen > values) {
			return false;
		}
	}
	return true;
}
