/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What status and log say of holds and breakers; the gate is played here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/gate/gate.h"
#include "worker/gate/robots/robots.h"
#include "worker/service/hosts_watch.h"

static struct ing_gate_stats stats;
static struct ing_gate_host_view views[3];

void ing_gate_stats(const struct ing_gate *g, struct ing_gate_stats *ret)
{
	(void)g;
	*ret = stats;
}

void ing_gate_each(const struct ing_gate *g,
	void (*fn)(void *ctx, const struct ing_gate_host_view *v), void *ctx)
{
	(void)g;
	for (size_t i = 0; i < ING_ARRAY_LEN(views); i++)
		fn(ctx, &views[i]);
}

/* Of b.example 40 requests wait for its robots.txt. */
void ing_robots_explain(const struct ing_robots *r, const char *host, struct ing_robots_info *ret)
{
	(void)r;
	*ret = (struct ing_robots_info){.waiting = host[0] == 'b' ? 40 : 0};
}

static void assert_status(unsigned held, unsigned open, const char *want)
{
	struct ing_buf out;
	ing_buf_init(&out, 1000);
	stats = (struct ing_gate_stats){.hosts_held = held, .breakers_open = open};
	ing_hosts_add_status(NULL, &out);
	assert_string_equal(ing_buf_str(&out), want);
	ing_buf_done(&out);
}

static void the_status_counts_what_is_held(void **state)
{
	(void)state;
	assert_status(0, 0, "");
	assert_status(1, 0, ", 1 host held");
	assert_status(30, 1, ", 30 hosts held, 1 breaker open");
	assert_status(0, 2, ", 2 breakers open");
}

/* want NULL: no line. */
static void assert_line(
	struct ing_hosts_watch *w, uint64_t opens, unsigned open, uint64_t now_ms, const char *want)
{
	struct ing_buf out;
	ing_buf_init(&out, 1000);
	stats = (struct ing_gate_stats){.breaker_opens = opens, .breakers_open = open};
	assert_int_equal(ing_hosts_watch(w, NULL, now_ms, &out), want != NULL);
	assert_string_equal(ing_buf_str(&out), want != NULL ? want : "");
	ing_buf_done(&out);
}

static void breakers_are_told_at_most_once_a_minute(void **state)
{
	(void)state;
	struct ing_hosts_watch w = {0};
	views[0] = (struct ing_gate_host_view){.key = "throttled.example", .rest_ms = 9000000};
	views[1] = (struct ing_gate_host_view){.key = "tried.example",
		.backoff = {.breaker = ING_BREAKER_HALF_OPEN, .failures = 10}};
	views[2] = (struct ing_gate_host_view){.key = "dead.example",
		.rest_ms = 59001,
		.backoff = {.breaker = ING_BREAKER_OPEN, .failures = 12}};
	assert_line(&w, 0, 0, 1000, NULL);
	assert_line(&w, 2, 2, 2000,
		"breakers of hosts: 2 opened, 2 open now, 0 before; longest: dead.example, 12 "
		"failures in a row, held for 60 s");
	assert_line(&w, 3, 3, 2001, NULL);
	assert_line(&w, 9, 4, 2000 + ING_HOSTS_WATCH_MS - 1, NULL);
	views[2].backoff.breaker = ING_BREAKER_CLOSED;
	assert_line(&w, 9, 1, 2000 + ING_HOSTS_WATCH_MS,
		"breakers of hosts: 7 opened, 1 open now, 2 before; longest: tried.example, 10 "
		"failures in a row, held for 0 s");
	assert_line(&w, 9, 1, 5 * ING_HOSTS_WATCH_MS, NULL);
	assert_line(&w, 9, 0, 5 * ING_HOSTS_WATCH_MS + 1,
		"breakers of hosts: 0 opened, 0 open now, 1 before");
}

static void assert_waits(unsigned how, unsigned most, const char *want)
{
	struct ing_buf out;
	ing_buf_init(&out, 1000);
	bool said = ing_hosts_add_waits(NULL, (struct ing_robots *)views, how, most, &out);
	assert_string_equal(ing_buf_str(&out), want);
	assert_int_equal(said, want[0] != '\0');
	ing_buf_done(&out);
}

static void who_keeps_requests_waiting_is_named_the_longest_first(void **state)
{
	uint64_t until = ing_now_ms() + 1000000;
	(void)state;
	stats = (struct ing_gate_stats){.waiting = 12, .hosts_held = 2};
	views[0] = (struct ing_gate_host_view){.key = "a.example",
		.rest_ms = 8001,
		.waiting = {1, 2, 0, 0},
		.backoff = {.rest = ING_REST_RETRY_AFTER, .rest_until_ms = until, .failures = 1}};
	views[1] = (struct ing_gate_host_view){.key = "b.example",
		.rest_ms = 35000,
		.waiting = {0, 1, 0, 0},
		.backoff = {.rest = ING_REST_BREAKER, .rest_until_ms = until, .failures = 11}};
	views[2] = (struct ing_gate_host_view){.key = "paused.example",
		.rest_ms = 20000,
		.waiting = {0, 1, 0, 0},
		.backoff = {.rest = ING_REST_CRAWL_DELAY, .rest_until_ms = until}};
	assert_waits(0, 3,
		"waiting for 2 hosts: b.example for another 35 s (breaker after 11 failures, 40 "
		"requests), a.example for another 9 s (retry-after after 1 failure, 3 requests)");
	assert_waits(ING_WAITS_EVERYDAY, 3,
		"waiting for 3 hosts: b.example for another 35 s (breaker after 11 failures, 40 "
		"requests), paused.example for another 20 s (crawl-delay, 1 request), a.example "
		"for another 9 s (retry-after after 1 failure, 3 requests)");
	assert_waits(ING_WAITS_EVERYDAY, 1,
		"waiting for 3 hosts: b.example for another 35 s (breaker after 11 failures, 40 "
		"requests), and 2 more");
	assert_waits(ING_WAITS_BRIEF, 3, "waiting for b.example 35 s, a.example 9 s");
	assert_waits(
		ING_WAITS_BRIEF | ING_WAITS_EVERYDAY, 1, "waiting for b.example 35 s, and 2 more");
	views[0].rest_ms = 0;                    /* its turn has come */
	views[1].waiting[ING_LANE_REQUESTS] = 0; /* nobody wants it */
	assert_waits(0, 3, "");
	stats.hosts_held = 0;
	assert_waits(0, 3, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_status_counts_what_is_held),
		cmocka_unit_test(who_keeps_requests_waiting_is_named_the_longest_first),
		cmocka_unit_test(breakers_are_told_at_most_once_a_minute),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
