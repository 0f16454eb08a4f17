/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Connecting to servers that do not answer.
 */
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/data/pg.h"

#define MAX_CALLERS 16

struct silent {
	int fd;
	unsigned port;
	int callers[MAX_CALLERS]; /* sockets that fill the queue of connections */
	size_t caller_count;
};

/* Takes connections, or not even those (full), and says nothing. */
static void silent_open(struct silent *s, bool full)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(a);
	*s = (struct silent){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, bytes), 0);
	assert_int_equal(listen(s->fd, full ? 0 : 8), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &bytes), 0);
	s->port = ntohs(a.sin_port);
	while (full) {
		assert_true(s->caller_count < MAX_CALLERS);
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		s->callers[s->caller_count++] = fd;
		connect(fd, (struct sockaddr *)&a, bytes);
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		full = poll(&p, 1, 300) == 1;
	}
}

static void silent_close(struct silent *s)
{
	for (size_t i = 0; i < s->caller_count; i++)
		close(s->callers[i]);
	close(s->fd);
}

static bool was_called(const struct silent *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	return poll(&p, 1, 0) == 1;
}

static void an_attempt_to_connect_ends_at_stop(void **state)
{
	(void)state;
	for (int full = 0; full < 2; full++) {
		struct silent s;
		struct ing_error err = {0};
		struct ing_pg *pg = NULL;
		char dsn[128];
		silent_open(&s, full != 0);
		snprintf(dsn, sizeof(dsn),
			"host=127.0.0.1,127.0.0.1 port=%u,%u connect_timeout=3600", s.port, s.port);
		int stop_fd = eventfd(1, EFD_CLOEXEC);
		assert_int_equal(ing_pg_open(dsn, stop_fd, 1000, &pg, &err), -ING_FAIL_CANCELLED);
		assert_null(pg);
		close(stop_fd);
		silent_close(&s);
	}
}

static void a_host_that_does_not_answer_is_passed_over(void **state)
{
	(void)state;
	for (int full = 0; full < 2; full++) {
		struct silent a;
		struct silent b;
		struct ing_error err = {0};
		struct ing_pg *pg = NULL;
		char dsn[128];
		silent_open(&a, full != 0);
		silent_open(&b, false);
		snprintf(dsn, sizeof(dsn),
			"hostaddr=127.0.0.1,127.0.0.1 port=%u,%u connect_timeout=2", a.port,
			b.port);
		assert_int_equal(ing_pg_open(dsn, -1, 1000, &pg, &err), -ING_FAIL_UNAVAILABLE);
		assert_string_equal(err.msg, "database: no connection to 127.0.0.1 within 2 s");
		assert_true(was_called(&b));
		silent_close(&a);
		silent_close(&b);
	}
}

static void what_a_server_says_is_the_error(void **state)
{
	(void)state;
	struct silent s;
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	char dsn[128];
	silent_open(&s, false);
	silent_close(&s); /* nobody listens there any more */
	snprintf(dsn, sizeof(dsn), "postgresql://127.0.0.1:%u/x", s.port);
	assert_int_equal(ing_pg_open(dsn, -1, 1000, &pg, &err), -ING_FAIL_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "refused"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attempt_to_connect_ends_at_stop),
		cmocka_unit_test(a_host_that_does_not_answer_is_passed_over),
		cmocka_unit_test(what_a_server_says_is_the_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
