/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bench.h - what the tests against a real server share: the server, a store with its loop, items,
 * SQL.
 */
#pragma once
#include <uv.h>

#include "tests/unit/worker/store/cluster.h"
#include "worker/model/rows.h"
#include "worker/store/store.h"

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define DT "20261121110000"
#define WAIT_LIMIT_MS 60000

struct bench { /* a store with its loop, and how many items have come back */
	uv_loop_t loop;
	uv_timer_t tick;
	struct ing_store *store;
	const char *dsn; /* borrowed */
	unsigned done;
};

struct entry {
	struct ing_store_item item; /* first */
	struct ing_rows rows;
	struct bench *bench;
	char url[64], sha1[41], json[256], doi[32], doi_lower[32], id[37], document[37];
	struct ing_row_cdx cdx;
	struct ing_row_crossref crossref;
	struct ing_row_grobid_refs refs;
};

extern struct cluster bench_cluster;

/* For cmocka: group setup and teardown, and the setup of a test that needs the server (skips it
 * when there is none). */
int bench_start(void **state);
int bench_stop(void **state);
int bench_need(void **state);
#define WITH_SERVER(f) cmocka_unit_test_setup(f, bench_need)

void bench_check(int rc, const struct ing_error *err); /* fails the test with the error's words */
void bench_migrate(const char *dsn);
void bench_sql(const char *dsn, const char *sql);
long bench_number(const char *dsn, const char *sql); /* first column of the first row */

void bench_open_with(struct bench *b, const struct ing_postgres_settings *conf);
void bench_open_for(struct bench *b, const char *dsn, unsigned batch_rows, unsigned batch_ms);
void bench_open(struct bench *b, const char *dsn, unsigned batch_rows);
void bench_close(struct bench *b);
void bench_wait(struct bench *b, unsigned want); /* until so many items have come back */

/* An item with a row for each table, distinct for each i. */
void bench_fill(struct bench *b, struct entry *e, unsigned i);
/* The same with that status, and put. */
void bench_put_result(struct bench *b, struct entry *e, unsigned i, const char *status);
