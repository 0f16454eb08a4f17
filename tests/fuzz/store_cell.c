/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as a value of any kind of column: what comes out is one field of a COPY line, in valid
 * UTF-8.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/store/cell.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 200, .heap_kb = 20, .heap_byte = 50);

static void check_field(const struct ing_buf *out)
{
	const char *s = ing_buf_str(out);
	ing_must(out->failed || out->len > 0);
	ing_must(ing_utf8_valid(s, out->len));
	for (size_t i = 0; i < out->len; i++) {
		ing_must(s[i] != '\0' && s[i] != '\n' && s[i] != '\t' && s[i] != '\r');
		if (s[i] == '\\') {
			i++; /* what follows an escape is one of ours */
			ing_must(i < out->len && strchr("\\nrtN", s[i]) != NULL && s[i] != '\0');
		}
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const struct ing_column columns[] = {
		{"text", ING_CELL_TEXT, false, ING_OVER_CUT, 10, 0},
		{"key", ING_CELL_TEXT, true, ING_OVER_NULL, 100, 0},
		{"hex", ING_CELL_HEX, false, ING_OVER_NULL, 4, 0},
		{"dt14", ING_CELL_DT14, false, ING_OVER_NULL, 0, 0},
		{"time", ING_CELL_TIME, false, ING_OVER_NULL, 0, 0},
		{"json", ING_CELL_JSON, false, ING_OVER_NULL, 0, 0},
	};
	char *text = ing_strndup((const char *)data, size);
	struct ing_buf out;
	ing_buf_init(&out, 1 << 20);
	for (size_t i = 0; i < ING_ARRAY_LEN(columns); i++) {
		ing_buf_clear(&out);
		if (ing_cell_write(&columns[i], &(struct ing_cell){.text = text}, &out))
			check_field(&out);
	}
	/* Of its exact size and without a NUL behind it. */
	char *exact = malloc(size ? size : 1);
	ing_must(exact != NULL);
	memcpy(exact, data, size);
	ing_buf_clear(&out);
	ing_json_fit(exact, size, &out);
	free(exact);
	ing_buf_done(&out);
	free(text);
}
