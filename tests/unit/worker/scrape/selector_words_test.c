/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elements by class and by id on pages with many of them: each search finds what a look at each element
 * finds, whatever values share a slot, a length, a beginning or an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/markup/html.h"
#include "worker/scrape/jsoup/selector.h"

#define ELEMENTS 6000

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)64 << 20,
	.cpu_ms = 20000,
};

/* Of all lengths around four and eight bytes, that differ in one place, in case, or not in ASCII. */
static const char *const words[] = {"a", "B", "Zebra", "zebrA", "jazZ", "ab", "bA", "abc", "aBd",
	"menu", "mEnv", "nav-1", "nav-2", "column", "c0lumn", "row__x1", "Row__x2", "eightyyy",
	"eightyyz", "Eightyyx", "nine-nine", "nine-nin3", "wrapper--wide", "wrapper--Wide2",
	"a-class-of-twenty-fo", "a-class-of-twenty-fO1", "caf\xc3\xa9", "caf\xc3\x89",
	"\xe2\x84\xaa"
	"elvin",
	"[", "{", "@", "`"};

static struct ing_html *html;
static struct ing_tree *tree;
static struct ing_matcher *matcher;
static uint32_t seed = 99;

static const char *pick(void)
{
	seed = seed * 1664525 + 1013904223;
	return words[(seed >> 16) % ING_ARRAY_LEN(words)];
}

static void read_page(const struct ing_buf *page)
{
	ing_must(!page->failed);
	ing_html_parse(html, page->data, page->len, "text/html; charset=utf-8", &limits);
	ing_html_fill(html, tree);
	ing_matcher_bind(matcher, tree, 0);
}

static struct ing_matches find(const char *selector)
{
	struct ing_error err = {0};
	struct ing_selector *s = NULL;
	struct ing_matches found = {0};
	if (ing_selector_compile(selector, strlen(selector), &s, &err) != 0 ||
		ing_select(matcher, s, ING_NODE_DOCUMENT, &found, &err) != 0)
		fail_msg("%s: %s", selector, err.msg);
	ing_selector_free(s);
	return found;
}

static bool is_ascii(const char *s)
{
	while (*s > 0)
		s++;
	return *s == '\0';
}

/* Whether the element has the class; of a word that is not ASCII only as it is written. */
static bool has_class(ing_node n, const char *word)
{
	char lower[64];
	size_t bytes = strlen(word);
	for (size_t i = 0; i <= bytes; i++)
		lower[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] | 0x20 : word[i]);
	return ing_tree_is_element(tree, n) && ing_tree_attr_has_word(tree, n, "class", lower);
}

static void check_class(const char *word)
{
	char selector[80];
	snprintf(selector, sizeof(selector), "[class].%s", word);
	struct ing_matches found = find(selector);
	size_t at = 0;
	for (ing_node n = 0; n < tree->count; n++) {
		if (!has_class(n, word))
			continue;
		if (at == found.count || found.nodes[at] != n)
			fail_msg("%s: node %u is not the %zu. that is found", word, n, at);
		at++;
	}
	assert_int_equal(at, found.count);
}

static void test_classes(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, (size_t)16 << 20);
	for (unsigned i = 0; i < ELEMENTS; i++) {
		ing_buf_add_str(&page, "<p class='");
		for (unsigned k = 0; k < 1 + i % 4; k++)
			ing_buf_printf(&page, "%s%s", pick(), i % 5 == 0 ? " \t" : " ");
		ing_buf_printf(&page, "%s'>", i % 3 == 0 ? "menu menu" : "");
	}
	read_page(&page);
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (is_ascii(words[i]) && strchr("[{@`", words[i][0]) == NULL)
			check_class(words[i]);
	}
	assert_int_equal(find(".nothing").count, 0);
	assert_int_equal(find(".eightyy").count, 0);
	/* Lower case of what is not ASCII, whatever its case on the page. */
	assert_int_equal(find(".caf\xc3\xa9").count, find(".CAF\xc3\x89").count);
	assert_true(find(".caf\xc3\xa9").count > 300);
	assert_true(find(".kelvin").count > 100);
	ing_buf_done(&page);
}

static void test_ids(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, (size_t)16 << 20);
	for (unsigned i = 0; i < ELEMENTS; i++)
		ing_buf_printf(&page, "<p id='%s%u'>", i % 2 == 0 ? "sec" : "Section-", i / 3);
	read_page(&page);
	for (unsigned i = 0; i < ELEMENTS; i += 101) {
		char selector[40];
		unsigned want = 0;
		snprintf(selector, sizeof(selector), "#sec%u", i / 3);
		for (unsigned k = i / 3 * 3; k < i / 3 * 3 + 3; k++)
			want += k % 2 == 0;
		assert_int_equal(find(selector).count, want);
		snprintf(selector, sizeof(selector), "#section-%u", i / 3);
		assert_int_equal(find(selector).count, 0); /* ids have their case */
	}
	ing_buf_done(&page);
}

/* Values of a megabyte with the same ends, and one value on very many elements. */
static void test_large_values(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, (size_t)32 << 20);
	for (unsigned i = 0; i < 8; i++) {
		ing_buf_add_str(&page, "<p class='beginning ");
		for (unsigned k = 0; k < 60000; k++)
			ing_buf_printf(&page, "w%07u%u ", k, k == 30000 ? i : 9);
		ing_buf_add_str(&page, "the-very-end'>");
	}
	for (unsigned i = 0; i < 50000; i++)
		ing_buf_add_str(&page, "<i class='one two three four'></i>");
	read_page(&page);
	assert_int_equal(find(".w00300003").count, 1);
	assert_int_equal(find(".w00300019").count, 8);
	assert_int_equal(find(".the-very-end").count, 8);
	assert_int_equal(find(".three").count, 50000);
	ing_buf_done(&page);
}

static int set_up(void **state)
{
	(void)state;
	html = ing_html_new();
	tree = ing_tree_new();
	matcher = ing_matcher_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_matcher_free(matcher);
	ing_html_free(html);
	ing_tree_free(tree);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_large_values),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
