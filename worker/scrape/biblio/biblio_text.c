/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of <meta> and JSON-LD for the record: markup is stripped in the context's scratch memory,
 * and they are charged to the budgets.
 */
#include "worker/scrape/biblio/biblio_priv.h"

#include <string.h>

#include "common/base/utf8.h"
#include "worker/scrape/biblio/biblio.h"
#include "common/markup/strip_markup.h"

#define JSON_OVERHEAD 8  /* of a string: quotation marks, comma, and a little */
#define MAX_KEYWORDS 500 /* each is compared with those before it */

static size_t count_char(const char *s, size_t bytes, char c)
{
	size_t n = 0;
	for (const char *end = s + bytes; (s = memchr(s, c, (size_t)(end - s))) != NULL; s++)
		n++;
	return n;
}

/* Bytes of a JSON string: what is escaped takes two. */
static size_t json_bytes(const char *s, size_t bytes)
{
	return bytes + JSON_OVERHEAD + count_char(s, bytes, '"') + count_char(s, bytes, '\\');
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_biblio_clean(struct ing_biblio_ctx *ctx, const char *s, size_t bytes)
{
	size_t n = ing_utf8_cut(s, bytes, ING_MAX_BIBLIO_VALUE);
	if (n > ctx->work)
		return 0;
	ctx->work -= n;
	return ing_strip_markup_into(s, n, ctx->scratch);
}

json_t *ing_biblio_clean_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes)
{
	size_t cost = json_bytes(s, bytes);
	if (bytes == 0 || cost > ctx->left)
		return NULL;
	ctx->left -= cost;
	return json_stringn_nocheck(s, bytes);
}

json_t *ing_biblio_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes)
{
	return ing_biblio_clean_string(ctx, ctx->scratch, ing_biblio_clean(ctx, s, bytes));
}

bool ing_biblio_append(json_t *list, json_t *value)
{
	if (value != NULL && json_array_size(list) < ING_MAX_BIBLIO_LIST)
		return json_array_append_new(list, value) == 0;
	json_decref(value);
	return false;
}

static bool has_string(const json_t *list, const char *s, size_t bytes)
{
	size_t i;
	json_t *item;
	json_array_foreach (list, i, item) {
		if (json_string_length(item) == bytes &&
			memcmp(json_string_value(item), s, bytes) == 0)
			return true;
	}
	return false;
}

void ing_biblio_append_split(struct ing_biblio_ctx *ctx, json_t *list, const char *s, size_t bytes)
{
	bool strong = memchr(s, ';', bytes) != NULL || memchr(s, '|', bytes) != NULL;
	for (const char *p = s, *end = s + bytes;
		p < end && json_array_size(list) < MAX_KEYWORDS;) {
		const char *stop = p;
		while (stop < end && (strong ? *stop != ';' && *stop != '|' : *stop != ','))
			stop++;
		size_t n = ing_biblio_clean(ctx, p, (size_t)(stop - p));
		if (!has_string(list, ctx->scratch, n))
			ing_biblio_append(list, ing_biblio_clean_string(ctx, ctx->scratch, n));
		p = stop + 1;
	}
}
