/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sub-resources of a page: nothing that becomes of them touches the chain of hops, and whatever
 * happens in the middle, the job ends once. The gate and the other stages do what each test tells them
 * to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "fake_gate.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/resource.h"
#include "worker/visit/visit.h"

#define PAGE "https://a.example/"

static uv_loop_t loop;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static struct ing_pipeline_conf conf(enum ing_resource_mode mode)
{
	return (struct ing_pipeline_conf){.settings = {.max_waiting = 100,
						  .max_hops = 2,
						  .max_redirects = 2,
						  .deadline_ms = 60000,
						  .max_scrape_bytes = 1000,
						  .resources = mode,
						  .resources_ms = 60000},
		.max_unacked = 100,
		.max_body_bytes = 1000};
}

static void begin(const struct ing_pipeline_conf *c)
{
	fake_reset();
	fake_gate_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop,
		&(struct ing_visits_conf){.host_rules = FAKE_STAGE, .blocked_hosts = FAKE_STAGE});
	ing_visits_wire(visits, &(struct ing_visits_stages){.gate = FAKE_STAGE,
					.robots = FAKE_STAGE,
					.fetch = FAKE_STAGE,
					.archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(&loop, c);
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver});
	static const char text[] = "{\"ingest_type\":\"html\",\"base_url\":\"" PAGE "\"}";
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = 1},
			.value = text,
			.value_bytes = sizeof(text) - 1,
			.topic = "requests",
			.lane = ING_LANE_REQUESTS});
	fake_gate_grant();
}

static void end(void)
{
	assert_true(ing_pipeline_idle(pipeline));
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding, 0);
	assert_null(pipeline->resources);
	assert_int_equal(pipeline->resource_bytes, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

struct want {
	const char *url;
	enum ing_resource_type type;
};

/* The oldest body is looked into, and refers to these; url NULL ends them. */
static void say_resources(const char *mimetype, const struct want *wants)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.page.status = ING_PAGE_PARSED;
	f.page.scope = ing_strdup("article-fulltext");
	f.page.title = ing_strdup("A page");
	f.resources.items = ing_alloc(ING_MAX_RESOURCES * sizeof(*f.resources.items));
	for (; wants->url != NULL; wants++)
		f.resources.items[f.resources.count++] = (struct ing_resource_found){
			.url = ing_strdup(wants->url), .type = (uint8_t)wants->type};
	f.resources.total = f.resources.count;
	fake_exam_done(&f, mimetype);
}

static void bring_page(const struct want *wants)
{
	fake_fetch_done(200, NULL);
	assert_true(fake.last_want & ING_WANT_RESOURCES);
	say_resources("text/html", wants);
}

static json_t *take_result(const char *status)
{
	fake_settle();
	assert_non_null(fake.last_result);
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(o, "status")), status);
	assert_int_equal(json_array_size(json_object_get(o, "hops")), 1);
	json_t *terminal = json_object_get(o, "terminal");
	assert_string_equal(json_string_value(json_object_get(terminal, "terminal_url")), PAGE);
	return o;
}

/* The i-th sub-resource: its URL, and its status, which is NULL when it is archived. */
static void expect_entry(const json_t *result, size_t i, const char *url, const char *status)
{
	const json_t *one = json_array_get(json_object_get(result, "html_resources"), i);
	const char *got = json_string_value(json_object_get(one, "status"));
	assert_string_equal(json_string_value(json_object_get(one, "url")), url);
	if (status == NULL)
		assert_null(got);
	else
		assert_string_equal(got, status);
	assert_int_equal(json_object_get(one, "sha1hex") != NULL, status == NULL);
}

static void expect_result(const char *status, const char *url, const char *of_resource)
{
	json_t *o = take_result(status);
	expect_entry(o, 0, url, of_resource);
	json_decref(o);
}

/* Also where that has gone into the object store. */
static void the_row_of_a_page_says_that_it_has_main_text(void **state)
{
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_OFF);
	(void)state;
	for (int stored = 0; stored < 2; stored++) {
		struct ing_findings f;
		fake_with_objects = stored == 1;
		begin(&c);
		fake_fetch_done(200, NULL);
		ing_findings_init(&f);
		f.page.status = ING_PAGE_PARSED;
		f.page.scope = ing_strdup("article-fulltext");
		f.text.status = ing_strdup("success");
		f.text.tei_xml = ing_strdup("<TEI/>");
		fake_exam_done(&f, "text/html");
		fake_archive_done();
		assert_int_equal(fake.objects.count, stored);
		json_decref(take_result("success"));
		assert_int_equal(fake.teixml_rows, 1);
		end();
	}
	fake_with_objects = false;
}

static const struct want one[] = {{PAGE "i.png", ING_RESOURCE_IMAGE}, {0}};

static void one_at_a_time_of_a_host(void **state)
{
	static const struct want wants[] = {{PAGE "1.png", ING_RESOURCE_IMAGE},
		{PAGE "2.png", ING_RESOURCE_IMAGE}, {"https://b.example/3.png", ING_RESOURCE_IMAGE},
		{0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(wants);
	assert_int_equal(fake_gate.waiters.count, 2);
	assert_true(fake_gate.ticket.again); /* ahead of new pages */
	fake_gate_grant();
	fake_gate_grant();
	assert_int_equal(fake.fetches.count, 2);
	assert_string_equal(fake.last_referer, PAGE);
	fake_fetch_done(200, NULL);
	assert_int_equal(fake_gate.waiters.count, 1);
	fake_fetch_done(200, NULL);
	assert_null(fake.last_result);
	fake_gate_grant();
	assert_string_equal(fake_fetch_url(), PAGE "2.png");
	fake_fetch_done(200, NULL);
	json_t *o = take_result("success");
	for (size_t i = 0; i < 3; i++)
		expect_entry(o, i, wants[i].url, NULL);
	json_decref(o);
	assert_int_equal(fake.rows, 4); /* one of each archived answer */
	end();
}

static void a_page_without_any_ends_at_once(void **state)
{
	static const struct want none[] = {{0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_STRICT);
	(void)state;
	begin(&c);
	bring_page(none);
	json_t *o = take_result("success");
	assert_int_equal(json_array_size(json_object_get(o, "html_resources")), 0);
	assert_non_null(json_object_get(o, "html_resources"));
	json_decref(o);
	end();
}

static void a_wall_is_the_resources_own(void **state)
{
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(one);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_SUCCESS,
		.http_status = 403,
		.body = "log in",
		.body_bytes = 6,
		.content_type = "text/html",
		.retry_after_s = 7});
	json_t *o = take_result("success");
	expect_entry(o, 0, one[0].url, "terminal-bad-status");
	assert_null(json_object_get(o, "retry_after"));
	json_decref(o);
	end();
}

static void another_try_may_go_better(void **state)
{
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_STRICT);
	(void)state;
	begin(&c);
	bring_page(one);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_SUCCESS,
		.http_status = 503,
		.body = "busy",
		.body_bytes = 4,
		.content_type = "text/html"});
	assert_null(fake.last_result);
	assert_int_equal(fake_gate.waiters.count, 1);
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	expect_result("success", one[0].url, NULL);
	end();
}

static void two_may_be_redirected_to_the_same_place(void **state)
{
	static const struct want wants[] = {{PAGE "1.png", ING_RESOURCE_IMAGE},
		{"https://b.example/2.png", ING_RESOURCE_IMAGE}, {0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(wants);
	for (int i = 0; i < 2; i++) {
		fake_gate_grant();
		fake_fetch_done(302, "https://c.example/pixel");
	}
	for (int i = 0; i < 2; i++) {
		fake_gate_grant();
		fake_fetch_done(200, NULL);
	}
	json_t *o = take_result("success");
	for (size_t i = 0; i < 2; i++)
		expect_entry(o, i, "https://c.example/pixel", NULL);
	json_decref(o);
	end();
}

static void one_to_the_page_is_no_loop_of_the_page(void **state)
{
	static const struct want wants[] = {{PAGE "frame", ING_RESOURCE_SUBDOCUMENT}, {0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(wants);
	fake_gate_grant();
	fake_fetch_done(302, "/frame");
	expect_result("success", PAGE "frame", "redirect-loop");
	end();
}

static void a_style_sheet_leads_on(void **state)
{
	static const struct want sheets[] = {
		{PAGE "s.css", ING_RESOURCE_STYLESHEET}, {PAGE "z.png", ING_RESOURCE_IMAGE}, {0}};
	static const struct want more[] = {
		{PAGE "z.png", ING_RESOURCE_IMAGE}, {PAGE "f.woff", ING_RESOURCE_FONT}, {0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_STRICT);
	(void)state;
	begin(&c);
	bring_page(sheets);
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	assert_int_equal(fake.last_want, ING_WANT_STYLE);
	say_resources("text/plain", more);
	for (int i = 0; i < 2; i++) {
		fake_gate_grant();
		fake_fetch_done(200, NULL);
	}
	json_t *o = take_result("success");
	expect_entry(o, 0, PAGE "s.css", NULL);
	expect_entry(o, 1, PAGE "f.woff", NULL);
	expect_entry(o, 2, PAGE "z.png", NULL);
	assert_int_equal(json_array_size(json_object_get(o, "html_resources")), 3);
	json_decref(o);
	end();
}

static void an_examiner_that_dies_of_a_style_sheet_spares_the_page(void **state)
{
	static const struct want sheets[] = {{PAGE "s.css", ING_RESOURCE_STYLESHEET}, {0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(sheets);
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	fake_exam_done_badly(ING_EXAM_CRASH, "died");
	expect_result("success", PAGE "s.css", "parse-crash");
	end();
}

static void an_answer_that_cannot_be_archived_is_the_resources_own(void **state)
{
	static const struct {
		enum ing_resource_mode mode;
		const char *status;
	} cases[] = {
		{ING_RESOURCES_ON, "success"}, {ING_RESOURCES_STRICT, "html-resource-no-capture"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ing_pipeline_conf c = conf(cases[i].mode);
		begin(&c);
		bring_page(one);
		fake_archive_done(); /* the page */
		fake_gate_grant();
		fake_fetch_done(200, NULL);
		fake_archive_lose();
		expect_result(cases[i].status, one[0].url, "worker-error");
		end();
	}
}

static void the_time_for_all_of_them_ends(void **state)
{
	static const struct want wants[] = {
		{PAGE "1.png", ING_RESOURCE_IMAGE}, {PAGE "2.png", ING_RESOURCE_IMAGE}, {0}};
	struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(wants);
	fake_gate_grant();
	ing_pipeline_check_resources(pipeline, ing_now_ms() + 59000);
	assert_non_null(pipeline->resources);
	ing_pipeline_check_resources(pipeline, ing_now_ms() + 61000);
	fake_settle();
	assert_null(fake.last_result); /* a transfer keeps its host until it ends */
	fake_fetch_done(200, NULL);
	json_t *o = take_result("success");
	expect_entry(o, 0, PAGE "1.png", "timeout");
	expect_entry(o, 1, PAGE "2.png", "timeout");
	json_decref(o);
	end();
}

static void an_examination_past_the_deadline_is_the_resources_own(void **state)
{
	static const struct want sheets[] = {{PAGE "s.css", ING_RESOURCE_STYLESHEET}, {0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(sheets);
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	ing_pipeline_check_deadlines(pipeline, ing_now_ms() + 70000);
	expect_result("success", PAGE "s.css", "timeout");
	end();
}

static void what_robots_forbids_is_not_waited_for(void **state)
{
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	fake.robots = (struct ing_robots_view){.verdict = ING_ROBOTS_DISALLOWED};
	bring_page(one);
	expect_result("success", one[0].url, "skip-robots");
	end();
}

/* A transfer under way keeps the revoked job until it ends. */
static void the_time_of_a_revoked_page_ends_nothing(void **state)
{
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(one);
	fake_gate_grant();
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(fake.fetches.count, 1);
	ing_pipeline_check_resources(pipeline, ing_now_ms() + 61000);
	fake_fetch_done(200, NULL);
	fake_settle();
	assert_null(fake.last_result);
	end();
}

static void a_revocation_in_the_middle_leaves_nothing(void **state)
{
	static const struct want wants[] = {{PAGE "s.css", ING_RESOURCE_STYLESHEET},
		{"https://b.example/1.png", ING_RESOURCE_IMAGE},
		{"https://c.example/2.png", ING_RESOURCE_IMAGE},
		{"https://c.example/3.png", ING_RESOURCE_IMAGE}, {0}};
	const struct ing_pipeline_conf c = conf(ING_RESOURCES_ON);
	(void)state;
	begin(&c);
	bring_page(wants);
	fake_gate_grant(); /* one is examined, one is fetched, one waits, one was not begun */
	fake_fetch_done(200, NULL);
	fake_gate_grant();
	assert_int_equal(fake.exams.count, 1);
	assert_int_equal(fake.fetches.count, 1);
	assert_int_equal(fake_gate.waiters.count, 1);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(fake.exams.count, 0);
	assert_int_equal(fake_gate.waiters.count, 0);
	fake_fetch_done(200, NULL);
	fake_settle();
	assert_null(fake.last_result);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_at_a_time_of_a_host),
		cmocka_unit_test(a_page_without_any_ends_at_once),
		cmocka_unit_test(a_wall_is_the_resources_own),
		cmocka_unit_test(another_try_may_go_better),
		cmocka_unit_test(two_may_be_redirected_to_the_same_place),
		cmocka_unit_test(one_to_the_page_is_no_loop_of_the_page),
		cmocka_unit_test(a_style_sheet_leads_on),
		cmocka_unit_test(an_examiner_that_dies_of_a_style_sheet_spares_the_page),
		cmocka_unit_test(an_answer_that_cannot_be_archived_is_the_resources_own),
		cmocka_unit_test(the_time_for_all_of_them_ends),
		cmocka_unit_test(an_examination_past_the_deadline_is_the_resources_own),
		cmocka_unit_test(what_robots_forbids_is_not_waited_for),
		cmocka_unit_test(the_row_of_a_page_says_that_it_has_main_text),
		cmocka_unit_test(the_time_of_a_revoked_page_ends_nothing),
		cmocka_unit_test(a_revocation_in_the_middle_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
