/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The main text of many pages. They are looked into in one child, which is forked again when a page
 * was its last.
 */
#include "worker/ctl/extract_html.h"

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/markup/html.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/helper.h"
#include "worker/ctl/json_line.h"
#include "worker/document/text/main_text.h"
#include "worker/document/text/plain.h"
#include "worker/model/limits.h"

#define VERB "extract"
#define TIMEOUT_MS 60000
/* A page as JSON text: half of its bytes may be escapes of six. */
#define MAX_LINE_BYTES (4 * ING_MAX_SCRAPE_BYTES)

#define GOOD '+' /* first byte of a child's answer */
#define BAD '-'

/* The child's, kept from line to line. */
struct reader {
	struct ing_html *html;
	struct ing_tree *tree;
	struct ing_main_text *main_text;
};

static const struct ing_html_limits limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = ING_MAX_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

static void add_error(const char *words, struct ing_buf *out)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	ing_ctl_json_add_line(o, out);
}

static void read_page(
	struct reader *r, const char *url, const char *html, size_t bytes, struct ing_buf *text)
{
	if (r->html == NULL) {
		r->html = ing_html_new();
		r->tree = ing_tree_new();
		r->main_text = ing_main_text_new();
	}
	/* JSON is UTF-8, so a charset of the content type does not count. */
	ing_html_parse(r->html, html, bytes, "text/html; charset=utf-8", &limits);
	ing_html_fill(r->html, r->tree);
	ing_tree_set_url(r->tree, url);
	ing_main_text_select(r->main_text, r->tree, NULL);
	ing_main_text_plain(r->main_text, r->tree, text);
}

/* In the child. */
static void extract_line(void *ctx, const char *line, size_t bytes, struct ing_buf *out)
{
	struct ing_error err = {0};
	json_t *o = ing_ctl_json_line(line, bytes, &err);
	const json_t *html = json_object_get(o, "html"), *url = json_object_get(o, "url");
	if (!json_is_string(html) || !ing_ctl_is_text_or_none(url)) {
		ing_buf_add_char(out, BAD);
		add_error(o == NULL ? err.msg : "not {\"url\": TEXT, \"html\": TEXT}", out);
	} else {
		struct ing_buf text;
		ing_buf_init(&text, ING_MAX_TREE_BYTES);
		read_page(ctx, json_string_value(url), json_string_value(html),
			json_string_length(html), &text);
		json_t *answer = json_object();
		ing_json_set_text(answer, "text", ing_buf_str(&text));
		ing_buf_add_char(out, GOOD);
		ing_ctl_json_add_line(answer, out);
		ing_buf_done(&text);
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

int ing_ctl_extract_html_batch(const char *path)
{
	struct reader reader = {0};
	struct ing_ctl_helper *helper = ing_ctl_helper_new(extract_line, &reader, TIMEOUT_MS);
	int code = ing_ctl_helper_batch(VERB, path, MAX_LINE_BYTES, helper, print_line);
	ing_ctl_helper_free(helper);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
