/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pace against databases of known speed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "common/data/pace.h"

#define MAX_ROWS 500
#define LIMIT_MS 5000

struct database {
	unsigned fixed_ms, row_us; /* of a statement */
};

/* What it costs to write so many rows, in ms, tries that were called off included. */
static uint64_t write_all(struct ing_pace *p, const struct database *db, unsigned rows)
{
	uint64_t spent = 0;
	while (rows > 0) {
		unsigned n = ING_MIN(rows, p->rows);
		unsigned ms = db->fixed_ms + n * db->row_us / 1000;
		assert_in_range(p->rows, 1, MAX_ROWS);
		if (ms > p->limit_ms) {
			spent += p->limit_ms;
			ing_pace_exceeded(p, n);
			continue;
		}
		spent += ms;
		ing_pace_written(p, n, ms);
		rows -= n;
	}
	return spent;
}

static void a_quick_database_gets_whole_batches(void **state)
{
	(void)state;
	struct ing_pace p;
	ing_pace_init(&p, MAX_ROWS, LIMIT_MS);
	write_all(&p, &(struct database){2, 20}, 1000);
	assert_int_equal(p.rows, MAX_ROWS);
	assert_int_equal(p.limit_ms, LIMIT_MS);
}

/* 600 rows of 60 ms are 36 s of work, whether it was slow from the beginning or gets so. */
static void no_time_is_lost_to_a_database_that_is_slow(void **state)
{
	(void)state;
	const struct database slow = {5, 60000};
	struct ing_pace p;
	ing_pace_init(&p, MAX_ROWS, LIMIT_MS);
	assert_in_range(write_all(&p, &slow, 600), 36000, 37000);
	assert_in_range(p.rows, 8, 40);
	assert_false(ing_pace_written(&p, p.rows, p.rows * 60)); /* it is known for slow */
	ing_pace_init(&p, MAX_ROWS, LIMIT_MS);
	write_all(&p, &(struct database){2, 20}, 1000);
	assert_in_range(write_all(&p, &slow, 600), 36000 + LIMIT_MS, 37000 + LIMIT_MS);
	assert_in_range(p.rows, 8, 40);
}

static void it_grows_again_when_the_database_has_recovered(void **state)
{
	(void)state;
	struct ing_pace p;
	ing_pace_init(&p, MAX_ROWS, LIMIT_MS);
	write_all(&p, &(struct database){5, 2000000}, 20);
	assert_int_equal(p.rows, 1);
	write_all(&p, &(struct database){2, 20}, 20000);
	assert_int_equal(p.rows, MAX_ROWS);
}

/* A long way to the server costs the same for one row as for many. */
static void few_rows_do_not_make_a_far_database_slow(void **state)
{
	(void)state;
	struct ing_pace p;
	ing_pace_init(&p, MAX_ROWS, LIMIT_MS);
	write_all(&p, &(struct database){2, 20}, 1000);
	for (int i = 0; i < 100; i++)
		assert_true(ing_pace_written(&p, 1, 900));
	assert_int_equal(p.rows, MAX_ROWS);
}

/* A batch that fails for what is not measured, in COMMIT, is not tried in full size each time. */
static void after_a_failure_it_creeps_to_where_that_was(void **state)
{
	(void)state;
	struct ing_pace p;
	unsigned full = 0;
	ing_pace_init(&p, MAX_ROWS, LIMIT_MS);
	write_all(&p, &(struct database){2, 20}, 1000);
	ing_pace_exceeded(&p, MAX_ROWS);
	assert_int_equal(p.rows, MAX_ROWS / 8);
	for (; p.rows < MAX_ROWS; full++)
		ing_pace_written(&p, p.rows, 10);
	assert_in_range(full, 8, 20);
}

static void one_row_gets_more_and_more_time_up_to_a_bound(void **state)
{
	(void)state;
	struct ing_pace p;
	ing_pace_init(&p, 1, LIMIT_MS);
	for (unsigned i = 1; i <= 6; i++) {
		assert_false(ing_pace_exceeded(&p, 1));
		assert_int_equal(p.limit_ms, LIMIT_MS << i);
		assert_in_range(ing_pace_lock_ms(&p), 1, p.limit_ms - 1);
		assert_true(ing_pace_answer_ms(&p) > p.limit_ms);
	}
	assert_false(ing_pace_exceeded(&p, 1));
	assert_int_equal(p.limit_ms, LIMIT_MS * 64);
	ing_pace_written(&p, 1, LIMIT_MS * 60); /* it may be the next one's way, too */
	assert_int_equal(p.limit_ms, LIMIT_MS * 64);
	for (unsigned i = 0; i < 6; i++)
		ing_pace_written(&p, 1, 10);
	assert_int_equal(p.limit_ms, LIMIT_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quick_database_gets_whole_batches),
		cmocka_unit_test(no_time_is_lost_to_a_database_that_is_slow),
		cmocka_unit_test(it_grows_again_when_the_database_has_recovered),
		cmocka_unit_test(few_rows_do_not_make_a_far_database_slow),
		cmocka_unit_test(after_a_failure_it_creeps_to_where_that_was),
		cmocka_unit_test(one_row_gets_more_and_more_time_up_to_a_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
