/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Helpers of struct ing_view.
 */
#include "worker/scrape/view.h"

#include <string.h>

#include "common/base/utf8.h"
#include "worker/scrape/jsoup/text.h"

/* Text is gathered before it is cut; more of one element than this is not looked at. */
#define MAX_TEXT_BYTES ((size_t)16 << 20)

const char *ing_view_text(const struct ing_view *v, ing_node n, size_t max_bytes)
{
	struct ing_buf text;
	ing_buf_init(&text, MAX_TEXT_BYTES);
	ing_text(v->tree, n, &text);
	const char *s = ing_buf_str(&text);
	const char *kept = ing_arena_strndup(v->arena, s, ing_utf8_cut(s, text.len, max_bytes));
	ing_buf_done(&text);
	return kept;
}

bool ing_view_source_has(const struct ing_view *v, const char *needle, size_t bytes)
{
	return bytes > 0 && v->data != NULL && memmem(v->data, v->bytes, needle, bytes) != NULL;
}
