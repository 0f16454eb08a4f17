/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Base 64: the vectors of RFC 4648 section 10, every byte, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/base64.h"

static void the_vectors_of_the_rfc_go_both_ways(void **state)
{
	static const char *const vectors[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(vectors); i++) {
		const char *plain = vectors[i][0], *coded = vectors[i][1];
		char text[16], back[16];
		size_t bytes;
		ing_base64_encode(plain, strlen(plain), text);
		assert_string_equal(text, coded);
		assert_int_equal(strlen(text), ING_BASE64_CHARS(strlen(plain)));
		assert_true(ing_base64_decode(coded, strlen(coded), back, &bytes));
		assert_int_equal(bytes, strlen(plain));
		assert_memory_equal(back, plain, bytes);
	}
}

static void every_byte_comes_back(void **state)
{
	(void)state;
	unsigned char all[256], back[ING_BASE64_CHARS(sizeof(all))];
	char text[ING_BASE64_CHARS(sizeof(all)) + 1];
	size_t bytes;
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char)i;
	for (size_t n = 0; n <= sizeof(all); n++) {
		ing_base64_encode(all, n, text);
		assert_true(ing_base64_decode(text, strlen(text), back, &bytes));
		assert_int_equal(bytes, n);
		assert_memory_equal(back, all, n);
	}
}

static void other_text_is_refused(void **state)
{
	static const char *const bad[] = {"Z", "Zg", "Zg=", "Zm9v*A==", "Zm-_", "Zg==\n   ",
		" Zg=", "Z===", "Zg==Zg==", "===="};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		char back[16];
		size_t bytes;
		assert_false(ing_base64_decode(bad[i], strlen(bad[i]), back, &bytes));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_the_rfc_go_both_ways),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(other_text_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
