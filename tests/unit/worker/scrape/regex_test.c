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
	static const struct {
		const char *pattern;
		unsigned flags;
		const char *text;
		bool want;
	} cases[] = {
		{"b+", 0, "abbc", true},
		{"^b", 0, "abbc", false},
		{"B", 0, "abbc", false},
		{"(?i)B", 0, "abbc", true},
		{"B", ING_REGEX_NO_CASE, "abbc", true},
		{"\xc3\x84", ING_REGEX_NO_CASE, "\xc3\xa4", true},
		{"\xc3\x84", ING_REGEX_NO_CASE | ING_REGEX_BYTES, "\xc3\xa4", false},
		{"(?i)k", ING_REGEX_BYTES, "\xe2\x84\xaa", false}, /* the Kelvin sign */
		{"^.$", 0, "\xc3\xa4", true},
		{"^..$", ING_REGEX_BYTES, "\xc3\xa4", true},
		{"\\d", 0, "\xd9\xa1", false}, /* an Arabic digit */
		{"\\w", 0, "\xc3\xa4", false},
		{"\\s", 0, "\xc2\xa0", false},
		{"\\p{L}", 0, "\xc3\xa4", true},
		{"\\pL", 0, "\xc3\xa4", true},
		{"\\p{Z}", 0, "\xc2\xa0", true},
		{"[^\\p{Cc}\\p{Cs}\\p{Cn}\\p{Zl}\\p{Zp}]", 0, "a", true},
		{"a$", 0, "a\r\n", true},
		{"a$", 0, "a\xe2\x80\xa8", true},
		{"a.b", 0,
			"a\xc2\x85"
			"b",
			false},
		{"[:]", 0, "a:b", true},
		{"[]a]", 0, "]", true},
		{"[^]a]", 0, "]", false},
		{"\\Q[a&&[b]]\\E", 0, "x[a&&[b]]", true},
		{"[\\[\\]&]", 0, "[", true},
		{"a{2,}", 0, "aa", true},
		{"(a|b)\\1", 0, "abb", true},
		{"/*$", 0, "abc", true},
		{"", 0, "", true},
	};
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
		{"[a&&[b]]", 3, "(?=[...])"},
		{"[a[b]]", 3, "\\["},
		{"[[:alpha:]]", 2, "class within a class"},
		{"\xc3\xa4\\p{IsLatin}", 2, "\\p{Latin}"},
		{"\\p{InGreek}", 1, "block"},
		{"\\p{Alpha}", 1, "[A-Za-z]"},
		{"x[\\P{Upper}]", 3, "[A-Z]"},
		{"\\p{javaLowerCase}", 1, "category"},
		{"(?U)\\w", 3, "\\p{L}"},
		{"a(?iU:b)", 5, "flag U"},
		{"(?d).", 3, "[^\\n]"},
		{"(?iu)a", 4, "heeds Unicode"},
		{"\\u0041", 1, "\\x{XXXX}"},
		{"[\\u0041]", 2, "\\x{XXXX}"},
		{"\\0101", 1, "\\x{..}"},
		{"(a)\\11", 4, "\\g{1}[1]"},
		{"\\N{DIGIT ONE}", 1, "\\x{XXXX}"},
		{"(*UTF)a", 1, "\\*"},
		{"(?C1)a", 1, "callout"},
		{"a{,3}", 2, "{0,n}"},
		{"(?x)[a b]", 7, "escape"},
		{"\xc3\xa4(", 3, "parenthesis"},
		{"a)", 2, "parenthesis"},
		{"[a", 3, "]"},
		{"*a", 1, "quantifier"},
		{"a\\", 3, "\\"},
		{"\\p{Nonsense}", 13, "property"},
		{"((((((((a{99}){99}){99}){99}){99}){99}){99}){99})", 0, "too large"},
		{"\xff", 1, "UTF-8"},
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
	static const struct {
		const char *pattern, *text, *replacement, *want;
	} cases[] = {
		{"b", "abbc", "x", "axbc"},
		{"b+", "abbc", "", "ac"},
		{"z", "abbc", "x", "abbc"},
		{"/*$", "http://a/b/", "/full", "http://a/b/full"},
		{"$", "ab", "x", "abx"},
		{"^", "ab", "x", "xab"},
		{"(a)(b)", "ab", "$2$1", "ba"},
		{"(a)(b)", "ab", "$0$0", "abab"},
		{"(a)", "a", "$12", "a2"}, /* there is no group 12 */
		{"(?<x>a)(b)", "ab", "${x}-$2", "a-b"},
		{"(a)|(b)", "b", "[$1$2]", "[b]"},
		{"a", "a", "\\$1\\\\", "$1\\"},
		{"a", "a", "\\x", "x"},
		{"(\xc3\xa4)", "z\xc3\xa4", "\\\xc3\xb6$1", "z\xc3\xb6\xc3\xa4"},
		{"abs(tract)?/", "x/abs/1", "pdf/", "x/pdf/1"},
	};
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
