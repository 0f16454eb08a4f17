/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Well-formed UTF-8, wherever in a text the bytes stand: the check takes ASCII eight bytes at a
 * time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/utf8.h"

static const struct {
	const char *bytes;
	bool valid;
} cases[] = {
	{"", true},
	{"a", true},
	{"\x7f", true},
	{"\xc2\x80", true},
	{"\xdf\xbf", true},
	{"\xe0\xa0\x80", true},
	{"\xed\x9f\xbf", true},
	{"\xef\xbf\xbf", true},
	{"\xf0\x90\x80\x80", true},
	{"\xf4\x8f\xbf\xbf", true},
	{"\x80", false},
	{"\xc0\x80", false},
	{"\xc1\xbf", false},
	{"\xc2", false},
	{"\xc2\x41", false},
	{"\xe0\x9f\xbf", false},
	{"\xe1\x80", false},
	{"\xed\xa0\x80", false},
	{"\xf0\x8f\xbf\xbf", false},
	{"\xf0\x90\x80", false},
	{"\xf4\x90\x80\x80", false},
	{"\xf5\x80\x80\x80", false},
	{"\xff", false},
};

/* Each case with 0 to 20 letters in front and behind, in memory of just that size. */
static void test_everywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		size_t n = strlen(cases[i].bytes);
		for (size_t before = 0; before <= 20; before++) {
			for (size_t behind = 0; behind <= 20; behind++) {
				size_t all = before + n + behind;
				char *s = ing_alloc(all + (all == 0));
				memset(s, 'x', all);
				memcpy(s + before, cases[i].bytes, n);
				if (ing_utf8_valid(s, all) != cases[i].valid)
					fail_msg("case %zu, %zu before, %zu behind", i, before,
						behind);
				free(s);
			}
		}
	}
}

static void test_code_points(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t point;
	} good[] = {{"\x01", 1}, {"\x7f", 0x7f}, {"\xc2\x80", 0x80}, {"\xdf\xbf", 0x7ff},
		{"\xe0\xa0\x80", 0x800}, {"\xed\x9f\xbf", 0xd7ff}, {"\xef\xbf\xbf", 0xffff},
		{"\xf0\x90\x80\x80", 0x10000}, {"\xf4\x8f\xbf\xbf", 0x10ffff}};
	static const uint32_t bad[] = {0xd800, 0xdfff, 0x110000, UINT32_MAX};
	char utf8[ING_UTF8_BYTES];
	uint32_t c;
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(good); i++) {
		size_t n = strlen(good[i].bytes);
		assert_int_equal(ing_utf8_decode(good[i].bytes, n, &c), n);
		assert_int_equal(c, good[i].point);
		assert_int_equal(ing_utf8_encode(c, utf8), n);
		assert_memory_equal(utf8, good[i].bytes, n);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		assert_int_equal(ing_utf8_encode(bad[i], utf8), 3);
		assert_memory_equal(utf8, "\xef\xbf\xbd", 3);
	}
	assert_int_equal(ing_utf8_encode(0, utf8), 1);
	assert_int_equal(utf8[0], 0);
	assert_int_equal(ing_utf8_decode("\xe2\x82", 2, &c), 1); /* cut */
	assert_int_equal(c, 0xfffd);
}

static void test_utf16_units(void **state)
{
	(void)state;
	assert_int_equal(ing_utf8_utf16_units("", 0), 0);
	assert_int_equal(ing_utf8_utf16_units("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10), 5);
}

/* Every length, as bytes are counted sixteen at a time and sums of 127 times sixteen. */
static void test_utf16_units_of_long_texts(void **state)
{
	static const struct {
		const char *bytes;
		size_t units;
	} chars[] = {{"a", 1}, {"\xc3\xa9", 1}, {"\xe2\x82\xac", 1}, {"\xf0\x9f\x98\x80", 2},
		{"\xf4\x8f\xbf\xbf", 2}};
	const size_t room = (size_t)3 * 127 * 16;
	(void)state;
	for (size_t i = 0; i <= ING_ARRAY_LEN(chars); i++) { /* the last time all of them in turn */
		char *s = ing_alloc(room + ING_UTF8_BYTES);
		size_t bytes = 0, units = 0;
		for (size_t k = 0; bytes < room; k++) {
			size_t c = i < ING_ARRAY_LEN(chars) ? i : k * 7 / 3 % ING_ARRAY_LEN(chars);
			memcpy(s + bytes, chars[c].bytes, strlen(chars[c].bytes));
			bytes += strlen(chars[c].bytes);
			units += chars[c].units;
			if (ing_utf8_utf16_units(s, bytes) != units)
				fail_msg("characters %zu: %zu bytes", i, bytes);
		}
		free(s);
	}
}

static void a_run_of_ascii_ends_with_the_first_other_byte(void **state)
{
	(void)state;
	char text[40];
	for (size_t bytes = 0; bytes <= sizeof(text); bytes++) {
		memset(text, 'a', sizeof(text));
		assert_int_equal(ing_utf8_ascii_run(text, bytes), bytes);
		for (size_t at = bytes; at-- > 0;) {
			text[at] = at % 2 == 0 ? '\x80' : '\xff';
			assert_int_equal(ing_utf8_ascii_run(text, bytes), at);
		}
	}
}

/* Sixteen bytes are looked at together, of a text that is long enough: each wrong byte is seen at every place. */
static void a_long_text_is_as_valid_as_its_sequences(void **state)
{
	static const char *const units[] = {"a", "\xc3\xa9", "\xe0\xa0\x80", "\xed\x9f\xbf",
		"\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "abcdefgh", "\xc3\xa9 "};
	unsigned seed = 1;
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		char text[120];
		size_t bytes = 0;
		while (bytes < 100) {
			seed = seed * 1103515245u + 12345u;
			size_t k = round % 3 == 0 ? round % ING_ARRAY_LEN(units)
						  : (seed >> 16) % ING_ARRAY_LEN(units);
			memcpy(text + bytes, units[k], strlen(units[k]));
			bytes += strlen(units[k]);
		}
		seed = seed * 1103515245u + 12345u;
		if (round % 4 != 0)
			text[(seed >> 8) % bytes] = (char)(seed >> 20);
		bytes -= (seed >> 4) % 50;
		size_t at = 0, n = 1;
		while (at < bytes && (n = ing_utf8_sequence(text + at, bytes - at)) > 0)
			at += n;
		char *exact = malloc(bytes); /* the sanitizer sees what is read beyond it */
		memcpy(exact, text, bytes);
		assert_int_equal(ing_utf8_valid(exact, bytes), at == bytes);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_of_ascii_ends_with_the_first_other_byte),
		cmocka_unit_test(a_long_text_is_as_valid_as_its_sequences),
		cmocka_unit_test(test_everywhere),
		cmocka_unit_test(test_code_points),
		cmocka_unit_test(test_utf16_units),
		cmocka_unit_test(test_utf16_units_of_long_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
