/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is read back of rows that the store has written, and that a question waits for its answer
 * however long, and costs nothing once it is taken back.
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
#include "worker/store/lookup/lookup.h"

struct asked {
	struct bench *b;
	unsigned answers; /* callbacks */
	bool found;
	uint64_t age_ms;
	char words[2048];
};

static struct ing_lookup *open_lookup(struct bench *b, const char *dsn)
{
	struct ing_lookup *l = NULL;
	struct ing_error err = {0};
	bench_check(ing_lookup_new(&b->loop,
			    &(struct ing_postgres_settings){.dsn = dsn, .statement_ms = 5000}, &l,
			    &err),
		&err);
	return l;
}

static const char *or_none(const char *s)
{
	return s != NULL ? s : "-";
}

static void on_answer(void *ctx, const struct ing_earlier_result *r)
{
	struct asked *a = ctx;
	a->answers++;
	a->found = r != NULL;
	a->b->done++;
	if (r == NULL)
		return;
	const struct ing_row_result *result = &r->rows.result;
	const struct ing_row_file_meta *file = &r->rows.file_meta;
	const struct ing_row_pdf_meta *pdf = &r->rows.pdf_meta;
	a->age_ms = r->age_ms;
	assert_int_equal(strlen(r->updated), 20);
	assert_true(result->present);
	int n = snprintf(a->words, sizeof(a->words), "%s %s %d %s %s %s %d %s\n",
		result->ingest_type, result->base_url, result->hit, result->status,
		or_none(result->terminal_url), or_none(result->terminal_dt),
		result->terminal_status_code, or_none(result->terminal_sha1hex));
	if (file->present)
		n += snprintf(a->words + n, sizeof(a->words) - (size_t)n,
			"file %s %s %s %s %s %llu\n", file->sha1hex, file->sha256hex, file->md5hex,
			file->mimetype, or_none(file->contains),
			(unsigned long long)file->size_bytes);
	if (r->rows.cdx_count > 0) {
		const struct ing_row_cdx *cdx = &r->rows.cdx[0];
		n += snprintf(a->words + n, sizeof(a->words) - (size_t)n,
			"cdx %s %s %s %s %s %s %llu %llu\n", cdx->url, cdx->datetime, cdx->sha1hex,
			or_none(cdx->cdx_sha1hex), cdx->mimetype, cdx->warc_path,
			(unsigned long long)cdx->warc_csize, (unsigned long long)cdx->warc_offset);
	}
	if (pdf->present)
		n += snprintf(a->words + n, sizeof(a->words) - (size_t)n,
			"pdf %s %s %d %d %ld %.2f %.2f %s %s %s %s %s\n", pdf->sha1hex, pdf->status,
			pdf->has_page0_thumbnail, pdf->page_count, pdf->word_count,
			pdf->page0_height, pdf->page0_width, or_none(pdf->permanent_id),
			or_none(pdf->update_id), or_none(pdf->pdf_created),
			or_none(pdf->pdf_version), or_none(pdf->metadata_json));
	const struct ing_row_html_meta *html = &r->rows.html_meta;
	if (html->present)
		n += snprintf(a->words + n, sizeof(a->words) - (size_t)n,
			"html %s %s %s %d %ld %s %s\n", html->sha1hex, html->status,
			or_none(html->scope), html->has_teixml, html->word_count,
			or_none(html->biblio_json), or_none(html->resources_json));
	const struct ing_row_grobid *grobid = &r->rows.grobid;
	if (grobid->present)
		snprintf(a->words + n, sizeof(a->words) - (size_t)n, "grobid %s %s %d %s %s %s\n",
			grobid->sha1hex, or_none(grobid->grobid_version), grobid->status_code,
			or_none(grobid->status), or_none(grobid->fatcat_release),
			or_none(grobid->metadata_json));
}

static void ask(struct asked *a, struct bench *b, struct ing_lookup *l, const char *url)
{
	*a = (struct asked){.b = b};
	ing_lookup_result(l, "pdf", url, on_answer, a);
}

#define SHA1_OF_7 "0000000000000000000000000000000000000007"

static void all_rows_of_a_hit_come_back(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	struct asked a;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_put_result(&b, &e, 7, "success");
	bench_wait(&b, 1);
	ask(&a, &b, l, "https://a.example/7");
	bench_wait(&b, 2);
	assert_true(a.found);
	assert_in_range(a.age_ms, 0, WAIT_LIMIT_MS);
	assert_string_equal(a.words,
		"pdf https://a.example/7 1 success https://a.example/7 " DT " 200 " SHA1_OF_7 "\n"
		"file " SHA1_OF_7 " " SHA256 " " MD5 " application/pdf text/x-tex 1234567890123\n"
		"cdx https://a.example/7 " DT " " SHA1_OF_7 " " SHA1
		" application/pdf a.warc.gz 100 1007\n"
		"pdf " SHA1_OF_7 " success 0 3 900 841.89 595.28 " MD5 " b" MD5
		" 2020-02-29T10:00:00Z 1.7 {\"title\": \"A\"}\n"
		"html " SHA1_OF_7 " success article-fulltext 1 700 {\"title\": \"B\"}"
		" [{\"url\": \"https://a.example/x.png\"}]\n"
		"grobid " SHA1_OF_7
		" 0.8.2 200 success abcdefghijklmnopqrstuvwxyz {\"biblio\": {}}\n");
	bench_sql(dsn, "UPDATE ingest_file_result SET updated = now() - interval '2 days'");
	ask(&a, &b, l, "https://a.example/7");
	bench_wait(&b, 3);
	assert_in_range(a.age_ms, 172800000, 172800000 + WAIT_LIMIT_MS);
	ing_lookup_free(l);
	bench_close(&b);
}

static void what_is_not_there_is_not_told(void **state)
{
	(void)state;
	struct bench b;
	struct asked a[4];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_sql(dsn, "INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		       " VALUES ('pdf', 'https://a.example/{\"\\,}', false, 'connect-error'),"
		       " ('html', 'https://a.example/html', true, 'success')");
	ask(&a[0], &b, l, "https://a.example/none");
	ask(&a[1], &b, l, "https://a.example/{\"\\,}");
	ask(&a[2], &b, l, "https://a.example/html"); /* of another type */
	ask(&a[3], &b, l, "");
	bench_wait(&b, 4);
	assert_false(a[0].found || a[2].found || a[3].found);
	assert_string_equal(a[1].words, "pdf https://a.example/{\"\\,} 0 connect-error - - 0 -\n");
	ing_lookup_free(l);
	bench_close(&b);
}

static void each_of_many_gets_its_own_answer(void **state)
{
	(void)state;
	enum { COUNT = 1700 };
	struct bench b;
	const char *dsn = cluster_database(&bench_cluster);
	struct asked *a = ing_alloc(COUNT * sizeof(*a));
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_sql(dsn, "INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		       " SELECT 'pdf', 'https://a.example/' || n, false, 's' || n"
		       " FROM generate_series(0, 1699, 2) n");
	for (int i = 0; i < COUNT; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://a.example/%d", i);
		ask(&a[i], &b, l, url);
	}
	bench_wait(&b, COUNT);
	for (int i = 0; i < COUNT; i++) {
		char want[128];
		snprintf(want, sizeof(want), "pdf https://a.example/%d 0 s%d - - 0 -\n", i, i);
		assert_int_equal(a[i].answers, 1);
		assert_int_equal(a[i].found, i % 2 == 0);
		if (a[i].found)
			assert_string_equal(a[i].words, want);
	}
	struct ing_lookup_stats s = {0};
	ing_lookup_stats(l, &s);
	assert_int_equal(s.asked, COUNT);
	assert_int_equal(s.found, COUNT / 2);
	assert_in_range(s.batches, 4, COUNT / 4);
	ing_lookup_free(l);
	bench_close(&b);
	free(a);
}

/* --- what GROBID has made --- */

struct read_by_grobid {
	struct bench *b;
	unsigned answers;
	bool found;
	uint64_t age_ms;
	int status_code;
	char version[32];
};

static void on_grobid(void *ctx, const struct ing_row_grobid *row, uint64_t age_ms)
{
	struct read_by_grobid *g = ctx;
	g->answers++;
	g->b->done++;
	g->found = row != NULL;
	g->age_ms = age_ms;
	if (row == NULL)
		return;
	g->status_code = row->status_code;
	snprintf(g->version, sizeof(g->version), "%s", row->grobid_version);
}

static void what_grobid_has_made_of_a_document_comes_with_its_age(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	struct read_by_grobid g[2] = {{.b = &b}, {.b = &b}};
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_put_result(&b, &e, 7, "success");
	bench_wait(&b, 1);
	bench_sql(dsn, "UPDATE grobid SET updated = now() - interval '2 days', status_code = -4");
	assert_non_null(ing_lookup_grobid(l, SHA1_OF_7, on_grobid, &g[0]));
	assert_non_null(ing_lookup_grobid(l, SHA1, on_grobid, &g[1]));
	bench_wait(&b, 3);
	assert_true(g[0].found);
	assert_in_range(g[0].age_ms, 172800000, 172800000 + WAIT_LIMIT_MS);
	assert_int_equal(g[0].status_code, -4);
	assert_string_equal(g[0].version, "0.8.2");
	assert_int_equal(g[1].answers, 1);
	assert_false(g[1].found);
	ing_lookup_free(l);
	bench_close(&b);
}

/* --- captures --- */

struct captured {
	struct bench *b;
	unsigned answers;
	char words[2048];
};

static void on_captures(void *ctx, const struct ing_row_cdx *rows, size_t count)
{
	struct captured *c = ctx;
	c->answers++;
	c->b->done++;
	int n = 0;
	c->words[0] = '\0';
	for (size_t i = 0; i < count; i++)
		n += snprintf(c->words + n, sizeof(c->words) - (size_t)n,
			"%s %s %s %s %s %s %llu %llu %s %s\n", rows[i].url, rows[i].datetime,
			rows[i].sha1hex, or_none(rows[i].cdx_sha1hex), or_none(rows[i].mimetype),
			rows[i].warc_path, (unsigned long long)rows[i].warc_csize,
			(unsigned long long)rows[i].warc_offset, rows[i].record_id,
			rows[i].record_date);
}

#define RECORD_ID "01234567-89ab-4def-8123-456789abcdef"
#define RECORD_DATE "2026-11-21T11:00:00.123456Z"

static void the_captures_of_a_url_are_those_that_can_be_referred_to(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	struct captured c = {.b = &b};
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_fill(&b, &e, 7);
	e.cdx.record_id = RECORD_ID;
	e.cdx.record_date = RECORD_DATE;
	ing_store_put(b.store, &e.item);
	bench_wait(&b, 1);
	/* Later ones: a revisit, one from before records had names, one without a file. */
	bench_sql(dsn,
		"INSERT INTO cdx (url, datetime, sha1hex, mimetype, warc_path, warc_record_id, warc_date)"
		" SELECT url, (20261122110000 + n)::text, sha1hex,"
		" CASE n WHEN 1 THEN 'warc/revisit' END, CASE n WHEN 2 THEN NULL ELSE 'b.warc.gz' END,"
		" CASE n WHEN 3 THEN NULL ELSE warc_record_id END, warc_date"
		" FROM cdx, generate_series(1, 3) n");
	assert_non_null(ing_lookup_captures(l, "https://a.example/7", on_captures, &c));
	bench_wait(&b, 2);
	assert_string_equal(c.words,
		"https://a.example/7 " DT " " SHA1_OF_7 " " SHA1
		" application/pdf a.warc.gz 100 1007 " RECORD_ID " " RECORD_DATE "\n");
	assert_non_null(ing_lookup_captures(l, "https://a.example/", on_captures, &c));
	bench_wait(&b, 3);
	assert_string_equal(c.words, "");
	/* The newest few. */
	bench_sql(dsn,
		"INSERT INTO cdx (url, datetime, sha1hex, warc_path, warc_csize, warc_offset,"
		" warc_record_id, warc_date)"
		" SELECT url, (20261123110000 + n)::text, sha1hex, 'c.warc.gz', 1, n, warc_record_id,"
		" warc_date FROM cdx, generate_series(1, 9) n WHERE datetime = '" DT "'");
	assert_non_null(ing_lookup_captures(l, "https://a.example/7", on_captures, &c));
	bench_wait(&b, 4);
	const char *at = c.words;
	for (int i = 9; i > 9 - ING_LOOKUP_CAPTURES; i--) {
		char want[128];
		snprintf(want, sizeof(want), "https://a.example/7 %lld ", 20261123110000LL + i);
		assert_memory_equal(at, want, strlen(want));
		at = strchr(at, '\n') + 1;
	}
	assert_string_equal(at, "");
	ing_lookup_free(l);
	bench_close(&b);
}

static void questions_of_all_kinds_go_together(void **state)
{
	(void)state;
	enum { COUNT = 1300 };
	struct bench b;
	struct asked a = {.b = &b};
	struct captured c = {.b = &b};
	struct read_by_grobid g = {.b = &b};
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	for (int i = 0; i < COUNT; i++) {
		ing_lookup_result(l, "pdf", "https://a.example/", on_answer, &a);
		assert_non_null(ing_lookup_captures(l, "https://a.example/", on_captures, &c));
		assert_non_null(ing_lookup_grobid(l, SHA1, on_grobid, &g));
	}
	bench_wait(&b, 3 * COUNT);
	assert_int_equal(g.answers, COUNT);
	assert_int_equal(a.answers, COUNT);
	assert_int_equal(c.answers, COUNT);
	ing_lookup_free(l);
	bench_close(&b);
}

static void one_that_was_taken_back_is_not_answered(void **state)
{
	(void)state;
	struct bench b;
	struct asked kept;
	struct asked dropped = {.b = &b};
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	struct ing_lookup_question *q =
		ing_lookup_result(l, "pdf", "https://a.example/", on_answer, &dropped);
	ing_lookup_cancel(q);
	ing_lookup_cancel(NULL);
	ask(&kept, &b, l, "https://a.example/");
	bench_wait(&b, 1);
	assert_int_equal(kept.answers, 1);
	assert_int_equal(dropped.answers, 0);
	/* Freed with questions on their way in both directions. */
	for (int i = 0; i < 100; i++)
		ing_lookup_result(l, "pdf", "https://a.example/", on_answer, &dropped);
	ing_lookup_free(l);
	assert_int_equal(dropped.answers, 0);
	bench_close(&b);
}

static void questions_wait_for_the_database_and_are_bounded(void **state)
{
	(void)state;
	struct bench b;
	struct asked a;
	if (!bench_cluster.own)
		skip();
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_sql(dsn, "INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		       " VALUES ('pdf', 'https://a.example/', false, 'no-pdf-link')");
	cluster_stop(&bench_cluster);
	struct captured c = {.b = &b};
	struct read_by_grobid g = {.b = &b};
	/* These are not worth waiting for: there is an answer at once, or, if the loss of the connection is known
	 * already, no question. */
	unsigned asked = ing_lookup_captures(l, "https://a.example/", on_captures, &c) != NULL;
	asked += ing_lookup_grobid(l, SHA1, on_grobid, &g) != NULL;
	assert_true(asked == 2 || ing_lookup_blocked(l));
	ask(&a, &b, l, "https://a.example/");
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (c.answers + g.answers < asked && ing_now_ms() < until)
		uv_run(&b.loop, UV_RUN_ONCE);
	assert_true(ing_lookup_blocked(l));
	assert_int_equal(a.answers, 0);
	assert_int_equal(c.answers + g.answers, asked);
	assert_false(g.found);
	assert_null(ing_lookup_grobid(l, SHA1, on_grobid, &g));
	assert_string_equal(c.words, "");
	assert_null(ing_lookup_captures(l, "https://a.example/", on_captures, &c));
	unsigned waiting = 1;
	for (; !ing_lookup_is_full(l); waiting++)
		ing_lookup_result(l, "pdf", "https://b.example/", on_answer, &a);
	assert_in_range(waiting, 1000, 100000);
	cluster_resume(&bench_cluster);
	bench_wait(&b, waiting + asked);
	assert_int_equal(a.answers, waiting);
	assert_int_equal(c.answers + g.answers, asked);
	assert_string_equal(a.words, "pdf https://a.example/ 0 no-pdf-link - - 0 -\n");
	assert_false(ing_lookup_blocked(l) || ing_lookup_is_full(l));
	ing_lookup_free(l);
	bench_close(&b);
}

static void a_schema_of_another_version_is_refused(void **state)
{
	(void)state;
	struct bench b;
	struct ing_lookup *l = NULL;
	struct ing_error err = {0};
	const char *dsn = cluster_database(&bench_cluster); /* empty */
	assert_int_equal(uv_loop_init(&b.loop), 0);
	assert_int_equal(
		ing_lookup_new(&b.loop, &(struct ing_postgres_settings){.dsn = dsn}, &l, &err),
		-ING_FAIL_INVALID);
	assert_int_equal(uv_loop_close(&b.loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(all_rows_of_a_hit_come_back),
		WITH_SERVER(what_is_not_there_is_not_told),
		WITH_SERVER(each_of_many_gets_its_own_answer),
		WITH_SERVER(what_grobid_has_made_of_a_document_comes_with_its_age),
		WITH_SERVER(the_captures_of_a_url_are_those_that_can_be_referred_to),
		WITH_SERVER(questions_of_all_kinds_go_together),
		WITH_SERVER(one_that_was_taken_back_is_not_answered),
		WITH_SERVER(questions_wait_for_the_database_and_are_bounded),
		WITH_SERVER(a_schema_of_another_version_is_refused),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
