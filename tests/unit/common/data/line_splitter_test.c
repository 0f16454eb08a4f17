/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bytes to lines: each case is cut into chunks of every size from one byte up, which must make no
 * difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/line_splitter.h"

#define MAX_LINE 8

/* clang-format off */
static const struct {
	const char *name;
	const char *input;
	size_t input_bytes; /* 0: strlen */
	const char *want;   /* "number:text|" for each line */
} cases[] = {
	{.name = "empty input", .input = "", .want = ""},
	{.name = "one line", .input = "abc\n", .want = "1:abc|"},
	{.name = "no final newline", .input = "abc\ndef", .want = "1:abc|2:def|"},
	{.name = "only a fragment", .input = "x", .want = "1:x|"},
	{.name = "CR LF", .input = "abc\r\ndef\r\n", .want = "1:abc|2:def|"},
	{.name = "mixed ends", .input = "abc\r\ndef\nghi", .want = "1:abc|2:def|3:ghi|"},
	{.name = "a CR inside stays", .input = "a\rb\r\r\n", .want = "1:a\rb\r|"},
	{.name = "a CR at the very end stays: no newline came", .input = "a\r", .want = "1:a\r|"},
	{.name = "blank lines are skipped and counted", .input = "\n\na\n \t \n\r\nb\n\n",
		.want = "3:a|6:b|"},
	{.name = "blanks at the end", .input = "a\n   ", .want = "1:a|"},
	{.name = "a NUL is a byte", .input = "a\0b\n", .input_bytes = 4, .want = "1:a?b|"},
	{.name = "exactly the limit", .input = "12345678\n", .want = "1:12345678|"},
	{.name = "exactly the limit, CR LF", .input = "12345678\r\nx\n", .want = "1:12345678|2:x|"},
	{.name = "exactly the limit, no end", .input = "12345678", .want = "1:12345678|"},
	{.name = "one over", .input = "123456789\nx\n", .want = "1:123456789|2:x|"},
	{.name = "one over, CR LF", .input = "123456789\r\nx\n", .want = "1:123456789|2:x|"},
	{.name = "one over, no end", .input = "123456789", .want = "1:123456789|"},
	{.name = "far over is cut to one over", .input = "1234567890abcdefghij\nx\n",
		.want = "1:123456789|2:x|"},
	{.name = "far over, the last line", .input = "x\n1234567890abcdefghij",
		.want = "1:x|2:123456789|"},
	{.name = "two far over", .input = "1234567890abc\n1234567890abc\r\ny",
		.want = "1:123456789|2:123456789|3:y|"},
};
/* clang-format on */

static void take_lines(struct ing_line_splitter *s, struct ing_buf *got)
{
	struct ing_line line;
	while (ing_line_splitter_next(s, &line)) {
		ing_buf_printf(got, "%d:", (int)line.number);
		for (size_t i = 0; i < line.bytes; i++)
			ing_buf_add_char(got, line.text[i] == '\0' ? '?' : line.text[i]);
		ing_buf_add_char(got, '|');
	}
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *input = cases[i].input;
		size_t bytes = cases[i].input_bytes > 0 ? cases[i].input_bytes : strlen(input);
		print_message("  %s\n", cases[i].name);
		for (size_t step = 1; step <= bytes + 1; step++) {
			struct ing_line_splitter s;
			struct ing_buf got;
			ing_line_splitter_init(&s, MAX_LINE);
			ing_buf_init(&got, 1000);
			for (size_t at = 0; at < bytes; at += step) {
				ing_line_splitter_feed(&s, input + at, ING_MIN(step, bytes - at));
				take_lines(&s, &got);
			}
			ing_line_splitter_end(&s);
			take_lines(&s, &got);
			take_lines(&s, &got); /* the end stays the end */
			assert_string_equal(ing_buf_str(&got), cases[i].want);
			ing_buf_done(&got);
			ing_line_splitter_done(&s);
		}
	}
}

/* A receiver may stop in the middle of a chunk, and go on later. */
static void test_stop_in_chunk(void **state)
{
	(void)state;
	struct ing_line_splitter s;
	struct ing_line line;
	ing_line_splitter_init(&s, MAX_LINE);
	ing_line_splitter_feed(&s, "a\nb\nc", 5);
	assert_true(ing_line_splitter_next(&s, &line));
	assert_memory_equal(line.text, "a", 1);
	assert_true(ing_line_splitter_next(&s, &line));
	assert_memory_equal(line.text, "b", 1);
	assert_false(ing_line_splitter_next(&s, &line));
	ing_line_splitter_feed(&s, "c\n", 2);
	assert_true(ing_line_splitter_next(&s, &line));
	assert_int_equal(line.bytes, 2);
	assert_memory_equal(line.text, "cc", 2);
	assert_int_equal(line.number, 3);
	ing_line_splitter_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_stop_in_chunk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
