/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl scrape: everything that a page says, as one JSON object, by the configured rules and
 * those of the user. Pages are looked into in a child, which dies of a bad one in our place; in a
 * batch one child takes line after line (helper.h). One thread.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/conf/conf.h"
#include "worker/ctl/child.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/helper.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/rules/rules.h"
#include "worker/ctl/url_arg.h"
#include "worker/model/limits.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/scrape.h"
#include "worker/model/rule_hits.h"

#define VERB "scrape"
/* A page as JSON text: half of its bytes may be escapes of six. */
#define MAX_LINE_BYTES (4 * ING_MAX_SCRAPE_BYTES)

#define GOOD '+' /* first byte of a child's answer */
#define BAD '-'

struct task {
	const struct ing_rules *rules;
	unsigned timeout_ms;
	struct ing_scraper *scraper; /* the child's */
	const char *url, *content_type;
	bool xml;
	struct ing_buf file;
};

static void add_error(const char *words, struct ing_buf *out)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	ing_ctl_json_add_line(o, out);
}

/* To the author of a rule, who would otherwise only see that it found nothing. */
static void report_limits(const struct ing_rules *rules, const struct ing_rule_hits *hits)
{
	for (size_t i = 0; i < hits->count; i++)
		if (hits->items[i].flags & ING_RULE_FAILED)
			fprintf(stderr,
				"ingestctl " VERB
				": rule %s hit a limit on this page: its selectors or regular expressions "
				"need too many steps or match too much\n",
				rules->names[hits->items[i].rule]);
}

/* In the child. */
static void scrape_page(struct task *task, const struct ing_scrape_input *in, struct ing_buf *out)
{
	struct ing_scraped found;
	if (task->scraper == NULL)
		task->scraper = ing_scraper_new(task->rules);
	ing_scrape(task->scraper, in, &found);
	if (found.end == ING_SCRAPE_TOO_LARGE) {
		ing_buf_add_char(out, BAD);
		add_error(found.detail, out);
	} else {
		ing_buf_add_char(out, GOOD);
		ing_ctl_json_add_line(ing_scraped_json(&found, in->url), out);
		report_limits(task->rules, found.rule_hits);
	}
	ing_scraper_clear(task->scraper);
}

/* --- one page --- */

/* In the child. */
static void scrape_file(void *ctx, struct ing_buf *out)
{
	struct task *task = ctx;
	const struct ing_scrape_input in = {
		.url = task->url,
		.data = ing_buf_str(&task->file),
		.bytes = task->file.len,
		.content_type = task->content_type,
		.xml = task->xml,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI,
	};
	scrape_page(task, &in, out);
}

/* What the child said, without its first byte; false when that is bad. */
static bool print_answer(const struct ing_buf *answer)
{
	if (answer->len > 1)
		fwrite(answer->data + 1, 1, answer->len - 1, stdout);
	return answer->len > 1 && answer->data[0] == GOOD;
}

static int run_file(struct task *task, const char *path)
{
	struct ing_buf answer;
	struct ing_error err = {0};
	if (!ing_ctl_read_file(VERB, path, ING_MAX_SCRAPE_BYTES, &task->file))
		return ING_CTL_ENVIRONMENT;
	int code = ING_CTL_OK;
	if (task->file.failed) {
		code = ing_ctl_fail(
			ING_CTL_NEGATIVE, VERB, "%s: over %zu bytes", path, ING_MAX_SCRAPE_BYTES);
	} else if (ing_ctl_child(scrape_file, task, task->timeout_ms, &answer, &err) < 0) {
		code = ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: %s", path, err.msg);
	} else {
		code = print_answer(&answer) ? ING_CTL_OK : ING_CTL_NEGATIVE;
		ing_buf_done(&answer);
	}
	ing_buf_done(&task->file);
	return code;
}

/* --- a batch --- */

/* A media type in XML syntax, but for XHTML, which is read like HTML here as on the web. */
static bool is_xml_type(const char *type)
{
	return type != NULL && strcasestr(type, "xml") != NULL &&
	       strcasestr(type, "xhtml") == NULL && strcasestr(type, "text/html") == NULL;
}

/* In the child. JSON is UTF-8, so a charset of the content type does not count. */
static void scrape_line(void *ctx, const char *line, size_t bytes, struct ing_buf *out)
{
	struct task *task = ctx;
	struct ing_error err = {0};
	json_t *o = ing_ctl_json_line(line, bytes, &err);
	const json_t *html = json_object_get(o, "html"), *url = json_object_get(o, "url");
	const json_t *type = json_object_get(o, "content_type"), *xml = json_object_get(o, "xml");
	if (!json_is_string(html) || !ing_ctl_is_text_or_none(url) ||
		!ing_ctl_is_text_or_none(type) || (xml != NULL && !json_is_boolean(xml))) {
		ing_buf_add_char(out, BAD);
		add_error(o == NULL ? err.msg
				    : "not {\"url\": TEXT, \"html\": TEXT, \"content_type\": TEXT, "
				      "\"xml\": BOOLEAN}",
			out);
		json_decref(o);
		return;
	}
	bool as_xml =
		xml != NULL ? json_is_true(xml) : task->xml || is_xml_type(json_string_value(type));
	const struct ing_scrape_input in = {
		.url = json_string_value(url),
		.data = json_string_value(html),
		.bytes = json_string_length(html),
		.content_type =
			as_xml ? "application/xml; charset=utf-8" : "text/html; charset=utf-8",
		.xml = as_xml,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI,
	};
	scrape_page(task, &in, out);
	json_decref(o);
}

static bool print_line(struct ing_buf *answer, const struct ing_error *err)
{
	if (err != NULL) {
		ing_buf_add_char(answer, BAD);
		add_error(err->msg, answer);
	}
	return print_answer(answer);
}

static int run_batch(struct task *task, const char *path)
{
	struct ing_ctl_helper *helper = ing_ctl_helper_new(scrape_line, task, task->timeout_ms);
	int code = ing_ctl_helper_batch(VERB, path, MAX_LINE_BYTES, helper, print_line);
	ing_ctl_helper_free(helper);
	return code;
}

static const struct ing_option verb_options[] = {
	{"url", "URL", "URL of the page: selects its rules, resolves relative links", .code = 'u'},
	{"content-type", "VALUE", "its Content-Type header, for the charset", .code = 't'},
	{"xml", NULL, "parse it as XML", .code = 'x'},
	{"journals", "FILE", "additional file like journals.yaml; may be repeated", .code = 'j',
		.words = ING_WORDS_FILE},
	{"webpages", "FILE", "additional file like webpages.yaml; may be repeated", .code = 'w',
		.words = ING_WORDS_FILE},
	{"batch", "FILE",
		"read JSON lines {\"url\": TEXT, \"html\": TEXT}, optionally with \"content_type\": TEXT (its "
		"charset is ignored, as JSON is UTF-8) and \"xml\": BOOLEAN; one line each, in order",
		.code = 'b', .words = ING_WORDS_FILE},
	{0},
};

static int run_with_rules(const struct ing_ctl *ctl, const struct ing_ctl_rule_options *options,
	struct task *task, const char *batch, const char *path)
{
	struct ing_ctl_rules r;
	struct ing_conf *conf = NULL;
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	task->timeout_ms = conf->examine.timeout_ms;
	ing_conf_free(conf);
	code = ing_ctl_rules_load(ctl, options, VERB, &r);
	if (code == ING_CTL_OK && r.report.errors > 0) {
		ing_report_print(&r.report, false, stderr);
		code = ING_CTL_USAGE;
	} else if (code == ING_CTL_OK) {
		task->rules = r.rules;
		code = batch != NULL ? run_batch(task, batch) : run_file(task, path);
	}
	ing_ctl_rules_done(&r);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_scrape_usage = {
	.name = "scrape",
	.synopsis =
		"--url URL [--content-type VALUE] [--xml] [--journals FILE]... [--webpages FILE]... "
		"FILE|-\n[--xml] [--journals FILE]... [--webpages FILE]... --batch FILE|-",
	.summary = "print everything that is extracted from a page",
	.text = "Prints everything that is extracted from a page as one JSON object: bibliographic record, "
		"links to the document, publication and webpage parts, walls, platform and scope. The rules "
		"are those in rules.dir (--set rules.dir=DIR), followed by the given files.",
	.options = verb_options,
	.exits = {ING_EXIT_OK,
		"a page could not be read (in a batch its line is {\"error\": TEXT})",
		"usage, or errors in the rules", "a file cannot be read"},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_scrape(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct task task = {0};
	struct ing_ctl_rule_options files = {0};
	const char *batch = NULL;
	optind = 1;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_scrape_usage, argc, argv);
		if (c == -1)
			break;
		switch (c) {
		case 'u':
			task.url = optarg;
			if (ing_ctl_check_url(VERB, optarg) != ING_CTL_OK)
				return ING_CTL_USAGE;
			break;
		case 't':
			task.content_type = optarg;
			break;
		case 'x':
			task.xml = true;
			break;
		case 'j':
		case 'w':
			if (!ing_ctl_rules_option(&files,
				    c == 'j' ? ING_RULES_JOURNALS : ING_RULES_WEBPAGES, optarg))
				return ING_CTL_USAGE;
			break;
		case 'b':
			batch = optarg;
			break;
		default:
			return ing_usage_code(c);
		}
	}
	if (batch != NULL && (optind < argc || task.url != NULL || task.content_type != NULL))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--batch cannot be combined with a file, --url or --content-type");
	if (batch == NULL && optind != argc - 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give one FILE, or - for standard input");
	return run_with_rules(ctl, &files, &task, batch, batch == NULL ? argv[optind] : NULL);
}
