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

#include "worker/intake/line_splitter.h"

#define MAX_LINE 8

static const struct {
	const char *name;
	const char *input;
	size_t input_bytes; /* 0: strlen */
	const char *want;   /* "number:text|" for each line */
} cases[] = {
	{"empty input", "", 0, ""},
	{"one line", "abc\n", 0, "1:abc|"},
	{"no final newline", "abc\ndef", 0, "1:abc|2:def|"},
	{"only a fragment", "x", 0, "1:x|"},
	{"CR LF", "abc\r\ndef\r\n", 0, "1:abc|2:def|"},
	{"mixed ends", "abc\r\ndef\nghi", 0, "1:abc|2:def|3:ghi|"},
	{"a CR inside stays", "a\rb\r\r\n", 0, "1:a\rb\r|"},
	{"a CR at the very end stays: no newline came", "a\r", 0, "1:a\r|"},
	{"blank lines are skipped and counted", "\n\na\n \t \n\r\nb\n\n", 0, "3:a|6:b|"},
	{"blanks at the end", "a\n   ", 0, "1:a|"},
	{"a NUL is a byte", "a\0b\n", 4, "1:a?b|"},
	{"exactly the limit", "12345678\n", 0, "1:12345678|"},
	{"exactly the limit, CR LF", "12345678\r\nx\n", 0, "1:12345678|2:x|"},
	{"exactly the limit, no end", "12345678", 0, "1:12345678|"},
	{"one over", "123456789\nx\n", 0, "1:123456789|2:x|"},
	{"one over, CR LF", "123456789\r\nx\n", 0, "1:123456789|2:x|"},
	{"one over, no end", "123456789", 0, "1:123456789|"},
	{"far over is cut to one over", "1234567890abcdefghij\nx\n", 0, "1:123456789|2:x|"},
	{"far over, the last line", "x\n1234567890abcdefghij", 0, "1:x|2:123456789|"},
	{"two far over", "1234567890abc\n1234567890abc\r\ny", 0, "1:123456789|2:123456789|3:y|"},
};

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
