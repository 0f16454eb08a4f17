/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a start makes of a file whose writer died at any byte of its last two members: exactly the
 * records that were whole. With nothing behind the cut, as after a crash of the process, and with
 * zeros up to the old length, as file systems leave it when the machine dies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "support.h"
#include "worker/archive/recover.h"

#define OPEN_NAME "TEST-20260102030405678-00000-host-1.warc.gz.open"
#define FINAL_NAME "TEST-20260102030405678-00000-host-1.warc.gz"
#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
#define MAX_BYTES ((size_t)1 << 20)

/* A file of five records: warcinfo, and two exchanges of a request and a response. */
struct whole {
	struct ing_buf bytes;
	size_t before_last_two, before_last; /* offsets of the last two members */
};

static void read_whole(const struct fixture *f, const char *name, struct ing_buf *ret)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ing_buf_init(ret, MAX_BYTES);
	char *to = ing_buf_reserve(ret, MAX_BYTES / 2);
	assert_non_null(to);
	ssize_t n = read(fd, to, MAX_BYTES / 2);
	assert_true(n > 0);
	ing_buf_commit(ret, (size_t)n);
	close(fd);
	assert_int_equal(unlink(path), 0);
}

/* Bytes that are stored, not compressed, are among those that are cut. */
static void write_two_exchanges(struct fixture *f, struct whole *w)
{
	char body[64];
	struct parcel p[2];
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (char)(i * 167 + 13);
	fixture_start(f);
	parcel_init(&p[0], "http://h/a", HEAD, "first", 5);
	parcel_init(&p[1], "http://h/b", HEAD, body, sizeof(body));
	for (size_t i = 0; i < 2; i++) {
		parcel_put(f, &p[i]);
		run_until_done(f, &p[i], 1);
	}
	fixture_stop(f);
	assert_string_equal(p[0].item.warc_name, p[1].item.warc_name);
	read_whole(f, p[0].item.warc_name, &w->bytes);
	w->before_last_two = p[0].item.offset + p[0].item.csize;
	w->before_last = p[1].item.offset;
	assert_int_equal(w->bytes.len, p[1].item.offset + p[1].item.csize);
	for (size_t i = 0; i < 2; i++)
		parcel_done(&p[i]);
}

static void recover(const struct fixture *f)
{
	struct ing_error err = {0};
	int dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(ing_archive_recover(dir, "TEST", "host-1", &err), 0);
	close(dir);
}

/* Of the file, only what was before the cut has its bytes. */
static void check_cut(const struct fixture *f, const struct whole *w, size_t cut, bool zeros)
{
	struct ing_buf left;
	ing_buf_init(&left, MAX_BYTES);
	ing_buf_add(&left, w->bytes.data, cut);
	if (zeros)
		memset(ing_buf_reserve(&left, w->bytes.len - cut), 0, w->bytes.len - cut);
	if (zeros)
		ing_buf_commit(&left, w->bytes.len - cut);
	write_file(f, OPEN_NAME, left.data, left.len);
	ing_buf_done(&left);
	recover(f);

	/* Zeros in place of zeros change nothing: a member may end with some. */
	while (zeros && cut < w->bytes.len && w->bytes.data[cut] == '\0')
		cut++;
	size_t keep = cut < w->before_last ? w->before_last_two
		      : cut < w->bytes.len ? w->before_last
					   : w->bytes.len;
	uint64_t records = cut < w->before_last ? 3 : cut < w->bytes.len ? 4 : 5;
	struct found found = look_around(f);
	if (found.files != 1 || found.records != records || found.bytes != keep)
		fail_msg("cut at %zu, %s: %u files, %llu records, %llu bytes", cut,
			zeros ? "then zeros" : "the end", found.files,
			(unsigned long long)found.records, (unsigned long long)found.bytes);
	assert_string_equal(found.name, FINAL_NAME);
	struct ing_buf got;
	read_whole(f, FINAL_NAME, &got);
	assert_memory_equal(got.data, w->bytes.data, keep);
	ing_buf_done(&got);
}

static void a_cut_at_any_byte_of_the_last_two_members_keeps_the_records_before(void **state)
{
	struct fixture *f = *state;
	struct whole w;
	write_two_exchanges(f, &w);
	for (size_t cut = w.before_last_two; cut < w.bytes.len; cut++) {
		check_cut(f, &w, cut, false);
		check_cut(f, &w, cut, true);
	}
	ing_buf_done(&w.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_cut_at_any_byte_of_the_last_two_members_keeps_the_records_before,
			fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
