/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every rule of back-off as a line of a table: what was known, what came, how long the host rests
 * then, why, and what is known after. Then what takes several reports: back-off, breaker, merging,
 * fading.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/gate/backoff.h"

#define NOW 1000000
#define NO_JITTER 0
#define MOST_JITTER UINT32_MAX

static const struct ing_host_backoff_settings conf = {
	.delay_ms = 500,
	.crawl_delay_max_ms = 60000,
	.adaptive_factor = 2,
	.adaptive_max_ms = 30000,
	.retry_after_max_ms = 86400000,
	.backoff_ms = 5000,
	.backoff_max_ms = 3600000,
	.breaker_failures = 10,
};

#define GOOD(ms)                                                                                   \
	{                                                                                          \
		.kind = ING_ANSWER_GOOD, .http_status = 200, .response_ms = (ms),                  \
		.retry_after_s = -1                                                                \
	}
#define THROTTLED(s)                                                                               \
	{                                                                                          \
		.kind = ING_ANSWER_THROTTLED, .http_status = 429, .retry_after_s = (s)             \
	}
#define FAILED(ms)                                                                                 \
	{                                                                                          \
		.kind = ING_ANSWER_FAILED, .response_ms = (ms), .retry_after_s = -1                \
	}

static const struct {
	const char *name;
	struct ing_host_backoff before;
	struct ing_gate_report report;
	uint64_t rest_ms; /* from NOW */
	enum ing_rest rest;
	unsigned failures;
	enum ing_breaker breaker;
} cases[] = {
	{"nothing was asked", {0}, {.kind = ING_ANSWER_NONE, .response_ms = 900}, 0, ING_REST_NONE,
		0, 0},
	{"asked and called off", {.failures = 2}, {.kind = ING_ANSWER_CANCELLED}, 500,
		ING_REST_DELAY, 2, 0},
	{"quick answer", {0}, GOOD(10), 500, ING_REST_DELAY, 0, 0},
	{"answer of a quarter second", {0}, GOOD(250), 500, ING_REST_DELAY, 0, 0},
	{"slow answer", {0}, GOOD(2000), 4000, ING_REST_ADAPTIVE, 0, 0},
	{"very slow answer", {0}, GOOD(60000), 30000, ING_REST_ADAPTIVE, 0, 0},
	{"a time that would overflow", {0}, GOOD(UINT32_MAX), 30000, ING_REST_ADAPTIVE, 0, 0},
	{"crawl delay", {.crawl_delay_ms = 7000}, GOOD(10), 7000, ING_REST_CRAWL_DELAY, 0, 0},
	{"crawl delay below ours", {.crawl_delay_ms = 100}, GOOD(10), 500, ING_REST_DELAY, 0, 0},
	{"crawl delay over the ceiling", {.crawl_delay_ms = 600000}, GOOD(10), 60000,
		ING_REST_CRAWL_DELAY, 0, 0},
	{"slower than its crawl delay", {.crawl_delay_ms = 1000}, GOOD(3000), 6000,
		ING_REST_ADAPTIVE, 0, 0},
	{"good ends failures", {.failures = 9, .opens = 0}, GOOD(10), 500, ING_REST_DELAY, 0, 0},
	{"good closes a half-open breaker",
		{.failures = 12, .opens = 3, .breaker = ING_BREAKER_HALF_OPEN}, GOOD(10), 500,
		ING_REST_DELAY, 0, ING_BREAKER_CLOSED},
	{"a straggler does not close an open one",
		{.failures = 12,
			.opens = 3,
			.breaker = ING_BREAKER_OPEN,
			.rest_until_ms = NOW + 9000,
			.rest = ING_REST_BREAKER},
		GOOD(10), 9000, ING_REST_BREAKER, 12, ING_BREAKER_OPEN},
	{"good does not shorten a hold",
		{.rest_until_ms = NOW + 9000, .rest = ING_REST_RETRY_AFTER}, GOOD(10), 9000,
		ING_REST_RETRY_AFTER, 0, 0},
	{"retry-after", {0}, THROTTLED(120), 120000, ING_REST_RETRY_AFTER, 1, 0},
	{"retry-after of a week", {0}, THROTTLED(7 * 86400), 86400000, ING_REST_RETRY_AFTER, 1, 0},
	{"retry-after of all time", {0}, THROTTLED(INT64_MAX), 86400000, ING_REST_RETRY_AFTER, 1,
		0},
	{"retry-after that is over", {0}, THROTTLED(0), 500, ING_REST_DELAY, 1, 0},
	{"retry-after below the pause", {.crawl_delay_ms = 5000}, THROTTLED(2), 5000,
		ING_REST_CRAWL_DELAY, 1, 0},
	{"no retry-after", {0}, THROTTLED(-1), 5000, ING_REST_BACKOFF, 1, 0},
	{"no retry-after, again", {.failures = 3}, THROTTLED(-1), 40000, ING_REST_BACKOFF, 4, 0},
	{"back-off at its ceiling", {.failures = 4000000000, .breaker = ING_BREAKER_OPEN},
		THROTTLED(-1), 3600000, ING_REST_BACKOFF, 4000000001, ING_BREAKER_OPEN},
	{"a failure alone", {0}, FAILED(10), 500, ING_REST_DELAY, 1, 0},
	{"a silent host", {0}, FAILED(10000), 20000, ING_REST_ADAPTIVE, 1, 0},
	{"the ninth failure", {.failures = 8}, FAILED(10), 500, ING_REST_DELAY, 9, 0},
	{"the tenth failure", {.failures = 9}, FAILED(10), 5000, ING_REST_BREAKER, 10,
		ING_BREAKER_OPEN},
	{"the tenth, throttled", {.failures = 9}, THROTTLED(-1), 2560000, ING_REST_BACKOFF, 10,
		ING_BREAKER_OPEN},
	{"the trial fails", {.failures = 10, .opens = 1, .breaker = ING_BREAKER_HALF_OPEN},
		FAILED(10), 10000, ING_REST_BREAKER, 11, ING_BREAKER_OPEN},
	{"the time of the trial is kept",
		{.failures = 10, .opens = 1, .breaker = ING_BREAKER_HALF_OPEN}, THROTTLED(60),
		60000, ING_REST_RETRY_AFTER, 11, ING_BREAKER_OPEN},
	{"the hundredth trial", {.failures = 110, .opens = 99, .breaker = ING_BREAKER_HALF_OPEN},
		FAILED(10), 3600000, ING_REST_BREAKER, 111, ING_BREAKER_OPEN},
	{"the trial was not made", {.failures = 10, .opens = 1, .breaker = ING_BREAKER_HALF_OPEN},
		{.kind = ING_ANSWER_NONE}, 0, ING_REST_NONE, 10, ING_BREAKER_HALF_OPEN},
	{"the trial was called off", {.failures = 10, .opens = 1, .breaker = ING_BREAKER_HALF_OPEN},
		{.kind = ING_ANSWER_CANCELLED}, 500, ING_REST_DELAY, 10, ING_BREAKER_HALF_OPEN},
	{"a straggler's failure",
		{.failures = 10,
			.opens = 1,
			.breaker = ING_BREAKER_OPEN,
			.rest_until_ms = NOW + 4000,
			.rest = ING_REST_BREAKER},
		FAILED(10), 4000, ING_REST_BREAKER, 11, ING_BREAKER_OPEN},
};

static void each_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_host_backoff p = cases[i].before;
		ing_host_backoff_report(&p, &conf, &cases[i].report, NOW, NO_JITTER);
		uint64_t rest = p.rest_until_ms > NOW ? p.rest_until_ms - NOW : 0;
		if (rest != cases[i].rest_ms || p.rest != cases[i].rest ||
			p.failures != cases[i].failures || p.breaker != cases[i].breaker)
			fail_msg("%s: %llu ms, %s, %u failures, %s", cases[i].name,
				(unsigned long long)rest, ing_rest_name(p.rest), p.failures,
				ing_breaker_name(p.breaker));
	}
}

static void what_is_off_does_nothing(void **state)
{
	(void)state;
	struct ing_host_backoff_settings off = {.backoff_ms = 5000, .backoff_max_ms = 5000};
	struct ing_host_backoff p = {.crawl_delay_ms = 5000};
	ing_host_backoff_report(&p, &off, &(struct ing_gate_report)GOOD(9000), NOW, NO_JITTER);
	assert_true(p.rest_until_ms <= NOW);
	for (int i = 0; i < 1000; i++)
		ing_host_backoff_report(
			&p, &off, &(struct ing_gate_report)FAILED(10), NOW, NO_JITTER);
	assert_int_equal(p.breaker, ING_BREAKER_CLOSED);
	assert_int_equal(p.failures, 1000);
	/* No Retry-After is honoured with a ceiling of 0. */
	ing_host_backoff_report(&p, &off, &(struct ing_gate_report)THROTTLED(60), NOW, NO_JITTER);
	assert_true(p.rest_until_ms <= NOW);
}

static void jitter_shortens_by_a_quarter_at_most(void **state)
{
	(void)state;
	uint64_t shortest = UINT64_MAX;
	uint64_t longest = 0;
	for (uint64_t random = 0; random <= UINT32_MAX; random += 1000003) {
		struct ing_host_backoff p = {.failures = 2};
		ing_host_backoff_report(
			&p, &conf, &(struct ing_gate_report)THROTTLED(-1), NOW, (uint32_t)random);
		uint64_t rest = p.rest_until_ms - NOW;
		shortest = ING_MIN(shortest, rest);
		longest = ING_MAX(longest, rest);
	}
	assert_int_equal(longest, 20000);
	assert_in_range(shortest, 15000, 15010);
	struct ing_host_backoff p = {.failures = 1000};
	ing_host_backoff_report(
		&p, &conf, &(struct ing_gate_report)THROTTLED(-1), NOW, MOST_JITTER);
	assert_int_equal(p.rest_until_ms - NOW, 3600000 - 900000);
	/* What the host said is not played with. */
	p = (struct ing_host_backoff){0};
	ing_host_backoff_report(
		&p, &conf, &(struct ing_gate_report)THROTTLED(100), NOW, MOST_JITTER);
	assert_int_equal(p.rest_until_ms - NOW, 100000);
}

static void back_off_doubles_up_to_its_ceiling(void **state)
{
	(void)state;
	struct ing_host_backoff_settings c = conf;
	c.breaker_failures = 0;
	struct ing_host_backoff p = {0};
	uint64_t now = NOW;
	uint64_t want = 5000;
	for (int i = 0; i < 40; i++) {
		ing_host_backoff_report(
			&p, &c, &(struct ing_gate_report)THROTTLED(-1), now, NO_JITTER);
		assert_int_equal(p.rest_until_ms - now, want);
		assert_true(ing_host_backoff_is_hold(&p, now));
		now = p.rest_until_ms;
		assert_false(ing_host_backoff_is_hold(&p, now));
		want = ING_MIN(want * 2, 3600000U);
	}
}

static void a_breaker_opens_is_tried_and_closes(void **state)
{
	(void)state;
	struct ing_host_backoff p = {0};
	uint64_t now = NOW;
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(p.breaker, ING_BREAKER_CLOSED);
		assert_int_equal(ing_host_backoff_slots(&p, 4), 4);
		ing_host_backoff_report(
			&p, &conf, &(struct ing_gate_report)FAILED(1), now, NO_JITTER);
		now += 1000;
	}
	assert_int_equal(p.breaker, ING_BREAKER_OPEN);
	assert_int_equal(ing_host_backoff_slots(&p, 4), 1);
	ing_host_backoff_start(&p, now); /* too early */
	assert_int_equal(p.breaker, ING_BREAKER_OPEN);
	for (unsigned opens = 1, ms = 10000; opens < 5; opens++, ms *= 2) {
		now = p.rest_until_ms;
		ing_host_backoff_start(&p, now);
		assert_int_equal(p.breaker, ING_BREAKER_HALF_OPEN);
		assert_int_equal(ing_host_backoff_slots(&p, 4), 1);
		ing_host_backoff_report(
			&p, &conf, &(struct ing_gate_report)FAILED(1), now, NO_JITTER);
		assert_int_equal(p.breaker, ING_BREAKER_OPEN);
		assert_int_equal(p.opens, opens + 1);
		assert_int_equal(p.rest_until_ms - now, ms);
	}
	now = p.rest_until_ms;
	ing_host_backoff_start(&p, now);
	ing_host_backoff_report(&p, &conf, &(struct ing_gate_report)GOOD(1), now, NO_JITTER);
	assert_int_equal(p.breaker, ING_BREAKER_CLOSED);
	assert_int_equal(p.failures, 0);
	assert_int_equal(p.opens, 0);
	assert_int_equal(ing_host_backoff_slots(&p, 4), 4);
}

static const struct {
	const char *name;
	/* clang-format off */
	struct ing_host_backoff ours, fleet, want;
} merges[] = {
	{.name = "strangers", .ours = {0}, .fleet = {0}, .want = {0}},
	{.name = "a longer hold elsewhere", .ours = {.rest_until_ms = 50, .rest = ING_REST_DELAY},
		.fleet = {.rest_until_ms = 90, .rest = ING_REST_RETRY_AFTER},
		.want = {.rest_until_ms = 90, .rest = ING_REST_RETRY_AFTER}},
	{.name = "a longer hold here", .ours = {.rest_until_ms = 90, .rest = ING_REST_BACKOFF},
		.fleet = {.rest_until_ms = 50, .rest = ING_REST_DELAY},
		.want = {.rest_until_ms = 90, .rest = ING_REST_BACKOFF}},
	{.name = "they heard last", .ours = {.failures = 1, .answered_ms = 10, .http_status = 500},
		.fleet = {.failures = 12, .opens = 2, .breaker = ING_BREAKER_OPEN, .answered_ms = 20, .http_status = 503, .response_ms = 7},
		.want = {.failures = 12, .opens = 2, .breaker = ING_BREAKER_OPEN, .answered_ms = 20, .http_status = 503, .response_ms = 7}},
	{.name = "a success elsewhere",
		.ours = {.failures = 12, .breaker = ING_BREAKER_OPEN, .answered_ms = 10},
		.fleet = {.answered_ms = 20, .http_status = 200},
		.want = {.answered_ms = 20, .http_status = 200}},
	{.name = "we heard last", .ours = {.failures = 3, .answered_ms = 30, .http_status = 500},
		.fleet = {.failures = 2, .answered_ms = 20, .http_status = 502},
		.want = {.failures = 3, .answered_ms = 30, .http_status = 500}},
	{.name = "failures at an unknown time",
		.ours = {.answered_ms = 30, .http_status = 500, .failures = 1},
		.fleet = {.failures = 5},
		.want = {.answered_ms = 30, .http_status = 500, .failures = 5}},
	{.name = "crawl delay", .ours = {.crawl_delay_ms = 5}, .fleet = {.crawl_delay_ms = 3},
		.want = {.crawl_delay_ms = 3}},
	{.name = "no crawl delay known there", .ours = {.crawl_delay_ms = 5}, .fleet = {0},
		.want = {.crawl_delay_ms = 5}},
};
/* clang-format on */

static void the_fleets_knowledge_joins_ours(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(merges); i++) {
		struct ing_host_backoff p = merges[i].ours;
		const struct ing_host_backoff *w = &merges[i].want;
		ing_host_backoff_merge(&p, &merges[i].fleet);
		if (p.rest_until_ms != w->rest_until_ms || p.rest != w->rest ||
			p.failures != w->failures || p.opens != w->opens ||
			p.breaker != w->breaker || p.crawl_delay_ms != w->crawl_delay_ms ||
			p.answered_ms != w->answered_ms || p.http_status != w->http_status ||
			p.response_ms != w->response_ms)
			fail_msg("%s", merges[i].name);
	}
}

static void a_crawl_delay_counts_from_the_answer_that_told_it(void **state)
{
	(void)state;
	struct ing_host_backoff p = {0};
	ing_host_backoff_set_crawl_delay(&p, &conf, 3000);
	assert_int_equal(p.rest_until_ms, 0); /* nobody was asked yet */
	ing_host_backoff_report(&p, &conf, &(struct ing_gate_report)GOOD(10), NOW, NO_JITTER);
	assert_int_equal(p.rest_until_ms, NOW + 3000);
	ing_host_backoff_set_crawl_delay(&p, &conf, 5000);
	assert_int_equal(p.rest_until_ms, NOW + 5000);
	assert_int_equal(p.rest, ING_REST_CRAWL_DELAY);
	ing_host_backoff_set_crawl_delay(&p, &conf, 0);
	assert_int_equal(p.rest_until_ms, NOW + 5000); /* what was begun is kept */
	ing_host_backoff_set_crawl_delay(&p, &conf, UINT32_MAX);
	assert_int_equal(p.rest_until_ms, NOW + conf.crawl_delay_max_ms);
}

static void what_a_further_failure_would_cost(void **state)
{
	(void)state;
	assert_int_equal(ing_host_backoff_next_hold_ms(&(struct ing_host_backoff){0}, &conf), 0);
	assert_int_equal(
		ing_host_backoff_next_hold_ms(&(struct ing_host_backoff){.failures = 3}, &conf),
		20000);
	assert_int_equal(
		ing_host_backoff_next_hold_ms(&(struct ing_host_backoff){.failures = 300}, &conf),
		conf.backoff_max_ms);
}

static void failures_fade(void **state)
{
	(void)state;
	struct ing_host_backoff p = {0};
	assert_false(ing_host_backoff_is_active(&p, NOW));
	ing_host_backoff_report(&p, &conf, &(struct ing_gate_report)THROTTLED(60), NOW, NO_JITTER);
	uint64_t end = NOW + 60000 + ING_HOST_BACKOFF_EXPIRE_MS;
	assert_int_equal(ing_host_backoff_expires_at(&p), end);
	ing_host_backoff_expire(&p, end - 1);
	assert_true(ing_host_backoff_is_active(&p, end - 1));
	ing_host_backoff_expire(&p, end);
	assert_false(ing_host_backoff_is_active(&p, end));
	/* The last answer is still known. */
	assert_int_equal(p.http_status, 429);
	/* A rest matters by itself. */
	p = (struct ing_host_backoff){.rest_until_ms = NOW + 1, .rest = ING_REST_DELAY};
	assert_true(ing_host_backoff_is_active(&p, NOW));
	assert_false(ing_host_backoff_is_active(&p, NOW + 1));
}

static void names(void **state)
{
	(void)state;
	static const char *const rests[] = {"none", "delay", "crawl-delay", "adaptive",
		"worker-died", "retry-after", "backoff", "breaker"};
	static const char *const breakers[] = {"closed", "open", "half-open"};
	for (unsigned i = 0; i < ING_RESTS_; i++)
		assert_string_equal(ing_rest_name((enum ing_rest)i), rests[i]);
	for (unsigned i = 0; i < ING_ARRAY_LEN(breakers); i++)
		assert_string_equal(ing_breaker_name((enum ing_breaker)i), breakers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule),
		cmocka_unit_test(what_is_off_does_nothing),
		cmocka_unit_test(jitter_shortens_by_a_quarter_at_most),
		cmocka_unit_test(back_off_doubles_up_to_its_ceiling),
		cmocka_unit_test(a_breaker_opens_is_tried_and_closes),
		cmocka_unit_test(the_fleets_knowledge_joins_ours),
		cmocka_unit_test(a_crawl_delay_counts_from_the_answer_that_told_it),
		cmocka_unit_test(what_a_further_failure_would_cost),
		cmocka_unit_test(failures_fade),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
