/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl extract: what the document step finds in a file, as one JSON object. The file is read
 * here and looked into in a child.
 */
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/data/sniff.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/ctl/child.h"
#include "worker/ctl/document/extract_html.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/rules/rules.h"
#include "worker/ctl/url_arg.h"
#include "worker/document/document.h"
#include "worker/document/xml/xml_document.h"
#include "worker/model/findings.h"

#define VERB "extract"
#define TIMEOUT_MS 60000
/* As the daemon's fetch.max_body_bytes is by default. */
#define MAX_FILE_BYTES ((size_t)128 << 20)

struct task {
	struct ing_buf file;
	const char *url;
	const char *content_type;
	const struct ing_rules *rules;
};

/* In the child. The names are those of the pdf-text message. */
static void extract_pdf(void *ctx, struct ing_buf *out)
{
	const struct task *task = ctx;
	struct ing_pdf pdf = {0};
	ing_document_pdf(ing_buf_str(&task->file), task->file.len, NULL, NULL, &pdf);
	json_t *o = ing_pdf_json(&pdf, true);
	if (pdf.error_msg == NULL)
		ing_json_set(o, "error_msg", NULL);
	ing_json_set_text(o, "pdf_created", pdf.created);
	ing_json_set_text(o, "text", pdf.text);
	ing_ctl_json_add_line(o, out);
	ing_pdf_done(&pdf);
}

/* In the child. */
static void extract_html(void *ctx, struct ing_buf *out)
{
	const struct task *task = ctx;
	const struct ing_ctl_page page = {.url = task->url,
		.content_type = task->content_type,
		.data = ing_buf_str(&task->file),
		.bytes = task->file.len};
	ing_document_use_rules(task->rules);
	ing_ctl_json_add_line(ing_ctl_extract_page(&page), out);
}

/* In the child. */
static void extract_xml(void *ctx, struct ing_buf *out)
{
	const struct task *task = ctx;
	char mimetype[ING_MEDIA_TYPE_BYTES];
	ing_sniff(ing_buf_str(&task->file), task->file.len, mimetype);
	struct ing_xml_found found = {0};
	struct ing_xml_reader *reader = ing_xml_reader_new();
	json_t *publication = NULL;
	if (ing_xml_is_document_type(mimetype)) {
		ing_xml_read(reader, ing_buf_str(&task->file), task->file.len, mimetype,
			task->content_type, &found);
		publication = ing_xml_reader_publication(reader);
	}
	json_t *o = json_object();
	ing_json_set_text(o, "status", found.status != NULL ? found.status : "not-xml");
	if (found.error_msg != NULL)
		ing_json_set_text(o, "error_msg", found.error_msg);
	ing_json_set_text(o, "mimetype", mimetype);
	ing_json_set_text(o, "root", ing_xml_reader_root(reader));
	ing_json_set_bool(o, "jats", strcmp(mimetype, "application/jats+xml") == 0);
	ing_json_set(o, "publication", publication);
	ing_ctl_json_add_line(o, out);
	ing_xml_found_done(&found);
	ing_xml_reader_free(reader);
}

/* Prints the child's answer; a status other than success is a negative one. */
static int print_answer(const char *path, const struct ing_buf *answer)
{
	fwrite(ing_buf_str(answer), 1, answer->len, stdout);
	json_t *o = ing_json_parse(ing_buf_str(answer), answer->len, &ing_json_own, NULL);
	const char *status = ing_json_get_text(o, "status");
	int code = ING_CTL_OK;
	if (status == NULL || strcmp(status, "success") != 0)
		code = ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: %s", path,
			status != NULL ? status : "no answer");
	json_decref(o);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

static int extract(const char *path, ing_ctl_child_f *fn, struct task *task)
{
	struct ing_buf answer;
	struct ing_error err = {0};
	if (!ing_ctl_read_file(VERB, path, MAX_FILE_BYTES, &task->file))
		return ING_CTL_ENVIRONMENT;
	int code;
	if (task->file.failed)
		code = ing_ctl_fail(
			ING_CTL_NEGATIVE, VERB, "%s: over %zu bytes", path, MAX_FILE_BYTES);
	else if (ing_ctl_child(fn, task, TIMEOUT_MS, &answer, &err) < 0)
		code = ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: %s", path, err.msg);
	else {
		code = print_answer(path, &answer);
		ing_buf_done(&answer);
	}
	ing_buf_done(&task->file);
	return code;
}

/* The rules are loaded here, so that what is wrong with them is said; the child has them. */
static int extract_by_rules(
	const struct ing_ctl *ctl, const char *path, const char *batch, struct task *task)
{
	static const struct ing_ctl_rule_options none;
	struct ing_ctl_rules r;
	int code = ing_ctl_rules_load(ctl, &none, VERB, &r);
	if (code == ING_CTL_OK && r.report.errors > 0) {
		ing_report_print(&r.report, false, stderr);
		code = ING_CTL_USAGE;
	} else if (code == ING_CTL_OK && batch != NULL) {
		code = ing_ctl_extract_html_batch(r.rules, batch);
	} else if (code == ING_CTL_OK) {
		task->rules = r.rules;
		code = extract(path, extract_html, task);
	}
	ing_ctl_rules_done(&r);
	return code;
}

static const struct ing_option options[] = {
	{"url", "URL", "URL of the page, for its relative links", .code = 'u', .of = "html"},
	{"content-type", "VALUE", "its Content-Type header, for the charset", .code = 't',
		.of = "xml html"},
	{"batch", "FILE",
		"read JSON lines {\"url\": TEXT, \"html\": TEXT}, and print an object for each, in order; "
		"{\"error\": TEXT} where there is none",
		.code = 'b', .of = "html", .words = ING_WORDS_FILE},
	{0},
};

static const struct ing_usage pdf_usage = {
	.name = "extract pdf",
	.synopsis = "FILE",
	.summary = "metadata, the Info dictionary, XMP and the text of all pages",
	.text = "Prints metadata, the Info dictionary, XMP and the text of all pages.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_extract_usage,
};

static const struct ing_usage xml_usage = {
	.name = "extract xml",
	.synopsis = "[--content-type VALUE] FILE",
	.summary = "the root element, and the parts of the publication if it is JATS",
	.text = "Prints whether an XML document is well-formed, its root element, whether it is JATS, and the "
		"parts of the publication in that.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_extract_usage,
};

static const struct ing_usage html_usage = {
	.name = "extract html",
	.synopsis = "[--url URL] [--content-type VALUE] FILE\n--batch FILE",
	.summary = "main text, record, language, and what a page refers to",
	.text = "Prints the main text of the page as text and as TEI, its record, language, scope, platform and "
		"what it refers to, and the link to the document.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_extract_usage,
};

static const struct ing_usage *const verbs_below[] = {&pdf_usage, &xml_usage, &html_usage, NULL};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_extract_usage = {
	.name = "extract",
	.summary = "print what the worker extracts from a PDF, XML or HTML file",
	.text = "Prints what the worker extracts from FILE (- is standard input) as one JSON object.",
	.options = options,
	.exits = {ING_EXIT_OK, "the status is not \"success\"", "usage, or errors in the rules",
		"a file cannot be read"},
	.below = verbs_below,
};

int ing_ctl_extract(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct task task = {0};
	const char *batch = NULL;
	optind = 1;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_extract_usage, argc, argv);
		if (c == -1)
			break;
		if (c == 'u')
			task.url = optarg;
		else if (c == 't')
			task.content_type = optarg;
		else if (c == 'b')
			batch = optarg;
		else
			return ing_usage_code(c);
	}
	if (ing_ctl_check_url(VERB, task.url) != ING_CTL_OK)
		return ING_CTL_USAGE;
	if (batch != NULL && (argc - optind != 1 || strcmp(argv[optind], "html") != 0))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--batch is for html, without a file");
	if (batch != NULL)
		return extract_by_rules(ctl, NULL, batch, &task);
	if (argc - optind != 2)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "expected a kind (pdf, xml or html) and one file");
	if (strcmp(argv[optind], "pdf") == 0)
		return extract(argv[optind + 1], extract_pdf, &task);
	if (strcmp(argv[optind], "xml") == 0)
		return extract(argv[optind + 1], extract_xml, &task);
	if (strcmp(argv[optind], "html") == 0)
		return extract_by_rules(ctl, argv[optind + 1], NULL, &task);
	return ing_ctl_fail(
		ING_CTL_USAGE, VERB, "%s: unknown kind; expected pdf, xml or html", argv[optind]);
}
