/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writing at the database's pace, against one that answers as it is told. The connection is the
 * test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/data/pg_paced.h"

#define LIMIT_MS 5000
#define MAX_ROWS 500
#define MAX_STEPS 8

struct ing_pg {
	unsigned limit_ms; /* as last set */
	enum ing_pg_rc limits;
};

struct step { /* one call of write() */
	unsigned rows;
	unsigned limit_ms; /* 0: LIMIT_MS */
	enum ing_pg_rc answer;
};

struct script {
	const struct step *steps;
	unsigned count, at;
	unsigned too_many; /* calls */
	unsigned slowest_ms;
};

enum ing_pg_rc ing_pg_set_limits(
	struct ing_pg *pg, const struct ing_pace *pace, struct ing_error *err)
{
	pg->limit_ms = pace->limit_ms;
	if (pg->limits != ING_PG_OK)
		ing_error_set(err, ING_FAIL_UNAVAILABLE, "database: no limits");
	return pg->limits;
}

static enum ing_pg_rc write_rows(struct ing_pg *pg, void *ctx, unsigned rows,
	unsigned *ret_slowest_ms, struct ing_error *err)
{
	struct script *s = ctx;
	assert_true(s->at < s->count);
	const struct step *step = &s->steps[s->at++];
	assert_int_equal(rows, step->rows);
	assert_int_equal(pg->limit_ms, step->limit_ms != 0 ? step->limit_ms : LIMIT_MS);
	assert_int_equal(err->code, ING_FAIL_NONE); /* that of the try before is gone */
	if (step->answer != ING_PG_OK)
		ing_error_set(err, ING_FAIL_UNAVAILABLE, "database: answer %d", step->answer);
	*ret_slowest_ms = s->slowest_ms;
	return step->answer;
}

static void count_too_many(void *ctx, unsigned rows, unsigned limit_ms)
{
	struct script *s = ctx;
	s->too_many++;
	assert_int_equal(rows, s->steps[s->at - 1].rows);
	assert_int_equal(limit_ms, LIMIT_MS);
}

/* clang-format off */
static const struct {
	const char *name;
	size_t rows;         /* that there are */
	unsigned pace_rows;  /* before */
	struct step steps[MAX_STEPS];
	unsigned too_many;
	enum ing_pg_rc want; /* and the rows of the last step */
	unsigned want_pace_rows, want_limit_ms; /* after; 0: as before */
} cases[] = {
	{.name = "all at once", .rows = 7, .pace_rows = 16, .steps = {{.rows = 7}},
		.want_pace_rows = 32},
	{.name = "as many as the pace says, which grows", .rows = 100, .pace_rows = 16,
		.steps = {{.rows = 16}}, .want_pace_rows = 32},
	{.name = "fewer, until it is quick enough", .rows = 1000, .pace_rows = 400,
		.steps = {{.rows = 400, .answer = ING_PG_SLOW},
			{.rows = 50, .answer = ING_PG_SLOW}, {.rows = 6}},
		.too_many = 2, .want_pace_rows = 12},
	{.name = "fewer than there are, not than the pace said", .rows = 16, .pace_rows = 400,
		.steps = {{.rows = 16, .answer = ING_PG_SLOW}, {.rows = 2}},
		.too_many = 1, .want_pace_rows = 4},
	{.name = "one row has a longer limit in the next call", .rows = 1, .pace_rows = 16,
		.steps = {{.rows = 1, .answer = ING_PG_SLOW}}, .want = ING_PG_SLOW,
		.want_pace_rows = 1, .want_limit_ms = 2 * LIMIT_MS},
	{.name = "down to one row, and that is too slow", .rows = 9, .pace_rows = 16,
		.steps = {{.rows = 9, .answer = ING_PG_SLOW}, {.rows = 1, .answer = ING_PG_SLOW}},
		.too_many = 1, .want = ING_PG_SLOW, .want_pace_rows = 1,
		.want_limit_ms = 2 * LIMIT_MS},
	{.name = "silence is not repeated here, but means fewer rows", .rows = 400,
		.pace_rows = 400, .steps = {{.rows = 400, .answer = ING_PG_SILENT}},
		.want = ING_PG_SILENT, .want_pace_rows = 50},
	{.name = "silence about one row means a longer limit", .rows = 1, .pace_rows = 1,
		.steps = {{.rows = 1, .answer = ING_PG_SILENT}}, .want = ING_PG_SILENT,
		.want_limit_ms = 2 * LIMIT_MS},
	{.name = "a lock is no reason for fewer rows", .rows = 400, .pace_rows = 400,
		.steps = {{.rows = 400, .answer = ING_PG_LOCKED}}, .want = ING_PG_LOCKED},
	{.name = "nor is a conflict", .rows = 400, .pace_rows = 400,
		.steps = {{.rows = 400, .answer = ING_PG_CONFLICT}}, .want = ING_PG_CONFLICT},
	{.name = "nor are refused data", .rows = 400, .pace_rows = 400,
		.steps = {{.rows = 400, .answer = ING_PG_REFUSED}}, .want = ING_PG_REFUSED},
	{.name = "nor is a lost connection", .rows = 400, .pace_rows = 400,
		.steps = {{.rows = 400, .answer = ING_PG_LOST}}, .want = ING_PG_LOST},
	{.name = "refused with fewer", .rows = 400, .pace_rows = 400,
		.steps = {{.rows = 400, .answer = ING_PG_SLOW},
			{.rows = 50, .answer = ING_PG_REFUSED}},
		.too_many = 1, .want = ING_PG_REFUSED, .want_pace_rows = 50},
};
/* clang-format on */

static struct ing_pace make_pace(unsigned rows)
{
	struct ing_pace pace;
	ing_pace_init(&pace, MAX_ROWS, LIMIT_MS);
	pace.rows = rows;
	return pace;
}

static void as_many_rows_are_written_as_the_database_takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_pg pg = {0};
		struct ing_error err = {0};
		struct ing_pg_paced_run run;
		struct script s = {.steps = cases[i].steps, .slowest_ms = 1};
		struct ing_pace pace = make_pace(cases[i].pace_rows);
		const struct ing_pg_paced paced = {write_rows, count_too_many, &s};
		while (s.count < MAX_STEPS && s.steps[s.count].rows != 0)
			s.count++;
		print_message("%s\n", cases[i].name);
		enum ing_pg_rc rc =
			ing_pg_write_paced(&pg, &pace, cases[i].rows, &paced, &run, &err);
		assert_int_equal(rc, cases[i].want);
		assert_int_equal(s.at, s.count);
		assert_int_equal(s.too_many, cases[i].too_many);
		assert_int_equal(run.rows, s.steps[s.count - 1].rows);
		assert_int_equal(run.quick, rc == ING_PG_OK);
		assert_int_equal(err.code != ING_FAIL_NONE, rc != ING_PG_OK);
		assert_int_equal(pace.rows, cases[i].want_pace_rows != 0 ? cases[i].want_pace_rows
									 : cases[i].pace_rows);
		assert_int_equal(pace.limit_ms,
			cases[i].want_limit_ms != 0 ? cases[i].want_limit_ms : LIMIT_MS);
	}
}

static void what_a_statement_took_sets_the_pace(void **state)
{
	(void)state;
	static const struct step steps[] = {{.rows = 100}};
	struct ing_pg pg = {0};
	struct ing_error err = {0};
	struct ing_pg_paced_run run;
	struct script s = {.steps = steps, .count = 1, .slowest_ms = 4000};
	struct ing_pace pace = make_pace(100);
	const struct ing_pg_paced paced = {.write = write_rows, .ctx = &s};
	assert_int_equal(ing_pg_write_paced(&pg, &pace, 500, &paced, &run, &err), ING_PG_OK);
	assert_int_equal(run.slowest_ms, 4000);
	assert_false(run.quick);
	assert_int_equal(pace.rows, 25);
}

static void nothing_is_written_without_limits(void **state)
{
	(void)state;
	struct ing_pg pg = {.limits = ING_PG_LOST};
	struct ing_error err = {0};
	struct ing_pg_paced_run run;
	struct script s = {0};
	struct ing_pace pace = make_pace(100);
	const struct ing_pg_paced paced = {.write = write_rows, .ctx = &s};
	assert_int_equal(ing_pg_write_paced(&pg, &pace, 500, &paced, &run, &err), ING_PG_LOST);
	assert_string_equal(err.msg, "database: no limits");
	assert_int_equal(s.at, 0);
	assert_int_equal(pace.rows, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_rows_are_written_as_the_database_takes),
		cmocka_unit_test(what_a_statement_took_sets_the_pace),
		cmocka_unit_test(nothing_is_written_without_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
