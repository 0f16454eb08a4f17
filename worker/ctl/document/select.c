/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl select: what a selector finds in a page, for whoever writes rules. The page is parsed
 * and searched in a child; a batch has one for all lines, which is forked again when a line was its
 * end. One thread.
 */
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/markup/html.h"
#include "worker/scrape/jsoup/outer.h"
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/jsoup/text.h"
#include "common/markup/xml.h"
#include "worker/ctl/child.h"
#include "worker/ctl/helper.h"
#include "worker/ctl/json_line.h"
#include "worker/model/limits.h"

#define VERB "select"
#define TIMEOUT_MS 60000
#define MAX_LINE_BYTES (2 * ING_MAX_SCRAPE_BYTES) /* a page in JSON's quoting */

struct task {
	const char *html;
	size_t bytes;
	const char *base;         /* or NULL */
	const char *content_type; /* or NULL */
	bool xml;
	bool in_array; /* as {"matches":[...]}, not a line each */
	const struct ing_selector *selector;
};

static void set_text(json_t *o, const char *key, const struct ing_buf *b)
{
	ing_json_set(o, key, ing_json_textn(ing_buf_str(b), b->len));
}

static const char *tag_of(const struct ing_tree *t, ing_node n)
{
	return t->names[t->nodes[ing_tree_attr_owner(t, n)].el.written].text;
}

static json_t *match_json(const struct ing_tree *t, ing_node n, struct ing_buf *b)
{
	json_t *o = json_object();
	bool pseudo = t->nodes[n].pseudo;
	ing_json_set_text(o, "tag", tag_of(t, n));
	ing_json_set_number(o, "index", pseudo ? -1 : (int64_t)t->nodes[n].el.ordinal);
	ing_buf_clear(b);
	ing_text(t, n, b);
	set_text(o, "text", b);
	ing_buf_clear(b);
	ing_text_own(t, n, b);
	set_text(o, "own", b);
	ing_buf_clear(b);
	ing_outer(t, n, b);
	set_text(o, "html", b);
	return o;
}

/* The error as the whole answer. */
static void add_error(const struct ing_error *err, struct ing_buf *out)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", err->msg);
	if (err->column > 0)
		ing_json_set_number(o, "column", err->column);
	if (err->line > 0)
		ing_json_set_number(o, "line", err->line);
	ing_buf_clear(out);
	ing_ctl_json_add_line(o, out);
}

static int parse(const struct task *task, struct ing_tree *t, struct ing_html **ret_html,
	struct ing_error *err)
{
	static const struct ing_html_limits html_limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
		.names = ING_MAX_MARKUP_NAMES,
		.tree_bytes = ING_MAX_TREE_BYTES,
		.cpu_ms = ING_MAX_PAGE_CPU_MS,
	};
	static const struct ing_xml_limits xml_limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tree_bytes = ING_MAX_XML_TREE_BYTES,
		.cpu_ms = ING_MAX_PAGE_CPU_MS,
	};
	*ret_html = NULL;
	if (task->xml)
		return ing_xml_parse(
			t, task->html, task->bytes, task->content_type, &xml_limits, err);
	struct ing_html *h = ing_html_new();
	enum ing_html_end end =
		ing_html_read(h, t, task->html, task->bytes, task->content_type, &html_limits);
	if (end == ING_HTML_COSTLY)
		fprintf(stderr, "ingestctl " VERB
				": the page is too expensive and was parsed only in part\n");
	*ret_html = h;
	return 0;
}

static void add_matches(const struct task *task, const struct ing_tree *t,
	const struct ing_matches *found, struct ing_buf *out)
{
	struct ing_buf b;
	ing_buf_init(&b, ING_CTL_CHILD_BYTES);
	if (task->in_array)
		ing_buf_add_str(out, "{\"matches\":[");
	for (size_t i = 0; i < found->count && !out->failed; i++) {
		if (task->in_array && i > 0)
			ing_buf_add_char(out, ',');
		ing_ctl_json_add(match_json(t, found->nodes[i], &b), out);
		if (!task->in_array)
			ing_buf_add_char(out, '\n');
	}
	if (task->in_array)
		ing_buf_add_str(out, "]}\n");
	ing_buf_done(&b);
}

/* In the child. An error is the answer {"error":...}. */
static void select_page(void *ctx, struct ing_buf *out)
{
	const struct task *task = ctx;
	struct ing_error err = {0};
	struct ing_html *html = NULL;
	struct ing_tree *t = ing_tree_new();
	struct ing_matcher *m = ing_matcher_new();
	struct ing_matches found;
	int rc = parse(task, t, &html, &err);
	if (rc == 0) {
		ing_tree_set_url(t, task->base);
		ing_matcher_bind(m, t, ING_MAX_RULES_CPU_MS);
		rc = ing_select(m, task->selector, ING_NODE_DOCUMENT, &found, &err);
	}
	if (rc == 0)
		add_matches(task, t, &found, out);
	else
		add_error(&err, out);
	ing_matcher_free(m);
	ing_tree_free(t);
	ing_html_free(html);
}

/* --- one page --- */

static bool is_error(const struct ing_buf *answer)
{
	return answer->len > 0 &&
	       memmem(answer->data, ING_MIN(answer->len, (size_t)9), "{\"error\":", 9) != NULL;
}

static int print_answer(const char *path, const struct ing_buf *answer)
{
	if (!is_error(answer)) {
		fwrite(ing_buf_str(answer), 1, answer->len, stdout);
		if (!ing_ctl_flush_stdout(VERB))
			return ING_CTL_ENVIRONMENT;
		return ING_CTL_OK;
	}
	json_t *o = ing_json_parse(ing_buf_str(answer), answer->len, &ing_json_own, NULL);
	const char *why = ing_json_get_text(o, "error");
	int code = ing_ctl_fail(
		ING_CTL_NEGATIVE, VERB, "%s: %s", path, why != NULL ? why : "no answer");
	json_decref(o);
	return code;
}

static int select_file(const char *selector, const char *path, struct task *task)
{
	struct ing_error err = {0};
	struct ing_selector *compiled = NULL;
	if (ing_selector_compile(selector, strlen(selector), &compiled, &err) < 0)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "selector, character %d: %s", err.column, err.msg);
	struct ing_buf page, answer;
	int code = ING_CTL_ENVIRONMENT;
	if (ing_ctl_read_file(VERB, path, ING_MAX_SCRAPE_BYTES, &page)) {
		task->html = ing_buf_str(&page);
		task->bytes = page.len;
		task->selector = compiled;
		if (page.failed)
			code = ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: over %zu bytes", path,
				ING_MAX_SCRAPE_BYTES);
		else if (ing_ctl_child(select_page, task, TIMEOUT_MS, &answer, &err) < 0)
			code = ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: %s", path, err.msg);
		else {
			code = print_answer(path, &answer);
			ing_buf_done(&answer);
		}
		ing_buf_done(&page);
	}
	ing_selector_free(compiled);
	return code;
}

/* --- batch --- */

/* Fill the task from a line; the strings are the JSON's. */
static int read_line_task(const json_t *o, struct task *task, struct ing_error *err)
{
	const json_t *html = json_object_get(o, "html"), *selector = json_object_get(o, "selector");
	const json_t *base = json_object_get(o, "base"), *xml = json_object_get(o, "xml");
	if (!json_is_string(html) || !json_is_string(selector) || !ing_ctl_is_text_or_none(base) ||
		(xml != NULL && !json_is_boolean(xml)))
		return ing_error_set(err, ING_FAIL_SYNTAX,
			"not {\"html\": TEXT, \"selector\": TEXT, \"base\": TEXT, \"xml\": BOOLEAN}");
	struct ing_selector *compiled = NULL;
	int rc = ing_selector_compile(
		json_string_value(selector), json_string_length(selector), &compiled, err);
	if (rc < 0)
		return rc;
	*task = (struct task){
		.html = json_string_value(html),
		.bytes = json_string_length(html),
		.base = json_string_value(base),
		.content_type = json_is_true(xml) ? "application/xml; charset=utf-8"
						  : "text/html; charset=utf-8",
		.xml = json_is_true(xml),
		.in_array = true,
		.selector = compiled,
	};
	return 0;
}

/* In the child. */
static void select_line(void *ctx, const char *line, size_t bytes, struct ing_buf *out)
{
	(void)ctx;
	struct ing_error err = {0};
	struct task task = {0};
	json_t *o = ing_ctl_json_line(line, bytes, &err);
	if (o != NULL && read_line_task(o, &task, &err) == 0)
		select_page(&task, out);
	else
		add_error(&err, out);
	ing_selector_free((struct ing_selector *)(uintptr_t)task.selector);
	json_decref(o);
}

static bool print_line(struct ing_buf *answer, const struct ing_error *err)
{
	if (err != NULL)
		add_error(err, answer);
	fwrite(ing_buf_str(answer), 1, answer->len, stdout);
	return !is_error(answer);
}

static int run_batch(const char *path)
{
	struct ing_ctl_helper *helper = ing_ctl_helper_new(select_line, NULL, TIMEOUT_MS);
	int code = ing_ctl_helper_batch(VERB, path, MAX_LINE_BYTES, helper, print_line);
	ing_ctl_helper_free(helper);
	return code;
}

static const struct ing_option options[] = {
	{"base", "URL", "URL of the page, for [abs:...]", .code = 'b'},
	{"xml", NULL, "parse FILE as XML", .code = 'x'},
	{"batch", "FILE",
		"read JSON lines {\"html\", \"selector\", \"base\", \"xml\"} (base and xml are optional), print "
		"{\"matches\": [...]} or {\"error\"} for each",
		.code = 'f', .words = ING_WORDS_FILE},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_select_usage = {
	.name = "select",
	.synopsis = "[--base URL] [--xml] [--] SELECTOR FILE\n--batch FILE",
	.summary = "print the elements of a page that match a selector",
	.text = "Prints the elements of FILE (- is standard input) that match SELECTOR as JSON lines {\"tag\", "
		"\"index\", \"text\", \"own\", \"html\"}, in document order. index is the position of the element "
		"in the document, which itself is 0; -1 for pseudo elements of :matchText. The selectors are "
		"those of jsoup 1.16.1.",
	.options = options,
	.exits = {ING_EXIT_OK, "the page cannot be searched",
		"usage, or an invalid selector, with the position of the error",
		"a file cannot be read"},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_select(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct task task = {0};
	const char *batch = NULL;
	(void)ctl;
	optind = 1;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_select_usage, argc, argv);
		if (c == -1)
			break;
		switch (c) {
		case 'b':
			task.base = optarg;
			break;
		case 'f':
			batch = optarg;
			break;
		case 'x':
			task.xml = true;
			break;
		default:
			return ing_usage_code(c);
		}
	}
	if (batch != NULL) {
		if (optind < argc || task.base != NULL || task.xml)
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--batch cannot be combined with other arguments");
		return run_batch(batch);
	}
	if (argc - optind != 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "expected a selector and one file");
	return select_file(argv[optind], argv[optind + 1], &task);
}
