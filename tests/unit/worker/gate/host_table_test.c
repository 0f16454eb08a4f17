/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What operators see of the tables of hosts, and what they may write there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/worker/gate/lease_client.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/gate/fleet/host_table.h"

static struct ing_host_row find(const char *dsn, const char *host)
{
	struct ing_error err = {0};
	struct ing_host_row row;
	memset(&row, 0xa5, sizeof(row));
	bench_check(ing_host_table_find(dsn, host, &row, &err), &err);
	assert_string_equal(row.host, host);
	return row;
}

static void a_host_is_shown_as_the_workers_left_it(void **state)
{
	(void)state;
	struct fleet f;
	struct lease_client a;
	struct lease_client b;
	fleet_open(&f);
	struct ing_host_row row = find(f.dsn, "a.example");
	assert_false(row.known);
	assert_false(row.blocked);
	assert_int_equal(row.answered_ms, -1);
	client_open(&f, &a, "a");
	client_open(&f, &b, "b");
	client_request(&f, &a, "a.example");
	struct ing_host_backoff p = resting(30000);
	p.rest = ING_REST_BREAKER;
	p.breaker = ING_BREAKER_OPEN;
	p.failures = 11;
	p.opens = 3;
	p.crawl_delay_ms = 5000;
	p.response_ms = 432;
	p.http_status = 503;
	p.outcome = "terminal-bad-status";
	ing_leases_update(a.l, "a.example", &p);
	fleet_run(&f, 200);
	client_request(&f, &b, "a.example");
	row = find(f.dsn, "a.example");
	assert_true(row.known);
	assert_string_equal(row.holder, "a");
	assert_string_equal(row.wanted_by, "b");
	assert_in_range(row.lease_ms, 30000, 60000);
	assert_in_range(row.rest_ms, 20000, 30001);
	assert_string_equal(row.rest, "breaker");
	assert_string_equal(row.breaker, "open");
	assert_int_equal(row.failures, 11);
	assert_int_equal(row.opens, 3);
	assert_int_equal(row.crawl_delay_ms, 5000);
	assert_int_equal(row.response_ms, 432);
	assert_int_equal(row.http_status, 503);
	assert_string_equal(row.outcome, "terminal-bad-status");
	assert_in_range(row.answered_ms, 0, 10000);
	assert_in_range(row.updated_ms, 0, 10000);
	assert_false(row.blocked);
	ing_leases_release(a.l, "a.example", &p);
	fleet_run(&f, 200);
	row = find(f.dsn, "a.example");
	assert_string_equal(row.holder, "");
	assert_int_equal(row.lease_ms, 0);
	/* A lease that has run out is nobody's, and a wish that is old no wish. */
	bench_sql(f.dsn,
		"UPDATE host_state SET holder = 'x', session = 1, expires_at = '2021-01-01',"
		" wanted_at = '2021-01-01', next_fetch_at = '2021-01-01'");
	row = find(f.dsn, "a.example");
	assert_string_equal(row.holder, "");
	assert_string_equal(row.wanted_by, "");
	assert_int_equal(row.rest_ms, 0);
	pair_close(&f, &a, &b);
}

struct list {
	char hosts[8][ING_HOST_BYTES];
	struct ing_host_block blocks[8];
	size_t count;
};

static void add_row(void *ctx, const struct ing_host_row *row)
{
	struct list *l = ctx;
	assert_true(l->count < ING_ARRAY_LEN(l->hosts));
	assert_true(row->known);
	memcpy(l->hosts[l->count++], row->host, ING_HOST_BYTES);
}

static void those_in_trouble_come_first(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct list l = {0};
	const char *dsn = fleet_database();
	bench_sql(dsn,
		"INSERT INTO host_state (host, next_fetch_at, rest, failures, answered_at, updated)"
		" SELECT h, now() + rest * interval '1 s', why, fails, now() - ago * interval '1 s', now()"
		" FROM (VALUES ('fine.example', -9, 'delay', 0, 5), ('late.example', -9, 'none', 0, 1),"
		"  ('pause.example', 500, 'crawl-delay', 0, 9), ('fails.example', -9, 'backoff', 4, 9),"
		"  ('hour.example', 3600, 'retry-after', 1, 9), ('minute.example', 60, 'breaker', 20, 9))"
		" AS v (h, rest, why, fails, ago)");
	static const char *const want[] = {"hour.example", "minute.example", "pause.example",
		"fails.example", "late.example", "fine.example"};
	bench_check(ing_host_table_top(dsn, 100, add_row, &l, &err), &err);
	assert_int_equal(l.count, ING_ARRAY_LEN(want));
	for (size_t i = 0; i < l.count; i++)
		assert_string_equal(l.hosts[i], want[i]);
	l.count = 0;
	bench_check(ing_host_table_top(dsn, 2, add_row, &l, &err), &err);
	assert_int_equal(l.count, 2);
}

static void add_block(void *ctx, const struct ing_host_block *block)
{
	struct list *l = ctx;
	assert_true(l->count < ING_ARRAY_LEN(l->blocks));
	l->blocks[l->count++] = *block;
}

static void blocks_are_put_listed_and_removed(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct list l = {0};
	bool was = true;
	const char *dsn = fleet_database();
	bench_check(ing_host_table_block(dsn, "b.example", "first", NULL, &err), &err);
	bench_check(ing_host_table_block(dsn, "b.example", "they \"asked\"", "ops\\1", &err), &err);
	bench_check(ing_host_table_block(dsn, ".a.example", "tr\xc3\xa4ge", NULL, &err), &err);
	bench_check(ing_host_table_blocks(dsn, add_block, &l, &err), &err);
	assert_int_equal(l.count, 2);
	assert_string_equal(l.blocks[0].host, ".a.example");
	assert_string_equal(l.blocks[0].why, "tr\xc3\xa4ge");
	assert_string_equal(l.blocks[0].by, "");
	assert_string_equal(l.blocks[1].why, "they \"asked\"");
	assert_string_equal(l.blocks[1].by, "ops\\1");
	assert_in_range(l.blocks[1].age_ms, 0, 60000);
	bench_check(ing_host_table_unblock(dsn, "a.example", &was, &err), &err);
	assert_false(was);
	bench_check(ing_host_table_unblock(dsn, ".a.example", &was, &err), &err);
	assert_true(was);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM host_block"), 1);
}

static void the_most_specific_block_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *host;
		const char *want; /* NULL: not blocked */
	} cases[] = {
		{"example.org", "example.org"},
		{"sub.example.org", NULL},
		{"a.test", ".a.test"},
		{"x.a.test", ".a.test"},
		{"x.y.a.test", ".y.a.test"},
		{"y.a.test", "y.a.test"},
		{"ba.test", NULL},
		{"test", NULL},
		{"1.2.3.4", NULL},
		{"[2001:db8::1]", "[2001:db8::1]"},
	};
	struct ing_error err = {0};
	const char *dsn = fleet_database();
	bench_sql(dsn, "INSERT INTO host_block (host, why) VALUES ('example.org', 'x'),"
		       " ('.a.test', 'x'), ('.y.a.test', 'x'), ('y.a.test', 'x'),"
		       " ('[2001:db8::1]', 'x')");
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_host_row row = find(dsn, cases[i].host);
		assert_int_equal(row.blocked, cases[i].want != NULL);
		assert_string_equal(row.block.host, cases[i].want != NULL ? cases[i].want : "");
	}
	char dots[254];
	memset(dots, '.', sizeof(dots));
	dots[0] = 'a';
	dots[253] = '\0';
	find(dsn, dots);
	(void)err;
}

static void what_is_no_host_or_reason_is_refused(void **state)
{
	(void)state;
	char longer[2000];
	struct ing_host_row row;
	bool was;
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	const char *dsn = fleet_database();
	static const char *const bad[] = {"", ".", "..a", "a b", "a\nb", "\xc3\xa4.example"};
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		assert_int_equal(
			ing_host_table_block(dsn, bad[i], "x", NULL, NULL), -ING_FAIL_INVALID);
		assert_int_equal(
			ing_host_table_unblock(dsn, bad[i], &was, NULL), -ING_FAIL_INVALID);
		assert_int_equal(ing_host_table_find(dsn, bad[i], &row, NULL), -ING_FAIL_INVALID);
	}
	assert_int_equal(ing_host_table_block(dsn, longer, "x", NULL, NULL), -ING_FAIL_INVALID);
	assert_int_equal(
		ing_host_table_block(dsn, "a.example", longer, NULL, NULL), -ING_FAIL_INVALID);
	assert_int_equal(ing_host_table_block(dsn, "a.example", "", NULL, NULL), -ING_FAIL_INVALID);
	assert_int_equal(
		ing_host_table_block(dsn, "a.example", "\xff", NULL, NULL), -ING_FAIL_INVALID);
	assert_int_equal(
		ing_host_table_block(dsn, "a.example", "x", "\xff", NULL), -ING_FAIL_INVALID);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM host_block"), 0);
}

static void a_database_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_host_row row;
	const char *dsn = cluster_database(&bench_cluster);
	assert_int_equal(ing_host_table_find(dsn, "a.example", &row, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "ingestctl db migrate"));
	ing_error_clear(&err);
	assert_int_equal(ing_host_table_blocks("host=127.0.0.1 port=1", add_block, NULL, &err),
		-ING_FAIL_UNAVAILABLE);
	ing_error_clear(&err);
	assert_int_equal(
		ing_host_table_blocks("postgresql://[", add_block, NULL, &err), -ING_FAIL_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_host_is_shown_as_the_workers_left_it),
		WITH_SERVER(those_in_trouble_come_first),
		WITH_SERVER(blocks_are_put_listed_and_removed),
		WITH_SERVER(the_most_specific_block_is_found),
		WITH_SERVER(what_is_no_host_or_reason_is_refused),
		WITH_SERVER(a_database_that_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
