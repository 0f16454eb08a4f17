/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What names of elements and classes and beginnings of texts say; the tables are searched by halves,
 * so they must be sorted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "worker/document/text/class_words.h"
#include "worker/document/text/kind.h"
#include "worker/document/text/phrases.h"

static void names_are_read_by_words(void **state)
{
	static const struct {
		const char *value;
		uint32_t want;
	} cases[] = {
		{"", 0},
		{"x y", 0},
		{"nav", ING_WORD_NAV | ING_WORD_STRONG},
		{"main-nav", ING_WORD_MAIN},
		{"site_nav", ING_WORD_NAV},
		{"articleBody", ING_WORD_ARTICLE | ING_WORD_BODY},
		{"a relatedPOSTS", ING_WORD_RELATED},
		{"hidden", ING_WORD_HIDDEN},
		{"hidden-xs", 0},
		{"widget_text", ING_WORD_WIDGET | ING_WORD_BODY},
		{"elementor-widget", 0},
		{"section--ads", 0},
		{"field--related", ING_WORD_RELATED},
		{"post has-sidebar", ING_WORD_ARTICLE},
		{"sidebar-layout", ING_WORD_LAYOUT},
		{"w-[30px]-nav md:nav", 0},
		{"why-sharing-is-good-for-all-of-us", 0},
		{"abstract author", ING_WORD_SECTION},
		{"e1ad", 0},
		{"ad1", ING_WORD_AD},
		{"MathJax menu", ING_WORD_MATH},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-nav", ING_WORD_NAV},
		{"\xc3\xa9nav", ING_WORD_NAV | ING_WORD_STRONG},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t got = ing_class_words(cases[i].value, strlen(cases[i].value), 6);
		if (got != cases[i].want)
			fail_msg("%s: %x, want %x", cases[i].value, got, cases[i].want);
	}
}

static void texts_begin_with_phrases(void **state)
{
	static const struct {
		const char *text;
		unsigned want;
	} cases[] = {
		{"", 0},
		{"123", 0},
		{"related articles", ING_PHRASE_END},
		{"relatedness of rivers", 0},
		{"\xc2\xbb 3 comments", ING_PHRASE_END},
		{"references", ING_PHRASE_REFERENCES},
		{"\xc2\xa9 j. doe", ING_PHRASE_CREDIT | ING_PHRASE_CLOSING},
		{"photo: j. doe", ING_PHRASE_CREDIT},
		{"photosynthesis", 0},
		{"share", ING_PHRASE_ASIDE},
		{"\xe5\x85\xb3\xe8\x81\x94", 0},
		{"\xe5\x8f\x82\xe8\x80\x83\xe6\x96\x87\xe7\x8c\xae", ING_PHRASE_REFERENCES},
		{"zobacz tak\xc5\xbc"
		 "e",
			ING_PHRASE_END},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned got = ing_phrases_of(cases[i].text, strlen(cases[i].text));
		if (got != cases[i].want)
			fail_msg("%s: %x, want %x", cases[i].text, got, cases[i].want);
	}
}

static void elements_have_kinds(void **state)
{
	(void)state;
	assert_int_equal(ing_kind_of_name("a", 1), ING_KIND_LINK);
	assert_int_equal(
		ing_kind_of_name("xmp", 3), ING_KIND_BLOCK | ING_KIND_PRE | ING_KIND_QUOTE);
	assert_int_equal(ing_kind_of_name("span", 4), 0);
	assert_int_equal(ing_kind_of_name("a-very-long-custom-name", 23), 0);
}

/* The first text of each line that begins like `{"x", `. */
static void assert_sorted(const char *path)
{
	char line[400];
	char before[400] = "";
	unsigned count = 0;
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *begin = strstr(line, "\t{\"");
		char *end = begin != NULL ? strchr(begin + 3, '"') : NULL;
		if (end == NULL)
			continue;
		*end = '\0';
		if (strcmp(before, begin + 3) >= 0)
			fail_msg("%s: \"%s\" before \"%s\"", path, before, begin + 3);
		snprintf(before, sizeof(before), "%s", begin + 3);
		count++;
	}
	fclose(f);
	assert_true(count > 50);
}

static void tables_are_sorted(void **state)
{
	(void)state;
	assert_sorted(ING_SOURCE_DIR "/worker/document/text/kind.c");
	assert_sorted(ING_SOURCE_DIR "/worker/document/text/class_words.c");
	assert_sorted(ING_SOURCE_DIR "/worker/document/text/phrases.c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_by_words),
		cmocka_unit_test(texts_begin_with_phrases),
		cmocka_unit_test(elements_have_kinds),
		cmocka_unit_test(tables_are_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
