/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The findings of a page as one JSON object. Who names a file a page is believed, as long as its bytes
 * may be text: libmagic takes pages with much script in them for programs.
 */
#include "worker/ctl/document/extract_html.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/data/sniff.h"
#include "worker/artifact/artifact.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/helper.h"
#include "worker/ctl/json_line.h"
#include "worker/document/document.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

#define VERB "extract"
#define TIMEOUT_MS 60000
/* A page as JSON text: half of its bytes may be escapes of six. */
#define MAX_LINE_BYTES (4 * ING_MAX_SCRAPE_BYTES)

#define GOOD '+' /* first byte of a child's answer */
#define BAD '-'

static const char *status_of(const struct ing_findings *f)
{
	switch (f->page.status) {
	case ING_PAGE_PARSED:
		return f->text.status;
	case ING_PAGE_TOO_LARGE:
		return "page-too-large";
	case ING_PAGE_PART:
		return "partial";
	case ING_PAGE_NONE:
		break;
	}
	return "not-html";
}

static bool may_be_text(const char *mimetype)
{
	return strncmp(mimetype, "text/", 5) == 0 || strstr(mimetype, "xml") != NULL ||
	       strcmp(mimetype, "application/javascript") == 0 ||
	       strcmp(mimetype, "application/json") == 0 ||
	       strcmp(mimetype, "application/octet-stream") == 0;
}

static json_t *resources_json(const struct ing_resources_found *found)
{
	static const char *const types[ING_RESOURCE_TYPES_] = {
		[ING_RESOURCE_SCRIPT] = "script",
		[ING_RESOURCE_STYLESHEET] = "stylesheet",
		[ING_RESOURCE_IMAGE] = "image",
		[ING_RESOURCE_MEDIA] = "media",
		[ING_RESOURCE_SUBDOCUMENT] = "subdocument",
		[ING_RESOURCE_FONT] = "font",
		[ING_RESOURCE_OTHER] = "other",
	};
	json_t *list = json_array();
	for (uint32_t i = 0; i < found->count; i++) {
		json_t *o = json_object();
		ing_json_set_text(o, "url", found->items[i].url);
		ing_json_set_text(o, "resource_type", types[found->items[i].type]);
		ing_json_append(list, o);
	}
	return list;
}

static json_t *findings_json(const struct ing_findings *f, const char *mimetype)
{
	const struct ing_page *page = &f->page;
	const char *record = page->biblio_json;
	bool is_read = f->text.status != NULL;
	json_t *biblio = NULL;
	if (record != NULL)
		biblio = ing_json_parse(record, strlen(record), &ing_json_own, NULL);
	const char *title = ing_json_get_text(biblio, "title");
	const struct ing_page_link *link =
		ing_artifact_link(ing_artifact_type(ING_INGEST_PDF), page);
	json_t *o = json_object();
	ing_json_set_text(o, "status", status_of(f));
	ing_json_set_text(o, "mimetype", mimetype);
	ing_json_set_text(o, "title", title != NULL ? title : page->title);
	ing_json_set_text(o, "text", is_read ? ing_document_plain_text() : NULL);
	ing_json_set(o, "word_count", is_read ? json_integer(f->text.word_count) : NULL);
	ing_json_set_text(o, "language", f->text.language);
	ing_json_set_text(o, "scope", page->scope);
	ing_json_set_text(o, "platform", page->platform);
	ing_json_set_text(o, "tei_xml", f->text.tei_xml);
	ing_json_set(o, "resources", resources_json(&f->resources));
	ing_json_set(o, "biblio", biblio);
	ing_json_set_text(o, "next_url", link != NULL ? link->url : NULL);
	ing_json_set_text(o, "technique", link != NULL ? link->technique : NULL);
	return o;
}

static void add_error(const char *words, struct ing_buf *out)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	ing_ctl_json_add_line(o, out);
}

/* --- a batch --- */

struct reader {
	const struct ing_rules *rules;
	bool has_rules; /* the child's: they are in use */
};

/* In the child. JSON is UTF-8, so a charset of a content type would not count. */
static void extract_line(void *ctx, const char *line, size_t bytes, struct ing_buf *out)
{
	struct reader *r = ctx;
	struct ing_error err = {0};
	json_t *o = ing_ctl_json_line(line, bytes, &err);
	const json_t *html = json_object_get(o, "html"), *url = json_object_get(o, "url");
	if (!r->has_rules)
		ing_document_use_rules(r->rules);
	r->has_rules = true;
	if (!json_is_string(html) || !ing_ctl_is_text_or_none(url)) {
		ing_buf_add_char(out, BAD);
		add_error(o == NULL ? err.msg : "not {\"url\": TEXT, \"html\": TEXT}", out);
	} else {
		const struct ing_ctl_page page = {.url = json_string_value(url),
			.content_type = "text/html; charset=utf-8",
			.data = json_string_value(html),
			.bytes = json_string_length(html)};
		ing_buf_add_char(out, GOOD);
		ing_ctl_json_add_line(ing_ctl_extract_page(&page), out);
	}
	json_decref(o);
}

static bool print_line(struct ing_buf *answer, const struct ing_error *err)
{
	if (err != NULL) {
		ing_buf_add_char(answer, BAD);
		add_error(err->msg, answer);
	}
	if (answer->len > 1)
		fwrite(answer->data + 1, 1, answer->len - 1, stdout);
	return answer->len > 1 && answer->data[0] == GOOD;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_ctl_extract_page(const struct ing_ctl_page *page)
{
	const struct ing_exam_request q = {
		.url = page->url,
		.content_type = page->content_type,
		.want = ING_WANT_LINKS | ING_WANT_TEXT | ING_WANT_RESOURCES,
		.max_scrape_bytes = ING_MAX_SCRAPE_BYTES,
	};
	char mimetype[ING_MEDIA_TYPE_BYTES];
	struct ing_findings f;
	ing_findings_init(&f);
	ing_sniff(page->data, page->bytes, mimetype);
	if (may_be_text(mimetype) || page->bytes == 0)
		ing_document_read_page(&q, page->data, page->bytes, &f);
	json_t *o = findings_json(&f, mimetype);
	ing_findings_done(&f);
	return o;
}

int ing_ctl_extract_html_batch(const struct ing_rules *rules, const char *path)
{
	struct reader reader = {.rules = rules};
	struct ing_ctl_helper *helper = ing_ctl_helper_new(extract_line, &reader, TIMEOUT_MS);
	int code = ing_ctl_helper_batch(VERB, path, MAX_LINE_BYTES, helper, print_line);
	ing_ctl_helper_free(helper);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
