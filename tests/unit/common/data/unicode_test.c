/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Classes and lower case of characters. Wanted values of test_lower are Java's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/unicode.h"

static void test_classes(void **state)
{
	static const struct {
		uint32_t c;
		enum ing_char_class want;
	} cases[] = {{'a', ING_CHAR_LOWER}, {'Z', ING_CHAR_UPPER}, {'0', ING_CHAR_DIGIT},
		{0, ING_CHAR_SPACE}, {0x7f, ING_CHAR_SPACE}, {'.', ING_CHAR_NONE},
		{0x85, ING_CHAR_SPACE}, {0xd7, ING_CHAR_NONE}, {0x100, ING_CHAR_UPPER},
		{0x101, ING_CHAR_LOWER}, {0x1c5, ING_CHAR_LETTER}, {0x2002, ING_CHAR_SPACE},
		{0x2160, ING_CHAR_DIGIT}, {0x301, ING_CHAR_NONE}, {0x4e00, ING_CHAR_LETTER},
		{0x10400, ING_CHAR_UPPER}, {0x10428, ING_CHAR_LOWER}, {0xe0001, ING_CHAR_SPACE},
		{0x10ffff, ING_CHAR_NONE}, {UINT32_MAX, ING_CHAR_NONE}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		assert_int_equal(ing_char_class(cases[i].c), cases[i].want);
}

static void test_lower(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"AbC-1", "abc-1"},
		{"\xc3\x89TUDE \xc3\xa9", "\xc3\xa9tude \xc3\xa9"},
		{"\xc4\xb0I", "i\xcc\x87i"},  /* I with dot; and no Turkish rule for I */
		{"\xe1\xba\x9e", "\xc3\x9f"}, /* capital sharp s */
		{"\xd0\x96\xd0\xaf", "\xd0\xb6\xd1\x8f"},
		{"\xce\xa3\xce\x91\xce\xa3", "\xcf\x83\xce\xb1\xcf\x82"}, /* the last is final */
		{"\xce\x91\xce\xa3\xce\x91", "\xce\xb1\xcf\x83\xce\xb1"},
		{"\xce\xa3", "\xcf\x83"},
		{"\xce\x91\xce\xa3.", "\xce\xb1\xcf\x82."},
		{"a'\xce\xa3", "a'\xcf\x82"},             /* a mark inside the word */
		{"\xc2\xaa\xce\xa3", "\xc2\xaa\xcf\x83"}, /* no letter with case before it */
		{"\xc2\xb5\xce\xa3", "\xc2\xb5\xcf\x82"}, /* a small letter that has no capital */
		{"\xff\xce\xa3\xc3", "\xff\xcf\x83\xc3"}, /* ill-formed bytes stay */
		{"\xe2\x84\xaa", "k"},                    /* Kelvin */
		{"\xf0\x90\x90\x80", "\xf0\x90\x90\xa8"}, /* Deseret */
		{"\xc4\x80\xc4\x81\xc4\x82", "\xc4\x81\xc4\x81\xc4\x83"},
		{"\xe4\xb8\xad\xe6\x96\x87", "\xe4\xb8\xad\xe6\x96\x87"},
	};
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 1000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		ing_buf_clear(&out);
		ing_unicode_lower(cases[i].text, strlen(cases[i].text), &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
	ing_buf_done(&out);
}

static void test_ceiling(void **state)
{
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 3);
	ing_unicode_lower("\xc3\x89\xc3\x89", 4, &out);
	assert_true(out.failed);
	ing_buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_lower),
		cmocka_unit_test(test_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
