/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The server is started once for a test program and shared by its tests, each in a database of its
 * own.
 */
#include "tests/unit/worker/store/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/pg.h"
#include "worker/database/schema.h"
#include "worker/model/status.h"

struct cluster bench_cluster;
static bool have_server;

void bench_check(int rc, const struct ing_error *err)
{
	if (rc != 0)
		fail_msg("%s", err->msg);
}

void bench_migrate(const char *dsn)
{
	struct ing_error err = {0};
	int from;
	int to;
	bench_check(ing_schema_migrate(dsn, &from, &to, &err), &err);
}

void bench_sql(const char *dsn, const char *sql)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	bench_check((int)ing_pg_exec(pg, sql, &err), &err);
	ing_pg_close(pg);
}

long bench_number(const char *dsn, const char *sql)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int64_t n = -1;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	bench_check((int)ing_pg_number(pg, sql, &n, &err), &err);
	ing_pg_close(pg);
	return (long)n;
}

static void nothing(uv_timer_t *t)
{
	(void)t;
}

void bench_open_with(struct bench *b, const struct ing_postgres_settings *conf)
{
	struct ing_error err = {0};
	*b = (struct bench){.dsn = conf->dsn};
	assert_int_equal(uv_loop_init(&b->loop), 0);
	uv_timer_init(&b->loop, &b->tick);
	uv_timer_start(&b->tick, nothing, 5, 5);
	bench_check(ing_store_new(&b->loop, conf, &b->store, &err), &err);
}

void bench_open_for(struct bench *b, const char *dsn, unsigned batch_rows, unsigned batch_ms)
{
	const struct ing_postgres_settings conf = {
		.dsn = dsn, .batch_rows = batch_rows, .batch_ms = batch_ms};
	bench_open_with(b, &conf);
}

void bench_open(struct bench *b, const char *dsn, unsigned batch_rows)
{
	bench_open_for(b, dsn, batch_rows, 10);
}

void bench_close(struct bench *b)
{
	ing_store_free(b->store);
	uv_close((uv_handle_t *)&b->tick, NULL);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&b->loop), 0);
}

void bench_wait(struct bench *b, unsigned want)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (b->done < want && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_int_equal(b->done, want);
}

static void count_done(struct ing_store_item *item)
{
	struct entry *e = (struct entry *)(void *)item;
	e->bench->done++;
}

void bench_fill(struct bench *b, struct entry *e, unsigned i)
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
	snprintf(e->id, sizeof(e->id), "00000000-0000-0000-0000-%012x", i);
	snprintf(e->document, sizeof(e->document), "00000000-0000-0000-0001-%012x", i);
	snprintf(e->doi, sizeof(e->doi), "10.123/A%u", i);
	snprintf(e->doi_lower, sizeof(e->doi_lower), "10.123/a%u", i);
	e->crossref = (struct ing_row_crossref){.doi = e->doi,
		.indexed = "2020-02-29T12:00:00+02:00",
		.record_json = "{\"DOI\": \"10.123/A\"}"};
	e->refs = (struct ing_row_grobid_refs){.source = "crossref",
		.source_id = e->doi_lower,
		.source_ts = "2020-02-29T12:00:00+02:00",
		.refs_json = "[{\"id\": \"1\"}]"};
	e->item = (struct ing_store_item){.done = count_done, .rows = &e->rows};
	e->rows = (struct ing_rows){
		.request = {.present = true,
			.link_source = "doi",
			.link_source_id = e->url + 18,
			.ingest_type = "pdf",
			.base_url = e->url,
			.ingest_request_source = "test",
			.release_stage = "published",
			.request_json = e->json,
			.request_id = e->id,
			.document = e->document,
			.host = "a.example",
			.doi_prefix = "10.123"},
		.result = {.present = true,
			.visits = "{\"came\":\"2026-11-21T11:00:00.123Z\",\"took_ms\":4567,"
				  "\"instance\":\"host@1\",\"lane\":\"bulk\",\"urls\":"
				  "[{\"wait_ms\":1500,\"robots_ms\":400,\"host_ms\":1000,"
				  "\"ms\":120,\"http\":200},{\"via\":\"link\",\"ms\":80,"
				  "\"http\":200}]}",
			.ingest_type = "pdf",
			.base_url = e->url,
			.status = "success",
			.hit = true,
			.terminal_url = e->url,
			.terminal_dt = DT,
			.terminal_sha1hex = e->sha1,
			.terminal_status_code = 200,
			.host = "a.example",
			.document = e->document},
		.file_meta = {.present = true,
			.sha1hex = e->sha1,
			.sha256hex = SHA256,
			.md5hex = MD5,
			.mimetype = "application/pdf",
			.contains = "text/x-tex",
			.size_bytes = 1234567890123},
		.pdf_meta = {.present = true,
			.sha1hex = e->sha1,
			.status = "success",
			.page_count = 3,
			.word_count = 900,
			.page0_height = 841.89,
			.page0_width = 595.28,
			.permanent_id = MD5,
			.update_id = "b" MD5,
			.pdf_created = "2020-02-29T12:00:00+02:00",
			.pdf_version = "1.7",
			.metadata_json = "{\"title\": \"A\"}"},
		.html_meta = {.present = true,
			.sha1hex = e->sha1,
			.status = "success",
			.scope = "article-fulltext",
			.has_teixml = true,
			.word_count = 700,
			.biblio_json = "{\"title\": \"B\"}",
			.resources_json = "[{\"url\": \"https://a.example/x.png\"}]"},
		.grobid = {.present = true,
			.sha1hex = e->sha1,
			.grobid_version = "0.8.2",
			.status_code = 200,
			.status = "success",
			.fatcat_release = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			.metadata_json = "{\"biblio\": {}}"},
		.cdx = &e->cdx,
		.cdx_count = 1,
		.crossref = &e->crossref,
		.crossref_count = 1,
		.grobid_refs = &e->refs,
		.grobid_refs_count = 1,
	};
}

void bench_put_result(struct bench *b, struct entry *e, unsigned i, const char *status)
{
	bench_fill(b, e, i);
	e->rows.result.status = status;
	e->rows.result.hit = strcmp(status, "success") == 0;
	int known = ing_status_from_slug(status);
	e->rows.result.retry_after_s =
		known >= 0 ? ing_status_retry_after_s((enum ing_status)known) : 0;
	ing_store_put(b->store, &e->item);
}

int bench_start(void **state)
{
	(void)state;
	have_server = cluster_start(&bench_cluster);
	return 0;
}

int bench_stop(void **state)
{
	(void)state;
	if (have_server)
		cluster_done(&bench_cluster);
	return 0;
}

int bench_need(void **state)
{
	(void)state;
	if (!have_server)
		skip();
	return 0;
}
