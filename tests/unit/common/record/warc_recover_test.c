/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Crash tails go; records behind a damaged one stay; a WARC within a page does not count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/error.h"
#include "common/record/warc_recover.h"
#include "stream.h"

#define MAX_BYTES ((size_t)32 << 20)
#define INFO "<urn:uuid:aaaaaaaa-0000-4000-8000-000000000000>"
#define OTHER "<urn:uuid:bbbbbbbb-0000-4000-8000-000000000000>"

static struct ing_warc_end find_end(const struct ing_buf *b)
{
	struct ing_warc_end end;
	struct ing_error err = {0};
	int fd = stream_to_fd(b);
	assert_int_equal(ing_warc_find_end(fd, &end, &err), 0);
	assert_int_equal(end.bytes, b->len);
	close(fd);
	return end;
}

/* Four small records; returns the ends. */
static void build(struct ing_buf *b, size_t ends[4])
{
	ing_buf_init(b, MAX_BYTES);
	stream_add_record(b, "warcinfo", INFO, "software: x\r\n", 13);
	ends[0] = b->len;
	for (int i = 1; i < 4; i++) {
		stream_add_record(b, "response", INFO, "HTTP/1.1 200 OK\r\n\r\nhello", 24);
		ends[i] = b->len;
	}
}

static void a_cut_anywhere_keeps_the_records_before_it(void **state)
{
	(void)state;
	struct ing_buf b;
	size_t ends[4];
	build(&b, ends);
	for (b.len = 0; b.len <= ends[3]; b.len++) {
		unsigned whole = 0;
		while (whole < 4 && ends[whole] <= b.len)
			whole++;
		struct ing_warc_end got = find_end(&b);
		assert_int_equal(got.records, whole);
		assert_int_equal(got.keep, whole == 0 ? 0 : ends[whole - 1]);
		assert_int_equal(got.damage != NULL, got.keep != b.len);
		assert_false(got.hole);
	}
	ing_buf_done(&b);
}

/* A body that does not compress is in the file as it is: a cut or a changed byte in it is noticed
 * all the same, and what is around it stays. */
static void a_cut_within_stored_bytes(void **state)
{
	(void)state;
	unsigned char noise[8200];
	struct ing_buf b;
	size_t ends[4];
	uint32_t x = 1;
	build(&b, ends);
	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 1664525 + 1013904223;
		noise[i] = (unsigned char)(x >> 24);
	}
	stream_add_record(&b, "response", INFO, noise, sizeof(noise));
	size_t full = b.len;
	char *stored = memmem(b.data, b.len, noise, sizeof(noise));
	assert_non_null(stored);
	assert_int_equal(find_end(&b).records, 5);
	for (b.len = ends[3]; b.len < full; b.len++) {
		struct ing_warc_end got = find_end(&b);
		assert_int_equal(got.records, 4);
		assert_int_equal(got.keep, ends[3]);
		assert_false(got.hole);
	}
	stored[sizeof(noise) / 2] ^= 1;
	stream_add_record(&b, "response", INFO, "behind", 6);
	struct ing_warc_end got = find_end(&b);
	assert_int_equal(got.damage_at, ends[3]);
	assert_int_equal(got.records, 5);
	assert_int_equal(got.keep, b.len);
	assert_true(got.hole);
	ing_buf_done(&b);
}

static void zeros_and_noise_behind_the_records_go(void **state)
{
	(void)state;
	struct ing_buf b;
	size_t ends[4];
	build(&b, ends);
	for (int kind = 0; kind < 2; kind++) {
		b.len = ends[3];
		for (unsigned i = 0; i < 200000; i++)
			ing_buf_add_char(&b, kind == 0 ? '\0' : (char)(i * 2654435761u >> 13));
		struct ing_warc_end got = find_end(&b);
		assert_int_equal(got.keep, ends[3]);
		assert_int_equal(got.damage_at, ends[3]);
		assert_int_equal(got.records, 4);
		assert_false(got.hole);
	}
	ing_buf_done(&b);
}

/* Any damaged byte within any record, the first included: the others stay. */
static void records_behind_a_damaged_one_are_kept(void **state)
{
	(void)state;
	struct ing_buf b;
	size_t ends[4];
	build(&b, ends);
	for (unsigned hurt = 0; hurt < 4; hurt++) {
		size_t begin = hurt == 0 ? 0 : ends[hurt - 1];
		size_t middle = begin + (ends[hurt] - begin) / 2;
		b.data[middle] = (char)~b.data[middle];
		struct ing_warc_end got = find_end(&b);
		assert_int_equal(got.damage_at, begin);
		assert_int_equal(got.records, 3);
		assert_int_equal(got.keep, hurt == 3 ? ends[2] : ends[3]);
		assert_int_equal(got.hole, hurt != 3);
		b.data[middle] = (char)~b.data[middle];
	}
	ing_buf_done(&b);
}

static void damage_and_a_crash_tail_at_once(void **state)
{
	(void)state;
	struct ing_buf b;
	size_t ends[4];
	build(&b, ends);
	b.data[ends[1] + 15] = (char)~b.data[ends[1] + 15];
	b.len = ends[3] + 20;
	memcpy(b.data + ends[3], b.data, 20);
	struct ing_warc_end got = find_end(&b);
	assert_int_equal(got.damage_at, ends[1]);
	assert_int_equal(got.keep, ends[3]);
	assert_int_equal(got.records, 3);
	assert_true(got.hole);
	ing_buf_done(&b);
}

/* A page whose content is itself a .warc.gz does not compress, so its bytes are in our file as they
 * are. */
static void a_warc_in_a_torn_page_is_not_ours(void **state)
{
	(void)state;
	struct ing_buf b;
	size_t ends[4];
	build(&b, ends);
	ing_buf_add(&b, "\x1f\x8b\x08\0\0\0\0\0\0\xff\x00\xff\xff\x00\x00torn", 19);
	for (int i = 0; i < 100; i++)
		stream_add_record(&b, "response", OTHER, "HTTP/1.1 200 OK\r\n\r\nhello", 24);
	ing_buf_add_str(&b, "torn");
	struct ing_warc_end got = find_end(&b);
	assert_int_equal(got.keep, ends[3]);
	assert_int_equal(got.records, 4);
	assert_false(got.hole);
	ing_buf_done(&b);
}

/* Millions of member fronts: the search ends, and ends without cutting what it has not seen. */
static void a_page_made_to_wear_the_search_out(void **state)
{
	(void)state;
	struct ing_buf b;
	size_t ends[4];
	build(&b, ends);
	while (b.len < 4000000)
		ing_buf_add(&b, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	struct ing_warc_end got = find_end(&b);
	assert_int_equal(got.damage_at, ends[3]);
	assert_int_equal(got.records, 4);
	assert_int_equal(got.keep, b.len);
	assert_true(got.hole);
	ing_buf_done(&b);
}

static void an_unreadable_file_is_an_error(void **state)
{
	(void)state;
	int ends[2];
	struct ing_warc_end got;
	struct ing_error err = {0};
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(ing_warc_find_end(ends[0], &got, &err), -ING_FAIL_SYSTEM);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(ing_warc_find_end(-1, &got, &err), -ING_FAIL_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_anywhere_keeps_the_records_before_it),
		cmocka_unit_test(a_cut_within_stored_bytes),
		cmocka_unit_test(zeros_and_noise_behind_the_records_go),
		cmocka_unit_test(records_behind_a_damaged_one_are_kept),
		cmocka_unit_test(damage_and_a_crash_tail_at_once),
		cmocka_unit_test(a_warc_in_a_torn_page_is_not_ours),
		cmocka_unit_test(a_page_made_to_wear_the_search_out),
		cmocka_unit_test(an_unreadable_file_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
