/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/service/mailbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "common/base/macros.h"

#define ROUNDS 200000
#define NUMBERS 32

/* Counts what lives: every object is freed once, by whoever has it. */
static _Atomic int living;

struct object {
	unsigned numbers[NUMBERS]; /* all the same: one that is read half-written is noticed */
};

static struct object *make_object(unsigned number)
{
	struct object *o = ing_alloc(sizeof(*o));
	for (unsigned i = 0; i < NUMBERS; i++)
		o->numbers[i] = number;
	atomic_fetch_add(&living, 1);
	return o;
}

static void free_object(void *object)
{
	atomic_fetch_sub(&living, 1);
	free(object);
}

static unsigned take_number(struct ing_mailbox *m)
{
	struct object *o = ing_mailbox_take(m);
	if (o == NULL)
		return 0;
	unsigned number = o->numbers[0];
	for (unsigned i = 0; i < NUMBERS; i++)
		assert_int_equal(o->numbers[i], number);
	free_object(o);
	return number;
}

static void the_newest_object_is_taken_once(void **state)
{
	(void)state;
	struct ing_mailbox m;
	ing_mailbox_init(&m, free_object);
	assert_int_equal(take_number(&m), 0);
	ing_mailbox_put(&m, make_object(1));
	ing_mailbox_put(&m, make_object(2));
	assert_int_equal(living, 1);
	assert_int_equal(take_number(&m), 2);
	assert_int_equal(take_number(&m), 0);
	ing_mailbox_put(&m, make_object(3));
	ing_mailbox_done(&m);
	assert_int_equal(living, 0);
}

static void times_are_known_from_the_first_on(void **state)
{
	(void)state;
	struct ing_mailbox m;
	ing_mailbox_init(&m, free_object);
	assert_false(ing_mailbox_asked(&m, 5, 10));
	ing_mailbox_set_worked(&m, 1000);
	ing_mailbox_set_asked(&m, 2000);
	assert_int_equal(ing_mailbox_silence_ms(&m, 1010), 10);
	assert_int_equal(ing_mailbox_silence_ms(&m, 999), 0); /* written after the clock was read */
	assert_true(ing_mailbox_asked(&m, 2010, 10));
	assert_false(ing_mailbox_asked(&m, 2011, 10));
	ing_mailbox_done(&m);
}

static void *write_objects(void *arg)
{
	struct ing_mailbox *m = arg;
	for (unsigned i = 1; i <= ROUNDS; i++) {
		ing_mailbox_put(m, make_object(i));
		ing_mailbox_set_worked(m, i);
	}
	return NULL;
}

/* The reader sees whole objects, each at most once, in the order in which they were written, and the
 * last one; none is left and none freed twice (ASan). */
static void two_threads_pass_objects_without_a_lock(void **state)
{
	(void)state;
	struct ing_mailbox m;
	pthread_t writer;
	ing_mailbox_init(&m, free_object);
	assert_int_equal(pthread_create(&writer, NULL, write_objects, &m), 0);
	unsigned last = 0;
	while (last < ROUNDS) {
		unsigned number = take_number(&m);
		assert_true(number == 0 || number > last);
		last = ING_MAX(last, number);
	}
	pthread_join(writer, NULL);
	assert_int_equal(ing_mailbox_silence_ms(&m, ROUNDS), 0);
	assert_int_equal(living, 0);
	ing_mailbox_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_object_is_taken_once),
		cmocka_unit_test(times_are_known_from_the_first_on),
		cmocka_unit_test(two_threads_pass_objects_without_a_lock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
