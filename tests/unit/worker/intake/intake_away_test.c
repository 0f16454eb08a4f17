/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Leaving the group by order and joining it again, lanes that are held by order, and lag, against librdkafka's
 * in-process cluster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "group.h"
#include "side_by_side.h"

static const char *const topics[ING_LANES_] = {
	[ING_LANE_REQUESTS] = "r", [ING_LANE_BULK] = "r-bulk"};

static void wait_away(struct fixture *f, const struct worker *w)
{
	uint64_t until = ing_now_ms() + CEILING_MS;
	while (!ing_intake_is_away(w->in) && ing_now_ms() < until)
		turn(f, 20);
	assert_true(ing_intake_is_away(w->in));
}

static struct ing_intake_stats stats_of(const struct worker *w)
{
	struct ing_intake_stats s = {0};
	ing_intake_stats(w->in, &s);
	return s;
}

/* What is finished is committed, what is not comes to the other, and back again. */
static void a_member_that_leaves_gives_its_partitions_to_the_others(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 4);
	fill(&f, ING_LANE_REQUESTS, 40);
	open_worker(&f, &f.a, "one", CHANGING, NULL);
	wait_count(&f, &f.a.messages, 40);
	f.b.finish_at_once = true;
	open_worker(&f, &f.b, "two", CHANGING, NULL);
	wait_shared(&f, 4, 4); /* of two topics */
	for (unsigned i = 40; i < f.a.messages; i++)
		if (f.a.tokens[i].offset < 4)
			ing_intake_finish(f.a.in, f.a.tokens[i]);
	assert_false(ing_intake_is_away(f.a.in));
	ing_intake_leave(f.a.in);
	ing_intake_leave(f.a.in);
	wait_away(&f, &f.a);
	assert_int_equal(stats_of(&f.a).partitions, 0);
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	unsigned had = f.a.messages;
	fill(&f, ING_LANE_REQUESTS, 40);
	wait_committed(&f, ING_LANE_REQUESTS, 20);
	assert_int_equal(f.a.messages, had);
	ing_intake_join(f.a.in);
	assert_false(ing_intake_is_away(f.a.in));
	wait_shared(&f, 4, 4);
	teardown(&f);
}

static void a_member_that_is_away_from_the_start_joins_when_told(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	f.a.starts_away = f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	assert_true(ing_intake_is_away(f.a.in));
	turn(&f, 1500);
	assert_int_equal(f.a.assigned + f.a.messages, 0);
	ing_intake_join(f.a.in);
	wait_count(&f, &f.a.messages, 20);
	wait_committed(&f, ING_LANE_REQUESTS, 10);
	teardown(&f);
}

static void a_lane_that_is_held_is_not_read(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 10);
	fill(&f, ING_LANE_BULK, 30);
	f.a.finish_at_once = true;
	open_worker(&f, &f.a, "one", STEADY, NULL);
	ing_intake_hold_lane(f.a.in, ING_LANE_BULK, true);
	wait_count(&f, &f.a.of_lane[ING_LANE_REQUESTS], 10);
	turn(&f, 1000);
	assert_int_equal(f.a.of_lane[ING_LANE_BULK], 0);
	ing_intake_hold_lane(f.a.in, ING_LANE_BULK, false);
	wait_count(&f, &f.a.of_lane[ING_LANE_BULK], 30);
	teardown(&f);
}

/* Of lanes that are not read, too. */
static void lag_is_what_is_not_finished(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, topics, 2);
	fill(&f, ING_LANE_REQUESTS, 20);
	fill(&f, ING_LANE_BULK, 300);
	open_worker(&f, &f.a, "one", STEADY, NULL);
	ing_intake_hold_lane(f.a.in, ING_LANE_BULK, true);
	wait_count(&f, &f.a.messages, 20);
	uint64_t until = ing_now_ms() + CEILING_MS;
	while (stats_of(&f.a).partitions_measured < 4 && ing_now_ms() < until)
		turn(&f, 50);
	struct ing_intake_stats s = stats_of(&f.a);
	assert_int_equal(s.partitions_measured, 4);
	assert_int_equal(s.lag_requests, 20);
	assert_int_equal(s.lag_bulk, 300);
	for (unsigned i = 0; i < 15; i++)
		ing_intake_finish(f.a.in, f.a.tokens[i]);
	assert_int_equal(stats_of(&f.a).lag_requests, 5);
	fill(&f, ING_LANE_BULK, 100);
	while (stats_of(&f.a).lag_bulk < 400 && ing_now_ms() < until)
		turn(&f, 100);
	assert_int_equal(stats_of(&f.a).lag_bulk, 400);
	assert_int_equal(stats_of(&f.a).lag_priority + stats_of(&f.a).lag_parked, 0);
	teardown(&f);
}

/* usage: intake_away_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_member_that_leaves_gives_its_partitions_to_the_others),
		cmocka_unit_test(a_member_that_is_away_from_the_start_joins_when_told),
		cmocka_unit_test(a_lane_that_is_held_is_not_read),
		cmocka_unit_test(lag_is_what_is_not_finished),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
