/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How URLs come to be asked for: robots.txt, the gate, second tries, blocks, lanes. The gate and
 * the other stages do what each test tells them to.
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
#include "fake_gate.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/job.h"
#include "worker/visit/robots_fetch.h"
#include "worker/visit/visit.h"

#define A "https://a.example/"
#define B "https://b.example/"

static uv_loop_t loop;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;
static struct ing_robots_fetches *fetches; /* NULL: robots has its files from others */

static const struct ing_pipeline_conf usual = {.settings = {.max_waiting = 100,
						       .max_hops = 2,
						       .max_redirects = 2,
						       .deadline_ms = 60000,
						       .max_scrape_bytes = 1000},
	.max_unacked = 100,
	.pdf_timeout_ms = 1000,
	.max_body_bytes = 1000};

/* A list `javascript` of one host, and an entry of a web page's. */
static bool needs_browser(void *rules_ctx, const char *url, bool is_webpage)
{
	assert_ptr_equal(rules_ctx, FAKE_STAGE);
	return strstr(url, "//script.example/") != NULL ||
	       (is_webpage && strstr(url, "/tool/") != NULL);
}

static void begin_with(const struct ing_pipeline_conf *conf, bool tls_fallback)
{
	fake_reset();
	fake_gate_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){.host_rules = FAKE_STAGE,
					       .blocked_hosts = FAKE_STAGE,
					       .tls_fallback = tls_fallback});
	ing_visits_wire(visits, &(struct ing_visits_stages){.gate = FAKE_STAGE,
					.robots = FAKE_STAGE,
					.robots_fetcher = {ing_robots_fetch_raise_lane,
						ing_robots_fetch_waits_for_hold, fetches},
					.fetch = FAKE_STAGE,
					.archive = FAKE_STAGE});
	if (fetches != NULL)
		ing_robots_fetches_wire(
			fetches, &(struct ing_robots_fetch_stages){.visits = visits});
	pipeline = ing_pipeline_new(&loop, conf);
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver,
					    .needs_browser = needs_browser,
					    .rules_ctx = FAKE_STAGE});
}

static void begin(const struct ing_pipeline_conf *conf)
{
	begin_with(conf, false);
}

static void end(void)
{
	assert_true(ing_pipeline_idle(pipeline));
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static void turn(uint64_t ms)
{
	fake_turn(&loop, ms);
}

static void send_in_lane(enum ing_lane lane, const char *base_url)
{
	char text[256];
	int n = snprintf(
		text, sizeof(text), "{\"ingest_type\":\"pdf\",\"base_url\":\"%s\"}", base_url);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = 1},
			.value = text,
			.value_bytes = (size_t)n,
			.topic = "requests",
			.lane = lane});
}

static void send_url(const char *base_url)
{
	send_in_lane(ING_LANE_REQUESTS, base_url);
}

/* The one job has ended: its result, the caller's to free. */
static json_t *take_result(const char *status, size_t hops)
{
	fake_settle();
	assert_non_null(fake.last_result);
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "status")), status);
	assert_int_equal(json_array_size(json_object_get(o, "hops")), hops);
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding + fake.fetches.count, 0);
	return o;
}

static void expect_result(const char *status, size_t hops)
{
	json_decref(take_result(status, hops));
}

static void expect_words(const json_t *result, const char *part)
{
	const char *words = json_string_value(json_object_get(result, "error_message"));
	assert_non_null(words);
	if (strstr(words, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", words, part);
}

static uint64_t jobs_in(enum ing_job_state state)
{
	struct ing_pipeline_stats stats;
	ing_pipeline_stats(pipeline, &stats);
	return stats.by_state[state];
}

static void end_with_pdf(void)
{
	fake_fetch_done(200, NULL);
	fake_exam_done_pdf("words");
}

/* --- robots.txt --- */

/* The oldest of those who wait for the file goes on. */
static void wake(void)
{
	fake_robots_done();
	turn(1);
}

static void robots_is_asked_before_the_gate_and_behind_it(void **state)
{
	(void)state;
	begin(&usual);
	fake.robots.verdict = ING_ROBOTS_PENDING;
	send_url(A "x#y");
	assert_int_equal(jobs_in(ING_JOB_WAITING), 1);
	assert_int_equal(fake_gate.waiters.count, 0);
	wake(); /* not known after all */
	assert_int_equal(fake.robots_waiters.count, 1);
	fake.robots = (struct ing_robots_view){.crawl_delay_ms = 3000};
	wake();
	assert_int_equal(jobs_in(ING_JOB_WAITING), 1);
	assert_string_equal(fake_gate.last_url, A "x");
	assert_int_equal(fake_gate.ticket.crawl_delay_ms, 3000);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_REQUESTS);
	assert_false(fake_gate.ticket.again);
	/* While it waited the file has become too old. */
	fake.robots = (struct ing_robots_view){.verdict = ING_ROBOTS_PENDING};
	fake_gate_grant();
	assert_int_equal(fake_gate.left_without, 1);
	assert_int_equal(fake_gate.holding, 0);
	assert_int_equal(fake.fetches.count, 0);
	assert_int_equal(jobs_in(ING_JOB_GATED), 1);
	fake.robots = (struct ing_robots_view){0};
	wake();
	assert_string_equal(fake_gate.last_url, A "x");
	fake_gate_grant();
	assert_string_equal(fake_fetch_url(), A "x");
	end_with_pdf();
	assert_int_equal(fake_gate.report.kind, ING_ANSWER_GOOD);
	expect_result("success", 1);
	end();
}

#define MANY 20

/* A hostile file costs milliseconds for each URL, and many may be due in one turn of the loop. */
static void files_that_cost_time_are_asked_a_few_a_turn(void **state)
{
	(void)state;
	begin(&usual);
	fake.robots_cost_ms = 3;
	for (int i = 0; i < MANY; i++)
		send_url(A "x");
	assert_in_range(fake.asked, 1, 2); /* 5 ms of a turn, and each takes 3 or more */
	for (unsigned before = fake.asked; before < MANY; before = fake.asked) {
		uv_run(&loop, UV_RUN_NOWAIT);
		assert_in_range(fake.asked - before, 1, 2);
	}
	assert_int_equal(fake.asked, MANY);
	assert_int_equal(fake_gate.waiters.count, MANY);
	ing_pipeline_cancel(pipeline);
	end();
}

/* Some that are put off are called off. */
static void nobody_is_left_who_was_put_off(void **state)
{
	(void)state;
	begin(&usual);
	fake.robots_cost_ms = 3;
	for (int i = 0; i < MANY; i++)
		send_url(A "x");
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_true(ing_pipeline_idle(pipeline));
	turn(2);
	assert_in_range(fake.asked, 1, 2);
	end();
}

static void what_robots_forbids_is_never_asked_for(void **state)
{
	(void)state;
	const struct ing_robots_view no = {
		.verdict = ING_ROBOTS_DISALLOWED, .detail = "line 3: Disallow: /"};
	begin(&usual);
	fake.robots = no;
	send_url(A);
	json_t *o = take_result("skip-robots", 0);
	expect_words(o, "line 3");
	assert_null(json_object_get(o, "retry_after"));
	json_decref(o);
	/* for now: the file is unreachable */
	fake.robots.retry_after_s = 300;
	send_url(A);
	o = take_result("skip-robots", 0);
	assert_int_equal(json_integer_value(json_object_get(o, "retry_after")), 300);
	json_decref(o);
	/* forbidden while it waited */
	fake.robots = (struct ing_robots_view){0};
	send_url(A);
	fake.robots = no;
	fake_gate_grant();
	expect_result("skip-robots", 0);
	/* a redirect's target, a page's link: no hop, terminal stays what led there */
	for (int way = 0; way < 2; way++) {
		fake.robots = (struct ing_robots_view){0};
		send_url(A);
		fake_gate_grant();
		fake.robots = no;
		if (way == 0) {
			fake_fetch_done(302, B);
		} else {
			fake_fetch_done(200, NULL);
			fake_exam_done_page(B);
		}
		o = take_result("skip-robots", 1);
		const json_t *terminal = json_object_get(o, "terminal");
		assert_string_equal(
			json_string_value(json_object_get(terminal, "terminal_url")), A);
		json_decref(o);
	}
	end();
}

static void who_cannot_be_asked_ends_the_request(void **state)
{
	(void)state;
	begin(&usual);
	fake.robots = (struct ing_robots_view){.verdict = ING_ROBOTS_FAILED,
		.outcome = ING_STATUS_CONNECT_ERROR,
		.detail = "connection refused"};
	send_url(A);
	json_t *o = take_result("connect-error", 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "hops"), 0)), A);
	expect_words(o, "refused");
	assert_null(json_object_get(o, "retry_after"));
	json_decref(o);
	fake.robots.outcome = ING_STATUS_HOST_BACKOFF;
	fake.robots.retry_after_s = 77;
	send_url(A);
	o = take_result("host-backoff", 0);
	assert_int_equal(json_integer_value(json_object_get(o, "retry_after")), 77);
	json_decref(o);
	end();
}

static void waiting_for_robots_can_be_called_off(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_grant();
	fake.robots.verdict = ING_ROBOTS_PENDING;
	send_url(A);
	fake_fetch_done(302, B);
	assert_int_equal(fake.robots_waiters.count, 2);
	ing_pipeline_drain(pipeline); /* the one that has begun goes on */
	assert_int_equal(fake.robots_waiters.count, 1);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(fake.robots_waiters.count, 0);
	fake_archive_done();
	assert_null(fake.last_result);
	end();
}

static void a_transfer_nobody_wants_keeps_its_host_to_its_end(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	send_url(B);
	fake_gate_grant();
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(fake_gate.waiters.count, 0);
	assert_int_equal(fake.fetches.count, 1);
	assert_int_equal(fake_gate.holding, 1);
	assert_false(ing_pipeline_idle(pipeline));
	fake_fetch_done(200, NULL);
	assert_int_equal(fake_gate.report.kind, ING_ANSWER_GOOD);
	assert_int_equal(fake.archived.count, 0);
	assert_null(fake.last_result);
	assert_true(ing_pipeline_idle(pipeline));
	end();
}

static void a_transfer_called_off_counts_with_its_host(void **state)
{
	(void)state;
	for (int revoked = 0; revoked < 2; revoked++) {
		begin(&usual);
		send_url(A);
		fake_gate_grant();
		if (revoked == 1)
			ing_pipeline_on_revoked(pipeline, 3, 7);
		ing_pipeline_cancel(pipeline);
		assert_int_equal(fake_gate.reports, 1);
		assert_int_equal(fake_gate.report.kind, ING_ANSWER_CANCELLED);
		assert_int_equal(fake.fetches.count, 0);
		assert_true(ing_pipeline_idle(pipeline));
		end();
	}
}

static void a_drain_does_not_wait_for_holds(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(302, B);
	assert_int_equal(fake_gate.waiters.count, 1);
	ing_pipeline_drain(pipeline);
	turn(120);
	assert_int_equal(fake_gate.waiters.count, 1); /* it has begun, and may go on */
	fake_gate.hold = true;
	turn(120);
	assert_int_equal(fake_gate.waiters.count, 0);
	fake_archive_done();
	assert_null(fake.last_result);
	end();
}

static void who_waits_for_robots_lends_it_its_lane(void **state)
{
	(void)state;
	fetches = ing_robots_fetches_new(&(struct ing_robots_fetch_conf){.deadline_ms = 1000});
	begin(&usual);
	/* As robots would, which are made up here; their entry is this pointer. */
	ing_robots_fetch_start(fetches, A "robots.txt", FAKE_STAGE);
	fake.robots.verdict = ING_ROBOTS_PENDING;
	send_in_lane(ING_LANE_DAILY, A);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_DAILY);
	send_in_lane(ING_LANE_PRIORITY, A);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_PRIORITY);
	assert_string_equal(fake_gate.last_url, A "robots.txt");
	assert_int_equal(fake_gate.waiters.count, 1);
	ing_pipeline_drain(pipeline);
	ing_robots_fetches_cancel(fetches);
	end();
	ing_robots_fetches_free(ING_TAKE(fetches));
}

static void nobody_goes_on_who_was_called_off_after_the_file_came(void **state)
{
	(void)state;
	begin(&usual);
	fake.robots.verdict = ING_ROBOTS_PENDING;
	for (int i = 0; i < 3; i++)
		send_url(A "x");
	for (int i = 0; i < 3; i++)
		fake_robots_done();
	assert_int_equal(fake.asked, 3); /* nobody goes on from inside the call */
	fake.robots = (struct ing_robots_view){0};
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_true(ing_pipeline_idle(pipeline));
	turn(1);
	assert_int_equal(fake.asked, 3);
	end();
}

/* --- further tries --- */

static void a_throttled_request_waits_with_its_host(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 503,
		.body = "busy",
		.body_bytes = 4,
		.content_type = "text/html",
		.retry_after_s = 9});
	assert_int_equal(fake_gate.report.kind, ING_ANSWER_THROTTLED);
	assert_int_equal(fake_gate.report.retry_after_s, 9);
	assert_int_equal(fake_gate.waiters.count, 0); /* a wall first? */
	assert_int_equal(fake.last_want, ING_WANT_WALLS);
	fake_exam_done_page(NULL);
	assert_int_equal(jobs_in(ING_JOB_GATED), 1);
	assert_true(fake_gate.ticket.again);
	assert_int_equal(fake_gate.ticket.delay_ms, 0);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 429, .retry_after_s = 60});
	assert_true(fake_gate.ticket.again); /* no body to look into */
	fake_gate_grant();
	assert_int_equal(fake.archived.count, 2); /* each answer is kept */
	end_with_pdf();
	json_t *o = take_result("success", 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "hops"), 0)), A);
	const json_t *terminal = json_object_get(o, "terminal");
	assert_int_equal(
		json_integer_value(json_object_get(terminal, "terminal_status_code")), 200);
	json_decref(o);
	end();
}

static void a_wall_is_not_tried_again(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(503, NULL);
	struct ing_findings f;
	ing_findings_init(&f);
	f.page.status = ING_PAGE_PARSED;
	f.page.wall = ING_WALL_CHALLENGE;
	fake_exam_done(&f, "text/html");
	expect_result("blocked-challenge", 1);
	end();
}

static void what_passes_is_tried_up_to_its_ceiling(void **state)
{
	(void)state;
	static const unsigned delays[][2] = {{750, 1250}, {1500, 2500}};
	begin(&usual);
	send_url(A);
	for (int i = 0; i < 3; i++) {
		fake_gate_grant();
		fake_fetch_answer(&(struct fake_answer){
			.outcome = ING_STATUS_CONNECT_ERROR, .transient = true});
		assert_int_equal(fake_gate.report.kind, ING_ANSWER_FAILED);
		if (i == 2)
			break;
		assert_in_range(fake_gate.ticket.delay_ms, delays[i][0], delays[i][1]);
		assert_true(fake_gate.ticket.again);
	}
	json_t *o = take_result("connect-error", 1);
	expect_words(o, "a test's failure");
	json_decref(o);
	assert_int_equal(fake_gate.reports, 3);
	/* What is permanent is not, and a 500 three times. */
	send_url(A);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_TLS_ERROR});
	expect_result("tls-error", 1);
	send_url(A);
	for (int i = 0; i < 3; i++) {
		fake_gate_grant();
		fake_fetch_done(500, NULL);
	}
	expect_result("terminal-bad-status", 1);
	/* The next URL has tries of its own, which go to the back of the queue at first. */
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(500, NULL);
	fake_gate_grant();
	fake_fetch_done(302, B);
	assert_false(fake_gate.ticket.again);
	assert_int_equal(fake_gate.ticket.delay_ms, 0);
	for (int i = 0; i < 3; i++) {
		fake_gate_grant();
		fake_fetch_done(500, NULL);
	}
	expect_result("terminal-bad-status", 2);
	end();
}

static void a_second_try_is_no_loop(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(302, B);
	fake_gate_grant();
	fake_fetch_done(502, NULL);
	fake_gate_grant();
	fake_fetch_done(302, B "c");
	fake_gate_grant();
	end_with_pdf();
	expect_result("success", 3);
	/* but a redirect to itself after one is */
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(502, NULL);
	fake_gate_grant();
	fake_fetch_done(302, A);
	expect_result("redirect-loop", 1);
	end();
}

static void only_work_counts_against_the_deadline(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.deadline_ms = 100;
	begin(&conf);
	send_url(A);
	turn(150);
	fake_gate_grant();
	fake_fetch_done(500, NULL);
	turn(150);
	fake_gate_grant();
	end_with_pdf();
	expect_result("success", 1);
	/* and when it is used up nothing is tried any more */
	send_url(A);
	fake_gate_grant();
	turn(150);
	fake_fetch_answer(
		&(struct fake_answer){.outcome = ING_STATUS_READ_TIMEOUT, .transient = true});
	expect_result("timeout", 1);
	end();
}

/* --- hosts that cannot be asked now --- */

static void a_held_host_says_when_to_come_back(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_refuse(ING_GATE_HELD, 120);
	json_t *o = take_result("host-backoff", 0);
	assert_int_equal(json_integer_value(json_object_get(o, "retry_after")), 120);
	expect_words(o, "is held");
	json_decref(o);
	send_url(A);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 429, .retry_after_s = 99});
	fake_gate_refuse(ING_GATE_WAITED, 0);
	o = take_result("host-backoff", 1);
	assert_int_equal(json_integer_value(json_object_get(o, "retry_after")), 1);
	expect_words(o, "0 requests of this host were before it");
	const json_t *terminal = json_object_get(o, "terminal");
	assert_int_equal(
		json_integer_value(json_object_get(terminal, "terminal_status_code")), 429);
	json_decref(o);
	end();
}

static void a_blocked_host_is_left_alone_at_once(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake.blocked_host = "a.example";
	fake_gate_grant(); /* it was not when the request came */
	json_t *o = take_result("skip-url-blocklist", 0);
	expect_words(o, "operator");
	json_decref(o);
	assert_int_equal(fake_gate.left_without, 1);
	send_url(A "y");
	expect_result("skip-url-blocklist", 0);
	fake.blocked_host = "b.example";
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(302, B);
	expect_result("skip-url-blocklist", 1);
	end();
}

/* --- what goes along with a URL --- */

static void certificates_may_go_unverified_where_a_rule_says_so(void **state)
{
	(void)state;
	static const struct {
		bool otherwise;
		enum ing_host_choice rule;
		bool want;
	} cases[] = {
		{false, ING_CHOICE_UNSET, false},
		{false, ING_CHOICE_YES, true},
		{true, ING_CHOICE_UNSET, true},
		{true, ING_CHOICE_NO, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		begin_with(&usual, cases[i].otherwise);
		fake.rule =
			(struct ing_host_rule){.host = "a.example", .tls_fallback = cases[i].rule};
		send_url(A);
		fake_gate_grant();
		assert_int_equal(fake.last_tls_fallback, cases[i].want);
		fake_fetch_answer(
			&(struct fake_answer){.http_status = 404, .unverified = cases[i].want});
		json_t *o = take_result("terminal-bad-status", 1);
		assert_int_equal(json_is_true(json_object_get(o, "tls_unverified")), cases[i].want);
		json_decref(o);
		end();
	}
}

/* Whatever becomes of the request, and wherever on its way the page is. */
static void a_page_that_only_a_browser_reads_is_said(void **state)
{
	(void)state;
	static const struct {
		const char *start, *next;
		bool want;
	} cases[] = {
		{A, NULL, false}, {"https://script.example/", NULL, true},
		{A, "https://script.example/", true}, {"https://script.example/", B, true},
		{A, B, false},
		{A "tool/", NULL,
			false}, /* an entry about web pages, and the request wants a PDF */
	};
	begin(&usual);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		send_url(cases[i].start);
		fake_gate_grant();
		if (cases[i].next != NULL) {
			fake_fetch_done(302, cases[i].next);
			fake_gate_grant();
		}
		fake_fetch_done(404, NULL);
		json_t *o = take_result("terminal-bad-status", cases[i].next != NULL ? 2 : 1);
		assert_int_equal(json_is_true(json_object_get(o, "needs_browser")), cases[i].want);
		assert_int_equal(json_object_get(o, "needs_browser") != NULL, cases[i].want);
		json_decref(o);
	}
	end();
}

static void user_information_is_dropped_and_said(void **state)
{
	(void)state;
	begin(&usual);
	send_url("https://me:secret@a.example/");
	fake_gate_grant();
	assert_string_equal(fake_fetch_url(), A);
	fake_fetch_done(404, NULL);
	json_t *o = take_result("terminal-bad-status", 1);
	assert_true(json_is_true(json_object_get(o, "userinfo_dropped")));
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "hops"), 0)), A);
	json_decref(o);
	send_url("https://me@a.example/"); /* also when nothing was fetched */
	fake_gate_refuse(ING_GATE_HELD, 5);
	o = take_result("host-backoff", 0);
	assert_true(json_is_true(json_object_get(o, "userinfo_dropped")));
	json_decref(o);
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(302, "https://:secret@b.example/");
	assert_string_equal(fake_gate.last_url, B);
	fake_gate_grant();
	fake_fetch_done(404, NULL);
	assert_null(strstr(fake.last_result, "secret"));
	o = take_result("terminal-bad-status", 2);
	assert_true(json_is_true(json_object_get(o, "userinfo_dropped")));
	json_decref(o);
	send_url(A);
	fake_gate_grant();
	fake_fetch_done(404, NULL);
	o = take_result("terminal-bad-status", 1);
	assert_null(json_object_get(o, "userinfo_dropped"));
	assert_null(json_object_get(o, "tls_unverified"));
	json_decref(o);
	end();
}

static void the_referer_is_the_hop_before(void **state)
{
	(void)state;
	begin(&usual);
	send_url(A);
	fake_gate_grant();
	assert_string_equal(fake.last_referer, "");
	fake_fetch_done(302, A "page");
	fake_gate_grant();
	assert_string_equal(fake.last_referer, A);
	fake_fetch_done(200, NULL);
	fake_exam_done_page(B "1");
	fake_gate_grant();
	assert_string_equal(fake.last_referer, A "page");
	fake_fetch_done(500, NULL);
	fake_gate_grant();
	assert_string_equal(fake.last_referer, A "page");
	fake_fetch_done(302, B "2");
	fake_gate_grant();
	assert_string_equal(fake.last_referer, B "1");
	end_with_pdf();
	expect_result("success", 4);
	end();
}

/* --- revocations --- */

static void a_revocation_is_of_one_partition_and_epoch(void **state)
{
	(void)state;
	static const char text[] = "{\"ingest_type\":\"pdf\",\"base_url\":\"" A "\"}";
	static const struct ing_token tokens[] = {
		{0, 7, 1}, {9, 7, 1}, {9, 8, 1}, {4, 7, 1}, {9, 7, 2}};
	begin(&usual);
	for (size_t i = 0; i < ING_ARRAY_LEN(tokens); i++)
		ing_pipeline_on_message(pipeline, &(struct ing_message){.token = tokens[i],
							  .value = text,
							  .value_bytes = sizeof(text) - 1,
							  .topic = "requests",
							  .lane = ING_LANE_BULK});
	ing_pipeline_on_revoked(pipeline, 1000, 7); /* that nothing came from */
	assert_int_equal(jobs_in(ING_JOB_WAITING), 5);
	ing_pipeline_on_revoked(pipeline, 9, 7);
	assert_int_equal(jobs_in(ING_JOB_WAITING), 3);
	ing_pipeline_on_revoked(pipeline, 0, 7);
	assert_int_equal(jobs_in(ING_JOB_WAITING), 2);
	ing_pipeline_drain(pipeline);
	end();
}

/* --- lanes --- */

static unsigned fill(enum ing_lane lane)
{
	unsigned n = 0;
	while (!fake.paused[lane] && n < 1000) {
		send_in_lane(lane, A);
		n++;
	}
	return n;
}

static void a_full_lane_leaves_room_for_the_others(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.max_waiting = 60;
	conf.weights[ING_LANE_PRIORITY] = 16;
	conf.weights[ING_LANE_REQUESTS] = 8;
	conf.weights[ING_LANE_DAILY] = 4;
	conf.weights[ING_LANE_BULK] = 2;
	begin(&conf);
	assert_int_equal(fill(ING_LANE_BULK), 2 + 30);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_BULK);
	turn(120);
	assert_false(fake.paused[ING_LANE_PRIORITY]);
	assert_int_equal(fill(ING_LANE_PRIORITY), 16);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_PRIORITY);
	assert_int_equal(fill(ING_LANE_DAILY), 4);
	assert_int_equal(fill(ING_LANE_REQUESTS), 8);
	/* A lane goes on when a sixteenth of what it may have is free, and one more. */
	for (int i = 0; i < 2; i++) {
		turn(120);
		assert_true(fake.paused[ING_LANE_BULK]);
		fake_gate_refuse(ING_GATE_WAITED, 1); /* the oldest: of the bulk lane */
		fake_settle();
	}
	turn(120);
	assert_false(fake.paused[ING_LANE_BULK]);
	assert_false(fake.paused[ING_LANE_DAILY]); /* what bulk has left is for all */
	ing_pipeline_drain(pipeline);
	end();
}

/* However small its share is. */
static void every_lane_has_some_room(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.max_waiting = 8;
	conf.weights[ING_LANE_PRIORITY] = 1000;
	conf.weights[ING_LANE_REQUESTS] = conf.weights[ING_LANE_BULK] = 1;
	begin(&conf);
	assert_int_equal(fill(ING_LANE_PRIORITY), 3 + 3);
	turn(120);
	assert_false(fake.paused[ING_LANE_BULK]);
	assert_int_equal(fill(ING_LANE_BULK), 1);
	assert_int_equal(fill(ING_LANE_REQUESTS), 1);
	ing_pipeline_drain(pipeline);
	end();
}

static void a_lane_alone_has_all_the_room(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.weights[ING_LANE_REQUESTS] = 8;
	begin(&conf);
	assert_int_equal(fill(ING_LANE_REQUESTS), 100);
	ing_pipeline_drain(pipeline);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(robots_is_asked_before_the_gate_and_behind_it),
		cmocka_unit_test(nobody_goes_on_who_was_called_off_after_the_file_came),
		cmocka_unit_test(files_that_cost_time_are_asked_a_few_a_turn),
		cmocka_unit_test(nobody_is_left_who_was_put_off),
		cmocka_unit_test(what_robots_forbids_is_never_asked_for),
		cmocka_unit_test(who_cannot_be_asked_ends_the_request),
		cmocka_unit_test(waiting_for_robots_can_be_called_off),
		cmocka_unit_test(a_transfer_nobody_wants_keeps_its_host_to_its_end),
		cmocka_unit_test(a_transfer_called_off_counts_with_its_host),
		cmocka_unit_test(a_drain_does_not_wait_for_holds),
		cmocka_unit_test(who_waits_for_robots_lends_it_its_lane),
		cmocka_unit_test(a_throttled_request_waits_with_its_host),
		cmocka_unit_test(a_wall_is_not_tried_again),
		cmocka_unit_test(what_passes_is_tried_up_to_its_ceiling),
		cmocka_unit_test(a_second_try_is_no_loop),
		cmocka_unit_test(only_work_counts_against_the_deadline),
		cmocka_unit_test(a_held_host_says_when_to_come_back),
		cmocka_unit_test(a_blocked_host_is_left_alone_at_once),
		cmocka_unit_test(certificates_may_go_unverified_where_a_rule_says_so),
		cmocka_unit_test(a_page_that_only_a_browser_reads_is_said),
		cmocka_unit_test(user_information_is_dropped_and_said),
		cmocka_unit_test(the_referer_is_the_hop_before),
		cmocka_unit_test(a_revocation_is_of_one_partition_and_epoch),
		cmocka_unit_test(a_full_lane_leaves_room_for_the_others),
		cmocka_unit_test(every_lane_has_some_room),
		cmocka_unit_test(a_lane_alone_has_all_the_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
