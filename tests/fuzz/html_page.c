/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page from bytes to findings. The first byte chooses a Content-Type and whether the page knows
 * its address. What comes out must be valid UTF-8, and a link must be a web address.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "common/net/url.h"
#include "worker/examine/findings.h"
#include "worker/limits.h"
#include "worker/scrape/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(char *s)
{
	ing_must(s == NULL || ing_utf8_valid(s, strlen(s)));
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = {NULL, "text/html; charset=shift_jis",
		"text/html; charset=iso-2022-jp", "text/html; charset=gb18030",
		"text/html; charset=utf-16", "text/html; charset=windows-1252"};
	static const struct ing_html_limits limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
		.names = ING_MAX_MARKUP_NAMES,
		.tree_bytes = ING_MAX_TREE_BYTES,
		.cpu_ms = ING_MAX_PAGE_CPU_MS,
	};
	static struct ing_html *html; /* reused, as examiners do */
	if (html == NULL)
		html = ing_html_new();
	if (size == 0)
		return 0;
	struct ing_page page = {0};
	const char *url = (data[0] & 0x80) != 0 ? NULL : "https://a.example/b/c?d#e";
	ing_html_parse(html, data + 1, size - 1, types[data[0] % ING_ARRAY_LEN(types)], &limits);
	ing_scrape_page(html, url, &page);
	ing_must((page.next_url == NULL) == (page.next_technique == NULL));
	ing_must(page.next_url == NULL || ing_url_is_web(page.next_url));
	ing_must(page.title == NULL || strlen(page.title) <= ING_MAX_TITLE_BYTES);
	check(page.title);
	check(page.next_url);
	check(page.next_technique);
	return 0;
}
