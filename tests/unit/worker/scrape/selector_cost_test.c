/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a search may cost: pages made to be slow to search end soon, the budget ends the rest, and a
 * matcher goes from page to page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/scrape/jsoup/selector.h"

/* With sanitizers on a slow machine; what is quadratic would take minutes. */
#define MAX_SECONDS 3.0

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void open_element(struct ing_tree *t, const char *name, const char *class, const char *id)
{
	assert_true(ing_tree_open(t, ing_tree_intern(t, name, strlen(name))));
	if (class != NULL)
		ing_tree_add_attr(t, ing_tree_intern(t, "class", 5), class, strlen(class), false);
	if (id != NULL)
		ing_tree_add_attr(t, ing_tree_intern(t, "id", 2), id, strlen(id), false);
}

static void add_text(struct ing_tree *t, const char *text)
{
	ing_tree_add_text(t, ING_NODE_TEXT, text, strlen(text), false);
}

/* Nested as deep as trees get, with leaves at the bottom. */
static void make_deep(struct ing_tree *t)
{
	for (int i = 0; i < 500; i++) {
		open_element(t, "div", "a b", "i");
		add_text(t, "text ");
	}
	for (int i = 0; i < 20000; i++) {
		open_element(t, "p", NULL, NULL);
		add_text(t, "leaf ");
		ing_tree_close(t);
	}
}

static void make_row(struct ing_tree *t, int count)
{
	open_element(t, "div", "a", "top");
	for (int i = 0; i < count; i++) {
		ing_tree_add_text(t, ING_NODE_COMMENT, "c", 1, false);
		open_element(t, i % 2 == 0 ? "div" : "p", "a b", "i");
		add_text(t, "x");
		ing_tree_close(t);
		add_text(t, " ");
	}
}

static void make_wide(struct ing_tree *t)
{
	make_row(t, 50000);
}

/* One element of very many classes, whose text runs all share them. */
static void make_classy(struct ing_tree *t)
{
	struct ing_buf b;
	ing_buf_init(&b, 1 << 22);
	for (int i = 0; i < 100000; i++)
		ing_buf_printf(&b, "c%d ", i);
	ing_buf_add_str(&b, "a b");
	open_element(t, "div", ing_buf_str(&b), "i");
	for (int i = 0; i < 20000; i++) {
		add_text(t, "x");
		open_element(t, "p", NULL, NULL);
		ing_tree_close(t);
	}
	ing_buf_done(&b);
}

static void test_no_cliffs(void **state)
{
	static void (*const pages[])(struct ing_tree *) = {make_deep, make_wide, make_classy};
	static const char *const selectors[] = {"div div div p", "div ~ p ~ div p", "div + p + div",
		"div:has(p) p", "div:has(div p + p)", "div:has(div:has(div:has(p)))", "div:has(zz)",
		"*:has(~ zz)", "*:has(> p ~ div)", "div:not(:has(b))", "div:contains(zz)",
		"div:contains(leaf)", "div:matches(zz)", ":nth-last-of-type(3n)",
		"p:nth-child(2n+1):nth-last-child(2)", ".a.b.c77", "#i", "#i .b", "* * * *",
		":root ~ *", "p:has(:not(a b)), :empty", "[class*=zz], [id]",
		"p:containsOwn(zz), .a:matchesOwn(zz)", "div:matchText, .a.b",
		".a:not(.b) > p:first-child"};
	(void)state;
	struct ing_matcher *m = ing_matcher_new();
	struct ing_tree *t = ing_tree_new();
	for (size_t k = 0; k < ING_ARRAY_LEN(pages); k++) {
		ing_tree_clear(t);
		pages[k](t);
		ing_tree_finish(t);
		ing_matcher_bind(m, t, 0);
		for (size_t i = 0; i < ING_ARRAY_LEN(selectors); i++) {
			struct ing_selector *s = NULL;
			struct ing_matches found;
			assert_int_equal(
				ing_selector_compile(selectors[i], strlen(selectors[i]), &s, NULL),
				0);
			double from = cpu_seconds();
			assert_int_equal(ing_select(m, s, ING_NODE_DOCUMENT, &found, NULL), 0);
			double took = cpu_seconds() - from;
			if (took > MAX_SECONDS)
				fail_msg("page %zu, %s: %.1f s", k, selectors[i], took);
			ing_selector_free(s);
		}
	}
	ing_matcher_free(m);
	ing_tree_free(t);
}

static int search(struct ing_matcher *m, const char *text, struct ing_error *err)
{
	struct ing_selector *s = NULL;
	struct ing_matches found;
	assert_int_equal(ing_selector_compile(text, strlen(text), &s, NULL), 0);
	int rc = ing_select(m, s, ING_NODE_DOCUMENT, &found, err);
	ing_selector_free(s);
	return rc;
}

static void test_budget(void **state)
{
	(void)state;
	struct ing_matcher *m = ing_matcher_new();
	struct ing_tree *t = ing_tree_new();
	struct ing_error err = {0};
	make_deep(t);
	ing_tree_finish(t);
	ing_matcher_bind(m, t, 20);
	double from = cpu_seconds();
	assert_int_equal(search(m, "p", &err), 0);
	/* The text of each of 500 nested elements: too much, but it ends. */
	assert_int_equal(search(m, "div:containsWholeText(zz)", &err), -ING_FAIL_TIMEOUT);
	assert_true(cpu_seconds() - from < MAX_SECONDS);
	assert_non_null(strstr(err.msg, "div:containsWholeText(zz)"));
	assert_int_equal(search(m, "p", &err), -ING_FAIL_TIMEOUT); /* it was the page's */
	ing_matcher_bind(m, t, 20);
	assert_int_equal(search(m, "p", &err), 0);
	ing_matcher_free(m);
	ing_tree_free(t);
	ing_matcher_free(NULL);
}

static void test_regex_limit(void **state)
{
	(void)state;
	struct ing_matcher *m = ing_matcher_new();
	struct ing_tree *t = ing_tree_new();
	struct ing_error err = {0};
	open_element(t, "p", NULL, NULL);
	add_text(t, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
	ing_tree_finish(t);
	ing_matcher_bind(m, t, 0);
	assert_int_equal(search(m, "p:not(:matches(^(a+)+$))", &err), -ING_FAIL_TOO_BIG);
	assert_non_null(strstr(err.msg, "^(a+)+$"));
	assert_int_equal(search(m, "p", &err), 0); /* the next search is another one */
	ing_matcher_free(m);
	ing_tree_free(t);
}

/* The most that a selector can nest, in a row as long as it takes: the C stack must hold it. */
static void test_stack(void **state)
{
	static const char *const opens[] = {"*:not(", "*:is(", "*:has("};
	(void)state;
	struct ing_matcher *m = ing_matcher_new();
	struct ing_tree *t = ing_tree_new();
	make_row(t, 3000);
	ing_tree_finish(t);
	ing_matcher_bind(m, t, 2000);
	for (size_t k = 0; k < ING_ARRAY_LEN(opens); k++) {
		struct ing_buf b;
		struct ing_error err = {0};
		ing_buf_init(&b, 1 << 20);
		/* Each group hangs on the first step of a chain, which is reached through all
		 * others. */
		for (int i = 0; i < 31; i++)
			ing_buf_add_str(&b, opens[k]);
		ing_buf_add_char(&b, '*');
		for (int i = 0; i < 31; i++) {
			ing_buf_add_char(&b, ')');
			for (int j = 0; j < 63; j++)
				ing_buf_add_str(&b, j % 2 == 0 ? "+*" : "~*");
		}
		int rc = search(m, ing_buf_str(&b), &err);
		assert_true(rc == 0 || rc == -ING_FAIL_TIMEOUT);
		ing_buf_done(&b);
	}
	ing_matcher_free(m);
	ing_tree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_cliffs),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_regex_limit),
		cmocka_unit_test(test_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
