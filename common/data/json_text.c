/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Eight bytes are looked at together; if one of them needs an escape, a table has what stands for each.
 */
#include "common/data/json_text.h"

#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"

/* What stands for a byte in a string. Eight bytes, which are copied at once. */
struct unit {
	char text[7];
	unsigned char bytes;
};

/* clang-format off */
#define DIGIT(n) (char)((n) < 10 ? '0' + (n) : 'a' + (n) - 10)
#define CONTROL(c) {{'\\', 'u', '0', '0', DIGIT((c) >> 4), DIGIT((c) & 15)}, 6}
#define LETTER(c) {{'\\', c}, 2}
#define SELF(c) {{(char)(c)}, 1}
#define SELF_4(c) SELF(c), SELF((c) + 1), SELF((c) + 2), SELF((c) + 3)
#define SELF_16(c) SELF_4(c), SELF_4((c) + 4), SELF_4((c) + 8), SELF_4((c) + 12)
#define SELF_64(c) SELF_16(c), SELF_16((c) + 16), SELF_16((c) + 32), SELF_16((c) + 48)

static const struct unit units[256] = {
	CONTROL(0x00), CONTROL(0x01), CONTROL(0x02), CONTROL(0x03),
	CONTROL(0x04), CONTROL(0x05), CONTROL(0x06), CONTROL(0x07),
	LETTER('b'),   LETTER('t'),   LETTER('n'),   CONTROL(0x0b),
	LETTER('f'),   LETTER('r'),   CONTROL(0x0e), CONTROL(0x0f),
	CONTROL(0x10), CONTROL(0x11), CONTROL(0x12), CONTROL(0x13),
	CONTROL(0x14), CONTROL(0x15), CONTROL(0x16), CONTROL(0x17),
	CONTROL(0x18), CONTROL(0x19), CONTROL(0x1a), CONTROL(0x1b),
	CONTROL(0x1c), CONTROL(0x1d), CONTROL(0x1e), CONTROL(0x1f),
	SELF(0x20),    SELF(0x21),    LETTER('"'),   SELF(0x23),
	SELF_4(0x24),  SELF_4(0x28),  SELF_4(0x2c),
	SELF_16(0x30), SELF_16(0x40),
	SELF_4(0x50),  SELF_4(0x54),  SELF_4(0x58),
	LETTER('\\'), SELF(0x5d),    SELF(0x5e),    SELF(0x5f),
	SELF_16(0x60), SELF_16(0x70), SELF_64(0x80), SELF_64(0xc0),
};
/* clang-format on */

#define EIGHT 8
#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* Not 0 when a byte is below n, which is at most 128. */
static uint64_t bytes_below(uint64_t eight, unsigned char n)
{
	return (eight - EACH_BYTE(n)) & ~eight & EACH_BYTE(0x80);
}

static bool are_plain(const char *text)
{
	uint64_t eight;
	memcpy(&eight, text, sizeof(eight));
	return (bytes_below(eight, 0x20) | bytes_below(eight ^ EACH_BYTE('"'), 1) |
		       bytes_below(eight ^ EACH_BYTE('\\'), 1)) == 0;
}

static bool is_plain(const char *text, size_t bytes)
{
	size_t i = 0;
	while (bytes - i >= EIGHT && are_plain(text + i))
		i += EIGHT;
	while (i < bytes && units[(unsigned char)text[i]].bytes == 1)
		i++;
	return i == bytes;
}

/* Appends the beginning of a text, `bytes` of at least one. Returns how much of it. */
static size_t add_piece(struct ing_buf *b, const char *text, size_t bytes)
{
	char piece[2048];
	size_t i = 0, n = 0;
	while (i < bytes && n + EIGHT * sizeof(units[0]) <= sizeof(piece)) {
		size_t end = i + ING_MIN(bytes - i, EIGHT);
		if (end - i == EIGHT && are_plain(text + i)) {
			memcpy(piece + n, text + i, EIGHT);
			n += EIGHT;
			i = end;
		}
		/* Without a branch for what is escaped, which hostile texts make hard to foresee. */
		for (; i < end; i++) {
			const struct unit *u = &units[(unsigned char)text[i]];
			memcpy(piece + n, u, sizeof(*u));
			n += u->bytes;
		}
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
