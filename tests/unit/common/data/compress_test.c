/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What ISA-L and our stored blocks write, zlib reads: members of every shape, one after the other
 * in one stream; and what zlib must refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/data/compress.h"

#define MAX_BYTES ((size_t)64 << 20)

enum content { ZEROS, NOISE, TEXT };

/* A fixed sequence (xorshift), so that a failure can be repeated. */
static void fill(unsigned char *to, size_t bytes, enum content content)
{
	static const char words[] = "the tide leaves a line of shells and the archive keeps it ";
	uint32_t x = 2463534242u;
	for (size_t i = 0; i < bytes; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		if (content == NOISE)
			to[i] = (unsigned char)(x >> 8);
		else if (content == TEXT)
			to[i] = (unsigned char)words[(i + (x % 7 == 0)) % (sizeof(words) - 1)];
		else
			to[i] = 0;
	}
}

static int to_buf(void *ctx, const void *data, size_t bytes)
{
	return ing_buf_add(ctx, data, bytes) ? 0 : -ING_FAIL_TOO_BIG;
}

/* Inflate one member, giving `in_step` bytes at a time and taking `out_step`. Returns 1 at its end,
 * else as the library. */
static int read_member(struct ing_gunzip *z, const struct ing_buf *from, size_t *at, size_t in_step,
	size_t out_step, struct ing_buf *ret)
{
	int rc = 0;
	ing_gunzip_begin(z);
	while (rc == 0 && *at < from->len) {
		const unsigned char *in = (const unsigned char *)from->data + *at;
		size_t give = ING_MIN(in_step, from->len - *at);
		size_t left = give;
		for (size_t got = out_step; rc == 0 && (left > 0 || got == out_step);) {
			void *out = ing_buf_reserve(ret, out_step);
			assert_non_null(out);
			rc = ing_gunzip_step(z, &in, &left, out, out_step, &got);
			ing_buf_commit(ret, got);
		}
		*at += give - left;
	}
	return rc;
}

/* clang-format off */
static const struct {
	size_t bytes;
	enum content content;
	size_t write_step;
	size_t in_step;
	size_t out_step;
} members[] = {
	{.content = ZEROS, .write_step = 1, .in_step = 100, .out_step = 100},
	{.bytes = 1, .content = TEXT, .write_step = 1, .in_step = 1, .out_step = 1},
	{.bytes = 4096, .content = TEXT, .write_step = 7, .in_step = 3, .out_step = 5},
	{.bytes = 5000000, .content = ZEROS, .write_step = 65536, .in_step = 65536,
		.out_step = 65536},
	{.bytes = 3000000, .content = NOISE, .write_step = 65536, .in_step = 1000,
		.out_step = 65536},
	{.bytes = 3000000, .content = NOISE, .write_step = 3000000, .in_step = 65536,
		.out_step = 777},
	{.bytes = 2000000, .content = TEXT, .write_step = 300, .in_step = 65536, .out_step = 65536},
	{.bytes = 1000000, .content = TEXT, .write_step = 1000000, .in_step = 1, .out_step = 65536},
};
/* clang-format on */

/* All members in one stream by one writer, read back by one reader. */
static void members_come_back(void **state)
{
	(void)state;
	struct ing_buf stream;
	ing_buf_init(&stream, MAX_BYTES);
	struct ing_gzip *z = ing_gzip_new(to_buf, &stream);
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++) {
		size_t begin = stream.len;
		unsigned char *data = malloc(members[i].bytes + 1);
		assert_non_null(data);
		fill(data, members[i].bytes, members[i].content);
		ing_gzip_begin(z);
		for (size_t at = 0; at < members[i].bytes; at += members[i].write_step)
			assert_int_equal(
				ing_gzip_add(z, data + at,
					ING_MIN(members[i].write_step, members[i].bytes - at)),
				0);
		assert_int_equal(ing_gzip_end(z), 0);
		assert_memory_equal(stream.data + begin, ing_gzip_head, ING_GZIP_HEAD_BYTES);
		if (members[i].content != NOISE)
			assert_true(stream.len - begin < members[i].bytes / 2 + 100);
		free(data);
	}
	ing_gzip_free(z);

	struct ing_gunzip *u = ing_gunzip_new();
	size_t at = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++) {
		struct ing_buf got;
		ing_buf_init(&got, MAX_BYTES);
		unsigned char *data = malloc(members[i].bytes + 1);
		assert_non_null(data);
		fill(data, members[i].bytes, members[i].content);
		assert_int_equal(
			read_member(u, &stream, &at, members[i].in_step, members[i].out_step, &got),
			1);
		assert_int_equal(got.len, members[i].bytes);
		assert_memory_equal(ing_buf_str(&got), data, members[i].bytes);
		ing_buf_done(&got);
		free(data);
	}
	assert_int_equal(at, stream.len);
	ing_gunzip_free(u);
	ing_buf_done(&stream);
}

static struct ing_buf inflate_whole(const struct ing_buf *member)
{
	struct ing_buf got;
	size_t at = 0;
	struct ing_gunzip *u = ing_gunzip_new();
	ing_buf_init(&got, MAX_BYTES);
	assert_int_equal(read_member(u, member, &at, 50000, 70000, &got), 1);
	assert_int_equal(at, member->len);
	ing_gunzip_free(u);
	return got;
}

/* Sizes around a stored block's, the smallest that is judged, the segment's and the buffer's; each
 * costs its block headers and the wrapper, with a compressed head before and a few bytes behind. */
static void noise_is_stored(void **state)
{
	(void)state;
	static const size_t sizes[] = {8192, 32767, 32768, 32769, 65534, 65535, 65536, 131069,
		131070, 131071, 262143, 262144, 262145, 1000000};
	static const char head[] = "head head head head head head";
	struct ing_buf member;
	ing_buf_init(&member, MAX_BYTES);
	struct ing_gzip *z = ing_gzip_new(to_buf, &member);
	unsigned char *data = malloc(1000000);
	assert_non_null(data);
	fill(data, 1000000, NOISE);
	for (size_t i = 0; i < ING_ARRAY_LEN(sizes) * 2; i++) {
		size_t bytes = sizes[i / 2];
		size_t head_bytes = i % 2 == 0 ? 0 : sizeof(head);
		ing_buf_clear(&member);
		ing_gzip_begin(z);
		assert_int_equal(ing_gzip_add(z, head, head_bytes), 0);
		assert_int_equal(ing_gzip_add(z, data, bytes), 0);
		assert_int_equal(ing_gzip_add(z, "\r\n\r\n", 4), 0);
		assert_int_equal(ing_gzip_end(z), 0);
		assert_true(member.len <= bytes + 5 * (bytes / 65535 + 4) + 18 + 4 + sizeof(head));
		assert_non_null(memmem(member.data, member.len, data, ING_MIN(bytes, 60000)));
		struct ing_buf got = inflate_whole(&member);
		assert_int_equal(got.len, head_bytes + bytes + 4);
		assert_memory_equal(got.data, head, head_bytes);
		assert_memory_equal(got.data + head_bytes, data, bytes);
		assert_memory_equal(got.data + head_bytes + bytes, "\r\n\r\n", 4);
		ing_buf_done(&got);
	}
	ing_gzip_free(z);
	ing_buf_done(&member);
	free(data);
}

/* A document with pictures: pieces of all kinds and lengths, given in calls that know nothing of
 * their borders. Text repeats what lies before the noise, so that a match across it would show. */
static void text_and_noise_take_turns(void **state)
{
	(void)state;
	enum { BYTES = 3000000 };
	unsigned char *data = malloc(BYTES);
	struct ing_buf member;
	ing_buf_init(&member, MAX_BYTES);
	struct ing_gzip *z = ing_gzip_new(to_buf, &member);
	assert_non_null(data);
	uint32_t x = 12345;
	for (unsigned round = 0; round < 12; round++) {
		size_t noise = 0;
		for (size_t at = 0; at < BYTES;) {
			x = x * 1664525 + 1013904223;
			size_t step =
				ING_MIN((x >> 8) % (round < 6 ? 20000 : 300000) + 1, BYTES - at);
			enum content content = x >> 30 == 0 ? ZEROS : x >> 31 == 0 ? TEXT : NOISE;
			fill(data + at, step, content);
			noise += content == NOISE ? step : 0;
			at += step;
		}
		ing_buf_clear(&member);
		ing_gzip_begin(z);
		for (size_t at = 0; at < BYTES;) {
			x = x * 1664525 + 1013904223;
			size_t step =
				ING_MIN((x >> 8) % (round % 2 == 0 ? 40000 : 600000), BYTES - at);
			assert_int_equal(ing_gzip_add(z, data + at, step), 0);
			at += step;
		}
		assert_int_equal(ing_gzip_end(z), 0);
		/* Neither way alone: not everything stored, not much lost. */
		assert_true(member.len < noise + (BYTES - noise) / 2);
		struct ing_buf got = inflate_whole(&member);
		assert_int_equal(got.len, BYTES);
		assert_memory_equal(got.data, data, BYTES);
		ing_buf_done(&got);
	}
	ing_gzip_free(z);
	ing_buf_done(&member);
	free(data);
}

struct full_disk {
	size_t room;
	unsigned calls;
};

static int to_full_disk(void *ctx, const void *data, size_t bytes)
{
	struct full_disk *disk = ctx;
	(void)data;
	disk->calls++;
	if (bytes > disk->room)
		return -ING_FAIL_NO_SPACE;
	disk->room -= bytes;
	return 0;
}

static void the_sinks_failure_is_the_members_result(void **state)
{
	(void)state;
	enum { BYTES = 4000000 };
	struct full_disk disk = {.room = 600000};
	unsigned char *data = malloc(BYTES);
	assert_non_null(data);
	fill(data, BYTES, NOISE);
	struct ing_gzip *z = ing_gzip_new(to_full_disk, &disk);
	assert_int_equal(ing_gzip_add(z, data, BYTES), -ING_FAIL_NO_SPACE);
	unsigned calls = disk.calls;
	assert_int_equal(ing_gzip_add(z, data, BYTES), -ING_FAIL_NO_SPACE);
	assert_int_equal(ing_gzip_end(z), -ING_FAIL_NO_SPACE);
	assert_int_equal(disk.calls, calls);
	/* …and the next member is well again. */
	disk.room = 10000000;
	ing_gzip_begin(z);
	assert_int_equal(ing_gzip_add(z, data, BYTES), 0);
	assert_int_equal(ing_gzip_end(z), 0);
	ing_gzip_free(z);
	ing_gzip_free(NULL);
	free(data);
}

/* Every single bit of a small member turned over, and every cut: never the same content without a
 * complaint. */
static void damage_is_noticed(void **state)
{
	(void)state;
	static const char text[] =
		"WARC/1.1 is a format; a flipped bit is a different text, text, text.";
	struct ing_buf whole;
	ing_buf_init(&whole, MAX_BYTES);
	struct ing_gzip *z = ing_gzip_new(to_buf, &whole);
	assert_int_equal(ing_gzip_add(z, text, sizeof(text)), 0);
	assert_int_equal(ing_gzip_end(z), 0);
	ing_gzip_free(z);
	struct ing_gunzip *u = ing_gunzip_new();
	unsigned harmless = 0;
	/* Bytes 3 to 9 of the gzip header (flags, time, level, system) carry no content and no
	 * checksum. */
	for (size_t bit = 80; bit < whole.len * 8; bit++) {
		struct ing_buf got;
		size_t at = 0;
		ing_buf_init(&got, MAX_BYTES);
		whole.data[bit / 8] = (char)(whole.data[bit / 8] ^ (1 << bit % 8));
		if (read_member(u, &whole, &at, 4096, 4096, &got) == 1) {
			assert_int_equal(got.len, sizeof(text));
			assert_memory_equal(got.data, text, sizeof(text));
			harmless++;
		}
		whole.data[bit / 8] = (char)(whole.data[bit / 8] ^ (1 << bit % 8));
		ing_buf_done(&got);
	}
	assert_true(harmless < 16);
	size_t full = whole.len;
	for (whole.len = 0; whole.len < full; whole.len++) {
		struct ing_buf got;
		size_t at = 0;
		ing_buf_init(&got, MAX_BYTES);
		assert_int_equal(read_member(u, &whole, &at, 4096, 4096, &got), 0);
		ing_buf_done(&got);
	}
	ing_gunzip_free(u);
	ing_gunzip_free(NULL);
	ing_buf_done(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_come_back),
		cmocka_unit_test(noise_is_stored),
		cmocka_unit_test(text_and_noise_take_turns),
		cmocka_unit_test(the_sinks_failure_is_the_members_result),
		cmocka_unit_test(damage_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
