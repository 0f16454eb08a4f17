/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reports: order, counts past the ceiling, and the error made of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/report.h"

static void lines_are_sorted_by_file_line_column(void **state)
{
	(void)state;
	static const char *const want[] = {"b.yaml 0 0 whole", "b.yaml 1 2 w", "b.yaml 10 1 late",
		"a.yaml 3 4 x", "a.yaml 3 4 y"};
	struct ing_report r;
	ing_report_init(&r);
	ing_report_error(&r, "b.yaml", 10, 1, "la%s", "te");
	ing_report_error(&r, "a.yaml", 3, 4, "x");
	ing_report_warning(&r, "b.yaml", 1, 2, "w");
	ing_report_error(&r, "a.yaml", 3, 4, "y");
	ing_report_error(&r, "b.yaml", 0, 0, "whole");
	ing_report_error(&r, "a.yaml", 3, 4, "x"); /* said before */
	ing_report_sort(&r);
	assert_int_equal(r.errors, 4);
	assert_int_equal(r.warnings, 1);
	assert_int_equal(r.count, 5);
	for (size_t i = 0; i < r.count; i++) {
		char line[100];
		snprintf(line, sizeof(line), "%s %d %d %s", r.lines[i].file, r.lines[i].line,
			r.lines[i].column, r.lines[i].text);
		assert_string_equal(line, want[i]);
	}
	ing_report_done(&r);
	ing_report_done(&r);
}

static void warnings_do_not_crowd_out_errors(void **state)
{
	(void)state;
	struct ing_report r;
	ing_report_init(&r);
	for (int i = 0; i < ING_REPORT_MAX_LINES; i++)
		ing_report_warning(&r, "f", i + 1, 1, "w");
	for (int i = 0; i < 2 * ING_REPORT_MAX_LINES; i++)
		ing_report_error(&r, "f", i + 1, 1, "e");
	assert_int_equal(r.count, ING_REPORT_MAX_LINES);
	assert_int_equal(r.warnings, ING_REPORT_MAX_LINES);
	assert_int_equal(r.errors, 2 * ING_REPORT_MAX_LINES);
	assert_true(r.lines[ING_REPORT_MAX_LINES / 2 - 1].warning);
	assert_false(r.lines[ING_REPORT_MAX_LINES / 2].warning);
	ing_report_done(&r);
}

static void the_error_holds_what_fits(void **state)
{
	(void)state;
	struct ing_report r;
	struct ing_error err = {0};
	ing_report_init(&r);
	ing_report_warning(&r, "f", 1, 1, "not an error");
	assert_int_equal(ing_report_to_error(&r, &err), 0);
	assert_int_equal(err.code, ING_FAIL_NONE);
	ing_report_error(&r, "f", 2, 3, "one");
	ing_report_error(&r, "g", 0, 0, "two");
	assert_int_equal(ing_report_to_error(&r, &err), -ING_FAIL_CONFIG);
	assert_string_equal(err.msg, "f:2:3: one\ng: two");
	assert_int_equal(err.line, 2);
	assert_int_equal(err.column, 3);
	for (int i = 0; i < 100; i++)
		ing_report_error(&r, "h", i + 1, 1, "many");
	err = (struct ing_error){0};
	assert_int_equal(ing_report_to_error(&r, &err), -ING_FAIL_CONFIG);
	int lines = 0;
	for (const char *p = err.msg; *p != '\0'; p++)
		lines += *p == '\n';
	char tail[40];
	snprintf(tail, sizeof(tail), "\n(%d more errors)", 102 - lines);
	assert_string_equal(err.msg + strlen(err.msg) - strlen(tail), tail);
	ing_report_done(&r);
}

static void a_single_long_line_is_cut(void **state)
{
	(void)state;
	struct ing_report r;
	struct ing_error err = {0};
	char path[700];
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ing_report_init(&r);
	ing_report_error(&r, path, 1, 1, "x");
	ing_report_error(&r, path, 2, 1, "x");
	assert_int_equal(ing_report_to_error(&r, &err), -ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "\n(1 more error)"));
	ing_report_done(&r);
}

static void lines_are_printed_with_their_kind(void **state)
{
	(void)state;
	struct ing_report r;
	char *text = NULL;
	size_t bytes = 0;
	ing_report_init(&r);
	ing_report_error(&r, "f", 2, 3, "is wrong");
	ing_report_warning(&r, "f", 4, 5, "is odd");
	ing_report_error(&r, "g", 0, 0, "is away");
	for (int i = 0; i < ING_REPORT_MAX_LINES; i++)
		ing_report_error(&r, "h", i + 1, 1, "many");
	for (int warnings = 0; warnings < 2; warnings++) {
		FILE *to = open_memstream(&text, &bytes);
		assert_non_null(to);
		ing_report_print(&r, warnings, to);
		fclose(to);
		const char *want = warnings ? "f:2:3: error: is wrong\nf:4:5: warning: is odd\n"
					      "g: error: is away\nh:1:1: error: many\n"
					    : "f:2:3: error: is wrong\ng: error: is away\n"
					      "h:1:1: error: many\n";
		assert_int_equal(strncmp(text, want, strlen(want)), 0);
		assert_string_equal(text + bytes - strlen("\nand 3 more\n"), "\nand 3 more\n");
		free(text);
	}
	ing_report_done(&r);
}

static void errors_alone_are_printed_without_their_kind(void **state)
{
	(void)state;
	struct ing_report r;
	char *text = NULL;
	size_t bytes = 0;
	ing_report_init(&r);
	ing_report_error(&r, "f", 2, 3, "is wrong");
	ing_report_warning(&r, "f", 4, 5, "is odd");
	ing_report_error(&r, "g", 0, 0, "is away");
	for (int i = 0; i < ING_REPORT_MAX_LINES; i++)
		ing_report_warning(&r, "w", i + 1, 1, "many");
	FILE *to = open_memstream(&text, &bytes);
	assert_non_null(to);
	ing_report_print_errors(&r, to);
	fclose(to);
	assert_string_equal(text, "f:2:3: is wrong\ng: is away\n");
	free(text);
	ing_report_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_sorted_by_file_line_column),
		cmocka_unit_test(warnings_do_not_crowd_out_errors),
		cmocka_unit_test(lines_are_printed_with_their_kind),
		cmocka_unit_test(errors_alone_are_printed_without_their_kind),
		cmocka_unit_test(the_error_holds_what_fits),
		cmocka_unit_test(a_single_long_line_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
