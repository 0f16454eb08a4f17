/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Content codings: the first line of the input is the field value, the rest the body. Whatever they
 * are, the output stays under its ceiling.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/data/decode.h"

#define MAX_FIELD_BYTES 200
#define MAX_OUT_BYTES ((size_t)1 << 20)

FUZZ_BUDGET(.cpu_us = 50000, .cpu_byte_ns = 5000, .heap_kb = 20000, .out_bytes = MAX_OUT_BYTES,
	.heap_byte = 2000);

void fuzz_target(const uint8_t *data, size_t size)
{
	char field[MAX_FIELD_BYTES + 1];
	const uint8_t *end = size > 0 ? memchr(data, '\n', ING_MIN(size, MAX_FIELD_BYTES)) : NULL;
	if (end == NULL)
		return;
	size_t n = (size_t)(end - data);
	memcpy(field, data, n);
	field[n] = '\0';
	struct ing_buf out;
	ing_buf_init(&out, MAX_OUT_BYTES);
	struct ing_error err = {0};
	unsigned max_ratio = (unsigned)(n % 7); /* 0: none */
	int rc = ing_decode_bounded(field, end + 1, size - n - 1, max_ratio, &out, &err);
	ing_must(out.len <= MAX_OUT_BYTES);
	ing_must(rc == -(int)err.code);
	ing_must(rc < 0 || ing_decode_needed(field) || out.len == size - n - 1);
	fuzz_wrote(out.len);
	ing_buf_done(&out);
}
