/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both ways of hashing two streams, against OpenSSL: every alignment of the streams to each other,
 * every length around the block's, calls of all sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/digest.h"
#include "common/data/sha1_pair.h"

enum { BYTES = 70000 };
static unsigned char data[BYTES];

static void check(struct ing_sha1_pair *p, size_t head, size_t body, size_t step)
{
	unsigned char first[ING_SHA1_BYTES];
	unsigned char second[ING_SHA1_BYTES];
	struct ing_digests want;
	ing_sha1_pair_add_first(p, data, head);
	for (size_t at = 0; at < body; at += step)
		ing_sha1_pair_add_both(p, data + head + at, ING_MIN(step, body - at));
	ing_sha1_pair_finish(p, first, second);
	ing_digest(ING_DIGEST_SHA1, data, head + body, &want);
	assert_memory_equal(first, want.sha1, ING_SHA1_BYTES);
	ing_digest(ING_DIGEST_SHA1, data + head, body, &want);
	assert_memory_equal(second, want.sha1, ING_SHA1_BYTES);
}

static void both_streams_are_right(void **state)
{
	(void)state;
	static const size_t steps[] = {1, 63, 64, 65, 1000, BYTES};
	for (unsigned portable = 0; portable < 2; portable++) {
		struct ing_sha1_pair *p =
			portable ? ing_sha1_pair_new_portable() : ing_sha1_pair_new();
		for (size_t head = 0; head < 130; head++) {
			for (size_t body = 0; body < 200; body += 1 + head % 3)
				check(p, head, body, steps[(head + body) % ING_ARRAY_LEN(steps)]);
		}
		for (size_t i = 0; i < ING_ARRAY_LEN(steps); i++)
			check(p, 517 + i, 69000, steps[i]);
		ing_sha1_pair_free(p);
	}
	ing_sha1_pair_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_streams_are_right)};
	uint32_t x = 1;
	for (size_t i = 0; i < BYTES; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (unsigned char)(x >> 24);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
