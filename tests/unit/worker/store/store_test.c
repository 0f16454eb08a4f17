/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The store against a real PostgreSQL: what stands in the tables afterwards, and that every item
 * comes back, whatever the rows hold and whatever the server does meanwhile.
 */
#include "worker/store/store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/pg.h"
#include "tests/unit/worker/store/cluster.h"
#include "worker/limits.h"

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define DT "20261121110000"
#define PATIENCE_MS 60000

static struct cluster cluster;
static bool have_server;

struct bench { /* a store with its loop, and how many items have come back */
	uv_loop_t loop;
	uv_timer_t tick;
	struct ing_store *store;
	const char *dsn;
	unsigned done;
};

struct entry {
	struct ing_store_item item; /* first */
	struct bench *bench;
	char url[64], sha1[41], json[256];
	struct ing_row_cdx cdx;
};

static void check(int rc, const struct ing_error *err)
{
	if (rc != 0)
		fail_msg("%s", err->msg);
}

static void migrate(const char *dsn)
{
	struct ing_error err = {0};
	int from;
	int to;
	check(ing_store_migrate(dsn, &from, &to, &err), &err);
}

static void run_sql(const char *dsn, const char *sql)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	check((int)ing_pg_exec(pg, sql, &err), &err);
	ing_pg_close(pg);
}

static long number(const char *dsn, const char *sql)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int64_t n = -1;
	check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	check((int)ing_pg_number(pg, sql, &n, &err), &err);
	ing_pg_close(pg);
	return (long)n;
}

static void nothing(uv_timer_t *t)
{
	(void)t;
}

static void open_bench_for(struct bench *b, const char *dsn, unsigned batch_rows, unsigned batch_ms)
{
	struct ing_error err = {0};
	*b = (struct bench){.dsn = dsn};
	assert_int_equal(uv_loop_init(&b->loop), 0);
	uv_timer_init(&b->loop, &b->tick);
	uv_timer_start(&b->tick, nothing, 5, 5);
	const struct ing_store_conf conf = {
		.dsn = dsn, .batch_rows = batch_rows, .batch_ms = batch_ms};
	check(ing_store_new(&b->loop, &conf, &b->store, &err), &err);
}

static void open_bench(struct bench *b, const char *dsn, unsigned batch_rows)
{
	open_bench_for(b, dsn, batch_rows, 10);
}

static void close_bench(struct bench *b)
{
	ing_store_free(b->store);
	uv_close((uv_handle_t *)&b->tick, NULL);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&b->loop), 0);
}

static void wait_done(struct bench *b, unsigned want)
{
	uint64_t until = ing_now_ms() + PATIENCE_MS;
	while (b->done < want && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_int_equal(b->done, want);
}

static void count_done(struct ing_store_item *item)
{
	struct entry *e = (struct entry *)(void *)item;
	e->bench->done++;
}

/* An item with a row for each table, distinct for each i. */
static void fill_entry(struct bench *b, struct entry *e, unsigned i)
{
	*e = (struct entry){.bench = b};
	snprintf(e->url, sizeof(e->url), "https://a.example/%u", i);
	snprintf(e->sha1, sizeof(e->sha1), "%040x", i);
	snprintf(e->json, sizeof(e->json), "{\"ext_ids\": {\"doi\": \"10.123/%u\"}}", i);
	e->cdx = (struct ing_row_cdx){.url = e->url,
		.datetime = DT,
		.sha1hex = e->sha1,
		.cdx_sha1hex = SHA1,
		.mimetype = "application/pdf",
		.warc_path = "a.warc.gz",
		.warc_csize = 100,
		.warc_offset = 1000 + i};
	e->item = (struct ing_store_item){
		.done = count_done,
		.request = {.present = true,
			.link_source = "doi",
			.link_source_id = e->url + 18,
			.ingest_type = "pdf",
			.base_url = e->url,
			.ingest_request_source = "test",
			.release_stage = "published",
			.request_json = e->json},
		.result = {.present = true,
			.ingest_type = "pdf",
			.base_url = e->url,
			.status = "success",
			.hit = true,
			.terminal_url = e->url,
			.terminal_dt = DT,
			.terminal_sha1hex = e->sha1,
			.terminal_status_code = 200},
		.file_meta = {.present = true,
			.sha1hex = e->sha1,
			.sha256hex = SHA256,
			.md5hex = MD5,
			.mimetype = "application/pdf",
			.size_bytes = 1234567890123},
		.pdf_meta = {.present = true,
			.sha1hex = e->sha1,
			.status = "success",
			.page_count = 3,
			.word_count = 900,
			.page0_height = 841.89,
			.page0_width = 595.28,
			.permanent_id = MD5,
			.pdf_created = "2020-02-29T12:00:00+02:00",
			.pdf_version = "1.7",
			.metadata_json = "{\"title\": \"A\"}"},
		.cdx = &e->cdx,
		.cdx_count = 1,
	};
}

static void put_result(struct bench *b, struct entry *e, unsigned i, const char *status)
{
	fill_entry(b, e, i);
	e->item.result.status = status;
	e->item.result.hit = strcmp(status, "success") == 0;
	ing_store_put(b->store, &e->item);
}

/* --- schema --- */

static void a_schema_is_made_once(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&cluster);
	struct ing_error err = {0};
	uv_loop_t loop;
	struct ing_store *store = NULL;
	int version = -1;
	int from = -1;
	int to = -1;
	assert_int_equal(uv_loop_init(&loop), 0);
	const struct ing_store_conf conf = {.dsn = dsn, .batch_rows = 10};
	check(ing_store_version(dsn, &version, &err), &err);
	assert_int_equal(version, 0);
	assert_int_equal(ing_store_new(&loop, &conf, &store, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "ingestctl db migrate"));
	ing_error_clear(&err);
	check(ing_store_migrate(dsn, &from, &to, &err), &err);
	assert_int_equal(from, 0);
	assert_int_equal(to, ing_store_newest_version());
	check(ing_store_migrate(dsn, &from, &to, &err), &err);
	assert_int_equal(from, ing_store_newest_version());
	check(ing_store_version(dsn, &version, &err), &err);
	assert_int_equal(version, ing_store_newest_version());
	uv_loop_close(&loop);
}

static void a_schema_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	const char *dsn = cluster_database(&cluster);
	struct ing_error err = {0};
	uv_loop_t loop;
	struct ing_store *store = NULL;
	int from;
	int to;
	assert_int_equal(uv_loop_init(&loop), 0);
	const struct ing_store_conf conf = {.dsn = dsn, .batch_rows = 10};
	migrate(dsn);
	run_sql(dsn, "INSERT INTO schema_version VALUES (999, '0999_future')");
	assert_int_equal(ing_store_new(&loop, &conf, &store, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "version 999, newer than"));
	ing_error_clear(&err);
	assert_int_equal(ing_store_migrate(dsn, &from, &to, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "version 999, newer than"));
	ing_error_clear(&err);
	run_sql(dsn, "DELETE FROM schema_version WHERE version > 1");
	assert_int_equal(ing_store_new(&loop, &conf, &store, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "older than"));
	ing_error_clear(&err);
	/* Half a migration is none: 0002's tables exist already, so it fails and leaves the
	 * version. */
	assert_int_not_equal(ing_store_migrate(dsn, &from, &to, &err), 0);
	assert_non_null(strstr(err.msg, "migration 0002_"));
	assert_int_equal(number(dsn, "SELECT max(version) FROM schema_version"), 1);
	uv_loop_close(&loop);
}

struct migrator {
	const char *dsn;
	int from, rc;
	struct ing_error err;
};

static void *migrate_thread(void *ctx)
{
	struct migrator *m = ctx;
	int to;
	m->rc = ing_store_migrate(m->dsn, &m->from, &to, &m->err);
	return NULL;
}

static void migrators_take_turns(void **state)
{
	(void)state;
	struct migrator all[6] = {0};
	pthread_t threads[6];
	const char *dsn = cluster_database(&cluster);
	for (int i = 0; i < 6; i++) {
		all[i].dsn = dsn;
		assert_int_equal(pthread_create(&threads[i], NULL, migrate_thread, &all[i]), 0);
	}
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], NULL);
		check(all[i].rc, &all[i].err);
	}
	assert_int_equal(
		number(dsn, "SELECT count(*) FROM schema_version"), ing_store_newest_version());
}

static void an_address_that_is_none_is_refused(void **state)
{
	(void)state;
	struct ing_error err = {0};
	int version;
	assert_int_equal(ing_store_version("postgresql://[", &version, &err), -ING_FAIL_CONFIG);
	ing_error_clear(&err);
	/* Port 1 of the loopback address: nobody listens there. */
	assert_int_equal(
		ing_store_version("host=127.0.0.1 port=1", &version, &err), -ING_FAIL_UNAVAILABLE);
}

/* --- rows --- */

static void rows_arrive_in_every_table(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 100);
	fill_entry(&b, &e, 7);
	ing_store_put(b.store, &e.item);
	wait_done(&b, 1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_request WHERE link_source = 'doi' AND link_source_id = '7'"
			" AND ingest_type = 'pdf' AND base_url = 'https://a.example/7'"
			" AND ingest_request_source = 'test' AND release_stage = 'published'"
			" AND request->'ext_ids'->>'doi' = '10.123/7' AND created <= now()"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_file_result WHERE hit AND status = 'success'"
			" AND terminal_url = base_url AND terminal_dt = '" DT
			"' AND terminal_status_code = 200"
			" AND terminal_sha1hex = lpad('7', 40, '0') AND updated <= now()"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM file_meta WHERE sha1hex = lpad('7', 40, '0') AND md5hex = '" MD5
			"'"
			" AND sha256hex = '" SHA256 "' AND size_bytes = 1234567890123"
			" AND mimetype = 'application/pdf'"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM cdx WHERE url = 'https://a.example/7' AND datetime = '" DT
			"'"
			" AND sha1hex = lpad('7', 40, '0') AND cdx_sha1hex = '" SHA1 "'"
			" AND mimetype = 'application/pdf' AND warc_path = 'a.warc.gz' AND warc_csize = 100"
			" AND warc_offset = 1007"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM pdf_meta WHERE status = 'success' AND NOT has_page0_thumbnail"
			" AND page_count = 3 AND word_count = 900 AND page0_height = 841.89::real"
			" AND page0_width = 595.28::real AND permanent_id = '" MD5 "'"
			" AND pdf_created = '2020-02-29 10:00:00+00' AND pdf_version = '1.7'"
			" AND metadata->>'title' = 'A'"),
		1);
	close_bench(&b);
}

static void a_hit_outlives_failures_and_only_them(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[4];
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 100);
	put_result(&b, &e[0], 1, "timeout");
	wait_done(&b, 1);
	put_result(&b, &e[1], 1, "no-pdf-link"); /* a failure takes over from a failure */
	wait_done(&b, 2);
	assert_int_equal(
		number(dsn, "SELECT count(*) FROM ingest_file_result WHERE status = 'no-pdf-link'"
			    " AND updated > (SELECT created FROM ingest_request)"),
		1);
	put_result(&b, &e[2], 1, "success");
	wait_done(&b, 3);
	run_sql(dsn, "CREATE TABLE before AS SELECT * FROM ingest_file_result");
	put_result(&b, &e[3], 1, "timeout");
	wait_done(&b, 4);
	assert_int_equal(
		number(dsn, "SELECT count(*) FROM ingest_file_result r JOIN before b ON r = b"), 1);
	/* A later hit takes over, and the moment with it. */
	fill_entry(&b, &e[0], 1);
	e[0].item.result.terminal_url = "https://b.example/";
	ing_store_put(b.store, &e[0].item);
	wait_done(&b, 5);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_file_result r, before b"
			" WHERE r.terminal_url = 'https://b.example/' AND r.updated > b.updated"),
		1);
	close_bench(&b);
}

static void a_pdf_that_crashed_once_keeps_its_facts(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&cluster);
	static const char *const steps[] = {"crash", "success", "error-timeout"};
	migrate(dsn);
	open_bench(&b, dsn, 100);
	for (unsigned i = 0; i < 3; i++) {
		fill_entry(&b, &e, 1);
		e.item.pdf_meta.status = steps[i];
		ing_store_put(b.store, &e.item);
		wait_done(&b, i + 1);
	}
	assert_int_equal(number(dsn, "SELECT count(*) FROM pdf_meta WHERE status = 'success'"), 1);
	close_bench(&b);
}

static void duplicates_within_a_batch_end_as_if_they_came_one_by_one(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[6];
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench_for(&b, dsn, 6, PATIENCE_MS); /* all six in one batch */
	put_result(&b, &e[0], 1, "timeout");
	put_result(&b, &e[1], 1, "success");
	put_result(&b, &e[2], 1, "no-pdf-link");
	put_result(&b, &e[3], 2, "timeout");
	put_result(&b, &e[4], 2, "no-pdf-link");
	fill_entry(&b, &e[5], 1); /* same request again, with another body */
	e[5].item.request.release_stage = "draft";
	e[5].item.result.terminal_url = "https://b.example/";
	ing_store_put(b.store, &e[5].item);
	wait_done(&b, 6);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.batches, 1);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result"), 2);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result WHERE hit"
				     " AND terminal_url = 'https://b.example/'"),
		1);
	assert_int_equal(
		number(dsn, "SELECT count(*) FROM ingest_file_result WHERE status = 'no-pdf-link'"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_request WHERE release_stage = 'published'"),
		2);
	close_bench(&b);
}

static char *repeat(char c, size_t n)
{
	char *s = malloc(n + 1);
	assert_non_null(s);
	memset(s, c, n);
	s[n] = '\0';
	return s;
}

/* Incompressible, so that an index entry is as long as it looks. */
static char *noise(size_t n)
{
	char *s = repeat('x', n);
	unsigned x = 1;
	for (size_t i = 0; i < n; i++) {
		x = x * 1103515245u + 12345u;
		s[i] = (char)('!' + (x >> 16) % 90);
	}
	return s;
}

static void hostile_values_break_nothing(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[12];
	const char *dsn = cluster_database(&cluster);
	char *over = noise(ING_MAX_URL_BYTES);
	char *fits = noise(ING_MAX_BASE_URL_BYTES);
	char *id = noise(1000);
	char *slug = noise(100);
	char *terminal = noise(ING_MAX_TERMINAL_URL_BYTES);
	char *long_json = repeat(' ', 1 << 20);
	memcpy(long_json, "{\"a\":\"\\u0000\"", 13);
	long_json[(1 << 20) - 1] = '}';
	migrate(dsn);
	open_bench_for(&b, dsn, 12, PATIENCE_MS); /* all in one batch */
	for (unsigned i = 0; i < 12; i++)
		fill_entry(&b, &e[i], i);
	e[0].item.result.base_url = e[0].item.request.base_url = over;
	e[1].item.result.terminal_url = e[1].cdx.url = over;
	e[2].item.request = (struct ing_row_request){.present = true,
		.link_source = slug,
		.link_source_id = id,
		.ingest_type = "pdf",
		.base_url = fits};
	e[2].item.result.terminal_url = e[2].cdx.url = terminal;
	e[2].item.result.base_url = fits;
	e[3].item.request.base_url = e[3].item.result.base_url = "bad \xff\xfe utf-8 \xed\xa0\x80";
	e[4].item.request.base_url = e[4].item.result.base_url =
		"tab\t newline\n cr\r back\\slash \\. \\N \x01";
	e[5].item.request.request_json =
		"{\"nul\":\"a\\u0000b\",\"n\":1e400000,\"hi\":\"\\ud800\",\"\\u0000\":\"\xff\"}";
	e[6].item.file_meta.sha256hex = "short";
	e[6].item.file_meta.size_bytes = UINT64_MAX;
	e[6].item.file_meta.mimetype = "";
	e[7].item.pdf_meta.pdf_created = "2021-02-31T00:00:00Z";
	e[7].item.pdf_meta.page0_height = 1e300;
	e[7].item.pdf_meta.word_count = 1L << 40;
	e[7].item.pdf_meta.page_count = -1;
	e[7].item.pdf_meta.permanent_id = "\xff";
	e[8].item.request.request_json = long_json;
	e[9].item.result.terminal_dt = "yesterday";
	e[9].item.result.terminal_sha1hex = "";
	e[9].item.result.terminal_status_code = 0;
	e[9].item.pdf_meta.metadata_json = NULL;
	e[10].item.request.link_source = NULL;
	e[10].item.file_meta.sha1hex = "not hex";
	for (unsigned i = 0; i < 12; i++)
		ing_store_put(b.store, &e[i].item);
	wait_done(&b, 12);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.refused, 0);
	assert_int_equal(st.batches, 1);
	assert_int_equal(st.items, 12);
	/* 0: request and result; 1: cdx; 10: request and file_meta. */
	assert_int_equal(st.skipped, 5);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result"), 11);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_request"), 10);
	assert_int_equal(number(dsn, "SELECT count(*) FROM file_meta"), 11);
	assert_int_equal(number(dsn, "SELECT count(*) FROM cdx"), 11);
	assert_int_equal(number(dsn, "SELECT count(*) FROM pdf_meta"), 12);
	assert_int_equal(
		number(dsn, "SELECT count(*) FROM ingest_file_result WHERE terminal_url IS NULL"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_file_result"
			" WHERE base_url = 'bad ' || repeat(U&'\\FFFD', 2) || ' utf-8 ' || repeat(U&'\\FFFD', 3)"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_file_result"
			" WHERE base_url = E'tab\\t newline\\n cr\\r back\\\\slash \\\\. \\\\N \\x01'"),
		1);
	assert_int_equal(
		number(dsn,
			"SELECT count(*) FROM ingest_request WHERE request->>'nul' = U&'a\\FFFDb'"
			" AND request->>'n' = '1e400000' AND request->>'hi' = U&'\\FFFD'"
			" AND request->>U&'\\FFFD' = U&'\\FFFD'"),
		1);
	assert_int_equal(
		number(dsn, "SELECT count(*) FROM pdf_meta WHERE pdf_created IS NULL AND"
			    " page0_height IS NULL AND word_count IS NULL AND page_count IS NULL"
			    " AND permanent_id = U&'\\FFFD'"),
		1);
	close_bench(&b);
	free(over);
	free(fits);
	free(id);
	free(slug);
	free(terminal);
	free(long_json);
}

static void a_refused_row_is_left_out_alone(void **state)
{
	(void)state;
	enum { N = 200 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	/* Stands for whatever the cleaning has not thought of. */
	run_sql(dsn, "ALTER TABLE ingest_file_result ADD CHECK (base_url NOT LIKE '%/77'),"
		     " ADD CHECK (base_url NOT LIKE '%/130');"
		     "ALTER TABLE pdf_meta ADD CHECK (sha1hex <> '"
		     "0000000000000000000000000000000000000082"
		     "')");
	open_bench(&b, dsn, N);
	for (unsigned i = 0; i < N; i++) {
		fill_entry(&b, &e[i], i);
		ing_store_put(b.store, &e[i].item);
	}
	wait_done(&b, N);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.refused, 3);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result"), N - 2);
	assert_int_equal(number(dsn, "SELECT count(*) FROM pdf_meta"), N - 1); /* 0x82 is 130 */
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_request"), N);
	assert_int_equal(number(dsn, "SELECT count(*) FROM file_meta"), N);
	assert_int_equal(number(dsn, "SELECT count(*) FROM cdx"), N);
	close_bench(&b);
	free(e);
}

static void workers_with_the_same_keys_do_not_stop_each_other(void **state)
{
	(void)state;
	enum { N = 2000 };
	struct bench b[2];
	struct entry *e = ing_alloc(2 * N * sizeof(*e));
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b[0], dsn, 100);
	open_bench(&b[1], dsn, 100);
	for (unsigned i = 0; i < N; i++) {
		fill_entry(&b[0], &e[i], i % 150);
		fill_entry(&b[1], &e[N + i], 149 - i % 150);
		ing_store_put(b[0].store, &e[i].item);
		ing_store_put(b[1].store, &e[N + i].item);
	}
	wait_done(&b[0], N);
	wait_done(&b[1], N);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result"), 150);
	assert_int_equal(number(dsn, "SELECT deadlocks FROM pg_stat_database"
				     " WHERE datname = current_database()"),
		0);
	close_bench(&b[0]);
	close_bench(&b[1]);
	free(e);
}

/* --- trouble --- */

static void a_database_that_goes_away_is_waited_for(void **state)
{
	(void)state;
	enum { N = 500 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	if (!cluster.own) {
		free(e);
		skip();
	}
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 100);
	for (unsigned i = 0; i < N; i++)
		fill_entry(&b, &e[i], i);
	for (unsigned i = 0; i < 100; i++)
		ing_store_put(b.store, &e[i].item);
	wait_done(&b, 100);
	assert_false(ing_store_blocked(b.store));
	cluster_stop(&cluster);
	for (unsigned i = 100; i < N; i++)
		ing_store_put(b.store, &e[i].item);
	uint64_t until = ing_now_ms() + PATIENCE_MS;
	while (!ing_store_blocked(b.store) && ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b.store));
	until = ing_now_ms() + 1000; /* some attempts to connect fail */
	while (ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b.store));
	assert_int_equal(b.done, 100);
	cluster_resume(&cluster);
	wait_done(&b, N);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result"), N);
	assert_int_equal(number(dsn, "SELECT count(*) FROM cdx"), N);
	close_bench(&b);
	free(e);
}

static void a_connection_lost_between_batches_is_made_again(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[2];
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 100);
	fill_entry(&b, &e[0], 0);
	fill_entry(&b, &e[1], 1);
	ing_store_put(b.store, &e[0].item);
	wait_done(&b, 1);
	run_sql(dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		     " WHERE datname = current_database() AND pid <> pg_backend_pid()");
	ing_store_put(b.store, &e[1].item);
	wait_done(&b, 2);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_file_result"), 2);
	close_bench(&b);
}

/* The server ends our session in the middle of COMMIT, twice: whether it happened is unknown, so it
 * is repeated. */
static void a_connection_lost_while_committing_loses_nothing(void **state)
{
	(void)state;
	enum { N = 50 };
	struct bench b;
	struct entry e[N];
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	run_sql(dsn,
		"CREATE SEQUENCE tries;"
		"CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
		" IF nextval('tries') <= 2 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
		" RETURN NULL; END $$;"
		"CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON pdf_meta DEFERRABLE INITIALLY DEFERRED"
		" FOR EACH ROW WHEN (NEW.sha1hex = '0000000000000000000000000000000000000005')"
		" EXECUTE FUNCTION cut()");
	open_bench(&b, dsn, 100);
	for (unsigned i = 0; i < N; i++) {
		fill_entry(&b, &e[i], i);
		ing_store_put(b.store, &e[i].item);
	}
	wait_done(&b, N);
	assert_int_equal(number(dsn, "SELECT last_value FROM tries"), 3);
	assert_int_equal(number(dsn, "SELECT count(*) FROM pdf_meta"), N);
	assert_int_equal(number(dsn, "SELECT count(*) FROM ingest_request"), N);
	close_bench(&b);
}

/* Not the rows' fault: nothing may be dropped, however often it is said. */
static void trouble_in_the_database_is_waited_out(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 100);
	run_sql(dsn, "ALTER TABLE file_meta RENAME TO elsewhere");
	fill_entry(&b, &e, 0);
	ing_store_put(b.store, &e.item);
	uint64_t until = ing_now_ms() + 1500;
	while (ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_store_blocked(b.store));
	assert_int_equal(b.done, 0);
	run_sql(dsn, "ALTER TABLE elsewhere RENAME TO file_meta");
	wait_done(&b, 1);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(number(dsn, "SELECT count(*) FROM file_meta"), 1);
	close_bench(&b);
}

static void a_store_that_waits_can_be_freed(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 100);
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	check((int)ing_pg_exec(pg, "BEGIN; LOCK TABLE ingest_request", &err), &err);
	fill_entry(&b, &e, 0);
	ing_store_put(b.store, &e.item);
	for (int i = 0; i < 60; i++)
		uv_run(&b.loop,
			UV_RUN_ONCE); /* now in the middle of a statement that waits for the lock */
	uint64_t start = ing_now_ms();
	close_bench(&b);
	assert_in_range(ing_now_ms() - start, 0, 2000);
	assert_int_equal(b.done, 0);
	ing_pg_close(pg);
}

/* A frozen server keeps its TCP alive, so nothing but a clock of our own notices it. */
static void a_server_that_does_not_answer_is_lost(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	check(ing_pg_open(cluster.dsn, -1, 200, &pg, &err), &err);
	uint64_t start = ing_now_ms();
	assert_int_equal(ing_pg_exec(pg, "SELECT pg_sleep(20)", &err), ING_PG_LOST);
	assert_in_range(ing_now_ms() - start, 190, 5000);
	assert_non_null(strstr(err.msg, "no answer"));
	ing_pg_close(pg);
}

static void kinds_of_failure_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		enum ing_pg_rc want;
	} cases[] = {
		{"SELECT 1", ING_PG_OK},
		{"", ING_PG_OK},
		{"SELECT 1/0", ING_PG_REFUSED},
		{"SELECT 'x'::int", ING_PG_REFUSED},
		{"SELECT nothing_such()", ING_PG_TROUBLE},
		{"nonsense", ING_PG_TROUBLE},
		{"SET statement_timeout = '50ms'; SELECT pg_sleep(20)", ING_PG_TROUBLE},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$",
			ING_PG_CONFLICT},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END $$",
			ING_PG_CONFLICT},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '53100'; END $$", ING_PG_TROUBLE},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '23514'; END $$", ING_PG_REFUSED},
		{"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = 'XX001'; END $$", ING_PG_TROUBLE},
		{"SELECT pg_terminate_backend(pg_backend_pid())", ING_PG_LOST},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		struct ing_pg *pg = NULL;
		check(ing_pg_open(cluster.dsn, -1, 30000, &pg, &err), &err);
		enum ing_pg_rc rc = ing_pg_exec(pg, cases[i].sql, &err);
		if (rc != cases[i].want)
			fail_msg("%s: %d, not %d: %s", cases[i].sql, rc, cases[i].want, err.msg);
		assert_int_equal(err.code == ING_FAIL_NONE, rc == ING_PG_OK);
		/* A COMMIT that the server turns into a ROLLBACK is no commit. */
		if (rc == ING_PG_OK) {
			assert_int_equal(ing_pg_exec(pg, "BEGIN", &err), ING_PG_OK);
			assert_int_equal(ing_pg_exec(pg, "nonsense", NULL), ING_PG_TROUBLE);
			assert_int_equal(ing_pg_commit(pg, &err), ING_PG_TROUBLE);
		}
		ing_pg_close(pg);
	}
}

static void throughput(void **state)
{
	(void)state;
	enum { N = 10000 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	const char *dsn = cluster_database(&cluster);
	migrate(dsn);
	open_bench(&b, dsn, 1000);
	for (unsigned i = 0; i < N; i++)
		fill_entry(&b, &e[i], i);
	uint64_t start = ing_now_ms();
	for (unsigned i = 0; i < N; i++)
		ing_store_put(b.store, &e[i].item);
	wait_done(&b, N);
	uint64_t ms = ING_MAX(ing_now_ms() - start, (uint64_t)1);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.items, N);
	assert_int_equal(number(dsn, "SELECT count(*) FROM pdf_meta"), N);
	assert_in_range(st.cpu_ns, 1, UINT64_MAX);
	print_message(
		"%d items (5 rows each) in %llu ms: %llu items/s, %llu batches, %.1f us of the store "
		"thread's CPU an item\n",
		N, (unsigned long long)ms, (unsigned long long)(N * 1000 / ms),
		(unsigned long long)st.batches, (double)st.cpu_ns / 1e3 / N);
	close_bench(&b);
	free(e);
}

static int start_server(void **state)
{
	(void)state;
	have_server = cluster_start(&cluster);
	return 0;
}

static int stop_server(void **state)
{
	(void)state;
	if (have_server)
		cluster_done(&cluster);
	return 0;
}

static int need_server(void **state)
{
	(void)state;
	if (!have_server)
		skip();
	return 0;
}

#define WITH_SERVER(f) cmocka_unit_test_setup(f, need_server)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_schema_is_made_once),
		WITH_SERVER(a_schema_that_does_not_fit_is_refused),
		WITH_SERVER(migrators_take_turns),
		cmocka_unit_test(an_address_that_is_none_is_refused),
		WITH_SERVER(rows_arrive_in_every_table),
		WITH_SERVER(a_hit_outlives_failures_and_only_them),
		WITH_SERVER(a_pdf_that_crashed_once_keeps_its_facts),
		WITH_SERVER(duplicates_within_a_batch_end_as_if_they_came_one_by_one),
		WITH_SERVER(hostile_values_break_nothing),
		WITH_SERVER(a_refused_row_is_left_out_alone),
		WITH_SERVER(workers_with_the_same_keys_do_not_stop_each_other),
		WITH_SERVER(a_database_that_goes_away_is_waited_for),
		WITH_SERVER(a_connection_lost_between_batches_is_made_again),
		WITH_SERVER(a_connection_lost_while_committing_loses_nothing),
		WITH_SERVER(trouble_in_the_database_is_waited_out),
		WITH_SERVER(a_store_that_waits_can_be_freed),
		WITH_SERVER(a_server_that_does_not_answer_is_lost),
		WITH_SERVER(kinds_of_failure_are_told_apart),
		WITH_SERVER(throughput),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
