/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Levels of free space, on file systems that are played here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/statvfs.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/macros.h"
#include "worker/disk/disk.h"

#define GIVE_UP_MS 30000
#define BLOCK 4096

/* --- the file systems --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t free_blocks[ING_DISK_FOLDERS_];
static int errnum;
static unsigned asked;
static const char *const folders[] = {"/warc", "/spool", "/state", "/store"};

int statvfs(const char *path, struct statvfs *ret)
{
	pthread_mutex_lock(&lock);
	*ret = (struct statvfs){.f_frsize = BLOCK, .f_bfree = UINT32_MAX};
	for (int i = 0; i < ING_DISK_FOLDERS_; i++)
		if (strcmp(path, folders[i]) == 0)
			ret->f_bavail = free_blocks[i];
	int failed = errnum;
	asked++;
	pthread_mutex_unlock(&lock);
	errno = failed;
	return failed != 0 ? -1 : 0;
}

static void set_free(int folder, uint64_t blocks)
{
	pthread_mutex_lock(&lock);
	free_blocks[folder] = blocks;
	pthread_mutex_unlock(&lock);
}

static void set_errnum(int value)
{
	pthread_mutex_lock(&lock);
	errnum = value;
	pthread_mutex_unlock(&lock);
}

/* --- the worker --- */

static uv_loop_t loop;
static uint64_t written;
static unsigned aborts;
static const char *aborted_for;

static uint64_t count_written(void *ctx)
{
	(void)ctx;
	return written;
}

static void on_abort(void *ctx, const char *key)
{
	(void)ctx;
	aborts++;
	aborted_for = key;
}

static struct ing_disk *start(void)
{
	uv_loop_init(&loop);
	aborts = 0;
	aborted_for = NULL;
	set_errnum(0);
	return ing_disk_new(&loop, &(struct ing_disk_conf){
					   .settings = {100 * BLOCK, 10 * BLOCK},
					   .folders = {"/warc", "/spool", "/state", "/store"},
					   .written = count_written,
					   .on_abort = on_abort,
				   });
}

static void stop(struct ing_disk *d)
{
	ing_disk_free(d);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void do_nothing(uv_timer_t *timer)
{
	(void)timer;
}

/* Run the loop until the file systems have been asked `times` more times. */
static void wait_checks(unsigned times)
{
	uv_timer_t tick;
	uint64_t until_ms = ing_now_ms() + GIVE_UP_MS;
	unsigned want = asked + times * ING_DISK_FOLDERS_;
	uv_timer_init(&loop, &tick);
	uv_timer_start(&tick, do_nothing, 1, 5);
	for (bool done = false; !done;) {
		assert_true(ing_now_ms() < until_ms);
		written++;
		uv_run(&loop, UV_RUN_ONCE);
		pthread_mutex_lock(&lock);
		done = asked >= want;
		pthread_mutex_unlock(&lock);
	}
	uv_close((uv_handle_t *)&tick, NULL);
	for (int i = 0; i < 3; i++) /* until the last of them is back */
		uv_run(&loop, UV_RUN_ONCE);
}

static void fill_all(uint64_t blocks)
{
	for (int i = 0; i < ING_DISK_FOLDERS_; i++)
		set_free(i, blocks);
}

/* --- cases --- */

static void levels_follow_from_free_space(void **state)
{
	(void)state;
	static const struct {
		uint64_t stop, abort, free_bytes;
		enum ing_disk_level before, want;
	} cases[] = {
		{1600, 160, 1600, ING_DISK_ENOUGH, ING_DISK_ENOUGH},
		{1600, 160, 1599, ING_DISK_ENOUGH, ING_DISK_STOP},
		{1600, 160, 160, ING_DISK_ENOUGH, ING_DISK_STOP},
		{1600, 160, 159, ING_DISK_ENOUGH, ING_DISK_ABORT},
		{1600, 160, 0, ING_DISK_ENOUGH, ING_DISK_ABORT},
		/* back: a sixteenth more */
		{1600, 160, 1699, ING_DISK_STOP, ING_DISK_STOP},
		{1600, 160, 1700, ING_DISK_STOP, ING_DISK_ENOUGH},
		{1600, 160, 169, ING_DISK_ABORT, ING_DISK_ABORT},
		{1600, 160, 170, ING_DISK_ABORT, ING_DISK_STOP},
		{1600, 160, 1650, ING_DISK_ABORT, ING_DISK_STOP},
		{1600, 160, 1700, ING_DISK_ABORT, ING_DISK_ENOUGH},
		/* off */
		{0, 0, 0, ING_DISK_ENOUGH, ING_DISK_ENOUGH},
		{0, 0, 0, ING_DISK_ABORT, ING_DISK_ENOUGH},
		{1600, 0, 0, ING_DISK_ENOUGH, ING_DISK_STOP},
		{UINT64_C(1) << 50, 160, (UINT64_C(1) << 50) - 1, ING_DISK_ENOUGH, ING_DISK_STOP},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_disk_settings settings = {cases[i].stop, cases[i].abort};
		enum ing_disk_level got =
			ing_disk_level_of(&settings, cases[i].free_bytes, cases[i].before);
		if (got != cases[i].want)
			fail_msg("case %zu: level %d, not %d", i, (int)got, (int)cases[i].want);
	}
}

static void a_full_disk_is_known_before_the_first_fetch(void **state)
{
	(void)state;
	fill_all(1000);
	set_free(ING_DISK_STATE, 99);
	set_free(ING_DISK_STORE, 999);
	struct ing_disk *d = start();
	assert_true(ing_disk_low(d));
	assert_int_equal(aborts, 0);
	struct ing_disk_stats stats;
	ing_disk_stats(d, &stats);
	assert_int_equal(stats.stops, 1);
	assert_int_equal(stats.low, 1);
	assert_int_equal(stats.warc_free_bytes, 1000 * BLOCK);
	assert_int_equal(stats.state_free_bytes, 99 * BLOCK);
	assert_int_equal(stats.store_free_bytes, 999 * BLOCK);
	stop(d);
}

static void it_stops_ends_transfers_and_goes_on_by_itself(void **state)
{
	(void)state;
	fill_all(1000);
	struct ing_disk *d = start();
	assert_false(ing_disk_low(d));
	set_free(ING_DISK_SPOOL, 50);
	wait_checks(2);
	assert_true(ing_disk_low(d));
	assert_int_equal(aborts, 0);
	set_free(ING_DISK_SPOOL, 5);
	wait_checks(2);
	assert_true(aborts >= 1);
	assert_string_equal(aborted_for, "spool.dir");
	unsigned before = aborts;
	wait_checks(2); /* transfers that have begun meanwhile */
	assert_true(aborts > before);
	set_free(ING_DISK_SPOOL, 1000);
	wait_checks(2);
	assert_false(ing_disk_low(d));
	before = aborts;
	wait_checks(2);
	assert_int_equal(aborts, before);
	struct ing_disk_stats stats;
	ing_disk_stats(d, &stats);
	assert_int_equal(stats.stops, 1);
	stop(d);
}

static void a_file_system_that_cannot_be_asked_keeps_its_level(void **state)
{
	(void)state;
	fill_all(50);
	struct ing_disk *d = start();
	assert_true(ing_disk_low(d));
	set_errnum(EIO);
	fill_all(1000);
	wait_checks(2);
	assert_true(ing_disk_low(d));
	set_errnum(0);
	wait_checks(2);
	assert_false(ing_disk_low(d));
	set_errnum(ESTALE);
	fill_all(0);
	wait_checks(2);
	assert_false(ing_disk_low(d));
	stop(d);
}

static void a_check_may_outlast_the_disk(void **state)
{
	(void)state;
	fill_all(1000);
	struct ing_disk *d = start();
	pthread_mutex_lock(&lock); /* statvfs does not return */
	uint64_t until_ms = ing_now_ms() + 300;
	uv_timer_t tick;
	uv_timer_init(&loop, &tick);
	uv_timer_start(&tick, do_nothing, 1, 5);
	while (ing_now_ms() < until_ms) {
		written++;
		uv_run(&loop, UV_RUN_ONCE);
	}
	uv_close((uv_handle_t *)&tick, NULL);
	ing_disk_free(d);
	pthread_mutex_unlock(&lock);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_follow_from_free_space),
		cmocka_unit_test(a_full_disk_is_known_before_the_first_fetch),
		cmocka_unit_test(it_stops_ends_transfers_and_goes_on_by_itself),
		cmocka_unit_test(a_file_system_that_cannot_be_asked_keeps_its_level),
		cmocka_unit_test(a_check_may_outlast_the_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
