/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Items that are gathered, read, digested and synced together: which wait for others, and that each has
 * the digests of its own body. The clock stands still, and a gathering that only time could end hangs:
 * the linker wraps them, and what counts and fails below (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/queue.h"
#include "common/data/digest_many.h"
#include "support.h"

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
#define LARGE_BYTES ((size_t)8 << 20)

static atomic_uint gatherings, digested;
static atomic_int refusals; /* so many of the next writes fail */
static atomic_uint_least64_t now_ms = 1000000;
static atomic_bool ticking; /* each look at the clock is 100 seconds later */

struct ing_node *__real_ing_queue_gather(struct ing_queue *q, size_t count, int timeout_ms);
struct ing_node *__wrap_ing_queue_gather(struct ing_queue *q, size_t count, int timeout_ms);
uint64_t __wrap_ing_now_ms(void);
void __real_ing_digest_many(struct ing_digest_job *jobs, size_t count);
void __wrap_ing_digest_many(struct ing_digest_job *jobs, size_t count);
ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);

struct ing_node *__wrap_ing_queue_gather(struct ing_queue *q, size_t count, int timeout_ms)
{
	ing_must(timeout_ms <= 20);
	atomic_fetch_add(&gatherings, 1);
	return __real_ing_queue_gather(q, count, 3600 * 1000);
}

uint64_t __wrap_ing_now_ms(void)
{
	return atomic_fetch_add(&now_ms, atomic_load(&ticking) ? 100000 : 0);
}

void __wrap_ing_digest_many(struct ing_digest_job *jobs, size_t count)
{
	atomic_fetch_add(&digested, (unsigned)count);
	__real_ing_digest_many(jobs, count);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
	if (atomic_load(&refusals) > 0) {
		atomic_fetch_sub(&refusals, 1);
		atomic_store(&ticking, true); /* so that the back-off ends */
		errno = ENOSPC;
		return -1;
	}
	return __real_pwrite(fd, data, bytes, at);
}

static int setup(void **state)
{
	atomic_store(&gatherings, 0);
	atomic_store(&digested, 0);
	atomic_store(&refusals, 0);
	atomic_store(&ticking, false);
	return fixture_setup(state);
}

static struct ing_archive_stats stats_of(const struct fixture *f)
{
	struct ing_archive_stats stats;
	ing_archive_stats(f->archive, &stats);
	return stats;
}

static unsigned char *make_noise(size_t bytes)
{
	unsigned char *noise = ing_alloc(bytes);
	uint32_t x = 1;
	for (size_t i = 0; i < bytes; i++) {
		x = x * 1664525 + 1013904223;
		noise[i] = (unsigned char)(x >> 24);
	}
	return noise;
}

/* Its digests, its place, and the record there. */
static void check_parcel(const struct fixture *f, const struct parcel *p, const void *body,
	size_t bytes, bool with_folder)
{
	struct ing_digests want;
	struct ing_buf got;
	ing_digest(ING_DIGEST_ALL, body, bytes, &want);
	assert_true(p->item.digested);
	assert_int_equal(p->item.body.bytes, bytes);
	assert_memory_equal(p->item.body.md5, want.md5, sizeof(want.md5));
	assert_memory_equal(p->item.body.sha1, want.sha1, sizeof(want.sha1));
	assert_memory_equal(p->item.body.sha256, want.sha256, sizeof(want.sha256));
	assert_int_equal(p->item.warc_name[0] != '\0', with_folder);
	if (!with_folder)
		return;
	read_item(f, &p->item, &got);
	assert_true(got.len > bytes + 4);
	assert_memory_equal(got.data + got.len - 4 - bytes, bytes > 0 ? body : "", bytes);
	ing_buf_done(&got);
}

/* Some fill the buffer, one is larger than it, one cannot be read, and of one there was no answer. */
static void each_body_has_its_own_digests(void **state)
{
	struct fixture *f = *state;
	enum { COUNT = 75, FULL = 20, LARGER = 21, UNREADABLE = 30, UNANSWERED = 31 };
	unsigned char *noise = make_noise(LARGE_BYTES + COUNT);
	struct parcel *p = ing_alloc(COUNT * sizeof(*p));
	for (int with_folder = 1; with_folder >= 0; with_folder--) {
		f->conf.settings.dir = with_folder ? f->path : "";
		fixture_start(f);
		for (size_t i = 0; i < COUNT; i++) {
			size_t bytes = i == FULL     ? LARGE_BYTES
				       : i == LARGER ? LARGE_BYTES + 1
						     : i * i * 97 % 70000;
			parcel_init(&p[i], "http://h/", HEAD, noise + i, bytes);
		}
		p[UNREADABLE].exchange.body_bytes++;
		p[UNANSWERED].exchange.answered = false;
		for (size_t i = 0; i < COUNT; i++)
			parcel_put_one_of(f, &p[i], COUNT - 1 - i);
		run_until_done(f, p, COUNT);
		for (size_t i = 0; i < COUNT; i++) {
			assert_int_equal(p[i].item.lost, i == UNREADABLE);
			if (i != UNREADABLE && i != UNANSWERED)
				check_parcel(
					f, &p[i], noise + i, p[i].exchange.body_bytes, with_folder);
			parcel_done(&p[i]);
		}
		fixture_stop(f);
	}
	assert_int_equal(look_around(f).records, 1 + 2 * (COUNT - 2));
	free(p);
	free(noise);
}

static void one_by_itself_does_not_wait(void **state)
{
	struct fixture *f = *state;
	struct parcel p;
	fixture_start(f);
	for (unsigned i = 1; i <= 3; i++) {
		atomic_fetch_add(&now_ms, 20);
		parcel_init(&p, "http://h/", HEAD, "hello", 5);
		parcel_put_one_of(f, &p, 5); /* slow ones, it seems */
		run_until_done(f, &p, 1);
		assert_int_equal(stats_of(f).syncs, i);
		parcel_done(&p);
	}
	assert_int_equal(atomic_load(&gatherings), 0);
}

static void those_that_come_close_together_share_a_sync(void **state)
{
	struct fixture *f = *state;
	enum { COUNT = 6 };
	struct parcel p[COUNT];
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++)
		parcel_init(&p[i], "http://h/", HEAD, "hello", i);
	parcel_put_one_of(f, &p[0], 5);
	run_until_done(f, p, 1);
	assert_int_equal(atomic_load(&gatherings), 0);
	atomic_fetch_add(&now_ms, 19);
	for (size_t i = 1; i < COUNT; i++) /* the last expects nobody behind it */
		parcel_put_one_of(f, &p[i], COUNT - 1 - i);
	run_until_done(f, p, COUNT);
	assert_int_equal(atomic_load(&gatherings), 1);
	assert_int_equal(stats_of(f).syncs, 2);
	for (size_t i = 0; i < COUNT; i++) {
		check_parcel(f, &p[i], "hello", i, true);
		parcel_done(&p[i]);
	}
}

static void sixteen_are_enough(void **state)
{
	struct fixture *f = *state;
	enum { COUNT = 17 };
	struct parcel p[COUNT];
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++)
		parcel_init(&p[i], "http://h/", HEAD, "hello", 5);
	parcel_put_one_of(f, &p[0], 99);
	run_until_done(f, p, 1);
	for (size_t i = 1; i < COUNT; i++)
		parcel_put_one_of(f, &p[i], 99);
	run_until_done(f, p, COUNT);
	assert_int_equal(stats_of(f).syncs, 2);
	for (size_t i = 0; i < COUNT; i++)
		parcel_done(&p[i]);
}

static void the_end_does_not_wait_for_others(void **state)
{
	struct fixture *f = *state;
	struct parcel p[2];
	fixture_start(f);
	for (size_t i = 0; i < 2; i++)
		parcel_init(&p[i], "http://h/", HEAD, "hello", 5);
	parcel_put_one_of(f, &p[0], 99);
	run_until_done(f, p, 1);
	parcel_put_one_of(f, &p[1], 99);
	fixture_stop(f);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(p[i].done, 1);
		parcel_done(&p[i]);
	}
	assert_int_equal(look_around(f).records, 1 + 2 * 2);
}

/* An item's memory may be the next one's. */
static void digests_do_not_outlive_their_item(void **state)
{
	struct fixture *f = *state;
	static const char *const bodies[] = {"hello", "world"};
	struct parcel p[2];
	fixture_start(f);
	for (size_t round = 0; round < 4; round++) {
		for (size_t i = 0; i < 2; i++)
			parcel_init(&p[i], "http://h/", HEAD, bodies[(round + i) % 2], 5);
		parcel_put_one_of(f, &p[0], 1);
		parcel_put_one_of(f, &p[1], 0);
		run_until_done(f, p, 2);
		for (size_t i = 0; i < 2; i++) {
			check_parcel(f, &p[i], bodies[(round + i) % 2], 5, true);
			parcel_done(&p[i]);
		}
	}
}

static void while_the_disk_refuses_nothing_is_digested_again(void **state)
{
	struct fixture *f = *state;
	enum { COUNT = 9, BYTES = 20000 };
	unsigned char *noise = make_noise(BYTES + COUNT);
	struct parcel p[COUNT];
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++)
		parcel_init(&p[i], "http://h/", HEAD, noise + i, BYTES);
	parcel_put_one_of(f, &p[0], 99);
	run_until_done(f, p, 1);
	atomic_store(&refusals, 5);
	for (size_t i = 1; i < COUNT; i++)
		parcel_put_one_of(f, &p[i], COUNT - 1 - i);
	run_until_done(f, p, COUNT);
	assert_int_equal(atomic_load(&refusals), 0);
	/* of each body, and of it with the head */
	assert_int_equal(atomic_load(&digested), 2 * COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		check_parcel(f, &p[i], noise + i, BYTES, true);
		parcel_done(&p[i]);
	}
	free(noise);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_body_has_its_own_digests),
		CASE(one_by_itself_does_not_wait),
		CASE(those_that_come_close_together_share_a_sync),
		CASE(sixteen_are_enough),
		CASE(the_end_does_not_wait_for_others),
		CASE(digests_do_not_outlive_their_item),
		CASE(while_the_disk_refuses_nothing_is_digested_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
