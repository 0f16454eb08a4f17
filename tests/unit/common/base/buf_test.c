/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Buffers by single characters: up to the ceiling, and not a byte beyond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"

static void characters_fill_a_buffer_to_its_ceiling(void **state)
{
	static const size_t ceilings[] = {0, 1, 2, 62, 63, 64, 65, 127, 128, 1000};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(ceilings); i++) {
		struct ing_buf b;
		ing_buf_init(&b, ceilings[i]);
		for (size_t n = 0; n < ceilings[i]; n++) {
			assert_true(ing_buf_add_char(&b, (char)('a' + n % 26)));
			assert_int_equal(b.len, n + 1);
			assert_int_equal(strlen(b.data), n + 1);
			assert_true(b.len < b.cap);
		}
		assert_false(b.failed);
		assert_false(ing_buf_add_char(&b, '!'));
		assert_true(b.failed);
		assert_int_equal(b.len, ceilings[i]);
		for (size_t n = 0; n < b.len; n++)
			assert_int_equal(b.data[n], 'a' + (char)(n % 26));
		ing_buf_done(&b);
	}
}

static void nothing_is_added_after_a_failure(void **state)
{
	(void)state;
	struct ing_buf b;
	ing_buf_init(&b, 10);
	assert_true(ing_buf_add_str(&b, "eight by"));
	assert_false(ing_buf_add_str(&b, "tes"));
	assert_false(ing_buf_add_char(&b, 't'));
	assert_string_equal(ing_buf_str(&b), "eight by");
	ing_buf_clear(&b);
	assert_true(ing_buf_add_char(&b, 't'));
	assert_string_equal(ing_buf_str(&b), "t");
	ing_buf_done(&b);
	assert_true(ing_buf_add_char(&b, 'u')); /* its memory is gone, its ceiling is not */
	assert_string_equal(ing_buf_str(&b), "u");
	ing_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_fill_a_buffer_to_its_ceiling),
		cmocka_unit_test(nothing_is_added_after_a_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
