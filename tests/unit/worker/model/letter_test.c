/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Headers of dead letters: what is malformed is as if it was not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/model/letter.h"

static void a_whole_letter_is_read(void **state)
{
	(void)state;
	static const struct ing_header headers[] = {
		{ING_LETTER_TOPIC, "requests"},
		{ING_LETTER_PARTITION, "3"},
		{ING_LETTER_OFFSET, "9223372036854775807"},
		{ING_LETTER_MESSAGE, "words"},
		{ING_LETTER_REASON, "syntax"},
		{ING_LETTER_STAGE, "intake"},
		{ING_LETTER_POSITION, "1:2"},
		{ING_LETTER_TIME, "2026-11-21T11:00:00.000Z"},
		{ING_LETTER_VALUE_BYTES, "12"},
		{ING_LETTER_KEY_BYTES, "5000"},
		{ING_LETTER_REPLAYS, "1"},
		{ING_LETTER_REPLAYS, "2"}, /* the last one counts */
		{"attempt", "7"},
	};
	struct ing_letter l;
	ing_letter_parse(headers, ING_ARRAY_LEN(headers), &l);
	assert_string_equal(l.topic, "requests");
	assert_int_equal(l.partition, 3);
	assert_true(l.offset == INT64_MAX);
	assert_string_equal(l.message, "words");
	assert_string_equal(l.reason, "syntax");
	assert_string_equal(l.stage, "intake");
	assert_string_equal(l.position, "1:2");
	assert_string_equal(l.time, "2026-11-21T11:00:00.000Z");
	assert_int_equal(l.value_bytes, 12);
	assert_int_equal(l.key_bytes, 5000);
	assert_int_equal(l.replays, 2);
	assert_false(l.is_note);
}

static void numbers_are_decimal_and_in_range_or_not_there(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "x",
		"9223372036854775808", "99999999999999999999999"};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		const struct ing_header headers[] = {
			{ING_LETTER_PARTITION, bad[i]},
			{ING_LETTER_OFFSET, bad[i]},
			{ING_LETTER_VALUE_BYTES, bad[i]},
			{ING_LETTER_KEY_BYTES, bad[i]},
			{ING_LETTER_REPLAYS, bad[i]},
			{ING_LETTER_TOPIC, ""},
			{ING_LETTER_REASON, NULL},
			{NULL, "x"},
		};
		struct ing_letter l;
		ing_letter_parse(headers, ING_ARRAY_LEN(headers), &l);
		assert_int_equal(l.partition, -1);
		assert_int_equal(l.offset, -1);
		assert_int_equal(l.value_bytes, -1);
		assert_int_equal(l.key_bytes, -1);
		assert_int_equal(l.replays, 0);
		assert_null(l.topic);
		assert_null(l.reason);
	}
	struct ing_letter l;
	ing_letter_parse(&(struct ing_header){ING_LETTER_PARTITION, "2147483648"}, 1, &l);
	assert_int_equal(l.partition, -1);
	ing_letter_parse(&(struct ing_header){ING_LETTER_REPLAYS, "1000001"}, 1, &l);
	assert_int_equal(l.replays, 0);
}

static void places_of_letters(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool fits;
		int32_t partition;
		int64_t offset;
	} cases[] = {
		{"7", true, 0, 7},
		{"3:7", true, 3, 7},
		{"2147483647:9223372036854775807", true, INT32_MAX, INT64_MAX},
		{"2147483648:0", false, 0, 0},
		{"00000000000001:0", false, 0, 0},
		{"", false, 0, 0},
		{":", false, 0, 0},
		{":1", false, 0, 0},
		{"1:", false, 0, 0},
		{"1:2:3", false, 0, 0},
		{"-1:2", false, 0, 0},
		{"a", false, 0, 0},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		int32_t partition = -1;
		int64_t offset = -1;
		bool fits = ing_letter_read_place(cases[i].text, &partition, &offset);
		assert_int_equal(fits, cases[i].fits);
		assert_int_equal(partition, fits ? cases[i].partition : -1);
		assert_true(offset == (fits ? cases[i].offset : -1));
		struct ing_letter l;
		ing_letter_parse(&(struct ing_header){ING_LETTER_REPLAYED, cases[i].text}, 1, &l);
		assert_int_equal(l.is_note, fits);
	}
}

static void its_own_headers_are_told_from_those_of_its_death(void **state)
{
	(void)state;
	assert_true(ing_letter_has_header(ING_LETTER_TOPIC));
	assert_true(ing_letter_has_header(ING_LETTER_KEY_BYTES));
	assert_true(ing_letter_has_header("ingest.errors.deaths"));
	assert_false(ing_letter_has_header(ING_LETTER_REPLAYS));
	assert_false(ing_letter_has_header("attempt"));
	assert_false(ing_letter_has_header("ingest.errors"));
	assert_false(ing_letter_has_header(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_letter_is_read),
		cmocka_unit_test(numbers_are_decimal_and_in_range_or_not_there),
		cmocka_unit_test(places_of_letters),
		cmocka_unit_test(its_own_headers_are_told_from_those_of_its_death),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
