/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Selectors that are refused: at which character, with which words. And some that are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/scrape/jsoup/selector.h"

static void test_errors(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text;
		int column;
		const char *words; /* in the message */
	} cases[] = {
		{.text = "", .column = 1, .words = "empty"},
		{.text = "  \t ", .column = 5, .words = "empty"},
		{.text = ", a", .column = 1, .words = "unexpected \",\", expected a selector"},
		{.text = "a,", .column = 3, .words = "unexpected end, expected a selector"},
		{.text = "a,, b", .column = 3, .words = "unexpected \",\", expected"},
		{.text = "a > ", .column = 4, .words = "missing selector after the combinator >"},
		{.text = "a > , b", .column = 5,
			.words = "missing selector after the combinator >"},
		{.text = "a > > b", .column = 5, .words = "two combinators"},
		{.text = "  a + ~ b", .column = 7, .words = "two combinators"},
		{.text = "> + b", .column = 3, .words = "two combinators"},
		{.text = ">", .column = 2, .words = "missing selector"},
		{.text = "_x", .column = 1, .words = "unexpected \"_\", expected a selector"},
		{.text = "|p", .column = 1, .words = "\"|\""},
		{.text = "*|", .column = 1, .words = "missing"},
		{.text = "a @b", .column = 3, .words = "unexpected \"@\", expected a selector"},
		{.text = "a!", .column = 2, .words = "unexpected \"!\", expected the next part"},
		{.text = "a)", .column = 2, .words = "unexpected \")\""},
		{.text = "\xc3\xa4 \xc3\xb6!", .column = 4, .words = "\"!\""},
		{.text = "a \xe2\x82\xac \"", .column = 5, .words = "\"\"\""},
		{.text = "#", .column = 2, .words = "unexpected end, expected an id"},
		{.text = "a #.b", .column = 4, .words = "unexpected \".\", expected an id"},
		{.text = ".", .column = 2, .words = "a class"},
		{.text = "a\\", .column = 2, .words = "backslash"},
		{.text = "a[", .column = 2, .words = "no ]"},
		{.text = "a[b", .column = 2, .words = "no ]"},
		{.text = "a[b='c]", .column = 2, .words = "quotes"},
		{.text = "[]", .column = 2, .words = "missing"},
		{.text = "[=b]", .column = 2, .words = "missing"},
		{.text = "[ != b]", .column = 3, .words = "missing"},
		{.text = "[a^=]", .column = 5, .words = "missing value"},
		{.text = "[a*='']", .column = 5, .words = "missing value"},
		{.text = "[a~=(]", .column = 6, .words = "regular expression"},
		{.text = "[a~=\xc3\xa4[b&&[c]]]", .column = 8, .words = "(?=[...])"},
		{.text = "p:matches(\xc3\xa4(?U)\\w)", .column = 14, .words = "flag U"},
		{.text = "p:matches()", .column = 11, .words = "missing argument"},
		{.text = "p:matches(x", .column = 10, .words = "no )"},
		{.text = "p:contains()", .column = 12, .words = "missing argument"},
		{.text = "p:contains(don't)", .column = 11, .words = "quotes"},
		{.text = "p:matches(don't)", .column = 10, .words = "quotes"},
		{.text = ":contains", .column = 1, .words = "needs an argument"},
		{.text = "a:eq", .column = 2, .words = "needs an argument"},
		{.text = "a:eq()", .column = 6, .words = "missing argument"},
		{.text = "a:eq(-1)", .column = 6, .words = "expected a number"},
		{.text = "a:lt(x)", .column = 6, .words = "expected a number"},
		{.text = "a:gt(99999999999)", .column = 6, .words = "expected a number"},
		{.text = "a:nth-child(x)", .column = 13, .words = "2n+1"},
		{.text = "a:nth-child(2n1)", .column = 13, .words = "2n+1"},
		{.text = "a:nth-child(2n+)", .column = 13, .words = "2n+1"},
		{.text = "a:nth-child(+)", .column = 13, .words = "2n+1"},
		{.text = "p:not()", .column = 7, .words = "unexpected \")\", expected a selector"},
		{.text = "p:has()", .column = 7, .words = "unexpected \")\", expected a selector"},
		{.text = "p:has(a", .column = 8, .words = "unexpected end, expected )"},
		{.text = "p:has(a,)", .column = 9,
			.words = "unexpected \")\", expected a selector"},
		{.text = "p:not(a:is(b:foo))", .column = 13, .words = "no pseudo-class :foo"},
		{.text = "a:hover", .column = 2, .words = "no pseudo-class :hover"},
		{.text = "a:first", .column = 2, .words = "no pseudo-class :first"},
		{.text = "a:", .column = 2, .words = "no pseudo-class"},
		{.text = "p::text", .column = 2, .words = "::text"},
		{.text = "p:has(::comment)", .column = 7, .words = "::comment"},
		{.text = "a\xff", .column = 2, .words = "UTF-8"},
		{.text = "a\x01 b", .column = 2, .words = "a control character"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_selector *s = NULL;
		struct ing_error err = {0};
		/* A copy of exactly that size, so that reading past the end is seen. */
		size_t bytes = strlen(cases[i].text);
		char *copy = malloc(bytes + (bytes == 0));
		assert_non_null(copy);
		memcpy(copy, cases[i].text, bytes);
		int rc = ing_selector_compile(copy, bytes, &s, &err);
		free(copy);
		if (rc != -ING_FAIL_SYNTAX && rc != -ING_FAIL_UNSUPPORTED)
			fail_msg("%s: %d", cases[i].text, rc);
		assert_int_equal(rc, -(int)err.code);
		if (err.column != cases[i].column || strstr(err.msg, cases[i].words) == NULL)
			fail_msg("%s: %d: %s", cases[i].text, err.column, err.msg);
	}
}

static void test_accepted(void **state)
{
	static const char *const texts[] = {
		" a ",
		"a\t>\nb",
		"*|a",
		"n|a",
		"n|*",
		"*|*",
		"#1",
		".1a",
		"#a\\:b",
		".\\31 x",
		"\\61 b",
		"a[b]c",
		":contains(b)c",
		"a*",
		"[a=]",
		"[a='']",
		"[a!=]",
		"[*]",
		"[^]",
		"[^a]",
		"[a=b c]",
		"[a=b[c]]",
		"[a='b]']",
		"[a~=[^\\]]]",
		"[a~=^\\Q]\\E$]",
		"p:contains(a (b) c)",
		"p:contains(don\\'t)",
		"p:contains('x')",
		"p:matches(^(a|b)[\\)\\\"]?\\))",
		"p:NOT(a)",
		"p:First-Child",
		"p:nth-child( 2n + 1 )",
		"p:nth-child(-n+2)",
		"p:nth-child(N)",
		"p:has(> a, + b, ~ c)",
		"p:is(a, b c):matchText",
		"> a",
		"~ a",
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		struct ing_selector *s = NULL;
		struct ing_error err = {0};
		if (ing_selector_compile(texts[i], strlen(texts[i]), &s, &err) < 0)
			fail_msg("%s: %d: %s", texts[i], err.column, err.msg);
		assert_string_equal(ing_selector_text(s), texts[i]);
		ing_selector_free(s);
	}
}

static int compile_repeated(const char *before, const char *part, size_t times, const char *after)
{
	struct ing_buf b;
	struct ing_selector *s = NULL;
	ing_buf_init(&b, 1 << 20);
	ing_buf_add_str(&b, before);
	for (size_t i = 0; i < times; i++)
		ing_buf_add_str(&b, part);
	ing_buf_add_str(&b, after);
	int rc = ing_selector_compile(ing_buf_str(&b), b.len, &s, NULL);
	ing_selector_free(s);
	ing_buf_done(&b);
	return rc;
}

static void test_ceilings(void **state)
{
	(void)state;
	assert_int_equal(compile_repeated("a", " a", 63, ""), 0);
	assert_int_equal(compile_repeated("a", " a", 64, ""), -ING_FAIL_SYNTAX);
	assert_int_equal(compile_repeated("", "p:has(", 31, "a"), -ING_FAIL_SYNTAX); /* unclosed */
	assert_int_equal(compile_repeated("", ":not(", 40000 / 5, "a"), -ING_FAIL_SYNTAX);
	assert_int_equal(compile_repeated("a", ".a", 32000, ""), 0);
	assert_int_equal(compile_repeated("a", ",a", 32000, ""), 0);
	assert_int_equal(compile_repeated("a", ".a", 33000, ""), -ING_FAIL_SYNTAX);
	assert_int_equal(compile_repeated("p:matches(", "(", 10000, ""), -ING_FAIL_SYNTAX);
	ing_selector_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_ceilings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
