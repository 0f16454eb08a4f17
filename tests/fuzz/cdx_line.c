/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line of an index from anywhere, and a Content-Type from anywhere. Held to: what was read,
 * written and read again is the same.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/record/cdx.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 500, .heap_kb = 20, .heap_byte = 50);

static void check_mimetype(const uint8_t *data, size_t size)
{
	char mimetype[ING_CDX_MIMETYPE_BYTES];
	char again[ING_CDX_MIMETYPE_BYTES];
	char *text = ing_strndup((const char *)data, size);
	ing_cdx_mimetype(text, mimetype);
	ing_must(mimetype[0] != '\0' && strpbrk(mimetype, " \t\r\n;,") == NULL);
	ing_cdx_mimetype(mimetype, again);
	ing_must(strcmp(mimetype, again) == 0);
	free(text);
}

static bool same(const char *a, const char *b)
{
	return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_cdx cdx;
	struct ing_cdx again;
	check_mimetype(data, size);
	char *first = ing_strndup((const char *)data, size);
	struct ing_buf line;
	struct ing_buf second;
	ing_buf_init(&line, 2 * ING_CDX_MAX_BYTES);
	ing_buf_init(&second, 2 * ING_CDX_MAX_BYTES);
	/* Control bytes grow when they are escaped, so the line may have become too long. */
	if (ing_cdx_parse(first, size, &cdx) == 0 && ing_cdx_format(&cdx, &line)) {
		char *copy = ing_strndup(line.data, line.len);
		ing_must(ing_cdx_parse(copy, line.len, &again) == 0);
		ing_must(same(cdx.datetime, again.datetime) && cdx.status == again.status);
		ing_must(cdx.csize == again.csize && cdx.offset == again.offset);
		/* What is escaped stays as it is. */
		ing_must(ing_cdx_format(&again, &second));
		ing_must(line.len == second.len && memcmp(line.data, second.data, line.len) == 0);
		free(copy);
	}
	ing_buf_done(&line);
	ing_buf_done(&second);
	free(first);
}
