/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What sites.yaml can say: where values come from, what is done to them, what they are put into,
 * and what hostile pages do to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "rules_helper.h"
#include "worker/scrape/rules/sites.h"

#define PAGE "https://journal.example/view/7?a=b"
#define JSON(text) "<script type=application/json>" text "</script>"
#define SCRIPT(text) "<script>" text "</script>"

static struct rules_helper helper;

static const struct {
	const char *name;
	const char *rule; /* one entry, without its name */
	const char *page;
	const char *url;  /* NULL: PAGE */
	const char *want; /* NULL: nothing */
} cases[] = {
	{"from the page's address", "take: [{url: '/view/(?<id>[0-9]+)'}]\n  pdf_url: /pdf/{id}",
		"", NULL, "https://journal.example/pdf/7"},
	{"not in the address", "take: [{url: '/abs/(?<id>[0-9]+)'}]\n  pdf_url: /pdf/{id}", "",
		NULL, NULL},
	{"filter that does not match", "page: {host: other.example}\n  pdf_url: /pdf", "", NULL,
		NULL},
	{"filter that matches", "page: {host: .example}\n  pdf_url: /pdf", "", NULL,
		"https://journal.example/pdf"},
	{"filter and no URL", "page: {host: .example}\n  pdf_url: http://a.example/", "", "", NULL},
	{"no filter, no URL", "pdf_url: http://a.example/", "", "", "http://a.example/"},
	{"relative and no address", "pdf_url: /pdf", "", "", NULL},

	{"attribute", "take: [{selector: a, attr: href, name: x}]\n  pdf_url: '{x}'",
		"<a href=' /1 '>", NULL, "https://journal.example/1"},
	{"text", "take: [{selector: b, name: x}]\n  pdf_url: '/{x}'", "<b> a <i>b</i></b>", NULL,
		"https://journal.example/a%20b"},
	{"a script's data", "take: [{selector: '#x', name: x}]\n  pdf_url: '/{x}'",
		"<script id=x>a/b</script>", NULL, "https://journal.example/a/b"},
	{"the first element that has it",
		"take: [{selector: a, attr: data-x, name: x}]\n  pdf_url: "
		"'{x}'",
		"<a><a data-x=''><a data-x=/3><a data-x=/4>", NULL, "https://journal.example/3"},
	{"no element", "take: [{selector: a, attr: href, name: x}]\n  pdf_url: '{x}'", "<b>", NULL,
		NULL},
	{"match",
		"take: [{selector: a, attr: href, match: '(?<l>.*)/view/(?<r>.*)'}]\n  pdf_url: "
		"'{l}/download/{r}'",
		"<a href=/help><a href=/j/view/1/2>", NULL,
		"https://journal.example/j/download/1/2"},
	{"a group that took no part",
		"take: [{selector: a, attr: href, match: '(?<l>x)|(?<r>y)'}]\n"
		"  pdf_url: '/{l}{r}'",
		"<a href=y>", NULL, NULL},

	{"decode", "take: [{selector: a, attr: v, name: x, decode: true}]\n  pdf_url: '{x}'",
		"<a v='http%3A%2F%2Fa.example%2f%E4%B8'>", NULL, "http://a.example/%E4%B8"},
	{"cut where bytes are no UTF-8",
		"take: [{selector: a, attr: v, name: x, decode: true, cut: 'b.*$'}]\n  pdf_url: '/{x}'",
		"<a v=a%C3%C3%E4b%FFb>", NULL, "https://journal.example/a%C3%C3%E4"},
	{"not decoded", "take: [{selector: a, attr: v, name: x}]\n  pdf_url: '/{x}'", "<a v=a%2Fb>",
		NULL, "https://journal.example/a%2Fb"},
	{"escapes that are none",
		"take: [{selector: a, attr: v, name: x, decode: true}]\n  pdf_url: "
		"'/{x}'",
		"<a v='%4%zz%'>", NULL, "https://journal.example/%4%zz%"},
	{"a NUL comes out",
		"take: [{selector: a, attr: v, name: x, decode: true}]\n  pdf_url: "
		"'/{x}'",
		"<a v='a%00b'>", NULL, NULL},
	{"cut",
		"take: [{selector: a, attr: v, name: x, decode: true, cut: '\\?via'}]\n  pdf_url: "
		"'{x}'",
		"<a v=/p%3Fvia%3Dihub>", NULL, "https://journal.example/p"},
	{"all of it cut", "take: [{selector: a, attr: v, name: x, cut: '^.'}]\n  pdf_url: '/{x}'",
		"<a v=p>", NULL, NULL},
	{"unescape", "take: [{script: 'u=\"(?<x>[^\"]+)\"', unescape: true}]\n  pdf_url: '{x}'",
		SCRIPT("u=\"http:\\/\\/a.example\\x2f\\u003fq=\\u00e9\\ud83d\\ude00\""), NULL,
		"http://a.example/?q=%C3%A9%F0%9F%98%80"},
	{"half a pair, half an escape",
		"take: [{script: 'u=\"(?<x>[^\"]+)\"', unescape: true}]\n  "
		"pdf_url: '/{x}'",
		SCRIPT("u=\"\\ud83d\\u12\""), NULL, "https://journal.example/%EF%BF%BDu12"},
	{"an escaped NUL",
		"take: [{script: 'u=\"(?<x>[^\"]+)\"', unescape: true}]\n  pdf_url: "
		"'/{x}'",
		SCRIPT("u=\"a\\u0000\""), NULL, NULL},

	{"script", "take: [{script: 'p:(?<x>\\w+)'}]\n  pdf_url: '/{x}'",
		SCRIPT("no") SCRIPT("p:7") SCRIPT("p:8"), NULL, "https://journal.example/7"},
	{"a text is no script", "take: [{script: 'p:(?<x>\\w+)'}]\n  pdf_url: '/{x}'", "<p>p:7",
		NULL, NULL},

	{"JSON", "take: [{selector: script, json: {x: a.b.1.c, n: n}}]\n  pdf_url: '/{x}/{n}'",
		JSON("{\"a\":{\"b\":[0,{\"c\":\"v\"}]},\"n\":12}"), NULL,
		"https://journal.example/v/12"},
	{"JSON with a tag in it", "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		JSON("{\"b\":\"<p>x</p>\",\"a\":\"v\"}"), NULL, "https://journal.example/v"},
	{"JSON in an attribute",
		"take: [{selector: div, attr: data-x, json: {x: a}}]\n  pdf_url: "
		"'/{x}'",
		"<div data-x='{&quot;a&quot;:&quot;v&quot;}'>", NULL, "https://journal.example/v"},
	{"JSON in JSON", "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		JSON("\"{\\\"a\\\":\\\"v\\\"}\""), NULL, "https://journal.example/v"},
	{"the first JSON that has all",
		"take: [{selector: script, json: {x: a, y: b}}]\n  pdf_url: "
		"'/{x}{y}'",
		JSON("{\"a\":\"1\"}") JSON("{\"a\":\"2\",\"b\":\"3\"}"), NULL,
		"https://journal.example/23"},
	{"JSON that is not", "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		JSON("{\"a\":\"v\""), NULL, NULL},
	{"no such place", "take: [{selector: script, json: {x: a.9.b}}]\n  pdf_url: '/{x}'",
		JSON("{\"a\":[{\"b\":\"v\"}]}"), NULL, NULL},
	{"a place that is no number",
		"take: [{selector: script, json: {x: a.b}}]\n  pdf_url: '/{x}'",
		JSON("{\"a\":[\"v\"]}"), NULL, NULL},
	{"a value that is no text", "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		JSON("{\"a\":{\"b\":1}}"), NULL, NULL},
	{"a value with a NUL", "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		JSON("{\"a\":\"v\\u0000w\"}"), NULL, NULL},
	{"JSON behind an assignment", "take: [{script: 'state=', json: {x: a}}]\n  pdf_url: '/{x}'",
		SCRIPT("var state={\"a\":\"v\"};run(state)"), NULL, "https://journal.example/v"},

	{"optional", "take: [{url: '(?<no>nothing)', optional: true}]\n  pdf_url: '/x{no}'", "",
		NULL, "https://journal.example/x"},
	{"one is missing", "take: [{url: '(?<id>7)'}, {url: '(?<no>nothing)'}]\n  pdf_url: '/{id}'",
		"", NULL, NULL},
	{"encode", "take: [{selector: b, name: x}]\n  pdf_url: '/?q={x|encode}'",
		"<b>a b/\xc3\xa9-._~</b>", NULL, "https://journal.example/?q=a%20b%2F%C3%A9-._~"},
	{"the address and its host", "pdf_url: 'https://{host}/?u={url|encode}'", "", NULL,
		"https://journal.example/"
		"?u=https%3A%2F%2Fjournal.example%2Fview%2F7%3Fa%3Db"},
	{"braces", "pdf_url: '/{{{host}}}'", "", NULL,
		"https://journal.example/%7Bjournal.example%7D"},
	{"against the base", "pdf_url: x.pdf", "<base href=http://cdn.example/a/>", NULL,
		"http://cdn.example/a/x.pdf"},
	{"source_has", "source_has: '{url}.pdf'\n  pdf_url: '{url}.pdf'",
		"see https://journal.example/7.pdf", "https://journal.example/7",
		"https://journal.example/7.pdf"},
	{"source_has it not", "source_has: '{url}.pdf'\n  pdf_url: '{url}.pdf'",
		"see https://journal.example/8.pdf", "https://journal.example/7", NULL},
	{"source_has nothing",
		"take: [{url: '(?<no>nothing)', optional: true}]\n  source_has: "
		"'{no}'\n  pdf_url: /x",
		"", NULL, NULL},

	{"the page's own address", "pdf_url: '{url}'", "", NULL, NULL},
	{"the page's own address but for a fragment", "pdf_url: '{url}#top'", "", NULL, NULL},
	{"no web address", "take: [{selector: a, attr: href, name: x}]\n  pdf_url: '{x}'",
		"<a href=javascript:0>", NULL, NULL},
	{"nothing but optional values",
		"take: [{url: '(?<no>nothing)', optional: true}]\n  pdf_url: "
		"'{no}'",
		"", NULL, NULL},
};

static bool load_entry(const char *rule)
{
	struct ing_buf yaml;
	ing_buf_init(&yaml, (size_t)1 << 20);
	ing_buf_printf(&yaml, "- name: x\n  %s\n", rule);
	bool good = rules_helper_load(&helper, ING_RULES_SITES, ing_buf_str(&yaml));
	ing_buf_done(&yaml);
	for (size_t i = 0; i < helper.report.count; i++)
		print_message("%d:%d: %s\n", helper.report.lines[i].line,
			helper.report.lines[i].column, helper.report.lines[i].text);
	return good;
}

static struct ing_site_next find_in(const char *page, size_t bytes, const char *url)
{
	const char *address = url == NULL ? PAGE : url[0] == '\0' ? NULL : url;
	return ing_sites_find(
		helper.rules->sites, rules_helper_read(&helper, page, bytes, address));
}

static struct ing_site_next find(const char *page, const char *url)
{
	return find_in(page, strlen(page), url);
}

static void puts_addresses_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_true(load_entry(cases[i].rule));
		struct ing_site_next got = find(cases[i].page, cases[i].url);
		if (cases[i].want == NULL) {
			assert_null(got.url);
			continue;
		}
		assert_non_null(got.url);
		assert_string_equal(got.url, cases[i].want);
	}
}

static void the_first_entry_that_gives_something_wins(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_SITES,
		"- {name: elsewhere, page: {host: other.example}, pdf_url: /0}\n"
		"- {name: empty, take: [{selector: q, name: x}], pdf_url: '/{x}'}\n"
		"- {name: own, pdf_url: '{url}'}\n"
		"- {name: third, next_url: /3, stage: submitted}\n"
		"- {name: late, pdf_url: /4}\n"));
	struct ing_site_next got = find("", NULL);
	assert_string_equal(got.technique, "third");
	assert_string_equal(got.stage, "submitted");
	assert_false(got.is_pdf);
	assert_string_equal(helper.rules->names[got.rule], "sites.yaml third");
	assert_int_equal(rules_helper_did(&helper, "sites.yaml elsewhere"), 0);
	assert_int_equal(rules_helper_did(&helper, "sites.yaml empty"), ING_RULE_APPLIED);
	assert_int_equal(rules_helper_did(&helper, "sites.yaml own"), ING_RULE_APPLIED);
	assert_int_equal(
		rules_helper_did(&helper, "sites.yaml third"), ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_int_equal(rules_helper_did(&helper, "sites.yaml late"), 0);
	assert_int_equal(ing_sites_count(helper.rules->sites), 5);
}

static const struct rules_mistake mistakes[] = {
	{"{}", 1, 1, "list"},
	{"- a", 1, 3, "map"},
	{"- pdf_url: /x", 1, 3, "name"},
	{"- name: x", 1, 3, "one of pdf_url, next_url"},
	{"- {name: x, pdf_url: /, next_url: /}", 1, 3, "one of pdf_url, next_url"},
	{"- {name: x, pdf_urls: /}", 1, 13, "pdf_urls"},
	{"- name: x\n  pdf_url: /{pid}/", 2, 13, "there is no value named \"pid\""},
	{"- name: x\n  pdf_url: '/{url'", 2, 14, "brace"},
	{"- name: x\n  pdf_url: /a}", 2, 14, "brace"},
	{"- name: x\n  pdf_url: /\n  take: [a]", 3, 10, "map"},
	{"- name: x\n  pdf_url: /\n  take: [{}]", 3, 10, "one of selector, url, script"},
	{"- name: x\n  pdf_url: /\n  take: [{url: '(?<a>x)', script: y}]", 3, 10, "one of"},
	{"- name: x\n  pdf_url: /\n  take: [{url: x}]", 3, 16, "name a value by a group"},
	{"- name: x\n  pdf_url: /\n  take: [{url: '(?<a>x'}]", 3, 23, "missing closing"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a}]", 3, 10, "one of them"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a, name: n, match: '(?<a>x)'}]", 3, 10,
		"one of them"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a, name: url}]", 3, 10, "cannot be named"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a, name: 'a}'}]", 3, 10, "cannot be named"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a, json: {}}]", 3, 30, "json"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a, json: [x]}]", 3, 30, "map"},
	{"- name: x\n  pdf_url: /\n  take: [{url: '(?<a>x)', attr: y}]", 3, 10, "belong to a"},
	{"- name: x\n  pdf_url: /\n  take: [{url: x, json: {a: b}}]", 3, 10, "cannot be combined"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: a, name: n, cut: '['}]", 3, 40,
		"missing terminating"},
	{"- name: x\n  pdf_url: /\n  take: [{selector: 'a:hover', name: n}]", 3, 23, ":hover"},
};

static void says_what_is_wrong_and_where(void **state)
{
	(void)state;
	assert_int_equal(
		rules_helper_unsaid(&helper, ING_RULES_SITES, mistakes, ING_ARRAY_LEN(mistakes)),
		0);
}

static void an_entry_has_so_many_values(void **state)
{
	(void)state;
	struct ing_buf yaml;
	ing_buf_init(&yaml, (size_t)1 << 20);
	ing_buf_add_str(&yaml, "- name: x\n  pdf_url: /\n  take:\n");
	for (unsigned i = 0; i < 17; i++)
		ing_buf_printf(&yaml, "    - {selector: a, name: n%u}\n", i);
	assert_false(rules_helper_load(&helper, ING_RULES_SITES, ing_buf_str(&yaml)));
	assert_true(rules_helper_has_error(&helper, 20, 7, "at most 16 values"));
	ing_buf_done(&yaml);
}

/* --- hostile pages --- */

static struct ing_buf repeat(
	const char *before, const char *part, unsigned times, const char *after)
{
	struct ing_buf b;
	ing_buf_init(&b, (size_t)64 << 20);
	ing_buf_add_str(&b, before);
	for (unsigned i = 0; i < times; i++)
		ing_buf_add_str(&b, part);
	ing_buf_add_str(&b, after);
	return b;
}

/* clang-format off */
static const struct {
	const char *name;
	const char *rule;
	const char *before, *part, *after;
	unsigned times;
} hostile[] = {
	{.name = "JSON nested deeply",
		.rule = "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		.before = "<script>", .part = "[", .after = "</script>", .times = 500000},
	{.name = "JSON that is too large",
		.rule = "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		.before = "<script>{\"b\":[0", .part = ",1", .after = "],\"a\":\"v\"}</script>",
		.times = 2500000},
	{.name = "JSON of very many parts",
		.rule = "take: [{selector: script, json: {x: a}}]\n  pdf_url: '/{x}'",
		.before = "<script>{\"b\":[[]", .part = ",{}", .after = "],\"a\":\"v\"}</script>",
		.times = 200000},
	{.name = "elements within one another",
		.rule = "take: [{selector: b, match: '^(?<x>x)$'}]\n  pdf_url: '/{x}'",
		.before = "<b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b>",
		.part = "a ", .after = "", .times = 1000000},
	{.name = "many scripts", .rule = "take: [{script: 'p:(?<x>\\w+)'}]\n  pdf_url: '/{x}'",
		.before = "", .part = "<script>p;</script>", .after = "<script>p:1</script>",
		.times = 20000},
	{.name = "many elements",
		.rule = "take: [{selector: a, attr: v, name: x}]\n  pdf_url: '/{x}'", .before = "",
		.part = "<a v=''></a>", .after = "<a v=1>", .times = 20000},
	{.name = "a value that is too long",
		.rule = "take: [{selector: a, attr: v, name: x}]\n  pdf_url: '/{x}'",
		.before = "<a v=", .part = "xxxxxxxx", .after = ">", .times = 2000},
	{.name = "a result that is too long",
		.rule = "take: [{selector: a, attr: v, name: x}]\n  pdf_url: " "'/{x|encode}'",
		.before = "<a v='", .part = "////////", .after = "'>", .times = 1000},
	{.name = "an expression that explodes, again and again",
		.rule = "take: [{script: '(?<x>(?:a|aa)+)$'}]\n  pdf_url: '/{x}'", .before = "",
		.part = "<script>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!</script>",
		.after = "", .times = 10000},
	{.name = "an expression that explodes",
		.rule = "take: [{script: '(?<x>(?:a|aa)+)$'}]\n  pdf_url: '/{x}'",
		.before = "<script>", .part = "aaaaaaaa", .after = "!</script>", .times = 1000},
};
/* clang-format on */

static void hostile_pages_give_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(hostile); i++) {
		print_message("%s\n", hostile[i].name);
		assert_true(load_entry(hostile[i].rule));
		struct ing_buf page = repeat(
			hostile[i].before, hostile[i].part, hostile[i].times, hostile[i].after);
		assert_null(find_in(page.data, page.len, NULL).url);
		ing_buf_done(&page);
	}
	assert_int_equal(
		rules_helper_did(&helper, "sites.yaml x"), ING_RULE_APPLIED | ING_RULE_FAILED);
}

/* Bytes that are no UTF-8 in the text of a script: what stands beside them is found. */
static void bytes_that_are_no_text_do_no_harm(void **state)
{
	(void)state;
	static const char page[] = "<script>\xff\xfe\x00p:7\xc3</script>";
	assert_true(load_entry("take: [{script: 'p:(?<x>[0-9]+)'}]\n  pdf_url: '/{x}'"));
	struct ing_site_next got = find_in(page, sizeof(page) - 1, NULL);
	assert_non_null(got.url);
	assert_string_equal(got.url, "https://journal.example/7");
}

static int set_up(void **state)
{
	(void)state;
	rules_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rules_helper_done(&helper);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_addresses_together),
		cmocka_unit_test(the_first_entry_that_gives_something_wins),
		cmocka_unit_test(says_what_is_wrong_and_where),
		cmocka_unit_test(an_entry_has_so_many_values),
		cmocka_unit_test(hostile_pages_give_nothing),
		cmocka_unit_test(bytes_that_are_no_text_do_no_harm),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
