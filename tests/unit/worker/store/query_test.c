/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statements with parameters and rows (common/data/pg.h), against a real PostgreSQL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"

struct rows {
	char text[4096]; /* values, NULL as ~, "," between values and ";" behind rows */
	int count;
};

static void add_row(void *ctx, const char *const *values, int count)
{
	struct rows *r = ctx;
	r->count++;
	for (int i = 0; i < count; i++) {
		size_t n = strlen(r->text);
		snprintf(r->text + n, sizeof(r->text) - n, "%s%s", values[i] ? values[i] : "~",
			i + 1 < count ? "," : ";");
	}
}

static struct ing_pg *open_server(int timeout_ms)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(bench_cluster.dsn, -1, timeout_ms, &pg, &err), &err);
	return pg;
}

static void rows_come_as_text(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *sql;
		const char *params[3];
		int count;
		const char *want;
	} cases[] = {
		{.sql = "SELECT 1, NULL, true, 'x'", .params = {0}, .want = "1,~,t,x;"},
		{.sql = "SELECT n, $1 FROM generate_series(1, 3) n", .params = {"a"}, .count = 1,
			.want = "1,a;2,a;3,a;"},
		{.sql = "SELECT $1::int + $2::int, $3::text", .params = {"2", "40", NULL},
			.count = 3, .want = "42,~;"},
		{.sql = "SELECT $1::text", .params = {"quote ' \" \\ and ; --"}, .count = 1,
			.want = "quote ' \" \\ and ; --;"},
		{.sql = "SELECT 1 WHERE false", .params = {0}, .want = ""},
		{.sql = "CREATE TEMP TABLE t (a int)", .params = {0}, .want = ""},
	};
	/* clang-format on */
	struct ing_error err = {0};
	struct ing_pg *pg = open_server(30000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct rows r = {0};
		bench_check((int)ing_pg_query(pg, NULL, cases[i].sql, cases[i].params,
				    cases[i].count, add_row, &r, &err),
			&err);
		assert_string_equal(r.text, cases[i].want);
	}
	bench_check((int)ing_pg_query(pg, NULL, "SELECT 1", NULL, 0, NULL, NULL, &err), &err);
	ing_pg_close(pg);
}

static void a_name_is_prepared_once(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_pg *pg = open_server(30000);
	struct rows r = {0};
	const char *params[] = {"7"};
	for (int i = 0; i < 3; i++)
		bench_check((int)ing_pg_query(
				    pg, "seven", "SELECT $1::int", params, 1, add_row, &r, &err),
			&err);
	assert_string_equal(r.text, "7;7;7;");
	int64_t n = 0;
	bench_check((int)ing_pg_number(pg,
			    "SELECT count(*) FROM pg_prepared_statements WHERE name = 'seven'", &n,
			    &err),
		&err);
	assert_int_equal(n, 1);
	/* One that cannot be prepared is tried again, and its failure says why. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			ing_pg_query(pg, "bad", "SELECT FROM nowhere", NULL, 0, NULL, NULL, &err),
			ING_PG_TROUBLE);
		assert_non_null(strstr(err.msg, "nowhere"));
		ing_error_clear(&err);
	}
	ing_pg_close(pg);
}

static void failures_are_told_apart_and_hand_no_rows(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_pg *pg = open_server(30000);
	struct rows r = {0};
	const char *params[] = {"x"};
	assert_int_equal(ing_pg_query(pg, NULL, "SELECT 1 / (3 - n) FROM generate_series(1, 5) n",
				 NULL, 0, add_row, &r, &err),
		ING_PG_REFUSED);
	ing_error_clear(&err);
	assert_int_equal(ing_pg_query(pg, "number", "SELECT $1::int", params, 1, add_row, &r, &err),
		ING_PG_REFUSED);
	ing_error_clear(&err);
	const char *bad[] = {"\xff"};
	assert_int_equal(ing_pg_query(pg, NULL, "SELECT $1::text", bad, 1, add_row, &r, &err),
		ING_PG_REFUSED);
	ing_error_clear(&err);
	assert_int_equal(r.count, 0);
	assert_int_equal(ing_pg_query(pg, NULL, "SELECT pg_terminate_backend(pg_backend_pid())",
				 NULL, 0, NULL, NULL, &err),
		ING_PG_LOST);
	ing_pg_close(pg);
	ing_error_clear(&err);
	pg = open_server(200);
	assert_int_equal(
		ing_pg_query(pg, "sleep", "SELECT pg_sleep(20)", NULL, 0, NULL, NULL, &err),
		ING_PG_SILENT);
	ing_pg_close(pg);
}

static void an_array_holds_any_text(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "plain", "NULL", "a,b", "{}", "\"", "\\", "\\\"",
		" spaces ", "new\nline", "tr\xc3\xa4ge", "'"};
	struct ing_error err = {0};
	struct ing_pg *pg = open_server(30000);
	struct ing_buf list;
	struct ing_buf want;
	struct rows r = {0};
	ing_buf_init(&list, 4096);
	ing_buf_init(&want, 4096);
	ing_pg_add_array(&list, NULL, 0);
	assert_string_equal(ing_buf_str(&list), "{}");
	ing_buf_clear(&list);
	ing_pg_add_array(&list, texts, ING_ARRAY_LEN(texts));
	const char *params[] = {ing_buf_str(&list)};
	bench_check((int)ing_pg_query(
			    pg, NULL, "SELECT unnest($1::text[])", params, 1, add_row, &r, &err),
		&err);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		ing_buf_printf(&want, "%s;", texts[i]);
	assert_string_equal(r.text, ing_buf_str(&want));
	ing_buf_done(&list);
	ing_buf_done(&want);
	ing_pg_close(pg);
}

/* Rows of a COPY TO as rows_come_as_text() has them. */
static enum ing_pg_rc copy_out(
	struct ing_pg *pg, const char *sql, struct rows *ret, struct ing_error *err)
{
	char *values[16];
	char *row = NULL;
	size_t bytes = 0;
	enum ing_pg_rc rc = ing_pg_copy_out_begin(pg, sql, err);
	while (rc == ING_PG_OK) {
		rc = ing_pg_copy_out_next(pg, &row, &bytes, err);
		if (rc != ING_PG_OK || row == NULL)
			break;
		assert_true(row[bytes - 1] == '\n');
		size_t count = ing_pg_copy_columns(row, bytes - 1, values, ING_ARRAY_LEN(values));
		add_row(ret, (const char *const *)values, (int)count);
	}
	return rc;
}

static void rows_are_copied_out(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *want;
	} cases[] = {
		{"COPY (SELECT 1, NULL, true, 'x') TO STDOUT", "1,~,t,x;"},
		{"COPY (SELECT 1 WHERE false) TO STDOUT", ""},
		{"COPY (SELECT '', NULL, '\\N', '\\', E'\\t', E'\\n', E'\\r\\b\\f\\x0b') TO STDOUT",
			",~,\\N,\\,\t,\n,\r\b\f\v;"},
		{"COPY (SELECT '\\.') TO STDOUT", "\\.;"},
		{"COPY (SELECT 'a\\\\N\\', 'tr\xc3\xa4ge') TO STDOUT", "a\\\\N\\,tr\xc3\xa4ge;"},
		{"COPY (SELECT n FROM generate_series(1, 3) n) TO STDOUT", "1;2;3;"},
	};
	struct ing_error err = {0};
	struct ing_pg *pg = open_server(30000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct rows r = {0};
		bench_check((int)copy_out(pg, cases[i].sql, &r, &err), &err);
		assert_string_equal(r.text, cases[i].want);
	}
	/* A failure in the middle leaves the connection good; a lost connection is one. */
	struct rows r = {0};
	assert_int_equal(
		copy_out(pg, "COPY (SELECT 1 / (3 - n) FROM generate_series(1, 5) n) TO STDOUT", &r,
			&err),
		ING_PG_REFUSED);
	assert_int_equal(r.count, 2);
	ing_error_clear(&err);
	assert_int_equal(copy_out(pg, "COPY nowhere TO STDOUT", &r, &err), ING_PG_TROUBLE);
	ing_error_clear(&err);
	bench_check((int)copy_out(pg, cases[0].sql, &r, &err), &err);
	assert_int_equal(
		copy_out(pg,
			"COPY (SELECT CASE n WHEN 100000 THEN pg_terminate_backend(pg_backend_pid())"
			" END FROM generate_series(1, 100000) n) TO STDOUT",
			&(struct rows){0}, &err),
		ING_PG_LOST);
	ing_pg_close(pg);
	/* One that is left in the middle. */
	char *row;
	size_t bytes;
	pg = open_server(30000);
	ing_error_clear(&err);
	bench_check((int)ing_pg_copy_out_begin(pg,
			    "COPY (SELECT n FROM generate_series(1, 100000) n) TO STDOUT", &err),
		&err);
	bench_check((int)ing_pg_copy_out_next(pg, &row, &bytes, &err), &err);
	assert_memory_equal(row, "1\n", 2);
	ing_pg_close(pg);
}

static void columns_are_cut_and_unescaped(void **state)
{
	(void)state;
	static const struct {
		const char *row;
		size_t count;
		const char *values[3]; /* NULL: SQL NULL, or there is none */
	} cases[] = {
		{"", 1, {""}},
		{"\\N", 1, {NULL}},
		{"\\\\N", 1, {"\\N"}},
		{"a\tb\tc", 3, {"a", "b", "c"}},
		{"\t\t", 3, {"", "", ""}},
		{"a\\tb\\\\\t\\N\tx", 3, {"a\tb\\", NULL, "x"}},
		{"a\tb\tc\td\te", 5, {"a", "b", "c"}},
		{"\\", 1, {"\\"}}, /* no server writes it */
		{"\\q\\.", 1, {"q."}},
		{"\\Nx", 1, {"Nx"}},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char row[64];
		char *values[3] = {0};
		snprintf(row, sizeof(row), "%s\n", cases[i].row);
		assert_int_equal(
			ing_pg_copy_columns(row, strlen(cases[i].row), values, 3), cases[i].count);
		for (size_t k = 0; k < ING_MIN(cases[i].count, (size_t)3); k++) {
			if (cases[i].values[k] == NULL)
				assert_null(values[k]);
			else
				assert_string_equal(values[k], cases[i].values[k]);
		}
	}
}

static void a_literal_is_the_text(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"", "'", "\\", "\\'", "''\\\\", "\n\t", "; --", "$1", "E'\\x27"};
	struct ing_error err = {0};
	struct ing_pg *pg = open_server(30000);
	for (int conforming = 0; conforming < 2; conforming++) {
		bench_check((int)ing_pg_exec(pg,
				    conforming ? "SET standard_conforming_strings = on"
					       : "SET standard_conforming_strings = off",
				    &err),
			&err);
		for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
			struct rows r = {0};
			struct ing_buf sql;
			char want[64];
			ing_buf_init(&sql, 1000);
			ing_buf_add_str(&sql, "SELECT");
			ing_pg_add_literal(&sql, texts[i]);
			bench_check((int)ing_pg_query(pg, NULL, ing_buf_str(&sql), NULL, 0, add_row,
					    &r, &err),
				&err);
			snprintf(want, sizeof(want), "%s;", texts[i]);
			assert_string_equal(r.text, want);
			ing_buf_done(&sql);
		}
	}
	ing_pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(rows_come_as_text),
		WITH_SERVER(a_name_is_prepared_once),
		WITH_SERVER(failures_are_told_apart_and_hand_no_rows),
		WITH_SERVER(an_array_holds_any_text),
		WITH_SERVER(rows_are_copied_out),
		cmocka_unit_test(columns_are_cut_and_unescaped),
		WITH_SERVER(a_literal_is_the_text),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
