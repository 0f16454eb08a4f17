/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/base/descriptors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>

/* How many descriptors the kernel's table of this process has room for (proc(5)). */
static unsigned table_size(void)
{
	char line[256];
	unsigned size = 0;
	FILE *f = fopen("/proc/self/status", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL && sscanf(line, "FDSize: %u", &size) != 1)
		continue;
	fclose(f);
	return size;
}

static unsigned open_now(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void test_the_table_has_its_size_before_there_are_threads(void **state)
{
	(void)state;
	struct rlimit r;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	rlim_t hard = r.rlim_max;
	r.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
	unsigned before = open_now();
	ing_descriptors_reserve();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	assert_true(r.rlim_cur == hard);
	assert_true(table_size() >=
		    (hard < ING_DESCRIPTORS_RESERVED ? hard : ING_DESCRIPTORS_RESERVED));
	assert_int_equal(open_now(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_has_its_size_before_there_are_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
