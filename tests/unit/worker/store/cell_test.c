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
static const struct ing_column number = {"c", ING_CELL_SIGNED, false, ING_OVER_NULL, 0, 0};
static const struct ing_column number_key = {"c", ING_CELL_SIGNED, true, ING_OVER_NULL, 0, 0};
static const struct ing_column word4 = {"c", ING_CELL_WORD, false, ING_OVER_NULL, 4, 0};
static const struct ing_column doi_key9 = {"c", ING_CELL_DOI, true, ING_OVER_NULL, 9, 0};
static const struct ing_column json_key = {"c", ING_CELL_JSON, true, ING_OVER_NULL, 0, 0};
static const struct ing_column real = {"c", ING_CELL_REAL, false, ING_OVER_NULL, 0, 0};
static const struct ing_column boolean = {"c", ING_CELL_BOOL, false, ING_OVER_NULL, 0, 0};

static const struct {
	const char *name;
	const struct ing_column *col;
	/* clang-format off */
	struct ing_cell cell;
	const char *want;
} cells[] = {
	{.name = "plain", .col = &text, .cell = {.text = "abc"}, .want = "abc"},
	{.name = "absent", .col = &text, .cell = {.text = NULL}, .want = "\\N"},
	{.name = "empty is NULL", .col = &text, .cell = {.text = ""}, .want = "\\N"},
	{.name = "looks like NULL", .col = &text, .cell = {.text = "\\N"}, .want = "\\\\N"},
	{.name = "looks like the end", .col = &text, .cell = {.text = "\\."}, .want = "\\\\."},
	{.name = "every special", .col = &text, .cell = {.text = "a\\b\nc\rd\te"},
		.want = "a\\\\b\\nc\\rd\\te"},
	{.name = "special at the ends", .col = &text, .cell = {.text = "\t\n"}, .want = "\\t\\n"},
	{.name = "other controls stay", .col = &text, .cell = {.text = "\x01\x0b\x7f"},
		.want = "\x01\x0b\x7f"},
	{.name = "UTF-8 stays", .col = &text, .cell = {.text = "\xc3\xa9\xf0\x9f\x98\x80"},
		.want = "\xc3\xa9\xf0\x9f\x98\x80"},
	{.name = "bad byte", .col = &text, .cell = {.text = "a\xff" "b"},
		.want = "a\xef\xbf\xbd" "b"},
	{.name = "surrogate bytes", .col = &text, .cell = {.text = "\xed\xa0\x80"},
		.want = "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{.name = "cut sequence", .col = &text, .cell = {.text = "a\xe2\x82"},
		.want = "a\xef\xbf\xbd\xef\xbf\xbd"},
	{.name = "bad byte and special", .col = &text, .cell = {.text = "\xfe\\"},
		.want = "\xef\xbf\xbd\\\\"},
	{.name = "as long as allowed", .col = &text_cut5, .cell = {.text = "12345"},
		.want = "12345"},
	{.name = "cut", .col = &text_cut5, .cell = {.text = "123456"}, .want = "12345"},
	{.name = "cut before a character", .col = &text_cut5, .cell = {.text = "123\xe2\x82\xac"},
		.want = "123"},
	{.name = "over-long left out", .col = &text_null5, .cell = {.text = "123456"},
		.want = "\\N"},
	{.name = "over-long after cleaning", .col = &text_null5, .cell = {.text = "123\xff"},
		.want = "\\N"},
	{.name = "key", .col = &text_key5, .cell = {.text = "12345"}, .want = "12345"},
	{.name = "over-long key", .col = &text_key5, .cell = {.text = "123456"}, .want = DROPPED},
	{.name = "empty key", .col = &text_key5, .cell = {.text = ""}, .want = DROPPED},
	{.name = "absent key", .col = &text_key5, .cell = {.text = NULL}, .want = DROPPED},
	{.name = "hex", .col = &hex4, .cell = {.text = "09af"}, .want = "09af"},
	{.name = "hex in capitals", .col = &hex4, .cell = {.text = "AbCd"}, .want = "abcd"},
	{.name = "hex too short", .col = &hex4, .cell = {.text = "abc"}, .want = "\\N"},
	{.name = "hex too long", .col = &hex4, .cell = {.text = "abcde"}, .want = "\\N"},
	{.name = "hex with others", .col = &hex4, .cell = {.text = "abc\t"}, .want = "\\N"},
	{.name = "hex key that is none", .col = &hex4_key, .cell = {.text = "zzzz"},
		.want = DROPPED},
	{.name = "14 digits", .col = &dt14, .cell = {.text = "20260131235959"},
		.want = "20260131235959"},
	{.name = "13 digits", .col = &dt14, .cell = {.text = "2026013123595"}, .want = "\\N"},
	{.name = "15 digits", .col = &dt14, .cell = {.text = "202601312359590"}, .want = "\\N"},
	{.name = "not digits", .col = &dt14, .cell = {.text = "2026-01-31T23:"}, .want = "\\N"},
	{.name = "time", .col = &when, .cell = {.text = "2026-01-31T23:59:59Z"},
		.want = "2026-01-31T23:59:59Z"},
	{.name = "no time", .col = &when, .cell = {.text = "yesterday"}, .want = "\\N"},
	{.name = "json", .col = &json, .cell = {.text = "{\"a\": \"\\n\"}"},
		.want = "{\"a\": \"\\\\n\"}"},
	{.name = "json with bad bytes", .col = &json, .cell = {.text = "{\"\xff\":1}"},
		.want = "{\"\xef\xbf\xbd\":1}"},
	{.name = "json absent", .col = &json, .cell = {.text = NULL}, .want = "\\N"},
	{.name = "json empty", .col = &json, .cell = {.text = ""}, .want = "\\N"},
	{.name = "number", .col = &integer, .cell = {.number = 2147483647}, .want = "2147483647"},
	{.name = "number past its column", .col = &integer, .cell = {.number = 2147483648},
		.want = "\\N"},
	{.name = "negative", .col = &integer, .cell = {.number = -1}, .want = "\\N"},
	{.name = "zero", .col = &integer, .cell = {.number = 0}, .want = "0"},
	{.name = "largest", .col = &bigint, .cell = {.number = INT64_MAX},
		.want = "9223372036854775807"},
	{.name = "signed", .col = &number, .cell = {.number = -4}, .want = "-4"},
	{.name = "signed, least", .col = &number, .cell = {.number = INT_MIN}, .want = "-2147483648"},
	{.name = "signed, too small", .col = &number, .cell = {.number = INT_MIN - 1L},
		.want = "\\N"},
	{.name = "signed, too large", .col = &number_key, .cell = {.number = INT_MAX + 1L},
		.want = DROPPED},
	{.name = "word", .col = &word4, .cell = {.text = "aB3z"}, .want = "ab3z"},
	{.name = "word too short", .col = &word4, .cell = {.text = "aB3"}, .want = "\\N"},
	{.name = "word with others", .col = &word4, .cell = {.text = "a-3z"}, .want = "\\N"},
	{.name = "DOI", .col = &doi_key9, .cell = {.text = "10.1/A\\\xc3\x84"},
		.want = "10.1/a\\\\\xc3\x84"},
	{.name = "DOI too long", .col = &doi_key9, .cell = {.text = "10.1/AbCdE"}, .want = DROPPED},
	{.name = "DOI too short", .col = &doi_key9, .cell = {.text = "10."}, .want = DROPPED},
	{.name = "JSON key absent", .col = &json_key, .cell = {.text = NULL}, .want = DROPPED},
	{.name = "real", .col = &real, .cell = {.real = 841.89}, .want = "841.89"},
	{.name = "real zero", .col = &real, .cell = {.real = 0}, .want = "\\N"},
	{.name = "real negative", .col = &real, .cell = {.real = -1}, .want = "\\N"},
	{.name = "real past single", .col = &real, .cell = {.real = 1e39}, .want = "\\N"},
	{.name = "real below single", .col = &real, .cell = {.real = 1e-40}, .want = "\\N"},
	{.name = "real not a number", .col = &real, .cell = {.real = NAN}, .want = "\\N"},
	{.name = "real infinite", .col = &real, .cell = {.real = INFINITY}, .want = "\\N"},
	{.name = "true", .col = &boolean, .cell = {.number = 1}, .want = "t"},
	{.name = "false", .col = &boolean, .cell = {.number = 0}, .want = "f"},
};
/* clang-format on */

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
