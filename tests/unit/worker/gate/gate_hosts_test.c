/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What counts as a host, rules about hosts, what is remembered of them and how much room it takes.
 */
#include "tests/unit/worker/gate/gate_world.h"

static const struct {
	enum ing_host_key kind;
	const char *url, *key;
} keys[] = {
	{.kind = ING_KEY_HOST, .url = "https://www.Example.org/a", .key = "example.org"},
	{.kind = ING_KEY_HOST, .url = "http://example.org.:8080/", .key = "example.org"},
	{.kind = ING_KEY_HOST, .url = "http://www.www.example.org/", .key = "www.example.org"},
	{.kind = ING_KEY_HOST, .url = "http://www./", .key = "www"},
	{.kind = ING_KEY_HOST, .url = "http://a.b.example.co.uk/", .key = "a.b.example.co.uk"},
	{.kind = ING_KEY_HOST, .url = "http://[2001:DB8::1]/", .key = "[2001:db8::1]"},
	{.kind = ING_KEY_HOST, .url = "no url", .key = ""},
	{.kind = ING_KEY_HOST, .url = "mailto:someone@example.org", .key = ""},
	{.kind = ING_KEY_DOMAIN, .url = "http://a.b.example.co.uk/", .key = "example.co.uk"},
	{.kind = ING_KEY_DOMAIN, .url = "http://www.example.org/", .key = "example.org"},
	{.kind = ING_KEY_DOMAIN, .url = "http://someone.github.io/", .key = "someone.github.io"},
	{.kind = ING_KEY_DOMAIN, .url = "http://www.github.io/", .key = "github.io"},
	{.kind = ING_KEY_DOMAIN, .url = "http://192.0.2.1/", .key = "192.0.2.1"},
	{.kind = ING_KEY_DOMAIN, .url = "http://localhost/", .key = "localhost"},
	{.kind = ING_KEY_ADDRESS, .url = "http://www.example.org/", .key = "example.org"},
};

static void key_of_a_url(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		char key[300] = "?";
		bool is_host = ing_gate_key(keys[i].kind, keys[i].url, key, sizeof(key));
		if (is_host != (keys[i].key[0] != '\0') || strcmp(key, keys[i].key) != 0)
			fail_msg("%s: %s", keys[i].url, key);
	}
	char small[4] = "?";
	assert_false(ing_gate_key(ING_KEY_HOST, "http://example.org/", small, sizeof(small)));
	assert_string_equal(small, "");
}

static void one_transfer_per_registered_domain(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .key = ING_KEY_DOMAIN}});
	enter(0, "https://a.example.co.uk/");
	enter(1, "https://b.example.co.uk/");
	enter(2, "https://other.co.uk/");
	run_for(0);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 2);
	close_gate();
}

static struct ing_host_rules slow_rules = {
	.rules = {{.host = "slow.example", .has_delay = true, .delay_ms = 9000},
		{.host = "wide.example", .has_concurrency = true, .concurrency = 4},
		{.host = "sub.domain.example", .has_delay = true, .delay_ms = 5000}},
	.count = 3,
};

static void a_rule_overrides_delay_and_slots(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 10, .host_concurrency = 1, .backoff.delay_ms = 100},
		.host_rules = &slow_rules});
	for (int i = 0; i < 6; i++)
		enter(i, "https://www.wide.example/");
	enter(6, "https://slow.example/");
	enter(7, "https://slow.example/");
	run_for(0);
	assert_int_equal(granted_count, 5);
	answer_good(6);
	run_for(8999);
	assert_int_equal(granted_count, 5);
	run_for(1);
	assert_int_equal(granted_count, 6);
	/* Other rules count at once, for those who wait too. */
	static const struct ing_host_rules wider = {
		.rules = {{.host = "wide.example", .has_concurrency = true, .concurrency = 5}},
		.count = 1,
	};
	ing_gate_set_host_rules(gate, &wider);
	run_for(0);
	assert_int_equal(granted_count, 7);
	ing_gate_set_host_rules(gate, NULL);
	answer_good(order[0]);
	answer_good(7);
	run_for(100);
	assert_int_equal(granted_count, 7); /* four hold one slot now: nobody comes in */
	enter(8, "https://slow.example/");
	run_for(0);
	assert_int_equal(granted_count, 8);
	close_gate();
}

static void by_domain_the_strictest_rule_of_a_name_counts(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 10,
						  .host_concurrency = 1,
						  .key = ING_KEY_DOMAIN,
						  .backoff.delay_ms = 100},
		.host_rules = &slow_rules});
	enter(0, "https://domain.example/");
	enter(1, "https://sub.domain.example/");
	run_for(0);
	answer_good(0);
	run_for(4999);
	assert_int_equal(granted_count, 1);
	run_for(1);
	assert_int_equal(granted_count, 2);
	close_gate();
}

static const struct ing_host_rules resolvers = {
	.rules = {{.host = "doi.example",
		.resolver = true,
		.has_delay = true,
		.delay_ms = 40,
		.has_concurrency = true,
		.concurrency = 4}},
	.count = 1,
};

static const struct ing_gate_report slow_answer = {
	.kind = ING_ANSWER_GOOD, .http_status = 302, .response_ms = 600};

/* Its answers are redirects to others: how long they take says little about its load. */
static void a_resolver_is_not_slowed_down_by_its_answers(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 20,
						  .host_concurrency = 1,
						  .backoff = {.delay_ms = 500,
							  .adaptive_factor = 2,
							  .adaptive_max_ms = 30000}},
		.host_rules = &resolvers});
	for (int i = 0; i < 8; i++)
		enter(i, "https://doi.example/10.1/x");
	run_for(0);
	assert_int_equal(granted_count, 4);
	answer(0, &slow_answer);
	run_for(39);
	assert_int_equal(granted_count, 4);
	run_for(1);
	assert_int_equal(granted_count, 5);
	close_gate();
}

static void what_is_to_be_expected_of_a_host_is_told(void **state)
{
	(void)state;
	struct ing_gate_outlook o;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 20,
						  .host_concurrency = 2,
						  .backoff = {.delay_ms = 500,
							  .adaptive_factor = 2,
							  .adaptive_max_ms = 30000,
							  .retry_after_max_ms = 86400000}},
		.host_rules = &resolvers});
	ing_gate_look_ahead(gate, "new.example", &o);
	assert_false(o.resolver);
	assert_int_equal(o.hold_ms, 0);
	assert_int_equal(o.pace_ms, 250);
	ing_gate_look_ahead(gate, "doi.example", &o);
	assert_true(o.resolver);
	assert_int_equal(o.pace_ms, 10);
	enter(0, "https://new.example/");
	enter(1, "https://doi.example/");
	run_for(0);
	answer(0, &slow_answer);
	answer(1, &slow_answer);
	ing_gate_look_ahead(gate, "new.example", &o);
	assert_int_equal(o.pace_ms, (1200 + 600) / 2);
	ing_gate_look_ahead(gate, "doi.example", &o);
	assert_true(o.resolver);
	assert_int_equal(o.pace_ms, (40 + 600) / 4);
	enter(2, "https://new.example/");
	run_for(2000);
	answer_throttled(2, 7200);
	ing_gate_look_ahead(gate, "new.example", &o);
	assert_int_equal(o.hold_ms, 7200 * 1000);
	close_gate();
}

static void a_refused_waiter_knows_how_many_were_before_it(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 20,
						  .host_concurrency = 1,
						  .max_wait_ms = 60000,
						  .backoff.delay_ms = 100000}});
	for (int i = 0; i < 4; i++)
		enter(i, "https://hot.example/");
	run_for(0);
	enter_lane(4, "https://hot.example/", ING_LANE_BULK);
	enter_lane(5, "https://hot.example/", ING_LANE_PRIORITY);
	enter_with(6, "https://hot.example/",
		&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS, .delay_ms = 5000});
	answer_good(0);
	run_for(70000);
	static const unsigned before[] = {0, 1, 2, 3, 3, 0, 4};
	for (int i = 1; i < 7; i++) {
		assert_true(visitors[i].refused);
		assert_int_equal(visitors[i].waiter.before, before[i]);
	}
	close_gate();
}

/* --- memory, and what is remembered --- */

static void a_million_waiters_and_many_hosts_are_small(void **state)
{
	(void)state;
	enum { HOSTS = 20000, WAITERS = 100000 };
	assert_true(sizeof(struct ing_gate_waiter) <= 80);
	struct ing_gate_stats before;
	struct ing_gate_stats after;
	struct ing_gate_waiter *ws = calloc(WAITERS, sizeof(*ws));
	open_gate(&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
	ing_gate_stats(gate, &before);
	for (int i = 0; i < WAITERS; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://host-%d.example.org/", i % HOSTS);
		ws[i].user = visitors[0].waiter.user;
		ing_gate_enter(gate, &ws[i], url, &(struct ing_gate_ticket){.lane = ING_LANE_BULK});
	}
	ing_gate_stats(gate, &after);
	assert_int_equal(after.hosts, HOSTS);
	assert_int_equal(after.waiting, WAITERS);
	size_t each = (after.bytes - before.bytes) / HOSTS;
	print_message(
		"a waiting host: %zu bytes, a waiter: %zu\n", each, sizeof(struct ing_gate_waiter));
	assert_in_range(each, 100, 1024);
	for (int i = 0; i < WAITERS; i++)
		ing_gate_leave(gate, &ws[i], NULL);
	ing_gate_stats(gate, &after);
	assert_int_equal(after.hosts, 10000); /* the last ones are remembered, not all */
	assert_true(after.bytes < 10001 * 1024);
	free(ws);
	close_gate();
}

static void failures_are_remembered_until_they_fade(void **state)
{
	(void)state;
	struct ing_gate_host_view v;
	open_gate(&patient);
	enter(0, "https://bad.example/");
	run_for(0);
	answer(0, &(struct ing_gate_report){.kind = ING_ANSWER_FAILED,
			  .http_status = 500,
			  .outcome = "bad-status",
			  .retry_after_s = -1});
	/* Far more hosts than are remembered for nothing go by. */
	for (int i = 0; i < 11000; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://h%d.example/", i);
		enter(1, url);
		leave(1);
	}
	assert_false(ing_gate_explain(gate, "h0.example", &v));
	assert_true(ing_gate_explain(gate, "h10999.example", &v));
	run_for(599000);
	assert_true(ing_gate_explain(gate, "bad.example", &v));
	assert_int_equal(v.backoff.failures, 1);
	assert_int_equal(v.backoff.http_status, 500);
	assert_string_equal(v.backoff.outcome, "bad-status");
	run_for(1100); /* its pause of 100 ms, then ten minutes */
	assert_true(ing_gate_explain(gate, "bad.example", &v));
	assert_int_equal(v.backoff.failures, 0);
	struct ing_gate_stats s;
	ing_gate_stats(gate, &s);
	assert_int_equal(s.hosts, 10000);
	assert_int_equal(s.hosts_resting, 0);
	assert_false(ing_gate_explain(gate, "never.seen.example", &v));
	assert_false(ing_gate_explain(gate, "not a host", &v));
	close_gate();
}

static void count_views(void *ctx, const struct ing_gate_host_view *v)
{
	unsigned *counts = ctx;
	counts[v->need]++;
}

static void each_host_says_what_it_waits_for(void **state)
{
	(void)state;
	unsigned counts[ING_NEED_GATE + 1] = {0};
	open_gate(&(struct ing_gate_conf){
		.settings = {.concurrency = 3, .host_concurrency = 1, .backoff.delay_ms = 100}});
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	enter(2, "https://b.example/");
	enter(3, "https://c.example/");
	run_for(0);
	enter(4, "https://d.example/");
	enter(5, "https://b.example/");
	answer_good(2);
	enter(6, "https://d.example/");
	ing_gate_each(gate, count_views, counts);
	assert_int_equal(counts[ING_NEED_SLOT], 1);
	assert_int_equal(counts[ING_NEED_REST], 1);
	assert_int_equal(counts[ING_NEED_NOTHING], 1);
	assert_int_equal(counts[ING_NEED_TURN], 1);
	static const char *const names[] = {"nothing", "turn", "slot", "rest", "lease", "address",
		"address-slot", "room", "gate"};
	for (unsigned i = 0; i < ING_ARRAY_LEN(names); i++)
		assert_string_equal(ing_gate_need_name((enum ing_gate_need)i), names[i]);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_of_a_url),
		cmocka_unit_test(one_transfer_per_registered_domain),
		cmocka_unit_test(a_rule_overrides_delay_and_slots),
		cmocka_unit_test(by_domain_the_strictest_rule_of_a_name_counts),
		cmocka_unit_test(a_resolver_is_not_slowed_down_by_its_answers),
		cmocka_unit_test(what_is_to_be_expected_of_a_host_is_told),
		cmocka_unit_test(a_refused_waiter_knows_how_many_were_before_it),
		cmocka_unit_test(a_million_waiters_and_many_hosts_are_small),
		cmocka_unit_test(failures_are_remembered_until_they_fade),
		cmocka_unit_test(each_host_says_what_it_waits_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
