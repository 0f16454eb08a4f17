/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words from one thread to another: the newest are read, nothing is torn, lost or leaked.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/note.h"

#define ROUNDS 20000

static void the_newest_words_are_read_as_often_as_wanted(void **state)
{
	(void)state;
	struct ing_note n = {0};
	assert_string_equal(ing_note_get(&n), "");
	ing_note_set(&n, "one");
	ing_note_set(&n, "two");
	assert_string_equal(ing_note_get(&n), "two");
	assert_string_equal(ing_note_get(&n), "two");
	ing_note_set(&n, "three");
	assert_string_equal(ing_note_get(&n), "three");
	ing_note_set(&n, "never read");
	ing_note_done(&n);
}

static void *write_many(void *ctx)
{
	char words[64];
	for (int i = 1; i <= ROUNDS; i++) {
		snprintf(words, sizeof(words), "%d words of a writer", i);
		ing_note_set(ctx, words);
	}
	return NULL;
}

static void a_reader_beside_the_writer_sees_whole_words_that_get_newer(void **state)
{
	(void)state;
	struct ing_note n = {0};
	pthread_t writer;
	long last = 0;
	assert_int_equal(pthread_create(&writer, NULL, write_many, &n), 0);
	while (last < ROUNDS) {
		const char *words = ing_note_get(&n);
		if (words[0] == '\0')
			continue;
		char *end;
		long number = strtol(words, &end, 10);
		assert_string_equal(end, " words of a writer");
		assert_true(number >= last);
		last = number;
	}
	pthread_join(writer, NULL);
	ing_note_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_words_are_read_as_often_as_wanted),
		cmocka_unit_test(a_reader_beside_the_writer_sees_whole_words_that_get_newer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
