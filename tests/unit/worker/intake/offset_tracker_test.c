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

enum op {
	END,
	BEGIN,
	BEGIN_NO,
	FINISH,
	FINISH_NO,
	TO_COMMIT,
	TO_COMMIT_NO,
	SETTLE,
	SETTLE_NO,
	REOPEN,
	REOPEN_NO,
	COMMITTABLE,
	SKIP,
	OPEN,    /* unfinished or in a commit: so many */
	ENTRIES, /* from the oldest of them on */
	MARK     /* newest message below the committable; -1: none */
};

struct step {
	enum op op;
	int64_t value;
};

#define MAX_STEPS 28
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
	{"what is in a commit counts as finished, and stays until it is settled",
		{{BEGIN, 5}, {BEGIN, 6}, {BEGIN, 7}, {TO_COMMIT, 5}, {COMMITTABLE, 6}, {OPEN, 3},
			{TO_COMMIT, 7}, {COMMITTABLE, 6}, {ENTRIES, 3}, {SETTLE, 5}, {OPEN, 2},
			{ENTRIES, 2}, {SETTLE, 7}, {OPEN, 1}, {ENTRIES, 2}, {TO_COMMIT, 6},
			{COMMITTABLE, 8}, {ENTRIES, 2}, {SETTLE, 6}, {ENTRIES, 0}, {OPEN, 0}}},
	{"a commit that failed makes its offsets unfinished again",
		{{BEGIN, 5}, {BEGIN, 6}, {TO_COMMIT, 5}, {TO_COMMIT, 6}, {COMMITTABLE, 7},
			{REOPEN, 5}, {COMMITTABLE, 5}, {REOPEN, 6}, {OPEN, 2}, {TO_COMMIT, 6},
			{COMMITTABLE, 5}, {FINISH, 5}, {COMMITTABLE, 7}, {SETTLE, 6}, {OPEN, 0}}},
	{"every state is left by its own way only",
		{{BEGIN, 1}, {BEGIN, 2}, {SETTLE_NO, 1}, {REOPEN_NO, 1}, {TO_COMMIT, 1},
			{TO_COMMIT_NO, 1}, {FINISH_NO, 1}, {FINISH, 2}, {FINISH_NO, 2},
			{TO_COMMIT_NO, 2}, {SETTLE_NO, 2}, {REOPEN_NO, 2}, {TO_COMMIT_NO, 3},
			{SETTLE, 1}, {SETTLE_NO, 1}, {OPEN, 0}}},
	{"the mark is the newest message below the low water",
		{{MARK, -1}, {BEGIN, 4}, {MARK, -1}, {BEGIN, 6}, {BEGIN, 9}, {TO_COMMIT, 4},
			{MARK, 4}, {TO_COMMIT, 9}, {MARK, 4}, {TO_COMMIT, 6}, {MARK, 9},
			{REOPEN, 6}, {MARK, 4}, {SETTLE, 4}, {MARK, 4}, {SETTLE, 9}, {MARK, 4},
			{FINISH, 6}, {MARK, 9}, {SKIP, 40}, {COMMITTABLE, 40}, {MARK, 9}}},
};

static struct ing_tracked message(int64_t offset)
{
	return (struct ing_tracked){offset, 1000 + offset % 1000000, (uint64_t)offset * 7};
}

static void check_move(struct ing_offset_tracker *m, const struct step *s)
{
	static bool (*const moves[])(struct ing_offset_tracker *, int64_t) = {
		[FINISH] = ing_offset_tracker_finish,
		[FINISH_NO] = ing_offset_tracker_finish,
		[TO_COMMIT] = ing_offset_tracker_to_commit,
		[TO_COMMIT_NO] = ing_offset_tracker_to_commit,
		[SETTLE] = ing_offset_tracker_settle,
		[SETTLE_NO] = ing_offset_tracker_settle,
		[REOPEN] = ing_offset_tracker_reopen,
		[REOPEN_NO] = ing_offset_tracker_reopen,
	};
	bool want = s->op == FINISH || s->op == TO_COMMIT || s->op == SETTLE || s->op == REOPEN;
	assert_int_equal(moves[s->op](m, s->value), want);
	const struct ing_tracked *found = ing_offset_tracker_find(m, s->value);
	if (s->op == TO_COMMIT || s->op == REOPEN)
		assert_true(found->timestamp_ms == message(s->value).timestamp_ms &&
			    found->digest == message(s->value).digest);
	if (s->op == FINISH || s->op == SETTLE)
		assert_null(found);
}

static void check_mark(const struct ing_offset_tracker *m, int64_t want)
{
	const struct ing_tracked *mark = ing_offset_tracker_mark(m);
	assert_true((mark == NULL ? -1 : mark->offset) == want);
	assert_true(mark == NULL || mark->timestamp_ms == message(want).timestamp_ms);
}

static void run_step(struct ing_offset_tracker *m, const struct step *s)
{
	const struct ing_tracked taken = message(s->value);
	switch (s->op) {
	case BEGIN:
	case BEGIN_NO:
		assert_int_equal(ing_offset_tracker_begin(m, &taken), s->op == BEGIN);
		break;
	case SKIP:
		ing_offset_tracker_skip(m, s->value);
		break;
	case COMMITTABLE:
		assert_true(ing_offset_tracker_committable(m) == s->value);
		break;
	case OPEN:
		assert_true((int64_t)m->open == s->value);
		break;
	case ENTRIES:
		assert_true((int64_t)m->count == s->value);
		break;
	case MARK:
		check_mark(m, s->value);
		break;
	case END:
		break;
	default:
		check_move(m, s);
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

enum model_state { GONE, UNFINISHED, IN_COMMIT, FINISHED };

/* What the tracker says of the entries from the first that is not finished on, looked at one by
 * one. */
static void check_searches(const struct ing_offset_tracker *m, const int64_t *offsets,
	const enum model_state *states, int begun)
{
	int first = 0;
	while (first < begun && states[first] == FINISHED)
		first++;
	size_t count = (size_t)(begun - first);
	assert_true(m->count == count);
	size_t next[2] = {count, count};
	size_t last = count;
	for (size_t i = count; i-- > 0;) {
		enum model_state state = states[first + (int)i];
		assert_true(ing_offset_tracker_at(m, i)->offset == offsets[first + (int)i]);
		next[state == UNFINISHED] = i;
		if (last == count && state != UNFINISHED)
			last = i;
		assert_true(ing_offset_tracker_next_unfinished(m, i) == next[true]);
		assert_true(ing_offset_tracker_next_finished(m, i) == next[false]);
		assert_int_equal(ing_offset_tracker_find(m, offsets[first + (int)i]) != NULL,
			state != FINISHED);
	}
	assert_true(ing_offset_tracker_last_finished(m) == last);
	int64_t want = next[true] < count ? offsets[first + (int)next[true]]
		       : begun > 0        ? offsets[begun - 1] + 1
					  : -1;
	assert_true(ing_offset_tracker_committable(m) == want);
}

static int count_finished(const enum model_state *states, int begun)
{
	int n = 0;
	for (int i = 0; i < begun; i++)
		n += states[i] == FINISHED;
	return n;
}

/* A window of messages that move from state to state at random, with random gaps, beside a model that
 * looks at every one each time. */
static void test_against_model(void **state)
{
	(void)state;
	enum { COUNT = 1500, WINDOW = 300 };
	static int64_t offsets[COUNT];
	static enum model_state states[COUNT];
	struct ing_offset_tracker m;
	ing_offset_tracker_init(&m, -1);
	srand(20261121);
	int begun = 0;
	int finished = 0;
	int64_t offset = 17;
	while (finished < COUNT) {
		if (begun < COUNT && (rand() % 3 == 0 || begun == finished)) {
			offset += 1 + (rand() % 10 == 0 ? rand() % 20 : 0);
			const struct ing_tracked taken = message(offset);
			assert_true(ing_offset_tracker_begin(&m, &taken));
			states[begun] = UNFINISHED;
			offsets[begun++] = offset;
		} else {
			int oldest = begun > WINDOW ? begun - WINDOW : 0;
			int pick = rand() % 50 == 0 || begun == COUNT
					   ? rand() % begun
					   : oldest + rand() % (begun - oldest);
			enum model_state *s = &states[pick];
			bool good = rand() % 4 != 0;
			if (*s == UNFINISHED && rand() % 3 == 0) {
				assert_true(ing_offset_tracker_finish(&m, offsets[pick]));
				*s = FINISHED;
			} else if (*s == UNFINISHED) {
				assert_true(ing_offset_tracker_to_commit(&m, offsets[pick]));
				*s = IN_COMMIT;
			} else if (*s == IN_COMMIT && good) {
				assert_true(ing_offset_tracker_settle(&m, offsets[pick]));
				*s = FINISHED;
			} else if (*s == IN_COMMIT) {
				assert_true(ing_offset_tracker_reopen(&m, offsets[pick]));
				*s = UNFINISHED;
			} else {
				assert_false(ing_offset_tracker_finish(&m, offsets[pick]));
			}
			finished = count_finished(states, begun);
		}
		check_searches(&m, offsets, states, begun);
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
		const struct ing_tracked taken = message(i);
		assert_false(ing_offset_tracker_is_full(&m));
		assert_true(ing_offset_tracker_begin(&m, &taken));
		assert_true(i == 0 || ing_offset_tracker_finish(&m, i));
	}
	const struct ing_tracked next = message(max);
	assert_true(ing_offset_tracker_is_full(&m));
	assert_int_equal(ing_offset_tracker_fill_percent(&m), 100);
	assert_false(ing_offset_tracker_begin(&m, &next));
	assert_true(ing_offset_tracker_committable(&m) == 0);
	assert_true(ing_offset_tracker_finish(&m, 0));
	assert_false(ing_offset_tracker_is_full(&m));
	assert_int_equal(ing_offset_tracker_fill_percent(&m), 0);
	assert_true(ing_offset_tracker_committable(&m) == max);
	assert_true(ing_offset_tracker_begin(&m, &next));
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
