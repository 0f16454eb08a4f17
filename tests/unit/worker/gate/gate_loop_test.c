/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate on a real loop and a real clock: that it wakes up by itself, sleeps in between, and lets
 * the loop end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/gate/gate.h"

#define VISITORS 4
#define PAUSE_MS 60

static struct ing_gate *gate;
static struct ing_gate_waiter visitors[VISITORS];
static uint64_t granted_ms[VISITORS];
static unsigned inside, granted;

static void go(void)
{
	if (--inside == 0)
		ing_gate_free(gate);
}

static void on_granted(struct ing_gate_waiter *w)
{
	granted_ms[w - visitors] = ing_now_ms();
	granted++;
	ing_gate_leave(
		gate, w, &(struct ing_gate_report){.kind = ING_ANSWER_GOOD, .retry_after_s = -1});
	go();
}

static void on_refused(
	struct ing_gate_waiter *w, enum ing_gate_refusal reason, unsigned retry_after_s)
{
	(void)w;
	assert_int_equal(reason, ING_GATE_WAITED);
	assert_true(retry_after_s >= 1);
	go();
}

static void rests_delays_and_waits_end_by_themselves(void **state)
{
	(void)state;
	static const struct ing_gate_user user = {on_granted, on_refused};
	uv_loop_t loop;
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop, &(struct ing_gate_conf){.settings = {.concurrency = 10,
								   .host_concurrency = 1,
								   .max_wait_ms = 10 * PAUSE_MS,
								   .backoff.delay_ms = PAUSE_MS}});
	uint64_t start = ing_now_ms();
	for (unsigned i = 0; i < VISITORS; i++) {
		visitors[i].user = &user;
		inside++;
		ing_gate_enter(gate, &visitors[i], "https://a.example/",
			&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS,
				.delay_ms = i < 2    ? 0
					    : i == 2 ? 3 * PAUSE_MS
						     : 1000 * PAUSE_MS});
	}
	clock_t cpu = clock();
	uv_run(&loop, UV_RUN_DEFAULT);
	/* It slept: a loop that turns without end would have used all of the 600 ms. */
	assert_true(clock() - cpu < CLOCKS_PER_SEC / 4);
	assert_int_equal(granted, 3);
	assert_true(granted_ms[1] >= granted_ms[0] + PAUSE_MS);
	assert_true(granted_ms[2] >= start + 3 * PAUSE_MS);
	assert_true(ing_now_ms() >= start + 10 * PAUSE_MS);
	assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rests_delays_and_waits_end_by_themselves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
