/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue.h: what a gathering waits for, and what ends it. None of these waits ends by its time, so one
 * that waits for the wrong thing hangs until the test's limit.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/queue.h"

enum { FOR_EVER_MS = 3600 * 1000, MAX_NODES = 8 };

static struct ing_node nodes[MAX_NODES];

static size_t count_nodes(const struct ing_node *node)
{
	size_t n = 0;
	for (; node != NULL; node = node->next) {
		assert_ptr_equal(node, &nodes[n]);
		n++;
	}
	return n;
}

static void *gather_three(void *queue)
{
	return ing_queue_gather(queue, 3, FOR_EVER_MS);
}

static const struct {
	const char *name;
	size_t pushed, more; /* more: with the last; the others expect one */
	bool close;
	size_t want;
} cases[] = {
	{"as many as are wanted", 3, 5, false, 3},
	{"the last that is expected", 2, 0, false, 2},
	{"one, and it is the last", 1, 0, false, 1},
	{"the end", 1, 5, true, 1},
};

static void a_gathering_ends_with(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_queue q;
		pthread_t thread;
		ing_queue_init(&q);
		void *got;
		print_message("%s\n", cases[i].name);
		/* The waiter begins before, between or after these. */
		ing_queue_push_one_of(&q, &nodes[0], cases[i].pushed == 1 ? cases[i].more : 1);
		assert_int_equal(pthread_create(&thread, NULL, gather_three, &q), 0);
		for (size_t k = 1; k < cases[i].pushed; k++)
			ing_queue_push_one_of(
				&q, &nodes[k], k + 1 < cases[i].pushed ? 1 : cases[i].more);
		if (cases[i].close)
			ing_queue_close(&q);
		assert_int_equal(pthread_join(thread, &got), 0);
		assert_int_equal(count_nodes(got), cases[i].want);
		ing_queue_done(&q);
	}
}

static void what_is_there_already_is_not_waited_for(void **state)
{
	(void)state;
	struct ing_queue q;
	ing_queue_init(&q);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ing_queue_push_one_of(&q, &nodes[i], 9), i == 0);
	assert_int_equal(count_nodes(ing_queue_gather(&q, 3, FOR_EVER_MS)), 4);
	/* nothing is there, and the last push expected nothing */
	ing_queue_push(&q, &nodes[0]);
	assert_int_equal(count_nodes(ing_queue_wait_all(&q, -1)), 1);
	assert_null(ing_queue_gather(&q, 3, FOR_EVER_MS));
	ing_queue_done(&q);
}

static void time_ends_a_gathering_too(void **state)
{
	(void)state;
	struct ing_queue q;
	ing_queue_init(&q);
	ing_queue_push_one_of(&q, &nodes[0], 9);
	assert_int_equal(count_nodes(ing_queue_gather(&q, 3, 1)), 1);
	/* and the next waiter is woken by one */
	ing_queue_push_one_of(&q, &nodes[0], 9);
	assert_int_equal(count_nodes(ing_queue_wait_all(&q, -1)), 1);
	ing_queue_done(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gathering_ends_with),
		cmocka_unit_test(what_is_there_already_is_not_waited_for),
		cmocka_unit_test(time_ends_a_gathering_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
