/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A loop whose one timer does what the test says. What the watch writes to stderr goes to a file
 * meanwhile.
 */
#include "worker/service/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define LIMIT "100"
#define RIVALS 6

static uint64_t cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Named by the stacks: not static. */
void turn_test_burn(unsigned ms);
void turn_test_wait(unsigned ms);

void turn_test_burn(unsigned ms)
{
	uint64_t end = cpu_ms() + ms;
	while (cpu_ms() < end)
		continue;
}

void turn_test_wait(unsigned ms)
{
	uint64_t end = uv_hrtime() / 1000000 + ms;
	while (uv_hrtime() / 1000000 < end)
		usleep(20000);
}

struct act {
	void (*what)(unsigned ms);
	unsigned ms;
	int times; /* in turns of their own */
	int done;
};

static void on_timer(uv_timer_t *timer)
{
	struct act *act = timer->data;
	if (act->what != NULL)
		act->what(act->ms);
	if (++act->done == act->times)
		uv_close((uv_handle_t *)timer, NULL);
}

struct said {
	char text[16384];
	struct ing_turn_stats stats;
};

/* Runs the act in a loop of its own. */
static void run(struct act act, struct said *ret)
{
	uv_loop_t loop;
	uv_timer_t timer;
	struct ing_turns *turns = NULL;
	struct ing_error err = {0};
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(ing_turns_new(&loop, &turns, &err), 0);
	uv_timer_init(&loop, &timer);
	timer.data = &act;
	uv_timer_start(&timer, on_timer, 20, 20);

	fflush(stderr);
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	assert_true(file != NULL && saved >= 0);
	dup2(fileno(file), STDERR_FILENO);
	ing_turns_begin(turns);
	uv_run(&loop, UV_RUN_DEFAULT);
	ing_turns_end(turns);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	ret->text[fread(ret->text, 1, sizeof(ret->text) - 1, file)] = '\0';
	fclose(file);

	ing_turns_stats(turns, &ret->stats);
	ing_turns_free(turns);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void check_quiet(const struct said *said)
{
	assert_string_equal(said->text, "");
	assert_int_equal(said->stats.busy, 0);
	assert_int_equal(said->stats.blocked, 0);
}

static uint64_t histogram_sum(const struct ing_turn_stats *s)
{
	uint64_t sum = 0;
	for (int i = 0; i < ING_METRIC_COUNT_TURN_TIME; i++)
		sum += s->cpu_us[i];
	return sum;
}

/* --- in tests --- */

static void test_what_computes_in_a_long_turn_is_named(void **state)
{
	(void)state;
	struct said said;
	setenv("ING_TURN_LIMIT_MS", LIMIT, 1);
	run((struct act){turn_test_burn, 250, 1, 0}, &said);
	assert_non_null(strstr(said.text, "loop stalled: 100 ms of CPU time in one turn\n"));
	assert_non_null(strstr(said.text, "loop stalled: 200 ms of CPU time in one turn\n"));
	assert_non_null(strstr(said.text, "turn_test_burn"));
	assert_non_null(strstr(said.text, "loop: end of the stack\n"));
	assert_null(strstr(said.text, "loop blocked"));
}

static void test_what_blocks_in_a_turn_is_named(void **state)
{
	(void)state;
	struct said said;
	setenv("ING_TURN_LIMIT_MS", LIMIT, 1);
	run((struct act){turn_test_wait, 600, 1, 0}, &said);
	const char *first =
		strstr(said.text, "loop blocked: 100 ms in calls that wait in one turn\n");
	assert_non_null(first);
	assert_non_null(strstr(first, "turn_test_wait"));
	assert_null(strstr(first + 1, "loop blocked")); /* once a turn */
	assert_null(strstr(said.text, "loop stalled"));
}

static void test_short_turns_and_waits_for_events_are_not_named(void **state)
{
	(void)state;
	struct said said;
	setenv("ING_TURN_LIMIT_MS", LIMIT, 1);
	run((struct act){turn_test_burn, 30, 12, 0}, &said);
	check_quiet(&said);
	run((struct act){turn_test_wait, 30, 12, 0}, &said);
	check_quiet(&said);
	run((struct act){NULL, 0, 20, 0}, &said);
	check_quiet(&said);
}

/* --- others want the core --- */

static atomic_bool rivals_end;

static void *rival(void *ctx)
{
	(void)ctx;
	while (!atomic_load(&rivals_end))
		continue;
	return NULL;
}

static void test_who_waits_for_a_core_is_not_named(void **state)
{
	(void)state;
	struct said said;
	pthread_t threads[RIVALS];
	cpu_set_t all, one;
	setenv("ING_TURN_LIMIT_MS", LIMIT, 1);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	}
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	atomic_store(&rivals_end, false);
	for (int i = 0; i < RIVALS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, rival, NULL), 0);
	uint64_t started_ms = uv_hrtime() / 1000000;
	run((struct act){turn_test_burn, 60, 1, 0}, &said);
	uint64_t took_ms = uv_hrtime() / 1000000 - started_ms;
	atomic_store(&rivals_end, true);
	for (int i = 0; i < RIVALS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	/* Else nobody else had the core, and this shows nothing. */
	assert_true(took_ms > 200);
	check_quiet(&said);
}

/* --- in production --- */

static void test_long_turns_are_counted_and_logged(void **state)
{
	(void)state;
	struct said said;
	unsetenv("ING_TURN_LIMIT_MS");
	run((struct act){turn_test_burn, 150, 3, 0}, &said);
	assert_int_equal(said.stats.busy, 3);
	assert_int_equal(said.stats.blocked, 0);
	assert_true(said.stats.longest_cpu_us >= 149000); /* it burns whole milliseconds */
	assert_int_equal(said.stats.cpu_us[18], 3);       /* 131 to 262 ms */
	assert_int_equal(histogram_sum(&said.stats), said.stats.turns);
	const char *line = strstr(said.text, "loop: a turn computed for 1");
	assert_non_null(line);
	assert_null(strstr(line + 1, "loop: a turn")); /* the first of a minute */
	assert_null(strstr(said.text, "end of the stack"));
}

static void test_blocked_turns_are_counted_and_logged(void **state)
{
	(void)state;
	struct said said;
	unsetenv("ING_TURN_LIMIT_MS");
	run((struct act){turn_test_wait, 600, 2, 0}, &said);
	assert_int_equal(said.stats.blocked, 2);
	assert_int_equal(said.stats.busy, 0);
	assert_true(said.stats.longest_blocked_us > 100000);
	assert_non_null(strstr(said.text, "loop: a turn was blocked in calls for "));
}

static void test_a_limit_that_is_no_number_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"soon", "0", "100ms", "60001", "-1"};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		uv_loop_t loop;
		struct ing_turns *turns = NULL;
		struct ing_error err = {0};
		uv_loop_init(&loop);
		setenv("ING_TURN_LIMIT_MS", bad[i], 1);
		assert_int_equal(ing_turns_new(&loop, &turns, &err), -ING_FAIL_CONFIG);
		assert_non_null(strstr(err.msg, bad[i]));
		assert_null(turns);
		uv_loop_close(&loop);
	}
	unsetenv("ING_TURN_LIMIT_MS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_computes_in_a_long_turn_is_named),
		cmocka_unit_test(test_what_blocks_in_a_turn_is_named),
		cmocka_unit_test(test_short_turns_and_waits_for_events_are_not_named),
		cmocka_unit_test(test_who_waits_for_a_core_is_not_named),
		cmocka_unit_test(test_long_turns_are_counted_and_logged),
		cmocka_unit_test(test_blocked_turns_are_counted_and_logged),
		cmocka_unit_test(test_a_limit_that_is_no_number_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
