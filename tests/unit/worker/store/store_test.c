/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stands in the tables afterwards, whatever the rows hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/model/limits.h"

static void rows_arrive_in_every_table(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	bench_fill(&b, &e, 7);
	ing_store_put(b.store, &e.item);
	bench_wait(&b, 1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_request WHERE link_source = 'doi' AND link_source_id = '7'"
			" AND ingest_type = 'pdf' AND base_url = 'https://a.example/7'"
			" AND ingest_request_source = 'test' AND release_stage = 'published'"
			" AND request->'ext_ids'->>'doi' = '10.123/7' AND created <= now()"
			" AND request_id = '00000000-0000-0000-0000-000000000007'"
			" AND document = '00000000-0000-0000-0001-000000000007'"
			" AND host = 'a.example' AND doi_prefix = '10.123' AND list_id IS NULL"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_file_result WHERE hit AND status = 'success'"
			" AND terminal_url = base_url AND terminal_dt = '" DT
			"' AND terminal_status_code = 200"
			" AND terminal_sha1hex = lpad('7', 40, '0') AND updated <= now()"
			" AND visits->'urls'->1->>'via' = 'link'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM file_meta WHERE sha1hex = lpad('7', 40, '0') AND md5hex = '" MD5
			"'"
			" AND sha256hex = '" SHA256 "' AND size_bytes = 1234567890123"
			" AND mimetype = 'application/pdf' AND contains = 'text/x-tex'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM cdx WHERE url = 'https://a.example/7' AND datetime = '" DT
			"'"
			" AND sha1hex = lpad('7', 40, '0') AND cdx_sha1hex = '" SHA1 "'"
			" AND mimetype = 'application/pdf' AND warc_path = 'a.warc.gz' AND warc_csize = 100"
			" AND warc_offset = 1007"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM pdf_meta WHERE status = 'success' AND NOT has_page0_thumbnail"
			" AND page_count = 3 AND word_count = 900 AND page0_height = 841.89::real"
			" AND page0_width = 595.28::real AND permanent_id = '" MD5 "'"
			" AND update_id = 'b" MD5 "'"
			" AND pdf_created = '2020-02-29 10:00:00+00' AND pdf_version = '1.7'"
			" AND metadata->>'title' = 'A'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM html_meta WHERE sha1hex = lpad('7', 40, '0')"
			" AND status = 'success' AND scope = 'article-fulltext' AND has_teixml"
			" AND NOT has_thumbnail AND word_count = 700 AND biblio->>'title' = 'B'"
			" AND resources->0->>'url' = 'https://a.example/x.png' AND updated <= now()"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM grobid WHERE sha1hex = lpad('7', 40, '0')"
			" AND grobid_version = '0.8.2' AND status_code = 200 AND status = 'success'"
			" AND fatcat_release = 'abcdefghijklmnopqrstuvwxyz' AND metadata ? 'biblio'"),
		1);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM crossref_with_refs"
				  " WHERE doi = '10.123/a7' AND record->>'DOI' = '10.123/A'"
				  " AND indexed = '2020-02-29 10:00:00+00'"
				  " AND source_ts = indexed AND refs_json->0->>'id' = '1'"),
		1);
	bench_close(&b);
}

/* With a batch that waits for longer than the test does. */
static void an_urgent_item_does_not_wait_for_a_batch_to_fill(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[3];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open_for(&b, dsn, 100, 10 * WAIT_LIMIT_MS);
	for (unsigned i = 0; i < 3; i++) {
		bench_fill(&b, &e[i], i);
		e[i].item.urgent = i == 2;
		ing_store_put(b.store, &e[i].item);
	}
	bench_wait(&b, 3); /* what waited goes with it */
	bench_close(&b);
}

static void a_hit_outlives_failures_and_only_them(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[4];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	bench_put_result(&b, &e[0], 1, "timeout");
	bench_wait(&b, 1);
	bench_put_result(&b, &e[1], 1, "no-pdf-link"); /* a failure takes over from a failure */
	bench_wait(&b, 2);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_file_result WHERE status = 'no-pdf-link'"
			" AND updated > (SELECT created FROM ingest_request)"),
		1);
	bench_put_result(&b, &e[2], 1, "success");
	bench_wait(&b, 3);
	bench_sql(dsn, "CREATE TABLE before AS SELECT * FROM ingest_file_result");
	bench_put_result(&b, &e[3], 1, "timeout");
	bench_wait(&b, 4);
	assert_int_equal(
		bench_number(
			dsn, "SELECT count(*) FROM ingest_file_result r JOIN before b ON r = b"),
		1);
	/* A later hit takes over, and the moment with it. */
	bench_fill(&b, &e[0], 1);
	e[0].rows.result.terminal_url = "https://b.example/";
	ing_store_put(b.store, &e[0].item);
	bench_wait(&b, 5);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_file_result r, before b"
			" WHERE r.terminal_url = 'https://b.example/' AND r.updated > b.updated"),
		1);
	bench_close(&b);
}

static void a_pdf_that_crashed_once_keeps_its_facts(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	static const char *const steps[] = {"crash", "success", "error-timeout"};
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < 3; i++) {
		bench_fill(&b, &e, 1);
		e.rows.pdf_meta.status = steps[i];
		ing_store_put(b.store, &e.item);
		bench_wait(&b, i + 1);
	}
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM pdf_meta WHERE status = 'success'"), 1);
	bench_close(&b);
}

static void a_page_that_failed_once_keeps_its_facts(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	static const char *const steps[] = {"html-teixml-error", "success", "wrong-scope"};
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < 3; i++) {
		bench_fill(&b, &e, 1);
		e.rows.html_meta.status = steps[i];
		e.rows.html_meta.word_count = i;
		ing_store_put(b.store, &e.item);
		bench_wait(&b, i + 1);
	}
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM html_meta WHERE status = 'success'"
					   " AND word_count = 1 AND scope = 'article-fulltext'"),
		1);
	bench_fill(&b, &e, 1);
	e.rows.html_meta.scope = NULL;
	ing_store_put(b.store, &e.item); /* a later success takes over whole */
	bench_wait(&b, 4);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM html_meta WHERE word_count = 700"
					   " AND scope IS NULL"),
		1);
	bench_close(&b);
}

/* An answer of code 200 that could not be read is no success either. */
static void a_failure_of_grobid_never_replaces_what_it_has_made(void **state)
{
	(void)state;
	static const struct step {
		int code;
		const char *status, *version;
		const char *want; /* grobid_version in the table */
	} steps[] = {
		{-4, "error-timeout", "1", "1"},
		{503, "error", "2", "2"},
		{200, "bad-grobid-xml", "3", "3"},
		{200, "success", "4", "4"},
		{200, "bad-grobid-xml", "5", "4"},
		{500, "error", "6", "4"},
		{200, NULL, "7", "7"}, /* as rows of other programs may have it */
		{200, "success", "8", "8"},
	};
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < ING_ARRAY_LEN(steps); i++) {
		char sql[128];
		bench_fill(&b, &e, 1);
		e.rows.grobid.status_code = steps[i].code;
		e.rows.grobid.status = steps[i].status;
		e.rows.grobid.grobid_version = steps[i].version;
		ing_store_put(b.store, &e.item);
		bench_wait(&b, i + 1);
		snprintf(sql, sizeof(sql),
			"SELECT count(*) FROM grobid WHERE grobid_version = '%s'", steps[i].want);
		assert_int_equal(bench_number(dsn, sql), 1);
	}
	bench_close(&b);
}

static void the_newest_record_of_a_work_stays(void **state)
{
	(void)state;
	static const char *const indexed[] = {"2020-01-02T00:00:00Z", "2020-01-01T00:00:00Z",
		"2020-01-02T01:00:00+01:00", "2021-01-01T00:00:00Z"};
	static const char *const records[] = {"{\"n\":0}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}"};
	static const int want[] = {0, 0, 2, 3};
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < ING_ARRAY_LEN(want); i++) {
		bench_fill(&b, &e, 1);
		e.crossref.indexed = e.refs.source_ts = indexed[i];
		e.crossref.record_json = e.refs.refs_json = records[i];
		ing_store_put(b.store, &e.item);
		bench_wait(&b, i + 1);
		assert_int_equal(
			bench_number(dsn, "SELECT (record->>'n')::int FROM crossref_with_refs"),
			want[i]);
		assert_int_equal(
			bench_number(dsn, "SELECT (refs_json->>'n')::int FROM crossref_with_refs"),
			want[i]);
	}
	/* All of them in one batch end the same. */
	bench_close(&b);
	struct entry many[4];
	bench_sql(dsn, "TRUNCATE crossref, grobid_refs");
	bench_open_for(&b, dsn, 4, WAIT_LIMIT_MS);
	for (unsigned i = 0; i < 4; i++) {
		bench_fill(&b, &many[i], 1);
		many[i].crossref.indexed = many[i].refs.source_ts = indexed[(i + 3) % 4];
		many[i].crossref.record_json = many[i].refs.refs_json = records[(i + 3) % 4];
		ing_store_put(b.store, &many[i].item);
	}
	bench_wait(&b, 4);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM crossref_with_refs"
					   " WHERE record->>'n' = '3' AND refs_json->>'n' = '3'"),
		1);
	bench_close(&b);
}

static void what_an_archive_holds_is_filled_in_once_it_is_known(void **state)
{
	(void)state;
	static const char *const contains[] = {NULL, "text/x-tex", NULL, "text/plain"};
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < ING_ARRAY_LEN(contains); i++) {
		bench_fill(&b, &e, 1);
		e.rows.file_meta.contains = contains[i];
		e.rows.file_meta.mimetype = i == 0 ? "application/gzip" : "application/other";
		ing_store_put(b.store, &e.item);
		bench_wait(&b, i + 1);
		assert_int_equal(bench_number(dsn, "SELECT count(*) FROM file_meta"
						   " WHERE mimetype = 'application/gzip'"),
			1);
		assert_int_equal(
			bench_number(dsn,
				"SELECT count(*) FROM file_meta WHERE contains = 'text/x-tex'"),
			i == 0 ? 0 : 1);
	}
	bench_close(&b);
}

static void duplicates_within_a_batch_end_as_if_they_came_one_by_one(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[6];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open_for(&b, dsn, 6, WAIT_LIMIT_MS); /* all six in one batch */
	bench_put_result(&b, &e[0], 1, "timeout");
	bench_put_result(&b, &e[1], 1, "success");
	bench_put_result(&b, &e[2], 1, "no-pdf-link");
	bench_put_result(&b, &e[3], 2, "timeout");
	bench_put_result(&b, &e[4], 2, "no-pdf-link");
	bench_fill(&b, &e[5], 1); /* same request again, with another body */
	e[5].rows.request.release_stage = "draft";
	e[5].rows.result.terminal_url = "https://b.example/";
	ing_store_put(b.store, &e[5].item);
	bench_wait(&b, 6);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.batches, 1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), 2);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result WHERE hit"
					   " AND terminal_url = 'https://b.example/'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_file_result WHERE status = 'no-pdf-link'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_request WHERE release_stage = 'published'"),
		2);
	bench_close(&b);
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
	const char *dsn = cluster_database(&bench_cluster);
	char *over = noise(ING_MAX_URL_BYTES);
	char *fits = noise(ING_MAX_BASE_URL_BYTES);
	char *id = noise(1000);
	char *slug = noise(100);
	char *terminal = noise(ING_MAX_TERMINAL_URL_BYTES);
	char *long_json = repeat(' ', 1 << 20);
	memcpy(long_json, "{\"a\":\"\\u0000\"", 13);
	long_json[(1 << 20) - 1] = '}';
	bench_migrate(dsn);
	bench_open_for(&b, dsn, 12, WAIT_LIMIT_MS); /* all in one batch */
	for (unsigned i = 0; i < 12; i++)
		bench_fill(&b, &e[i], i);
	e[0].rows.result.base_url = e[0].rows.request.base_url = over;
	e[1].rows.result.terminal_url = e[1].cdx.url = over;
	e[2].rows.request = (struct ing_row_request){.present = true,
		.link_source = slug,
		.link_source_id = id,
		.ingest_type = "pdf",
		.base_url = fits};
	e[2].rows.result.terminal_url = e[2].cdx.url = terminal;
	e[2].rows.result.base_url = fits;
	e[3].rows.request.base_url = e[3].rows.result.base_url = "bad \xff\xfe utf-8 \xed\xa0\x80";
	e[4].rows.request.base_url = e[4].rows.result.base_url =
		"tab\t newline\n cr\r back\\slash \\. \\N \x01";
	e[5].rows.request.request_json =
		"{\"nul\":\"a\\u0000b\",\"n\":1e400000,\"hi\":\"\\ud800\",\"\\u0000\":\"\xff\"}";
	e[6].rows.file_meta.sha256hex = "short";
	e[6].rows.file_meta.size_bytes = UINT64_MAX;
	e[6].rows.file_meta.mimetype = "";
	e[7].rows.pdf_meta.pdf_created = "2021-02-31T00:00:00Z";
	e[7].rows.pdf_meta.page0_height = 1e300;
	e[7].rows.pdf_meta.word_count = 1L << 40;
	e[7].rows.pdf_meta.page_count = -1;
	e[7].rows.pdf_meta.permanent_id = "\xff";
	e[8].rows.request.request_json = long_json;
	e[9].rows.result.terminal_dt = "yesterday";
	e[9].rows.result.terminal_sha1hex = "";
	e[9].rows.result.terminal_status_code = 0;
	e[9].rows.pdf_meta.metadata_json = NULL;
	e[10].rows.request.link_source = NULL;
	e[10].rows.file_meta.sha1hex = "not hex";
	e[1].crossref.doi = over;
	e[3].crossref.doi = "10.1/\xff\\ A\t";
	e[3].rows.html_meta.scope = "\xff";
	e[3].rows.html_meta.biblio_json = e[3].crossref.record_json = "{\"n\\u0000\":1e400000}";
	e[4].rows.html_meta.word_count = -1;
	e[4].rows.html_meta.biblio_json = e[4].rows.html_meta.resources_json = NULL;
	e[4].rows.html_meta.scope = over;
	e[5].rows.grobid.fatcat_release = "short";
	e[5].rows.grobid.grobid_version = over;
	e[5].rows.grobid.metadata_json = "";
	e[5].refs.source_ts = "yesterday";
	e[6].refs.source_id = over;
	e[7].refs.refs_json = NULL;
	e[8].crossref.indexed = "never";
	for (unsigned i = 0; i < 12; i++)
		ing_store_put(b.store, &e[i].item);
	bench_wait(&b, 12);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.refused, 0);
	assert_int_equal(st.batches, 1);
	assert_int_equal(st.items, 12);
	/* 0: request and result; 1: cdx, crossref; 6, 7: refs; 8: crossref; 10: request, file_meta. */
	assert_int_equal(st.skipped, 9);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM html_meta"), 12);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM grobid"), 12);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM crossref"), 10);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM grobid_refs"), 10);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM crossref"
					   " WHERE doi = U&'10.1/\\FFFD\\\\ a\\0009'"),
		1);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM grobid WHERE fatcat_release IS NULL"
				  " AND octet_length(grobid_version) = 200 AND metadata IS NULL"),
		1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), 11);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_request"), 10);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM file_meta"), 11);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM cdx"), 11);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM pdf_meta"), 12);
	assert_int_equal(
		bench_number(
			dsn, "SELECT count(*) FROM ingest_file_result WHERE terminal_url IS NULL"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_file_result"
			" WHERE base_url = 'bad ' || repeat(U&'\\FFFD', 2) || ' utf-8 ' || repeat(U&'\\FFFD', 3)"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_file_result"
			" WHERE base_url = E'tab\\t newline\\n cr\\r back\\\\slash \\\\. \\\\N \\x01'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM ingest_request WHERE request->>'nul' = U&'a\\FFFDb'"
			" AND request->>'n' = '1e400000' AND request->>'hi' = U&'\\FFFD'"
			" AND request->>U&'\\FFFD' = U&'\\FFFD'"),
		1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM pdf_meta WHERE pdf_created IS NULL AND"
			" page0_height IS NULL AND word_count IS NULL AND page_count IS NULL"
			" AND permanent_id = U&'\\FFFD'"),
		1);
	bench_close(&b);
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
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	/* Stands for whatever the cleaning has not thought of. */
	bench_sql(dsn, "ALTER TABLE ingest_file_result ADD CHECK (base_url NOT LIKE '%/77'),"
		       " ADD CHECK (base_url NOT LIKE '%/130');"
		       "ALTER TABLE pdf_meta ADD CHECK (sha1hex <> '"
		       "0000000000000000000000000000000000000082"
		       "')");
	bench_open(&b, dsn, N);
	for (unsigned i = 0; i < N; i++) {
		bench_fill(&b, &e[i], i);
		ing_store_put(b.store, &e[i].item);
	}
	bench_wait(&b, N);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.refused, 3);
	assert_false(ing_store_blocked(b.store));
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), N - 2);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM pdf_meta"), N - 1); /* 0x82 is 130 */
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_request"), N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM file_meta"), N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM cdx"), N);
	bench_close(&b);
	free(e);
}

static void workers_with_the_same_keys_do_not_stop_each_other(void **state)
{
	(void)state;
	enum { N = 2000 };
	struct bench b[2];
	struct entry *e = ing_alloc(2 * N * sizeof(*e));
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b[0], dsn, 100);
	bench_open(&b[1], dsn, 100);
	for (unsigned i = 0; i < N; i++) {
		bench_fill(&b[0], &e[i], i % 150);
		bench_fill(&b[1], &e[N + i], 149 - i % 150);
		ing_store_put(b[0].store, &e[i].item);
		ing_store_put(b[1].store, &e[N + i].item);
	}
	bench_wait(&b[0], N);
	bench_wait(&b[1], N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), 150);
	assert_int_equal(bench_number(dsn, "SELECT deadlocks FROM pg_stat_database"
					   " WHERE datname = current_database()"),
		0);
	bench_close(&b[0]);
	bench_close(&b[1]);
	free(e);
}

static void throughput(void **state)
{
	(void)state;
	enum { N = 10000 };
	struct bench b;
	struct entry *e = ing_alloc(N * sizeof(*e));
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 1000);
	for (unsigned i = 0; i < N; i++)
		bench_fill(&b, &e[i], i);
	uint64_t start = ing_now_ms();
	for (unsigned i = 0; i < N; i++)
		ing_store_put(b.store, &e[i].item);
	bench_wait(&b, N);
	uint64_t ms = ING_MAX(ing_now_ms() - start, (uint64_t)1);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.items, N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM pdf_meta"), N);
	assert_in_range(st.cpu_ns, 1, UINT64_MAX);
	print_message(
		"%d items (9 rows each) in %llu ms: %llu items/s, %llu batches, %.1f us of the store "
		"thread's CPU an item\n",
		N, (unsigned long long)ms, (unsigned long long)(N * 1000 / ms),
		(unsigned long long)st.batches, (double)st.cpu_ns / 1e3 / N);
	bench_close(&b);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(rows_arrive_in_every_table),
		WITH_SERVER(an_urgent_item_does_not_wait_for_a_batch_to_fill),
		WITH_SERVER(a_hit_outlives_failures_and_only_them),
		WITH_SERVER(a_pdf_that_crashed_once_keeps_its_facts),
		WITH_SERVER(a_page_that_failed_once_keeps_its_facts),
		WITH_SERVER(a_failure_of_grobid_never_replaces_what_it_has_made),
		WITH_SERVER(the_newest_record_of_a_work_stays),
		WITH_SERVER(what_an_archive_holds_is_filled_in_once_it_is_known),
		WITH_SERVER(duplicates_within_a_batch_end_as_if_they_came_one_by_one),
		WITH_SERVER(hostile_values_break_nothing),
		WITH_SERVER(a_refused_row_is_left_out_alone),
		WITH_SERVER(workers_with_the_same_keys_do_not_stop_each_other),
		WITH_SERVER(throughput),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
