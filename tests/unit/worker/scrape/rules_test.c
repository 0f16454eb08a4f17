/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * journals.yaml and webpages.yaml: every error with its place, which rules apply to which URL, what
 * a user's own files change, tests of entries, and the files' way to another process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/yaml.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/webpages.h"
#include "worker/model/rule_hits.h"

static void add_file(
	struct ing_rule_files *f, enum ing_rule_kind kind, const char *path, const char *text)
{
	if (text == NULL)
		return;
	f->items[f->count++] = (struct ing_rule_file){.kind = kind,
		.path = ing_strdup(path),
		.text = ing_strdup(text),
		.bytes = strlen(text)};
}

/* Load; what the report says goes to `said`, a line each. */
static struct ing_rules *load(const struct ing_rule_files *files, struct ing_buf *said)
{
	struct ing_report report;
	ing_report_init(&report);
	ing_buf_init(said, 100000);
	struct ing_rules *rules = ing_rules_load(files, &report);
	assert_int_equal(rules == NULL, report.errors > 0);
	ing_report_sort(&report);
	for (size_t i = 0; i < report.count; i++)
		ing_buf_printf(said, "%s%s:%d:%d: %s\n", report.lines[i].warning ? "(w) " : "",
			report.lines[i].file, report.lines[i].line, report.lines[i].column,
			report.lines[i].text);
	ing_report_done(&report);
	return rules;
}

static struct ing_rules *load_good(enum ing_rule_kind kind, const char *text, const char *own)
{
	struct ing_rule_files files;
	struct ing_buf said;
	ing_rule_files_init(&files);
	add_file(&files, kind, "rules/a.yaml", text);
	add_file(&files, kind, "own.yaml", own);
	struct ing_rules *rules = load(&files, &said);
	if (rules == NULL)
		fail_msg("%s", ing_buf_str(&said));
	ing_buf_done(&said);
	ing_rule_files_done(&files);
	return rules;
}

struct bad_case {
	const char *text, *own;
	const char *want; /* whole report; one that ends with a blank is only its beginning */
};

static void check_bad(enum ing_rule_kind kind, const struct bad_case *cases, size_t count)
{
	size_t wrong = 0;
	for (size_t i = 0; i < count; i++) {
		struct ing_rule_files files;
		struct ing_buf said;
		ing_rule_files_init(&files);
		add_file(&files, kind, "a", cases[i].text);
		add_file(&files, kind, "own", cases[i].own);
		struct ing_rules *rules = load(&files, &said);
		size_t bytes = strlen(cases[i].want);
		bool part = cases[i].want[bytes - 1] == ' ';
		bool same = part ? strncmp(ing_buf_str(&said), cases[i].want, bytes) == 0
				 : strcmp(ing_buf_str(&said), cases[i].want) == 0;
		if (!same)
			print_error("%zu: %s", i, ing_buf_str(&said));
		wrong += !same;
		assert_int_equal(rules == NULL, strstr(cases[i].want, "(w)") != cases[i].want);
		ing_rules_free(rules);
		ing_buf_done(&said);
		ing_rule_files_done(&files);
	}
	assert_int_equal(wrong, 0);
}

#define FOUND(n)                                                                                   \
	"there must be four YAML documents (regex, site, javascript, restart), or the first "      \
	"three of them; " #n " were found\n"
#define REST "\n---\n---\n"

/* clang-format off */
static const struct bad_case bad_journals[] = {
	/* the stream */
	{.text = "a: [\n", .want = "a:2:1: "},
	{.text = "", .want = "a:1:1: " FOUND(0)},
	{.text = "a: s\n", .want = "a:1:1: " FOUND(1)},
	{.text = "a: s\n---\ns: {title: h1}\n", .want = "a:3:1: " FOUND(2)},
	{.text = "a: s\n---\ns: {title: h1}\n---\n---\n---\n- x\n", .want = "a:7:1: " FOUND(5)},
	{.text = "- a\n---\n---\n---\n",
		.want = "a:1:1: section regex must be a map, not a list\n"},
	{.text = "---\n---\n- a\n---\n---\n",
		.want = "a:3:1: section site must be a map, not a list\n"},
	{.text = "---\n---\n---\na: b\n---\n",
		.want = "a:4:1: section javascript must be a list, not a map\n"},
	{.text = "---\n---\n---\n---\nx\n",
		.want = "a:5:1: section restart must be a list, not a text\n"},
	/* regex */
	{.text = "'': s\n---\ns: {title: h1}" REST,
		.want = "a:1:1: regex: the regular expression is empty\n"
			"a:3:1: no regex names site \"s\"\n"},
	{.text = "a:\n---\n" REST, .want = "a:1:3: regex: \"a\" needs the name of a site\n"},
	{.text = "a: ''\n---\n" REST, .want = "a:1:4: regex: \"a\" needs the name of a site\n"},
	{.text = "a: [s]\n---\n" REST, .want = "a:1:4: regex: \"a\" needs the name of a site\n"},
	{.text = "? [a]\n: s\n---\n" REST, .want = "a:1:3: a key must be a text\n"},
	{.text = "[a]: s\nb(: s\n---\ns: {titel: h1}\n[t]: {}\n---\n- c(\n",
		.want = "a:1:1: a key must be a text\n"
			"a:2:3: regular expression: missing closing parenthesis (character 3)\n"
			"a:4:5: there is no key \"titel\"; did you mean \"title\"?\n"
			"a:5:1: a key must be a text\n"
			"a:7:5: regular expression: missing closing parenthesis (character 3)\n"},
	{.text = "ab(c: s\n---\ns: {title: h1}" REST, .want = "a:1:5: regular expression: "},
	{.text = "'^http://a[': s\n---\ns: {title: h1}" REST,
		.want = "a:1:12: regular expression: "},
	{.text = "a: s\n---\nt: {title: h1}" REST,
		.want = "a:1:4: there is no site \"s\"\na:3:1: no regex names site \"t\"\n"},
	/* site */
	{.text = "a: s\n---\ns: {title: h1}\n'': {title: h1}" REST,
		.want = "a:4:1: a site's name must not be empty or contain NUL\n"},
	{.text = "a(: t\n---\ns: {title: h1}" REST, .want = "a:1:3: regular expression: "},
	{.text = "a: s\n---\ns:" REST, .want = "a:3:1: site \"s\" is empty\n"},
	{.text = "a: s\n---\ns: ~" REST, .want = "a:3:1: site \"s\" is empty\n"},
	{.text = "a: s\n---\ns: h1" REST, .want = "a:3:4: site \"s\" must be a map, not a text\n"},
	{.text = "a: s\n---\ns: {titel: h1}" REST,
		.want = "a:3:5: there is no key \"titel\"; did you mean \"title\"?\n"},
	{.text = "a: s\n---\ns: {title: }" REST, .want = "a:3:12: title is empty\n"},
	{.text = "a: s\n---\ns: {title: ''}" REST, .want = "a:3:12: title is empty\n"},
	{.text = "a: s\n---\ns: {title: ' '}" REST, .want = "a:3:12: title is empty\n"},
	{.text = "a: s\n---\ns: {title: null}" REST, .want = "a:3:12: title is empty\n"},
	{.text = "a: s\n---\ns: {title: \"h\\0\"}" REST, .want = "a:3:12: title is empty\n"},
	{.text = "a: s\n---\ns: {title: [[h1]]}" REST,
		.want = "a:3:13: title must be a selector, not a list\n"},
	{.text = "a: s\n---\ns: {title: []}" REST, .want = "a:3:12: title needs a selector\n"},
	{.text = "a: s\n---\ns: {title: [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]}" REST,
		.want = "a:3:12: title has more than 16 alternatives\n"},
	{.text = "a: s\n---\ns: {title: [h1, 'h2 > > b']}" REST, .want = "a:3:23: selector: "},
	{.text = "a: s\n---\ns: {title: [h1, '']}" REST, .want = "a:3:18: selector: "},
	{.text = "a: s\n---\ns: {title: [h1, {attr: b}]}" REST,
		.want = "a:3:17: title needs a selector\n"},
	{.text = "a: s\n---\ns: {pdf_src: {a: b}, pdf_dst: c}" REST,
		.want = "a:3:14: pdf_src must be a text, not a map\n"},
	{.text = "a: s\n---\ns: {pdf_src: a}" REST, .want = "a:3:14: pdf_src requires pdf_dst\n"},
	{.text = "a: s\n---\ns: {fulltext_dst: a}" REST,
		.want = "a:3:19: fulltext_dst requires fulltext_src\n"},
	{.text = "a: s\n---\ns: {pdf_src: 'a(', pdf_dst: b}" REST,
		.want = "a:3:17: regular expression: "},
	{.text = "a: s\n---\ns: {pdf_src: a, pdf_dst: 'b$1'}" REST, .want = "a:3:28: pdf_dst: "},
	{.text = "a: s\n---\ns:\n  title: h1 > > b" REST, .want = "a:4:15: selector: "},
	{.text = "a: s\n---\ns:\n  title: 'h1[a=''b''] > > c'" REST, .want = "a:4:25: selector: "},
	{.text = "a: s\n---\ns:\n  title: >\n    h1 > > b" REST, .want = "a:4:10: selector: "},
	{.text = "a: s\n---\ns: {title: {selektor: h1}}" REST,
		.want = "a:3:12: title needs a selector\n"
			"a:3:13: there is no key \"selektor\"; did you mean \"selector\"?\n"},
	{.text = "a: s\n---\ns: {title: {selector: h1, parents: 100}}" REST,
		.want = "a:3:36: parents must be a number, 0 to 20\n"},
	{.text = "a: s\n---\ns: {title: {selector: h1, attr: [a]}}" REST,
		.want = "a:3:33: attr must be a text, not a list\n"},
	/* javascript, restart */
	{.text = "---\n---\n---\n- \n---\n",
		.want = "a:4:2: an entry must be a regular expression about URLs\n"},
	{.text = "---\n---\n---\n- ''\n---\n- {a: b}\n",
		.want = "a:4:3: an entry must be a regular expression about URLs\n"
			"a:6:3: an entry must be a regular expression about URLs\n"},
	{.text = "---\n---\n---\n- a(\n---\n- b(\n", .want = "a:4:5: regular expression: "},
	/* tests */
	{.text = "a: s\n---\ns: {title: h1, tests: {page: p}}" REST,
		.want = "a:3:23: tests must be a list, not a map\n"},
	{.text = "a: s\n---\ns: {title: h1, tests: [{page: p, match: true}]}" REST,
		.want = "a:3:24: a test needs a url\n"
			"a:3:34: there is no key \"match\"; did you mean \"matches\"?\n"},
	{.text = "a: s\n---\ns: {title: h1, tests: [{url: u}]}" REST,
		.want = "a:3:24: a test needs one of page, html and xml\n"},
	{.text = "a: s\n---\ns: {title: h1, tests: [{url: u, page: p, html: x}]}" REST,
		.want = "a:3:24: a test needs one of page, html and xml\n"},
	{.text = "a: s\n---\ns: {title: h1, tests: [{url: u, html: ''}]}" REST,
		.want = "a:3:39: html must not be empty or contain NUL\n"},
	{.text = "a: s\n---\ns: {title: h1, tests: [{page: p, url: u, matches: maybe, expect: []}]}" REST,
		.want = "a:3:51: matches must be true or false\n"
			"a:3:66: expect must be a map, not a list\n"},
	/* merged */
	{.text = "a: s\n---\ns: {title: h1}" REST, .own = "a: t\n---\nu: {title: h1}" REST,
		.want = "own:1:4: there is no site \"t\"\nown:3:1: no regex names site \"u\"\n"},
	{.text = "a: s\n---\ns: {title: 'h1 >'}" REST, .own = "---\n---\ns: {titl: h1}\n---\n",
		.want = "a:3:17: selector: "},
	{.text = "a: s\na: s\n---\ns: {title: h1, title: h2}" REST,
		.want = "(w) a:1:1: key \"a\" comes again at 2:1, which counts\n"
			"(w) a:4:5: key \"title\" comes again at 4:16, which counts\n"},
};
/* clang-format on */

static void every_error_in_journals_has_its_place(void **state)
{
	(void)state;
	check_bad(ING_RULES_JOURNALS, bad_journals, ING_ARRAY_LEN(bad_journals));
}

static const struct bad_case bad_webpages[] = {
	{.text = "a: {title: h1}\n---\nb: {title: h1}\n",
		.want = "a:3:1: there must be one YAML document; 2 were found\n"},
	{.text = "", .want = "a:1:1: there must be one YAML document; 0 were found\n"},
	{.text = "- a\n", .want = "a:1:1: the file must be a map of patterns, not a list\n"},
	{.text = "'': {title: h1}\n",
		.want = "a:1:1: the pattern must not be empty or contain NUL\n"},
	{.text = "[a]: {title: h1}\nb: {title: 'h1 >'}\n",
		.want = "a:1:1: a key must be a text\na:2:17: selector: "},
	{.text = "a[: {title: h1}\n", .want = "a:1:3: regular expression: "},
	{.text = "a:\n", .want = "a:1:1: pattern \"a\" is empty\n"},
	{.text = "a: h1\n", .want = "a:1:4: pattern \"a\" must be a map, not a text\n"},
	{.text = "a: {contents: p}\n",
		.want = "a:1:5: there is no key \"contents\"; did you mean \"content\"?\n"},
	{.text = "a: {author: p}\n",
		.want = "a:1:5: there is no key \"author\"; there are title, content, license, language, "
			"javascript, wait_until, source, tests\n"},
	{.text = "a: {content: [p]}\n", .want = "a:1:14: content must be a selector, not a list\n"},
	{.text = "a: {content: ' '}\n", .want = "a:1:14: content is only white space\n"},
	{.text = "a:\n  content: \"p:nth(1)\"\n", .want = "a:2:14: selector: "},
	{.text = "a: {wait_until: ''}\n",
		.want = "a:1:17: wait_until must not be empty or contain NUL\n"},
	{.text = "a: {javascript: [true]}\n", .want = "a:1:17: javascript must be true or false\n"},
	{.text = "a: {javascript: ~}\n", .want = "a:1:17: javascript must be true or false\n"},
	{.text = "a: {javascript: maybe, title: , license: ''}\n",
		.want = "(w) a:1:17: javascript: \"maybe\" is read as false\n"
			"(w) a:1:31: title has no value and is ignored\n"
			"(w) a:1:42: license is empty\n"},
};

static void every_error_in_webpages_has_its_place(void **state)
{
	(void)state;
	check_bad(ING_RULES_WEBPAGES, bad_webpages, ING_ARRAY_LEN(bad_webpages));
}

static const char journals[] = "a\\.example/: first\n"
			       "a\\.example/special/: second\n"
			       "'[^/]*\\.many\\.example': first\n"
			       "b\\.example|c\\.example: second\n"
			       "d\\.example/(abs|full): first\n"
			       "e\\.examples?/: first\n"
			       "^https://only\\.example: second\n"
			       "f.example/x\\?id=: first\n"
			       "---\n"
			       "first: {title: h1, pdf_src: /abs/, pdf_dst: /pdf/}\n"
			       "second: {doi: .doi}\n"
			       "---\n- a\\.example/js\n---\n- js\\.example\n";

static const struct {
	const char *url, *site;
} sites[] = {
	{"https://a.example/1", "first"},
	{"http://www.a.example/1", "first"},
	{"HTTPS://A.EXAMPLE/1", "first"},
	{"  https://a.example/1 \n", "first"},
	{"https://a.example/special/1", "second"},
	{"https://a.example", NULL},
	{"https://b.a.example/1", NULL},
	{"https://xa.example/1", NULL},
	{"https://x.example/a.example/", NULL},
	{"https://x.many.example/", "first"},
	{"https://www.x.many.example/", "first"},
	{"https://b.example/", "second"},
	/* the right branch is not bound to the beginning, as upstream */
	{"https://x.org/?c.example", "second"},
	{"https://x.org/?b.example", NULL},
	{"https://d.example/full/1", "first"},
	{"https://d.example/other", NULL},
	{"https://e.example/", "first"},
	{"https://e.examples/", "first"},
	{"https://only.example/", "second"},
	{"http://only.example/", NULL},
	{"https://ONLY.example/", NULL},
	{"https://f-example/x?id=1", "first"},
	{"https://f.example/x", NULL},
	{"ftp://a.example/1", NULL},
	{"gopher://a.example/1", NULL},
	{"a.example/1", NULL},
	{"", NULL},
	{"https://", NULL},
};

static void the_last_expression_that_matches_counts(void **state)
{
	(void)state;
	struct ing_rules *r = load_good(ING_RULES_JOURNALS, journals, NULL);
	assert_int_equal(ing_journals_count(r->journals), 2);
	assert_int_equal(ing_journals_pattern_count(r->journals), 8);
	for (size_t i = 0; i < ING_ARRAY_LEN(sites); i++) {
		const struct ing_journal_site *s =
			ing_journals_site(r->journals, sites[i].url, NULL);
		const char *want = sites[i].site != NULL ? sites[i].site : "-";
		if (strcmp(s != NULL ? s->name : "-", want) != 0)
			fail_msg("%s: %s", sites[i].url, s != NULL ? s->name : "none");
	}
	assert_null(ing_journals_site(r->journals, NULL, NULL));
	assert_true(ing_journals_javascript(r->journals, "https://a.example/js"));
	assert_false(ing_journals_javascript(r->journals, "https://js.example/"));
	assert_true(ing_journals_restart(r->journals, "https://js.example/"));
	assert_true(ing_rules_need_browser(r, "https://a.example/js", false));
	assert_false(ing_rules_need_browser(r, "https://js.example/", true));
	const struct ing_journal_site *s =
		ing_journals_site(r->journals, "https://a.example/", NULL);
	assert_string_equal(ing_selector_text(s->keys[ING_JOURNAL_TITLE].selector), "h1");
	assert_null(s->keys[ING_JOURNAL_DOI].selector);
	assert_non_null(s->pdf.src);
	assert_string_equal(s->pdf.dst, "/pdf/");
	assert_null(s->fulltext.src);
	ing_rules_free(r);
}

#define SLOW_PATH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"

/* Whether it matches is not known: the rule is told of, and the next one looked at. */
static void an_expression_that_meets_its_limit_is_noted(void **state)
{
	(void)state;
	static const char slow[] = "slow\\.example/: quick\n'slow\\.example/(a+)+$': slow\n---\n"
				   "quick: {title: h1}\nslow: {title: h2}\n---\n---\n"
				   "- slow\\.example/(a+)+$\n";
	static const char url[] = "https://slow.example/" SLOW_PATH;
	struct ing_rule_hits hits = {.count = 0};
	struct ing_rules *r = load_good(ING_RULES_JOURNALS, slow, NULL);
	assert_string_equal(ing_journals_site(r->journals, url, &hits)->name, "quick");
	assert_int_equal(hits.count, 1);
	assert_int_equal(hits.items[0].flags, ING_RULE_FAILED);
	assert_string_equal(r->names[hits.items[0].rule], "a.yaml slow");
	assert_string_equal(ing_journals_site(r->journals, url, NULL)->name, "quick");
	assert_false(ing_journals_restart(r->journals, url));
	hits.count = 0;
	assert_string_equal(
		ing_journals_site(r->journals, "https://slow.example/aaa", &hits)->name, "slow");
	assert_int_equal(hits.count, 0);
	ing_rules_free(r);

	r = load_good(ING_RULES_WEBPAGES, "'slow\\.example/(a+)+$': {title: h2}\n", NULL);
	assert_null(ing_webpages_find(r->webpages, url, &hits));
	assert_int_equal(hits.count, 1);
	assert_int_equal(hits.items[0].flags, ING_RULE_FAILED);
	assert_string_equal(r->names[hits.items[0].rule], "a.yaml slow\\.example/(a+)+$");
	assert_null(ing_webpages_find(r->webpages, url, NULL));
	ing_rules_free(r);
}

static void own_files_add_and_override(void **state)
{
	(void)state;
	struct ing_rules *r = load_good(ING_RULES_JOURNALS, journals,
		"a\\.example/own/: own\n"
		"d\\.example: second\n"
		"---\n"
		"own: {title: {selector: 'meta[name=t]', attr: content, parents: 2}}\n"
		"first: {subtitle: h2}\n"
		"---\n- own\\.example\n");
	assert_int_equal(ing_journals_count(r->journals), 3);
	const struct ing_journal_site *own =
		ing_journals_site(r->journals, "https://a.example/own/", NULL);
	assert_string_equal(own->name, "own");
	assert_string_equal(own->keys[ING_JOURNAL_TITLE].attr, "content");
	assert_int_equal(own->keys[ING_JOURNAL_TITLE].parents, 2);
	const struct ing_journal_site *first =
		ing_journals_site(r->journals, "https://a.example/", NULL);
	assert_string_equal(first->name, "first");
	assert_null(first->keys[ING_JOURNAL_TITLE].selector); /* whole maps are replaced */
	assert_null(first->pdf.src);
	assert_non_null(first->keys[ING_JOURNAL_SUBTITLE].selector);
	assert_string_equal(
		ing_journals_site(r->journals, "https://d.example/abs", NULL)->name, "second");
	assert_true(ing_journals_javascript(r->journals, "https://own.example/"));
	assert_true(ing_journals_javascript(r->journals, "https://a.example/js"));
	/* What was overridden has no number; names say which file a rule stands in. */
	assert_string_equal(r->names[own->rule], "own.yaml own");
	assert_string_equal(r->names[own->keys[ING_JOURNAL_TITLE].rule], "own.yaml own title");
	assert_string_equal(r->names[first->rule], "own.yaml first");
	assert_int_equal(r->entries[own->keys[ING_JOURNAL_TITLE].rule], own->rule);
	assert_int_equal(r->count, 6);
	assert_int_equal(r->entry_count, 3);
	for (size_t i = 0; i < r->count; i++)
		assert_string_not_equal(r->names[i], "a.yaml first title");
	ing_rules_free(r);
}

static void webpages_are_found_and_replaced_whole(void **state)
{
	(void)state;
	struct ing_rules *r = load_good(ING_RULES_WEBPAGES,
		"tool\\.example/:\n"
		"  title: h1\n"
		"  content: ''\n"
		"  license: {selector: .l, attr: href}\n"
		"  javascript: true\n"
		"tool\\.example/plain: {javascript: 'false'}\n"
		"js\\.example: {javascript: yes, wait_until: '#x > y', language: .l}\n",
		"tool\\.example/own: {content: p}\n");
	assert_int_equal(ing_webpages_count(r->webpages), 4);
	const struct ing_webpage_rule *w =
		ing_webpages_find(r->webpages, "https://tool.example/", NULL);
	assert_string_equal(w->pattern, "tool\\.example/");
	assert_non_null(w->keys[ING_WEBPAGE_TITLE].selector);
	assert_true(w->keys[ING_WEBPAGE_CONTENT].given);
	assert_null(w->keys[ING_WEBPAGE_CONTENT].selector);
	assert_string_equal(w->keys[ING_WEBPAGE_LICENSE].attr, "href");
	assert_false(w->keys[ING_WEBPAGE_LANGUAGE].given);
	assert_int_equal(w->javascript, ING_JS_YES);
	assert_string_equal(
		r->names[w->keys[ING_WEBPAGE_TITLE].rule], "a.yaml tool\\.example/ title");
	w = ing_webpages_find(r->webpages, "https://tool.example/plain", NULL);
	assert_false(w->keys[ING_WEBPAGE_TITLE].given);
	assert_int_equal(w->javascript, ING_JS_NO);
	w = ing_webpages_find(r->webpages, "https://tool.example/own", NULL);
	assert_int_equal(w->javascript, ING_JS_DECIDE);
	assert_string_equal(r->names[w->rule], "own.yaml tool\\.example/own");
	w = ing_webpages_find(r->webpages, "http://js.example/", NULL);
	assert_int_equal(w->javascript, ING_JS_YES);
	assert_string_equal(w->wait_until, "#x > y");
	assert_null(ing_webpages_find(r->webpages, "https://other.example/", NULL));
	assert_true(ing_rules_need_browser(r, "https://tool.example/", true));
	assert_false(ing_rules_need_browser(r, "https://tool.example/", false));
	assert_false(ing_rules_need_browser(r, "https://tool.example/plain", true));
	assert_false(ing_rules_need_browser(r, "https://other.example/", true));
	ing_rules_free(r);
}

static void entries_have_sources_and_tests(void **state)
{
	(void)state;
	struct ing_rules *r = load_good(ING_RULES_JOURNALS,
		"a: s\n"
		"---\n"
		"s:\n"
		"  title: h1\n"
		"  source: a page seen\n"
		"  tests:\n"
		"    - {page: pages/a.html, url: 'https://a/', expect: {site: s}}\n"
		"    - {page: pages/b.html, url: 'https://b/', matches: false}\n"
		"---\n---\n",
		NULL);
	assert_int_equal(r->test_count, 2);
	const struct ing_rule_test *t = r->tests;
	assert_string_equal(r->names[t->rule], "a.yaml s");
	assert_string_equal(r->sources[t->rule], "a page seen");
	assert_string_equal(t->file, "rules/a.yaml");
	assert_int_equal(t->line, 7);
	assert_string_equal(t->page, "pages/a.html");
	assert_true(t->matches);
	assert_string_equal(ing_yaml_get(t->expect, "site")->text, "s");
	t = t->next;
	assert_int_equal(t->line, 8);
	assert_false(t->matches);
	assert_null(t->expect);
	assert_null(t->next);
	ing_rules_free(r);
}

static void the_page_of_a_test_may_stand_in_the_rule_file(void **state)
{
	(void)state;
	struct ing_rules *r = load_good(ING_RULES_JOURNALS,
		"a: s\n"
		"---\n"
		"s:\n"
		"  tests:\n"
		"    - html: |\n"
		"        <h1>One\n"
		"        <p>two\n"
		"      url: https://a/\n"
		"    - {xml: <article/>, url: 'https://b/', matches: false}\n"
		"    - {page: c.xml, url: 'https://c/'}\n"
		"---\n---\n",
		NULL);
	assert_int_equal(r->test_count, 3);
	const struct ing_rule_test *t = r->tests;
	assert_null(t->page);
	assert_string_equal(t->inline_page.text, "<h1>One\n<p>two\n");
	assert_int_equal(t->inline_page.bytes, strlen(t->inline_page.text));
	assert_false(t->xml);
	t = t->next;
	assert_string_equal(t->inline_page.text, "<article/>");
	assert_true(t->xml);
	t = t->next;
	assert_null(t->inline_page.text);
	assert_true(t->xml);
	ing_rules_free(r);
}

static void a_key_may_have_alternatives(void **state)
{
	(void)state;
	struct ing_rules *r = load_good(ING_RULES_JOURNALS,
		"a: s\n"
		"---\n"
		"s:\n"
		"  title: [h1, {selector: h2, attr: title}, h3]\n"
		"  doi: i\n"
		"---\n---\n",
		NULL);
	const struct ing_journal_site *site = ing_journals_site(r->journals, "https://a/", NULL);
	assert_non_null(site);
	const struct ing_journal_rule *title = &site->keys[ING_JOURNAL_TITLE];
	assert_string_equal(r->names[title->rule], "a.yaml s title");
	assert_non_null(title->selector);
	assert_null(title->attr);
	assert_string_equal(title->otherwise->attr, "title");
	assert_non_null(title->otherwise->otherwise->selector);
	assert_null(title->otherwise->otherwise->otherwise);
	assert_null(site->keys[ING_JOURNAL_DOI].otherwise);
	ing_rules_free(r);
}

static void the_shipped_lists_know_what_only_a_browser_can_read(void **state)
{
	/* clang-format off */
	static const struct {
		const char *url;
		bool javascript, restart;
	} cases[] = {
		{"https://jmg.bmj.com/content/50/10/700", true, false},
		{"https://www.bmj.com/content/350/bmj.h1258", true, false},
		{"https://ieeexplore.ieee.org/document/7066472", true, false},
		{"https://xlink.rsc.org/?doi=c1mb05020e", true, false},
		{"https://pubs.rsc.org/en/content/articlelanding/2011/mb/c1mb05020e", true, false},
		{"https://iopscience.iop.org/article/10.1088/1478-3975/12/4/045004", true, false},
		{"https://osf.io/preprints/abc12", true, false},
		{"https://www.aimspress.com/article/doi/10.3934/mbe.2020001", true, false},
		{"https://www.authorea.com/users/1/articles/2", true, false},
		{"https://wellcomeopenresearch.org/articles/3-99/v1", true, false},
		{"https://f1000research.com/posters/5-2345", true, false},
		{"https://f1000research.com/articles/5-1987", false, false},
		{"https://febs.onlinelibrary.wiley.com/doi/10.1111/febs.12345", true, true},
		{"https://onlinelibrary.wiley.com/doi/full/10.1002/humu.22346", true, true},
		{"https://www.pnas.org/doi/10.1073/pnas.0506580102", true, true},
		{"https://journals.asm.org/doi/10.1128/aac.02412-14", true, true},
		{"https://www.science.org/doi/10.1126/science.1260419", true, true},
		{"https://www.nrcresearchpress.com/doi/10.1139/gen-2015-0137", true, true},
		{"https://cdnsciencepub.com/doi/10.1139/gen-2015-0137", true, true},
		{"https://journals.sagepub.com/doi/10.1177/0962280213519715", true, true},
		{"https://www.worldscientific.com/doi/10.1142/S0219720012500102", true, true},
		{"https://www.tandfonline.com/doi/full/10.1080/1", true, true},
		{"https://www.tandfonline.com/toc/kvir20/current", false, false},
		{"https://www.jbc.org/article/S0021-9258(20)30012-3/fulltext", true, true},
		{"https://www.jbc.org/article/S0021-9258(20)30012-3/abstract", false, false},
		{"https://pubs.acs.org/doi/10.1021/ci400674a", true, true},
		{"https://pubs.acs.org/toc/jcisd8/current", false, false},
		{"https://europepmc.org/article/MED/1", true, false},
		{"https://peerj.com/articles/1229/", false, false},
		{"https://hal.science.example/science.org", false, false},
	};
	/* clang-format on */
	(void)state;
	struct ing_rule_files files;
	struct ing_buf said;
	struct ing_error err = {0};
	ing_rule_files_init(&files);
	assert_int_equal(ing_rule_files_read(&files, ING_RULES_JOURNALS,
				 ING_SOURCE_DIR "/rules/journals.yaml", &err),
		0);
	struct ing_rules *r = load(&files, &said);
	assert_non_null(r);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		if (ing_journals_javascript(r->journals, cases[i].url) != cases[i].javascript ||
			ing_journals_restart(r->journals, cases[i].url) != cases[i].restart)
			fail_msg("%s", cases[i].url);
	}
	ing_rules_free(r);
	ing_buf_done(&said);
	ing_rule_files_done(&files);
}

static void all_that_the_format_knows_loads(void **state)
{
	(void)state;
	struct ing_rule_files files;
	struct ing_buf said;
	struct ing_error err = {0};
	ing_rule_files_init(&files);
	if (ing_rule_files_read(&files, ING_RULES_JOURNALS,
		    ING_TEST_DATA "/rules/every_feature_journals.yaml", &err) != 0 ||
		ing_rule_files_read(&files, ING_RULES_WEBPAGES,
			ING_TEST_DATA "/rules/every_feature_webpages.yaml", &err) != 0)
		fail_msg("%s", err.msg);
	struct ing_rules *r = load(&files, &said);
	if (r == NULL || said.len > 0)
		fail_msg("%s", ing_buf_str(&said));
	assert_true(ing_journals_count(r->journals) >= 4);
	assert_true(ing_webpages_count(r->webpages) >= 4);
	ing_rules_free(r);
	ing_buf_done(&said);
	ing_rule_files_done(&files);
}

static void files_come_out_of_a_descriptor_as_they_went_in(void **state)
{
	(void)state;
	struct ing_rule_files files;
	struct ing_rule_files again;
	struct ing_error err = {0};
	int fd = -1;
	ing_rule_files_init(&files);
	ing_rule_files_init(&again);
	add_file(&files, ING_RULES_JOURNALS, "rules/journals.yaml", journals);
	add_file(&files, ING_RULES_LINKS, "links.yaml", "");
	uint64_t digest = ing_rule_files_digest(&files);
	uint64_t all = ing_rule_files_digest_all(&files);
	add_file(&files, ING_RULES_HOSTS, "hosts.yaml", "[]"); /* goes along, and does not count */
	assert_int_equal(ing_rule_files_digest(&files), digest);
	assert_int_not_equal(ing_rule_files_digest_all(&files), all);
	assert_int_equal(ing_rule_files_to_fd(&files, &fd, &err), 0);
	assert_int_equal(write(fd, "x", 1), -1); /* sealed */
	assert_int_equal(ing_rule_files_from_fd(&again, fd, &err), 0);
	close(fd);
	assert_int_equal(again.count, 3);
	assert_int_equal(again.items[2].kind, ING_RULES_HOSTS);
	assert_int_equal(again.items[0].kind, ING_RULES_JOURNALS);
	assert_string_equal(again.items[0].path, "rules/journals.yaml");
	assert_string_equal(again.items[0].text, journals);
	assert_int_equal(again.items[1].bytes, 0);
	assert_int_equal(ing_rule_files_digest(&files), ing_rule_files_digest(&again));
	again.items[0].text[0] ^= 1;
	assert_int_not_equal(ing_rule_files_digest(&files), ing_rule_files_digest(&again));
	ing_rule_files_done(&files);
	ing_rule_files_done(&again);
}

static void a_descriptor_with_something_else_is_refused(void **state)
{
	(void)state;
	struct ing_rule_files files;
	struct ing_error err = {0};
	char path[] = "/tmp/rules_test.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	ing_rule_files_init(&files);
	assert_int_equal(ing_rule_files_from_fd(&files, fd, &err), -ING_FAIL_INVALID);
	assert_int_equal(write(fd, "some other bytes, more than a head", 34), 34);
	err = (struct ing_error){0};
	assert_int_equal(ing_rule_files_from_fd(&files, fd, &err), -ING_FAIL_INVALID);
	close(fd);
	ing_rule_files_done(&files);
}

static void folders_are_read_and_files_may_be_absent(void **state)
{
	(void)state;
	struct ing_rule_files files;
	struct ing_error err = {0};
	char dir[] = "/tmp/rules_test.XXXXXX";
	char path[64];
	assert_non_null(mkdtemp(dir));
	ing_rule_files_init(&files);
	assert_int_equal(ing_rule_files_read_dir(&files, dir, &err), 0);
	assert_int_equal(files.count, 0);
	snprintf(path, sizeof(path), "%s/sites.yaml", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("[]\n", f);
	fclose(f);
	assert_int_equal(ing_rule_files_read_dir(&files, dir, &err), 0);
	assert_int_equal(files.count, 1);
	assert_int_equal(files.items[0].kind, ING_RULES_SITES);
	assert_string_equal(files.items[0].path, path);
	assert_string_equal(files.items[0].text, "[]\n");
	ing_rule_files_done(&files);
	unlink(path);
	rmdir(dir);
	assert_int_equal(ing_rule_files_read_dir(&files, dir, &err), -ING_FAIL_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_error_in_journals_has_its_place),
		cmocka_unit_test(every_error_in_webpages_has_its_place),
		cmocka_unit_test(the_last_expression_that_matches_counts),
		cmocka_unit_test(an_expression_that_meets_its_limit_is_noted),
		cmocka_unit_test(own_files_add_and_override),
		cmocka_unit_test(webpages_are_found_and_replaced_whole),
		cmocka_unit_test(entries_have_sources_and_tests),
		cmocka_unit_test(the_page_of_a_test_may_stand_in_the_rule_file),
		cmocka_unit_test(a_key_may_have_alternatives),
		cmocka_unit_test(the_shipped_lists_know_what_only_a_browser_can_read),
		cmocka_unit_test(all_that_the_format_knows_loads),
		cmocka_unit_test(files_come_out_of_a_descriptor_as_they_went_in),
		cmocka_unit_test(a_descriptor_with_something_else_is_refused),
		cmocka_unit_test(folders_are_read_and_files_may_be_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
