/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pages to trees: encodings, and pages made to cost more than they should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "tests/fuzz/same_tree.h"
#include "worker/scrape/jsoup/text.h"

#define MAX_PAGE ((size_t)64 << 20)
#define BYTES(s) s, sizeof(s) - 1
#define MAX_COMPARED ((size_t)64 << 10)

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)8 << 20,
	.cpu_ms = 20000, /* sanitizers are slow; what must stop, stops for another reason */
};

static struct ing_html
	*html; /* one for all tests: what one page leaves behind, the next would see */
static struct ing_tree *tree;
/* Each page, but large ones, is also read with nodes copied as early as possible, and as usual. */
static struct ing_html *windowed[2];
static struct ing_tree *other;

static enum ing_html_end parse(const void *data, size_t bytes, const char *content_type)
{
	void *copy = malloc(bytes + (bytes == 0));
	assert_non_null(copy);
	memcpy(copy, data, bytes);
	enum ing_html_end end = ing_html_parse(html, copy, bytes, content_type, &limits);
	ing_html_fill(html, tree);
	for (unsigned i = 0; i < 2 && bytes <= MAX_COMPARED; i++) {
		enum ing_html_end other_end =
			ing_html_read(windowed[i], other, copy, bytes, content_type, &limits);
		if (end == ING_HTML_WHOLE)
			assert_int_equal(other_end, end);
		if (end == ING_HTML_WHOLE && first_difference(tree, other) != ING_NODE_NONE)
			fail_msg("window %u: node %u differs: %.200s", i,
				first_difference(tree, other), (const char *)data);
	}
	free(copy);
	return end;
}

/* The first element of that name; NONE: there is none. */
static ing_node first(const char *name)
{
	return ing_tree_next_named(tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, name);
}

/* Text of the first element of that name. */
static void assert_text(const char *name, const char *want)
{
	ing_node n = first(name);
	assert_int_not_equal(n, ING_NODE_NONE);
	struct ing_buf text;
	ing_buf_init(&text, MAX_PAGE);
	ing_text_whole(tree, n, &text);
	assert_string_equal(ing_buf_str(&text), want);
	assert_true(ing_utf8_valid(ing_buf_str(&text), text.len));
	ing_buf_done(&text);
}

static void assert_attr(const char *element, const char *attr, const char *want)
{
	const char *got = ing_tree_attr(tree, first(element), attr, NULL);
	if (want == NULL)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static const struct {
	const char *name;
	const char *data;
	size_t bytes;
	const char *content_type;
	const char *encoding;
	const char *title;
} encodings[] = {
	{"nothing said",
		BYTES("<title>Stra\xc3\x9f"
		      "e</title>"),
		NULL, "UTF-8", "Straße"},
	{"nothing said, not UTF-8",
		BYTES("<title>Stra\xdf"
		      "e \xe2\x82</title>"),
		NULL, "UTF-8", "Stra\uFFFDe \uFFFD"},
	{"an overlong form", BYTES("<title>\xc0\xaf</title>"), NULL, "UTF-8", "\uFFFD\uFFFD"},
	{"a surrogate", BYTES("<title>\xed\xa0\x80</title>"), NULL, "UTF-8", "\uFFFD\uFFFD\uFFFD"},
	{"meta charset",
		BYTES("<meta charset=iso-8859-1><title>\x93Stra\xdf"
		      "e\x94</title>"),
		NULL, "windows-1252", "“Straße”"},
	{"meta http-equiv",
		BYTES("<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>"
		      "<title>\xcf\xf0\xe8\xe2\xe5\xf2</title>"),
		NULL, "windows-1251", "Привет"},
	{"header", BYTES("<title>\x82\xb1\x82\xf1</title>"), "text/html; charset=Shift_JIS",
		"Shift_JIS", "こん"},
	{"header before meta", BYTES("<meta charset=windows-1251><title>\xc3\x9f</title>"),
		"text/html;charset=\"utf-8\"", "UTF-8", "ß"},
	{"unknown in the header", BYTES("<meta charset=latin1><title>\xdf</title>"),
		"text/html; charset=none", "windows-1252", "ß"},
	{"header without charset", BYTES("<meta charset=gb2312><title>\xc4\xe3</title>"),
		"text/html", "GBK", "你"},
	{"byte order mark before header", BYTES("\xef\xbb\xbf<title>\xc3\x9f</title>"),
		"text/html; charset=iso-8859-1", "UTF-8", "ß"},
	{"UTF-16 by mark", BYTES("\xff\xfe<\0t\0i\0t\0l\0e\0>\0\xdf\0<\0/\0t\0i\0t\0l\0e\0>\0"),
		NULL, "UTF-16LE", "ß"},
	{"UTF-16 by mark, big end first",
		BYTES("\xfe\xff\0<\0t\0i\0t\0l\0e\0>\0\xdf\xd8\x3d\xde\0\0<\0/\0t\0i\0t\0l\0e\0>"),
		NULL, "UTF-16BE", "ß😀"},
	{"UTF-16 in a meta is UTF-8", BYTES("<meta charset=utf-16><title>\xc3\x9f</title>"), NULL,
		"UTF-8", "ß"},
	{"EUC-KR", BYTES("<title>\xb0\xa1</title>"), "text/html; charset=euc-kr", "EUC-KR", "가"},
	{"Big5", BYTES("<title>\xa7\x41</title>"), "text/html; charset=big5", "Big5", "你"},
	{"ISO-2022-JP", BYTES("<title>\x1b$B$3\x1b(B</title>"), "text/html; charset=iso-2022-jp",
		"ISO-2022-JP", "こ"},
	{"GB 18030", BYTES("<title>\x81\x30\x84\x36</title>"), "text/html; charset=gb18030",
		"gb18030", "\u00a5"},
	{"replacement is UTF-8", BYTES("<title>\xc3\x9f</title>"), "text/html; charset=hz-gb-2312",
		"UTF-8", "ß"},
	{"cut in a character", BYTES("<meta charset=shift_jis><title>x\x82"), NULL, "Shift_JIS",
		"x\uFFFD"},
	{"NUL", BYTES("<title>a\0b</title>"), NULL, "UTF-8", "a\uFFFDb"},
	{"references", BYTES("<title>&lt;a&gt; &auml; &#xe4; &#0; &#xd800; &amp</title>"), NULL,
		"UTF-8", "<a> ä ä \uFFFD \uFFFD &"},
};

static void reads_encodings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(encodings); i++) {
		print_message("%s\n", encodings[i].name);
		enum ing_html_end end =
			parse(encodings[i].data, encodings[i].bytes, encodings[i].content_type);
		assert_int_equal(end, ING_HTML_WHOLE);
		assert_string_equal(ing_html_encoding(html), encodings[i].encoding);
		assert_text("title", encodings[i].title);
	}
}

/* A character that lies across every chunk that decoder and parser are fed by. */
static void long_pages_lose_nothing_between_chunks(void **state)
{
	/* clang-format off */
	static const struct {
		const char *unit, *content_type, *utf8;
	} cases[] = {
		{.unit = "ab\xc3\xa4", .utf8 = "abä"},
		{.unit = "\xf0\x9f\x98\x80x", .utf8 = "😀x"},
		{.unit = "\x82\xb1z", .content_type = "text/html; charset=shift_jis", .utf8 = "こz"},
		{.unit = "\xe4q", .content_type = "text/html; charset=windows-1252", .utf8 = "äq"},
		{.unit = "\xff\xc3\xa4", .utf8 = "\uFFFDä"},
	};
	/* clang-format on */
	enum { UNITS = 50000 };
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf page, want;
		ing_buf_init(&page, MAX_PAGE);
		ing_buf_init(&want, MAX_PAGE);
		ing_buf_add_str(&page, "<p>");
		for (int n = 0; n < UNITS; n++) {
			ing_buf_add_str(&page, cases[i].unit);
			ing_buf_add_str(&want, cases[i].utf8);
		}
		assert_int_equal(parse(page.data, page.len, cases[i].content_type), ING_HTML_WHOLE);
		assert_text("p", ing_buf_str(&want));
		ing_buf_done(&page);
		ing_buf_done(&want);
	}
}

static void the_first_of_two_attributes_counts(void **state)
{
	static const char page[] =
		"<!DOCTYPE html PUBLIC \"a\" \"b\"><p a=1 A=2 b c=3 B=4 a=5>x</p a a>";
	(void)state;
	parse(page, sizeof(page) - 1, NULL);
	assert_attr("p", "a", "1");
	assert_attr("p", "b", "");
	assert_attr("p", "c", "3");
}

static void empty_and_odd_pages_have_a_tree(void **state)
{
	static const char *const pages[] = {"", " ", "<", "</", "<!", "<!--", "<a", "<a b='", "&",
		"<script>", "<title>", "<?xml", "<![CDATA[", "]]>", "<math><mi>",
		"<frameset><frame>"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		assert_int_equal(parse(pages[i], strlen(pages[i]), NULL), ING_HTML_WHOLE);
		assert_int_not_equal(first("html"), ING_NODE_NONE);
		assert_int_not_equal(first("head"), ING_NODE_NONE);
	}
}

static void repeat(struct ing_buf *page, const char *front, const char *unit, int times)
{
	ing_buf_clear(page);
	ing_buf_add_str(page, front);
	for (int i = 0; i < times; i++)
		ing_buf_add_str(page, unit);
}

/* Like repeat(), with a number in place of %d. */
static void count(struct ing_buf *page, const char *front, const char *a, const char *b, int times)
{
	ing_buf_clear(page);
	ing_buf_add_str(page, front);
	for (int i = 0; i < times; i++)
		ing_buf_printf(page, "%s%d%s", a, i, b);
}

#define TITLE "<title>read</title>"

/* A word between <table> and <tr> lets them, the row's body and a cell through; a void element and
 * a text stand one deeper. */
static void assert_depth(void)
{
	uint16_t *depth = calloc(tree->count, sizeof(*depth));
	assert_non_null(depth);
	unsigned deepest = 0;
	for (ing_node n = 1; n < tree->count; n++) {
		depth[n] = (uint16_t)(depth[tree->nodes[n].parent] + 1);
		deepest = ING_MAX(deepest, depth[n]);
	}
	free(depth);
	assert_in_range(deepest, 2, limits.open_elements + 4);
}

/* clang-format off */
static const struct {
	const char *name, *front, *unit;
	int times;
	const char *back;
} nested[] = {
	{.name = "blocks", .front = "", .unit = "<div>", .times = 600, .back = "<p>"},
	{.name = "blocks that close", .front = "", .unit = "<div>", .times = 600,
		.back = "</div></div><p>x</p><div></div><p>"},
	{.name = "lists", .front = "", .unit = "<ul><li>", .times = 600, .back = ""},
	{.name = "definitions", .front = "", .unit = "<dl><dd>x", .times = 600, .back = ""},
	{.name = "tables", .front = "", .unit = "<table><tr><td>", .times = 600, .back = ""},
	{.name = "tables with words in them", .front = "", .unit = "<table>w<tr>o<td>r",
		.times = 600, .back = ""},
	{.name = "words after the limit in a table", .front = "", .unit = "<div>", .times = 507,
		.back = "<table>w<tr>o<b>r<i>d<u>s"},
	{.name = "a table at the limit", .front = "", .unit = "<div>", .times = 508,
		.back = "<table><tr><td>x<tr><td>y</table>"},
	{.name = "a table past the limit", .front = "", .unit = "<div>", .times = 600,
		.back = "<table><caption>c<tr><td>x<tr><td>y<tbody>"},
	{.name = "columns at the limit", .front = "", .unit = "<div>", .times = 509,
		.back = "<table><colgroup><col><col><tbody><tr><td>"},
	{.name = "captions", .front = "", .unit = "<table><caption>", .times = 600, .back = ""},
	{.name = "cells", .front = "", .unit = "<table><tbody><tr><th><div>", .times = 600,
		.back = "</table></table>"},
	{.name = "formatting", .front = "", .unit = "<b><i>", .times = 600, .back = ""},
	{.name = "formatting with attributes", .front = "",
		.unit = "<font size=1><b class=x><div>", .times = 600, .back = ""},
	{.name = "formatting in the wrong order", .front = "", .unit = "<b><div><i></b>",
		.times = 600, .back = "<p>x</i>"},
	{.name = "formatting reopened at the limit", .front = "<p><b><i><u><s>x<div>",
		.unit = "<div>", .times = 508, .back = "<p>x"},
	{.name = "links in links", .front = "", .unit = "<a href=x><div>", .times = 600,
		.back = ""},
	{.name = "nobr", .front = "", .unit = "<nobr><div>", .times = 600, .back = ""},
	{.name = "svg", .front = "", .unit = "<svg>", .times = 600, .back = "<path/></svg>"},
	{.name = "svg groups", .front = "<svg>", .unit = "<g>", .times = 600,
		.back = "<path d=1 /><path d=2></svg>"},
	{.name = "void names in svg", .front = "<svg>", .unit = "<input>", .times = 600,
		.back = ""},
	{.name = "html in svg", .front = "", .unit = "<svg><foreignObject><div>", .times = 600,
		.back = ""},
	{.name = "links around svg", .front = "", .unit = "<a><svg><foreignObject>", .times = 600,
		.back = ""},
	{.name = "svg title", .front = "", .unit = "<svg><title>", .times = 600, .back = ""},
	{.name = "math", .front = "", .unit = "<math><mi>", .times = 600, .back = ""},
	{.name = "annotations", .front = "",
		.unit = "<math><annotation-xml encoding=text/html><p>", .times = 600, .back = ""},
	{.name = "templates", .front = "", .unit = "<template>", .times = 600,
		.back = "</template>"},
	{.name = "templates in the head", .front = "<head>", .unit = "<template>", .times = 600,
		.back = ""},
	{.name = "templates in tables", .front = "", .unit = "<table><template><tr><td>",
		.times = 600, .back = ""},
	{.name = "rows in templates", .front = "",
		.unit = "<template><tr>x<template><td><template><col>", .times = 600, .back = ""},
	{.name = "select", .front = "", .unit = "<div>", .times = 600,
		.back = "<select><optgroup><option>x<option>y</select>"},
	{.name = "selects", .front = "", .unit = "<div><select><optgroup><option>", .times = 600,
		.back = ""},
	{.name = "a select at the limit", .front = "", .unit = "<div>", .times = 509,
		.back = "<select><button><option>x"},
	{.name = "a select in a table", .front = "", .unit = "<div>", .times = 508,
		.back = "<table><tr><td><select><tr><td>"},
	{.name = "forms", .front = "", .unit = "<form><div></form>", .times = 600, .back = ""},
	{.name = "forms past the limit", .front = "", .unit = "<div>", .times = 600,
		.back = "<form><input></form><form><p><input>"},
	{.name = "objects", .front = "", .unit = "<object><b>", .times = 600, .back = ""},
	{.name = "objects in cells", .front = "", .unit = "<table><td><object><b></table>",
		.times = 600, .back = ""},
	{.name = "marquees", .front = "", .unit = "<marquee><p><b>", .times = 600,
		.back = "</marquee>"},
	{.name = "buttons", .front = "", .unit = "<button><div>", .times = 600, .back = ""},
	{.name = "headings", .front = "", .unit = "<div><h1>", .times = 600, .back = ""},
	{.name = "ruby", .front = "", .unit = "<ruby><rt>", .times = 600, .back = ""},
	{.name = "names of their own", .front = "", .unit = "<x-y>", .times = 600, .back = ""},
	{.name = "a script", .front = "", .unit = "<div>", .times = 600,
		.back = "<script>'<p>'</script><style>p</style><textarea>x</textarea>"},
	{.name = "noscript", .front = "", .unit = "<noscript>", .times = 600, .back = ""},
	{.name = "after the end of the body", .front = "", .unit = "<div>", .times = 600,
		.back = "</body></html><div>x</body><div>"},
	{.name = "end tags of all", .front = "", .unit = "<div>", .times = 600,
		.back = "</p></br></table></td></template></select></b>"},
};
/* clang-format on */

static void words_between_framesets_are_dropped(void **state)
{
	(void)state;
	static const char page[] = "<frameset><frame>c d\n e</frameset>";
	assert_int_equal(parse(page, sizeof(page) - 1, NULL), ING_HTML_WHOLE);
	unsigned texts = 0;
	for (ing_node n = 1; n < tree->count; n++) {
		if (tree->nodes[n].kind != ING_NODE_TEXT)
			continue;
		texts++;
		assert_string_equal(tree->nodes[n].text.data, " \n ");
		assert_int_equal(tree->nodes[n].text.bytes, 3);
	}
	assert_int_equal(texts, 1);
}

static void what_is_nested_too_deep_becomes_siblings(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);
	for (size_t i = 0; i < ING_ARRAY_LEN(nested); i++) {
		print_message("%s\n", nested[i].name);
		repeat(&page, TITLE, nested[i].front, 1);
		for (int n = 0; n < nested[i].times; n++)
			ing_buf_add_str(&page, nested[i].unit);
		ing_buf_add_str(&page, nested[i].back);
		ing_buf_add_str(&page, "<cite class=end title=there>end</cite>");
		assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
		assert_depth();
		assert_text("title", "read");
		assert_attr("cite", "title", "there");
		assert_text("cite", "end");
	}
	/* One that fits is left alone. */
	repeat(&page, TITLE, "<div>", 500);
	ing_buf_add_str(&page, "<a href=x>y</a>");
	parse(page.data, page.len, NULL);
	unsigned depth = 0;
	for (ing_node n = first("a"); n != ING_NODE_DOCUMENT; n = tree->nodes[n].parent)
		depth++;
	assert_int_equal(depth, 503);
	ing_buf_done(&page);
}

static double cpu_s(void)
{
	struct timespec t;
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#ifdef ING_SANITIZED
#	define MOST_S 20.0
#else
#	define MOST_S 2.0
#endif

static void flattening_is_linear(void **state)
{
	static const char *const units[] = {
		"<div>",
		"<b><div>",
		"<i><b></i><div>",
		"<p><i>x</p><div></div>",
		"<table><tr><td>",
		"<table>x<tr>x<td>",
		"<ul><li>",
		"<svg>",
		"<x-y>",
		"<template>",
		"<a><div>",
		"<select><option>",
		"<form><div></form>",
		"<a><svg><foreignObject>",
		"<font><font><font><div>x</font></div>",
	};
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		int tags = 0;
		for (const char *c = units[i]; *c != '\0'; c++)
			tags += *c == '<';
		repeat(&page, TITLE, units[i], 200000 / ING_MAX(tags, 1));
		double start = cpu_s();
		enum ing_html_end end = parse(page.data, page.len, NULL);
		double took = cpu_s() - start;
		print_message("%s %.2f s %u nodes\n", units[i], took, tree->count);
		assert_true(took < MOST_S);
		assert_depth();
		assert_int_equal(end, ING_HTML_WHOLE);
	}
	/* Where a few bytes open formatting elements again, memory is what ends it. */
	repeat(&page, TITLE, "<b><p>", 200000);
	double start = cpu_s();
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_COSTLY);
	assert_true(cpu_s() - start < MOST_S);
	assert_depth();

	/* 200 formatting elements that wait to be opened again, and nothing that opens them. */
	count(&page, TITLE "<p>", "<b id=", ">", 200);
	for (int i = 0; i < 250; i++)
		ing_buf_add_str(&page, "<div>");
	for (int i = 0; i < 200000; i++)
		ing_buf_add_str(&page, "<div></div>");
	start = cpu_s();
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	print_message("waiting %.2f s\n", cpu_s() - start);
	assert_true(cpu_s() - start < MOST_S);
	ing_buf_done(&page);
}

static void bombs_stop_and_leave_what_was_read(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);

	/* Every paragraph opens all formatting elements again: four bytes make a hundred nodes. */
	count(&page, TITLE "<p>", "<b id=", ">", 300);
	for (int i = 0; i < 100000; i++)
		ing_buf_add_str(&page, "<p>x");
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_COSTLY);
	assert_text("title", "read");

	count(&page, TITLE, "<p><b id=", ">", 2000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_COSTLY);
	assert_depth();

	count(&page, TITLE "<p ", "a", "=1 ", 100000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_COSTLY);
	assert_text("title", "read");

	count(&page, TITLE, "</x", ">", 100000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_COSTLY);
	assert_text("title", "read");

	/* What was cut in the middle leaves nothing behind. */
	assert_int_equal(parse(BYTES("<p>after</p>"), NULL), ING_HTML_WHOLE);
	assert_int_equal(first("title"), ING_NODE_NONE);
	assert_text("p", "after");
	ing_buf_done(&page);
}

static long peak_kib(void)
{
	struct rusage u;
	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

static void mistakes_take_no_memory(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);
	repeat(&page, TITLE, "<", 8000000);
	long before = peak_kib();
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	assert_true(peak_kib() - before < 256 * 1024);
	assert_text("title", "read");
	ing_buf_done(&page);
}

static void attributes_past_the_limit_are_dropped(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);
	count(&page, "<p ", "a", "=1 ", 300);
	ing_buf_add_str(&page, "a0=2>kept<i>");
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	assert_attr("p", "a0", "1");
	assert_attr("p", "a255", "1");
	assert_attr("p", "a256", NULL);
	assert_text("p", "kept");
	/* The same name over and over is one attribute, however often. */
	repeat(&page, "<p ", "a=1 ", 1000);
	ing_buf_add_str(&page, "z=1>x");
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	assert_attr("p", "z", "1");
	ing_buf_done(&page);
}

/* What can still change stays lexbor's: each page is compared with itself read in one piece. */
static void nodes_are_copied_only_when_finished(void **state)
{
	static const char *const pages[] = {
		"<p>1<div>a<b>b<p>c</b>d</div>e",
		"<div><a href=1>x<div>y<a href=2>z</a></div></a>t</div>",
		"<div><p>a<table><tr><td>b</td>c<p>d</tr>e</table>f</div>",
		"x<div><select><option>a<option>b</select></div>",
		"x<div><select><button><selectedcontent></selectedcontent></button><option selected>a<i>b</i></select>c",
		"x<div><template><p>a<p>b</template><p>c</div>",
		"x<div><svg><g><p>a</svg><math><mi>b<p>c</math></div>",
		"x<div><select><button><selectedcontent></selectedcontent></button><option>q</option>"
		"<option selected><i>a</i><b>b</b></option></select>c",
		"x<math><annotation-xml encoding=text/html><p>a</p><p>b</p><mi>c</mi></annotation-xml>d",
		"x<svg><desc><p>a</p><b>c</b></desc><foreignObject><p>d</p><g>e</g></foreignObject>f",
		"x<form><div></form><form><p>y</div></form>z<form>",
		"x<div><form><p></div><form><p>y",
		"x</body>y<!--a--></html><!--b--><p>z",
		"x<p>1<body class=b id=c><html lang=en id=d><p>2<body id=e title=f>",
		"<html lang=de id=z><body id=y>x<div><html lang=en dir=ltr><body id=x class=c>",
		"<div><frameset><frame></frameset>",
		"<p>x<frameset><frame></frameset>",
		"x<p>a<p>b\n<p>c\n<br>d<hr>e<!--f-->g</p>h",
		"x<pre>\n\na</pre><textarea>\nb</textarea><title>c</title><plaintext>d</div>",
		"x<meta name=a><link href=b><div><meta name=c></div><script>a</script>b",
		"x<ruby>a<rt>b<rp>c</ruby><ul><li>a<ul><li>b</ul><li>c</ul><dl><dt>a<dd>b</dl>",
		"x<applet><b>y</applet>z<object><p></object><marquee><i></marquee><button>a<button>b",
		"x<h1>a<h2>b</h1>c<center>d</p>e</center><nobr>f<nobr>g",
		"<!doctype html>x<p>y<!doctype html><p>z",
		"x<div></div></p></br><image><isindex><tr><td></caption>y",
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++)
		parse(pages[i], strlen(pages[i]), NULL);
}

/* A page of a form that allows it is read with little more than its flat tree. */
static void memory_of_nodes_is_used_again(void **state)
{
	struct ing_html_limits low = limits;
	struct ing_buf page;
	(void)state;
	low.tree_bytes = 0; /* and 64 bytes for each of the page */
	ing_buf_init(&page, MAX_PAGE);
	repeat(&page, TITLE "<div>x", "<p>", 300000);
	size_t flat_bytes = page.len / 3 * sizeof(struct ing_tree_node);
	assert_int_equal(
		ing_html_read(html, tree, page.data, page.len, NULL, &low), ING_HTML_WHOLE);
	assert_in_range(ing_html_bytes(html), 0, flat_bytes / 4);
	/* Left open, a formatting element keeps everything. */
	repeat(&page, TITLE "x<b>", "<p>x</p>", 10000);
	assert_int_equal(
		ing_html_read(html, tree, page.data, page.len, NULL, &limits), ING_HTML_WHOLE);
	assert_in_range(ing_html_bytes(html), page.len * 10, page.len * 100);
	ing_buf_done(&page);
}

static void time_is_limited(void **state)
{
	struct ing_html_limits none = limits;
	none.cpu_ms = 0;
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);
	repeat(&page, TITLE, "<p>words", 100000);
	assert_int_equal(ing_html_parse(html, page.data, page.len, NULL, &none), ING_HTML_COSTLY);
	ing_html_fill(html, tree);
	assert_text("title", "read");
	ing_buf_done(&page);
}

static void honest_large_pages_are_whole(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);
	repeat(&page, TITLE, "<p>", 300000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	repeat(&page, TITLE "<table>", "<tr><td><b>1</b><td><i class=x>2</i>", 50000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	repeat(&page, TITLE, "a</>b<br>", 100000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_WHOLE);
	ing_buf_done(&page);
}

static int make(void **state)
{
	(void)state;
	html = ing_html_new();
	tree = ing_tree_new();
	other = ing_tree_new();
	windowed[0] = ing_html_new();
	windowed[1] = ing_html_new();
	ing_html_set_window(windowed[0], 0);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	ing_tree_free(tree);
	ing_tree_free(other);
	ing_html_free(windowed[0]);
	ing_html_free(windowed[1]);
	ing_html_clear(html);
	ing_html_free(html);
	ing_html_free(NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_encodings),
		cmocka_unit_test(long_pages_lose_nothing_between_chunks),
		cmocka_unit_test(the_first_of_two_attributes_counts),
		cmocka_unit_test(empty_and_odd_pages_have_a_tree),
		cmocka_unit_test(words_between_framesets_are_dropped),
		cmocka_unit_test(what_is_nested_too_deep_becomes_siblings),
		cmocka_unit_test(flattening_is_linear),
		cmocka_unit_test(bombs_stop_and_leave_what_was_read),
		cmocka_unit_test(mistakes_take_no_memory),
		cmocka_unit_test(attributes_past_the_limit_are_dropped),
		cmocka_unit_test(nodes_are_copied_only_when_finished),
		cmocka_unit_test(memory_of_nodes_is_used_again),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(honest_large_pages_are_whole),
	};
	return cmocka_run_group_tests(tests, make, drop);
}
