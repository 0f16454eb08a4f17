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
#include "worker/gate/gate.h"
#include "worker/hosts_watch.h"

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
		.patience = {.breaker = ING_BREAKER_HALF_OPEN, .failures = 10}};
	views[2] = (struct ing_gate_host_view){.key = "dead.example",
		.rest_ms = 59001,
		.patience = {.breaker = ING_BREAKER_OPEN, .failures = 12}};
	assert_line(&w, 0, 0, 1000, NULL);
	assert_line(&w, 2, 2, 2000,
		"breakers of hosts: 2 opened, 2 open now, 0 before; longest: dead.example, 12 "
		"failures in a row, left alone for 60 s");
	assert_line(&w, 3, 3, 2001, NULL);
	assert_line(&w, 9, 4, 2000 + ING_HOSTS_WATCH_MS - 1, NULL);
	views[2].patience.breaker = ING_BREAKER_CLOSED;
	assert_line(&w, 9, 1, 2000 + ING_HOSTS_WATCH_MS,
		"breakers of hosts: 7 opened, 1 open now, 2 before; longest: tried.example, 10 "
		"failures in a row, left alone for 0 s");
	assert_line(&w, 9, 1, 5 * ING_HOSTS_WATCH_MS, NULL);
	assert_line(&w, 9, 0, 5 * ING_HOSTS_WATCH_MS + 1,
		"breakers of hosts: 0 opened, 0 open now, 1 before");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_status_counts_what_is_held),
		cmocka_unit_test(breakers_are_told_at_most_once_a_minute),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
