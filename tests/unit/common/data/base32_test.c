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
		assert_true(ing_hex_decode(text, data, bytes));
		assert_memory_equal(data, pairs[i].plain, bytes);
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

/* clang-format off */
static const struct {
	const char *name;
	const char *text;
	size_t room;
	int want; /* bytes, or a negative failure */
} decodings[] = {
	{.name = "lower case", .text = "mzxw6ytb", .room = 8, .want = 5},
	{.name = "without padding", .text = "MY", .room = 8, .want = 1},
	{.name = "mixed case without padding", .text = "MzXw6", .room = 8, .want = 3},
	{.name = "exactly the room", .text = "MZXW6YTB", .room = 5, .want = 5},
	{.name = "one byte too many", .text = "MZXW6YTB", .room = 4, .want = -ING_FAIL_TOO_BIG},
	{.name = "digit outside the alphabet", .text = "M1======", .room = 8,
		.want = -ING_FAIL_SYNTAX},
	{.name = "zero is not O", .text = "M0======", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "blank", .text = "MY MY MY", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "one character", .text = "M", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "three characters", .text = "MZX", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "six characters", .text = "MZXW6Y", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "padding alone", .text = "========", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "padding of a wrong length", .text = "MY=", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "padding inside", .text = "MY==MY==", .room = 8, .want = -ING_FAIL_SYNTAX},
	{.name = "stray bits", .text = "MZ======", .room = 8, .want = -ING_FAIL_SYNTAX},
};
/* clang-format on */

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

static void hex_is_exactly_as_long_as_its_bytes(void **state)
{
	(void)state;
	static const char *const refused[] = {
		"", "0", "00", "000", "00000", "000000", "0g00", "00 0"};
	unsigned char data[2];
	for (size_t i = 0; i < ING_ARRAY_LEN(refused); i++)
		assert_false(ing_hex_decode(refused[i], data, sizeof(data)));
	assert_true(ing_hex_decode("aF09", data, sizeof(data)));
	assert_int_equal(data[0], 0xaf);
	assert_int_equal(data[1], 0x09);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_convert_both_ways),
		cmocka_unit_test(sha1_of_nothing_has_no_padding),
		cmocka_unit_test(decoding_refuses_what_is_not_base32),
		cmocka_unit_test(hex_is_exactly_as_long_as_its_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
