/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the control sockets of a machine's workers are looked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/ctl/sockets.h"

static char folder[] = "/tmp/ing-sockets-XXXXXX";

/* In the order in which they can be removed, backwards. */
static const char *const made[] = {"1/", "1/host@1.sock", "1/warc/", "1/warc/deep.sock", "2/",
	"2/host@2.sock", "2/.hidden.sock", "alone.sock", "alone.lock", ".hidden/",
	".hidden/h.sock"};

static void path_of(const char *name, char *ret, size_t bytes)
{
	(void)snprintf(ret, bytes, "%s/%s", folder, name);
}

static int make_all(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		char path[256];
		path_of(made[i], path, sizeof(path));
		if (path[strlen(path) - 1] == '/') {
			if (mkdir(path, 0700) != 0)
				return -1;
			continue;
		}
		FILE *file = fopen(path, "w");
		if (file == NULL || fclose(file) != 0)
			return -1;
	}
	return 0;
}

static int remove_all(void **state)
{
	(void)state;
	for (size_t i = sizeof(made) / sizeof(made[0]); i-- > 0;) {
		char path[256];
		path_of(made[i], path, sizeof(path));
		if (remove(path) != 0)
			return -1;
	}
	return rmdir(folder);
}

static void test_sockets_of_instances_with_folders_of_their_own_are_found(void **state)
{
	(void)state;
	static const char *const want[] = {"1/host@1.sock", "2/host@2.sock", "alone.sock"};
	struct ing_ctl_sockets s = {0};
	struct ing_error err = {0};
	assert_int_equal(ing_ctl_sockets_find(folder, &s, &err), 0);
	assert_int_equal(s.count, 3);
	for (size_t i = 0; i < 3; i++) {
		char path[256];
		path_of(want[i], path, sizeof(path));
		assert_string_equal(s.paths[i], path);
	}
	ing_ctl_sockets_done(&s);
}

static void test_no_folder_has_no_sockets(void **state)
{
	(void)state;
	struct ing_ctl_sockets s = {0};
	struct ing_error err = {0};
	char path[256];
	path_of("missing", path, sizeof(path));
	assert_int_equal(ing_ctl_sockets_find(path, &s, &err), 0);
	assert_int_equal(s.count, 0);
	ing_ctl_sockets_done(&s);
}

static void test_what_is_no_folder_is_an_error(void **state)
{
	(void)state;
	struct ing_ctl_sockets s = {0};
	struct ing_error err = {0};
	char path[256];
	path_of("alone.lock", path, sizeof(path));
	assert_int_equal(ing_ctl_sockets_find(path, &s, &err), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, "state.dir"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockets_of_instances_with_folders_of_their_own_are_found),
		cmocka_unit_test(test_no_folder_has_no_sockets),
		cmocka_unit_test(test_what_is_no_folder_is_an_error),
	};
	return cmocka_run_group_tests(tests, make_all, remove_all);
}
