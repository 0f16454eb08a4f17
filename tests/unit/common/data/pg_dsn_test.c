/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Connection strings: their secrets, and the files that they name.
 */
#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/pg.h"
#include "common/data/pg_dsn.h"

static void secrets_are_hidden(void **state)
{
	(void)state;
	static const struct {
		const char *dsn, *want;
	} cases[] = {
		{"", ""},
		{"host=a user=password", "host=a user=password"},
		{"postgresql://u@a,b/x?passfile=/p", "postgresql://u@a,b/x?passfile=/p"},
		{"host=a password=", "host=a password="},
		{"host=a password=x", "password='********' host='a'"},
		{"host=a password = 'x y'", "password='********' host='a'"},
		{"postgresql://u:x%2Fy@a:5/b",
			"user='u' password='********' dbname='b' host='a' port='5'"},
		{"postgres://a/b?password=x", "password='********' dbname='b' host='a'"},
		{"user='it\\'s \\\\' sslpassword=x", "user='it\\'s \\\\' sslpassword='********'"},
		{"postgresql://u:x@[a/b", "********"},
		{"nonsense x", "********"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		bool any = ing_pg_dsn_hide(cases[i].dsn, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		assert_int_equal(any, strstr(cases[i].want, "****") != NULL);
		ing_buf_done(&out);
	}
}

/* What it hides can be read again, and hides nothing more. */
static void the_hidden_form_is_an_address(void **state)
{
	(void)state;
	struct ing_buf one;
	struct ing_buf two;
	struct ing_error err = {0};
	ing_buf_init(&one, 4096);
	ing_buf_init(&two, 4096);
	assert_true(ing_pg_dsn_hide("host='a\\'b' password=x options='-c x=\\\\'", &one));
	assert_int_equal(ing_pg_dsn_check(ing_buf_str(&one), &err), 0);
	assert_true(ing_pg_dsn_hide(ing_buf_str(&one), &two));
	assert_string_equal(ing_buf_str(&one), ing_buf_str(&two));
	ing_buf_done(&one);
	ing_buf_done(&two);
}

static void a_file_without_a_slash_is_a_credential(void **state)
{
	(void)state;
	const char *names[ING_PG_DSN_FILES];
	char *paths[ING_PG_DSN_FILES];
	PQconninfoOption *options = NULL;
	struct ing_error err = {0};
	setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x", 1);
	assert_int_equal(
		ing_pg_dsn_parse("host=a sslkey=db.key sslcert=/etc/db.pem passfile=pgpass "
				 "sslrootcert=system sslcrl=./crl",
			&options, &err),
		0);
	assert_int_equal(ing_pg_dsn_credentials(options, names, paths), 2);
	assert_string_equal(names[0], "passfile");
	assert_string_equal(paths[0], "/run/credentials/x/pgpass");
	assert_string_equal(names[1], "sslkey");
	assert_string_equal(paths[1], "/run/credentials/x/db.key");
	free(paths[0]);
	free(paths[1]);
	PQconninfoFree(options);
	unsetenv("CREDENTIALS_DIRECTORY");
}

static void a_password_file_is_read_at_each_connection(void **state)
{
	(void)state;
	char path[] = "/tmp/pg-password-XXXXXX";
	struct ing_error err = {0};
	char *password = NULL;
	assert_int_equal(ing_pg_password(&password, &err), 0);
	assert_null(password);
	int fd = mkstemp(path);
	ing_pg_use_password_file(path);
	assert_int_equal(write(fd, "first one\n", 10), 10);
	assert_int_equal(ing_pg_password(&password, &err), 0);
	assert_string_equal(password, "first one");
	free(password);
	assert_int_equal(pwrite(fd, "other", 5, 0), 5);
	close(fd);
	assert_int_equal(ing_pg_password(&password, &err), 0);
	assert_string_equal(password, "other one");
	free(password);
	unlink(path);
	struct ing_pg *pg = NULL;
	assert_int_equal(
		ing_pg_open("host=127.0.0.1 port=1", -1, 1000, &pg, &err), -ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "postgres.password_file: /tmp/pg-password-"));
	ing_pg_use_password_file("");
	ing_error_clear(&err);
	assert_int_equal(
		ing_pg_open("host=127.0.0.1 port=1", -1, 1000, &pg, &err), -ING_FAIL_UNAVAILABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_hidden),
		cmocka_unit_test(the_hidden_form_is_an_address),
		cmocka_unit_test(a_file_without_a_slash_is_a_credential),
		cmocka_unit_test(a_password_file_is_read_at_each_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
