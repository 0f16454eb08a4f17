/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Links of a page: what they are relative to, and what comes of their values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/markup/html.h"
#include "common/markup/link.h"

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

static void read_page(const char *page, const char *url)
{
	ing_html_parse(html, page, strlen(page), NULL, &limits);
	ing_html_fill(html, tree);
	ing_tree_set_url(tree, url);
}

static void assert_url(char *got, const char *want)
{
	if (want == NULL)
		assert_null(got);
	else if (got == NULL)
		fail_msg("no URL instead of %s", want);
	else
		assert_string_equal(got, want);
	free(got);
}

static void test_values(void **state)
{
	static const struct {
		const char *value, *want;
	} cases[] = {
		{"c", "http://h.org/a/c"},
		{"/c", "http://h.org/c"},
		{"?q=2", "http://h.org/a/b?q=2"},
		{"//x.org/y", "http://x.org/y"},
		{"../../../c", "http://h.org/c"},
		{"#g", "http://h.org/a/b?z=1#g"},
		{"", "http://h.org/a/b?z=1"},
		{"http:foo", "http://h.org/a/foo"},
		{"HTTP://X.org/A b", "http://x.org/A%20b"},
		{"mailto:a@b.c?subject=x", "mailto:a@b.c?subject=x"},
		{"tel:1", "tel:1"},
		{"javascript:void(0)", "javascript:void(0)"},
		{"data:text/plain,x", "data:text/plain,x"},
		{"a:b", "a:b"},
		{"\n /x \t", "http://h.org/x"},
		{"\xc2\xa0 /x\xc2\xa0", "http://h.org/x"},
		{"\xe2\x80\x83\x01\xe3\x80\x80http:foo\xc2\x85\x01\xe2\x80\xa8 ",
			"http://h.org/a/foo"},
		{"/a\n\tb\x01"
		 "c",
			"http://h.org/abc"},
		{"http://[bad", NULL},
		{"http://", NULL},
		{"https:///x", "https://x/"},
		{"\\x", "http://h.org/x"},
	};
	(void)state;
	read_page("<p>", "http://h.org/a/b?z=1#f");
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_url(ing_link_resolve(tree, cases[i].value, strlen(cases[i].value)),
			cases[i].want);
}

static void test_bases(void **state)
{
	/* clang-format off */
	static const struct {
		const char *page, *url, *base, *link;
	} cases[] = {
		{.page = "<a href=x>", .url = "http://h.org/a/b", .base = "http://h.org/a/b",
			.link = "http://h.org/a/x"},
		{.page = "<a href=x>"},
		{.page = "<a href=http://y.org/x>", .link = "http://y.org/x"},
		{.page = "<a>", .url = "http://h.org/", .base = "http://h.org/"},
		{.page = "<base href=/d/><a href=x>", .url = "http://h.org/a",
			.base = "http://h.org/d/", .link = "http://h.org/d/x"},
		{.page = "<base href=/d/><base href=/e/><a href=x>", .url = "http://h.org/a",
			.base = "http://h.org/d/", .link = "http://h.org/d/x"},
		{.page = "<base target=_top><base href=/e/><a href=x>", .url = "http://h.org/a",
			.base = "http://h.org/e/", .link = "http://h.org/e/x"},
		{.page = "<base href='http://[bad'><base href=/e/><a href=x>",
			.url = "http://h.org/a", .base = "http://h.org/e/",
			.link = "http://h.org/e/x"},
		{.page = "<base href=data:x><a href=x>", .url = "http://h.org/a",
			.base = "http://h.org/a", .link = "http://h.org/x"},
		{.page = "<base href=http://b.org/><a href=x>", .base = "http://b.org/",
			.link = "http://b.org/x"},
		{.page = "<base href=/e/><a href=x>"},
		{.page = "<a href=x><p><base href=/late/>", .url = "http://h.org/a",
			.base = "http://h.org/late/", .link = "http://h.org/late/x"},
		{.page = "<a href=x>", .url = "not a url", .base = "not a url"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		read_page(cases[i].page, cases[i].url);
		const char *base = ing_link_base(tree);
		if (cases[i].base == NULL)
			assert_null(base);
		else
			assert_string_equal(base, cases[i].base);
		ing_node a = ing_tree_next_named(tree, 0, 0, "a");
		assert_url(ing_link_of_attr(tree, a, "href"), cases[i].link);
	}
}

static void test_long_value(void **state)
{
	(void)state;
	read_page("<p>", "http://h.org/");
	size_t bytes = (size_t)1 << 20;
	char *value = malloc(bytes);
	assert_non_null(value);
	memset(value, 'a', bytes);
	assert_null(ing_link_resolve(tree, value, bytes));
	memset(value, ' ', bytes);
	assert_url(ing_link_resolve(tree, value, bytes), "http://h.org/");
	free(value);
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
	ing_tree_free(tree);
	ing_html_free(html);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_bases),
		cmocka_unit_test(test_long_value),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
