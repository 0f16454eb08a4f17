/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The body of a style sheet. Its encoding (CSS Syntax Level 3, section 3.2) only matters for those in
 * which ASCII is not ASCII: of all others the bytes will do, as those of a URL are sent as they are.
 */
#include "worker/document/resources/resources.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/markup/charset.h"
#include "common/net/url.h"
#include "worker/document/resources/css.h"
#include "worker/document/resources/resource_set.h"

struct sheet {
	struct ing_resource_set *set;
	const char *url;
};

static char *resolve(void *ctx, const char *value, size_t bytes)
{
	const struct sheet *sheet = ctx;
	char *ref = ing_strndup(value, bytes);
	char *absolute = ing_url_resolve(sheet->url, ref);
	free(ref);
	return absolute;
}

static bool take_css(void *ctx, enum ing_css_use use, const char *url, size_t bytes)
{
	static const enum ing_resource_type types[] = {
		[ING_CSS_IMPORT] = ING_RESOURCE_STYLESHEET,
		[ING_CSS_FONT] = ING_RESOURCE_FONT,
		[ING_CSS_IMAGE] = ING_RESOURCE_IMAGE,
	};
	struct sheet *sheet = ctx;
	return ing_resource_set_add(sheet->set, types[use], url, bytes, resolve, sheet);
}

static bool add_text(void *ctx, const char *utf8, size_t bytes)
{
	return ing_buf_add(ctx, utf8, bytes);
}

static void search(struct sheet *sheet, const void *data, size_t bytes)
{
	const struct ing_charset *charset = ing_charset_of_bom(data, bytes);
	if (charset == NULL) {
		ing_css_references(data, bytes, ING_CSS_SHEET, take_css, sheet);
		return;
	}
	struct ing_buf text;
	ing_charset_skip_bom(charset, &data, &bytes);
	ing_buf_init(&text, 3 * bytes);
	ing_charset_decode(charset, data, bytes, add_text, &text);
	ing_css_references(ing_buf_str(&text), text.len, ING_CSS_SHEET, take_css, sheet);
	ing_buf_done(&text);
}

/* -------------------------------------------------------------------------------------------- */

void ing_resources_of_style(const void *data, size_t bytes, const char *url, const char *page,
	const struct ing_filters *filters, struct ing_resources_found *ret)
{
	struct sheet sheet = {.set = ing_resource_set_new(page, filters), .url = url};
	search(&sheet, data, bytes);
	ing_resource_set_take(sheet.set, ret);
	ing_resource_set_free(sheet.set);
}
