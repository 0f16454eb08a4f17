/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the service manager is sent: its protocol has an assignment on each line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/utf8.h"
#include "worker/service/notify.h"

static int manager = -1;

static int open_manager(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char name[sizeof(at.sun_path)];
	(void)state;
	/* An abstract name, of which a free one is chosen by the kernel. */
	socklen_t bytes = sizeof(sa_family_t);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(manager >= 0);
	assert_int_equal(bind(manager, (const struct sockaddr *)&at, bytes), 0);
	bytes = sizeof(at);
	assert_int_equal(getsockname(manager, (struct sockaddr *)&at, &bytes), 0);
	snprintf(name, sizeof(name), "@%.*s", (int)(bytes - sizeof(sa_family_t) - 1),
		at.sun_path + 1);
	return setenv("NOTIFY_SOCKET", name, 1);
}

static int close_manager(void **state)
{
	(void)state;
	return close(manager);
}

static size_t receive(char *ret, size_t room)
{
	ssize_t n = recv(manager, ret, room - 1, 0);
	assert_true(n > 0);
	ret[n] = '\0';
	return (size_t)n;
}

/* Words of operators, hosts and servers' errors are in it. */
static void a_status_is_one_line(void **state)
{
	char got[1000];
	(void)state;
	ing_notify_status("paused: %s", "mail\nWATCHDOG=trigger\r\n\x1b[2J\x7f.");
	receive(got, sizeof(got));
	assert_string_equal(got, "STATUS=paused: mail WATCHDOG=trigger   [2J .");
}

/* The manager throws away what is not UTF-8. */
static void a_status_is_utf8_wherever_it_is_cut(void **state)
{
	char got[1000];
	char many[1201];
	(void)state;
	for (size_t i = 0; i < sizeof(many) - 1; i++)
		many[i] = i % 2 == 0 ? '\xc3' : '\xa9';
	many[sizeof(many) - 1] = '\0';
	for (int i = 0; i < 2; i++) {
		ing_notify_status("%s%s", i == 0 ? "" : "x", many);
		size_t n = receive(got, sizeof(got));
		assert_true(n > 400);
		assert_true(ing_utf8_valid(got, n));
	}
	ing_notify_status("%s", "a\xff.");
	assert_true(ing_utf8_valid(got, receive(got, sizeof(got))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_is_one_line),
		cmocka_unit_test(a_status_is_utf8_wherever_it_is_cut),
	};
	return cmocka_run_group_tests(tests, open_manager, close_manager);
}
