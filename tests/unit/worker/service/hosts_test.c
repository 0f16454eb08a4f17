/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a worker answers about hosts, whatever gate, robots and rules say: those are played here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "worker/gate/gate.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/robots/robots.h"
#include "worker/service/hosts.h"

#define MANY 5000

/* --- the players --- */

static struct ing_gate_host_view views[MANY];
static size_t view_count;
static bool gate_blocked;
static struct ing_robots_info robots_info;
static struct ing_host_rule rule;
static const char *block_why;

bool ing_gate_explain(const struct ing_gate *g, const char *host, struct ing_gate_host_view *ret)
{
	(void)g;
	for (size_t i = 0; i < view_count; i++) {
		if (strcmp(views[i].key, host) == 0) {
			*ret = views[i];
			return true;
		}
	}
	return false;
}

void ing_gate_each(const struct ing_gate *g,
	void (*fn)(void *ctx, const struct ing_gate_host_view *v), void *ctx)
{
	(void)g;
	for (size_t i = 0; i < view_count; i++)
		fn(ctx, &views[i]);
}

bool ing_gate_key(enum ing_host_key kind, const char *url, char *ret, size_t ret_bytes)
{
	assert_int_equal(kind, ING_KEY_HOST);
	ret[0] = '\0';
	if (strcmp(url, "https://www.example.org/x") != 0)
		return false;
	snprintf(ret, ret_bytes, "example.org");
	return true;
}

bool ing_gate_blocked(const struct ing_gate *g)
{
	(void)g;
	return gate_blocked;
}

const char *ing_gate_need_name(enum ing_gate_need need)
{
	return need == ING_NEED_NOTHING ? "nothing" : need == ING_NEED_REST ? "rest" : "other";
}

void ing_robots_explain(const struct ing_robots *r, const char *host, struct ing_robots_info *ret)
{
	(void)r;
	assert_string_equal(host, "example.org");
	*ret = robots_info;
}

static unsigned awaited; /* URLs that wait for the robots.txt of views[0] */

void ing_robots_each_awaited(const struct ing_robots *r,
	void (*fn)(void *ctx, const char *origin, unsigned waiting), void *ctx)
{
	(void)r;
	if (awaited > 0)
		fn(ctx, views[0].key, awaited);
}

void ing_gate_look_ahead(const struct ing_gate *g, const char *key, struct ing_gate_outlook *ret)
{
	(void)g;
	(void)key;
	*ret = (struct ing_gate_outlook){.pace_ms = 1500};
}

const struct ing_host_rule *ing_host_rules_find(const struct ing_host_rules *r, const char *host)
{
	return r != NULL && strcmp(host, "example.org") == 0 ? &rule : NULL;
}

const char *ing_blocked_hosts_find(const struct ing_blocked_hosts *b, const char *host)
{
	return b != NULL && strcmp(host, "example.org") == 0 ? block_why : NULL;
}

/* --- asking --- */

static char somebody; /* what the players are handed; nobody looks into it */

static const struct ing_hosts_sources all = {
	.gate = (const void *)&somebody,
	.robots = (const void *)&somebody,
	.host_rules = (const void *)&somebody,
	.blocked_hosts = (const void *)&somebody,
	.instance = "w1",
};

static const struct ing_hosts_sources only_gate = {
	.gate = (const void *)&somebody, .instance = "w1"};

static json_t *ask(const struct ing_hosts_sources *s, const char *request)
{
	json_t *q = json_loads(request, 0, NULL);
	assert_non_null(q);
	json_t *answer = ing_hosts_answer(s, q);
	json_decref(q);
	assert_true(json_is_object(answer));
	return answer;
}

/* got's members that `want` names are as there; members of objects within likewise. */
static void assert_has(const json_t *got, const char *want_text)
{
	const char *key;
	json_t *value;
	json_t *want = json_loads(want_text, JSON_DECODE_ANY, NULL);
	if (want == NULL)
		fail_msg("%s", want_text);
	json_object_foreach (want, key, value) {
		if (!json_equal(json_object_get(got, key), value)) {
			char *is = json_dumps(got, JSON_COMPACT);
			char *should = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
			fail_msg("%s should be %s in %s", key, should, is);
		}
	}
	json_decref(want);
}

static int begin(void **state)
{
	(void)state;
	memset(views, 0, sizeof(views));
	view_count = 1;
	views[0].key = "example.org";
	gate_blocked = false;
	robots_info = (struct ing_robots_info){0};
	rule = (struct ing_host_rule){
		.host = ".example.org", .file = "hosts.yaml", .line = 7, .why = "a small server"};
	block_why = NULL;
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

static void test_requests_that_are_none_are_refused(void **state)
{
	static const char *const requests[] = {
		"{}",
		"{\"ask\": 1}",
		"{\"ask\": \"everything\"}",
		"{\"ask\": \"host\"}",
		"{\"ask\": \"host\", \"host\": 3}",
		"{\"ask\": \"host\", \"host\": \"\"}",
		"{\"ask\": \"top\", \"count\": 0}",
		"{\"ask\": \"top\", \"count\": -3}",
		"{\"ask\": \"top\", \"count\": 1001}",
		"{\"ask\": \"top\", \"count\": \"many\"}",
		"{\"ask\": \"top\", \"count\": 9223372036854775807}",
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(requests); i++) {
		json_t *a = ask(&all, requests[i]);
		if (!json_is_string(json_object_get(a, "error")) || json_object_size(a) != 1)
			fail_msg("%s", requests[i]);
		json_decref(a);
	}
	char *text = malloc(5000);
	memset(text, 'a', 4999);
	text[4999] = '\0';
	json_t *q = json_pack("{s:s,s:s}", "ask", "host", "host", text);
	json_t *a = ing_hosts_answer(&all, q);
	assert_non_null(json_object_get(a, "error"));
	json_decref(a);
	json_decref(q);
	free(text);
}

static void test_a_host_that_is_not_in_use(void **state)
{
	(void)state;
	view_count = 0;
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"https://www.example.org/x\"}");
	assert_has(a, "{\"known\": false, \"host\": \"example.org\", \"instance\": \"w1\","
		      " \"robots\": null, \"blocked\": null}");
	assert_has(json_object_get(a, "rule"), "{\"host\": \".example.org\", \"line\": 7}");
	json_decref(a);
	a = ask(&only_gate, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a, "{\"known\": false, \"rule\": null, \"robots\": null, \"blocked\": null}");
	json_decref(a);
}

static void test_a_stranger_has_nothing_to_say(void **state)
{
	(void)state;
	json_t *a = ask(&only_gate, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a,
		"{\"known\": true, \"host\": \"example.org\", \"need\": \"nothing\","
		" \"waiting\": 0, \"parked\": 0, \"holding\": 0, \"slots\": 0, \"delay\": null,"
		" \"last_answer\": null, \"failures\": 0, \"breaker\": \"closed\","
		" \"address\": null, \"lease\": null}");
	json_decref(a);
}

static void test_a_held_host_says_why_and_who_is_parked(void **state)
{
	uint64_t now = ing_now_ms();
	(void)state;
	views[0].need = ING_NEED_REST;
	views[0].waiting[ING_LANE_PRIORITY] = 2;
	views[0].waiting[ING_LANE_BULK] = 40;
	views[0].slots = 1;
	views[0].rest_ms = 60000;
	views[0].backoff = (struct ing_host_backoff){
		.rest_until_ms = now + 60000,
		.rest = ING_REST_RETRY_AFTER,
		.failures = 3,
		.breaker = ING_BREAKER_HALF_OPEN,
		.http_status = 429,
		.outcome = "host-backoff",
		.answered_ms = now - 5000,
		.response_ms = 120,
	};
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a,
		"{\"need\": \"rest\", \"need_words\": \"the end of its pause\","
		" \"waiting\": 42, \"parked\": 42, \"failures\": 3,"
		" \"queue\": {\"priority\": 2, \"requests\": 0, \"daily\": 0, \"bulk\": 40},"
		" \"breaker\": \"half-open\", \"slots\": 1,"
		" \"delay\": {\"why\": \"retry-after\", \"ms_left\": 60000, \"held\": true}}");
	const json_t *last = json_object_get(a, "last_answer");
	assert_has(last, "{\"http_status\": 429, \"outcome\": \"host-backoff\","
			 " \"response_ms\": 120}");
	assert_in_range(json_integer_value(json_object_get(last, "ms_ago")), 5000, 20000);
	json_decref(a);
}

static void test_an_everyday_pause_parks_nobody(void **state)
{
	(void)state;
	views[0].need = ING_NEED_REST;
	views[0].waiting[ING_LANE_REQUESTS] = 5;
	views[0].rest_ms = 300;
	views[0].backoff.rest = ING_REST_ADAPTIVE;
	views[0].backoff.rest_until_ms = ing_now_ms() + 100000;
	views[0].backoff.answered_ms = 1;
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a, "{\"waiting\": 5, \"parked\": 0,"
		      " \"delay\": {\"why\": \"adaptive\", \"ms_left\": 300, \"held\": false}}");
	assert_has(json_object_get(a, "last_answer"), "{\"http_status\": null, \"outcome\": null}");
	json_decref(a);
}

static void test_needs_are_in_words(void **state)
{
	static const struct {
		enum ing_gate_need need;
		const char *holder;
		bool blocked;
		const char *want;
	} cases[] = {
		{.need = ING_NEED_TURN, .want = "its turn"},
		{.need = ING_NEED_SLOT, .want = "one of its transfers"},
		{.need = ING_NEED_LEASE, .want = "has not answered yet"},
		{.need = ING_NEED_LEASE, .holder = "w2", .want = "held by worker w2"},
		{.need = ING_NEED_ADDRESS, .want = "resolved"},
		{.need = ING_NEED_ADDRESS_SLOT, .want = "at its address"},
		{.need = ING_NEED_ROOM, .want = "documents of its domain"},
		{.need = ING_NEED_GATE, .want = "a later stage"},
		{.need = ING_NEED_GATE, .blocked = true, .want = "the lease database"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		views[0].need = cases[i].need;
		views[0].holder = cases[i].holder;
		gate_blocked = cases[i].blocked;
		json_t *a = ask(&only_gate, "{\"ask\": \"host\", \"host\": \"example.org\"}");
		const char *words = json_string_value(json_object_get(a, "need_words"));
		if (strstr(words, cases[i].want) == NULL)
			fail_msg("%zu: %s", i, words);
		json_decref(a);
	}
}

static void test_leases_and_addresses(void **state)
{
	(void)state;
	views[0].leased = true;
	views[0].lease_ms = 90000;
	assert_true(ing_addr_parse("192.0.2.7", &views[0].addr));
	views[0].addr_holding = 4;
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a, "{\"lease\": {\"ours\": true, \"holder\": \"w1\", \"ms_left\": 90000},"
		      " \"address\": {\"address\": \"192.0.2.7\", \"holding\": 4}}");
	json_decref(a);
	views[0].leased = false;
	views[0].holder = "w2";
	a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a, "{\"lease\": {\"ours\": false, \"holder\": \"w2\", \"ms_left\": null}}");
	json_decref(a);
}

static void test_robots_rule_and_block(void **state)
{
	(void)state;
	robots_info = (struct ing_robots_info){.known = true,
		.verdict = "rules",
		.url = "https://example.org/robots.txt",
		.http_status = 200,
		.age_ms = 1000,
		.expires_ms = 2000,
		.crawl_delay_ms = 10000,
		.waiting = 3};
	rule.has_delay = true;
	rule.delay_ms = 5000;
	rule.obey_robots = ING_CHOICE_NO;
	block_why = "they asked for it";
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a,
		"{\"blocked\": \"they asked for it\","
		" \"robots\": {\"url\": \"https://example.org/robots.txt\", \"verdict\": \"rules\","
		" \"outcome\": null, \"words\": null, \"http_status\": 200, \"age_ms\": 1000, \"expires_ms\": 2000,"
		" \"crawl_delay_ms\": 10000, \"waiting\": 3},"
		" \"rule\": {\"host\": \".example.org\", \"file\": \"hosts.yaml\", \"line\": 7,"
		" \"why\": \"a small server\", \"source\": null, \"delay_ms\": 5000,"
		" \"concurrency\": null, \"obey_robots\": false, \"tls_fallback\": null, \"resolver\": false}}");
	json_decref(a);
}

static void test_a_robots_txt_that_is_not_had(void **state)
{
	(void)state;
	robots_info = (struct ing_robots_info){.known = true,
		.verdict = "failed",
		.url = "https://example.org/robots.txt",
		.outcome = "connect-error",
		.detail = "robots.txt could not be fetched: refused",
		.expires_ms = 2000};
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(json_object_get(a, "robots"),
		"{\"verdict\": \"failed\", \"outcome\": \"connect-error\","
		" \"words\": \"robots.txt could not be fetched: refused\", \"expires_ms\": 2000}");
	json_decref(a);
	robots_info = (struct ing_robots_info){.known = true, .verdict = "ignored"};
	a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(json_object_get(a, "robots"), "{\"verdict\": \"ignored\", \"url\": null}");
	json_decref(a);
}

static void test_bytes_that_are_not_utf8_are_replaced(void **state)
{
	(void)state;
	block_why = "caf\xe9";
	json_t *a = ask(&all, "{\"ask\": \"host\", \"host\": \"example.org\"}");
	assert_has(a, "{\"blocked\": \"caf\xef\xbf\xbd\"}");
	json_decref(a);
}

static unsigned waiting_at(const json_t *list, size_t i)
{
	return (unsigned)json_integer_value(json_object_get(json_array_get(list, i), "waiting"));
}

/* Among many hosts, in no order: the ones that wait most, and the ones that are held longest. */
static void test_top_picks_and_orders(void **state)
{
	static char names[MANY][16];
	uint64_t now = ing_now_ms();
	(void)state;
	view_count = MANY;
	for (size_t i = 0; i < MANY; i++) {
		unsigned mixed = (unsigned)(i * 1237 % MANY); /* each number once */
		snprintf(names[i], sizeof(names[i]), "h%u.example", mixed);
		views[i].key = names[i];
		views[i].waiting[mixed % ING_LANES_] = mixed;
		views[i].rest_ms = 1000000 - mixed;
		views[i].backoff.rest_until_ms = now + 1000000;
		views[i].backoff.rest = mixed % 2 ? ING_REST_BREAKER : ING_REST_DELAY;
	}
	json_t *a = ask(&all, "{\"ask\": \"top\", \"count\": 50}");
	assert_has(a, "{\"instance\": \"w1\"}");
	const json_t *waiting = json_object_get(a, "most_waiting");
	const json_t *held = json_object_get(a, "longest_held");
	assert_int_equal(json_array_size(waiting), 50);
	assert_int_equal(json_array_size(held), 50);
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(waiting_at(waiting, i), MANY - 1 - i);
		assert_int_equal(waiting_at(held, i), 2 * i + 1); /* the odd ones are held */
	}
	json_decref(a);
}

static void test_top_of_hosts_that_were_held_one_after_the_other(void **state)
{
	static char names[MANY][16];
	(void)state;
	view_count = MANY;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "h%u.example", i);
		views[i].key = names[i];
		views[i].waiting[ING_LANE_BULK] = i;
		views[i].rest_ms = 1000000 + i; /* for an hour each */
		views[i].backoff.rest_until_ms = ing_now_ms() + 1000000;
		views[i].backoff.rest = ING_REST_RETRY_AFTER;
	}
	json_t *a = ask(&all, "{\"ask\": \"top\", \"count\": 1000}");
	const json_t *held = json_object_get(a, "longest_held");
	assert_int_equal(json_array_size(held), 1000);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(waiting_at(held, i), MANY - 1 - i);
	json_decref(a);
}

static void test_top_of_few(void **state)
{
	(void)state;
	json_t *a = ask(&all, "{\"ask\": \"top\"}");
	assert_has(a, "{\"most_waiting\": [], \"longest_held\": []}");
	json_decref(a);
	views[0].waiting[ING_LANE_DAILY] = 1;
	a = ask(&all, "{\"ask\": \"top\", \"count\": 1}");
	assert_int_equal(json_array_size(json_object_get(a, "most_waiting")), 1);
	json_decref(a);
}

/* Its fetch is the only waiter in the gate. */
static void a_host_whose_robots_txt_is_awaited_is_ranked_by_all_that_wait(void **state)
{
	(void)state;
	view_count = 3;
	views[0] = (struct ing_gate_host_view){.key = "slow-robots.example", .waiting = {0, 1}};
	views[1] = (struct ing_gate_host_view){.key = "many.example", .waiting = {0, 30}};
	views[2] = (struct ing_gate_host_view){.key = "few.example", .waiting = {0, 20}};
	awaited = 50;
	json_t *a = ask(&all, "{\"ask\": \"top\", \"count\": 2}");
	const json_t *list = json_object_get(a, "most_waiting");
	assert_int_equal(json_array_size(list), 2);
	assert_has(json_array_get(list, 0),
		"{\"host\": \"slow-robots.example\", \"waiting\": 1, \"robots_waiting\": 50, "
		"\"pace_ms\": 1500}");
	assert_has(json_array_get(list, 1),
		"{\"host\": \"many.example\", \"waiting\": 30, \"robots_waiting\": 0}");
	json_decref(a);
	awaited = 0;
}

#define CASE(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_requests_that_are_none_are_refused),
		CASE(test_a_host_that_is_not_in_use),
		CASE(test_a_stranger_has_nothing_to_say),
		CASE(test_a_held_host_says_why_and_who_is_parked),
		CASE(test_an_everyday_pause_parks_nobody),
		CASE(test_needs_are_in_words),
		CASE(test_leases_and_addresses),
		CASE(test_robots_rule_and_block),
		CASE(test_a_robots_txt_that_is_not_had),
		CASE(test_bytes_that_are_not_utf8_are_replaced),
		CASE(test_top_picks_and_orders),
		CASE(test_top_of_hosts_that_were_held_one_after_the_other),
		CASE(test_top_of_few),
		CASE(a_host_whose_robots_txt_is_awaited_is_ranked_by_all_that_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
