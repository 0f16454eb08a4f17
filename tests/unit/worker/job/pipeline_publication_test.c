/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs that put a publication together: each ask has a visit, whatever becomes of one is told the
 * assembly, and the job ends once. The assembly is made up, as are gate and stages: it asks what a test
 * has written down.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/data/json.h"
#include "fake_gate.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/pipeline_priv.h"
#include "worker/publication/assembly.h"
#include "worker/visit/visit.h"

#define API "https://api.example/rest"
#define DOI "https://doi.example"
#define MAX_ASKS 64

/* --- a made-up assembly --- */

struct script {
	const char *url;
	enum ing_publication_reader reader;
	int after; /* 1-based: asked once that one is answered; 0: at once */
};

struct answer {
	enum ing_status status;
	int http_status;
	bool transient;
	char final_url[100], detail[100];
	bool has_found;
};

static struct {
	const struct script *script; /* url NULL ends it */
	unsigned asked, answered;
	struct answer answers[MAX_ASKS];
	bool is_answered[MAX_ASKS], stopped;
	enum ing_status status; /* of the end */
	unsigned alive;
	unsigned most;        /* asks of one assembly; 0: any number */
	const char *fulltext; /* of the publication; NULL: it has none */
} plan;

struct ing_assembly {
	unsigned asked;
};

struct ing_assembly *ing_assembly_new(
	const struct ing_publication_settings *settings, const struct ing_assembly_request *request)
{
	assert_non_null(settings->europepmc_url);
	assert_true(request->pmid != NULL || request->url != NULL);
	plan.alive++;
	return ing_alloc(sizeof(struct ing_assembly));
}

void ing_assembly_free(struct ing_assembly *a)
{
	plan.alive -= a != NULL;
	free(a);
}

char *ing_assembly_first_url(
	const struct ing_publication_settings *settings, const struct ing_assembly_request *request)
{
	(void)settings;
	(void)request;
	return plan.script[0].url != NULL ? ing_strdup(plan.script[0].url) : NULL;
}

/* "5" is a PMID, a URL is one, and "none" is nothing. */
int ing_assembly_parse_id(const char *text, struct ing_arena *ar, struct ing_assembly_request *ret,
	struct ing_error *err)
{
	if (strncmp(text, "http", 4) == 0)
		ret->url = ing_arena_strdup(ar, text);
	else if (text[0] >= '1' && text[0] <= '9')
		ret->pmid = ing_arena_strdup(ar, text);
	else
		return ing_error_set(err, ING_FAIL_INVALID, "no");
	return 0;
}

bool ing_assembly_next(struct ing_assembly *a, uint64_t elapsed_ms, struct ing_assembly_ask *ret)
{
	(void)elapsed_ms;
	if (plan.most > 0 && a->asked == plan.most)
		return false;
	const struct script *s = &plan.script[plan.asked];
	if (plan.stopped || s->url == NULL || (s->after > 0 && !plan.is_answered[s->after - 1]))
		return false;
	*ret = (struct ing_assembly_ask){.id = 10 + plan.asked,
		.resource = ING_PUBLICATION_RESOURCE_EUROPEPMC,
		.url = s->url,
		.accept = "text/xml",
		.read = {.reader = s->reader, .type = ING_PART_TYPE_EUROPEPMC, .pmid = "5"}};
	plan.asked++;
	a->asked++;
	return true;
}

void ing_assembly_answer(
	struct ing_assembly *a, unsigned id, const struct ing_assembly_answer *answer)
{
	(void)a;
	unsigned i = id - 10;
	assert_true(i < plan.asked && !plan.is_answered[i]);
	assert_int_equal(answer->status == ING_STATUS_SUCCESS, answer->found != NULL);
	assert_true(answer->time_ms > 1000000000000);
	struct answer *at = &plan.answers[i];
	*at = (struct answer){.status = answer->status,
		.http_status = answer->http_status,
		.transient = answer->transient,
		.has_found = answer->found != NULL};
	snprintf(at->final_url, sizeof(at->final_url), "%s",
		answer->final_url != NULL ? answer->final_url : "");
	snprintf(
		at->detail, sizeof(at->detail), "%s", answer->detail != NULL ? answer->detail : "");
	plan.is_answered[i] = true;
	plan.answered++;
}

bool ing_assembly_is_over(const struct ing_assembly *a)
{
	(void)a;
	bool nothing_left = plan.stopped || plan.script[plan.asked].url == NULL;
	return nothing_left && plan.answered == plan.asked;
}

void ing_assembly_stop(struct ing_assembly *a)
{
	(void)a;
	plan.stopped = true;
}

enum ing_status ing_assembly_status(const struct ing_assembly *a, const char **ret_detail)
{
	(void)a;
	*ret_detail = plan.status != ING_STATUS_SUCCESS ? "words" : NULL;
	return plan.status;
}

json_t *ing_assembly_json(const struct ing_assembly *a)
{
	(void)a;
	json_t *list = json_array();
	for (unsigned i = 0; i < plan.asked; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "url", plan.script[i].url,
						    "final_url", plan.answers[i].final_url));
	return json_pack("{s:i, s:o, s:s?}", "answered", (int)plan.answered, "resources", list,
		"fulltext", plan.fulltext);
}

/* --- the pipeline --- */

static uv_loop_t loop;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static const struct ing_pipeline_conf usual = {.settings = {.max_waiting = 1000,
						       .max_hops = 2,
						       .max_redirects = 3,
						       .deadline_ms = 60000,
						       .max_attempts = 3,
						       .parked_max_age_ms = 1000000,
						       .host_share = 1,
						       .max_scrape_bytes = 1000},
	.publication = {.europepmc_url = API, .doi_url = DOI, .deadline_ms = 60000},
	.max_unacked = 1000,
	.max_body_bytes = 1000};

static void submit_of(const char *type, const char *more, enum ing_lane lane, int64_t offset)
{
	char text[300];
	snprintf(text, sizeof(text), "{\"ingest_type\":\"%s\",%s}", type, more);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = offset},
			.value = text,
			.value_bytes = strlen(text),
			.topic = "requests",
			.lane = lane});
}

static void submit(const char *more, enum ing_lane lane, int64_t offset)
{
	submit_of("publication", more, lane, offset);
}

#define BY_PMID "\"ext_ids\":{\"pmid\":\"5\"}"

static bool asks_for_webpage;

static bool needs_browser(void *rules_ctx, const char *url, bool is_webpage)
{
	assert_null(rules_ctx);
	assert_int_equal(is_webpage, asks_for_webpage);
	return strstr(url, "//script.example/") != NULL;
}

static void open_pipeline(const struct script *script, const struct ing_pipeline_conf *c)
{
	fake_reset();
	fake_gate_reset();
	memset(&plan, 0, sizeof(plan));
	plan.script = script;
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
					    .deliver = deliver,
					    .needs_browser = needs_browser});
}

/* One publication, by its PMID. */
static void begin(const struct script *script)
{
	open_pipeline(script, &usual);
	submit(BY_PMID, ING_LANE_REQUESTS, 1);
}

static void end(void)
{
	assert_true(ing_pipeline_idle(pipeline));
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding, 0);
	assert_int_equal(plan.alive, 0);
	const struct ing_publications *all = &pipeline->publications;
	assert_null(all->begun);
	assert_null(all->queued);
	assert_true(all->held_back[0] == NULL && all->held_back[1] == NULL);
	assert_int_equal(all->begun_count + all->queued_count, 0);
	assert_int_equal(all->bytes, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static void tick(void)
{
	ing_pipeline_check_publications(pipeline, ing_now_ms());
}

/* The oldest body is looked into, and says something. */
static void say_found(void)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.publication.status = ing_strdup("success");
	ing_publication_offer_text(
		&f.publication, ING_PART_TITLE, ING_PART_TYPE_EUROPEPMC, "A title", 7);
	fake_exam_done(&f, "text/xml");
}

static void answer_next(void)
{
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	say_found();
}

static json_t *take_result(const char *status)
{
	fake_settle();
	assert_non_null(fake.last_result);
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(o, "status")), status);
	return o;
}

static void expect_result(const char *status, int answered)
{
	json_t *o = take_result(status);
	const json_t *publication = json_object_get(o, "publication");
	assert_int_equal(json_object_get(o, "hit") == json_true(), strcmp(status, "success") == 0);
	assert_int_equal(json_integer_value(json_object_get(publication, "answered")), answered);
	assert_null(json_object_get(o, "hops"));
	assert_null(json_object_get(o, "terminal"));
	json_decref(o);
}

static const struct script one[] = {{API "/1", ING_READ_EUROPEPMC, 0}, {0}};
static const struct script one_then_two[] = {{API "/1", ING_READ_EUROPEPMC, 0},
	{"https://b.example/2", ING_READ_CROSSREF, 1}, {DOI "/3", ING_READ_PAGE, 1}, {0}};

/* --- tests --- */

static void each_ask_has_a_visit_and_the_last_answer_ends_the_job(void **state)
{
	(void)state;
	begin(one_then_two);
	assert_string_equal(fake_gate.last_url, API "/1");
	assert_false(fake_gate.ticket.again); /* nothing is begun yet */
	assert_int_equal(plan.alive, 0);
	fake_gate_grant();
	assert_int_equal(plan.alive, 1);
	fake_fetch_done(200, NULL);
	assert_int_equal(fake.last_want, ING_WANT_PUBLICATION);
	say_found();
	assert_int_equal(fake_gate.waiters.count, 2); /* side by side */
	assert_true(fake_gate.ticket.again);          /* ahead of those that are not begun */
	fake_gate_grant();
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	say_found();
	assert_null(fake.last_result);
	fake_fetch_done(302, "https://publisher.example/article");
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	assert_int_equal(fake.last_want, ING_WANT_PUBLICATION | ING_WANT_WALLS | ING_WANT_PDF);
	say_found();
	assert_string_equal(plan.answers[2].final_url, "https://publisher.example/article");
	assert_int_equal(plan.answers[2].http_status, 200);
	expect_result("success", 3);
	assert_int_equal(fake.rows, 3); /* of the answers with status 200 */
	assert_int_equal(fake.result_rows, 1);
	end();
}

/* By the address asked for and by that where it led. */
static void pages_that_only_a_browser_reads_are_said(void **state)
{
	(void)state;
	static const struct script pages[] = {{API "/1", ING_READ_EUROPEPMC, 0},
		{DOI "/2", ING_READ_PAGE, 1}, {"https://script.example/3", ING_READ_PAGE, 2}, {0}};
	begin(pages);
	answer_next();
	fake_gate_grant();
	fake_fetch_done(302, "https://script.example/article");
	answer_next();
	answer_next();
	json_t *o = take_result("success");
	const json_t *resources = json_object_get(json_object_get(o, "publication"), "resources");
	assert_int_equal(json_array_size(resources), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(json_object_get(json_array_get(resources, i), "needs_browser") ==
			    json_boolean(i > 0));
	assert_true(json_is_true(json_object_get(o, "needs_browser")));
	json_decref(o);
	end();
	begin(one);
	answer_next();
	o = take_result("success");
	assert_null(json_object_get(o, "needs_browser"));
	json_decref(o);
	end();
}

static void robots_txt_is_asked_of_sites_and_not_of_services(void **state)
{
	(void)state;
	begin(one_then_two);
	fake_gate_grant();
	fake_fetch_done(302, "https://elsewhere.example/");
	assert_int_equal(fake.asked, 1); /* of where it leads */
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	unsigned asked = fake.asked;
	say_found();
	assert_int_equal(fake.asked - asked, 1); /* of the page, and not of the service beside it */
	answer_next();
	answer_next();
	expect_result("success", 3);
	end();
}

static void a_failure_is_told_the_assembly_and_ends_nothing(void **state)
{
	static const struct {
		struct fake_answer answer;
		enum ing_status status;
		bool transient;
	} cases[] = {
		{{.outcome = ING_STATUS_SUCCESS, .http_status = 404},
			ING_STATUS_TERMINAL_BAD_STATUS, false},
		{{.outcome = ING_STATUS_SUCCESS, .http_status = 500},
			ING_STATUS_TERMINAL_BAD_STATUS, true},
		{{.outcome = ING_STATUS_READ_TIMEOUT}, ING_STATUS_READ_TIMEOUT, true},
		{{.outcome = ING_STATUS_INVALID_HOST_RESOLUTION},
			ING_STATUS_INVALID_HOST_RESOLUTION, false},
		{{.outcome = ING_STATUS_BODY_TOO_LARGE}, ING_STATUS_BODY_TOO_LARGE, false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		begin(one_then_two);
		answer_next();
		fake_gate_grant();
		fake_fetch_answer(&cases[i].answer);
		while (!plan.is_answered[1]) { /* further tries */
			fake_list_add(&fake_gate.waiters, fake_list_take_at(&fake_gate.waiters, 0));
			fake_gate_grant();
			fake_fetch_answer(&cases[i].answer);
		}
		assert_int_equal(plan.answers[1].status, cases[i].status);
		assert_int_equal(plan.answers[1].transient, cases[i].transient);
		assert_int_equal(plan.answers[1].http_status, cases[i].answer.http_status);
		answer_next();
		expect_result("success", 3);
		end();
	}
}

static void what_an_examiner_cannot_read_is_told_the_assembly(void **state)
{
	static const struct {
		enum ing_exam exam;
		enum ing_status status;
		bool transient;
	} cases[] = {
		{ING_EXAM_CRASH, ING_STATUS_PARSE_CRASH, false},
		{ING_EXAM_TIMEOUT, ING_STATUS_PARSE_TIMEOUT, false},
		{ING_EXAM_NOT_STARTED, ING_STATUS_WORKER_ERROR, true},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		begin(one_then_two);
		fake_gate_grant();
		fake_fetch_done(200, NULL);
		fake_exam_done_badly(cases[i].exam, "the detail");
		assert_int_equal(plan.answers[0].status, cases[i].status);
		assert_int_equal(plan.answers[0].transient, cases[i].transient);
		assert_string_equal(plan.answers[0].detail, "the detail");
		answer_next();
		answer_next();
		expect_result("success", 3);
		end();
	}
}

/* A wall says so by its signature, unless the page describes the publication all the same. */
static void a_wall_says_nothing_of_the_publication(void **state)
{
	static const struct {
		enum ing_part_type title;
		bool link;
		enum ing_status status;
	} cases[] = {
		{ING_PART_TYPE_WEBPAGE, false, ING_STATUS_BLOCKED_CAPTCHA},
		{ING_PART_TYPE_CITATION, false, ING_STATUS_SUCCESS},
		{ING_PART_TYPE_WEBPAGE, true, ING_STATUS_SUCCESS},
	};
	static const struct script page[] = {{DOI "/1", ING_READ_PAGE, 0}, {0}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_findings f;
		begin(page);
		fake_gate_grant();
		fake_fetch_done(200, NULL);
		ing_findings_init(&f);
		f.page.status = ING_PAGE_PARSED;
		f.page.wall = ING_WALL_CAPTCHA;
		f.publication.status = ing_strdup("success");
		ing_publication_offer_text(
			&f.publication, ING_PART_TITLE, cases[i].title, "Just a moment", 13);
		if (cases[i].link)
			ing_publication_add_link(
				&f.publication, "https://a.example/pdf", ING_PART_TYPE_PDF_DOI);
		fake_exam_done(&f, "text/html");
		assert_int_equal(plan.answers[0].status, cases[i].status);
		expect_result("success", 1);
		end();
	}
}

/* The page of a bad status is looked at for walls, an answer of a service is not. */
static void a_bad_status_may_be_a_wall(void **state)
{
	static const struct script page[] = {{DOI "/1", ING_READ_PAGE, 0}, {0}};
	const struct fake_answer refusal = {.outcome = ING_STATUS_SUCCESS,
		.http_status = 403,
		.body = "log in",
		.body_bytes = 6,
		.content_type = "text/html"};
	(void)state;
	for (int is_wall = 0; is_wall < 2; is_wall++) {
		struct ing_findings f;
		begin(page);
		fake_gate_grant();
		fake_fetch_answer(&refusal);
		assert_int_equal(fake.last_want, ING_WANT_WALLS);
		ing_findings_init(&f);
		f.page.status = ING_PAGE_PARSED;
		f.page.wall = is_wall ? ING_WALL_LOGIN : ING_WALL_NONE;
		fake_exam_done(&f, "text/html");
		assert_int_equal(plan.answers[0].status,
			is_wall ? ING_STATUS_BLOCKED_LOGIN : ING_STATUS_TERMINAL_BAD_STATUS);
		assert_int_equal(plan.answers[0].http_status, 403);
		expect_result("success", 1);
		end();
	}
	begin(one);
	fake_gate_grant();
	fake_fetch_answer(&refusal);
	assert_int_equal(fake.exams.count, 0);
	assert_int_equal(plan.answers[0].status, ING_STATUS_TERMINAL_BAD_STATUS);
	expect_result("success", 1);
	end();
}

static void a_host_that_is_held_for_long_is_not_waited_for(void **state)
{
	static const struct {
		const char *host;
		uint64_t hold_ms;
		unsigned deadline_ms;
		bool quick, given_up;
	} cases[] = {
		{"b.example", 3600000, 900000, false, true},
		{"b.example", 60001, 900000, false, true},
		{"b.example", 60000, 900000, false, false},
		{"b.example", 40000, 30000, false, true}, /* its time is up before */
		{"b.example", 1000, 900000, true, true},
		{"api.example", 3600000, 900000, false, false}, /* another one */
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_pipeline_conf c = usual;
		c.publication.deadline_ms = cases[i].deadline_ms;
		open_pipeline(one_then_two, &c);
		submit(cases[i].quick ? BY_PMID ",\"quick\":true" : BY_PMID, ING_LANE_REQUESTS, 1);
		fake_gate_grant();
		fake_fetch_done(200, NULL);
		fake_gate.held_host = cases[i].host;
		fake_gate.hold_ms = cases[i].hold_ms;
		say_found();
		assert_int_equal(plan.is_answered[1], cases[i].given_up);
		if (cases[i].given_up) {
			assert_int_equal(plan.answers[1].status, ING_STATUS_HOST_BACKOFF);
			assert_true(plan.answers[1].transient);
			assert_string_equal(plan.answers[1].final_url, "");
		} else {
			answer_next();
		}
		answer_next();
		expect_result("success", 3);
		end();
	}
}

static void a_host_may_come_to_be_held_while_an_ask_waits(void **state)
{
	(void)state;
	begin(one_then_two);
	answer_next();
	fake_gate.hold = true;
	fake_gate.held_host = "b.example";
	fake_gate.hold_ms = 100000;
	tick();
	assert_int_equal(plan.answers[1].status, ING_STATUS_HOST_BACKOFF);
	assert_false(plan.is_answered[2]);
	fake_gate.hold = false;
	answer_next();
	expect_result("success", 3);
	end();
}

static void the_first_service_may_be_held(void **state)
{
	(void)state;
	for (int later = 0; later < 2; later++) {
		open_pipeline(one_then_two, &usual);
		fake_gate.held_host = later ? NULL : "api.example";
		fake_gate.hold_ms = 100000;
		submit(BY_PMID, ING_LANE_REQUESTS, 1);
		if (later) { /* it was not when the publication began to wait */
			fake_gate.held_host = "api.example";
			fake_gate.hold = true;
			tick();
			fake_gate.hold = false;
		}
		assert_int_equal(plan.answers[0].status, ING_STATUS_HOST_BACKOFF);
		answer_next();
		answer_next();
		expect_result("success", 3);
		assert_int_equal(fake.rows, 2);
		end();
	}
}

static void what_the_gate_refuses_is_told_the_assembly(void **state)
{
	(void)state;
	begin(one_then_two);
	fake_gate_refuse(ING_GATE_WAITED, 9);
	assert_int_equal(plan.answers[0].status, ING_STATUS_HOST_BACKOFF);
	answer_next();
	answer_next();
	expect_result("success", 3);
	end();
}

static void its_time_ends_what_is_under_way(void **state)
{
	static const struct script all_at_once[] = {{API "/1", ING_READ_EUROPEPMC, 0},
		{"https://b.example/2", ING_READ_CROSSREF, 0}, {DOI "/3", ING_READ_PAGE, 0},
		{"https://c.example/4", ING_READ_DOAJ, 0},
		{"https://d.example/5", ING_READ_PAGE, 4}, {0}};
	(void)state;
	begin(all_at_once);
	fake_gate_grant();
	tick(); /* the others beside it */
	assert_int_equal(plan.asked, 4);
	fake_gate_grant();
	fake_gate_grant();
	fake_fetch_done(200, NULL); /* 1 is looked into, 2 and 3 are fetched, 4 waits */
	assert_int_equal(fake.exams.count, 1);
	assert_int_equal(fake.fetches.count, 2);
	assert_int_equal(fake_gate.waiters.count, 1);
	ing_pipeline_check_publications(pipeline, ing_now_ms() + 59000);
	assert_int_equal(plan.answered, 0);
	ing_pipeline_check_publications(pipeline, ing_now_ms() + 61000);
	assert_int_equal(plan.answered, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(plan.answers[i].status, ING_STATUS_TIMEOUT);
		assert_true(plan.answers[i].transient);
	}
	assert_true(plan.stopped);
	assert_int_equal(fake.fetches.count + fake.exams.count, 0); /* broken off */
	expect_result("success", 4);
	assert_int_equal(fake.rows, 1);
	end();
}

static void the_end_decides_status_and_what_is_kept(void **state)
{
	(void)state;
	begin(one);
	plan.status = ING_STATUS_EMPTY_PUBLICATION;
	answer_next();
	json_t *o = take_result("empty-publication");
	assert_string_equal(json_string_value(json_object_get(o, "error_message")), "words");
	json_decref(o);
	end();
}

/* Nothing was found, because something failed that may pass: it is tried again later. */
static void a_transient_end_is_parked(void **state)
{
	(void)state;
	open_pipeline(one, &usual);
	fake.tiers = ~0u;
	submit(BY_PMID, ING_LANE_REQUESTS, 1);
	plan.status = ING_STATUS_HOST_BACKOFF;
	fake_gate_refuse(ING_GATE_WAITED, 100);
	fake_settle();
	assert_int_equal(fake.parked, 1);
	assert_null(fake.last_result);
	end();
}

static void an_answer_that_cannot_be_archived_makes_it_worker_error(void **state)
{
	(void)state;
	begin(one_then_two);
	answer_next();
	answer_next();
	fake_archive_done();
	fake_archive_lose();
	answer_next();
	json_decref(take_result("worker-error"));
	end();
}

static void only_so_many_wait_for_the_service_that_they_begin_with(void **state)
{
	(void)state;
	open_pipeline(one, &usual);
	fake.tiers = ~0u;
	for (int i = 0; i < 100; i++)
		submit(BY_PMID, ING_LANE_BULK, i + 1);
	assert_int_equal(fake.parked, 0); /* a service has no shares */
	size_t waiting = fake_gate.waiters.count;
	assert_in_range(waiting, 10, 90);
	submit(BY_PMID, ING_LANE_PRIORITY, 200); /* is not held back */
	assert_int_equal(fake_gate.waiters.count, waiting + 1);
	tick();
	assert_int_equal(fake_gate.waiters.count, waiting + 1);
	struct ing_pipeline_stats stats;
	ing_pipeline_stats(pipeline, &stats);
	assert_int_equal(stats.publications_held_back, 100 - waiting);
	assert_int_equal(stats.publications, 0);
	for (unsigned done = 0; done < 101; done++) {
		plan.asked = plan.answered = 0;
		memset(plan.is_answered, 0, sizeof(plan.is_answered));
		answer_next();
		tick();
		if (done < 30)
			assert_int_equal(fake_gate.waiters.count, waiting);
	}
	fake_settle();
	assert_int_equal(fake.result_rows, 101);
	end();
}

/* The last in the queue of a slow host is to have its turn in time. */
static void none_is_begun_while_a_host_has_enough_to_do(void **state)
{
	struct script many[41] = {{0}}; /* of 20 publications */
	(void)state;
	for (int i = 0; i < 40; i += 2) {
		many[i] = (struct script){API "/1", ING_READ_EUROPEPMC, 0};
		many[i + 1] = (struct script){"https://slow.example/", ING_READ_ARXIV, i + 1};
	}
	open_pipeline(many, &usual);
	plan.most = 2;
	fake_gate.pace_ms = 5000;
	for (int i = 0; i < 100; i++)
		submit(BY_PMID, ING_LANE_BULK, i + 1);
	struct ing_pipeline_stats stats;
	for (unsigned begun = 1; begun <= 8; begun++) {
		answer_next();
		tick();
		ing_pipeline_stats(pipeline, &stats);
		assert_int_equal(stats.publications, begun);
		/* Six of them take 30 s, half of the time. */
		assert_int_equal(stats.publications_held_back, begun < 6 ? 36 - begun : 31);
	}
	fake_gate.pace_ms = 1000;
	tick();
	ing_pipeline_stats(pipeline, &stats);
	assert_int_equal(stats.publications_held_back, 28);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	fake_settle();
	end();
}

static void time_stands_still_while_the_worker_cannot_go_on(void **state)
{
	(void)state;
	uint64_t now_ms = ing_now_ms();
	begin(one_then_two);
	answer_next();
	ing_pipeline_check_publications(pipeline, now_ms);
	pipeline->blocked_by = "database";
	ing_pipeline_check_publications(pipeline, now_ms + 500000);
	assert_int_equal(plan.answered, 1);
	pipeline->blocked_by = NULL;
	ing_pipeline_check_publications(pipeline, now_ms + 550000);
	assert_int_equal(plan.answered, 1);
	ing_pipeline_check_publications(pipeline, now_ms + 570000);
	assert_int_equal(plan.answered, 3);
	expect_result("success", 3);
	end();
}

static void one_that_begins_with_a_page_has_a_share_of_its_host(void **state)
{
	static const struct script page[] = {{"https://p.example/article", ING_READ_PAGE, 0},
		{API "/2", ING_READ_EUROPEPMC, 1}, {0}};
	(void)state;
	open_pipeline(page, &usual);
	fake.tiers = ~0u;
	for (int i = 0; i < 30; i++) /* a share is at least 16 */
		submit("\"base_url\":\"https://p.example/article\"", ING_LANE_REQUESTS, i + 1);
	assert_int_equal(fake_gate.waiters.count, 16);
	fake_settle();
	assert_int_equal(fake.parked, 14);
	answer_next(); /* and leaves it with that page */
	assert_int_equal(fake_gate.waiters.count, 16);
	submit("\"base_url\":\"https://p.example/article\"", ING_LANE_REQUESTS, 31);
	assert_int_equal(fake_gate.waiters.count, 17);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	fake_settle();
	end();
}

static void what_is_found_is_counted_until_it_is_delivered(void **state)
{
	(void)state;
	begin(one_then_two);
	answer_next();
	size_t bytes = pipeline->publications.bytes;
	assert_true(bytes >= strlen("A title"));
	assert_int_equal(pipeline->derived_bytes, 0); /* it does not hold the gate */
	answer_next();
	assert_true(pipeline->publications.bytes >= 2 * bytes);
	answer_next();
	expect_result("success", 3);
	assert_int_equal(pipeline->publications.bytes, 0);
	end();
}

static void none_is_begun_while_too_much_is_kept(void **state)
{
	const size_t much = (size_t)300 << 20;
	(void)state;
	open_pipeline(one, &usual);
	pipeline->publications.bytes = much;
	submit(BY_PMID, ING_LANE_REQUESTS, 1);
	assert_int_equal(fake_gate.waiters.count, 0);
	tick();
	assert_int_equal(fake_gate.waiters.count, 0);
	pipeline->publications.bytes = 0;
	tick();
	answer_next();
	expect_result("success", 1);
	end();
	/* Those that are begun go on, until it is twice as much. */
	begin(one_then_two);
	pipeline->publications.bytes = much;
	answer_next();
	assert_false(plan.stopped);
	pipeline->publications.bytes += much;
	answer_next();
	assert_true(plan.stopped);
	pipeline->publications.bytes -= 2 * much;
	answer_next();
	expect_result("success", 3);
	end();
}

static void a_start_that_is_none_ends_the_request(void **state)
{
	static const struct script nothing[] = {{0}};
	static const struct {
		const char *request, *status;
		const struct script *script;
	} cases[] = {
		{"\"base_url\":\"none\"", "invalid-url", one},
		{"\"ext_ids\":{\"pmid\":\"none\"}", "invalid-url", one},
		{"\"ext_ids\":{\"doi\":\"5\"}", "invalid-url", one}, /* a PMID is no DOI */
		{BY_PMID, "empty-publication", nothing},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		open_pipeline(cases[i].script, &usual);
		submit(cases[i].request, ING_LANE_REQUESTS, 1);
		json_t *o = take_result(cases[i].status);
		assert_null(json_object_get(o, "publication"));
		json_decref(o);
		end();
	}
}

/* Not what was asked for a part of it alone, which says nothing of the rest. */
static void what_was_found_is_kept(void **state)
{
	static const struct {
		const char *request, *url;
		enum ing_keep how;
	} cases[] = {
		{BY_PMID, "", ING_KEEP_WHOLE},
		{BY_PMID ",\"parts\":[\"title\"]", "", ING_KEEP_PARTIAL},
		{BY_PMID ",\"resource\":\"europepmc\"", "", ING_KEEP_PARTIAL},
		{"\"base_url\":\"https://u:p@p.example/a\"", "https://***@p.example/a",
			ING_KEEP_WHOLE},
		{"\"base_url\":\"https://p.example/a\"," BY_PMID, "", ING_KEEP_WHOLE},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		open_pipeline(one, &usual);
		submit(cases[i].request, ING_LANE_REQUESTS, 1);
		answer_next();
		fake_settle();
		assert_int_equal(fake.kept_rows, 1);
		assert_non_null(strstr(fake.last_kept, "{\"answered\":1"));
		assert_string_equal(fake.last_kept_url, cases[i].url);
		assert_int_equal(fake.last_keep, cases[i].how);
		end();
	}
}

/* The result has the very publication that is kept, as far as a message can hold it. */
static void the_result_has_what_is_kept(void **state)
{
	static const size_t sizes[] = {0, 1000, 200000};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(sizes); i++) {
		char *text = ing_alloc(sizes[i] + 1);
		memset(text, '\\', sizes[i]);
		open_pipeline(one, &usual);
		plan.fulltext = text;
		submit(BY_PMID, ING_LANE_REQUESTS, 1);
		answer_next();
		json_t *o = take_result("success");
		json_t *publication = json_object_get(o, "publication");
		bool fits = sizes[i] < 100000;
		assert_int_equal(
			json_is_true(json_object_get(publication, "fulltext_dropped")), !fits);
		assert_int_equal(json_is_string(json_object_get(publication, "fulltext")), fits);
		assert_int_equal(json_integer_value(json_object_get(publication, "answered")), 1);
		assert_string_equal(ing_json_get_text(json_object_get(o, "request"), "ingest_type"),
			"publication");
		if (fits) {
			json_t *kept = json_loads(fake.last_kept, 0, NULL);
			assert_true(json_equal(kept, publication));
			json_decref(kept);
		} else {
			assert_int_equal(strlen(fake.last_kept), sizeof(fake.last_kept) - 1);
		}
		json_decref(o);
		free(text);
		end();
	}
}

static void expect_kept(const char *words)
{
	if (strstr(fake.last_kept, words) == NULL)
		fail_msg("%s: without %s", fake.last_kept, words);
}

/* Also that one could not be had, but not one for which nothing was asked. */
static void a_web_page_is_kept(void **state)
{
	struct ing_findings f;
	(void)state;
	open_pipeline(one, &usual);
	asks_for_webpage = true;
	submit_of("webpage", "\"base_url\":\"https://t.example/#top\"", ING_LANE_REQUESTS, 1);
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	assert_int_equal(fake.last_want, ING_WANT_WALLS | ING_WANT_WEBPAGE | ING_WANT_PDF);
	ing_findings_init(&f);
	f.page.status = ING_PAGE_PARSED;
	f.webpage.read = true;
	f.webpage.title = ing_strdup("A tool");
	fake_exam_done(&f, "text/html");
	fake_settle();
	json_t *o = json_loads(fake.last_result, 0, NULL),
	       *kept = json_loads(fake.last_kept, 0, NULL);
	assert_true(json_equal(kept, json_object_get(o, "webpage")));
	json_decref(kept);
	json_decref(o);
	assert_string_equal(fake.last_kept_url, "https://t.example/#top");
	expect_kept("\"startUrl\":\"https://t.example/\"");
	expect_kept("\"title\":\"A tool\"");
	expect_kept("\"fetchException\":false");
	submit_of("webpage", "\"base_url\":\"https://t.example/\"", ING_LANE_REQUESTS, 2);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_BODY_TOO_LARGE});
	fake_settle();
	assert_int_equal(fake.kept_rows, 2);
	expect_kept("\"broken\":true");
	expect_kept("\"statusCode\":null");
	submit_of("webpage", "\"base_url\":\"gopher://t.example/\"", ING_LANE_REQUESTS, 3);
	fake_settle();
	assert_int_equal(fake.result_rows, 3);
	assert_int_equal(fake.kept_rows, 2);
	asks_for_webpage = false;
	end();
}

/* Wherever its asks are. */
static void a_revocation_in_the_middle_leaves_nothing(void **state)
{
	static const struct script all_at_once[] = {{API "/1", ING_READ_EUROPEPMC, 0},
		{"https://b.example/2", ING_READ_CROSSREF, 0}, {DOI "/3", ING_READ_PAGE, 0},
		{"https://c.example/4", ING_READ_DOAJ, 0}, {0}};
	(void)state;
	begin(all_at_once);
	fake_gate_grant();
	tick();
	fake_fetch_done(200, NULL);
	fake_gate_grant(); /* 1 is looked into, 2 is fetched, 3 and 4 wait */
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(fake.exams.count + fake_gate.waiters.count, 0);
	assert_int_equal(fake.fetches.count, 1);
	ing_pipeline_check_publications(pipeline, ing_now_ms() + 100000);
	fake_fetch_done(200, NULL); /* a transfer keeps its host until it ends */
	fake_settle();
	assert_null(fake.last_result);
	assert_int_equal(plan.answered, 0);
	end();
}

static void a_revocation_before_the_beginning_leaves_nothing(void **state)
{
	(void)state;
	open_pipeline(one, &usual);
	for (int i = 0; i < 100; i++)
		submit(BY_PMID, ING_LANE_BULK, i + 1);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	tick();
	fake_settle();
	assert_null(fake.last_result);
	end();
}

static void a_drain_lets_what_is_begun_finish(void **state)
{
	(void)state;
	open_pipeline(one_then_two, &usual);
	submit(BY_PMID, ING_LANE_REQUESTS, 1);
	submit(BY_PMID, ING_LANE_REQUESTS, 2);
	answer_next();
	ing_pipeline_drain(pipeline);
	assert_int_equal(fake_gate.waiters.count, 2); /* of the first */
	answer_next();
	answer_next();
	expect_result("success", 3);
	assert_int_equal(fake.result_rows, 1);
	end();
}

static void the_end_of_the_drain_breaks_off(void **state)
{
	(void)state;
	begin(one_then_two);
	answer_next();
	fake_gate_grant();
	ing_pipeline_drain(pipeline);
	ing_pipeline_cancel(pipeline);
	fake_settle();
	assert_null(fake.last_result);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_ask_has_a_visit_and_the_last_answer_ends_the_job),
		cmocka_unit_test(pages_that_only_a_browser_reads_are_said),
		cmocka_unit_test(robots_txt_is_asked_of_sites_and_not_of_services),
		cmocka_unit_test(a_failure_is_told_the_assembly_and_ends_nothing),
		cmocka_unit_test(what_an_examiner_cannot_read_is_told_the_assembly),
		cmocka_unit_test(a_wall_says_nothing_of_the_publication),
		cmocka_unit_test(a_bad_status_may_be_a_wall),
		cmocka_unit_test(a_host_that_is_held_for_long_is_not_waited_for),
		cmocka_unit_test(a_host_may_come_to_be_held_while_an_ask_waits),
		cmocka_unit_test(the_first_service_may_be_held),
		cmocka_unit_test(what_the_gate_refuses_is_told_the_assembly),
		cmocka_unit_test(its_time_ends_what_is_under_way),
		cmocka_unit_test(the_end_decides_status_and_what_is_kept),
		cmocka_unit_test(a_transient_end_is_parked),
		cmocka_unit_test(an_answer_that_cannot_be_archived_makes_it_worker_error),
		cmocka_unit_test(only_so_many_wait_for_the_service_that_they_begin_with),
		cmocka_unit_test(none_is_begun_while_a_host_has_enough_to_do),
		cmocka_unit_test(time_stands_still_while_the_worker_cannot_go_on),
		cmocka_unit_test(one_that_begins_with_a_page_has_a_share_of_its_host),
		cmocka_unit_test(what_is_found_is_counted_until_it_is_delivered),
		cmocka_unit_test(none_is_begun_while_too_much_is_kept),
		cmocka_unit_test(a_start_that_is_none_ends_the_request),
		cmocka_unit_test(what_was_found_is_kept),
		cmocka_unit_test(the_result_has_what_is_kept),
		cmocka_unit_test(a_web_page_is_kept),
		cmocka_unit_test(a_revocation_in_the_middle_leaves_nothing),
		cmocka_unit_test(a_revocation_before_the_beginning_leaves_nothing),
		cmocka_unit_test(a_drain_lets_what_is_begun_finish),
		cmocka_unit_test(the_end_of_the_drain_breaks_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
