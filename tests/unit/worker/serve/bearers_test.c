/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/serve/bearers.h"

static char path[] = "/tmp/ing-tokens.XXXXXX";

static int load(const char *content, struct ing_bearers **ret, struct ing_error *err)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	return ing_bearers_load(path, ret, err);
}

static void test_tokens_are_found(void **state)
{
	(void)state;
	struct ing_bearers *t;
	struct ing_error err = {0};
	assert_int_equal(
		load("# of the site\n\n0123456789abcdef\nanother-token-of-ours\r\n", &t, &err), 0);
	static const struct {
		const char *header;
		bool good;
	} cases[] = {
		{"Bearer 0123456789abcdef", true},
		{"bearer  another-token-of-ours", true},
		{"Bearer 0123456789abcde", false},
		{"Bearer 0123456789abcdef0", false},
		{"Bearer 0123456789ABCDEF", false},
		{"Bearer # of the site", false},
		{"Bearer ", false},
		{"Bearer", false},
		{"Basic 0123456789abcdef", false},
		{"0123456789abcdef", false},
		{"", false},
		{NULL, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(ing_bearers_authorize(t, cases[i].header), cases[i].good);
	ing_bearers_free(t);
}

static void test_files_without_good_tokens_are_refused(void **state)
{
	(void)state;
	static const char *const files[] = {
		"", "\n# nothing\n", "short\n", "0123456789abcdef\nwith space in it here\n"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct ing_bearers *t = NULL;
		struct ing_error err = {0};
		assert_int_equal(load(files[i], &t, &err), -ING_FAIL_CONFIG);
		assert_non_null(strstr(err.msg, path));
		assert_null(strstr(err.msg, "space in it"));
	}
	struct ing_bearers *t;
	struct ing_error err = {0};
	assert_int_equal(ing_bearers_load("/nonexistent/tokens", &t, &err), -ING_FAIL_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens_are_found),
		cmocka_unit_test(test_files_without_good_tokens_are_refused),
	};
	close(mkstemp(path));
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
