/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of others' indexes, all by one reader: cells lie in their line or are texts of the reader's, a capture
 * has a date and a URL.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/record/cdx_line.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 1000, .heap_kb = 16, .heap_byte = 300);

static void check_cells(const struct ing_cdx_cell *cells)
{
	static volatile char last;
	ing_must(cells[ING_CDX_URL].text != NULL && cells[ING_CDX_DATETIME].text != NULL);
	for (int i = 0; i < ING_CDX_COLUMNS_; i++) {
		ing_must((cells[i].text == NULL) == (cells[i].bytes == 0));
		if (cells[i].bytes > 0)
			last = cells[i].text[cells[i].bytes - 1];
	}
	(void)last;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_cdx_reader *r = ing_cdx_reader_new();
	for (size_t at = 0; at < size;) {
		const char *line = (const char *)data + at;
		const char *end = memchr(line, '\n', size - at);
		size_t bytes = end != NULL ? (size_t)(end - line) : size - at;
		struct ing_cdx_cell cells[ING_CDX_COLUMNS_];
		const char *why;
		enum ing_cdx_line kind = ing_cdx_read_line(r, line, bytes, cells, &why);
		ing_must((kind == ING_CDX_BAD) == (why != NULL));
		if (kind == ING_CDX_CAPTURE)
			check_cells(cells);
		at += bytes + 1;
	}
	ing_cdx_reader_free(r);
}
