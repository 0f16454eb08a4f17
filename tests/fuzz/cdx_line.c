/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line of an index made of texts from anywhere, and a Content-Type from anywhere. Held to: a line
 * has eleven fields and one line end, whatever is in them.
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

/* The next line of the input as a text. */
static char *take_text(const uint8_t **at, size_t *left)
{
	const uint8_t *end = *left > 0 ? memchr(*at, '\n', *left) : NULL;
	size_t bytes = end != NULL ? (size_t)(end - *at) : *left;
	char *text = ing_strndup((const char *)*at, bytes);
	size_t used = ING_MIN(bytes + 1, *left);
	*at += used;
	*left -= used;
	return text;
}

static size_t count(const struct ing_buf *b, char c)
{
	size_t n = 0;
	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == c;
	return n;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	char *texts[8];
	check_mimetype(data, size);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		texts[i] = take_text(&data, &size);
	const struct ing_cdx cdx = {texts[0], texts[1], texts[2], texts[3], (int)size, texts[4],
		texts[5], texts[6], (int64_t)size - 1, -1, texts[7]};
	struct ing_buf line;
	ing_buf_init(&line, 2 * ING_CDX_MAX_BYTES);
	if (ing_cdx_format(&cdx, &line)) {
		ing_must(line.len <= ING_CDX_MAX_BYTES && line.data[line.len - 1] == '\n');
		ing_must(count(&line, '\n') == 1 && count(&line, ' ') == 10);
		ing_must(count(&line, '\0') == 0 && count(&line, '\t') == 0);
	} else {
		ing_must(line.len == 0);
	}
	ing_buf_done(&line);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		free(texts[i]);
}
