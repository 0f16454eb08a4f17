/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Digests of many streams at once are those that OpenSSL makes of each, whichever instructions are
 * used: every case is run with all sets of them that the CPU has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/digest_lanes.h"
#include "common/data/digest_many.h"

enum { MAX_JOBS = 320, MAX_PARTS = 8, DATA_BYTES = 1 << 20 };

struct fixture {
	unsigned char *data; /* noise */
	struct ing_digest_job jobs[MAX_JOBS];
	struct iovec parts[MAX_JOBS][MAX_PARTS];
	size_t count;
	uint32_t random;
};

static uint32_t next_random(struct fixture *f, uint32_t below)
{
	f->random = f->random * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)f->random * below) >> 32);
}

static int set_up(void **state)
{
	struct fixture *f = ing_alloc(sizeof(*f));
	f->random = 1;
	f->data = ing_alloc(DATA_BYTES);
	for (size_t i = 0; i < DATA_BYTES; i++)
		f->data[i] = (unsigned char)next_random(f, 256);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	ing_digest_lanes_restrict(~0u);
	free(f->data);
	free(f);
	return 0;
}

/* A stream of one piece that begins anywhere. */
static void add_job(struct fixture *f, unsigned which, size_t bytes)
{
	assert_true(f->count < MAX_JOBS && bytes < DATA_BYTES / 2);
	f->parts[f->count][0] = (struct iovec){
		.iov_base = f->data + next_random(f, DATA_BYTES / 2), .iov_len = bytes};
	f->jobs[f->count] =
		(struct ing_digest_job){.which = which, .parts = f->parts[f->count], .count = 1};
	f->count++;
}

/* Into pieces of random lengths, some of them empty. */
static void cut_job(struct fixture *f, size_t job)
{
	struct iovec *parts = f->parts[job];
	char *from = parts[0].iov_base;
	size_t left = parts[0].iov_len;
	size_t count = 1 + next_random(f, MAX_PARTS);
	for (size_t i = 0; i < count; i++) {
		size_t take = next_random(f, (uint32_t)ING_MIN(left, (size_t)200) + 1);
		if (i + 1 == count)
			take = left;
		parts[i] = (struct iovec){.iov_base = take > 0 ? from : NULL, .iov_len = take};
		from += take;
		left -= take;
	}
	f->jobs[job].count = count;
}

static void check_job(const struct ing_digest_job *job)
{
	static const struct ing_digests none;
	struct ing_digests want = {0};
	struct ing_digester *d = ing_digester_new(job->which);
	for (size_t i = 0; i < job->count; i++)
		ing_digester_add(d, job->parts[i].iov_base, job->parts[i].iov_len);
	ing_digester_finish(d, &want);
	ing_digester_free(d);
	assert_int_equal(job->ret.bytes, want.bytes);
	assert_memory_equal(job->ret.md5, want.md5, sizeof(want.md5));
	assert_memory_equal(job->ret.sha1, want.sha1, sizeof(want.sha1));
	assert_memory_equal(job->ret.sha256, want.sha256, sizeof(want.sha256));
	if ((job->which & ING_DIGEST_MD5) == 0)
		assert_memory_equal(job->ret.md5, none.md5, sizeof(none.md5));
}

/* All jobs, with every set of instructions; then there are none. */
static void check_jobs(struct fixture *f)
{
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		if (ing_digest_lanes_restrict(cpu) != cpu)
			continue;
		for (size_t i = 0; i < f->count; i++)
			f->jobs[i].ret = (struct ing_digests){0};
		ing_digest_many(f->jobs, f->count);
		for (size_t i = 0; i < f->count; i++)
			check_job(&f->jobs[i]);
	}
	f->count = 0;
}

static void streams_of_every_length(void **state)
{
	struct fixture *f = *state;
	for (size_t bytes = 0; bytes <= 300; bytes++)
		add_job(f, ING_DIGEST_ALL, bytes);
	check_jobs(f);
}

static void single_streams_of_every_length(void **state)
{
	struct fixture *f = *state;
	for (size_t bytes = 0; bytes <= 300; bytes++) {
		add_job(f, ING_DIGEST_ALL, bytes);
		cut_job(f, 0);
		check_jobs(f);
	}
}

static void streams_around_powers_of_two(void **state)
{
	static const int around[] = {-65, -64, -9, -8, -1, 0, 1, 55, 56, 64};
	struct fixture *f = *state;
	for (int power = 7; power <= 18; power++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(around); i++)
			add_job(f, ING_DIGEST_ALL, (size_t)((1 << power) + around[i]));
	}
	check_jobs(f);
}

/* Fewer than lanes, as many, more, and so many that each kernel has a last one to itself. */
static void every_number_of_streams(void **state)
{
	struct fixture *f = *state;
	check_jobs(f);
	for (size_t count = 1; count <= 36; count++) {
		for (size_t i = 0; i < count; i++)
			add_job(f, ING_DIGEST_ALL, 2000);
		check_jobs(f);
		for (size_t i = 0; i < count; i++)
			add_job(f, ING_DIGEST_ALL, next_random(f, 5000));
		check_jobs(f);
	}
}

static void one_stream_that_is_much_longer_than_the_others(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < 20; i++)
		add_job(f, ING_DIGEST_ALL, i == 7 ? 500000 : i * 100);
	check_jobs(f);
}

static void pieces_of_odd_lengths_at_odd_places(void **state)
{
	struct fixture *f = *state;
	for (int round = 0; round < 100; round++) {
		size_t count = 1 + next_random(f, 40);
		for (size_t i = 0; i < count; i++) {
			add_job(f, ING_DIGEST_ALL, next_random(f, 3000));
			cut_job(f, i);
		}
		check_jobs(f);
	}
}

/* A record's block and its payload. */
static void each_stream_has_the_digests_that_it_asks_for(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < 50; i++)
		add_job(f, (unsigned)i % 8, 100 + next_random(f, 1000));
	check_jobs(f);
	/* one of each kind */
	for (unsigned which = 1; which < 8; which <<= 1)
		add_job(f, which, 1000);
	check_jobs(f);
}

static const struct {
	const char *name;
	uint64_t bytes;
	unsigned char want[8]; /* the length in bits, first byte first */
} lengths[] = {
	{"none", 0, {0}},
	{"a byte", 1, {0, 0, 0, 0, 0, 0, 0, 8}},
	{"the last that counts in 32 bits", 0x1fffffff, {0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf8}},
	{"512 MiB", 0x20000000, {0, 0, 0, 1, 0, 0, 0, 0}},
	{"over 4 GiB", 0x100000003, {0, 0, 0, 8, 0, 0, 0, 0x18}},
	{"over 1 TiB", 0x10000000001, {0, 0, 8, 0, 0, 0, 0, 8}},
};

static void the_length_of_a_stream_has_64_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(lengths); i++) {
		unsigned char tail[ING_DIGEST_TAIL_BYTES];
		size_t filled = lengths[i].bytes % 64;
		print_message("%s\n", lengths[i].name);
		memset(tail, 'x', sizeof(tail));
		size_t blocks = ing_digest_pad(tail, filled, lengths[i].bytes, true);
		assert_int_equal(blocks, filled < 56 ? 1 : 2);
		assert_memory_equal(tail + blocks * 64 - 8, lengths[i].want, 8);
		assert_int_equal(tail[filled], 0x80);
		for (size_t at = filled + 1; at < blocks * 64 - 8; at++)
			assert_int_equal(tail[at], 0);
		blocks = ing_digest_pad(tail, filled, lengths[i].bytes, false);
		for (size_t at = 0; at < 8; at++)
			assert_int_equal(tail[blocks * 64 - 1 - at], lengths[i].want[at]);
	}
}

static void the_padding_takes_another_block_when_there_is_no_room(void **state)
{
	(void)state;
	for (size_t filled = 0; filled < 64; filled++) {
		unsigned char tail[ING_DIGEST_TAIL_BYTES];
		assert_int_equal(ing_digest_pad(tail, filled, filled, true), filled <= 55 ? 1 : 2);
	}
}

static void the_implementation_has_a_name(void **state)
{
	(void)state;
	unsigned all = ing_digest_lanes_restrict(~0u);
	assert_int_equal(strcmp(ing_digest_many_how(), "OpenSSL") == 0, all == 0);
	assert_int_equal(ing_digest_lanes_restrict(0), 0);
	assert_string_equal(ing_digest_many_how(), "OpenSSL");
	assert_null(ing_digest_kernels(ING_DIGEST_MD5));
	if (ing_digest_lanes_restrict(ING_DIGEST_CPU_SHA) != 0) {
		assert_string_equal(ing_digest_many_how(), "SHA instructions");
		assert_null(ing_digest_kernels(ING_DIGEST_MD5));
		assert_non_null(ing_digest_kernels(ING_DIGEST_SHA1));
	}
	if (ing_digest_lanes_restrict(ING_DIGEST_CPU_AVX512) != 0) {
		assert_string_equal(ing_digest_many_how(), "AVX-512");
		assert_int_equal(ing_digest_kernels(ING_DIGEST_MD5)->lanes, 16);
	}
	if (ing_digest_lanes_restrict(ING_DIGEST_CPU_AVX2) != 0)
		assert_int_equal(ing_digest_kernels(ING_DIGEST_SHA256)->lanes, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(streams_of_every_length, set_up, tear_down),
		cmocka_unit_test_setup_teardown(single_streams_of_every_length, set_up, tear_down),
		cmocka_unit_test_setup_teardown(streams_around_powers_of_two, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_number_of_streams, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			one_stream_that_is_much_longer_than_the_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			pieces_of_odd_lengths_at_odd_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			each_stream_has_the_digests_that_it_asks_for, set_up, tear_down),
		cmocka_unit_test(the_length_of_a_stream_has_64_bits),
		cmocka_unit_test(the_padding_takes_another_block_when_there_is_no_room),
		cmocka_unit_test_setup_teardown(the_implementation_has_a_name, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
