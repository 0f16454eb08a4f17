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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(rows_come_as_text),
		WITH_SERVER(a_name_is_prepared_once),
		WITH_SERVER(failures_are_told_apart_and_hand_no_rows),
		WITH_SERVER(an_array_holds_any_text),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
