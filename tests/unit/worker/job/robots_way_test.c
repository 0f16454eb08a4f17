/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests, robots fetches, robots and the gate as they are, wired as the daemon does; only the
 * web, the disk, the database and the broker are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "common/net/robots.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/job.h"
#include "worker/visit/robots_fetch.h"
#include "worker/visit/visit.h"

#define A "https://a.example/"
#define B "https://b.example/"

static uv_loop_t loop;
static struct ing_gate *gate;
static struct ing_robots *robots;
static struct ing_visits *visits;
static struct ing_robots_fetches *fetches;
static struct ing_deliver *deliver;
static struct ing_pipeline *pipeline;

static void begin(void)
{
	fake_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop,
		&(struct ing_gate_conf){
			.settings = {.concurrency = 10,
				.host_concurrency = 1,
				.max_wait_ms = 5000,
				.weights = {1, 1, 1, 1},
				.backoff = {.retry_after_max_ms = 60000, .backoff_ms = 100}}});
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){0});
	fetches = ing_robots_fetches_new(&(struct ing_robots_fetch_conf){.max_redirects = 5,
		.max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		.agent = "tester/1.0",
		.deadline_ms = 60000});
	robots = ing_robots_new(&(struct ing_robots_conf){.obey = true,
		.max_entries = 100,
		.max_bytes = 1 << 20,
		.fetch = ing_robots_fetch_start,
		.ctx = fetches});
	deliver = fake_deliver_new(true, NULL);
	pipeline = ing_pipeline_new(&loop,
		&(struct ing_pipeline_conf){
			.settings = {.max_waiting = 100, .max_redirects = 2, .deadline_ms = 60000},
			.max_unacked = 100});
	const struct ing_stages stages = {
		.intake = FAKE_STAGE, .visits = visits, .pool = FAKE_STAGE, .deliver = deliver};
	ing_visits_wire(visits, &(struct ing_visits_stages){.gate = gate,
					.robots = robots,
					.robots_fetcher = {ing_robots_fetch_raise_lane,
						ing_robots_fetch_waits_for_hold, fetches},
					.fetch = FAKE_STAGE,
					.archive = FAKE_STAGE});
	ing_robots_fetches_wire(fetches, &(struct ing_robots_fetch_stages){.visits = visits,
						 .robots = robots,
						 .pool = FAKE_STAGE,
						 .deliver = deliver});
	ing_pipeline_wire(pipeline, &stages);
}

static struct ing_gate_stats gate_stats(void)
{
	struct ing_gate_stats s = {0};
	ing_gate_stats(gate, &s);
	return s;
}

static void end(void)
{
	assert_true(ing_pipeline_idle(pipeline));
	assert_true(ing_robots_fetches_idle(fetches));
	assert_int_equal(gate_stats().waiting + gate_stats().holding, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_robots_free(robots);
	ing_robots_fetches_free(fetches);
	ing_visits_free(visits);
	ing_gate_free(gate);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static void turn(uint64_t ms)
{
	fake_turn(&loop, ms);
}

static void send_url(const char *base_url)
{
	char text[256];
	int n = snprintf(
		text, sizeof(text), "{\"ingest_type\":\"pdf\",\"base_url\":\"%s\"}", base_url);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = 1},
			.value = text,
			.value_bytes = (size_t)n,
			.topic = "requests",
			.lane = ING_LANE_REQUESTS});
}

/* The next transfer, within some seconds: it is of this URL, and the only one. */
static void expect_fetch(const char *url)
{
	for (uint64_t until = ing_now_ms() + 4000; fake.fetches.count == 0;) {
		assert_true(ing_now_ms() < until);
		turn(10);
	}
	assert_int_equal(fake.fetches.count, 1);
	assert_string_equal(fake_fetch_url(), url);
}

static void answer_file(const char *text)
{
	fake_fetch_answer(&(struct fake_answer){
		.http_status = 200, .body = text, .body_bytes = strlen(text)});
	if (text[0] != '\0') /* there is nothing in it to look into */
		fake_exam_done_robots(text);
	fake_settle(); /* of the robots fetch */
	turn(1);
	fake_settle(); /* of requests that it has ended */
}

static void expect_result(const char *status, const char *words)
{
	fake_settle();
	turn(5); /* who waited for the file goes on */
	fake_settle();
	assert_non_null(fake.last_result);
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(o, "status")), status);
	if (words != NULL)
		assert_non_null(
			strstr(json_string_value(json_object_get(o, "error_message")), words));
	json_decref(o);
}

static void the_file_comes_first_and_once(void **state)
{
	(void)state;
	begin();
	send_url(A "1");
	send_url(A "2");
	send_url(A "private/3");
	expect_fetch(A "robots.txt");
	turn(30);
	assert_int_equal(fake.fetches.count, 1); /* they all wait */
	answer_file("User-agent: *\nDisallow: /private\n");
	assert_int_equal(fake.finished, 1);
	expect_result("skip-robots", "line 2");
	expect_fetch(A "1");
	fake_fetch_done(404, NULL);
	expect_fetch(A "2");
	fake_fetch_done(302, B "4");
	expect_fetch(B "robots.txt");
	fake_fetch_done(404, NULL);
	fake_settle();
	expect_fetch(B "4");
	fake_fetch_done(404, NULL);
	expect_result("terminal-bad-status", NULL);
	assert_int_equal(fake.finished, 3);
	assert_int_equal(fake.rows, 1); /* of the answers with status 200 */
	end();
}

static void a_busy_host_is_waited_for_with_its_file_and_its_pages(void **state)
{
	(void)state;
	begin();
	send_url(A "1");
	expect_fetch(A "robots.txt");
	uint64_t asked_ms = ing_now_ms();
	fake_fetch_answer(&(struct fake_answer){.http_status = 503, .retry_after_s = 1});
	fake_settle();
	expect_fetch(A "robots.txt");
	assert_true(ing_now_ms() - asked_ms >= 990);
	answer_file("");
	expect_fetch(A "1");
	asked_ms = ing_now_ms();
	fake_fetch_answer(&(struct fake_answer){.http_status = 429, .retry_after_s = 1});
	send_url(A "2");
	expect_fetch(A "1"); /* whose turn it was */
	assert_true(ing_now_ms() - asked_ms >= 990);
	fake_fetch_answer(&(struct fake_answer){.http_status = 429, .retry_after_s = 30});
	turn(50); /* longer than anybody may wait */
	expect_result("host-backoff", "is held");
	assert_int_equal(fake.finished, 2);
	end();
}

static void nobody_is_fetched_whose_file_is_unreachable(void **state)
{
	(void)state;
	begin();
	send_url(A "1");
	for (int i = 0; i < 3; i++) {
		expect_fetch(A "robots.txt");
		fake_fetch_done(500, NULL);
		fake_settle();
	}
	expect_result("skip-robots", "unreachable");
	end();
}

/* It is asked for again, later; until then nothing of the authority is. */
static void a_file_that_its_examiner_does_not_survive_forbids(void **state)
{
	static const struct {
		enum ing_exam exam;
		const char *words;
	} cases[] = {
		{ING_EXAM_CRASH, "robots.txt is unreachable (parse-crash)"},
		{ING_EXAM_TIMEOUT, "robots.txt is unreachable (parse-timeout)"},
		{ING_EXAM_BAD_ENCODING, "robots.txt is unreachable (bad-content-encoding)"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		begin();
		send_url(A "1");
		expect_fetch(A "robots.txt");
		fake_fetch_done(200, NULL);
		fake_exam_done_badly(cases[i].exam, "died");
		fake_settle();
		expect_result("skip-robots", cases[i].words);
		send_url(A "2");
		turn(5);
		assert_int_equal(fake.fetches.count, 0);
		expect_result("skip-robots", cases[i].words);
		assert_int_equal(fake.finished, 2);
		end();
	}
}

#define CROWD 1000

/* Counts the turns of the loop with some of the crowd decided, and some not. */
static void watch_slices(uv_timer_t *t)
{
	unsigned *seen = t->data;
	struct ing_pipeline_stats stats;
	ing_pipeline_stats(pipeline, &stats);
	*seen += stats.by_state[ING_JOB_WAITING] > 0 && stats.by_state[ING_JOB_WAITING] < CROWD;
}

/* A thousand requests wait for one file, which forbids them all. */
static void a_crowd_that_waits_for_a_file_does_not_hold_the_loop(void **state)
{
	(void)state;
	unsigned slices = 0;
	uv_timer_t watch = {.data = &slices};
	begin();
	for (int i = 0; i < CROWD; i++)
		send_url(A "1");
	expect_fetch(A "robots.txt");
	uv_timer_init(&loop, &watch);
	uv_timer_start(&watch, watch_slices, 1, 1);
	fake_fetch_answer(&(struct fake_answer){
		.http_status = 200, .body = "User-agent: *\nDisallow: /\n", .body_bytes = 26});
	fake_exam_done_robots("User-agent: *\nDisallow: /\n");
	for (int i = 0; i < 1000 && !ing_pipeline_idle(pipeline); i++) {
		fake_settle();
		turn(1);
	}
	assert_int_equal(fake.finished, CROWD);
	assert_true(slices > 1);
	uv_close((uv_handle_t *)&watch, NULL);
	end();
}

static void stopping_leaves_nothing_behind(void **state)
{
	(void)state;
	for (int step = 0; step < 4; step++) {
		begin();
		send_url(A "1");
		if (step > 0)
			expect_fetch(A "robots.txt");
		if (step > 1)
			fake_fetch_done(200, NULL);
		if (step > 2)
			fake_exam_done_robots(""); /* the record is still under way */
		ing_pipeline_drain(pipeline);
		assert_true(ing_pipeline_idle(pipeline));
		ing_robots_fetches_cancel(fetches);
		fake_settle();
		assert_int_equal(fake.finished, 0);
		end();
	}
}

/* Whoever stops cancels the robots fetches when no request is left: a row of one file is no reason
 * to fetch another. */
static void index_rows_of_a_file_keep_no_request_under_way(void **state)
{
	(void)state;
	begin();
	send_url(A "1");
	expect_fetch(A "robots.txt");
	fake_fetch_answer(&(struct fake_answer){.http_status = 200});
	fake_archive_done();
	assert_int_equal(fake.stored.count, 1);
	send_url(B "1");
	expect_fetch(B "robots.txt");
	ing_pipeline_drain(pipeline);
	assert_true(ing_pipeline_idle(pipeline));
	ing_robots_fetches_cancel(fetches);
	assert_int_equal(fake.fetches.count, 0);
	assert_false(ing_robots_fetches_idle(fetches)); /* the database has the row */
	fake_store_done();
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_comes_first_and_once),
		cmocka_unit_test(a_busy_host_is_waited_for_with_its_file_and_its_pages),
		cmocka_unit_test(nobody_is_fetched_whose_file_is_unreachable),
		cmocka_unit_test(a_file_that_its_examiner_does_not_survive_forbids),
		cmocka_unit_test(a_crowd_that_waits_for_a_file_does_not_hold_the_loop),
		cmocka_unit_test(stopping_leaves_nothing_behind),
		cmocka_unit_test(index_rows_of_a_file_keep_no_request_under_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
