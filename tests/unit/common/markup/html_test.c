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
#include "common/markup/text.h"

#define MAX_PAGE ((size_t)64 << 20)
#define BYTES(s) s, sizeof(s) - 1

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

static enum ing_html_end parse(const void *data, size_t bytes, const char *content_type)
{
	void *copy = malloc(bytes + (bytes == 0));
	assert_non_null(copy);
	memcpy(copy, data, bytes);
	enum ing_html_end end = ing_html_parse(html, copy, bytes, content_type, &limits);
	free(copy);
	ing_html_fill(html, tree);
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
	static const struct {
		const char *unit, *content_type, *utf8;
	} cases[] = {
		{"ab\xc3\xa4", NULL, "abä"},
		{"\xf0\x9f\x98\x80x", NULL, "😀x"},
		{"\x82\xb1z", "text/html; charset=shift_jis", "こz"},
		{"\xe4q", "text/html; charset=windows-1252", "äq"},
		{"\xff\xc3\xa4", NULL, "\uFFFDä"},
	};
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

static void bombs_stop_and_leave_what_was_read(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE);

	repeat(&page, TITLE, "<div>", 200000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_DEEP);
	assert_text("title", "read");

	/* Every paragraph opens all formatting elements again: four bytes make a hundred nodes. */
	count(&page, TITLE "<p>", "<b id=", ">", 300);
	for (int i = 0; i < 100000; i++)
		ing_buf_add_str(&page, "<p>x");
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_COSTLY);
	assert_text("title", "read");

	count(&page, TITLE, "<p><b id=", ">", 2000);
	assert_int_equal(parse(page.data, page.len, NULL), ING_HTML_DEEP);

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
	return 0;
}

static int drop(void **state)
{
	(void)state;
	ing_tree_free(tree);
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
		cmocka_unit_test(bombs_stop_and_leave_what_was_read),
		cmocka_unit_test(mistakes_take_no_memory),
		cmocka_unit_test(attributes_past_the_limit_are_dropped),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(honest_large_pages_are_whole),
	};
	return cmocka_run_group_tests(tests, make, drop);
}
