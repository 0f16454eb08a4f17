/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts as JSON strings: what the JSON library reads back is what was given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/data/json_text.h"

static const struct {
	const char *text;
	size_t bytes;
	const char *json;
} cases[] = {
	{.text = "", .json = "\"\""},
	{.text = "plain", .bytes = 5, .json = "\"plain\""},
	{.text = "a\"b\\c/d", .bytes = 7, .json = "\"a\\\"b\\\\c/d\""},
	{.text = "\b\t\n\f\r", .bytes = 5, .json = "\"\\b\\t\\n\\f\\r\""},
	{.text = "\x01\x1f\x7f", .bytes = 3, .json = "\"\\u0001\\u001f\x7f\""},
	{.text = "a\0b", .bytes = 3, .json = "\"a\\u0000b\""},
	{.text = "\xc3\xa9\xf0\x9f\x92\xa9", .bytes = 6, .json = "\"\xc3\xa9\xf0\x9f\x92\xa9\""},
	{.text = "\n\n", .bytes = 2, .json = "\"\\n\\n\""},
};

static void writes_what_the_library_reads_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_buf b;
		ing_buf_init(&b, 1000);
		assert_true(ing_json_add_text(&b, cases[i].text, cases[i].bytes));
		assert_string_equal(ing_buf_str(&b), cases[i].json);
		json_t *v = ing_json_parse(b.data, b.len, &ing_json_own, NULL);
		assert_non_null(v);
		assert_int_equal(json_string_length(v), cases[i].bytes);
		assert_memory_equal(json_string_value(v), cases[i].text, cases[i].bytes);
		json_decref(v);
		ing_buf_done(&b);
	}
}

/* What is collected and what is copied at once keep their order. */
static void runs_of_any_length_between_escapes_are_written(void **state)
{
	static char text[8192], wanted[2 * sizeof(text)];
	(void)state;
	for (size_t run = 0; run < 1100; run++) {
		size_t n = 0, m = 0;
		wanted[m++] = '"';
		while (n + run + 2 < sizeof(text)) {
			memset(text + n, 'a' + (int)(n % 26), run);
			memcpy(wanted + m, text + n, run);
			n += run;
			m += run;
			text[n++] = '\n';
			text[n++] = '"';
			memcpy(wanted + m, "\\n\\\"", 4);
			m += 4;
		}
		wanted[m++] = '"';
		struct ing_buf b;
		ing_buf_init(&b, sizeof(wanted));
		assert_true(ing_json_add_text(&b, text, n));
		assert_int_equal(b.len, m);
		assert_memory_equal(b.data, wanted, m);
		ing_buf_done(&b);
	}
}

/* Eight bytes are looked at together: every byte, at every place of a text, after every other. */
static void a_byte_is_escaped_whatever_stands_around_it(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 0x100; c++) {
		for (size_t at = 0; at < 20; at++) {
			static const char around[] = {' ', '!', '#', '[', ']', '\x7f', 'a', '~'};
			char text[20], one[ING_ARRAY_LEN("\\u0000") + 2];
			struct ing_buf got, want, alone;
			ing_buf_init(&got, 200);
			ing_buf_init(&want, 200);
			ing_buf_init(&alone, sizeof(one));
			for (size_t i = 0; i < sizeof(text); i++)
				text[i] = around[(i + c) % sizeof(around)];
			text[at] = (char)c;
			one[0] = (char)c;
			assert_true(ing_json_add_text(&alone, one, 1));
			ing_buf_printf(&want, "\"%.*s", (int)at, text);
			ing_buf_add(&want, alone.data + 1, alone.len - 2);
			ing_buf_printf(
				&want, "%.*s\"", (int)(sizeof(text) - at - 1), text + at + 1);
			assert_int_equal(alone.len > 3, c < 0x20 || c == '"' || c == '\\');
			assert_true(ing_json_add_text(&got, text, sizeof(text)));
			assert_string_equal(ing_buf_str(&got), ing_buf_str(&want));
			ing_buf_done(&got);
			ing_buf_done(&want);
			ing_buf_done(&alone);
		}
	}
}

/* Of any length, with other bytes between them or none. */
static void texts_that_are_mostly_escapes_are_written(void **state)
{
	static const char *const patterns[] = {
		"\\", "\"", "\x01", "\n\x1f", "\\\\\\a", "ab\"cdefg\n\\"};
	(void)state;
	for (size_t p = 0; p < ING_ARRAY_LEN(patterns); p++) {
		size_t period = strlen(patterns[p]);
		for (size_t bytes = 0; bytes < 1100; bytes += 1 + bytes / 40) {
			char text[1100];
			struct ing_buf got, want;
			ing_buf_init(&got, 6 * sizeof(text) + 2);
			ing_buf_init(&want, 6 * sizeof(text) + 2);
			ing_buf_add_char(&want, '"');
			for (size_t i = 0; i < bytes; i++) {
				struct ing_buf one;
				ing_buf_init(&one, 8);
				text[i] = patterns[p][i % period];
				assert_true(ing_json_add_text(&one, text + i, 1));
				ing_buf_add(&want, one.data + 1, one.len - 2);
				ing_buf_done(&one);
			}
			ing_buf_add_char(&want, '"');
			assert_true(ing_json_add_text(&got, text, bytes));
			assert_string_equal(ing_buf_str(&got), ing_buf_str(&want));
			ing_buf_done(&got);
			ing_buf_done(&want);
		}
	}
}

static void stops_at_the_ceiling(void **state)
{
	(void)state;
	struct ing_buf b;
	ing_buf_init(&b, 6);
	assert_false(ing_json_add_text(&b, "plain", 5));
	assert_true(b.len <= 6);
	ing_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_what_the_library_reads_back),
		cmocka_unit_test(runs_of_any_length_between_escapes_are_written),
		cmocka_unit_test(a_byte_is_escaped_whatever_stands_around_it),
		cmocka_unit_test(texts_that_are_mostly_escapes_are_written),
		cmocka_unit_test(stops_at_the_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
