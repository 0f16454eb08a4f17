/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shares of hosts: known ones, and beside a search through all caps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/store/requests/share.h"

#define MAX_LEVELS 6

struct levels {
	struct ing_share_level levels[MAX_LEVELS];
	size_t count;
};

static void known_shares(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		struct levels of;
		uint64_t limit;
		double percent;
		uint64_t want_cap, want_total;
	} cases[] = {
		{"nothing is selected of nothing", {{{0}}, 0}, 0, 10, 0, 0},
		{"nobody has too much", {{{5, 100}}, 1}, 0, 10, 5, 500},
		/* 90 of others: 10 of 100 are 10 %. */
		{"a large one is cut", {{{1000, 1}, {9, 10}}, 2}, 0, 10, 10, 100},
		{"several large ones share what is left", {{{1000, 4}, {1, 60}}, 2}, 0, 10, 10,
			100},
		{"a limit that can be filled", {{{1000, 1}, {9, 1000}}, 2}, 100, 10, 10, 100},
		{"a limit that cannot", {{{1000, 1}, {9, 10}}, 2}, 100000, 10, 10, 100},
		{"too few for the share", {{{1000, 9}}, 1}, 0, 10, 0, 0},
		{"just enough of them", {{{1000, 10}}, 1}, 0, 10, 1000, 10000},
		{"just enough of them, with a limit", {{{1000, 10}}, 1}, 105, 10, 10, 100},
		{"all may be one host's", {{{1000, 1}}, 1}, 0, 100, 1000, 1000},
		{"and with a limit", {{{1000, 1}}, 1}, 7, 100, 1000, 7},
		{"a fraction", {{{1000, 1}, {1, 995}}, 2}, 0, 0.5, 5, 1000},
		{"a third of three", {{{7, 3}}, 1}, 0, 100.0 / 3, 7, 21},
		{"counts of a large table", {{{5100000000, 1}, {900, 60000000}}, 2}, 0, 5,
			UINT64_C(2842105263), UINT64_C(56842105263)},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_host_share got = ing_share_cap(
			cases[i].of.levels, cases[i].of.count, cases[i].limit, cases[i].percent);
		if (got.cap != cases[i].want_cap || got.total != cases[i].want_total)
			fail_msg("%s: %lu of %lu, not %lu of %lu", cases[i].name, got.cap,
				got.total, cases[i].want_cap, cases[i].want_total);
	}
}

static uint64_t total_of(const struct levels *l, uint64_t limit, uint64_t cap)
{
	uint64_t total = 0;
	for (size_t i = 0; i < l->count; i++)
		total += l->levels[i].groups * ING_MIN(l->levels[i].requests, cap);
	return limit != 0 ? ING_MIN(total, limit) : total;
}

/* Of all caps that keep the share the one that selects the most. percent is a whole number here. */
static uint64_t best_total(const struct levels *l, uint64_t limit, uint64_t percent)
{
	uint64_t best = 0;
	for (uint64_t cap = 1; cap <= 60; cap++) {
		uint64_t total = total_of(l, limit, cap);
		uint64_t largest = 0;
		for (size_t i = 0; i < l->count; i++)
			largest = ING_MAX(largest, ING_MIN(l->levels[i].requests, cap));
		if (largest * 100 <= total * percent)
			best = ING_MAX(best, total);
	}
	return best;
}

static void no_cap_that_keeps_the_share_selects_more(void **state)
{
	(void)state;
	srandom(7);
	for (int i = 0; i < 20000; i++) {
		struct levels l = {.count = 1 + (size_t)random() % MAX_LEVELS};
		for (size_t k = 0; k < l.count; k++)
			l.levels[k] = (struct ing_share_level){
				1 + (uint64_t)random() % 50, 1 + (uint64_t)random() % 8};
		uint64_t limit = random() % 2 ? 0 : 1 + (uint64_t)random() % 300;
		uint64_t percent = 1 + (uint64_t)random() % 100;
		struct ing_host_share got =
			ing_share_cap(l.levels, l.count, limit, (double)percent);
		assert_int_equal(got.total, total_of(&l, limit, got.cap));
		if (percent < 100)
			assert_true(got.cap * 100 <= got.total * percent || got.cap == 0);
		assert_int_equal(got.total,
			percent < 100 ? best_total(&l, limit, percent) : total_of(&l, limit, 60));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_shares),
		cmocka_unit_test(no_cap_that_keeps_the_share_selects_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
