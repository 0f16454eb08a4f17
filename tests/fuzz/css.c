/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A style sheet and a style attribute. URLs are not empty, have a NUL behind them and, of valid UTF-8,
 * are valid UTF-8; together they are not longer than the sheet, but for escapes.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/utf8.h"
#include "worker/document/resources/css.h"
#include "worker/document/resources/srcset.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 300, .heap_kb = 200, .heap_byte = 8);

struct seen {
	size_t bytes;
	bool valid;
};

static bool take(void *ctx, enum ing_css_use use, const char *url, size_t bytes)
{
	struct seen *seen = ctx;
	ing_must(use <= ING_CSS_IMAGE && bytes > 0 && url[bytes] == '\0');
	ing_must(memchr(url, '\0', bytes) == NULL);
	ing_must(!seen->valid || ing_utf8_valid(url, bytes));
	seen->bytes += bytes;
	return true;
}

static void check_css(const char *css, size_t size, enum ing_css_input input)
{
	struct seen seen = {.valid = ing_utf8_valid(css, size)};
	ing_css_references(css, size, input, take, &seen);
	ing_must(seen.bytes <= 3 * size);
}

static void check_srcset(const char *value, size_t size)
{
	struct ing_srcset s;
	const char *url;
	size_t bytes;
	const char *least = value;
	ing_srcset_init(&s, value, size);
	while (ing_srcset_next(&s, &url, &bytes)) {
		ing_must(url >= least && bytes > 0 && url + bytes <= value + size);
		least = url + bytes;
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	check_css(text, size, ING_CSS_SHEET);
	check_css(text, size, ING_CSS_DECLARATIONS);
	check_srcset(text, size);
}
