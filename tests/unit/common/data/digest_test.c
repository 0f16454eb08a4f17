/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published vectors (RFC 1321, FIPS 180), pieces of every length, and that one stream leaves no
 * trace in the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/base32.h"
#include "common/data/digest.h"

/* clang-format off */
static const struct {
	const char *text;
	const char *md5;
	const char *sha1;
	const char *sha256;
} vectors[] = {
	{.text = "", .md5 = "d41d8cd98f00b204e9800998ecf8427e",
		.sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		.sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{.text = "abc", .md5 = "900150983cd24fb0d6963f7d28e17f72",
		.sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d",
		.sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{.text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		.md5 = "8215ef0796a20bcaaae116d3876c664a",
		.sha1 = "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
		.sha256 = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
/* clang-format on */

static void check_hex(const void *data, size_t bytes, const char *want)
{
	char text[65];
	ing_hex_encode(data, bytes, text);
	assert_string_equal(text, want);
}

static void published_vectors_come_out_of_one_reused_digester(void **state)
{
	(void)state;
	struct ing_digester *d = ing_digester_new(ING_DIGEST_ALL);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(vectors); i++) {
			struct ing_digests got;
			size_t bytes = strlen(vectors[i].text);
			/* byte by byte in the second round */
			for (size_t at = 0; round == 1 && at < bytes; at++)
				ing_digester_add(d, vectors[i].text + at, 1);
			if (round == 0)
				ing_digester_add(d, vectors[i].text, bytes);
			ing_digester_finish(d, &got);
			assert_int_equal(got.bytes, bytes);
			check_hex(got.md5, 16, vectors[i].md5);
			check_hex(got.sha1, 20, vectors[i].sha1);
			check_hex(got.sha256, 32, vectors[i].sha256);
		}
	}
	ing_digester_free(d);
}

/* FIPS 180's million times "a", in pieces that do not fit the digester's own. */
static void a_long_stream_in_odd_pieces(void **state)
{
	(void)state;
	enum { PIECE = 40001, TOTAL = 1000000 };
	char *piece = malloc(PIECE);
	assert_non_null(piece);
	memset(piece, 'a', PIECE);
	struct ing_digester *d = ing_digester_new(ING_DIGEST_SHA1 | ING_DIGEST_SHA256);
	for (size_t left = TOTAL; left > 0;) {
		size_t bytes = ING_MIN(left, (size_t)PIECE);
		ing_digester_add(d, piece, bytes);
		left -= bytes;
	}
	struct ing_digests got;
	ing_digester_finish(d, &got);
	check_hex(got.sha1, 20, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	check_hex(
		got.sha256, 32, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	ing_digester_free(d);
	free(piece);
}

static void only_what_was_asked_for_is_set(void **state)
{
	(void)state;
	struct ing_digests got = {0};
	const unsigned char none[32] = {0};
	ing_digest(ING_DIGEST_MD5, "abc", 3, &got);
	check_hex(got.md5, 16, vectors[1].md5);
	assert_memory_equal(got.sha1, none, 20);
	assert_memory_equal(got.sha256, none, 32);
	ing_digester_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors_come_out_of_one_reused_digester),
		cmocka_unit_test(a_long_stream_in_odd_pieces),
		cmocka_unit_test(only_what_was_asked_for_is_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
