/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate's promises: ceilings, turns, pauses, patience.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/gate/gate.h"

#define VISITORS 64

struct visitor {
	struct ing_gate_waiter waiter;
	int id;
	uint64_t granted_ms;
};

static uv_loop_t loop;
static struct ing_gate *gate;
static struct visitor visitors[VISITORS];
static int order[VISITORS];
static int granted_count, expired_count;

static void on_granted(struct ing_gate_waiter *w)
{
	struct visitor *v = ING_CONTAINER(w, struct visitor, waiter);
	v->granted_ms = ing_now_ms();
	order[granted_count++] = v->id;
}

static void on_refused(struct ing_gate_waiter *w, enum ing_gate_refusal why, unsigned retry_after_s)
{
	(void)w;
	(void)why;
	(void)retry_after_s;
	expired_count++;
}

static const struct ing_gate_user user = {.granted = on_granted, .refused = on_refused};

static void open_gate(const struct ing_gate_conf *conf)
{
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop, conf);
	memset(visitors, 0, sizeof(visitors));
	granted_count = expired_count = 0;
	for (int i = 0; i < VISITORS; i++) {
		visitors[i].id = i;
		visitors[i].waiter.user = &user;
	}
}

static void close_gate(void)
{
	for (int i = 0; i < VISITORS; i++)
		ing_gate_leave(gate, &visitors[i].waiter, NULL);
	ing_gate_free(gate);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void enter(int id, const char *url)
{
	ing_gate_enter(gate, &visitors[id].waiter, url,
		&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS});
}

static void leave(int id)
{
	ing_gate_leave(gate, &visitors[id].waiter, NULL);
}

static void stop_loop(uv_timer_t *t)
{
	(void)t;
	uv_stop(&loop);
}

static void run_for(uint64_t ms)
{
	uv_timer_t t;
	uv_timer_init(&loop, &t);
	uv_timer_start(&t, stop_loop, ms, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&t, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

static void one_transfer_per_host_whatever_its_spelling(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10, .host_concurrency = 1});
	enter(0, "https://www.Example.org/a");
	enter(1, "http://example.org.:8080/b");
	enter(2, "https://other.example/");
	run_for(20);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 2);
	leave(0);
	run_for(20);
	assert_int_equal(granted_count, 3);
	assert_int_equal(order[2], 1);
	close_gate();
}

static void nothing_is_granted_from_inside_enter(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 1});
	enter(0, "https://a.example/");
	assert_int_equal(granted_count, 0);
	close_gate();
}

static void the_ceiling_holds_over_all_hosts(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 3, .host_concurrency = 1});
	for (int i = 0; i < 10; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://h%d.example/", i);
		enter(i, url);
	}
	run_for(20);
	assert_int_equal(granted_count, 3);
	assert_int_equal(ing_gate_holding(gate), 3);
	assert_int_equal(ing_gate_waiting(gate), 7);
	leave(1);
	run_for(20);
	assert_int_equal(granted_count, 4);
	close_gate();
}

static void hosts_take_turns(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 1, .host_concurrency = 5});
	for (int i = 0; i < 4; i++)
		enter(i, "https://busy.example/");
	enter(4, "https://quiet.example/");
	for (int i = 0; i < 5; i++) {
		run_for(5);
		assert_int_equal(granted_count, i + 1);
		leave(order[i]);
	}
	/* busy, quiet, then busy's rest: the one request of the quiet host waits for one transfer,
	 * not for four. */
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 4);
	assert_int_equal(order[2], 1);
	close_gate();
}

static void a_pause_follows_the_end_of_each_transfer(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .patience.delay_ms = 60});
	enter(0, "https://a.example/");
	enter(1, "https://a.example/");
	run_for(10);
	uint64_t end = ing_now_ms();
	leave(0);
	run_for(30);
	assert_int_equal(granted_count, 1);
	run_for(60);
	assert_int_equal(granted_count, 2);
	assert_true(visitors[1].granted_ms >= end + 60);
	/* A host that is resting is remembered although nobody waits for it. */
	end = ing_now_ms();
	leave(1);
	enter(2, "https://a.example/");
	run_for(100);
	assert_true(visitors[2].granted_ms >= end + 60);
	close_gate();
}

static void patience_ends(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 40});
	enter(0, "https://a.example/");
	run_for(5);
	enter(1, "https://a.example/");
	run_for(80);
	assert_int_equal(expired_count, 1);
	assert_int_equal(ing_gate_waiting(gate), 0);
	/* Whoever holds a slot is not touched. */
	assert_int_equal(ing_gate_holding(gate), 1);
	close_gate();
}

static void a_held_gate_admits_nobody(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10, .host_concurrency = 1});
	ing_gate_hold(gate, true);
	enter(0, "https://a.example/");
	run_for(20);
	assert_int_equal(granted_count, 0);
	ing_gate_hold(gate, false);
	run_for(20);
	assert_int_equal(granted_count, 1);
	close_gate();
}

static void a_held_gate_uses_up_nobodys_patience(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 10, .host_concurrency = 1, .max_wait_ms = 60});
	enter(0, "https://a.example/");
	run_for(5);
	enter(1, "https://a.example/");
	ing_gate_hold(gate, true);
	run_for(30);
	enter(2, "https://b.example/");
	run_for(90);
	assert_int_equal(expired_count, 0);
	ing_gate_hold(gate, false);
	run_for(20);
	assert_int_equal(expired_count, 0);
	assert_int_equal(granted_count, 2); /* 0 and 2; 1 waits for 0 */
	run_for(90);
	assert_int_equal(expired_count, 1);
	close_gate();
}

/* What the pipeline does: give the slot back and queue again, from inside a callback or not. */
static void on_granted_goes_round(struct ing_gate_waiter *w)
{
	ing_gate_leave(gate, w, NULL);
	if (++granted_count < 40)
		ing_gate_enter(gate, w, "https://b.example/", &(struct ing_gate_ticket){0});
}

static void on_refused_comes_back(
	struct ing_gate_waiter *w, enum ing_gate_refusal why, unsigned retry_after_s)
{
	(void)why;
	(void)retry_after_s;
	if (++expired_count < 3)
		ing_gate_enter(gate, w, "https://a.example/", &(struct ing_gate_ticket){0});
}

static void callbacks_may_leave_and_enter(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 2,
		.host_concurrency = 1,
		.patience.delay_ms = 1,
		.max_wait_ms = 10});
	enter(0, "https://a.example/");
	run_for(5);
	static const struct ing_gate_user comes_back = {on_granted, on_refused_comes_back};
	visitors[1].waiter.user = &comes_back;
	enter(1, "https://a.example/");
	run_for(60);
	assert_int_equal(expired_count, 3);
	granted_count = 0;
	static const struct ing_gate_user goes_round = {on_granted_goes_round, on_refused};
	visitors[2].waiter.user = visitors[3].waiter.user = &goes_round;
	enter(2, "https://b.example/");
	enter(3, "https://c.example/");
	run_for(200);
	assert_int_equal(granted_count, 41);
	assert_int_equal(ing_gate_waiting(gate), 0);
	assert_int_equal(ing_gate_holding(gate), 1);
	close_gate();
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Many hosts entering and leaving their rest in all orders: nobody is forgotten in the heap. */
static void resting_hosts_all_come_back(void **state)
{
	(void)state;
	uint64_t seed = 7;
	open_gate(&(struct ing_gate_conf){
		.concurrency = 8, .host_concurrency = 2, .patience.delay_ms = 3});
	unsigned entered = 0;
	int served = 0;
	while (entered < VISITORS || served < VISITORS) {
		for (unsigned n = (unsigned)next_random(&seed) % 9; n > 0 && entered < VISITORS;
			n--) {
			char url[64];
			snprintf(url, sizeof(url), "https://h%u.example/",
				(unsigned)next_random(&seed) % 11);
			enter((int)entered++, url);
		}
		run_for(next_random(&seed) % 3);
		/* The last to come leaves first, so that rests end out of order. */
		int upto = granted_count;
		while (upto > served)
			leave(order[--upto]);
		served = granted_count;
	}
	assert_int_equal(granted_count, VISITORS);
	assert_int_equal(expired_count, 0);
	close_gate();
}

static void leaving_the_queue_lets_the_others_move_up(void **state)
{
	(void)state;
	open_gate(&(struct ing_gate_conf){.concurrency = 10, .host_concurrency = 1});
	for (int i = 0; i < 3; i++)
		enter(i, "https://a.example/");
	run_for(5);
	leave(1);
	leave(1); /* harmless when out */
	leave(0);
	run_for(5);
	assert_int_equal(granted_count, 2);
	assert_int_equal(order[1], 2);
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_transfer_per_host_whatever_its_spelling),
		cmocka_unit_test(nothing_is_granted_from_inside_enter),
		cmocka_unit_test(the_ceiling_holds_over_all_hosts),
		cmocka_unit_test(hosts_take_turns),
		cmocka_unit_test(a_pause_follows_the_end_of_each_transfer),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(a_held_gate_admits_nobody),
		cmocka_unit_test(a_held_gate_uses_up_nobodys_patience),
		cmocka_unit_test(callbacks_may_leave_and_enter),
		cmocka_unit_test(resting_hosts_all_come_back),
		cmocka_unit_test(leaving_the_queue_lets_the_others_move_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
