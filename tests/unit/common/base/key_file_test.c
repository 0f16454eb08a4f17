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

static char *write_file(const char *content, size_t bytes, char path[])
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, bytes), (ssize_t)bytes);
	close(fd);
	return path;
}

static void a_text_is_the_whole_file_without_its_last_line_end(void **state)
{
	(void)state;
	static const struct {
		const char *content;
		size_t bytes;
		const char *want, *error; /* a part of it */
	} cases[] = {
		{"two words", 9, "two words", NULL},
		{"two words\n", 10, "two words", NULL},
		{"words\r\n", 7, "words", NULL},
		{" words \n\n", 9, " words \n", NULL},
		{"a\nb\n", 4, "a\nb", NULL},
		{"", 0, NULL, "is empty"},
		{"\n", 1, NULL, "is empty"},
		{"a\0b", 3, NULL, "zero byte"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char path[] = "/tmp/key-file-XXXXXX";
		struct ing_error err = {0};
		char *text = NULL;
		write_file(cases[i].content, cases[i].bytes, path);
		int rc = ing_key_file_text(path, &text, &err);
		unlink(path);
		if (cases[i].error != NULL) {
			assert_int_equal(rc, -ING_FAIL_CONFIG);
			assert_non_null(strstr(err.msg, cases[i].error));
			assert_non_null(strstr(err.msg, path));
			assert_null(text);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_string_equal(text, cases[i].want);
		free(text);
	}
}

static void a_text_has_a_limit(void **state)
{
	(void)state;
	char *content = ing_alloc(ING_KEY_FILE_MAX_BYTES + 1);
	memset(content, 'k', ING_KEY_FILE_MAX_BYTES + 1);
	for (size_t over = 0; over < 2; over++) {
		char path[] = "/tmp/key-file-XXXXXX";
		struct ing_error err = {0};
		char *text = NULL;
		write_file(content, ING_KEY_FILE_MAX_BYTES + over, path);
		assert_int_equal(
			ing_key_file_text(path, &text, &err), over == 0 ? 0 : -ING_FAIL_CONFIG);
		unlink(path);
		assert_int_equal(
			text != NULL ? strlen(text) : 0, over == 0 ? ING_KEY_FILE_MAX_BYTES : 0);
		free(text);
	}
	free(content);
	struct ing_error err = {0};
	char *text = NULL;
	assert_int_equal(ing_key_file_text("/nonexistent/key", &text, &err), -ING_FAIL_CONFIG);
	assert_string_equal(err.msg, "/nonexistent/key: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_word_is_the_key),
		cmocka_unit_test(a_bare_name_is_a_credential),
		cmocka_unit_test(a_text_is_the_whole_file_without_its_last_line_end),
		cmocka_unit_test(a_text_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
