/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ranges and a binary search; ASCII, which is nearly all that is asked, by comparison.
 */
#include "worker/scrape/publication/letters.h"

#include "common/base/macros.h"
#include "common/base/utf8.h"

enum run_kind {
	DIGIT = ING_LETTER_DIGIT,
	LETTER = ING_LETTER_OTHER,
	LOWER = ING_LETTER_LOWER,
	SPACE = ING_LETTER_SPACE,
	UPPER = ING_LETTER_UPPER,
	PAIRS = 100, /* upper and lower in turn, upper first */
};

static const struct run {
	uint32_t first, last;
	enum run_kind kind;
} runs[] = {
/* clang-format off */
#include "worker/scrape/publication/letters.inc"
	/* clang-format on */
};

static enum ing_letter_kind ascii_kind(uint32_t c)
{
	if (c >= 'a' && c <= 'z')
		return ING_LETTER_LOWER;
	if (c >= 'A' && c <= 'Z')
		return ING_LETTER_UPPER;
	if (c >= '0' && c <= '9')
		return ING_LETTER_DIGIT;
	return c <= ' ' || c == 0x7f ? ING_LETTER_SPACE : ING_LETTER_NONE;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_letter_kind ing_letter_kind(uint32_t c)
{
	if (c < 0x80)
		return ascii_kind(c);
	size_t low = 0, high = ING_ARRAY_LEN(runs);
	while (low < high) { /* the first run that ends at c or behind it */
		size_t middle = low + (high - low) / 2;
		if (runs[middle].last < c)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == ING_ARRAY_LEN(runs) || c < runs[low].first)
		return ING_LETTER_NONE;
	if (runs[low].kind == PAIRS)
		return (c - runs[low].first) % 2 == 0 ? ING_LETTER_UPPER : ING_LETTER_LOWER;
	return (enum ing_letter_kind)runs[low].kind;
}

uint32_t ing_letter_at(const char *s, size_t bytes, size_t *ret_bytes)
{
	size_t n = ing_utf8_sequence(s, bytes);
	const unsigned char *u = (const unsigned char *)s;
	*ret_bytes = n == 0 ? 1 : n;
	switch (n) {
	case 1:
		return u[0];
	case 2:
		return (u[0] & 0x1fu) << 6 | (u[1] & 0x3fu);
	case 3:
		return (u[0] & 0x0fu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
	case 4:
		return (u[0] & 0x07u) << 18 | (u[1] & 0x3fu) << 12 | (u[2] & 0x3fu) << 6 |
		       (u[3] & 0x3fu);
	default:
		return 0xfffd;
	}
}
