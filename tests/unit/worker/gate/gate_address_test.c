/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses: budgets shared by many names, when names are looked up, and hosts that are addresses
 * (gate.host_key: address).
 */
#include "tests/unit/worker/gate/gate_world.h"

#include "common/net/addr.h"

static const struct world_name names[] = {
	{"a.example", "192.0.2.1"},
	{"www.a.example", "192.0.2.1"},
	{"b.example", "192.0.2.1"},
	{"c.example", "192.0.2.1"},
	{"d.example", "192.0.2.1"},
	{"e.example", "192.0.2.1"},
	{"other.example", "192.0.2.2"},
	{"six.example", "2001:db8::1"},
	{"192.0.2.1", "192.0.2.1"},
	{"[2001:db8::1]", "2001:db8::1"},
	{"nowhere.example", NULL},
};

static void open_with(struct ing_gate_conf conf, unsigned delay_ms)
{
	lookups = (struct world_lookups){
		.names = names, .count = ING_ARRAY_LEN(names), .delay_ms = delay_ms};
	conf.settings.concurrency = conf.settings.concurrency ? conf.settings.concurrency : 100;
	conf.settings.host_concurrency =
		conf.settings.host_concurrency ? conf.settings.host_concurrency : 1;
	conf.lookup = world_lookup_ops();
	open_gate(&conf);
}

static void many_names_share_the_budget_of_their_address(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 2}}, 10);
	enter(0, "https://a.example/");
	enter(1, "https://b.example/");
	enter(2, "https://c.example/");
	enter(3, "https://d.example/");
	enter(4, "https://other.example/");
	enter(5, "https://nowhere.example/");
	run_for(9);
	assert_int_equal(granted_count, 0);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.need, ING_NEED_ADDRESS);
	assert_int_equal(v.addr.family, 0);
	run_for(1);
	assert_int_equal(granted_count, 4); /* two of the four, and the two others */
	assert_true(ing_gate_explain(gate, "c.example", &v));
	assert_int_equal(v.need, ING_NEED_ADDRESS_SLOT);
	assert_int_equal(v.addr.family, 4);
	assert_int_equal(v.addr_holding, 2);
	/* First come, first served; whoever comes now stands behind those who are parked. */
	answer_good(0);
	enter(6, "https://e.example/");
	run_for(100);
	assert_int_equal(granted_count, 5);
	assert_int_equal(order[4], 2);
	answer_good(1);
	answer_good(2);
	run_for(0);
	assert_int_equal(granted_count, 7);
	assert_int_equal(order[5], 3);
	assert_int_equal(order[6], 6);
	close_gate();
}

static void at_one_address_the_higher_lane_goes_first(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1}}, 0);
	enter_lane(0, "https://a.example/", ING_LANE_BULK);
	run_for(0);
	enter_lane(1, "https://b.example/", ING_LANE_BULK);
	enter_lane(2, "https://c.example/", ING_LANE_BULK);
	run_for(0);
	enter_lane(3, "https://d.example/", ING_LANE_PRIORITY);
	enter_lane(4, "https://c.example/", ING_LANE_REQUESTS); /* rises while parked */
	run_for(0);
	static const int want[] = {0, 3, 4, 1, 2};
	for (int i = 0; i < (int)ING_ARRAY_LEN(want); i++) {
		run_for(0);
		assert_int_equal(granted_count, i + 1);
		assert_int_equal(order[i], want[i]);
		answer_good(want[i]);
	}
	close_gate();
}

/* A slot is free and its first host called, but the gate is full: when a better lane takes the slot
 * meanwhile, the called host waits at the front again, and nobody is forgotten. */
static void a_host_offered_a_slot_that_is_gone_keeps_its_place(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1, .concurrency = 2}},
		0);
	enter(0, "https://a.example/");
	enter(1, "https://other.example/");
	run_for(0);
	enter_lane(2, "https://b.example/", ING_LANE_BULK);
	enter_lane(3, "https://c.example/", ING_LANE_BULK);
	run_for(0);
	answer_good(0);
	enter_lane(4, "https://d.example/", ING_LANE_PRIORITY);
	run_for(0);
	assert_int_equal(order[2], 4);
	leave(1);
	run_for(0);
	assert_int_equal(granted_count, 3);
	leave(4);
	run_for(0);
	assert_int_equal(granted_count, 4);
	assert_int_equal(order[3], 2);
	answer_good(2);
	run_for(0);
	assert_int_equal(order[4], 3);
	close_gate();
}

static void an_offer_to_a_host_that_nobody_waits_for_goes_to_the_next(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1}}, 0);
	for (int i = 0; i < 4; i++) {
		static const char *const urls[] = {"https://a.example/", "https://b.example/",
			"https://c.example/", "https://d.example/"};
		enter(i, urls[i]);
		run_for(0);
	}
	ing_gate_hold(gate, true);
	answer_good(0);
	leave(1); /* called, but not granted */
	leave(2); /* called in its place */
	ing_gate_hold(gate, false);
	run_for(0);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 3);
	close_gate();
}

static void no_budget_no_limit(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 0}}, 0);
	enter(0, "https://a.example/");
	enter(1, "https://b.example/");
	enter(2, "https://c.example/");
	run_for(0);
	assert_int_equal(granted_count, 3);
	close_gate();
}

static void an_answer_is_kept_for_a_minute(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1}}, 5);
	for (int i = 0; i < 10; i++) {
		enter(i, "https://www.a.example:8443/x");
		run_for(10);
		answer_good(i);
		run_for(3990);
	}
	assert_int_equal(lookups.started, 1);
	/* Looked up as it was asked for: with its www., its scheme and its port. */
	assert_string_equal(lookups.last_url, "https://www.a.example:8443/");
	run_for(20005);
	assert_int_equal(lookups.started, 1); /* nobody waits */
	enter(10, "http://a.example/");
	run_for(4);
	assert_int_equal(granted_count, 10);
	run_for(1);
	assert_int_equal(granted_count, 11);
	assert_int_equal(lookups.started, 2);
	assert_string_equal(lookups.last_url, "http://a.example:80/");
	close_gate();
}

static void a_host_that_moved_leaves_its_old_budget(void **state)
{
	(void)state;
	static const struct world_name before[] = {
		{"a.example", "192.0.2.1"}, {"b.example", "192.0.2.1"}};
	static const struct world_name after[] = {
		{"a.example", "192.0.2.9"}, {"b.example", "192.0.2.1"}};
	struct ing_gate_host_view v;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1}}, 0);
	lookups.names = before;
	lookups.count = 2;
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	run_for(0);
	lookups.names = after;
	run_for(61000);
	assert_int_equal(lookups.started, 1); /* not while a transfer runs */
	answer_good(0);
	run_for(0);
	assert_int_equal(lookups.started, 2);
	assert_int_equal(granted_count, 2);
	enter(2, "https://b.example/");
	run_for(0);
	assert_int_equal(granted_count, 3);
	assert_true(ing_gate_explain(gate, "a.example", &v));
	assert_int_equal(v.addr.bytes[3], 9);
	close_gate();
}

static void lookups_under_way_are_bounded(void **state)
{
	(void)state;
	open_with(
		(struct ing_gate_conf){.settings = {.address_concurrency = 1, .concurrency = 4000}},
		1000);
	for (int i = 0; i < 2500; i++) {
		char url[64];
		if (i == 2400)
			continue;
		snprintf(url, sizeof(url), "https://nowhere%d.example/", i);
		enter(i, url);
	}
	enter_lane(2500, "https://a.example/", ING_LANE_PRIORITY);
	enter_lane(2501, "https://nowhere2400.example/", ING_LANE_BULK);
	enter_lane(2400, "https://nowhere2400.example/", ING_LANE_PRIORITY); /* rises */
	run_for(1000);
	assert_int_equal(lookups.most_under_way, 940);
	assert_int_equal(visitors[2500].granted_ms, world_now()); /* went first */
	assert_int_equal(visitors[2400].granted_ms, world_now());
	run_for(2000);
	assert_int_equal(granted_count, 2501); /* all hosts; one has a second waiter */
	close_gate();
}

static void dead_names_of_other_lanes_do_not_hold_up_the_priority_lanes(void **state)
{
	(void)state;
	open_with(
		(struct ing_gate_conf){.settings = {.address_concurrency = 1, .concurrency = 4000}},
		1000);
	for (int i = 0; i < 3000; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://nowhere%d.example/", i);
		enter_lane(i, url, i < 1500 ? ING_LANE_BULK : ING_LANE_REQUESTS);
	}
	run_for(500);
	assert_int_equal(lookups.under_way, 940);
	for (int i = 3000; i < 3100; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://nowhere%d.example/", i);
		enter_lane(i, url, ING_LANE_PRIORITY);
	}
	run_for(0);
	assert_int_equal(lookups.under_way, 1000); /* at once, and no more than that */
	run_for(5000);
	assert_int_equal(granted_count, 3100);
	close_gate();
}

static void who_has_to_wait_anyway_is_looked_up_when_its_time_comes(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1,
						 .backoff = {.delay_ms = 500,
							 .crawl_delay_max_ms = 120000}}},
		10);
	enter_with(0, "https://a.example/", &(struct ing_gate_ticket){.crawl_delay_ms = 120000});
	enter(1, "https://a.example/");
	run_for(10);
	answer_good(0);
	run_for(119999);
	assert_int_equal(lookups.started, 1);
	run_for(11);
	assert_int_equal(lookups.started, 2);
	assert_int_equal(granted_count, 2);
	/* A short pause is made use of. */
	enter_with(2, "https://a.example/", &(struct ing_gate_ticket){.robots_known = true});
	run_for(70000);
	answer_good(1);
	run_for(500);
	assert_int_equal(lookups.started, 3);
	assert_int_equal(granted_count, 3);
	close_gate();
}

static void what_another_worker_has_is_seldom_looked_up(void **state)
{
	(void)state;
	struct ing_leases *leases = world_leases();
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1}, .leases = leases},
		10);
	enter(0, "https://a.example/");
	run_for(100);
	for (int i = 0; i < 50; i++) {
		world_lease_event("a.example", ING_LEASE_HELD, 3000, NULL);
		run_for(3000);
	}
	assert_in_range(lookups.started, 1, 4);
	close_gate();
}

static void a_lookup_survives_its_waiter(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1}}, 50);
	enter(0, "https://a.example/");
	run_for(10);
	leave(0);
	run_for(10);
	enter(0, "https://a.example/");
	run_for(30);
	assert_int_equal(granted_count, 1);
	assert_int_equal(lookups.started, 1);
	enter(1, "https://b.example/");
	run_for(10);
	close_gate(); /* with one under way */
}

static void a_host_with_its_address_is_small(void **state)
{
	(void)state;
	enum { HOSTS = 2000 };
	static char texts[HOSTS][2][40];
	static struct world_name many[HOSTS];
	struct ing_gate_stats s;
	open_with((struct ing_gate_conf){.settings = {.address_concurrency = 1, .concurrency = 1}},
		0);
	for (int i = 0; i < HOSTS; i++) {
		char url[64];
		snprintf(texts[i][0], sizeof(texts[i][0]), "host-%d.example.org", i);
		snprintf(texts[i][1], sizeof(texts[i][1]), "192.0.%d.%d", i / 256, i % 256);
		many[i] = (struct world_name){texts[i][0], texts[i][1]};
		snprintf(url, sizeof(url), "https://host-%d.example.org/", i);
		enter(i, url);
	}
	lookups.names = many;
	lookups.count = HOSTS;
	run_for(0);
	assert_int_equal(lookups.started, HOSTS);
	ing_gate_stats(gate, &s);
	assert_int_equal(s.hosts, HOSTS);
	print_message("a waiting host with its address: %zu bytes\n", (size_t)s.bytes / HOSTS);
	assert_in_range(s.bytes / HOSTS, 400, 1024);
	close_gate();
}

/* --- gate.host_key: address --- */

static void by_address_all_its_names_are_one_host(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_with((struct ing_gate_conf){.settings = {.key = ING_KEY_ADDRESS,
						 .address_concurrency = 8,
						 .backoff.delay_ms = 100}},
		10);
	enter_lane(0, "https://a.example/", ING_LANE_BULK);
	enter_lane(1, "https://a.example/", ING_LANE_REQUESTS);
	enter_lane(2, "https://b.example/", ING_LANE_BULK);
	enter_lane(3, "https://192.0.2.1/", ING_LANE_DAILY);
	enter_lane(4, "https://nowhere.example/", ING_LANE_BULK);
	enter_lane(5, "https://[2001:DB8::1]/", ING_LANE_BULK);
	enter_lane(6, "https://six.example/", ING_LANE_BULK);
	run_for(10);
	assert_int_equal(granted_count, 3);
	assert_true(ing_gate_explain(gate, "www.a.example", &v));
	assert_string_equal(v.key, "192.0.2.1");
	assert_int_equal(v.waiting[ING_LANE_BULK], 2);
	assert_int_equal(v.waiting[ING_LANE_DAILY], 1);
	assert_int_equal(v.holding, 1);
	assert_true(ing_gate_explain(gate, "six.example", &v));
	assert_string_equal(v.key, "[2001:db8::1]");
	assert_true(ing_gate_explain(gate, "nowhere.example", &v));
	assert_string_equal(v.key, "nowhere.example");
	assert_int_equal(v.holding, 1);
	/* The lanes and pauses are the address's. */
	answer_good(1);
	run_for(99);
	assert_int_equal(granted_count, 3);
	run_for(1);
	assert_int_equal(granted_count, 4);
	assert_int_equal(order[3], 3);
	/* A name known goes straight to its address. */
	enter_lane(7, "https://b.example/", ING_LANE_PRIORITY);
	answer_good(3);
	run_for(100);
	assert_int_equal(order[4], 7);
	unsigned started = lookups.started;
	run_for(60000);
	assert_int_equal(lookups.started, started);
	/* One that is known no longer is looked up again. */
	enter_lane(8, "https://b.example/", ING_LANE_PRIORITY);
	answer_good(7);
	run_for(1000);
	assert_int_equal(lookups.started, started + 1);
	assert_int_equal(order[5], 8);
	close_gate();
}

static void by_address_a_hold_is_for_all_its_names(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.key = ING_KEY_ADDRESS,
						 .address_concurrency = 8,
						 .backoff.retry_after_max_ms = 1000000}},
		0);
	enter(0, "https://a.example/");
	run_for(0);
	answer_throttled(0, 60);
	enter(1, "https://b.example/");
	run_for(59999);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	close_gate();
}

static void by_address_a_names_hold_goes_with_it(void **state)
{
	(void)state;
	static const struct world_name gone[] = {{"a.example", NULL}};
	open_with((struct ing_gate_conf){.settings = {.key = ING_KEY_ADDRESS,
						 .address_concurrency = 8,
						 .backoff.retry_after_max_ms = 1000000}},
		0);
	lookups.names = gone;
	lookups.count = 1;
	enter(0, "https://a.example/"); /* through a proxy, say */
	run_for(0);
	answer_throttled(0, 120);
	lookups.names = names;
	lookups.count = ING_ARRAY_LEN(names);
	run_for(110000);
	enter(1, "https://a.example/"); /* held: not even looked up */
	run_for(9999);
	assert_int_equal(lookups.started, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	assert_int_equal(lookups.started, 2);
	close_gate();
}

static void by_address_the_strictest_rule_of_its_names_counts(void **state)
{
	(void)state;
	static const struct ing_host_rules rules = {
		.rules = {{.host = "a.example", .has_delay = true, .delay_ms = 4000},
			{.host = "b.example", .has_delay = true, .delay_ms = 2000}},
		.count = 2};
	open_with((struct ing_gate_conf){.settings = {.key = ING_KEY_ADDRESS,
						 .address_concurrency = 8,
						 .backoff.delay_ms = 100}},
		0);
	for (int i = 0; i < 4; i++)
		enter(i, i % 2 ? "https://b.example/" : "https://a.example/");
	run_for(0);
	ing_gate_set_host_rules(gate, &rules);
	answer_good(order[0]);
	run_for(3999);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	ing_gate_set_host_rules(gate, NULL);
	answer_good(order[1]);
	run_for(100);
	assert_int_equal(granted_count, 3);
	close_gate();
}

static void by_address_the_longest_crawl_delay_of_its_names_counts(void **state)
{
	(void)state;
	static const unsigned delays[] = {3000, 7000, 0, 1000};
	static const char *const urls[] = {"https://a.example/", "https://b.example/",
		"https://c.example/", "https://d.example/"};
	struct ing_gate_host_view v;
	open_with((struct ing_gate_conf){.settings = {.key = ING_KEY_ADDRESS,
						 .address_concurrency = 8,
						 .backoff.crawl_delay_max_ms = 60000}},
		10);
	for (int i = 0; i < 4; i++)
		enter_with(i, urls[i],
			&(struct ing_gate_ticket){
				.crawl_delay_ms = delays[i], .robots_known = true});
	run_for(10);
	enter_with(4, urls[2], &(struct ing_gate_ticket){.robots_known = true}); /* goes straight */
	answer_good(0);
	assert_true(ing_gate_explain(gate, "d.example", &v));
	assert_int_equal(v.rest_ms, 7000);
	close_gate();
}

static void by_address_a_delay_ends_at_the_host_of_the_address(void **state)
{
	(void)state;
	open_with((struct ing_gate_conf){.settings = {.key = ING_KEY_ADDRESS,
						 .address_concurrency = 8}},
		0);
	enter_with(0, "https://a.example/", &(struct ing_gate_ticket){.delay_ms = 1000});
	enter(1, "https://a.example/");
	run_for(2000);
	assert_int_equal(granted_count, 1);
	answer_good(1);
	run_for(0);
	assert_int_equal(granted_count, 2);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_names_share_the_budget_of_their_address),
		cmocka_unit_test(at_one_address_the_higher_lane_goes_first),
		cmocka_unit_test(a_host_offered_a_slot_that_is_gone_keeps_its_place),
		cmocka_unit_test(an_offer_to_a_host_that_nobody_waits_for_goes_to_the_next),
		cmocka_unit_test(no_budget_no_limit),
		cmocka_unit_test(an_answer_is_kept_for_a_minute),
		cmocka_unit_test(a_host_that_moved_leaves_its_old_budget),
		cmocka_unit_test(lookups_under_way_are_bounded),
		cmocka_unit_test(dead_names_of_other_lanes_do_not_hold_up_the_priority_lanes),
		cmocka_unit_test(who_has_to_wait_anyway_is_looked_up_when_its_time_comes),
		cmocka_unit_test(what_another_worker_has_is_seldom_looked_up),
		cmocka_unit_test(a_lookup_survives_its_waiter),
		cmocka_unit_test(a_host_with_its_address_is_small),
		cmocka_unit_test(by_address_all_its_names_are_one_host),
		cmocka_unit_test(by_address_a_hold_is_for_all_its_names),
		cmocka_unit_test(by_address_a_names_hold_goes_with_it),
		cmocka_unit_test(by_address_the_strictest_rule_of_its_names_counts),
		cmocka_unit_test(by_address_the_longest_crawl_delay_of_its_names_counts),
		cmocka_unit_test(by_address_a_delay_ends_at_the_host_of_the_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
