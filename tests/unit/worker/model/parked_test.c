/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Headers of parked requests: what is written reads back, and what is malformed is as if it was not
 * there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/model/parked.h"

static void what_is_written_reads_back(void **state)
{
	(void)state;
	static const struct ing_parked all[] = {
		{2, 1764000060000, 1764000000000, "example.org", "ingest-file-requests-bulk", 0, 3},
		{ING_PARKED_MAX_ATTEMPT, 0, 0, "[2001:db8::1]", "r", ING_PARKED_MAX_ATTEMPT, 0},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++) {
		struct ing_parked_text text;
		struct ing_header headers[ING_PARKED_HEADERS];
		struct ing_parked p;
		size_t n = ing_parked_format(&all[i], &text, headers);
		assert_int_equal(n, all[i].replays > 0 ? ING_PARKED_HEADERS : 6);
		ing_parked_parse(headers, n, &p);
		assert_int_equal(p.replays, all[i].replays);
		assert_int_equal(p.parkings, all[i].parkings);
		assert_int_equal(p.attempt, all[i].attempt);
		assert_int_equal(p.not_before_ms, all[i].not_before_ms);
		assert_int_equal(p.first_seen_ms, all[i].first_seen_ms);
		assert_string_equal(p.host, all[i].host);
		assert_string_equal(p.origin, all[i].origin);
	}
}

static void a_message_without_headers_is_due(void **state)
{
	(void)state;
	struct ing_parked p = {9, 9, 9, "x", "x", 9, 9};
	ing_parked_parse(NULL, 0, &p);
	assert_int_equal(p.replays, 0);
	assert_int_equal(p.parkings, 0);
	assert_int_equal(p.attempt, 0);
	assert_int_equal(p.not_before_ms, 0);
	assert_int_equal(p.first_seen_ms, 0);
	assert_null(p.host);
	assert_null(p.origin);
}

static char long_text[ING_PARKED_VALUE_BYTES + 1];

static void malformed_headers_are_as_if_absent(void **state)
{
	(void)state;
	memset(long_text, 'a', sizeof(long_text) - 1);
	static const struct {
		const char *name, *value;
	} cases[] = {
		{"attempt", ""},
		{"attempt", "-1"},
		{"attempt", "+1"},
		{"attempt", " 1"},
		{"attempt", "1 "},
		{"attempt", "0x1"},
		{"attempt", "1001"},
		{"attempt", "18446744073709551617"},
		{"attempt", NULL},
		{"Attempt", "1"},
		{"not-before", "1e3"},
		{"not-before", "-5"},
		{"not-before", "100000000000001"},
		{"not-before", "9223372036854775808"},
		{"first-seen", "2025-11-24"},
		{"host", ""},
		{"host", "a b"},
		{"host", "a\n"},
		{"host", "\xc3\xa4.example"},
		{"host", long_text},
		{"origin", "\x7f"},
		{"origin", long_text},
		{NULL, "1"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_parked p;
		const struct ing_header h = {cases[i].name, cases[i].value};
		ing_parked_parse(&h, 1, &p);
		if (p.attempt != 0 || p.not_before_ms != 0 || p.first_seen_ms != 0 ||
			p.host != NULL || p.origin != NULL)
			fail_msg("case %zu", i);
	}
}

static void the_last_header_of_a_name_counts(void **state)
{
	(void)state;
	static const struct ing_header headers[] = {{"host", "one"}, {"trace", "x"},
		{"host", "two"}, {"attempt", "2"}, {"attempt", "?"}};
	struct ing_parked p;
	ing_parked_parse(headers, ING_ARRAY_LEN(headers), &p);
	assert_string_equal(p.host, "two");
	assert_int_equal(p.attempt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(a_message_without_headers_is_due),
		cmocka_unit_test(malformed_headers_are_as_if_absent),
		cmocka_unit_test(the_last_header_of_a_name_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
