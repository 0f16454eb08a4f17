/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which orders of a table a worker obeys, and what they keep it from.
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
#include "common/base/macros.h"
#include "worker/fleet/orders.h"

#define PAUSE ING_ACTION_PAUSE
#define DRAIN ING_ACTION_DRAIN

static struct ing_order order(
	enum ing_order_kind kind, const char *target, enum ing_order_action action)
{
	return (struct ing_order){.kind = kind, .target = target, .action = action};
}

static void nothing_is_ordered_at_first(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	assert_null(ing_orders_instance(o));
	assert_null(ing_orders_lane(o, ING_LANE_BULK));
	assert_null(ing_orders_host(o, "example.org"));
	assert_null(ing_orders_holding(o, "https://example.org/", ING_LANE_BULK, 1));
	assert_null(ing_orders_holding(NULL, "https://example.org/", ING_LANE_BULK, 1));
	assert_int_equal(ing_orders_count(o), 0);
	assert_null(ing_orders_get(o, 0));
	ing_orders_free(o);
}

static void orders_for_other_instances_are_passed_over(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	struct ing_order list[] = {
		order(ING_TARGET_INSTANCE, "two", DRAIN), order(ING_TARGET_INSTANCE, "one", PAUSE)};
	assert_int_equal(ing_orders_replace(o, list, 1, 100), 0);
	assert_null(ing_orders_instance(o));
	assert_int_equal(ing_orders_replace(o, list, 2, 200), 0);
	assert_int_equal(ing_orders_instance(o)->action, PAUSE);
	assert_int_equal(ing_orders_count(o), 1);
	ing_orders_free(o);
}

static void what_is_no_host_or_lane_is_refused(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	const struct ing_order list[] = {
		order(ING_TARGET_HOST, "http://example.org/", PAUSE),
		order(ING_TARGET_HOST, "", PAUSE),
		order(ING_TARGET_HOST, "example.org", PAUSE),
		order(ING_TARGET_HOST, "www.example.org", DRAIN), /* the same host */
		order(ING_TARGET_LANE, "slow", PAUSE),
		order(ING_TARGET_LANE, "bulk", PAUSE),
	};
	assert_int_equal(ing_orders_replace(o, list, ING_ARRAY_LEN(list), 1), 4);
	assert_int_equal(ing_orders_count(o), 2);
	assert_int_equal(ing_orders_get(o, 0)->kind, ING_TARGET_LANE);
	assert_string_equal(ing_orders_get(o, 1)->target, "example.org");
	ing_orders_free(o);
}

static void a_host_is_covered_by_the_most_specific_order(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	const struct ing_order list[] = {
		order(ING_TARGET_HOST, ".example.org", PAUSE),
		order(ING_TARGET_HOST, "b.example.org", DRAIN),
	};
	assert_int_equal(ing_orders_replace(o, list, 2, 1), 0);
	assert_int_equal(ing_orders_host(o, "example.org")->action, PAUSE);
	assert_int_equal(ing_orders_host(o, "www.a.example.org")->action, PAUSE);
	assert_int_equal(ing_orders_host(o, "b.example.org")->action, DRAIN);
	assert_null(ing_orders_host(o, "example.com"));
	ing_orders_free(o);
}

static void an_order_that_goes_on_keeps_its_beginning(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	struct ing_order list[] = {order(ING_TARGET_HOST, "b.example", DRAIN),
		order(ING_TARGET_HOST, "a.example", DRAIN)};
	ing_orders_replace(o, list, 1, 100);
	ing_orders_replace(o, list, 2, 200);
	assert_int_equal(ing_orders_host(o, "b.example")->since_ms, 100);
	assert_int_equal(ing_orders_host(o, "a.example")->since_ms, 200);
	list[0].action = PAUSE; /* and back: requests that came meanwhile are new */
	ing_orders_replace(o, list, 2, 300);
	list[0].action = DRAIN;
	ing_orders_replace(o, list, 2, 400);
	assert_int_equal(ing_orders_host(o, "b.example")->since_ms, 400);
	assert_int_equal(ing_orders_host(o, "a.example")->since_ms, 200);
	ing_orders_free(o);
}

/* What is in memory when a drain begins is finished; a pause holds everything. */
static void requests_are_held(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	const struct ing_order list[] = {
		order(ING_TARGET_HOST, "paused.example", PAUSE),
		order(ING_TARGET_HOST, ".drained.example", DRAIN),
		order(ING_TARGET_LANE, "daily", PAUSE),
		order(ING_TARGET_LANE, "bulk", DRAIN),
	};
	static const struct {
		const char *url;
		enum ing_lane lane;
		uint64_t accepted_ms;
		bool held;
	} cases[] = {
		{"https://www.paused.example/a", ING_LANE_REQUESTS, 50, true},
		{"https://paused.example:8443/a", ING_LANE_PRIORITY, 150, true},
		{"https://sub.paused.example/", ING_LANE_REQUESTS, 150, false},
		{"https://sub.drained.example/", ING_LANE_REQUESTS, 99, false},
		{"https://sub.drained.example/", ING_LANE_REQUESTS, 100, true},
		{"https://free.example/", ING_LANE_DAILY, 1, true},
		{"https://free.example/", ING_LANE_BULK, 1, false},
		{"https://free.example/", ING_LANE_BULK, 101, true},
		{"https://free.example/", ING_LANE_PRIORITY, 101, false},
		{"https://paused.example/", ING_LANE_BULK, 1, true},
	};
	assert_int_equal(ing_orders_replace(o, list, ING_ARRAY_LEN(list), 100), 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		bool held = ing_orders_holding(
				    o, cases[i].url, cases[i].lane, cases[i].accepted_ms) != NULL;
		if (held != cases[i].held)
			fail_msg("case %zu: %s", i, cases[i].url);
	}
	ing_orders_free(o);
}

static void a_local_order_holds_beside_the_databases(void **state)
{
	(void)state;
	struct ing_orders *o = ing_orders_new("one");
	const struct ing_order pause = order(ING_TARGET_INSTANCE, "one", PAUSE);
	struct ing_order drain = order(ING_TARGET_INSTANCE, "one", DRAIN);
	drain.why = "disk";
	ing_orders_set_local(o, &drain, 5);
	ing_orders_replace(o, &pause, 1, 10);
	assert_int_equal(ing_orders_instance(o)->action, DRAIN);
	assert_true(ing_orders_instance(o)->local);
	assert_string_equal(ing_orders_instance(o)->why, "disk");
	assert_int_equal(ing_orders_count(o), 2);
	ing_orders_set_local(o, &pause, 20);
	assert_false(ing_orders_instance(o)->local);
	ing_orders_replace(o, NULL, 0, 30);
	assert_int_equal(ing_orders_instance(o)->action, PAUSE);
	assert_true(ing_orders_instance(o)->local);
	ing_orders_set_local(o, NULL, 0);
	assert_null(ing_orders_instance(o));
	ing_orders_free(o);
}

/* However many there are, the worker takes a bounded number, and in the time of one turn. */
static void orders_are_bounded(void **state)
{
	(void)state;
	enum { MANY = ING_MAX_ORDERS + 100 };
	struct ing_orders *o = ing_orders_new("one");
	struct ing_order *list = ing_alloc(MANY * sizeof(*list));
	char(*names)[32] = ing_alloc(MANY * sizeof(*names));
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "h%d.example", i);
		list[i] = order(ING_TARGET_HOST, names[i], PAUSE);
	}
	assert_int_equal(ing_orders_replace(o, list, MANY, 1), 100);
	assert_int_equal(ing_orders_count(o), ING_MAX_ORDERS);
	assert_int_equal(ing_orders_replace(o, list, MANY, 2), 100);
	assert_int_equal(ing_orders_host(o, "h77.example")->since_ms, 1);
	assert_null(ing_orders_host(o, names[MANY - 1]));
	ing_orders_free(o);
	free(names);
	free(list);
}

static void orders_are_said_in_words(void **state)
{
	(void)state;
	static const struct {
		struct ing_order order;
		uint64_t now_ms;
		const char *want;
	} cases[] = {
		{{.action = PAUSE}, 0, "paused"},
		{{.action = DRAIN, .by = "anna", .why = "new disk"}, 0,
			"drained by anna: new disk"},
		{{.action = PAUSE, .by = "anna", .age_ms = 60000, .read_ms = 1000}, 31000,
			"paused by anna 90 s ago"},
		{{.action = PAUSE, .age_ms = -5, .read_ms = 10, .why = "x"}, 5,
			"paused 0 s ago: x"},
		{{.action = PAUSE, .age_ms = (int64_t)3 * 86400000}, 1, "paused 3 days ago"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf words;
		ing_buf_init(&words, 4096);
		ing_order_add_words(&cases[i].order, cases[i].now_ms, &words);
		assert_string_equal(ing_buf_str(&words), cases[i].want);
		ing_buf_done(&words);
	}
}

static void names_are_read_back(void **state)
{
	(void)state;
	enum ing_order_kind kind;
	enum ing_order_action action;
	for (int i = ING_TARGET_INSTANCE; i <= ING_TARGET_HOST; i++) {
		assert_true(ing_order_kind_from_name(
			ing_order_kind_name((enum ing_order_kind)i), &kind));
		assert_int_equal(kind, i);
	}
	assert_true(ing_order_action_from_name("drain", &action));
	assert_int_equal(action, DRAIN);
	assert_false(ing_order_action_from_name("resume", &action));
	assert_false(ing_order_kind_from_name("worker", &kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_ordered_at_first),
		cmocka_unit_test(orders_for_other_instances_are_passed_over),
		cmocka_unit_test(what_is_no_host_or_lane_is_refused),
		cmocka_unit_test(a_host_is_covered_by_the_most_specific_order),
		cmocka_unit_test(an_order_that_goes_on_keeps_its_beginning),
		cmocka_unit_test(requests_are_held),
		cmocka_unit_test(a_local_order_holds_beside_the_databases),
		cmocka_unit_test(orders_are_bounded),
		cmocka_unit_test(orders_are_said_in_words),
		cmocka_unit_test(names_are_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
