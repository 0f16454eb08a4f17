/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page for people about a publication, every text of which comes from outside: whatever they are, they stay
 * text. One input is all of them.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/ctl/publication/html.h"
#include "worker/ctl/publication/text.h"

/* The style of the page is some kilobytes. */
FUZZ_BUDGET(.cpu_us = 6000, .cpu_byte_ns = 6000, .heap_kb = 2000, .heap_byte = 400);

static json_t *part(const char *text, const char *type)
{
	return json_pack("{s:s,s:s,s:s,s:i,s:[s,{s:s,s:s}]}", "content", text, "type", type, "url",
		text, "size", 5000, "list", text, "term", text, "uri", text);
}

static json_t *publication(const char *text, bool is_pdf)
{
	static const char *const parts[] = {
		"pmid", "doi", "title", "keywords", "mesh", "efo", "abstract"};
	static const char *const fields[] = {"journal_title", "pub_date", "licence", "publisher",
		"openalex_id", "fetchTimeHuman", "startUrl", "content"};
	static const char *const people[] = {"name", "orcid", "email", "phone", "uri"};
	json_t *o = json_object();
	json_t *who = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++)
		ing_json_set(o, parts[i], part(text, "citation"));
	ing_json_set(o, "fulltext", part(text, is_pdf ? "pdf_doi" : "doi"));
	for (size_t i = 0; i < ING_ARRAY_LEN(fields); i++)
		ing_json_set_text(o, fields[i], text);
	for (size_t i = 0; i < ING_ARRAY_LEN(people); i++)
		ing_json_set_text(who, people[i], text);
	ing_json_set(o, "corresp_author", json_pack("[O]", who));
	ing_json_set(o, "authors", json_pack("[o]", who));
	ing_json_set(o, "resources",
		json_pack("[{s:s,s:s,s:s,s:s}]", "resource", text, "url", text, "status", text,
			"detail", text));
	return o;
}

static void check_page(const struct ing_buf *page)
{
	const char *s = ing_buf_str(page);
	ing_must(!page->failed && ing_utf8_valid(s, page->len) && strlen(s) == page->len);
	ing_must(strstr(s, "<script") == NULL && strstr(s, "<b>") == NULL);
	for (const char *at = s; (at = strstr(at, "href=\"")) != NULL;) {
		at += 6;
		ing_must(*at == '#' || strncmp(at, "mailto:", 7) == 0 ||
			 strncasecmp(at, "http", 4) == 0);
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_buf page;
	char *text = ing_utf8_clean((const char *)data, size, NULL);
	json_t *o = publication(text, size % 2 == 1);
	ing_buf_init(&page, (size_t)256 << 20);
	ing_publication_html(&o, 1, &page);
	check_page(&page);
	ing_buf_clear(&page);
	ing_webpage_html(&o, 1, &page);
	check_page(&page);
	ing_buf_clear(&page);
	ing_publication_text(&o, 1, &page);
	ing_must(!page.failed && strchr(ing_buf_str(&page), '\x1b') == NULL);
	ing_buf_done(&page);
	json_decref(o);
	free(text);
}
