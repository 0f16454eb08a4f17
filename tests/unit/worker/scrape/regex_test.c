/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Regular expressions as rules use them: what matches, what only Java knows, replacements, limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/scrape/jsoup/regex.h"

static struct ing_regex *compile(const char *pattern, unsigned flags)
{
	struct ing_regex *r = NULL;
	struct ing_error err = {0};
	if (ing_regex_compile(pattern, strlen(pattern), flags, &r, &err) < 0)
		fail_msg("%s: %s", pattern, err.msg);
	return r;
}

static void test_finds(void **state)
{
	/* clang-format off */
	static const struct {
		const char *pattern;
		unsigned flags;
		const char *text;
		bool want;
	} cases[] = {
		{.pattern = "b+", .text = "abbc", .want = true},
		{.pattern = "^b", .text = "abbc", .want = false},
		{.pattern = "B", .text = "abbc", .want = false},
		{.pattern = "(?i)B", .text = "abbc", .want = true},
		{.pattern = "B", .flags = ING_REGEX_NO_CASE, .text = "abbc", .want = true},
		{.pattern = "\xc3\x84", .flags = ING_REGEX_NO_CASE, .text = "\xc3\xa4",
			.want = true},
		{.pattern = "\xc3\x84", .flags = ING_REGEX_NO_CASE | ING_REGEX_BYTES,
			.text = "\xc3\xa4", .want = false},
		{.pattern = "(?i)k", .flags = ING_REGEX_BYTES, .text = "\xe2\x84\xaa",
			.want = false}, /* the Kelvin sign */
		{.pattern = "^.$", .text = "\xc3\xa4", .want = true},
		{.pattern = "^..$", .flags = ING_REGEX_BYTES, .text = "\xc3\xa4", .want = true},
		{.pattern = "\\d", .text = "\xd9\xa1", .want = false}, /* an Arabic digit */
		{.pattern = "\\w", .text = "\xc3\xa4", .want = false},
		{.pattern = "\\s", .text = "\xc2\xa0", .want = false},
		{.pattern = "\\p{L}", .text = "\xc3\xa4", .want = true},
		{.pattern = "\\pL", .text = "\xc3\xa4", .want = true},
		{.pattern = "\\p{Z}", .text = "\xc2\xa0", .want = true},
		{.pattern = "[^\\p{Cc}\\p{Cs}\\p{Cn}\\p{Zl}\\p{Zp}]", .text = "a", .want = true},
		{.pattern = "a$", .text = "a\r\n", .want = true},
		{.pattern = "a$", .text = "a\xe2\x80\xa8", .want = true},
		{.pattern = "a.b", .text = "a\xc2\x85" "b", .want = false},
		{.pattern = "[:]", .text = "a:b", .want = true},
		{.pattern = "[]a]", .text = "]", .want = true},
		{.pattern = "[^]a]", .text = "]", .want = false},
		{.pattern = "\\Q[a&&[b]]\\E", .text = "x[a&&[b]]", .want = true},
		{.pattern = "[\\[\\]&]", .text = "[", .want = true},
		{.pattern = "a{2,}", .text = "aa", .want = true},
		{.pattern = "(a|b)\\1", .text = "abb", .want = true},
		{.pattern = "/*$", .text = "abc", .want = true},
		{.pattern = "", .text = "", .want = true},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_regex *r = compile(cases[i].pattern, cases[i].flags);
		enum ing_regex_end end = ing_regex_find(r, cases[i].text, strlen(cases[i].text));
		if (end != (cases[i].want ? ING_REGEX_YES : ING_REGEX_NO))
			fail_msg("%s in '%s': %d", cases[i].pattern, cases[i].text, end);
		ing_regex_free(r);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *pattern;
		int column;
		const char *words; /* in the message */
	} cases[] = {
		{.pattern = "[a&&[b]]", .column = 3, .words = "(?=[...])"},
		{.pattern = "[a[b]]", .column = 3, .words = "\\["},
		{.pattern = "[[:alpha:]]", .column = 2, .words = "class within a class"},
		{.pattern = "\xc3\xa4\\p{IsLatin}", .column = 2, .words = "\\p{Latin}"},
		{.pattern = "\\p{InGreek}", .column = 1, .words = "block"},
		{.pattern = "\\p{Alpha}", .column = 1, .words = "[A-Za-z]"},
		{.pattern = "x[\\P{Upper}]", .column = 3, .words = "[A-Z]"},
		{.pattern = "\\p{javaLowerCase}", .column = 1, .words = "category"},
		{.pattern = "(?U)\\w", .column = 3, .words = "\\p{L}"},
		{.pattern = "a(?iU:b)", .column = 5, .words = "flag U"},
		{.pattern = "(?d).", .column = 3, .words = "[^\\n]"},
		{.pattern = "(?iu)a", .column = 4, .words = "heeds Unicode"},
		{.pattern = "\\u0041", .column = 1, .words = "\\x{XXXX}"},
		{.pattern = "[\\u0041]", .column = 2, .words = "\\x{XXXX}"},
		{.pattern = "\\0101", .column = 1, .words = "\\x{..}"},
		{.pattern = "(a)\\11", .column = 4, .words = "\\g{1}[1]"},
		{.pattern = "\\N{DIGIT ONE}", .column = 1, .words = "\\x{XXXX}"},
		{.pattern = "(*UTF)a", .column = 1, .words = "\\*"},
		{.pattern = "(?C1)a", .column = 1, .words = "callout"},
		{.pattern = "a{,3}", .column = 2, .words = "{0,n}"},
		{.pattern = "(?x)[a b]", .column = 7, .words = "escape"},
		{.pattern = "\xc3\xa4(", .column = 3, .words = "parenthesis"},
		{.pattern = "a)", .column = 2, .words = "parenthesis"},
		{.pattern = "[a", .column = 3, .words = "]"},
		{.pattern = "*a", .column = 1, .words = "quantifier"},
		{.pattern = "a\\", .column = 3, .words = "\\"},
		{.pattern = "\\p{Nonsense}", .column = 13, .words = "property"},
		{.pattern = "((((((((a{99}){99}){99}){99}){99}){99}){99}){99})",
			.words = "too large"},
		{.pattern = "\xff", .column = 1, .words = "UTF-8"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_regex *r = NULL;
		struct ing_error err = {0};
		int rc = ing_regex_compile(cases[i].pattern, strlen(cases[i].pattern), 0, &r, &err);
		if (rc != -ING_FAIL_SYNTAX && rc != -ING_FAIL_UNSUPPORTED)
			fail_msg("%s: %d", cases[i].pattern, rc);
		if ((cases[i].column != 0 && err.column != cases[i].column) ||
			strstr(err.msg, cases[i].words) == NULL)
			fail_msg("%s: %d: %s", cases[i].pattern, err.column, err.msg);
	}
}

static void test_replace_first(void **state)
{
	/* clang-format off */
	static const struct {
		const char *pattern, *text, *replacement, *want;
	} cases[] = {
		{.pattern = "b", .text = "abbc", .replacement = "x", .want = "axbc"},
		{.pattern = "b+", .text = "abbc", .replacement = "", .want = "ac"},
		{.pattern = "z", .text = "abbc", .replacement = "x", .want = "abbc"},
		{.pattern = "/*$", .text = "http://a/b/", .replacement = "/full",
			.want = "http://a/b/full"},
		{.pattern = "$", .text = "ab", .replacement = "x", .want = "abx"},
		{.pattern = "^", .text = "ab", .replacement = "x", .want = "xab"},
		{.pattern = "(a)(b)", .text = "ab", .replacement = "$2$1", .want = "ba"},
		{.pattern = "(a)(b)", .text = "ab", .replacement = "$0$0", .want = "abab"},
		{.pattern = "(a)", .text = "a", .replacement = "$12", .want = "a2"}, /* there is no group 12 */
		{.pattern = "(?<x>a)(b)", .text = "ab", .replacement = "${x}-$2", .want = "a-b"},
		{.pattern = "(a)|(b)", .text = "b", .replacement = "[$1$2]", .want = "[b]"},
		{.pattern = "a", .text = "a", .replacement = "\\$1\\\\", .want = "$1\\"},
		{.pattern = "a", .text = "a", .replacement = "\\x", .want = "x"},
		{.pattern = "(\xc3\xa4)", .text = "z\xc3\xa4", .replacement = "\\\xc3\xb6$1",
			.want = "z\xc3\xb6\xc3\xa4"},
		{.pattern = "abs(tract)?/", .text = "x/abs/1", .replacement = "pdf/",
			.want = "x/pdf/1"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_regex *r = compile(cases[i].pattern, 0);
		struct ing_error err = {0};
		struct ing_buf out;
		ing_buf_init(&out, 1000);
		assert_int_equal(ing_regex_check_replacement(r, cases[i].replacement, &err), 0);
		ing_regex_replace_first(
			r, cases[i].text, strlen(cases[i].text), cases[i].replacement, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
		ing_regex_free(r);
	}
}

static void test_bad_replacements(void **state)
{
	static const struct {
		const char *replacement;
		int column;
	} cases[] = {{"\\", 1}, {"a$", 2}, {"\xc3\xa4$x", 2}, {"$2", 1}, {"ab${y}", 3}, {"${x", 1},
		{"${}", 1}, {"${x-}", 1}};
	(void)state;
	struct ing_regex *r = compile("(?<x>a)", 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		assert_int_equal(ing_regex_check_replacement(r, cases[i].replacement, &err),
			-ING_FAIL_SYNTAX);
		if (err.column != cases[i].column)
			fail_msg("%s: %d: %s", cases[i].replacement, err.column, err.msg);
	}
	ing_regex_free(r);
}

static void test_groups(void **state)
{
	(void)state;
	struct ing_regex *r = compile("(?<second>b)?(?<first>c)(d)?", 0);
	size_t from[5], to[5];
	unsigned number = 0;
	assert_int_equal(ing_regex_groups(r, "aac", 3, 5, from, to), ING_REGEX_YES);
	assert_int_equal(from[0], 2);
	assert_int_equal(to[0], 3);
	assert_true(from[1] == SIZE_MAX && to[1] == SIZE_MAX);
	assert_int_equal(from[2], 2);
	assert_true(from[3] == SIZE_MAX && from[4] == SIZE_MAX);
	assert_int_equal(ing_regex_groups(r, "aa", 2, 5, from, to), ING_REGEX_NO);
	assert_true(from[0] == SIZE_MAX);
	assert_int_equal(ing_regex_group_number(r, "first"), 2);
	assert_int_equal(ing_regex_group_number(r, "third"), -1);
	assert_string_equal(ing_regex_group_name(r, 0, &number), "second");
	assert_int_equal(number, 1);
	assert_string_equal(ing_regex_group_name(r, 1, NULL), "first");
	assert_null(ing_regex_group_name(r, 2, NULL));
	ing_regex_free(r);
}

static void test_limit(void **state)
{
	static const char *const patterns[] = {
		"(a+)+[b-d]", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"};
	char text[4000];
	(void)state;
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '!';
	for (size_t i = 0; i < ING_ARRAY_LEN(patterns); i++) {
		struct ing_regex *r = compile(patterns[i], 0);
		struct ing_buf out;
		ing_buf_init(&out, 10000);
		assert_int_equal(ing_regex_find(r, text, sizeof(text)), ING_REGEX_LIMIT);
		assert_int_equal(
			ing_regex_replace_first(r, text, sizeof(text), "x", &out), ING_REGEX_LIMIT);
		assert_int_equal(out.len, 0);
		ing_buf_done(&out);
		ing_regex_free(r);
	}
	/* Long texts are no reason by themselves. */
	size_t bytes = 1 << 20;
	char *page = malloc(bytes);
	assert_non_null(page);
	memset(page, 'a', bytes);
	struct ing_regex *r = compile("(foo|bar)baz", 0);
	assert_int_equal(ing_regex_find(r, page, bytes), ING_REGEX_NO);
	ing_regex_free(r);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_replace_first),
		cmocka_unit_test(test_bad_replacements),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
