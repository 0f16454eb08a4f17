/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is taken for the key in a file, and where a credential is looked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/key_file.h"

static void the_first_word_is_the_key(void **state)
{
	(void)state;
	static const struct {
		const char *content, *want;
		int errnum;
	} cases[] = {
		{"abc", "abc", 0},
		{"abc\n", "abc", 0},
		{"abc\r\ndef\n", "abc", 0},
		{"abc def", "abc", 0},
		{"123456789", "1234567", 0},
		{"", "", ENODATA},
		{"\nabc\n", "", ENODATA},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char path[] = "/tmp/key-file-XXXXXX";
		char key[8];
		int fd = mkstemp(path);
		assert_true(fd >= 0);
		size_t bytes = strlen(cases[i].content);
		assert_int_equal(write(fd, cases[i].content, bytes), (ssize_t)bytes);
		close(fd);
		assert_int_equal(ing_key_file_read(path, key, sizeof(key)), cases[i].errnum);
		assert_string_equal(key, cases[i].want);
		unlink(path);
		assert_int_equal(ing_key_file_read(path, key, sizeof(key)), ENOENT);
	}
}

static void a_bare_name_is_a_credential(void **state)
{
	(void)state;
	unsetenv("CREDENTIALS_DIRECTORY");
	char *path = ing_key_file_path("key");
	assert_string_equal(path, "key");
	free(path);
	setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x", 1);
	path = ing_key_file_path("key");
	assert_string_equal(path, "/run/credentials/x/key");
	free(path);
	path = ing_key_file_path("./key");
	assert_string_equal(path, "./key");
	free(path);
	unsetenv("CREDENTIALS_DIRECTORY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_word_is_the_key),
		cmocka_unit_test(a_bare_name_is_a_credential),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
