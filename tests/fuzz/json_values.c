/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bytes to JSON values: the first byte is the ceiling of a value, the second says how the rest is cut
 * into chunks. Whatever the cut, the values are those of the whole and within the ceiling.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/data/json_values.h"

FUZZ_BUDGET(.cpu_us = 300, .cpu_byte_ns = 1000, .heap_kb = 32, .heap_byte = 200);

static struct ing_buf split(const uint8_t *data, size_t size, size_t max_bytes, size_t step)
{
	struct ing_json_values v;
	struct ing_json_value value;
	struct ing_buf out;
	int64_t number = 0, line = 1;
	ing_buf_init(&out, 100 * (size + 1));
	ing_json_values_init(&v, "items", max_bytes);
	for (size_t at = 0; at <= size; at += step) {
		if (at < size)
			ing_json_values_feed(&v, (const char *)data + at, ING_MIN(step, size - at));
		if (at + step > size)
			ing_json_values_end(&v);
		while (ing_json_values_next(&v, &value)) {
			ing_must(value.number == number + 1 && value.line >= line);
			ing_must(value.bytes <= max_bytes);
			ing_must(value.bytes > 0 || value.fault != NULL);
			number = value.number;
			line = value.line;
			ing_buf_printf(&out, "%lld %d ", (long long)line, value.fault != NULL);
			ing_buf_add(&out, value.text, value.bytes);
			ing_buf_add_char(&out, '\n');
		}
	}
	ing_json_values_done(&v);
	ing_must(!out.failed);
	return out;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size < 3)
		return;
	size_t max_bytes = data[0] + 1u;
	size_t step = data[1] % 61 + 1u;
	(void)ing_json_values_is((const char *)data + 2, size - 2, "items");
	struct ing_buf whole = split(data + 2, size - 2, max_bytes, size);
	struct ing_buf pieces = split(data + 2, size - 2, max_bytes, step);
	ing_must(whole.len == pieces.len);
	ing_must(whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0);
	ing_buf_done(&whole);
	ing_buf_done(&pieces);
}
