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
	static const struct {
		const char *text;
		int column;
		const char *words; /* in the message */
	} cases[] = {
		{"", 1, "empty"},
		{"  \t ", 5, "empty"},
		{", a", 1, "unexpected \",\", expected a selector"},
		{"a,", 3, "unexpected end, expected a selector"},
		{"a,, b", 3, "unexpected \",\", expected"},
		{"a > ", 4, "missing selector after the combinator >"},
		{"a > , b", 5, "missing selector after the combinator >"},
		{"a > > b", 5, "two combinators"},
		{"  a + ~ b", 7, "two combinators"},
		{"> + b", 3, "two combinators"},
		{">", 2, "missing selector"},
		{"_x", 1, "unexpected \"_\", expected a selector"},
		{"|p", 1, "\"|\""},
		{"*|", 1, "missing"},
		{"a @b", 3, "unexpected \"@\", expected a selector"},
		{"a!", 2, "unexpected \"!\", expected the next part"},
		{"a)", 2, "unexpected \")\""},
		{"\xc3\xa4 \xc3\xb6!", 4, "\"!\""},
		{"a \xe2\x82\xac \"", 5, "\"\"\""},
		{"#", 2, "unexpected end, expected an id"},
		{"a #.b", 4, "unexpected \".\", expected an id"},
		{".", 2, "a class"},
		{"a\\", 2, "backslash"},
		{"a[", 2, "no ]"},
		{"a[b", 2, "no ]"},
		{"a[b='c]", 2, "quotes"},
		{"[]", 2, "missing"},
		{"[=b]", 2, "missing"},
		{"[ != b]", 3, "missing"},
		{"[a^=]", 5, "missing value"},
		{"[a*='']", 5, "missing value"},
		{"[a~=(]", 6, "regular expression"},
		{"[a~=\xc3\xa4[b&&[c]]]", 8, "(?=[...])"},
		{"p:matches(\xc3\xa4(?U)\\w)", 14, "flag U"},
		{"p:matches()", 11, "missing argument"},
		{"p:matches(x", 10, "no )"},
		{"p:contains()", 12, "missing argument"},
		{"p:contains(don't)", 11, "quotes"},
		{"p:matches(don't)", 10, "quotes"},
		{":contains", 1, "needs an argument"},
		{"a:eq", 2, "needs an argument"},
		{"a:eq()", 6, "missing argument"},
		{"a:eq(-1)", 6, "expected a number"},
		{"a:lt(x)", 6, "expected a number"},
		{"a:gt(99999999999)", 6, "expected a number"},
		{"a:nth-child(x)", 13, "2n+1"},
		{"a:nth-child(2n1)", 13, "2n+1"},
		{"a:nth-child(2n+)", 13, "2n+1"},
		{"a:nth-child(+)", 13, "2n+1"},
		{"p:not()", 7, "unexpected \")\", expected a selector"},
		{"p:has()", 7, "unexpected \")\", expected a selector"},
		{"p:has(a", 8, "unexpected end, expected )"},
		{"p:has(a,)", 9, "unexpected \")\", expected a selector"},
		{"p:not(a:is(b:foo))", 13, "no pseudo-class :foo"},
		{"a:hover", 2, "no pseudo-class :hover"},
		{"a:first", 2, "no pseudo-class :first"},
		{"a:", 2, "no pseudo-class"},
		{"p::text", 2, "::text"},
		{"p:has(::comment)", 7, "::comment"},
		{"a\xff", 2, "UTF-8"},
		{"a\x01 b", 2, "a control character"},
	};
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
