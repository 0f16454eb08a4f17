/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that the tables may answer: which results count, what is told of them, and that nothing
 * else is done. The gate and the loop are the real ones; stages.c has the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/json.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/existing.h"
#include "worker/job/job.h"
#include "worker/store/lookup/lookup.h"

#define DAY_MS 86400000u
#define URL "https://a.example/"
#define REQUEST(more) "{\"ingest_type\":\"pdf\",\"base_url\":\"" URL "\"" more "}"
#define WITH_SOURCE ",\"link_source\":\"doi\",\"link_source_id\":\"10.1/x\""
#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"

/* No service is asked: a publication begins at its DOI's page, or its own. */
static const struct ing_publication_settings publication_settings = {.europepmc_url = "",
	.annotations_url = "",
	.eutils_url = "",
	.pmc_url = "",
	.pubmed_url = "",
	.doi_url = "https://doi.org",
	.unpaywall_url = "",
	.crossref_url = "",
	.datacite_url = "",
	.openalex_url = "",
	.arxiv_url = "",
	.biorxiv_url = "",
	.doaj_url = "",
	.email = "",
	.tool = "",
	.ncbi_api_key = "",
	.openalex_api_key = "",
	.deadline_ms = 60000,
	.max_links = 10,
	.retry_limit = 3};

static uv_loop_t loop;
static struct ing_gate *gate;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;
static enum ing_status acknowledged;

static void on_result(void *ctx, enum ing_status status, const struct ing_result_facts *facts)
{
	(void)ctx;
	(void)facts;
	acknowledged = status;
}

static void begin(uint64_t skip_existing_ms)
{
	fake_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop,
		&(struct ing_gate_conf){.settings = {.concurrency = 10, .host_concurrency = 1}});
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){0});
	ing_visits_wire(visits, &(struct ing_visits_stages){
					.gate = gate, .fetch = FAKE_STAGE, .archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(
		&loop, &(struct ing_pipeline_conf){.publication = publication_settings,
			       .settings = {.max_waiting = 100,
				       .max_hops = 2,
				       .deadline_ms = 60000,
				       .skip_existing_ms = skip_existing_ms},
			       .max_unacked = 100,
			       .max_body_bytes = 1000});
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver,
					    .lookup = FAKE_STAGE,
					    .on_result = on_result});
}

static void end(void)
{
	assert_true(ing_pipeline_idle(pipeline));
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	ing_gate_free(gate);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static void send_request(const char *text)
{
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = 1},
			.value = text,
			.value_bytes = strlen(text),
			.topic = "requests",
			.partition = 3,
			.lane = ING_LANE_REQUESTS});
}

/* The request is being fetched: let that fail, and the result go its way. */
static void end_fetched(void)
{
	fake_turn(&loop, 1);
	assert_int_equal(fake.fetches.count, 1);
	fake_fetch_done(404, NULL);
	while (fake.exams.count > 0)
		fake_exam_done_page(NULL);
	fake_settle();
}

static struct ing_earlier_result earlier_failure(const char *status, uint64_t age_ms)
{
	return (struct ing_earlier_result){.age_ms = age_ms,
		.updated = "2026-11-21T11:00:02Z",
		.rows.result = {.present = true,
			.ingest_type = "pdf",
			.base_url = URL,
			.status = status,
			.terminal_url = "https://a.example/end",
			.terminal_dt = "20261121110000",
			.terminal_status_code = 200}};
}

static const struct ing_row_cdx terminal_row = {.url = "https://a.example/end",
	.datetime = "20261121110000",
	.sha1hex = SHA1,
	.mimetype = "application/pdf",
	.warc_path = "T-1.warc.gz",
	.warc_csize = 10,
	.warc_offset = 100};

static struct ing_earlier_result earlier_hit(void)
{
	struct ing_earlier_result r = earlier_failure("success", 1000);
	r.rows.result.hit = true;
	r.rows.result.terminal_sha1hex = SHA1;
	r.rows.file_meta = (struct ing_row_file_meta){.present = true,
		.sha1hex = SHA1,
		.sha256hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		.md5hex = "d41d8cd98f00b204e9800998ecf8427e",
		.mimetype = "application/pdf",
		.contains = "text/x-tex",
		.size_bytes = 5};
	r.rows.pdf_meta = (struct ing_row_pdf_meta){.present = true,
		.sha1hex = SHA1,
		.status = "success",
		.page_count = 3,
		.word_count = 90,
		.page0_height = 842,
		.page0_width = 595,
		.pdf_created = "2020-02-29T10:00:00Z",
		.metadata_json = "{\"title\": \"Tides\", \"doi\": \"10.1/x\"}"};
	r.rows.cdx = &terminal_row;
	r.rows.cdx_count = 1;
	return r;
}

static void expect_result(const char *want)
{
	json_t *have = json_loads(fake.last_result, 0, NULL);
	json_t *expected = json_loads(want, 0, NULL);
	assert_non_null(have);
	assert_non_null(expected);
	if (!json_equal(have, expected))
		fail_msg("%s\nis not\n%s", fake.last_result, want);
	json_decref(have);
	json_decref(expected);
}

/* --- which requests ask the tables, and which results count --- */

static void a_request_asks_when_it_or_its_lane_or_the_configuration_says_so(void **state)
{
	(void)state;
	static const struct {
		const char *name, *request;
		uint64_t all_ms, lane_ms, want_ms;
	} cases[] = {
		{"nobody", REQUEST(""), 0, 0, 0},
		{"configuration", REQUEST(""), 5, 0, 5},
		{"the lane's own", REQUEST(""), 5, 7, 7},
		{"the lane alone", REQUEST(""), 0, 7, 7},
		{"the request", REQUEST(",\"skip_existing_max_age_ms\":9"), 0, 0, 9},
		{"the request before its lane", REQUEST(",\"skip_existing_max_age_ms\":9"), 5, 7,
			9},
		{"the request wants none", REQUEST(",\"skip_existing_max_age_ms\":0"), 5, 7, 0},
		{"null says nothing", REQUEST(",\"skip_existing_max_age_ms\":null"), 5, 7, 7},
		{"force", REQUEST(",\"force_recrawl\":true"), 5, 7, 0},
		{"force before its own",
			REQUEST(",\"force_recrawl\":true,\"skip_existing_max_age_ms\":9"), 5, 7, 0},
		{"no force", REQUEST(",\"force_recrawl\":false"), 5, 7, 7},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		const struct ing_job_settings s = {.skip_existing_ms = cases[i].all_ms,
			.lane_skip_existing_ms = {[ING_LANE_DAILY] = cases[i].lane_ms}};
		assert_int_equal(
			ing_request_parse(cases[i].request, strlen(cases[i].request), &r, &err), 0);
		uint64_t have = ing_existing_max_age_ms(&s, r, ING_LANE_DAILY);
		if (have != cases[i].want_ms)
			fail_msg("%s: %llu", cases[i].name, (unsigned long long)have);
		ing_request_free(r);
	}
}

static void a_failure_counts_until_it_is_worth_trying_again(void **state)
{
	(void)state;
	static const struct {
		const char *status;
		bool hit;
		uint64_t age_ms, max_age_ms;
		bool want;
	} cases[] = {
		{"success", true, 1000, 1000, true},
		{"success", true, 1001, 1000, false},
		{"success", true, (uint64_t)3650 * DAY_MS, (uint64_t)3650 * DAY_MS, true},
		{"skip-url-blocklist", false, (uint64_t)3650 * DAY_MS, (uint64_t)3651 * DAY_MS,
			true},
		{"skip-robots", false, (uint64_t)30 * DAY_MS, (uint64_t)3651 * DAY_MS, true},
		{"skip-robots", false, (uint64_t)31 * DAY_MS, (uint64_t)3651 * DAY_MS, false},
		{"connect-error", false, 3600000, (uint64_t)3651 * DAY_MS, true},
		{"connect-error", false, 3600001, (uint64_t)3651 * DAY_MS, false},
		{"connect-error", false, 2000, 1000, false},
		{"of-another-program", false, 1000, 1000, true},
		{"of-another-program", false, 1001, 1000, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_earlier_result r = earlier_failure(cases[i].status, cases[i].age_ms);
		r.rows.result.hit = cases[i].hit;
		if (ing_existing_counts(&r, cases[i].max_age_ms) != cases[i].want)
			fail_msg("%zu: %s", i, cases[i].status);
	}
}

/* --- the result --- */

static void a_hit_is_told_with_all_that_the_tables_have(void **state)
{
	(void)state;
	const struct ing_earlier_result r = earlier_hit();
	begin(DAY_MS);
	send_request(REQUEST(WITH_SOURCE));
	assert_string_equal(fake.last_asked, "pdf " URL);
	fake_turn(&loop, 1);
	assert_int_equal(fake.fetches.count, 0);
	fake_lookup_done(&r);
	fake_settle();
	assert_int_equal(fake.finished, 1);
	assert_int_equal(acknowledged, ING_STATUS_EXISTING);
	/* The request's own row is written, as any request's. */
	assert_int_equal(fake.request_rows, 1);
	assert_int_equal(fake.result_rows + fake.rows, 0);
	expect_result("{\"request\":" REQUEST(
		WITH_SOURCE) ",\"hit\":true,\"status\":\"existing\","
			     "\"existing\":{\"status\":\"success\",\"updated\":\"2026-11-21T11:00:02Z\"},"
			     "\"terminal\":{\"terminal_url\":\"https://a.example/end\",\"terminal_dt\":\"20261121110000\","
			     "\"terminal_status_code\":200,\"terminal_sha1hex\":\"" SHA1
			     "\",\"wayback\":{"
			     "\"datetime\":\"20261121110000\",\"archive_url\":"
			     "\"https://web.archive.org/web/20261121110000/https://a.example/end\"}},"
			     "\"file_meta\":{\"size_bytes\":5,\"md5hex\":\"d41d8cd98f00b204e9800998ecf8427e\","
			     "\"sha1hex\":\"" SHA1 "\",\"sha256hex\":"
			     "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\","
			     "\"mimetype\":\"application/pdf\",\"contains\":[\"text/x-tex\"]},"
			     "\"cdx\":{\"surt\":\"example,a)/end\",\"datetime\":\"20261121110000\","
			     "\"url\":\"https://a.example/end\",\"mimetype\":\"application/pdf\",\"status_code\":200,"
			     "\"sha1b32\":\"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\",\"sha1hex\":\"" SHA1
			     "\","
			     "\"warc_csize\":10,\"warc_offset\":100,\"warc_path\":\"T-1.warc.gz\"},"
			     "\"pdf_meta\":{\"key\":\"" SHA1 "\",\"sha1hex\":\"" SHA1
			     "\",\"status\":\"success\","
			     "\"has_page0_thumbnail\":false,\"pdf_info\":{\"Title\":\"Tides\",\"doi\":\"10.1/x\","
			     "\"CreationDate\":\"2020-02-29T10:00:00Z\"},\"word_count\":90,\"pdf_extra\":{"
			     "\"page_count\":3,\"page0_height\":842.0,\"page0_width\":595.0,\"permanent_id\":null,\"update_id\":null,"
			     "\"pdf_version\":null},\"text\":null,\"file_meta\":null}}");
	end();
}

static void a_failure_is_told_as_one(void **state)
{
	(void)state;
	struct ing_earlier_result r = earlier_failure("no-pdf-link", 1000);
	r.rows.result.terminal_url = r.rows.result.terminal_dt = NULL;
	r.rows.result.terminal_status_code = 0;
	begin(DAY_MS);
	send_request(REQUEST(""));
	fake_lookup_done(&r);
	fake_settle();
	expect_result("{\"request\":" REQUEST("") ",\"hit\":false,\"status\":\"existing\","
						  "\"existing\":{\"status\":\"no-pdf-link\","
						  "\"updated\":\"2026-11-21T11:00:02Z\"}}");
	assert_int_equal(fake.result_rows + fake.request_rows, 0);
	end();
}

static void without_a_young_one_it_is_fetched(void **state)
{
	(void)state;
	struct ing_earlier_result r = earlier_hit();
	r.age_ms = (uint64_t)2 * DAY_MS;
	const struct ing_earlier_result *answers[] = {NULL, &r};
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		begin(DAY_MS);
		send_request(REQUEST(""));
		fake_lookup_done(answers[i]);
		end_fetched();
		assert_int_equal(acknowledged, ING_STATUS_TERMINAL_BAD_STATUS);
		assert_int_equal(fake.result_rows, 1);
		end();
	}
}

static void nobody_is_asked_for_what_no_row_can_have(void **state)
{
	(void)state;
	static char request[4000];
	static char path[1600];
	memset(path, 'a', sizeof(path) - 1);
	snprintf(request, sizeof(request), "{\"ingest_type\":\"pdf\",\"base_url\":\"" URL "%s\"}",
		path);
	begin(DAY_MS);
	send_request(request);
	assert_int_equal(fake.questions.count, 0);
	end_fetched();
	send_request(REQUEST(",\"force_recrawl\":true"));
	assert_int_equal(fake.questions.count, 0);
	end_fetched();
	send_request("{\"ingest_type\":\"pdf\",\"base_url\":\"ftp://a.example/\"}");
	assert_int_equal(fake.questions.count, 0);
	fake_settle();
	assert_int_equal(acknowledged, ING_STATUS_INVALID_URL);
	end();
	begin(0);
	send_request(REQUEST(""));
	assert_int_equal(fake.questions.count, 0);
	end_fetched();
	end();
}

static void a_password_is_masked_as_in_its_row(void **state)
{
	(void)state;
	begin(DAY_MS);
	send_request("{\"ingest_type\":\"pdf\",\"base_url\":\"https://me:secret@a.example/\"}");
	assert_string_equal(fake.last_asked, "pdf https://***@a.example/");
	fake_lookup_done(NULL);
	end_fetched();
	end();
}

/* --- calling it off --- */

static void a_question_is_taken_back_with_its_request(void **state)
{
	(void)state;
	begin(DAY_MS);
	send_request(REQUEST(""));
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(fake.questions.count, 0);
	assert_true(ing_pipeline_idle(pipeline));
	send_request(REQUEST(""));
	ing_pipeline_drain(pipeline);
	assert_int_equal(fake.questions.count, 0);
	end();
}

static void intake_stops_while_the_tables_cannot_be_asked(void **state)
{
	(void)state;
	begin(DAY_MS);
	fake.lookup_blocked = true;
	fake_turn(&loop, 250);
	assert_string_equal(ing_pipeline_blocked_by(pipeline), "database");
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	fake.lookup_blocked = false;
	fake_turn(&loop, 250);
	assert_false(fake.paused[ING_LANE_REQUESTS]);
	fake.lookup_full = true;
	fake_turn(&loop, 250);
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	assert_null(ing_pipeline_blocked_by(pipeline));
	end();
}

/* --- what is kept of publications and web pages --- */

#define KEPT(type, more) "{\"ingest_type\":\"" type "\"," more "}"

static const struct {
	const char *request, *asked; /* NULL: the tables are not asked */
} kept_requests[] = {
	{KEPT("publication", "\"ext_ids\":{\"pmid\":\"5\",\"doi\":\"10.1/a%b\"}"),
		"kept publication 5 - 10.1/A%B -"},
	{KEPT("publication", "\"base_url\":\"https://doi.org/10.1/a\""),
		"kept publication - - 10.1/A -"},
	{KEPT("publication", "\"base_url\":\"https://u:secret@a.example/x\""),
		"kept publication - - - https://***@a.example/x"},
	{KEPT("webpage", "\"base_url\":\"https://a.example/x\""),
		"kept webpage - - - https://a.example/x"},
	{KEPT("webpage", "\"base_url\":\"https://a.example/x\",\"force_recrawl\":true"), NULL},
	{KEPT("publication", "\"ext_ids\":{\"pmid\":\"5\"},\"skip_existing_max_age_ms\":0"), NULL},
};

static void what_is_kept_is_asked_for_by_all_its_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(kept_requests); i++) {
		begin(0);
		send_request(kept_requests[i].request);
		assert_int_equal(fake.questions.count, kept_requests[i].asked != NULL);
		if (kept_requests[i].asked != NULL)
			assert_string_equal(fake.last_asked, kept_requests[i].asked);
		ing_pipeline_cancel(pipeline);
		while (fake.fetches.count > 0)
			fake_fetch_done(404, NULL);
		fake_settle();
		end();
	}
}

static void a_kept_publication_is_told_as_one_that_was_fetched(void **state)
{
	(void)state;
	const struct ing_earlier_result r = {.age_ms = 5,
		.updated = "2026-11-21T11:00:02Z",
		.rows = {.result = {.present = true, .hit = true, .status = "success"},
			.publication = {.present = true,
				.record_json = "{\"fulltext\":null,\"doi\":{\"content\":\"10.1/A\","
					       "\"size\":6,\"type\":\"doi\"}}"}}};
	begin(0);
	send_request(kept_requests[0].request);
	fake_lookup_done(&r);
	fake_settle();
	assert_int_equal(acknowledged, ING_STATUS_EXISTING);
	json_t *o = json_loads(fake.last_result, 0, NULL);
	const json_t *publication = json_object_get(o, "publication");
	assert_true(ing_json_get_true(o, "hit"));
	assert_string_equal(ing_json_get_text(json_object_get(o, "existing"), "status"), "success");
	assert_string_equal(
		ing_json_get_text(json_object_get(publication, "doi"), "content"), "10.1/A");
	assert_true(json_is_null(json_object_get(publication, "pmid")));
	assert_true(ing_json_get_true(publication, "empty"));
	assert_int_equal(fake.kept_rows, 0);
	json_decref(o);
	end();
}

static void a_web_page_that_may_be_fetched_leaves_a_row_however_it_ends(void **state)
{
	(void)state;
	begin(0);
	send_request(kept_requests[3].request);
	fake_lookup_done(NULL);
	end_fetched();
	assert_int_equal(acknowledged, ING_STATUS_TERMINAL_BAD_STATUS);
	assert_int_equal(fake.kept_rows, 1);
	assert_string_equal(fake.last_kept_url, "https://a.example/x");
	json_t *o = json_loads(fake.last_kept, 0, NULL);
	assert_string_equal(ing_json_get_text(o, "startUrl"), "https://a.example/x");
	assert_int_equal(ing_json_get_number(o, "statusCode"), 404);
	assert_true(ing_json_get_number(o, "fetchTime") > 0);
	json_decref(o);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_asked_for_by_all_its_keys),
		cmocka_unit_test(a_kept_publication_is_told_as_one_that_was_fetched),
		cmocka_unit_test(a_web_page_that_may_be_fetched_leaves_a_row_however_it_ends),
		cmocka_unit_test(a_request_asks_when_it_or_its_lane_or_the_configuration_says_so),
		cmocka_unit_test(a_failure_counts_until_it_is_worth_trying_again),
		cmocka_unit_test(a_hit_is_told_with_all_that_the_tables_have),
		cmocka_unit_test(a_failure_is_told_as_one),
		cmocka_unit_test(without_a_young_one_it_is_fetched),
		cmocka_unit_test(nobody_is_asked_for_what_no_row_can_have),
		cmocka_unit_test(a_password_is_masked_as_in_its_row),
		cmocka_unit_test(a_question_is_taken_back_with_its_request),
		cmocka_unit_test(intake_stops_while_the_tables_cannot_be_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
