/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses with two hosts: rows go to the one that takes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"

static struct cluster second;

static void copy_option(const char *dsn, const char *name, char *ret, size_t bytes)
{
	PQconninfoOption *options = PQconninfoParse(dsn, NULL);
	assert_non_null(options);
	ret[0] = '\0';
	for (PQconninfoOption *o = options; o->keyword != NULL; o++) {
		if (strcmp(o->keyword, name) == 0 && o->val != NULL)
			snprintf(ret, bytes, "%s", o->val);
	}
	PQconninfoFree(options);
}

/* Both servers as the hosts of one address. `form`: three texts, host, port and the same again. */
static void both(const char *form, const char *a, const char *b, char *ret, size_t bytes)
{
	char text[2][3][128];
	const char *const dsns[] = {a, b};
	static const char *const names[] = {"host", "port", "passfile"};
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 3; k++)
			copy_option(dsns[i], names[k], text[i][k], sizeof(text[i][k]));
	}
	char name[128];
	copy_option(a, "dbname", name, sizeof(name));
	if (strcmp(form, "uri") == 0)
		snprintf(ret, bytes, "postgresql://ingest@%s:%s,%s:%s/%s?passfile=%s", text[0][0],
			text[0][1], text[1][0], text[1][1], name, text[0][2]);
	else
		snprintf(ret, bytes, "host=%s,%s port=%s,%s user=ingest passfile=%s dbname=%s",
			text[0][0], text[1][0], text[0][1], text[1][1], text[0][2], name);
}

/* As a standby, or a server that has been told that it is one. */
static void set_read_only(const char *dsn, bool on)
{
	bench_sql(dsn, on ? "ALTER SYSTEM SET default_transaction_read_only = on"
			  : "ALTER SYSTEM RESET default_transaction_read_only");
	bench_sql(dsn, "SELECT pg_reload_conf()");
}

/* One address has one password: the second gets the first one's, which is the last field of its file. */
static void share_password(void)
{
	char passfile[128];
	char line[128] = "";
	char host[128];
	char port[128];
	char sql[256];
	copy_option(bench_cluster.dsn, "passfile", passfile, sizeof(passfile));
	copy_option(second.dsn, "host", host, sizeof(host));
	copy_option(second.dsn, "port", port, sizeof(port));
	FILE *f = fopen(passfile, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	snprintf(sql, sizeof(sql), "ALTER ROLE ingest PASSWORD '%s'", strrchr(line, ':') + 1);
	bench_sql(second.dsn, sql);
	snprintf(second.dsn, sizeof(second.dsn), "postgresql://ingest@%s:%s/postgres?passfile=%s",
		host, port, passfile);
}

static int start_both(void **state)
{
	bench_start(state);
	if (!bench_cluster.own)
		return 0;
	if (!cluster_start(&second))
		return -1;
	share_password();
	return 0;
}

static int stop_both(void **state)
{
	if (bench_cluster.own)
		cluster_done(&second);
	return bench_stop(state);
}

static long count_results(const char *dsn)
{
	return bench_number(dsn, "SELECT count(*) FROM ingest_file_result");
}

/* Each in both notations of an address. */
static void rows_follow_the_server_that_takes_them(void **state)
{
	(void)state;
	static const char *const forms[] = {"keywords", "uri"};
	if (!bench_cluster.own)
		skip();
	for (size_t i = 0; i < ING_ARRAY_LEN(forms); i++) {
		struct bench b;
		struct entry e[3];
		char dsn[1024];
		const char *a = cluster_database(&bench_cluster);
		const char *c = cluster_database(&second);
		bench_migrate(a);
		bench_migrate(c);
		both(forms[i], a, c, dsn, sizeof(dsn));
		set_read_only(c, true);
		bench_open(&b, dsn, 100);
		bench_put_result(&b, &e[0], 0, "success");
		bench_wait(&b, 1);
		assert_int_equal(count_results(a), 1);
		/* The first gives way to the second, and both still answer. */
		set_read_only(a, true);
		set_read_only(c, false);
		bench_put_result(&b, &e[1], 1, "success");
		bench_wait(&b, 2);
		assert_int_equal(count_results(c), 1);
		bench_close(&b);
		/* A standby in front is passed over from the start. */
		bench_open(&b, dsn, 100);
		bench_put_result(&b, &e[2], 2, "success");
		bench_wait(&b, 1);
		assert_int_equal(count_results(c), 2);
		assert_int_equal(count_results(a), 1);
		bench_close(&b);
		set_read_only(a, false);
	}
}

/* Who says what he wants gets that, and a single host is not judged before it is written to. */
static void what_the_address_says_of_sessions_stands(void **state)
{
	(void)state;
	if (!bench_cluster.own)
		skip();
	const char *a = cluster_database(&bench_cluster);
	const char *c = cluster_database(&second);
	char dsn[1024];
	char said[1100]; /* and what is wanted */
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	both("keywords", a, c, dsn, sizeof(dsn));
	set_read_only(a, true);
	snprintf(said, sizeof(said), "%s target_session_attrs=read-only", dsn);
	bench_check(ing_pg_open(said, -1, 30000, &pg, &err), &err);
	ing_pg_close(pg);
	snprintf(said, sizeof(said), "%s target_session_attrs=prefer-standby", dsn);
	bench_check(ing_pg_open(said, -1, 30000, &pg, &err), &err); /* there is none to prefer */
	ing_pg_close(pg);
	bench_check(ing_pg_open(a, -1, 30000, &pg, &err), &err);
	ing_pg_close(pg);
	set_read_only(c, true);
	assert_int_equal(ing_pg_open(dsn, -1, 30000, &pg, &err), -ING_FAIL_UNAVAILABLE);
	set_read_only(c, false);
	set_read_only(a, false);
}

static void a_malformed_address_is_told_without_its_password(void **state)
{
	(void)state;
	static const char *const dsns[] = {
		"postgresql://me:hush@[a:1/x",
		"postgresql://me:hush%zz@a/x",
		"postgresql://me:hush@a:1:2/x?nonsense",
		"host=a password=half hush",
		"postgresql://me:un\"hush@[a:1/x",
		"postgresql://me:un\"hush%zz@a/x",
		"host=a password=half un\"hush",
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(dsns); i++) {
		struct ing_error err = {0};
		struct ing_pg *pg = NULL;
		assert_int_equal(ing_pg_open(dsns[i], -1, 1000, &pg, &err), -ING_FAIL_CONFIG);
		assert_null(strstr(err.msg, "hush"));
		assert_non_null(strstr(err.msg, "database address: "));
	}
	/* Longer than what is kept of the words. */
	char dsn[600];
	snprintf(dsn, sizeof(dsn), "host=a password=half un\"hu%0500dsh", 0);
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	assert_int_equal(ing_pg_open(dsn, -1, 1000, &pg, &err), -ING_FAIL_CONFIG);
	assert_null(strstr(err.msg, "hu0"));
	ing_error_clear(&err);
	assert_int_equal(ing_pg_open("hots=a", -1, 1000, &pg, &err), -ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "hots"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(rows_follow_the_server_that_takes_them),
		WITH_SERVER(what_the_address_says_of_sessions_stands),
		cmocka_unit_test(a_malformed_address_is_told_without_its_password),
	};
	return cmocka_run_group_tests(tests, start_both, stop_both);
}
