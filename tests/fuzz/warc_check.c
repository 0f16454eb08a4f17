/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker of a record's digests. The input is a record's header up to its blank line, then the
 * block. Held to: any pieces give the same answer, and no more payload than there is block.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/error.h"
#include "common/record/warc_check.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 1000, .heap_kb = 100, .heap_byte = 0);

struct answer {
	const char *words;
	size_t payload;
	char digest[ING_WARC_SHA1B32_BYTES];
};

static void check(const char *head, size_t head_bytes, const char *block, size_t bytes, size_t step,
	struct answer *ret)
{
	struct ing_warc_check *c = ing_warc_check_new();
	*ret = (struct answer){0};
	ing_warc_check_begin(c, head, head_bytes);
	for (size_t at = 0; at < bytes; at += step)
		ret->payload += ing_warc_check_add(c, block + at, ING_MIN(step, bytes - at));
	ret->words = ing_warc_check_end(c, ret->digest);
	ing_warc_check_free(c);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *blank = memmem(text, size, "\r\n\r\n", 4);
	size_t head_bytes = blank != NULL ? (size_t)(blank + 4 - text) : size;
	size_t bytes = size - head_bytes;
	struct answer whole, pieces;
	check(text, head_bytes, text + head_bytes, bytes, ING_MAX(bytes, (size_t)1), &whole);
	check(text, head_bytes, text + head_bytes, bytes, 3, &pieces);
	ing_must(whole.words == pieces.words && whole.payload == pieces.payload);
	ing_must(strcmp(whole.digest, pieces.digest) == 0 && whole.payload <= bytes);
}
