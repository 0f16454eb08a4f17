/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from descriptors of every kind, on a real loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>
#include <cmocka.h>

#include "worker/intake/intake.h"
#include "worker/model/limits.h"

struct seen {
	struct ing_intake *in;
	unsigned messages, assigned, ends, fatals;
	int64_t last_line;
	size_t last_bytes;
	char last[64];
	unsigned pause_after; /* pause in the n-th message */
	bool free_in_message;
	unsigned dear_ms;       /* what a message costs */
	unsigned before_a_turn; /* messages since the loop has turned */
	unsigned most_a_turn;
};

static void on_message(void *ctx, const struct ing_message *m)
{
	struct seen *s = ctx;
	s->messages++;
	s->before_a_turn++;
	s->most_a_turn = ING_MAX(s->most_a_turn, s->before_a_turn);
	usleep(1000 * s->dear_ms);
	assert_int_equal(s->ends, 0);
	assert_true(m->token.offset > s->last_line);
	s->last_line = m->token.offset;
	s->last_bytes = m->value_bytes;
	snprintf(s->last, sizeof(s->last), "%.*s",
		(int)ING_MIN(m->value_bytes, sizeof(s->last) - 1), m->value);
	ing_intake_finish(s->in, m->token);
	if (s->messages == s->pause_after)
		ing_intake_pause(s->in, ING_LANE_REQUESTS, true);
	if (s->free_in_message)
		ing_intake_free(ING_TAKE(s->in));
}

static void on_revoked(void *ctx, int32_t slot, uint32_t epoch)
{
	(void)ctx;
	(void)slot;
	(void)epoch;
	fail();
}

static void on_assigned(void *ctx, unsigned partitions)
{
	(void)partitions;
	((struct seen *)ctx)->assigned++;
}

static void on_end(void *ctx)
{
	((struct seen *)ctx)->ends++;
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	((struct seen *)ctx)->fatals++;
	assert_non_null(strstr(err->msg, "input"));
}

static struct ing_intake_events events_for(struct seen *s)
{
	return (struct ing_intake_events){s, on_message, on_revoked, on_assigned, on_end, on_fatal};
}

/* The loop ends by itself: an intake with nothing to do holds no active handle. */
static void run_all(int fd, struct seen *s)
{
	uv_loop_t loop;
	struct ing_error err = {0};
	struct ing_intake_events ev = events_for(s);
	uv_loop_init(&loop);
	assert_int_equal(ing_intake_lines_new(&loop, fd, "input", &ev, &s->in, &err), 0);
	ing_intake_start(s->in);
	uv_run(&loop, UV_RUN_DEFAULT);
	ing_intake_free(s->in);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static int make_file(void)
{
	char path[] = "/tmp/ing-lines-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void write_text(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void test_file(void **state)
{
	(void)state;
	int fd = make_file();
	FILE *f = fdopen(dup(fd), "w");
	for (int i = 1; i <= 20000; i++)
		fprintf(f, "{\"line\": %d}\n", i);
	fprintf(f, "\n{\"last\": 1}");
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	struct seen s = {0};
	run_all(fd, &s);
	assert_int_equal(s.messages, 20001);
	assert_int_equal(s.last_line, 20002);
	assert_string_equal(s.last, "{\"last\": 1}");
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.assigned, 1);
	close(fd);
}

static void on_turn(uv_prepare_t *turn)
{
	((struct seen *)turn->data)->before_a_turn = 0;
}

/* However many are there at once: transfers and timers are seen to after each. */
static void test_lines_that_take_long_are_one_a_turn(void **state)
{
	(void)state;
	uv_loop_t loop;
	uv_prepare_t turn;
	struct ing_error err = {0};
	struct seen s = {.dear_ms = 20};
	struct ing_intake_events ev = events_for(&s);
	int fd = make_file();
	write_text(fd, "{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n{\"a\": 4}\n{\"a\": 5}\n");
	lseek(fd, 0, SEEK_SET);
	uv_loop_init(&loop);
	uv_prepare_init(&loop, &turn);
	turn.data = &s;
	uv_prepare_start(&turn, on_turn);
	uv_unref((uv_handle_t *)&turn);
	assert_int_equal(ing_intake_lines_new(&loop, fd, "input", &ev, &s.in, &err), 0);
	ing_intake_start(s.in);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.messages, 5);
	assert_int_equal(s.most_a_turn, 1);
	assert_int_equal(s.ends, 1);
	ing_intake_free(s.in);
	uv_close((uv_handle_t *)&turn, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	close(fd);
}

static void test_long_line(void **state)
{
	(void)state;
	int fd = make_file();
	FILE *f = fdopen(dup(fd), "w");
	for (size_t i = 0; i < 3 * ING_MAX_REQUEST_BYTES; i++)
		putc('x', f);
	putc('\n', f);
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	struct seen s = {0};
	run_all(fd, &s);
	assert_int_equal(s.messages, 1);
	assert_int_equal(s.last_bytes, ING_MAX_REQUEST_BYTES + 1);
	close(fd);
}

static void test_dev_null(void **state)
{
	(void)state;
	int fd = open("/dev/null", O_RDONLY);
	struct seen s = {0};
	run_all(fd, &s);
	assert_int_equal(s.messages, 0);
	assert_int_equal(s.ends, 1);
	close(fd);
}

static void test_not_readable(void **state)
{
	(void)state;
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	struct seen s = {0};
	run_all(fd, &s);
	assert_int_equal(s.fatals, 1);
	assert_int_equal(s.ends, 0);
	close(fd);

	uv_loop_t loop;
	struct ing_error err = {0};
	struct ing_intake_events ev = events_for(&s);
	uv_loop_init(&loop);
	assert_int_equal(
		ing_intake_lines_new(&loop, 9999, "input", &ev, &s.in, &err), -ING_FAIL_SYSTEM);
	assert_string_equal(err.msg, "input: cannot be read: Bad file descriptor");
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* Lines come in pieces; the descriptor stays blocking; its closing is the end. */
static void run_stream(int read_fd, int write_fd)
{
	uv_loop_t loop;
	struct seen s = {0};
	struct ing_error err = {0};
	struct ing_intake_events ev = events_for(&s);
	uv_loop_init(&loop);
	assert_int_equal(ing_intake_lines_new(&loop, read_fd, "input", &ev, &s.in, &err), 0);
	ing_intake_start(s.in);
	for (int i = 0; i < 5; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_equal(s.messages, 0);
	write_text(write_fd, "one\r\ntw");
	while (s.messages < 1)
		uv_run(&loop, UV_RUN_ONCE);
	for (int i = 0; i < 5; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_equal(s.messages, 1);
	write_text(write_fd, "o\nthree");
	while (s.messages < 2)
		uv_run(&loop, UV_RUN_ONCE);
	assert_string_equal(s.last, "two");
	assert_false(fcntl(read_fd, F_GETFL) & O_NONBLOCK);
	close(write_fd);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.messages, 3);
	assert_string_equal(s.last, "three");
	assert_int_equal(s.ends, 1);
	ing_intake_free(s.in);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	close(read_fd);
}

static void test_pipe_and_socket(void **state)
{
	(void)state;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	run_stream(fds[0], fds[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	run_stream(fds[0], fds[1]);
}

/* Pausing inside on_message() holds the very next line; resuming goes on where it stopped. */
static void test_pause_and_stop(void **state)
{
	(void)state;
	int fd = make_file();
	for (int i = 0; i < 1000; i++)
		write_text(fd, "line\n");
	lseek(fd, 0, SEEK_SET);
	uv_loop_t loop;
	struct seen s = {.pause_after = 10};
	struct ing_error err = {0};
	struct ing_intake_events ev = events_for(&s);
	uv_loop_init(&loop);
	assert_int_equal(ing_intake_lines_new(&loop, fd, "input", &ev, &s.in, &err), 0);
	ing_intake_pause(s.in, ING_LANE_REQUESTS, true); /* before the start, too */
	ing_intake_start(s.in);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.messages, 0);
	ing_intake_pause(s.in, ING_LANE_REQUESTS, false);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.messages, 10);
	s.pause_after = 700;
	ing_intake_pause(s.in, ING_LANE_REQUESTS, false);
	ing_intake_pause(s.in, ING_LANE_REQUESTS, false);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.messages, 700);
	assert_int_equal(s.last_line, 700);
	ing_intake_stop(s.in);
	ing_intake_pause(s.in, ING_LANE_REQUESTS, false);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.messages, 700);
	assert_int_equal(s.ends, 0);
	ing_intake_free(s.in);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	close(fd);
}

/* Freed at awkward moments: while a read is under way, while waiting for input, from inside a
 * message. */
static void test_free_early(void **state)
{
	(void)state;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	int file = make_file();
	write_text(file, "line\nline\n");
	const int descriptors[] = {file, fds[0], file};
	for (size_t i = 0; i < ING_ARRAY_LEN(descriptors); i++) {
		uv_loop_t loop;
		struct seen s = {.free_in_message = i == 2};
		struct ing_error err = {0};
		struct ing_intake_events ev = events_for(&s);
		lseek(file, 0, SEEK_SET);
		uv_loop_init(&loop);
		assert_int_equal(
			ing_intake_lines_new(&loop, descriptors[i], "input", &ev, &s.in, &err), 0);
		ing_intake_start(s.in);
		if (i == 2) {
			uv_run(&loop, UV_RUN_DEFAULT);
			assert_int_equal(s.messages, 1);
		} else {
			uv_run(&loop, UV_RUN_NOWAIT);
			ing_intake_free(s.in);
		}
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
	}
	close(file);
	close(fds[0]);
	close(fds[1]);
	ing_intake_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_lines_that_take_long_are_one_a_turn),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_dev_null),
		cmocka_unit_test(test_not_readable),
		cmocka_unit_test(test_pipe_and_socket),
		cmocka_unit_test(test_pause_and_stop),
		cmocka_unit_test(test_free_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
