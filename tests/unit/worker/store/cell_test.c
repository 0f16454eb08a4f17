/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values on their way into a COPY stream: what becomes of hostile ones.
 */
#include "worker/store/cell.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DROPPED "(row dropped)"

static const struct ing_column text = {"c", ING_CELL_TEXT, false, ING_OVER_CUT, 0, 0};
static const struct ing_column text_cut5 = {"c", ING_CELL_TEXT, false, ING_OVER_CUT, 5, 0};
static const struct ing_column text_null5 = {"c", ING_CELL_TEXT, false, ING_OVER_NULL, 5, 0};
static const struct ing_column text_key5 = {"c", ING_CELL_TEXT, true, ING_OVER_CUT, 5, 0};
static const struct ing_column hex4 = {"c", ING_CELL_HEX, false, ING_OVER_NULL, 4, 0};
static const struct ing_column hex4_key = {"c", ING_CELL_HEX, true, ING_OVER_NULL, 4, 0};
static const struct ing_column dt14 = {"c", ING_CELL_DT14, false, ING_OVER_NULL, 0, 0};
static const struct ing_column when = {"c", ING_CELL_TIME, false, ING_OVER_NULL, 0, 0};
static const struct ing_column json = {"c", ING_CELL_JSON, false, ING_OVER_NULL, 0, 0};
static const struct ing_column integer = {"c", ING_CELL_INT, false, ING_OVER_NULL, 0, INT_MAX};
static const struct ing_column bigint = {"c", ING_CELL_INT, false, ING_OVER_NULL, 0, INT64_MAX};
static const struct ing_column real = {"c", ING_CELL_REAL, false, ING_OVER_NULL, 0, 0};
static const struct ing_column boolean = {"c", ING_CELL_BOOL, false, ING_OVER_NULL, 0, 0};

static const struct {
	const char *name;
	const struct ing_column *col;
	struct ing_cell cell;
	const char *want;
} cells[] = {
	{"plain", &text, {.text = "abc"}, "abc"},
	{"absent", &text, {.text = NULL}, "\\N"},
	{"empty is NULL", &text, {.text = ""}, "\\N"},
	{"looks like NULL", &text, {.text = "\\N"}, "\\\\N"},
	{"looks like the end", &text, {.text = "\\."}, "\\\\."},
	{"every special", &text, {.text = "a\\b\nc\rd\te"}, "a\\\\b\\nc\\rd\\te"},
	{"special at the ends", &text, {.text = "\t\n"}, "\\t\\n"},
	{"other controls stay", &text, {.text = "\x01\x0b\x7f"}, "\x01\x0b\x7f"},
	{"UTF-8 stays", &text, {.text = "\xc3\xa9\xf0\x9f\x98\x80"}, "\xc3\xa9\xf0\x9f\x98\x80"},
	{"bad byte", &text,
		{.text = "a\xff"
			 "b"},
		"a\xef\xbf\xbd"
		"b"},
	{"surrogate bytes", &text, {.text = "\xed\xa0\x80"},
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"cut sequence", &text, {.text = "a\xe2\x82"}, "a\xef\xbf\xbd\xef\xbf\xbd"},
	{"bad byte and special", &text, {.text = "\xfe\\"}, "\xef\xbf\xbd\\\\"},
	{"as long as allowed", &text_cut5, {.text = "12345"}, "12345"},
	{"cut", &text_cut5, {.text = "123456"}, "12345"},
	{"cut before a character", &text_cut5, {.text = "123\xe2\x82\xac"}, "123"},
	{"over-long left out", &text_null5, {.text = "123456"}, "\\N"},
	{"over-long after cleaning", &text_null5, {.text = "123\xff"}, "\\N"},
	{"key", &text_key5, {.text = "12345"}, "12345"},
	{"over-long key", &text_key5, {.text = "123456"}, DROPPED},
	{"empty key", &text_key5, {.text = ""}, DROPPED},
	{"absent key", &text_key5, {.text = NULL}, DROPPED},
	{"hex", &hex4, {.text = "09af"}, "09af"},
	{"hex in capitals", &hex4, {.text = "AbCd"}, "abcd"},
	{"hex too short", &hex4, {.text = "abc"}, "\\N"},
	{"hex too long", &hex4, {.text = "abcde"}, "\\N"},
	{"hex with others", &hex4, {.text = "abc\t"}, "\\N"},
	{"hex key that is none", &hex4_key, {.text = "zzzz"}, DROPPED},
	{"14 digits", &dt14, {.text = "20260131235959"}, "20260131235959"},
	{"13 digits", &dt14, {.text = "2026013123595"}, "\\N"},
	{"15 digits", &dt14, {.text = "202601312359590"}, "\\N"},
	{"not digits", &dt14, {.text = "2026-01-31T23:"}, "\\N"},
	{"time", &when, {.text = "2026-01-31T23:59:59Z"}, "2026-01-31T23:59:59Z"},
	{"no time", &when, {.text = "yesterday"}, "\\N"},
	{"json", &json, {.text = "{\"a\": \"\\n\"}"}, "{\"a\": \"\\\\n\"}"},
	{"json with bad bytes", &json, {.text = "{\"\xff\":1}"}, "{\"\xef\xbf\xbd\":1}"},
	{"json absent", &json, {.text = NULL}, "\\N"},
	{"json empty", &json, {.text = ""}, "\\N"},
	{"number", &integer, {.number = 2147483647}, "2147483647"},
	{"number past its column", &integer, {.number = 2147483648}, "\\N"},
	{"negative", &integer, {.number = -1}, "\\N"},
	{"zero", &integer, {.number = 0}, "0"},
	{"largest", &bigint, {.number = INT64_MAX}, "9223372036854775807"},
	{"real", &real, {.real = 841.89}, "841.89"},
	{"real zero", &real, {.real = 0}, "\\N"},
	{"real negative", &real, {.real = -1}, "\\N"},
	{"real past single", &real, {.real = 1e39}, "\\N"},
	{"real below single", &real, {.real = 1e-40}, "\\N"},
	{"real not a number", &real, {.real = NAN}, "\\N"},
	{"real infinite", &real, {.real = INFINITY}, "\\N"},
	{"true", &boolean, {.number = 1}, "t"},
	{"false", &boolean, {.number = 0}, "f"},
};

static void cells_are_made_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cells); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		bool kept = ing_cell_write(cells[i].col, &cells[i].cell, &out);
		const char *got = kept ? ing_buf_str(&out) : DROPPED;
		if (strcmp(got, cells[i].want) != 0)
			fail_msg("%s: got \"%s\", want \"%s\"", cells[i].name, got, cells[i].want);
		ing_buf_done(&out);
	}
}

static const struct {
	const char *name, *json, *want;
} fits[] = {
	{"untouched", "{\"a\": [1, -2.5e10, true, null, \"x\"]}",
		"{\"a\": [1, -2.5e10, true, null, \"x\"]}"},
	{"U+0000", "\"a\\u0000b\"", "\"a\\ufffdb\""},
	{"U+0000 as a key", "{\"\\u0000\":1}", "{\"\\ufffd\":1}"},
	{"escaped backslash before u0000", "\"\\\\u0000\"", "\"\\\\u0000\""},
	{"backslashes before U+0000", "\"\\\\\\u0000\"", "\"\\\\\\ufffd\""},
	{"surrogate pair", "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\""},
	{"lone high", "\"\\ud83dx\"", "\"\\ufffdx\""},
	{"two highs, one low", "\"\\uD83D\\uD83D\\uDE00\"", "\"\\ufffd\\uD83D\\uDE00\""},
	{"lone low", "\"\\ude00\"", "\"\\ufffd\""},
	{"high at the end", "\"\\ud83d\"", "\"\\ufffd\""},
	{"raw control", "\"a\nb\x01\"", "\"a\\u000ab\\u0001\""},
	{"escaped quote", "\"a\\\"b\\u0000\"", "\"a\\\"b\\ufffd\""},
	{"large exponent", "[1e400000]", "[\"1e400000\"]"},
	{"small exponent", "[-1E-400000]", "[\"-1E-400000\"]"},
	{"exponent past long", "[1e99999999999999999999]", "[\"1e99999999999999999999\"]"},
	{"exponent allowed", "[1e+300,1e-300]", "[1e+300,1e-300]"},
	{"number in a string", "[\"1e400000\"]", "[\"1e400000\"]"},
	{"ends in a string", "\"abc", "\"abc"},
	{"ends in an escape", "\"\\", "\"\\"},
	{"ends in a unit", "\"\\u00", "\"\\u00"},
	{"ends in a number", "-", "-"},
	{"empty", "", ""},
};

static void json_is_made_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(fits); i++) {
		/* Of its exact size, so that the sanitizer sees one byte too many. */
		size_t n = strlen(fits[i].json);
		char *exact = malloc(n + 1);
		assert_non_null(exact);
		memcpy(exact, fits[i].json, n);
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		ing_json_fit(exact, n, &out);
		if (strcmp(ing_buf_str(&out), fits[i].want) != 0)
			fail_msg("%s: got %s, want %s", fits[i].name, ing_buf_str(&out),
				fits[i].want);
		ing_buf_done(&out);
		free(exact);
	}
}

static void long_numbers_become_strings(void **state)
{
	(void)state;
	char digits[1000];
	memset(digits, '7', sizeof(digits));
	struct ing_buf out;
	ing_buf_init(&out, 4096);
	ing_json_fit(digits, sizeof(digits), &out);
	assert_int_equal(out.len, sizeof(digits) + 2);
	assert_int_equal(out.data[0], '"');
	assert_int_equal(out.data[out.len - 1], '"');
	ing_buf_done(&out);
}

static const struct {
	const char *text;
	bool want;
} times[] = {
	{"2026-11-21T11:00:00Z", true},
	{"2026-11-21t11:00:00z", true},
	{"2026-11-21 11:00:00.123456+05:30", true},
	{"2024-02-29T00:00:00-15:59", true},
	{"2000-02-29T00:00:00Z", true},
	{"1900-02-29T00:00:00Z", false},
	{"2026-02-29T00:00:00Z", false},
	{"0000-01-01T00:00:00Z", false},
	{"2026-00-10T00:00:00Z", false},
	{"2026-13-10T00:00:00Z", false},
	{"2026-01-32T00:00:00Z", false},
	{"2026-01-00T00:00:00Z", false},
	{"2026-01-10T24:00:00Z", false},
	{"2026-01-10T23:60:00Z", false},
	{"2026-01-10T23:59:60Z", true},
	{"2026-01-10T23:59:61Z", false},
	{"2026-01-10T00:00:00+16:00", false},
	{"2026-01-10T00:00:00+01:60", false},
	{"2026-01-10T00:00:00.Z", false},
	{"2026-01-10T00:00:00.1234567890Z", false},
	{"2026-01-10T00:00:00", false},
	{"2026-01-10T00:00:00Zjunk", false},
	{"2026-01-10T00:00:00+1:00", false},
	{"2026-01-10", false},
	{"12026-01-10T00:00:00Z", false},
	{"", false},
	{"infinity", false},
};

static void times_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(times); i++) {
		if (ing_time_fits(times[i].text) != times[i].want)
			fail_msg(
				"\"%s\" is%s accepted", times[i].text, times[i].want ? " not" : "");
	}
}

static void a_ceiling_drops_json_not_memory(void **state)
{
	(void)state;
	struct ing_buf out;
	ing_buf_init(&out, 16);
	assert_true(ing_cell_write(
		&json, &(struct ing_cell){.text = "{\"aaaa\":\"bbbbbbbbbb\"}"}, &out));
	assert_string_equal(ing_buf_str(&out), "\\N");
	ing_buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_made_fit),
		cmocka_unit_test(json_is_made_fit),
		cmocka_unit_test(long_numbers_become_strings),
		cmocka_unit_test(times_are_checked),
		cmocka_unit_test(a_ceiling_drops_json_not_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
