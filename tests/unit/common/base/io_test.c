/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads and writes are whole, or say why they are not.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/io.h"

enum { BYTES = 1 << 20 }; /* many times what a pipe holds */

static void *write_to(void *arg)
{
	char *data = malloc(BYTES);
	memset(data, 'x', BYTES);
	int rc = ing_write_all(*(int *)arg, data, BYTES);
	free(data);
	close(*(int *)arg);
	return (void *)(intptr_t)rc;
}

static void more_than_a_pipe_holds_arrives_whole(void **state)
{
	(void)state;
	int fds[2];
	pthread_t writer;
	void *rc;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_to, &fds[1]), 0);
	char *data = calloc(1, BYTES);
	assert_int_equal(ing_read_all(fds[0], data, BYTES), 0);
	for (size_t i = 0; i < BYTES; i++)
		assert_int_equal(data[i], 'x');
	char more;
	assert_int_equal(ing_read_all(fds[0], &more, 1), ENODATA);
	pthread_join(writer, &rc);
	assert_null(rc);
	free(data);
	close(fds[0]);
}

static void an_early_end_is_no_data(void **state)
{
	(void)state;
	int fds[2];
	char data[4];
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(ing_write_all(fds[1], "abc", 3), 0);
	close(fds[1]);
	assert_int_equal(ing_read_all(fds[0], data, sizeof(data)), ENODATA);
	close(fds[0]);
}

static void failures_have_their_error_number(void **state)
{
	(void)state;
	int fds[2];
	char data[1] = {0};
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_int_equal(ing_write_all(fds[1], data, sizeof(data)), EPIPE);
	assert_int_equal(ing_read_all(fds[1], data, sizeof(data)), EBADF);
	close(fds[1]);
	assert_int_equal(ing_write_all(-1, data, 0), 0);
}

static void the_file_is_replaced_whole(void **state)
{
	(void)state;
	char dir[] = "/tmp/ing-io-XXXXXX";
	char path[64];
	char text[64] = "";
	struct ing_error err = {0};
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file.json", dir);
	assert_int_equal(ing_replace_file(path, "longer than the other", 21, &err), 0);
	assert_int_equal(ing_replace_file(path, "short", 5, &err), 0);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, f), 5);
	fclose(f);
	assert_string_equal(text, "short");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0); /* and nothing else was left */
	assert_int_equal(ing_replace_file(path, "x", 1, &err), -ING_FAIL_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_is_replaced_whole),
		cmocka_unit_test(more_than_a_pipe_holds_arrives_whole),
		cmocka_unit_test(an_early_end_is_no_data),
		cmocka_unit_test(failures_have_their_error_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
