/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words counted in a tree are those of the text that it would give: for what divides words and what does
 * not, wherever it stands in eight bytes, and for pages made of such pieces at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/markup/html.h"
#include "tests/fuzz/check_tree.h"

#define RANDOM_PAGES 3000
#define MAX_PIECES 40
#define MAX_BYTES ((size_t)8 << 20)

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)64 << 20,
	.cpu_ms = 20000,
};

static struct ing_html *html;
static struct ing_tree *tree;

static ing_node read_body(const char *page, size_t bytes)
{
	ing_html_parse(html, page, bytes, "text/html; charset=utf-8", &limits);
	ing_html_fill(html, tree);
	return ing_tree_body(tree);
}

/* clang-format off */
static const struct {
	const char *page;
	uint32_t want;
} cases[] = {
	{"", 0},
	{" \n\t", 0},
	{"one", 1},
	{"one two  three\nfour", 4},
	{"a<b>b</b>c<i> d</i>", 2},
	{"a<br>b<hr>c<p>d</p>e", 5},
	{"<span>a<div>b</div></span>c", 2},
	{"<div><div>a</div></div>b", 2},
	{"<div>a</div><foo>b</foo>", 1},
	{"<div>a</div><!-- -->b", 1},
	{"<div>a</div><span>b</span>", 2},
	{"a<script>b c</script>d<style>e</style>", 2},
	{"a&nbsp;b&emsp;c\xe3\x80\x80" "d\xe2\x80\xa8" "e\xc2\x85" "f", 6},
	{"a&shy;b&#x200b;c &shy; &#x200b; d", 2},
	{"<pre>a&shy;b &shy; &#x200b; c</pre>", 4},
	{"<pre>a&nbsp;b</pre>", 2},
	{"\x01 a \x02 b \x03", 3},
	{"\x01\x02", 0},
	{"a\x01", 1},
	{"a \x01&emsp;", 2},
	{"&emsp;\x01 a", 2},
	{"&nbsp;\x01 a", 1},
	{"<pre>&nbsp;\x01 a</pre>", 2},
	{"caf\xc3\xa9 \xe4\xb8\x80\xe4\xb8\x81 \xf0\x9f\x98\x80\xf0\x9f\x98\x80 \xe2\x80\x94", 4},
	{"<svg><![CDATA[a&shy;  b]]></svg>", 2},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		ing_node body = read_body(cases[i].page, strlen(cases[i].page));
		uint32_t words = ing_text_word_count(tree, body, MAX_BYTES);
		if (words != cases[i].want)
			fail_msg("%s: %u words, not %u", cases[i].page, words, cases[i].want);
		check_words(tree, body);
	}
}

/* Each case behind and before 0 to 17 letters. */
static void test_everywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		for (size_t n = 0; n < 18 * 18; n++) {
			struct ing_buf page;
			ing_buf_init(&page, 1000);
			ing_buf_add(&page, "aaaaaaaaaaaaaaaaaaa", n % 18);
			ing_buf_add_str(&page, cases[i].page);
			ing_buf_add(&page, "zzzzzzzzzzzzzzzzzzz", n / 18);
			check_words(tree, read_body(page.data, page.len));
			ing_buf_done(&page);
		}
	}
}

/* Texts of thousands of words, as sums are added up now and then. */
static void test_long_texts(void **state)
{
	static const char *const units[] = {
		"a ", "ab ", "a b c d e f g h ", "word", " ", "a b c d\xc3\xa9 "};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		for (size_t n = 250; n < 1600; n += 7) {
			struct ing_buf page;
			ing_buf_init(&page, 40000);
			ing_buf_add_str(&page, "<p>begin");
			for (size_t k = 0; k < n; k++)
				ing_buf_add_str(&page, units[i]);
			check_words(tree, read_body(page.data, page.len));
			ing_buf_done(&page);
		}
	}
}

static void test_random_pages(void **state)
{
	static const char *const pieces[] = {" ", "  ", "a", "word", "seven77", "longer than eight",
		"\n", "\x01", "\x0b", "\x1c", "\x7f", "&nbsp;", "&shy;", "&#x200b;", "&emsp;",
		"\xc2\x85", "\xc3\xa9", "\xe2\x80\x94", "\xe4\xb8\x80", "\xf0\x9f\x98\x80", "<b>",
		"</b>", "<p>", "</p>", "<div>", "</div>", "<br>", "<pre>", "</pre>", "<span>",
		"</span>", "<x-y>", "</x-y>", "<!-- c -->", "<script>s</script>", "<td>", "<table>",
		"</table>", "<li>", "<svg><![CDATA[ a\xc2\xad ]]></svg>", "<ins>",
		"<textarea> a </textarea>", "\xff", "\xe2\x80"};
	uint32_t seed = 20240607;
	(void)state;
	for (unsigned i = 0; i < RANDOM_PAGES; i++) {
		struct ing_buf page;
		ing_buf_init(&page, 10000);
		for (unsigned k = 0; k < i % MAX_PIECES; k++) {
			seed = seed * 1664525 + 1013904223;
			ing_buf_add_str(&page, pieces[(seed >> 16) % ING_ARRAY_LEN(pieces)]);
		}
		check_words(tree, read_body(ing_buf_str(&page), page.len));
		ing_buf_done(&page);
	}
}

/* What :matchText has made an element divides as its parent does. */
static void test_pseudo(void **state)
{
	static const char page[] = "<p>a<b>c</b>d<i>e</i></p>";
	(void)state;
	ing_node body = read_body(page, sizeof(page) - 1);
	assert_int_equal(ing_text_word_count(tree, body, MAX_BYTES), 1);
	ing_node p = ing_tree_next_named(tree, 0, 0, "p");
	tree->nodes[p + 1].pseudo = 1;
	tree->has_pseudo = true;
	assert_int_equal(ing_text_word_count(tree, body, MAX_BYTES), 2);
	check_words(tree, body);
}

static int set_up(void **state)
{
	(void)state;
	html = ing_html_new();
	tree = ing_tree_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_html_free(html);
	ing_tree_free(tree);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_everywhere),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_random_pages),
		cmocka_unit_test(test_pseudo),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
