/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Running out of descriptors, with limits lowered to what is open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "common/base/fd_shortage.h"

#define GIVE_UP_MS 60000

static struct rlimit usual;

/* So that this many can be made. */
static void leave(unsigned spare)
{
	struct rlimit tight = usual;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd); /* the lowest that is free; there are no gaps above it in this program */
	tight.rlim_cur = (rlim_t)fd + spare;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
}

static void leave_enough(void)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static void wait_for_end(void)
{
	uint64_t until = ing_now_ms() + GIVE_UP_MS;
	while (ing_fd_shortage()) {
		assert_true(ing_now_ms() < until);
		usleep(5000);
	}
}

static void other_errors_are_none(void **state)
{
	(void)state;
	static const int others[] = {EIO, ENOSPC, ENOMEM, ECONNREFUSED, EAGAIN, 0};
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++)
		assert_false(ing_fd_shortage_note(others[i]));
	assert_false(ing_fd_shortage());
}

static void it_ends_when_some_can_be_had(void **state)
{
	(void)state;
	leave(3);
	assert_true(ing_fd_shortage_note(EMFILE));
	assert_true(ing_fd_shortage());
	assert_true(ing_fd_shortage()); /* until then, whoever asks */
	leave_enough();
	wait_for_end();
	assert_false(ing_fd_shortage());
	int fd =
		open("/dev/null", O_RDONLY | O_CLOEXEC); /* nothing that was probed is still open */
	assert_true(fd >= 0 && fd < 16);
	close(fd);
}

/* What is idle may be closed only when something is begun: so that is let through at times. */
static void it_does_not_last_for_ever_without_any(void **state)
{
	(void)state;
	leave(0);
	for (int i = 0; i < 2; i++) {
		assert_true(ing_fd_shortage_note(ENFILE));
		assert_true(ing_fd_shortage());
		wait_for_end();
	}
	leave_enough();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_errors_are_none),
		cmocka_unit_test(it_ends_when_some_can_be_had),
		cmocka_unit_test(it_does_not_last_for_ever_without_any),
	};
	getrlimit(RLIMIT_NOFILE, &usual);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
