/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The offset to commit: scripts of begins and finishes as tables, and a shuffled run against a naive
 * model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "worker/intake/offset_tracker.h"

enum op { END, BEGIN, BEGIN_NO, FINISH, FINISH_NO, COMMITTABLE, SKIP };

struct step {
	enum op op;
	int64_t value;
};

#define MAX_STEPS 24
static const struct {
	const char *name;
	struct step steps[MAX_STEPS];
} scripts[] = {
	{"nothing was begun", {{COMMITTABLE, -1}, {FINISH_NO, 0}, {COMMITTABLE, -1}}},
	{"in order", {{BEGIN, 0}, {COMMITTABLE, 0}, {FINISH, 0}, {COMMITTABLE, 1}, {BEGIN, 1},
			     {COMMITTABLE, 1}, {FINISH, 1}, {COMMITTABLE, 2}}},
	{"reverse order",
		{{BEGIN, 10}, {BEGIN, 11}, {BEGIN, 12}, {FINISH, 12}, {COMMITTABLE, 10},
			{FINISH, 11}, {COMMITTABLE, 10}, {FINISH, 10}, {COMMITTABLE, 13}}},
	{"a hole in the middle", {{BEGIN, 5}, {BEGIN, 6}, {BEGIN, 7}, {FINISH, 5}, {FINISH, 7},
					 {COMMITTABLE, 6}, {FINISH, 6}, {COMMITTABLE, 8}}},
	{"offsets that never came do not hold the commit back",
		{{BEGIN, 3}, {BEGIN, 1000}, {BEGIN, 4000000000}, {FINISH, 3}, {COMMITTABLE, 1000},
			{FINISH, 1000}, {COMMITTABLE, 4000000000}, {FINISH, 4000000000},
			{COMMITTABLE, 4000000001}}},
	{"the same or an earlier offset is not begun again",
		{{BEGIN, 7}, {BEGIN_NO, 7}, {BEGIN_NO, 6}, {FINISH, 7}, {BEGIN_NO, 7},
			{COMMITTABLE, 8}}},
	{"twice finished, never begun",
		{{BEGIN, 1}, {BEGIN, 2}, {BEGIN, 9}, {FINISH, 2}, {FINISH_NO, 2}, {FINISH_NO, 3},
			{FINISH_NO, 0}, {FINISH_NO, -3}, {FINISH_NO, 10}, {COMMITTABLE, 1}}},
	{"offset 0 is an offset", {{BEGIN, 0}, {BEGIN, 1}, {FINISH, 1}, {COMMITTABLE, 0},
					  {FINISH, 0}, {COMMITTABLE, 2}, {FINISH_NO, 0}}},
	{"what is gone from the log is skipped, and holds nothing back",
		{{BEGIN, 4}, {BEGIN, 5}, {SKIP, 90}, {COMMITTABLE, 4}, {BEGIN_NO, 89}, {FINISH, 4},
			{FINISH, 5}, {COMMITTABLE, 90}, {SKIP, 50}, {COMMITTABLE, 90},
			{BEGIN, 90}}},
	{"impossible offsets", {{BEGIN_NO, -1}, {BEGIN_NO, INT64_MAX}, {BEGIN, INT64_MAX - 1},
				       {COMMITTABLE, INT64_MAX - 1}, {FINISH, INT64_MAX - 1},
				       {COMMITTABLE, INT64_MAX}, {BEGIN_NO, INT64_MAX - 1}}},
};

static void run_step(struct ing_offset_tracker *m, const struct step *s)
{
	switch (s->op) {
	case BEGIN:
	case BEGIN_NO:
		assert_int_equal(ing_offset_tracker_begin(m, s->value), s->op == BEGIN);
		break;
	case FINISH:
	case FINISH_NO:
		assert_int_equal(ing_offset_tracker_finish(m, s->value), s->op == FINISH);
		break;
	case SKIP:
		ing_offset_tracker_skip(m, s->value);
		break;
	case COMMITTABLE:
		assert_true(ing_offset_tracker_committable(m) == s->value);
		break;
	case END:
		break;
	}
}

static void test_scripts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(scripts); i++) {
		print_message("  %s\n", scripts[i].name);
		struct ing_offset_tracker m;
		ing_offset_tracker_init(&m, -1);
		for (const struct step *s = scripts[i].steps; s->op != END; s++)
			run_step(&m, s);
		ing_offset_tracker_done(&m);
	}
}

/* A window of messages finished in random order, with random gaps; the model looks at every one
 * each time. */
static void test_against_model(void **state)
{
	(void)state;
	enum { COUNT = 3000 };
	static int64_t offsets[COUNT];
	static bool done[COUNT];
	struct ing_offset_tracker m;
	ing_offset_tracker_init(&m, -1);
	srand(20261121);
	int begun = 0;
	int finished = 0;
	int64_t offset = 17;
	while (finished < COUNT) {
		if (begun < COUNT && (rand() % 2 == 0 || begun == finished)) {
			offset += 1 + (rand() % 10 == 0 ? rand() % 1000 : 0);
			offsets[begun] = offset;
			assert_true(ing_offset_tracker_begin(&m, offset));
			begun++;
		} else {
			int pick = rand() % begun;
			assert_int_equal(ing_offset_tracker_finish(&m, offsets[pick]), !done[pick]);
			finished += !done[pick];
			done[pick] = true;
		}
		int64_t want = offset + 1;
		for (int i = begun - 1; i >= 0; i--)
			if (!done[i])
				want = offsets[i];
		assert_true(ing_offset_tracker_committable(&m) == want);
	}
	ing_offset_tracker_done(&m);
}

/* One message is slow and everything behind it finishes: the mark stays, fills up, and then moves
 * at once. */
static void test_full(void **state)
{
	(void)state;
	struct ing_offset_tracker m;
	ing_offset_tracker_init(&m, -1);
	const int64_t max = (int64_t)ING_OFFSET_TRACKER_MAX;
	for (int64_t i = 0; i < max; i++) {
		assert_false(ing_offset_tracker_is_full(&m));
		assert_true(ing_offset_tracker_begin(&m, i));
		assert_true(i == 0 || ing_offset_tracker_finish(&m, i));
	}
	assert_true(ing_offset_tracker_is_full(&m));
	assert_false(ing_offset_tracker_begin(&m, max));
	assert_true(ing_offset_tracker_committable(&m) == 0);
	assert_true(ing_offset_tracker_finish(&m, 0));
	assert_false(ing_offset_tracker_is_full(&m));
	assert_true(ing_offset_tracker_committable(&m) == max);
	assert_true(ing_offset_tracker_begin(&m, max));
	assert_true(ing_offset_tracker_committable(&m) == max);
	ing_offset_tracker_done(&m);
	ing_offset_tracker_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_against_model),
		cmocka_unit_test(test_full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
