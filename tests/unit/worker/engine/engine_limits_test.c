/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is asked of the system at the start, and what is said when it is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "worker/conf/conf.h"
#include "worker/engine/engine_limits.h"
#include "worker/service/endpoint.h"

/* A socket, and what is shared with it. */
#define OF_TWO_EXAMINERS 4

static struct rlimit usual;

static int check_with(const char *listen, unsigned concurrency, rlim_t limit, struct ing_error *err)
{
	struct ing_conf conf = {.gate.concurrency = concurrency, .metrics.listen = listen};
	struct rlimit tight = {.rlim_cur = limit, .rlim_max = usual.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	int rc = ing_engine_check_limits(&conf, 2, err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	return rc;
}

static int check(unsigned concurrency, rlim_t limit, struct ing_error *err)
{
	return check_with("", concurrency, limit, err);
}

static void one_too_few_is_refused(void **state)
{
	static const unsigned cases[] = {1, 8, 256, 2000};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		uint64_t need = ing_engine_descriptors(cases[i], OF_TWO_EXAMINERS);
		struct ing_error err = {0};
		if (need > usual.rlim_max)
			continue;
		assert_int_equal(check(cases[i], need, &err), 0);
		assert_int_equal(check(cases[i], need - 1, &err), -ING_FAIL_SYSTEM);
	}
}

/* Both numbers, what to raise, and to what the configuration could be lowered; which then does. */
static void the_words_say_what_to_change(void **state)
{
	char want[64];
	unsigned lower = 0;
	(void)state;
	struct ing_error err = {0};
	assert_int_equal(check(256, 1024, &err), -ING_FAIL_SYSTEM);
	snprintf(want, sizeof(want), "needs %llu",
		(unsigned long long)ing_engine_descriptors(256, OF_TWO_EXAMINERS));
	assert_non_null(strstr(err.msg, want));
	assert_non_null(strstr(err.msg, "the limit is 1024"));
	assert_non_null(strstr(err.msg, "LimitNOFILE="));
	const char *advice = strstr(err.msg, "lower gate.concurrency to ");
	assert_non_null(advice);
	assert_int_equal(sscanf(advice, "lower gate.concurrency to %u", &lower), 1);
	assert_int_equal(check(lower, 1024, &err), 0);
	ing_error_clear(&err);
	assert_int_equal(check(lower + 1, 1024, &err), -ING_FAIL_SYSTEM);
	ing_error_clear(&err);
	assert_int_equal(check(256, 64, &err), -ING_FAIL_SYSTEM); /* not even one transfer */
	assert_null(strstr(err.msg, "lower"));
}

/* As many as there are kept connections and bodies for, twice over. */
static void descriptors_grow_with_the_transfers(void **state)
{
	(void)state;
	uint64_t none = ing_engine_descriptors(0, 2);
	assert_true(ing_engine_descriptors(100, 2) - none >= ing_engine_connections(100) + 100 * 4);
	assert_int_equal(ing_engine_descriptors(0, 10) - none, 8);
}

static void the_endpoint_needs_some_of_its_own(void **state)
{
	(void)state;
	struct ing_error err = {0};
	uint64_t need = ing_engine_descriptors(8, OF_TWO_EXAMINERS) + ING_ENDPOINT_DESCRIPTORS;
	assert_int_equal(check_with("127.0.0.1:0", 8, need, &err), 0);
	assert_int_equal(check_with("127.0.0.1:0", 8, need - 1, &err), -ING_FAIL_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_too_few_is_refused),
		cmocka_unit_test(the_words_say_what_to_change),
		cmocka_unit_test(descriptors_grow_with_the_transfers),
		cmocka_unit_test(the_endpoint_needs_some_of_its_own),
	};
	getrlimit(RLIMIT_NOFILE, &usual);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
