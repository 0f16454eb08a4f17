/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text functions: what they give for fragments of pages, and for bare strings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/markup/html.h"
#include "worker/scrape/jsoup/text.h"

#define MAX_OUT ((size_t)1 << 20)
#define NBSP "\xc2\xa0"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)8 << 20,
	.cpu_ms = 20000,
};

static struct ing_html *html;
static struct ing_tree *tree;
static struct ing_buf out;

static ing_node read_body(const char *fragment)
{
	ing_html_parse(html, fragment, strlen(fragment), "text/html; charset=utf-8", &limits);
	ing_html_fill(html, tree);
	ing_buf_clear(&out);
	return ing_tree_body(tree);
}

struct text_case {
	const char *html, *want;
};

static void test_text(void **state)
{
	static const struct text_case cases[] = {
		{"<p>a</p>b<span>c</span><div>d</div>e", "a bc d e"},
		{"a<br>b", "a b"},
		{"a<br><br>b", "a b"},
		{"a" NBSP NBSP "b", "a b"},
		{"a&nbsp;&nbsp;b", "a b"},
		{"a<b> b</b>c", "a bc"},
		{"a<b> b </b> c", "a b c"},
		{"<table><tr><td>1<td>2<tr><td>3</table>", "1 2 3"},
		{"a&#x200b;b&shy;c", "abc"},
		{"a &#x200b; b", "a b"},
		{"<pre>a  b\n c</pre> d", "a  b\n c d"},
		{"<pre>  a</pre>", "a"},
		{"<pre><b><i><u><s>a  b</s></u></i></b></pre>", "a  b"},
		{"<pre><b><i><u><s><q>a  b</q></s></u></i></b></pre>", "a  b"},
		{"<pre><b><i><u><s><q><em>a  b</em></q></s></u></i></b></pre>", "a b"},
		{"<textarea>a  b</textarea>c", "a  bc"},
		{"x<img>y", "xy"},
		{"<select><option>a<option>b</select>c", "abc"},
		{"<span>a<div>b</div></span>c", "a bc"},
		{"a<ins>b</ins>c", "a b c"},
		{"<div>a</div><foo>b</foo>", "ab"},
		{"<div>a</div><span>b</span>", "a b"},
		{"<div>a</div><!-- -->b", "ab"},
		{"<p>a</p><p>b", "a b"},
		{"a<script>b</script>c<style>d</style>e", "a c e"},
		{"a<template>b</template>c", "a b c"},
		{"a&emsp;&emsp;b", "a\xe2\x80\x83\xe2\x80\x83"
				   "b"},
		{"\xe2\x80\x93 \xc2\xa9 \xe2\x82\xac", "\xe2\x80\x93 \xc2\xa9 \xe2\x82\xac"},
		{"", ""},
		{" \n ", ""},
		{NBSP, ""},
		{"<xmp>a  b</xmp>", "a b"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_text(tree, read_body(cases[i].html), &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
}

static void test_text_of_elements(void **state)
{
	(void)state;
	read_body("<title> a  b </title><p>c <b>d</b>");
	ing_text(tree, ing_tree_next_named(tree, 0, 0, "title"), &out);
	assert_string_equal(ing_buf_str(&out), "a  b");
	/* What the buffer held stays; trimming and spaces look at what was added only. */
	ing_buf_clear(&out);
	ing_buf_add_str(&out, "x: ");
	ing_node p = ing_tree_next_named(tree, 0, 0, "p");
	ing_text(tree, p, &out);
	assert_string_equal(ing_buf_str(&out), "x: c d");
	ing_buf_clear(&out);
	ing_text(tree, p + 1, &out); /* a text node */
	assert_string_equal(ing_buf_str(&out), "c");
	ing_buf_clear(&out);
	ing_tree_clear(tree);
	ing_text(tree, ING_NODE_DOCUMENT, &out);
	assert_string_equal(ing_buf_str(&out), "");
}

static void test_own(void **state)
{
	static const struct text_case cases[] = {
		{"a<b>x</b>c", "ac"},
		{"a<br>c", "a c"},
		{" a  b <i>x</i> c ", "a b c"},
		{"<p>a</p>", ""},
		{"a <br> b", "a b"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_text_own(tree, read_body(cases[i].html), &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
}

static void test_whole(void **state)
{
	static const struct {
		const char *html, *want, *own;
	} cases[] = {
		{"a  b<p>c<br>d</p> <br>e", "a  bc\nd \ne", "a  b \ne"},
		{"<!--c-->a<script>b</script>" NBSP "d", "a" NBSP "d", "a" NBSP "d"},
		{"<b>x</b>", "x", ""},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_node body = read_body(cases[i].html);
		ing_text_whole(tree, body, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_clear(&out);
		ing_text_whole_own(tree, body, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].own);
	}
}

static void test_data_and_has(void **state)
{
	static const struct {
		const char *html, *data;
		bool has;
	} cases[] = {
		{.html = "", .data = ""},
		{.html = "<body><script>a<b</script>", .data = "a<b"},
		{.html = " \t\n<p> </p><!--c--><style>d</style>", .data = "cd"},
		{.html = NBSP, .data = "", .has = true},
		{.html = "<p><b>x", .data = "", .has = true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_node body = read_body(cases[i].html);
		ing_text_data(tree, body, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].data);
		assert_int_equal(ing_text_has(tree, body), cases[i].has);
	}
}

static void test_formatted(void **state)
{
	static const struct text_case cases[] = {
		{"<h1>T</h1><p>a <b>b</b>\n c</p><p>d</p>tail<ul><li>1</li><li>2</li></ul>",
			"T\n\na b c\n\nd\n\ntail\n\n1\n2"},
		{"<div>a</div><div>b</div>c", "a\nb\nc"},
		{"a<br>b<br><br>c", "a\nb\nc"},
		{"a <p>b", "a \n\nb"},
		{"<table><tr><td>1<td>2<tr><td>3</table>", "1\n2\n3"},
		{"x<hr>y", "x\n\ny"},
		{"xx<hr>y", "xx\n\ny"},
		{"<dl><dt>t</dt><dd>d</dd></dl>e", "t\nd\ne"},
		{"<blockquote><p>q</p></blockquote>z", "q\n\nz"},
		{"<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "a\n\nb\nc"},
		{"<pre>a  b\n c</pre>d", "a  b\n c\n\nd"},
		{"  a", "a"},
		{"<svg><title>a  b</title></svg>", "a b"},
		{"a<script>b</script>c", "a\nc"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_text_formatted(tree, read_body(cases[i].html), NULL, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
}

static void test_formatted_skip(void **state)
{
	(void)state;
	ing_node body =
		read_body("<div>a<nav>b<p>c</p></nav></div><p>d<i>e</i></p><aside>f</aside>");
	uint64_t skip[1] = {0};
	static const char *const names[] = {"nav", "i", "aside"};
	for (size_t i = 0; i < COUNT(names); i++)
		skip[0] |= UINT64_C(1) << ing_tree_next_named(tree, 0, 0, names[i]);
	ing_text_formatted(tree, body, skip, &out);
	assert_string_equal(ing_buf_str(&out), "a\n\nd");
	ing_buf_clear(&out);
	skip[0] = UINT64_C(1) << body;
	ing_text_formatted(tree, body, skip, &out);
	assert_string_equal(ing_buf_str(&out), "");
}

/* Sets of random elements, of which one has all of the other: as when each is written by itself, also when a ceiling is
 * met. */
static void test_formatted_twice(void **state)
{
	static const char *const pages[] = {
		"<h1>T</h1><p>a <b>b</b>\n c<sup>1</sup>, d<sup> 2 </sup></p><p>d</p>tail<ul><li>1</li><li>2</li></ul>",
		"<p>a<a>1</a><a>2</a> b <a>3</a></p><pre>x <i>y\n</i> z</pre><ol><li>r<br>s</li><li><p>t</p></li></ol>u",
		" <div><div><i> </i></div><p></p></div><blockquote><pre>\n\n a<b> b </b></pre></blockquote>c<hr>d<p>e",
		"<table><tr><td>1<td>2<tr><td>3</table>\xc3\xa9<span>\xc3\xa9</span> x<script>b</script>\xc3\xa9",
	};
	struct ing_buf want, got, more_got;
	uint32_t seed = 1;
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		ing_node body = read_body(pages[i % COUNT(pages)]);
		uint64_t skip[2] = {0}, more[2] = {0};
		assert_true(tree->count <= 128);
		for (ing_node n = body; n < tree->count; n++) {
			seed = seed * 1664525 + 1013904223;
			unsigned in = seed >> 28;
			if (!ing_tree_is_element(tree, n) || in > 3)
				continue;
			more[n / 64] |= UINT64_C(1) << n % 64;
			skip[n / 64] |= (uint64_t)(in == 0) << n % 64;
		}
		size_t max = i % 5 == 0 ? 1 + seed % 40 : 1000;
		ing_buf_init(&want, max);
		ing_buf_init(&got, max);
		ing_buf_init(&more_got, max);
		ing_text_formatted_twice(tree, body, skip, more, &got, &more_got);
		ing_text_formatted(tree, body, skip, &want);
		assert_string_equal(ing_buf_str(&got), ing_buf_str(&want));
		ing_buf_clear(&want);
		ing_text_formatted(tree, body, more, &want);
		assert_string_equal(ing_buf_str(&more_got), ing_buf_str(&want));
		ing_buf_done(&want);
		ing_buf_done(&got);
		ing_buf_done(&more_got);
	}
}

/* What :matchText does to a text node: it becomes an element of its parent's name. */
static void test_pseudo(void **state)
{
	(void)state;
	ing_node body = read_body("<p>a<b>c</b>d</p>");
	ing_node p = ing_tree_next_named(tree, 0, 0, "p");
	tree->nodes[p + 1].pseudo = 1;
	tree->has_pseudo = true;
	ing_text(tree, body, &out);
	assert_string_equal(ing_buf_str(&out), "a cd"); /* the pseudo <p> is a block */
	ing_buf_clear(&out);
	ing_text_own(tree, p, &out);
	assert_string_equal(ing_buf_str(&out), "d");
	ing_buf_clear(&out);
	ing_text_own(tree, p + 1, &out);
	assert_string_equal(ing_buf_str(&out), "a");
	ing_buf_clear(&out);
	ing_text(tree, p + 1, &out);
	assert_string_equal(ing_buf_str(&out), "a");
	assert_string_equal(ing_tree_name(tree, p + 1), "p");
	assert_true(ing_text_has(tree, p + 1));
}

static void test_normalise(void **state)
{
	/* clang-format off */
	static const struct {
		const char *in;
		bool lead;
		const char *want;
	} cases[] = {
		{.in = " a \t\n b ", .want = " a b "},
		{.in = " a \t\n b ", .lead = true, .want = "a b "},
		{.in = "\xc2\xad a", .lead = true, .want = "a"},
		{.in = "a\x0b" "b", .want = "a\x0b" "b"},
		{.in = "a" NBSP " b", .want = "a b"},
		{.in = " one two three  four five six seven ", .lead = true,
			.want = "one two three four five six seven "},
		{.in = "one two\tthree" NBSP "four five\x7f six", .lead = true,
			.want = "one two three four five\x7f six"},
		{.in = "sevenby  x eightbyt  x ninebytes  x ",
			.want = "sevenby x eightbyt x ninebytes x "},
		{.in = "eightby\xc3\xa9 eightbyt\xe2\x80\x8b s e p a r a t e",
			.want = "eightby\xc3\xa9 eightbyt s e p a r a t e"},
		{.in = "", .lead = true, .want = ""},
		{.in = "\xc2", .want = "\xc2"},
		{.in = "\xe2\x80", .want = "\xe2\x80"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_buf_clear(&out);
		ing_text_normalise(cases[i].in, strlen(cases[i].in), cases[i].lead, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
}

/* Every kind of byte at every place, whatever stands before it: texts are read sixteen and eight bytes at
 * a time. What is wanted is what reading piece by piece gives. */
static void test_normalise_everywhere(void **state)
{
	static const char *const odd[] = {"  ", "\n", " \t", NBSP, "\xc2\xad", "\xe2\x80\x8b",
		"\xc3\xa9", "\x01", "\x7f", " " NBSP " "};
	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++) {
		for (size_t n = 0; n < 40 * 40 * 2; n++) {
			size_t before = n % 40, behind = n / 40 % 40;
			struct ing_buf in, want;
			ing_buf_init(&in, 1000);
			ing_buf_init(&want, 1000);
			ing_buf_add(&in, "words of 4 and 3 b, one space at a time ", before);
			ing_buf_add_str(&in, odd[i]);
			ing_buf_add(&in, " one space at a time, words of 4 and 3 b ", behind);
			for (size_t k = 0; k < in.len;) {
				size_t bytes = (in.data[k] & 0x80) == 0 ? 1
					       : in.data[k] == '\xe2'   ? 3
									: 2;
				bool drop = want.len > 0 ? want.data[want.len - 1] == ' '
							 : n >= 40 * 40;
				ing_text_normalise(in.data + k, bytes, drop, &want);
				k += bytes;
			}
			ing_buf_clear(&out);
			ing_text_normalise(ing_buf_str(&in), in.len, n >= 40 * 40, &out);
			if (strcmp(ing_buf_str(&out), ing_buf_str(&want)) != 0)
				fail_msg("\"%s\" is \"%s\", not \"%s\"", in.data, ing_buf_str(&out),
					ing_buf_str(&want));
			ing_buf_done(&in);
			ing_buf_done(&want);
		}
	}
}

static void test_trim(void **state)
{
	(void)state;
	const char *s = " \x01\ta b\x1f ";
	size_t bytes = strlen(s);
	ing_text_trim(&s, &bytes);
	assert_int_equal(bytes, 3);
	assert_memory_equal(s, "a b", 3);
	s = " \n";
	bytes = 2;
	ing_text_trim(&s, &bytes);
	assert_int_equal(bytes, 0);
	s = NBSP;
	bytes = 2;
	ing_text_trim(&s, &bytes);
	assert_int_equal(bytes, 2);
}

/* Results end at the ceiling with a whole character. */
static void test_ceiling(void **state)
{
	/* clang-format off */
	static const struct {
		const char *html;
		size_t max;
		const char *text, *whole;
	} cases[] = {
		{.html = "<p>aaaa</p><p>bbbb</p><p>cccc</p>", .max = 10, .text = "aaaa bbbb",
			.whole = "aaaabbbbcc"},
		{.html = "<p>aaaa</p><p>bbbb</p><p>cccc</p>", .max = 11, .text = "aaaa bbbb c",
			.whole = "aaaabbbbccc"},
		{.html = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", .max = 8,
			.text = "\xc3\xa9\xe2\x82\xac", .whole = "\xc3\xa9\xe2\x82\xac"},
		{.html = "\xc3\xa9\xe2\x82\xac", .max = 4, .text = "\xc3\xa9", .whole = "\xc3\xa9"},
		{.html = "\xc3\xa9", .max = 1, .text = "", .whole = ""},
		{.html = "a", .text = "", .whole = ""},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_node body = read_body(cases[i].html);
		struct ing_buf small;
		ing_buf_init(&small, cases[i].max);
		ing_text(tree, body, &small);
		assert_true(small.failed);
		assert_string_equal(ing_buf_str(&small), cases[i].text);
		ing_buf_clear(&small);
		ing_text_whole(tree, body, &small);
		assert_true(small.failed);
		assert_string_equal(ing_buf_str(&small), cases[i].whole);
		ing_buf_done(&small);
	}
}

static int set_up(void **state)
{
	(void)state;
	html = ing_html_new();
	tree = ing_tree_new();
	ing_buf_init(&out, MAX_OUT);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_buf_done(&out);
	ing_tree_free(tree);
	ing_html_free(html);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_of_elements),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_data_and_has),
		cmocka_unit_test(test_formatted),
		cmocka_unit_test(test_formatted_skip),
		cmocka_unit_test(test_formatted_twice),
		cmocka_unit_test(test_pseudo),
		cmocka_unit_test(test_normalise),
		cmocka_unit_test(test_normalise_everywhere),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_ceiling),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
