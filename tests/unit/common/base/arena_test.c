/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an arena takes from the heap. In sanitized builds each piece is a block of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <malloc.h>

#include "common/base/arena.h"

/* A hundred thousand owners may have a few hundred bytes each. */
static void who_has_little_takes_little(void **state)
{
	struct ing_arena ar;
	(void)state;
	ing_arena_init(&ar);
	memset(ing_arena_alloc(&ar, 300), 'x', 300);
	assert_int_equal(ar.used_bytes, 304);
	assert_in_range(malloc_usable_size(ar.chunks), 300, 2048);
	ing_arena_done(&ar);
}

static void pieces_of_all_sizes_are_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = {1, 15, 16, 900, 1, 1100, 8191, 3, 8192, 100000, 5};
	unsigned char *pieces[100];
	struct ing_arena ar;
	(void)state;
	ing_arena_init(&ar);
	for (size_t i = 0; i < ING_ARRAY_LEN(pieces); i++) {
		size_t bytes = sizes[i % ING_ARRAY_LEN(sizes)];
		pieces[i] = ing_arena_alloc(&ar, bytes);
		assert_int_equal((uintptr_t)pieces[i] % 16, 0);
		for (size_t at = 0; at < bytes; at++)
			assert_int_equal(pieces[i][at], 0);
		memset(pieces[i], (int)i + 1, bytes);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(pieces); i++)
		for (size_t at = 0; at < sizes[i % ING_ARRAY_LEN(sizes)]; at++)
			assert_int_equal(pieces[i][at], i + 1);
	ing_arena_done(&ar);
}

/* They are given back with the rest: the sanitizer would see what is left. */
static void blocks_that_were_taken_are_freed(void **state)
{
	struct ing_arena ar;
	(void)state;
	ing_arena_init(&ar);
	for (size_t i = 1; i < 100; i++) {
		char *block = ing_alloc(i * 1000);
		assert_ptr_equal(ing_arena_take(&ar, block), block);
		memset(block, 'x', i * 1000);
	}
	assert_true(ar.used_bytes < 99 * 100);
	ing_arena_done(&ar);
	ing_arena_done(&ar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_little_takes_little),
		cmocka_unit_test(pieces_of_all_sizes_are_zeroed_aligned_and_apart),
		cmocka_unit_test(blocks_that_were_taken_are_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
