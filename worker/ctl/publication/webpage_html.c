/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A web page's title, what is said of it, and its content.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/base/buf.h"
#include "worker/ctl/publication/fulltext_html.h"
#include "common/markup/html_page.h"
#include "worker/ctl/publication/html.h"
#include "worker/ctl/publication/words.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL ? s : "";
}

static const char *url_of(const json_t *page)
{
	const char *url = text_of(page, "finalUrl");
	return url[0] != '\0' ? url : text_of(page, "startUrl");
}

static const char *name_of(const json_t *page)
{
	const char *title = text_of(page, "title");
	return title[0] != '\0' ? title : url_of(page);
}

static void add_badges(struct ing_buf *out, const json_t *page)
{
	char words[64];
	static const char *const keys[] = {"contentType", "language"};
	const char *licence = text_of(page, "license");
	int64_t status = ing_json_get_number(page, "statusCode");
	ing_buf_add_str(out, "<ul class=\"badges\">");
	if (ing_json_get_true(page, "broken"))
		ing_buf_printf(out, "<li class=\"bad\">Not reached (%" PRId64 ")</li>", status);
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		if (text_of(page, keys[i])[0] == '\0')
			continue;
		ing_buf_add_str(out, "<li dir=\"auto\">");
		ing_html_add(out, text_of(page, keys[i]));
		ing_buf_add_str(out, "</li>");
	}
	if (licence[0] != '\0') {
		ing_buf_add_str(out, "<li dir=\"auto\">");
		ing_html_add_link(out, licence, ing_licence_words(licence, words, sizeof(words)));
		ing_buf_add_str(out, "</li>");
	}
	ing_buf_add_str(out, "</ul>\n");
}

/* -------------------------------------------------------------------------------------------- */

void ing_webpage_html_add(struct ing_buf *out, const json_t *webpage, size_t number)
{
	ing_buf_printf(out, "<article id=\"p%zu\">\n<header>\n<p class=\"kicker\">", number);
	ing_html_add_link(out, url_of(webpage), url_of(webpage));
	ing_buf_add_str(out, "</p>\n<h1 dir=\"auto\">");
	ing_html_add(out, name_of(webpage));
	ing_buf_add_str(out, "</h1>\n");
	add_badges(out, webpage);
	ing_buf_add_str(out, "</header>\n<section>\n<div class=\"read\">\n");
	ing_fulltext_html(out, text_of(webpage, "content"), NULL, NULL);
	ing_buf_add_str(out, "</div>\n<p class=\"from\">Fetched ");
	ing_html_add_day(out, ing_json_get_text(webpage, "fetchTimeHuman"));
	ing_buf_add_str(out, ".</p>\n</section>\n</article>\n");
}

void ing_webpage_html(json_t *const webpages[], size_t n, struct ing_buf *out)
{
	char count[40];
	snprintf(count, sizeof(count), "%zu web pages", n);
	ing_html_page_begin(out, n == 1 ? name_of(webpages[0]) : count);
	for (size_t i = 0; i < n; i++)
		ing_webpage_html_add(out, webpages[i], i + 1);
	ing_html_page_end(out);
}
