/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bytes to lines: the first byte is the ceiling of a line, the second says how the rest is cut into
 * chunks. Whatever the cut, the lines are those of the whole, none is longer than the ceiling and
 * one, none has a newline, and the buffer stays within its bounds.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/data/line_splitter.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 500, .heap_kb = 16, .heap_byte = 50);

struct summary {
	struct ing_buf lines; /* each behind its number and length, before a newline */
	size_t count;
};

static void take(struct ing_line_splitter *s, struct summary *sum)
{
	struct ing_line line;
	int64_t last = 0;
	while (ing_line_splitter_next(s, &line)) {
		ing_must(line.number > last && line.bytes > 0);
		ing_must(line.bytes <= s->max_bytes + 1);
		ing_must(memchr(line.text, '\n', line.bytes) == NULL);
		ing_must(s->line.len <= s->max_bytes + 2);
		last = line.number;
		sum->count++;
		ing_buf_printf(&sum->lines, "%lld %zu ", (long long)line.number, line.bytes);
		ing_buf_add(&sum->lines, line.text, ING_MIN(line.bytes, s->max_bytes));
		ing_buf_add_char(&sum->lines, '\n');
	}
}

static struct summary split(const uint8_t *data, size_t size, size_t max_bytes, size_t step)
{
	struct ing_line_splitter s;
	struct summary sum = {0};
	ing_buf_init(&sum.lines, 64 * (size + 1));
	ing_line_splitter_init(&s, max_bytes);
	for (size_t at = 0; at < size; at += step) {
		ing_line_splitter_feed(&s, (const char *)data + at, ING_MIN(step, size - at));
		take(&s, &sum);
	}
	ing_line_splitter_end(&s);
	take(&s, &sum);
	ing_line_splitter_done(&s);
	ing_must(!sum.lines.failed);
	return sum;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size < 3)
		return;
	size_t max_bytes = data[0] + 1u;
	size_t step = data[1] % 61 + 1u;
	struct summary whole = split(data + 2, size - 2, max_bytes, size);
	struct summary pieces = split(data + 2, size - 2, max_bytes, step);
	ing_must(whole.count == pieces.count && whole.lines.len == pieces.lines.len);
	ing_must(whole.count == 0 ||
		 memcmp(whole.lines.data, pieces.lines.data, whole.lines.len) == 0);
	ing_buf_done(&whole.lines);
	ing_buf_done(&pieces.lines);
}
