/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Descriptors beside bytes: the one that was asked for arrives, and whatever else comes is closed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/examine/fdpass.h"

#define MANY 5

static int ends[2];

static int setup(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int teardown(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* Word and `count` descriptors, as no sender of ours does it. */
static void send_many(size_t count)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(MANY * sizeof(int))];
	} control = {0};
	char word[] = "word";
	struct iovec iov = {.iov_base = word, .iov_len = 4};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = CMSG_SPACE(count * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	int fds[MANY] = {0, 1, 2, 0, 1};
	memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	assert_int_equal(sendmsg(ends[0], &m, 0), 4);
}

static void test_one_arrives(void **state)
{
	char word[4];
	int fd;
	(void)state;
	assert_int_equal(ing_fd_send(ends[0], "word", 4, 0, 0), 4);
	assert_int_equal(ing_fd_recv(ends[1], word, sizeof(word), 0, &fd), 4);
	assert_memory_equal(word, "word", 4);
	assert_true(fd > 2);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	assert_int_equal(ing_fd_send(ends[0], "word", 4, 0, -1), 4);
	assert_int_equal(ing_fd_recv(ends[1], word, sizeof(word), 0, &fd), 4);
	assert_int_equal(fd, -1);
}

static void test_what_nobody_asked_for_is_closed(void **state)
{
	char word[4];
	int fd = 99;
	(void)state;
	unsigned before = count_fds();
	for (size_t count = 2; count <= MANY; count++) {
		send_many(count);
		assert_int_equal(ing_fd_recv(ends[1], word, sizeof(word), 0, &fd), -1);
		assert_int_equal(errno, EPROTO);
		assert_int_equal(fd, -1);
		assert_int_equal(count_fds(), before);
	}
	send_many(1);
	assert_int_equal(ing_fd_recv(ends[1], word, sizeof(word), 0, NULL), -1);
	assert_int_equal(errno, EPROTO);
	assert_int_equal(count_fds(), before);
}

static void test_never_waiting(void **state)
{
	char word[4];
	int fd;
	(void)state;
	assert_int_equal(ing_fd_recv(ends[1], word, sizeof(word), MSG_DONTWAIT, &fd), -1);
	assert_int_equal(errno, EAGAIN);
	int sent = 0;
	while (ing_fd_send(ends[0], "word", 4, MSG_DONTWAIT, 0) == 4)
		sent++;
	assert_true(sent > 0 && (errno == EAGAIN || errno == ETOOMANYREFS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_arrives, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_nobody_asked_for_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_never_waiting, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
