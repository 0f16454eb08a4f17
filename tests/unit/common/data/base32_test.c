/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The vectors of RFC 4648 section 10, the empty body's SHA-1 as every archive writes it, and what
 * must be refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/error.h"
#include "common/data/base32.h"

static const struct {
	const char *plain;
	const char *base32;
	const char *hex;
} pairs[] = {
	{"", "", ""},
	{"f", "MY======", "66"},
	{"fo", "MZXQ====", "666f"},
	{"foo", "MZXW6===", "666f6f"},
	{"foob", "MZXW6YQ=", "666f6f62"},
	{"fooba", "MZXW6YTB", "666f6f6261"},
	{"foobar", "MZXW6YTBOI======", "666f6f626172"},
};

static void pairs_convert_both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pairs); i++) {
		size_t bytes = strlen(pairs[i].plain);
		char text[64];
		char data[64];
		size_t got = 99;
		ing_base32_encode(pairs[i].plain, bytes, text);
		assert_string_equal(text, pairs[i].base32);
		assert_int_equal(strlen(text), ING_BASE32_CHARS(bytes));
		assert_int_equal(ing_base32_decode(text, strlen(text), data, bytes, &got), 0);
		assert_int_equal(got, bytes);
		assert_memory_equal(data, pairs[i].plain, bytes);
		ing_hex_encode(pairs[i].plain, bytes, text);
		assert_string_equal(text, pairs[i].hex);
	}
}

static void sha1_of_nothing_has_no_padding(void **state)
{
	(void)state;
	static const unsigned char sha1[20] = {0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32,
		0x55, 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09};
	char text[ING_SHA1_BASE32_CHARS + 1];
	ing_base32_encode(sha1, sizeof(sha1), text);
	assert_string_equal(text, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
}

static const struct {
	const char *name;
	const char *text;
	size_t room;
	int want; /* bytes, or a negative failure */
} decodings[] = {
	{"lower case", "mzxw6ytb", 8, 5},
	{"without padding", "MY", 8, 1},
	{"mixed case without padding", "MzXw6", 8, 3},
	{"exactly the room", "MZXW6YTB", 5, 5},
	{"one byte too many", "MZXW6YTB", 4, -ING_FAIL_TOO_BIG},
	{"digit outside the alphabet", "M1======", 8, -ING_FAIL_SYNTAX},
	{"zero is not O", "M0======", 8, -ING_FAIL_SYNTAX},
	{"blank", "MY MY MY", 8, -ING_FAIL_SYNTAX},
	{"one character", "M", 8, -ING_FAIL_SYNTAX},
	{"three characters", "MZX", 8, -ING_FAIL_SYNTAX},
	{"six characters", "MZXW6Y", 8, -ING_FAIL_SYNTAX},
	{"padding alone", "========", 8, -ING_FAIL_SYNTAX},
	{"padding of a wrong length", "MY=", 8, -ING_FAIL_SYNTAX},
	{"padding inside", "MY==MY==", 8, -ING_FAIL_SYNTAX},
	{"stray bits", "MZ======", 8, -ING_FAIL_SYNTAX},
};

static void decoding_refuses_what_is_not_base32(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(decodings); i++) {
		unsigned char data[8];
		size_t got = 0;
		int rc = ing_base32_decode(decodings[i].text, strlen(decodings[i].text), data,
			decodings[i].room, &got);
		if ((rc == 0 ? (int)got : rc) != decodings[i].want)
			fail_msg("%s: got %d (%zu bytes)", decodings[i].name, rc, got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_convert_both_ways),
		cmocka_unit_test(sha1_of_nothing_has_no_padding),
		cmocka_unit_test(decoding_refuses_what_is_not_base32),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
