/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strings and dates of PDFs: the encodings that the standard has, those that producers write, and
 * what is wrong about them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/pdf_string.h"

#define STRING(s) s, sizeof(s) - 1

/* clang-format off */
static const struct {
	const char *name, *raw;
	size_t bytes;
	const char *want;
	bool undecodable;
} strings[] = {
	{"empty", STRING(""), "", false},
	{"ASCII", STRING("Tides, a review"), "Tides, a review", false},
	{"PDFDocEncoding", STRING("\x80\x85\x92\x93\x94\x9e\xa0\xe9\xff"), "•–™ﬁﬂž€éÿ", false},
	{"accents of PDFDocEncoding", STRING("\x18\x1f\xe9"), "˘˜é", false},
	{"bytes that PDFDocEncoding lacks", STRING("a\x9f\xad\xe9"), "a\uFFFD\uFFFDé", false},
	{"UTF-8 without a mark", STRING("\xc3\xa9t\xc3\xa9"), "été", false},
	{"a mark of UTF-8", STRING("\xef\xbb\xbf\xc3\xa9"), "é", false},
	{"a mark of UTF-8 that lies", STRING("\xef\xbb\xbf\xe9t"), "\uFFFDt", true},
	{"UTF-16BE", STRING("\xfe\xff\0A\x6f\x22"), "A漢", false},
	{"UTF-16LE", STRING("\xff\xfe" "A\0\x22\x6f"), "A漢", false},
	{"a surrogate pair", STRING("\xfe\xff\xd8\x35\xdc\xb3"), "𝒳", false},
	{"a high surrogate alone", STRING("\xfe\xff\xd8\x35\0A"), "\uFFFDA", true},
	{"a high surrogate at the end", STRING("\xfe\xff\0A\xd8\x35"), "A\uFFFD", true},
	{"a low surrogate alone", STRING("\xfe\xff\xdc\xb3\0A"), "\uFFFDA", true},
	{"half a unit at the end", STRING("\xfe\xff\0A\0"), "A", false},
	{"a mark alone", STRING("\xfe\xff"), "", false},
	{"a language code", STRING("\xfe\xff\0\x1b\0d\0e\0\x1b\0Z"), "Z", false},
	{"a language code without end", STRING("\xfe\xff\0Z\0\x1b\0d\0e"), "Z", false},
	{"controls", STRING("a\x01" "b\tc\nd\x7f" "e"), "a b\tc\nd e", false},
	{"padding", STRING("Tides\0\0\0"), "Tides", false},
};

static const struct {
	const char *raw, *want;
} dates[] = {
	{"D:20190422133000+02'00'", "2019-04-22T13:30:00+02:00"},
	{"D:20190422133000-05'30", "2019-04-22T13:30:00-05:30"},
	{"D:20190422133000-0530", "2019-04-22T13:30:00-05:30"},
	{"D:20190422133000+02", "2019-04-22T13:30:00+02:00"},
	{"D:20190422133000+00'00'", "2019-04-22T13:30:00Z"},
	{"D:20190422133000Z00'00'", "2019-04-22T13:30:00Z"},
	{"D:20190422133000", "2019-04-22T13:30:00Z"},
	{"D:201904221330", "2019-04-22T13:30:00Z"},
	{"D:201904", "2019-04-01T00:00:00Z"},
	{"D:2019", "2019-01-01T00:00:00Z"},
	{"20190422133000Z", "2019-04-22T13:30:00Z"},
	{"D:20191322133000", NULL},
	{"D:20190432", NULL},
	{"D:20190422250000", NULL},
	{"D:20190422133000+25'00'", NULL},
	{"D:20190422133000+02'77'", NULL},
	{"D:00000101", NULL},
	{"D:199", NULL},
	{"D:", NULL},
	{"", NULL},
	{"Monday", NULL},
};
/* clang-format on */

static void strings_become_utf8(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(strings); i++) {
		bool undecodable = false;
		char *got = ing_pdf_string(strings[i].raw, strings[i].bytes, 1000, &undecodable);
		print_message("%s\n", strings[i].name);
		assert_string_equal(got, strings[i].want);
		assert_int_equal(undecodable, strings[i].undecodable);
		free(got);
	}
}

static void long_strings_are_cut_between_characters(void **state)
{
	static const char kanji[] = "\xfe\xff\x6f\x22\x6f\x22\x6f\x22";
	char *raw = ing_alloc(1 << 20);
	bool undecodable = false;
	(void)state;
	char *got = ing_pdf_string(STRING(kanji), 8, &undecodable);
	assert_string_equal(got, "漢漢");
	free(got);
	memset(raw, 0xe9, 1 << 20);
	got = ing_pdf_string(raw, 1 << 20, 1001, &undecodable);
	assert_int_equal(strlen(got), 1000);
	assert_true(ing_utf8_valid(got, 1000));
	assert_false(undecodable);
	free(got);
	free(raw);
}

/* Where a long one is cut says nothing about its encoding. */
static void a_long_string_stays_decodable(void **state)
{
	static const struct {
		const char *mark, *character;
		size_t mark_bytes, character_bytes;
		const char *begins;
	} kinds[] = {
		{"", "\xc3\xa9", 0, 2, "éé"},
		{"\xef\xbb\xbf", "\xe6\xbc\xa2", 3, 3, "漢漢"},
		{"\xfe\xff", "\xd8\x35\xdc\xb3", 2, 4, "𝒳𝒳"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		struct ing_buf raw;
		ing_buf_init(&raw, 10000);
		ing_buf_add(&raw, kinds[i].mark, kinds[i].mark_bytes);
		while (raw.len < 5000)
			ing_buf_add(&raw, kinds[i].character, kinds[i].character_bytes);
		for (size_t max_bytes = 96; max_bytes < 104; max_bytes++) {
			bool undecodable = false;
			char *got = ing_pdf_string(raw.data, raw.len, max_bytes, &undecodable);
			assert_false(undecodable);
			assert_memory_equal(got, kinds[i].begins, strlen(kinds[i].begins));
			assert_in_range(strlen(got), max_bytes - 3, max_bytes);
			assert_null(strstr(got, "\uFFFD"));
			free(got);
		}
		ing_buf_done(&raw);
	}
}

static void dates_become_rfc_3339(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(dates); i++) {
		char *got = ing_pdf_date(dates[i].raw);
		print_message("%s\n", dates[i].raw);
		if (dates[i].want == NULL)
			assert_null(got);
		else
			assert_string_equal(got, dates[i].want);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_become_utf8),
		cmocka_unit_test(long_strings_are_cut_between_characters),
		cmocka_unit_test(a_long_string_stays_decodable),
		cmocka_unit_test(dates_become_rfc_3339),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
