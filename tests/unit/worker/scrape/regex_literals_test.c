/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What every match of a pattern must contain, and the search for it: with it expressions find
 * exactly what PCRE2 finds alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/scrape/jsoup/literals.h"
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/regex_literals.h"

enum { ANY = 0, FOLD = 1, UTF = 2 };

/* Texts that a pattern lets through (may) and that it keeps from PCRE2 (not); neither: nothing is
 * known of its matches. */
static void test_tells_texts_that_cannot_match(void **state)
{
	/* clang-format off */
	static const struct {
		const char *pattern;
		unsigned flags;
		const char *may, *not;
	} cases[] = {
		{"captcha-delivery\\.com/", ANY, "see captcha-delivery.com/x", "captcha-deliveryxcom/"},
		{"captcha", ANY, "a captcha", "a CAPTCHA"},
		{"(?i)captcha", ANY, "a CAPTCHA", "a CAPTCH"},
		{"captcha", FOLD, "a cApTcHa", "a captch"},
		{"(?i)java ?script (?:is|must be) needed", ANY, "JavaScript must be needed", "javascript was needed"},
		{"(?i)java ?script (?:is|must be) needed", ANY, "Java Script is needed", "java  script is needed"},
		{"one|two|three", ANY, "a three", "a thre"},
		{"one|two|th", ANY, NULL, NULL},          /* too short to be looked for */
		{"one|", ANY, NULL, NULL},
		{"(?:one)?", ANY, NULL, NULL},
		{"abc(?:one)?def", ANY, "abcdef", "abcone"},
		{"abc(?:one)?def", ANY, "abconedef", "abconxdef"},
		{"abc+def", ANY, "abcccdef", "abde"},
		{"x[0-9]+document", ANY, "documents", "documen"},
		{"abcd*", ANY, "xabcx", "xabx"},
		{"abcd{0}", ANY, "abc", "ab"},
		{"abcd{0,3}", ANY, "abc", "ab"},
		{"abcd{2,}", ANY, "abcx", "abd"},
		{"ab(?:cdef){0,2}gh", ANY, NULL, NULL},
		{"(?:abcd){2}{0}", ANY, NULL, NULL},
		{"ab{2,x|y}", ANY, NULL, NULL},           /* no quantifier: alternatives */
		{"abc[de]f", ANY, "abcef", "abcf"},
		{"abc[^de]fghi", ANY, "fghi", "abcfgh"},
		{"abc[^]de]fgh", ANY, NULL, NULL},
		{"abc[]d]fgh", ANY, "abc]fgh", "abc]fg"},
		{"abc[\\]]fghi", ANY, "fghi", "abc]fgh"},
		{"acw_sc__v[23]", ANY, "acw_sc__v3", "acw_sc__v4"},
		{"(?=long enough)abc", ANY, "abc", "long enough"},
		{"(?!abc)def", ANY, "def", "abc"},
		{"(?<=abc)def", ANY, "def", "abc"},
		{"(?<name>abc)", ANY, "abc", "name"},
		{"(?>abc)d", ANY, "abcd", "abc"},
		{"^abc$", ANY, "abc", "ab"},
		{"\\babc\\b", ANY, "abc", "babcb" + 3},
		{"\\/abc\\.d", ANY, "/abc.d", "/abcxd"},
		{"abc|(?:def|ghi(?:jkl)?)", ANY, "ghi", "gh"},
		{"(abc)\\1", ANY, NULL, NULL},
		{"\\Qabc\\E", ANY, NULL, NULL},
		{"\\x{61}bcd", ANY, NULL, NULL},
		{"(?x) a b c", ANY, NULL, NULL},
		{"(?x:a b c)", ANY, NULL, NULL},
		{"(?i:abc)def", ANY, "ABCdef", "ABCde"},
		{"(?s)abc.", ANY, "abc\n", "ab"},
		{"abc\\Kd", ANY, NULL, NULL},
		{"(?|abc|abd)", ANY, NULL, NULL},
		{"(?(?=a)abc|abd)", ANY, NULL, NULL},
		{"[[:alpha:]]bcd", ANY, NULL, NULL},
		/* K and S have a third form in Unicode. */
		{"(?i)lakes", UTF, NULL, NULL},
		{"(?i)lakes", ANY, "LAKES", "LAKE"},
		{"lakes", UTF, "lakes", "LAKES"},
		{"(?i)captchas", UTF, "CAPTCHA", "CAPTCH"},
		{"gr\xc3\xbc\xc3\x9f" "en", UTF, NULL, NULL},
		{"abc\xc3\xbc?def", UTF, "abcx", "abxd"},
		{"(?i)requires|needs? java ?script", ANY, "NEED javascript", "needs scripts"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_literals *l =
			ing_regex_literals(cases[i].pattern, strlen(cases[i].pattern),
				(cases[i].flags & FOLD) != 0, (cases[i].flags & UTF) != 0);
		if ((l != NULL) != (cases[i].may != NULL))
			fail_msg("%s: %s", cases[i].pattern, l != NULL ? "known" : "unknown");
		if (l != NULL && !ing_literals_in(l, cases[i].may, strlen(cases[i].may)))
			fail_msg("%s: not in %s", cases[i].pattern, cases[i].may);
		if (l != NULL && ing_literals_in(l, cases[i].not, strlen(cases[i].not )))
			fail_msg("%s: in %s", cases[i].pattern, cases[i].not );
		ing_literals_free(l);
	}
}

static void test_finds_literals_wherever_they_stand(void **state)
{
	static const struct ing_literal items[] = {
		{3, "abc"}, {8, "aabbccdd"}, {12, "cookies must"}, {4, "zzzz"}, {5, "bcabd"}};
	const size_t count = sizeof(items) / sizeof(items[0]);
	(void)state;
	for (unsigned with = 0; with < 2; with++) {
		struct ing_literals *l =
			ing_literals_new(items + with, count - with, (with & 1) != 0);
		for (size_t i = with; i < count; i++) {
			for (size_t bytes = 0; bytes < 70; bytes++) {
				for (size_t at = 0; at <= bytes; at++) {
					char text[128];
					memset(text, i % 2 == 0 ? 'b' : 'c', sizeof(text));
					memcpy(text + at, items[i].text, items[i].bytes);
					/* Nothing behind the end is looked at. */
					bool whole = at + items[i].bytes <= bytes;
					char *copy = malloc(bytes + 1);
					assert_non_null(copy);
					memcpy(copy, text, bytes);
					assert_int_equal(ing_literals_in(l, copy, bytes), whole);
					free(copy);
				}
			}
		}
		ing_literals_free(l);
	}
}

/* A match that begins at any byte, with case that varies, beside PCRE2 alone. */
static void test_expressions_find_what_pcre2_finds_alone(void **state)
{
	static const char *const patterns[] = {
		"(?i)enable java ?script|without java ?script|needs? java",
		"Reference(?:&#32;|\\s)(?:&#35;|#)[0-9]+", "(?i)k?elvin", "a(?:bcd)?efg|^efg",
		"(?<!x)abc(?=d)", "ab+cd",
		"(?i)strasse|stra\xc3\x9f"
		"e"};
	static const char *const texts[] = {"Please ENABLE JavaScript", "need Java", "abcd",
		"xabcd", "Reference #12", "Reference&#32;&#35;1",
		"\xe2\x84\xaa"
		"elvin",
		"aefg", "efg", " efg", "abbbbcd", "STRASSE",
		"stra\xc5\xbf"
		"se",
		"STRA\xc3\x9f"
		"E",
		""};
	(void)state;
	for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		for (unsigned flags = 0; flags < 4; flags++) {
			struct ing_regex *quick = NULL, *alone = NULL;
			struct ing_error err = {0};
			size_t bytes = strlen(patterns[p]);
			assert_int_equal(
				ing_regex_compile(patterns[p], bytes, flags, &quick, &err), 0);
			assert_int_equal(ing_regex_compile(patterns[p], bytes,
						 flags | ING_REGEX_PCRE2_ALONE, &alone, &err),
				0);
			for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
				size_t n = strlen(texts[i]);
				if (ing_regex_find(quick, texts[i], n) !=
					ing_regex_find(alone, texts[i], n))
					fail_msg("%s (%u): %s", patterns[p], flags, texts[i]);
			}
			ing_regex_free(quick);
			ing_regex_free(alone);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_texts_that_cannot_match),
		cmocka_unit_test(test_finds_literals_wherever_they_stand),
		cmocka_unit_test(test_expressions_find_what_pcre2_finds_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
