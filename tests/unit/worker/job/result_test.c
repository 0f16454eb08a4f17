/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results as JSON and rows: what is there in which case, hostile text, and what happens when it
 * does not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/record/cdx.h"
#include "worker/job/job.h"
#include "worker/job/result.h"
#include "worker/visit/originals.h"
#include "worker/job/result_short.h"

static const char request[] =
	"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\","
	"\"link_source\":\"doi\",\"link_source_id\":\"10.1/x\",\"rel\":\"publisher\","
	"\"seen\":1668643200.123456}";

/* A job whose chain reached a PDF after one landing page. */
static struct ing_job *finished_job_of(const char *message)
{
	struct ing_job *job = ing_alloc(sizeof(*job));
	struct ing_work *w = ing_alloc(sizeof(*w));
	struct ing_error err = {0};
	job->work = w;
	ing_arena_init(&w->ar);
	assert_int_equal(ing_request_parse(message, strlen(message), &w->request, &err), 0);
	static struct ing_visit_step hops[2];
	memset(hops, 0, sizeof(hops));
	hops[0] = (struct ing_visit_step){.next = &hops[1],
		.url = "https://a.example/",
		.answered = true,
		.capture = {
			.url = "https://a.example/", .http_status = 200, .mimetype = "text/html"}};
	hops[1] = (struct ing_visit_step){.url = "https://a.example/p.pdf",
		.answered = true,
		.capture = {.url = "https://a.example/p.pdf",
			.http_status = 200,
			.mimetype = "application/pdf"}};
	for (size_t i = 0; i < 2; i++) {
		memcpy(hops[i].capture.datetime, "20261121110000", sizeof("20261121110000"));
		/* SHA-1 of nothing, in base 32 */
		hops[i].capture.archive = (struct ing_archive_item){.warc_name = "T-1.warc.gz",
			.payload_sha1b32 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
			.offset = 100 + i,
			.csize = 10};
	}
	hops[1].capture.coded = true;
	hops[1].capture.body_sha1hex = "aa00000000000000000000000000000000000000";
	w->steps = (struct ing_visit_steps){.first = &hops[0], .last = &hops[1], .count = 2};
	w->terminal = &hops[1];
	w->job = job;
	w->status = ING_STATUS_SUCCESS;
	w->document_found = true;
	struct ing_artifact *a = &w->artifact;
	a->saw_page = true;
	a->file = (struct ing_file_meta){.size_bytes = 7,
		.mimetype = "application/pdf",
		.sha1hex = "aa00000000000000000000000000000000000000"};
	a->link.url = ing_strdup("https://a.example/p.pdf");
	a->link.technique = ing_strdup("a bad \xff byte");
	a->link.stage = ing_strdup("published");
	a->platform = ing_strdup("ojs3");
	a->scope = ing_strdup("landingpage");
	a->biblio = json_pack(
		"{s:s, s:s, s:[s]}", "title", "T", "abstract", "A", "raw_references", "R");
	a->pdf = (struct ing_pdf){.status = ing_strdup("success"),
		.info_json = ing_strdup("{\"Title\":\"T\"}"),
		.meta_xml = ing_strdup("<x/>"),
		.page_count = 3,
		.page0_width = 612,
		.page0_height = 792,
		.word_count = 1};
	ing_derived_set(&a->derived[ING_DERIVED_PDF_TEXT], ing_strdup("words"), 5);
	return job;
}

static struct ing_job *finished_job(void)
{
	return finished_job_of(request);
}

static void free_finished(struct ing_job *job)
{
	ing_request_free(job->work->request);
	ing_artifact_done(&job->work->artifact);
	ing_arena_done(&job->work->ar);
	free(job->work);
	free(job);
}

static json_t *result_of(struct ing_job *job, size_t max_bytes)
{
	size_t bytes;
	char *s = ing_result_json(job, &(struct ing_rows){0}, max_bytes, &bytes);
	assert_int_equal(strlen(s), bytes);
	assert_true(bytes <= max_bytes);
	json_t *o = json_loads(s, 0, NULL);
	assert_non_null(o);
	free(s);
	return o;
}

static const char *string_at(json_t *o, const char *a, const char *b)
{
	json_t *v = json_object_get(o, a);
	return json_string_value(b != NULL ? json_object_get(v, b) : v);
}

/* A dictionary that no PDF has, and that takes the loop's time to read. */
static void an_info_dictionary_is_small_and_flat(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct ing_job *job = finished_job();
		struct ing_buf b;
		ing_buf_init(&b, 1 << 20);
		ing_buf_add_str(&b, "{\"Title\":\"T\"");
		for (int k = 0; k < 150 && way == 0; k++)
			ing_buf_printf(&b, ",\"%d\":\"x\"", k);
		ing_buf_add_str(&b, way == 0 ? "}" : ",\"x\":{}}");
		free(job->work->artifact.pdf.info_json);
		job->work->artifact.pdf.info_json = ing_buf_steal(&b);
		json_t *o = result_of(job, 1 << 20);
		json_t *info = json_object_get(json_object_get(o, "pdf_meta"), "pdf_info");
		assert_int_equal(json_object_size(info), 0);
		assert_true(json_is_object(info));
		json_decref(o);
		free_finished(job);
	}
}

static void a_success_has_everything(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	json_t *o = result_of(job, 1 << 20);
	assert_true(json_is_true(json_object_get(o, "hit")));
	assert_string_equal(string_at(o, "status", NULL), "success");
	assert_string_equal(string_at(o, "terminal", "terminal_url"), "https://a.example/p.pdf");
	assert_string_equal(
		string_at(o, "extract_next_hop", "technique"), "a bad \xef\xbf\xbd byte");
	assert_string_equal(string_at(o, "extract_next_hop", "release_stage"), "published");
	assert_string_equal(string_at(o, "platform", NULL), "ojs3");
	assert_string_equal(string_at(o, "scope", NULL), "landingpage");
	assert_string_equal(string_at(o, "cdx", "surt"), "example,a)/p.pdf");
	assert_string_equal(
		string_at(o, "cdx", "sha1hex"), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(string_at(o, "html_biblio", "title"), "T");
	assert_string_equal(string_at(json_object_get(o, "pdf_meta"), "pdf_info", "Title"), "T");
	assert_true(json_is_null(json_object_get(json_object_get(o, "pdf_meta"), "text")));
	/* What we do not know comes out as it came in, to the last digit. */
	assert_true(json_real_value(json_object_get(json_object_get(o, "request"), "seen")) ==
		    1668643200.123456);
	json_decref(o);
	free_finished(job);
}

static void a_revisit_tells_where_its_body_is(void **state)
{
	(void)state;
	static const struct ing_original original = {
		.record = {.payload_sha1 = {0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32,
				   0x55, 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8, 0x07,
				   0x09}},
		.row = {.url = "https://a.example/p.pdf",
			.datetime = "20261001110000",
			.mimetype = "application/pdf",
			.warc_path = "T-0.warc.gz",
			.warc_csize = 9000,
			.warc_offset = 11},
	};
	struct ing_job *job = finished_job();
	json_t *o = result_of(job, 1 << 20);
	assert_null(json_object_get(o, "revisit_cdx"));
	assert_string_equal(string_at(o, "cdx", "mimetype"), "application/pdf");
	json_decref(o);
	job->work->terminal->capture.original = &original;
	o = result_of(job, 1 << 20);
	assert_string_equal(string_at(o, "cdx", "mimetype"), "warc/revisit");
	assert_string_equal(string_at(o, "cdx", "warc_path"), "T-1.warc.gz");
	json_t *want = json_pack("{s:s,s:s,s:s,s:s,s:i,s:s,s:s,s:i,s:i,s:s}", "surt",
		"example,a)/p.pdf", "datetime", "20261001110000", "url", "https://a.example/p.pdf",
		"mimetype", "application/pdf", "status_code", 200, "sha1b32",
		"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1hex",
		"da39a3ee5e6b4b0d3255bfef95601890afd80709", "warc_csize", 9000, "warc_offset", 11,
		"warc_path", "T-0.warc.gz");
	assert_true(json_equal(json_object_get(o, "revisit_cdx"), want));
	json_decref(want);
	json_decref(o);
	free_finished(job);
}

static void a_failed_chain_has_no_file(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	job->work->status = ING_STATUS_TERMINAL_BAD_STATUS;
	job->work->document_found = false;
	json_t *o = result_of(job, 1 << 20);
	assert_true(json_is_false(json_object_get(o, "hit")));
	assert_null(json_object_get(o, "file_meta"));
	assert_null(json_object_get(o, "cdx"));
	assert_null(json_object_get(json_object_get(o, "terminal"), "terminal_sha1hex"));
	json_decref(o);
	free_finished(job);
}

static void what_was_special_on_the_way_is_said(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	struct ing_work *w = job->work;
	json_t *o = result_of(job, 1 << 20);
	assert_null(json_object_get(o, "retry_after"));
	assert_null(json_object_get(o, "userinfo_dropped"));
	assert_null(json_object_get(o, "tls_unverified"));
	assert_null(json_object_get(o, "needs_browser"));
	json_decref(o);
	w->dropped_userinfo = w->unverified = w->needs_browser = true;
	o = result_of(job, 1 << 20);
	assert_true(json_is_true(json_object_get(o, "userinfo_dropped")));
	assert_true(json_is_true(json_object_get(o, "tls_unverified")));
	assert_true(json_is_true(json_object_get(o, "needs_browser")));
	json_decref(o);
	w->status = ING_STATUS_HOST_BACKOFF;
	w->retry_after_s = 90;
	w->document_found = false;
	o = result_of(job, 1 << 20);
	assert_int_equal(json_integer_value(json_object_get(o, "retry_after")), 90);
	json_decref(o);
	free_finished(job);
}

/* The echoed request is the request; nothing else repeats a password. */
static void passwords_of_urls_are_masked(void **state)
{
	(void)state;
	static const char message[] =
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://me:hush@a.example/\","
		"\"link_source\":\"hush://me:hush@a\",\"link_source_id\":\"https:me:hush@a.example\","
		"\"ingest_request_source\":\"http://me:hush@x\","
		"\"ext_ids\":{\"doi\":\"10.1/x\"},\"fatcat\":{\"release_ident\":\"http://hush@x\"},"
		"\"edit_extra\":{\"http://hush@x\":[1,{\"at\":\"see http://me:hush@x, or ask a@b\"}]}}";
	struct ing_job *job = finished_job_of(message);
	struct ing_work *w = job->work;
	w->status = ING_STATUS_LINK_LOOP;
	w->error_message = ing_arena_strdup(&w->ar, "http://me:hush@b.example/: a rule's words");
	free(w->artifact.link.url);
	w->artifact.link.url = ing_strdup("https://me:hush@b.example/p.pdf");
	json_object_set_new(
		w->artifact.biblio, "html_fulltext_url", json_string("https://me:hush@c.example/"));
	free(w->artifact.pdf.info_json);
	w->artifact.pdf.info_json = ing_strdup("{\"Title\":\"http://me:hush@x\"}");
	free(w->artifact.pdf.meta_xml);
	w->artifact.pdf.meta_xml = ing_strdup("<x>http://me:hush@x</x>");
	json_t *o = result_of(job, 1 << 20);
	assert_string_equal(string_at(o, "request", "base_url"), "https://me:hush@a.example/");
	assert_string_equal(string_at(o, "pdf_meta", "meta_xml"), "<x>http://***@x</x>");
	json_object_del(o, "request");
	assert_string_equal(
		string_at(o, "error_message", NULL), "http://***@b.example/: a rule's words");
	assert_string_equal(string_at(o, "extract_next_hop", "url"), "https://***@b.example/p.pdf");
	assert_string_equal(
		string_at(o, "html_biblio", "html_fulltext_url"), "https://***@c.example/");
	char *s = json_dumps(o, 0);
	assert_null(strstr(s, "hush"));
	free(s);
	json_decref(o);
	struct ing_rows rows = {0};
	ing_result_rows(job, &rows);
	assert_string_equal(rows.pdf_meta.metadata_json, "{\"title\":\"http://***@x\"}");
	assert_string_equal(rows.result.base_url, "https://***@a.example/");
	assert_string_equal(rows.result.error_message, "http://***@b.example/: a rule's words");
	assert_int_equal(rows.result.retry_after_s, ing_status_retry_after_s(ING_STATUS_LINK_LOOP));
	assert_string_equal(rows.result.document, rows.request.document);
	assert_string_equal(rows.request.base_url, "https://***@a.example/");
	assert_string_equal(rows.request.link_source, "hush://***@a");
	assert_string_equal(rows.request.link_source_id, "https:***@a.example");
	assert_string_equal(rows.request.ingest_request_source, "http://***@x");
	assert_string_equal(rows.request.request_json,
		"{\"ext_ids\":{\"doi\":\"10.1/x\"},\"fatcat\":{\"release_ident\":\"http://***@x\"},"
		"\"edit_extra\":{\"http://***@x\":[1,{\"at\":\"see http://***@x, or ask a@b\"}]},"
		"\"release_ident\":\"http://***@x\"}");
	free_finished(job);
}

static void what_does_not_fit_loses_the_pdf_details_first(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	json_t *whole = result_of(job, 1 << 20);
	char *s = json_dumps(whole, JSON_COMPACT);
	size_t bytes = strlen(s);
	free(s);
	json_decref(whole);
	json_t *o = result_of(job, bytes - 5);
	assert_string_equal(string_at(o, "status", NULL), "success");
	assert_null(json_object_get(json_object_get(o, "pdf_meta"), "pdf_info"));
	json_decref(o);
	free_finished(job);
}

static size_t result_bytes(json_t *o)
{
	char *s = json_dumps(o, JSON_COMPACT);
	size_t bytes = strlen(s);
	free(s);
	json_decref(o);
	return bytes;
}

/* References, abstract, the whole record; and nothing of it is lost to the job itself. */
static void what_still_does_not_fit_loses_the_pages_words(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	size_t bytes = result_bytes(result_of(job, 1 << 20));
	bytes = result_bytes(result_of(job, bytes - 1)); /* the PDF's */
	json_t *o = result_of(job, bytes - 1);
	json_t *biblio = json_object_get(o, "html_biblio");
	assert_null(json_object_get(biblio, "raw_references"));
	assert_non_null(json_object_get(biblio, "abstract"));
	bytes = result_bytes(o);
	o = result_of(job, bytes - 1);
	assert_int_equal(json_object_size(json_object_get(o, "html_biblio")), 1);
	bytes = result_bytes(o);
	o = result_of(job, bytes - 1);
	assert_null(json_object_get(o, "html_biblio"));
	assert_string_equal(string_at(o, "status", NULL), "success");
	bytes = result_bytes(o);
	o = result_of(job, bytes - 1);
	assert_string_equal(string_at(o, "status", NULL), "result-too-large");
	json_decref(o);
	assert_int_equal(json_object_size(job->work->artifact.biblio), 3);
	free_finished(job);
}

static void what_does_not_fit_at_all_has_its_own_status(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	json_t *o = result_of(job, 400);
	assert_string_equal(string_at(o, "status", NULL), "result-too-large");
	assert_true(json_is_false(json_object_get(o, "hit")));
	assert_string_equal(string_at(o, "request", "base_url"), "https://a.example/");
	assert_string_equal(string_at(o, "request", "link_source_id"), "10.1/x");
	json_decref(o);
	/* However little there is room for, something comes of it. */
	o = result_of(job, 220);
	assert_string_equal(string_at(o, "status", NULL), "result-too-large");
	assert_true(json_is_string(json_object_get(json_object_get(o, "request"), "base_url")));
	json_decref(o);
	struct ing_rows rows = {0};
	ing_result_rows(job, &rows);
	assert_string_equal(rows.result.status, "result-too-large");
	assert_false(rows.result.hit);
	free_finished(job);
}

/* Of a broker that takes less than it said: what is left says which request it was. */
static void a_refused_result_is_shortened_from_its_json(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	size_t bytes;
	size_t short_bytes = 0;
	char *whole = ing_result_json(job, &(struct ing_rows){0}, 1 << 20, &bytes);
	char *s = ing_result_shorten(whole, bytes, bytes - 1, &short_bytes);
	assert_int_equal(strlen(s), short_bytes);
	json_t *o = json_loads(s, 0, NULL);
	assert_string_equal(string_at(o, "status", NULL), "result-too-large");
	assert_true(json_is_false(json_object_get(o, "hit")));
	assert_string_equal(string_at(o, "request", "base_url"), "https://a.example/");
	assert_string_equal(string_at(o, "request", "link_source_id"), "10.1/x");
	assert_null(json_object_get(o, "file_meta"));
	json_decref(o);
	/* No shorter one can be made, or it is no result. */
	static const char *const none[] = {"", "{", "[]", "{}", "{\"request\":1}"};
	for (size_t i = 0; i < ING_ARRAY_LEN(none); i++)
		assert_null(ing_result_shorten(none[i], strlen(none[i]), 1000, &bytes));
	assert_null(ing_result_shorten(s, short_bytes, 100, &bytes));
	free(s);
	free(whole);
	free_finished(job);
}

static void a_text_that_does_not_fit_is_said_in_pdf_meta(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	size_t bytes;
	json_t *source = ing_result_source(job->work);
	assert_non_null(source);
	assert_null(ing_result_side_message(job, ING_DERIVED_PDF_TEXT, source, 10, &bytes));
	json_decref(source);
	/* The object store takes it. */
	assert_non_null(job->work->artifact.derived[ING_DERIVED_PDF_TEXT].data);
	json_t *o = result_of(job, 1 << 20);
	assert_string_equal(string_at(o, "pdf_meta", "status"), "text-too-large");
	assert_string_equal(string_at(o, "status", NULL), "success");
	json_decref(o);
	free_finished(job);
}

static void rows_tell_the_body_from_the_bytes_on_the_wire(void **state)
{
	(void)state;
	struct ing_job *job = finished_job();
	struct ing_rows rows = {0};
	ing_result_rows(job, &rows);
	assert_true(rows.request.present && rows.result.present && rows.file_meta.present);
	assert_null(rows.result.error_message);
	assert_int_equal(rows.result.retry_after_s, 0);
	assert_non_null(rows.result.host);
	assert_int_equal(rows.cdx_count, 2);
	/* The landing page was not looked into in this made-up job: its digest is the wire's. */
	assert_null(rows.cdx[0].cdx_sha1hex);
	assert_string_equal(rows.cdx[0].sha1hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(rows.cdx[1].sha1hex, "aa00000000000000000000000000000000000000");
	assert_string_equal(rows.cdx[1].cdx_sha1hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	json_t *kept = json_loads(rows.request.request_json, 0, NULL);
	assert_string_equal(string_at(kept, "rel", NULL), "publisher");
	json_decref(kept);
	json_t *meta = json_loads(rows.pdf_meta.metadata_json, 0, NULL);
	assert_string_equal(string_at(meta, "title", NULL), "T");
	json_decref(meta);
	free_finished(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_success_has_everything),
		cmocka_unit_test(an_info_dictionary_is_small_and_flat),
		cmocka_unit_test(a_revisit_tells_where_its_body_is),
		cmocka_unit_test(a_failed_chain_has_no_file),
		cmocka_unit_test(what_was_special_on_the_way_is_said),
		cmocka_unit_test(passwords_of_urls_are_masked),
		cmocka_unit_test(what_does_not_fit_loses_the_pdf_details_first),
		cmocka_unit_test(what_still_does_not_fit_loses_the_pages_words),
		cmocka_unit_test(what_does_not_fit_at_all_has_its_own_status),
		cmocka_unit_test(a_refused_result_is_shortened_from_its_json),
		cmocka_unit_test(a_text_that_does_not_fit_is_said_in_pdf_meta),
		cmocka_unit_test(rows_tell_the_body_from_the_bytes_on_the_wire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
