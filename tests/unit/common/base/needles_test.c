/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strings are found wherever they stand, also at the ends of a text, one over another, and in texts made
 * of their pieces; what is found is what memmem() finds one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/needles.h"

#define RANDOM_TEXTS 20000

static const char *const mixed[] = {"needle", "needles in a haystack", "edle", "needless",
	"\xc3\xa9t\xc3\xa9", "aaaaaaa", "aaaaaaab", "abcdabcdabcd", "edlesedles"};
static const char *const long_ones[] = {"a long needle", "long needle of one", "a long needle",
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

static uint64_t search_one_by_one(
	const char *s, size_t bytes, const char *const *needles, size_t count)
{
	uint64_t found = 0;
	for (size_t i = 0; i < count; i++) {
		if (memmem(s, bytes, needles[i], strlen(needles[i])) != NULL)
			found |= UINT64_C(1) << i;
	}
	return found;
}

/* In memory of just that size. */
static void check(const char *s, size_t bytes, const char *const *needles, size_t count)
{
	char *copy = ing_alloc(bytes + (bytes == 0));
	memcpy(copy, s, bytes);
	if (ing_needles_in(copy, bytes, needles, count) !=
		search_one_by_one(copy, bytes, needles, count))
		fail_msg("not found, or found wrongly, in \"%.*s\"", (int)bytes, s);
	free(copy);
}

static void test_everywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(long_ones); i++) {
		for (size_t before = 0; before < 40; before++) {
			for (size_t behind = 0; behind < 20; behind++) {
				struct ing_buf b;
				ing_buf_init(&b, 1000);
				while (b.len < before)
					ing_buf_add_char(&b, '.');
				ing_buf_add_str(&b, long_ones[i]);
				for (size_t k = 0; k < behind; k++)
					ing_buf_add_char(&b, '.');
				assert_true(ing_needles_in(b.data, b.len, long_ones,
						    ING_ARRAY_LEN(long_ones)) >>
						    i &
					    1);
				check(b.data, b.len, long_ones, ING_ARRAY_LEN(long_ones));
				/* Cut by a byte at its end or beginning it is not there. */
				check(b.data, b.len - behind - 1, long_ones,
					ING_ARRAY_LEN(long_ones));
				check(b.data + before + 1, b.len - before - 1, long_ones,
					ING_ARRAY_LEN(long_ones));
				ing_buf_done(&b);
			}
		}
	}
}

static void test_pieces(void **state)
{
	static const char *const pieces[] = {"need", "le", "les", "s in a ", "haystack", "n", "e",
		"a", "aaa", "aaaab", "abcd", "edles", "\xc3\xa9", "t", "", "needle"};
	uint32_t seed = 4711;
	(void)state;
	for (unsigned i = 0; i < RANDOM_TEXTS; i++) {
		struct ing_buf b;
		ing_buf_init(&b, 10000);
		for (unsigned k = 0; k < i % 24; k++) {
			seed = seed * 1664525 + 1013904223;
			ing_buf_add_str(&b, pieces[(seed >> 16) % ING_ARRAY_LEN(pieces)]);
		}
		check(ing_buf_str(&b), b.len, mixed, ING_ARRAY_LEN(mixed));
		ing_buf_done(&b);
	}
}

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(ing_needles_in("needle", 6, mixed, 0), 0);
	assert_int_equal(ing_needles_in("", 0, mixed, ING_ARRAY_LEN(mixed)), 0);
	assert_int_equal(ing_needles_in("need", 4, mixed, ING_ARRAY_LEN(mixed)), 0);
	assert_int_equal(ing_needles_in("edl", 3, mixed, ING_ARRAY_LEN(mixed)), 0);
	assert_int_equal(ing_needles_in("NEEDLE", 6, mixed, ING_ARRAY_LEN(mixed)), 0);
}

/* As many as may be, of the greatest length. */
static void test_full_table(void **state)
{
	static char texts[ING_MAX_NEEDLES][ING_MAX_NEEDLE_BYTES + 1];
	const char *list[ING_MAX_NEEDLES];
	(void)state;
	for (size_t i = 0; i < ING_MAX_NEEDLES; i++) {
		for (size_t k = 0; k < ING_MAX_NEEDLE_BYTES; k++)
			texts[i][k] = (char)('!' + (i * 31 + k * (i + 7)) % 90);
		list[i] = texts[i];
	}
	for (size_t i = 0; i < ING_MAX_NEEDLES; i++)
		assert_true(
			ing_needles_in(texts[i], ING_MAX_NEEDLE_BYTES, list, ING_MAX_NEEDLES) >> i &
			1);
	check(&texts[0][0], sizeof(texts), list, ING_MAX_NEEDLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everywhere),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_full_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
