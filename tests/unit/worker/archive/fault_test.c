/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A disk that fails: the system calls by which files are written are wrapped by the linker
 * (--wrap), so that the n-th of them can fail, write less than asked, or be the last thing that the
 * process does. Whatever happens: every item comes back once, what came back is in a whole file,
 * and nothing comes back before it is safe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "support.h"

enum call { PWRITE, FDATASYNC, FTRUNCATE, FSYNC, RENAME, CALLS };
/* What a power cut does to bytes that were written but not synced. */
enum loss { LOSS_NONE, LOSS_ALL, LOSS_HALF, LOSS_ZEROS, LOSSES };

static struct {
	/* calls [first, first + count) of this kind fail */
	enum call kind;
	unsigned first, count;
	int errnum;      /* 0: no plan */
	bool half;       /* pwrite takes half of the bytes in the call before */
	unsigned die_at; /* of all calls; 0: never */
	enum loss loss;
} plan;
static atomic_uint calls[CALLS];
static atomic_uint all_calls;
static int file_fd = -1; /* written last */
static off_t file_end, file_synced;

ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t at);
int __real_fdatasync(int fd);
int __real_ftruncate(int fd, off_t bytes);
int __real_fsync(int fd);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_fsync(int fd);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

static void cut_power(void)
{
	off_t lost = file_end - file_synced;
	if (file_fd >= 0 && lost > 0) {
		off_t keep = plan.loss == LOSS_NONE   ? file_end
			     : plan.loss == LOSS_HALF ? file_synced + lost / 2
						      : file_synced;
		__real_ftruncate(file_fd, keep);
		if (plan.loss == LOSS_ZEROS)
			__real_ftruncate(file_fd, file_end);
	}
	_exit(9);
}

/* True: this call fails with errno set. */
static bool fails(enum call kind)
{
	unsigned n = atomic_fetch_add(&calls[kind], 1) + 1;
	unsigned all = atomic_fetch_add(&all_calls, 1) + 1;
	if (plan.die_at > 0 && all == plan.die_at && kind != PWRITE)
		cut_power();
	if (plan.errnum == 0 || kind != plan.kind || n < plan.first || n >= plan.first + plan.count)
		return false;
	errno = plan.errnum;
	return true;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
	if (fails(PWRITE))
		return -1;
	bool die = plan.die_at > 0 && atomic_load(&all_calls) == plan.die_at;
	bool half =
		plan.half && plan.kind == PWRITE && atomic_load(&calls[PWRITE]) + 1 == plan.first;
	ssize_t n = __real_pwrite(fd, data, die || half ? (bytes + 1) / 2 : bytes, at);
	if (fd != file_fd || at == 0)
		file_synced = 0;
	file_fd = fd;
	file_end = at + n;
	if (die)
		cut_power();
	return n;
}

int __wrap_fdatasync(int fd)
{
	if (fails(FDATASYNC))
		return -1;
	int rc = __real_fdatasync(fd);
	if (fd == file_fd)
		file_synced = file_end;
	return rc;
}

int __wrap_ftruncate(int fd, off_t bytes)
{
	if (fails(FTRUNCATE))
		return -1;
	if (fd == file_fd)
		file_end = bytes;
	return __real_ftruncate(fd, bytes);
}

int __wrap_fsync(int fd)
{
	return fails(FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	return fails(RENAME) ? -1 : __real_renameat2(from_fd, from, to_fd, to, flags);
}

/* -------------------------------------------------------------------------------------------- */

enum { COUNT = 10, BODY = 3000 };

static int setup(void **state)
{
	memset(&plan, 0, sizeof(plan));
	for (int i = 0; i < CALLS; i++)
		atomic_store(&calls[i], 0);
	atomic_store(&all_calls, 0);
	file_fd = -1;
	return fixture_setup(state);
}

static void make_parcels(struct parcel parcels[COUNT])
{
	for (size_t i = 0; i < COUNT; i++) {
		char url[64];
		char body[BODY];
		uint32_t x = (uint32_t)i;
		for (size_t k = 0; k < BODY; k++) {
			x = x * 1664525 + 1013904223;
			body[k] = (char)(x >> 24);
		}
		snprintf(url, sizeof(url), "http://h/%zu", i);
		parcel_init(&parcels[i], url, "HTTP/1.1 200 OK\r\n\r\n", body, BODY);
	}
}

/* The item's place holds its own exchange. */
static void check_item(const struct fixture *f, const struct ing_archive_item *item, size_t i)
{
	struct ing_buf got;
	char url[64];
	snprintf(url, sizeof(url), "\r\nWARC-Target-URI: http://h/%zu\r\n", i);
	read_item(f, item, &got);
	assert_non_null(strstr(ing_buf_str(&got), url));
	assert_true(got.len > BODY);
	ing_buf_done(&got);
}

struct watch {
	uv_timer_t timer;
	struct fixture *f;
	bool seen_blocked;
};

static void look(uv_timer_t *timer)
{
	struct watch *w = timer->data;
	w->seen_blocked |= ing_archive_blocked(w->f->archive);
}

/* clang-format off */
static const struct {
	const char *name;
	enum call kind;
	unsigned first, count;
	int errnum;
	bool half;
	unsigned want_open;    /* files left open, for the next start */
	uint64_t want_records; /* 0: repeats are possible */
} faults[] = {
	{.name = "no space for the first record", .kind = PWRITE, .first = 1, .count = 2,
		.errnum = ENOSPC, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "no space in the middle", .kind = PWRITE, .first = 6, .count = 3,
		.errnum = ENOSPC, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "no space in the middle of a record", .kind = PWRITE, .first = 7, .count = 2,
		.errnum = EDQUOT, .half = true, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "no space between request and response", .kind = PWRITE, .first = 9, .count = 1,
		.errnum = EDQUOT, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "the disk fails a write", .kind = PWRITE, .first = 5, .count = 1, .errnum = EIO,
		.half = true, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "the disk fails the first sync", .kind = FDATASYNC, .first = 1, .count = 1,
		.errnum = EIO, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "the disk fails a later sync", .kind = FDATASYNC, .first = 2, .count = 1,
		.errnum = EIO, .want_open = 0, .want_records = 2 + 2 * COUNT},
	{.name = "the disk fails two syncs in a row", .kind = FDATASYNC, .first = 2, .count = 2,
		.errnum = EIO, .want_open = 1, .want_records = 0},
	{.name = "the folder cannot be synced", .kind = FSYNC, .first = 1, .count = 1,
		.errnum = EIO, .want_open = 0, .want_records = 1 + 2 * COUNT},
	{.name = "the file cannot be renamed", .kind = RENAME, .first = 1, .count = 1,
		.errnum = EACCES, .want_open = 1, .want_records = 0},
};
/* clang-format on */

static void items_outlive_a_failing_disk(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(faults); i++) {
		struct parcel parcels[COUNT];
		void *own = NULL;
		assert_int_equal(setup(&own), 0);
		struct fixture *f = own;
		make_parcels(parcels);
		fixture_start(f);
		struct watch w = {.f = f};
		w.timer.data = &w;
		uv_timer_init(&f->loop, &w.timer);
		uv_timer_start(&w.timer, look, 1, 1);
		uv_unref((uv_handle_t *)&w.timer);
		plan.kind = faults[i].kind;
		plan.first = faults[i].first;
		plan.count = faults[i].count;
		plan.half = faults[i].half;
		plan.errnum = faults[i].errnum;
		/* One goes by itself; the faults but the first calls' come when it is safe
		 * already. */
		parcel_put(f, &parcels[0]);
		run_until_done(f, parcels, 1);
		for (size_t k = 1; k < COUNT; k++)
			parcel_put(f, &parcels[k]);
		run_until_done(f, parcels, COUNT);
		assert_false(ing_archive_blocked(f->archive));
		if (faults[i].kind != RENAME && !w.seen_blocked)
			fail_msg("%s: was not blocked", faults[i].name);
		for (size_t k = 0; k < COUNT; k++)
			check_item(f, &parcels[k].item, k);
		uv_close((uv_handle_t *)&w.timer, NULL);
		fixture_stop(f);
		struct found found = look_around(f);
		if (found.open_files != faults[i].want_open)
			fail_msg("%s: %u files left open", faults[i].name, found.open_files);
		/* the next start closes what was left open */
		fixture_start(f);
		fixture_stop(f);
		found = look_around(f);
		assert_int_equal(found.open_files, 0);
		if (faults[i].want_records != 0 && found.records != faults[i].want_records)
			fail_msg("%s: %llu records", faults[i].name,
				(unsigned long long)found.records);
		for (size_t k = 0; k < COUNT; k++) {
			check_item(f, &parcels[k].item, k);
			parcel_done(&parcels[k]);
		}
		assert_int_equal(fixture_teardown(&own), 0);
	}
}

/* Cutting back fails as well: nothing may ever be appended behind the torn record. */
static void a_file_that_cannot_be_cut_is_left(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[COUNT];
	make_parcels(parcels);
	/* no file may grow past 10,000 bytes, and none can be made shorter: the limit is the
	 * kernel's own */
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	struct rlimit small = {.rlim_cur = 10000, .rlim_max = before.rlim_max};
	plan.kind = FTRUNCATE;
	plan.first = 1;
	plan.count = 1000;
	plan.errnum = EIO;
	fixture_start(f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (size_t i = 0; i < COUNT; i++)
		parcel_put(f, &parcels[i]);
	run_until_done(f, parcels, COUNT);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	fixture_stop(f);
	plan.errnum = 0;
	assert_true(look_around(f).open_files > 0);
	fixture_start(f);
	fixture_stop(f);
	assert_int_equal(look_around(f).open_files, 0);
	for (size_t i = 0; i < COUNT; i++) {
		check_item(f, &parcels[i].item, i);
		parcel_done(&parcels[i]);
	}
}

static void raise_limit(uv_timer_t *timer)
{
	struct watch *w = timer->data;
	struct rlimit limit;
	w->seen_blocked = ing_archive_blocked(w->f->archive);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* A real refusal by the kernel, which ends while items wait. */
static void a_limit_is_waited_out(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[COUNT];
	struct rlimit limit;
	make_parcels(parcels);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 10000;
	fixture_start(f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct watch w = {.f = f};
	w.timer.data = &w;
	uv_timer_init(&f->loop, &w.timer);
	uv_timer_start(&w.timer, raise_limit, 250, 0);
	for (size_t i = 0; i < COUNT; i++)
		parcel_put(f, &parcels[i]);
	run_until_done(f, parcels, COUNT);
	assert_true(w.seen_blocked);
	assert_false(ing_archive_blocked(f->archive));
	uv_close((uv_handle_t *)&w.timer, NULL);
	fixture_stop(f);
	struct found found = look_around(f);
	assert_int_equal(found.files, 1);
	assert_int_equal(found.records, 1 + 2 * COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		check_item(f, &parcels[i].item, i);
		parcel_done(&parcels[i]);
	}
}

/* The end comes while the disk refuses: items are dropped, and none was said to be safe. */
static void stopping_while_blocked(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[COUNT];
	make_parcels(parcels);
	plan.kind = PWRITE;
	plan.first = 6;
	plan.count = 1000000;
	plan.errnum = ENOSPC;
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++)
		parcel_put(f, &parcels[i]);
	while (!ing_archive_blocked(f->archive))
		uv_run(&f->loop, UV_RUN_NOWAIT);
	fixture_stop(f);
	plan.errnum = 0;
	unsigned done = 0;
	for (size_t i = 0; i < COUNT; i++) {
		done += parcels[i].done;
		if (parcels[i].done > 0)
			check_item(f, &parcels[i].item, i);
	}
	assert_int_equal(done, 2);
	assert_int_equal(look_around(f).records, 1 + 2 * 2);
	for (size_t i = 0; i < COUNT; i++)
		parcel_done(&parcels[i]);
}

struct ack {
	size_t i;
	struct ing_archive_item item;
};

static int ack_fd = -1;

static void acknowledge(struct ing_archive_item *item)
{
	struct parcel *p = ING_CONTAINER(item, struct parcel, item);
	struct ack ack = {.i = (size_t)strtoul(p->exchange.url + strlen("http://h/"), NULL, 10),
		.item = *item};
	ing_must(write(ack_fd, &ack, sizeof(ack)) == (ssize_t)sizeof(ack));
}

/* In the child: groups of one, two and more, over several files. */
static void archive_until_death(struct fixture *f)
{
	struct parcel parcels[COUNT];
	size_t put = 0;
	make_parcels(parcels);
	f->conf.settings.max_bytes = 12000;
	fixture_start(f);
	for (size_t group = 1; put < COUNT; group++) {
		for (size_t i = 0; i < group && put < COUNT; i++, put++) {
			parcels[put].item.done = acknowledge;
			parcel_put(f, &parcels[put]);
		}
		uv_run(&f->loop, UV_RUN_DEFAULT);
	}
	ing_archive_free(f->archive);
	_exit(0);
}

/* One life and death, and the start after it. Returns false when the child lived to the end. */
static bool die_and_recover(unsigned die_at, enum loss loss)
{
	void *own = NULL;
	int ends[2];
	struct ack ack;
	unsigned acks = 0;
	int status;
	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		ack_fd = ends[1];
		plan.die_at = die_at;
		plan.loss = loss;
		archive_until_death(f);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0));
	fixture_start(f);
	fixture_stop(f);
	assert_int_equal(look_around(f).open_files, 0);
	while (read(ends[0], &ack, sizeof(ack)) == (ssize_t)sizeof(ack)) {
		check_item(f, &ack.item, ack.i);
		acks++;
	}
	close(ends[0]);
	bool died = WEXITSTATUS(status) == 9;
	if (!died)
		assert_int_equal(acks, COUNT);
	assert_int_equal(fixture_teardown(&own), 0);
	return died;
}

static void what_was_acknowledged_outlives_any_death(void **state)
{
	(void)state;
	for (enum loss loss = LOSS_NONE; loss < LOSSES; loss++) {
		unsigned die_at = 1;
		while (die_and_recover(die_at, loss))
			die_at++;
		/* 20 records and several syncs and names: the run must have been long enough to
		 * mean something */
		assert_true(die_at > 30);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_outlive_a_failing_disk),
		CASE(a_file_that_cannot_be_cut_is_left),
		CASE(a_limit_is_waited_out),
		CASE(stopping_while_blocked),
		cmocka_unit_test(what_was_acknowledged_outlives_any_death),
	};
	/* the loop's thread is exempt from the limit's signal as the archive's is */
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
