/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results to files and pipes: what is written, and what happens when nothing can be.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "worker/emit/emit.h"

struct fixture {
	uv_loop_t loop;
	struct ing_emit *e;
	char dir[40];
	unsigned ok, refused, fatals;
	char fatal_text[600];
	bool inside_put;
};

static void on_done(void *ctx, bool ok)
{
	struct fixture *f = ctx;
	assert_false(f->inside_put);
	if (ok)
		f->ok++;
	else
		f->refused++;
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct fixture *f = ctx;
	f->fatals++;
	snprintf(f->fatal_text, sizeof(f->fatal_text), "%s", err->msg);
}

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	uv_loop_init(&f->loop);
	snprintf(f->dir, sizeof(f->dir), "/tmp/ing-emit-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
}

static void open_emit(struct fixture *f, int fd, bool with_dir)
{
	struct ing_error err = {0};
	assert_int_equal(
		ing_emit_lines_new(&f->loop, fd, with_dir ? f->dir : NULL, &f->e, &err), 0);
	ing_emit_lines_on_fatal(f->e, on_fatal, f);
}

static void close_emit(struct fixture *f)
{
	ing_emit_free(ING_TAKE(f->e));
	uv_run(&f->loop, UV_RUN_DEFAULT);
}

static void teardown(struct fixture *f)
{
	close_emit(f);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	for (unsigned i = 0; i < ING_OUTPUTS_; i++) {
		char path[80];
		snprintf(path, sizeof(path), "%s/%s", f->dir,
			ing_output_row((enum ing_output)i)->file);
		unlink(path);
	}
	assert_int_equal(rmdir(f->dir), 0);
}

static int open_results(struct fixture *f)
{
	char path[80];
	snprintf(path, sizeof(path), "%s/results.jsonl", f->dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void put(struct fixture *f, enum ing_output output, const char *value, size_t bytes)
{
	static const struct ing_header headers[] = {{"reason", "bad \xff byte"}, {"line", "7"}};
	static const struct ing_emit_user user = {.done = on_done};
	struct ing_output_message m = {
		.output = output,
		.value = value != NULL ? ing_strndup(value, bytes) : NULL,
		.value_bytes = bytes,
	};
	if (output == ING_OUTPUT_DEAD) {
		m.headers = headers;
		m.header_count = 2;
	}
	if (output == ING_OUTPUT_THUMBNAIL) {
		m.key = "abc";
		m.key_bytes = 3;
	}
	f->inside_put = true;
	ing_emit_put(f->e, &m, &user, f);
	f->inside_put = false;
}

static void wait_done(struct fixture *f, unsigned count)
{
	while (f->ok + f->refused < count)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(ing_emit_outstanding(f->e), 0);
}

static void expect_file(struct fixture *f, const char *name, const char *want)
{
	char path[80];
	char got[4000];
	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	size_t n = fread(got, 1, sizeof(got) - 1, file);
	got[n] = '\0';
	fclose(file);
	assert_string_equal(got, want);
}

static void test_files(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	int fd = open_results(&f);
	open_emit(&f, fd, true);
	put(&f, ING_OUTPUT_RESULTS, "{\"a\":1}", 7);
	put(&f, ING_OUTPUT_PDF_TEXT, "{\"t\":1}", 7);
	put(&f, ING_OUTPUT_DEAD, "{\"broken", 8);
	put(&f, ING_OUTPUT_DEAD, "a\0\"\xc3\xa9\n", 6);
	put(&f, ING_OUTPUT_DEAD, "\xff\x00\x01", 3);
	put(&f, ING_OUTPUT_DEAD, NULL, 0);
	put(&f, ING_OUTPUT_RESULTS, "{\"a\":2}", 7);
	put(&f, ING_OUTPUT_PARKED_1H, " {} ", 4);
	put(&f, ING_OUTPUT_THUMBNAIL, "\xff\xd8\xff", 3);
	put(&f, ING_OUTPUT_THUMBNAIL, "text", 4);
	wait_done(&f, 10);
	assert_int_equal(f.ok, 10);
	expect_file(&f, "results.jsonl", "{\"a\":1}\n{\"a\":2}\n");
	expect_file(&f, "pdf-text.jsonl", "{\"t\":1}\n");
#define HEADERS "\"headers\":{\"reason\":\"bad \xef\xbf\xbd byte\",\"line\":\"7\"}}\n"
	expect_file(&f, "dead-letters.jsonl",
		"{\"value\":\"{\\\"broken\"," HEADERS
		"{\"value\":\"a\\u0000\\\"\xc3\xa9\\n\"," HEADERS
		"{\"value_base64\":\"/wAB\"," HEADERS "{\"value\":\"\"," HEADERS);
	expect_file(&f, "thumbnails.jsonl",
		"{\"key\":\"abc\",\"value_base64\":\"/9j/\"}\n"
		"{\"key\":\"abc\",\"value_base64\":\"dGV4dA==\"}\n");
	expect_file(&f, ".parked-1h.jsonl", "{\"value\":\" {} \",\"headers\":{}}\n");
	expect_file(&f, ".parked-1m.jsonl", "");
	/* A second run adds to what is there. */
	close_emit(&f);
	open_emit(&f, fd, true);
	put(&f, ING_OUTPUT_PDF_TEXT, "{\"t\":2}", 7);
	close_emit(&f); /* writes what is outstanding */
	assert_int_equal(f.ok, 11);
	expect_file(&f, "pdf-text.jsonl", "{\"t\":1}\n{\"t\":2}\n");
	close(fd);
	teardown(&f);
}

static void test_without_dir(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	int fd = open_results(&f);
	open_emit(&f, fd, false);
	put(&f, ING_OUTPUT_PDF_TEXT, "{}", 2);
	put(&f, ING_OUTPUT_DEAD, "x", 1);
	put(&f, ING_OUTPUT_RESULTS, "{}", 2);
	wait_done(&f, 3);
	assert_int_equal(f.ok, 3);
	expect_file(&f, "results.jsonl", "{}\n");
	assert_false(ing_emit_has(f.e, ING_OUTPUT_PARKED_1M));
	put(&f, ING_OUTPUT_PARKED_1M, "{}", 2); /* dropping it would lose the request */
	wait_done(&f, 4);
	assert_int_equal(f.ok, 3);
	close(fd);
	teardown(&f);
}

static void test_bad_dir(void **state)
{
	(void)state;
	struct fixture f;
	struct ing_error err = {0};
	setup(&f);
	assert_int_equal(
		ing_emit_lines_new(&f.loop, 1, "/nowhere/at/all", &f.e, &err), -ING_FAIL_SYSTEM);
	assert_string_equal(err.msg,
		"/nowhere/at/all/pdf-text.jsonl: cannot be opened: No such file "
		"or directory");
	teardown(&f);
}

static void test_large_and_too_large(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	int fd = open_results(&f);
	open_emit(&f, fd, false);
	size_t max = ing_emit_max_value_bytes(f.e, ING_OUTPUT_RESULTS);
	char *value = ing_alloc(max + 1);
	memset(value, 'x', max + 1);
	put(&f, ING_OUTPUT_RESULTS, value, max);
	put(&f, ING_OUTPUT_RESULTS, value, max + 1);
	wait_done(&f, 2);
	assert_int_equal(f.ok, 1);
	assert_int_equal(f.refused, 1);
	assert_int_equal(f.fatals, 0); /* that message's fault, not the file's */
	struct stat st;
	fstat(fd, &st);
	assert_int_equal(st.st_size, max + 1);
	free(value);
	close(fd);
	teardown(&f);
}

/* The disk is full. */
static void test_no_space(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	int fd = open("/dev/full", O_WRONLY);
	open_emit(&f, fd, true);
	for (int i = 0; i < 5; i++)
		put(&f, ING_OUTPUT_RESULTS, "{}", 2);
	wait_done(&f, 5);
	assert_int_equal(f.refused, 5);
	assert_int_equal(f.fatals, 1);
	assert_string_equal(f.fatal_text, "results: cannot be written: No space left on device");
	put(&f, ING_OUTPUT_PDF_TEXT, "{}", 2); /* nothing goes to the other files either */
	wait_done(&f, 6);
	assert_int_equal(f.refused, 6);
	assert_int_equal(f.fatals, 1);
	close(fd);
	teardown(&f);
}

/* The reader has gone away: an error, not a signal. */
static void test_closed_pipe(void **state)
{
	(void)state;
	struct fixture f;
	int fds[2];
	setup(&f);
	assert_int_equal(pipe(fds), 0);
	open_emit(&f, fds[1], false);
	close(fds[0]);
	put(&f, ING_OUTPUT_RESULTS, "{}", 2);
	wait_done(&f, 1);
	assert_int_equal(f.refused, 1);
	assert_string_equal(f.fatal_text, "results: cannot be written: Broken pipe");
	close(fds[1]);
	teardown(&f);
}

/* A reader that is slow holds the writer, not the loop; one that has stopped does not hold the end
 * for ever. */
static void test_slow_reader(void **state)
{
	(void)state;
	struct fixture f;
	int fds[2];
	enum { LINE = 1000, COUNT = 400 };
	char line[LINE];
	memset(line, 'y', sizeof(line));
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		setup(&f);
		assert_int_equal(pipe2(fds, nonblocking ? O_NONBLOCK : 0), 0);
		open_emit(&f, fds[1], false);
		for (int i = 0; i < COUNT; i++)
			put(&f, ING_OUTPUT_RESULTS, line, sizeof(line));
		assert_true(ing_emit_blocked(f.e));
		uint64_t until = ing_now_ms() + 300;
		while (ing_now_ms() < until)
			uv_run(&f.loop, UV_RUN_NOWAIT);
		assert_true(f.ok < COUNT);
		size_t got = 0;
		char buf[8192];
		while (got < (size_t)COUNT * (LINE + 1)) {
			ssize_t n = read(fds[0], buf, sizeof(buf)); /* EAGAIN is -1 */
			got += n > 0 ? (size_t)n : 0;
			uv_run(&f.loop, UV_RUN_NOWAIT);
		}
		wait_done(&f, COUNT);
		assert_int_equal(got, COUNT * (LINE + 1));
		assert_false(ing_emit_blocked(f.e));
		for (int i = 0; i < COUNT; i++)
			put(&f, ING_OUTPUT_RESULTS, line, sizeof(line));
		uint64_t before = ing_now_ms();
		close_emit(&f);
		assert_true(ing_now_ms() - before < 7000);
		close(fds[0]);
		close(fds[1]);
		teardown(&f);
	}
}

/* ---- Records ---- */

struct line_record {
	struct ing_emit_record r;
	struct ing_output_message message;
	unsigned ends[3], finished;
};

static struct line_record line_records[300];
static unsigned ended;

static void on_record(struct ing_emit_record *r, enum ing_emit_end end)
{
	ING_CONTAINER(r, struct line_record, r)->ends[end]++;
	ended++;
}

static void on_finish(void *ctx, struct ing_token token)
{
	(void)ctx;
	line_records[token.offset].finished++;
}

static void commit_lines(struct fixture *f, char *value, size_t bytes, int64_t count)
{
	const struct ing_positions_ops positions = {.finish = on_finish};
	memset(line_records, 0, sizeof(line_records));
	ended = 0;
	ing_emit_wire(f->e, &positions);
	for (int64_t i = 0; i < count; i++) {
		struct line_record *l = &line_records[i];
		l->message = (struct ing_output_message){
			.output = ING_OUTPUT_RESULTS, .value = value, .value_bytes = bytes};
		l->r = (struct ing_emit_record){.message = &l->message,
			.done = on_record,
			.token = {.partition_index = 0, .epoch = 1, .offset = i}};
		ing_emit_commit(f->e, &l->r);
	}
}

static void expect_record(int64_t i, enum ing_emit_end end)
{
	for (unsigned j = 0; j < ING_ARRAY_LEN(line_records[i].ends); j++)
		assert_int_equal(line_records[i].ends[j], j == (unsigned)end);
	assert_int_equal(line_records[i].finished, end == ING_EMIT_COMMITTED);
}

/* Its token is finished without a line. */
static void commit_nothing(struct fixture *f)
{
	commit_lines(f, NULL, 0, 0);
	line_records[0].r = (struct ing_emit_record){.done = on_record, .token = {.epoch = 1}};
	ing_emit_commit(f->e, &line_records[0].r);
	while (ended < 1)
		uv_run(&f->loop, UV_RUN_ONCE);
	expect_record(0, ING_EMIT_COMMITTED);
}

static void test_a_record_is_committed_when_its_line_is_written(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	int fd = open_results(&f);
	open_emit(&f, fd, false);
	char value[] = "{}";
	commit_lines(&f, value, 2, 3);
	while (ended < 3)
		uv_run(&f.loop, UV_RUN_ONCE);
	for (int64_t i = 0; i < 3; i++)
		expect_record(i, ING_EMIT_COMMITTED);
	assert_string_equal(value, "{}"); /* still its owner's */
	expect_file(&f, "results.jsonl", "{}\n{}\n{}\n");
	commit_nothing(&f);
	expect_file(&f, "results.jsonl", "{}\n{}\n{}\n");
	close(fd);

	fd = open("/dev/full", O_WRONLY);
	close_emit(&f);
	open_emit(&f, fd, false);
	commit_lines(&f, value, 2, 2);
	while (ended < 2)
		uv_run(&f.loop, UV_RUN_ONCE);
	for (int64_t i = 0; i < 2; i++)
		expect_record(i, ING_EMIT_DROPPED);
	assert_int_equal(f.fatals, 1);

	char *large = ing_alloc(ing_emit_max_value_bytes(f.e, ING_OUTPUT_RESULTS) + 1);
	commit_lines(&f, large, ing_emit_max_value_bytes(f.e, ING_OUTPUT_RESULTS) + 1, 1);
	while (ended < 1)
		uv_run(&f.loop, UV_RUN_ONCE);
	expect_record(0, ING_EMIT_REFUSED);
	free(large);
	close(fd);
	teardown(&f);
}

/* A pipe that nobody reads: what the writer has not begun is not written any more. */
static void test_dropped_lines_are_not_written(void **state)
{
	(void)state;
	struct fixture f;
	int fds[2];
	char value[1000];
	enum { COUNT = 300 };
	memset(value, 'y', sizeof(value));
	setup(&f);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	open_emit(&f, fds[1], false);
	commit_lines(&f, value, sizeof(value), COUNT);
	ing_emit_drop(f.e, 0, 2); /* another epoch */
	uint64_t until = ing_now_ms() + 300;
	while (ing_now_ms() < until)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	assert_int_not_equal(ended, 0);
	ing_emit_drop(f.e, 0, 1);
	char buf[8192];
	while (ended < COUNT) {
		ssize_t n =
			read(fds[0], buf, sizeof(buf)); /* makes room for the line that is begun */
		(void)n;
		uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	unsigned committed = 0;
	while (committed < COUNT && line_records[committed].ends[ING_EMIT_COMMITTED] > 0)
		committed++;
	assert_in_range(committed, 1, COUNT - 1);
	for (int64_t i = 0; i < COUNT; i++)
		expect_record(i, i < committed ? ING_EMIT_COMMITTED : ING_EMIT_DROPPED);
	close(fds[0]);
	close(fds[1]);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_without_dir),
		cmocka_unit_test(test_bad_dir),
		cmocka_unit_test(test_large_and_too_large),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_a_record_is_committed_when_its_line_is_written),
		cmocka_unit_test(test_dropped_lines_are_not_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
