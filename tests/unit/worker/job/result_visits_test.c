/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is kept of how a request came to its result: what it says, and that it stays small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/json.h"
#include "worker/job/job.h"
#include "worker/job/result_visits.h"
#include "worker/model/rows.h"

#define MAX_STEPS 300

static const struct ing_visit_user page_user, service_user = {.is_service = true};
static struct ing_visit page = {.user = &page_user}, service = {.user = &service_user};
static const struct ing_visits_origin origin = {.came_ms = 1795419000123,
	.took_ms = 4567,
	.partition = -1,
	.instance = "host@1",
	.lane = ING_LANE_BULK};

static struct {
	struct ing_job job;
	struct ing_work work;
	struct ing_visit_step steps[MAX_STEPS];
	unsigned count;
} world;

static struct ing_visit_step *add_step(const char *url, enum ing_via via)
{
	struct ing_visit_step *s = &world.steps[world.count];
	*s = (struct ing_visit_step){.visit = &page, .url = url, .via = via};
	if (world.count > 0)
		world.steps[world.count - 1].next = s;
	else
		world.work.steps.first = s;
	world.count++;
	return s;
}

static void answer(struct ing_visit_step *s, int http_status)
{
	s->asked = s->answered = true;
	s->capture.http_status = http_status;
	memcpy(s->capture.datetime, "20261123073000", sizeof("20261123073000"));
}

static int set_up(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.work.job = &world.job;
	ing_arena_init(&world.work.ar);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_arena_done(&world.work.ar);
	return 0;
}

static const char *visits(const struct ing_visits_origin *o, const struct ing_row_result *row)
{
	const char *text = ing_result_visits(&world.work, o, row);
	json_t *value = ing_json_parse(text, strlen(text), &(struct ing_json_limits){0}, NULL);
	assert_true(json_is_object(value));
	json_decref(value);
	assert_in_range(strlen(text), 2, ING_VISITS_BYTES);
	return text;
}

static void the_usual_ones_take_no_room_for_urls_that_the_row_has(void **state)
{
	(void)state;
	struct ing_visit_step *s = add_step("https://a.example/", ING_VIA_START);
	s->waited = (struct ing_visit_wait){
		.total_ms = 1500, .robots_ms = 400, .host_ms = 1000, .before = 3};
	s->transfer_ms = 120;
	answer(s, 200);
	s = add_step("https://a.example/p.pdf", ING_VIA_LINK);
	s->transfer_ms = 80;
	answer(s, 200);
	world.work.terminal = s;
	const struct ing_row_result row = {
		.base_url = "https://a.example/", .terminal_url = "https://a.example/p.pdf"};
	assert_string_equal(visits(&origin, &row),
		"{\"came\":\"2026-11-23T07:30:00.123Z\",\"took_ms\":4567,\"instance\":\"host@1\","
		"\"lane\":\"bulk\",\"urls\":[{\"wait_ms\":1500,\"robots_ms\":400,\"host_ms\":1000,"
		"\"before\":3,\"ms\":120,\"http\":200,\"dt\":\"20261123073000\"},"
		"{\"via\":\"link\",\"ms\":80,\"http\":200}]}");
}

static void tries_of_a_url_are_one_entry(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct ing_visit_step *s =
			add_step("https://a.example/x", i == 0 ? ING_VIA_START : ING_VIA_AGAIN);
		s->asked = true;
		s->outcome = ING_STATUS_CONNECT_ERROR;
		s->transfer_ms = 10;
		s->waited = (struct ing_visit_wait){.total_ms = 100, .host_ms = 100, .before = i};
	}
	world.work.terminal = &world.steps[2];
	const struct ing_row_result row = {
		.base_url = "https://b.example/", .terminal_url = "https://c.example/"};
	const struct ing_visits_origin came = {.topic = "t",
		.partition = 0,
		.offset = 77,
		.attempt = 1,
		.parkings = 2,
		.first_seen_ms = 1795419000000};
	assert_non_null(strstr(visits(&came, &row),
		"\"topic\":\"t\",\"partition\":0,\"offset\":77,\"attempt\":1,\"parked\":2,"
		"\"first_seen\":\"2026-11-23T07:30:00.000Z\",\"urls\":[{\"url\":\"https://a.example/"
		"x\",\"wait_ms\":300,\"host_ms\":300,\"before\":2,\"ms\":30,\"tries\":3,"
		"\"failed\":\"connect-error\"}]}"));
}

static void nothing_asked_is_an_empty_list(void **state)
{
	(void)state;
	const struct ing_row_result row = {.base_url = "x"};
	assert_non_null(strstr(visits(&origin, &row), ",\"urls\":[]}"));
}

static void a_url_of_which_all_is_known_is_an_empty_object(void **state)
{
	(void)state;
	add_step("https://a.example/", ING_VIA_START);
	const struct ing_row_result row = {.base_url = "https://a.example/"};
	assert_non_null(strstr(visits(&origin, &row), ",\"urls\":[{}]}"));
}

/* Queries of services may have a key of the operator's. */
static void the_query_of_a_service_is_left_out(void **state)
{
	(void)state;
	add_step("https://api.example/w?api_key=s3cret", ING_VIA_START)->visit = &service;
	const struct ing_row_result row = {.base_url = "doi:10.1/x"};
	const char *text = visits(&origin, &row);
	assert_null(strstr(text, "s3cret"));
	assert_non_null(strstr(text, "[{\"url\":\"https://api.example/w\",\"cut\":true}]"));
}

/* Of any number of URLs of any length. */
static void it_stays_within_its_bytes(void **state)
{
	(void)state;
	static char urls[MAX_STEPS][2000];
	const struct ing_row_result row = {.base_url = "x"};
	for (size_t length = 20; length < sizeof(urls[0]); length += length / 3)
		for (unsigned count = 1; count < MAX_STEPS; count += 1 + count / 2) {
			set_up(NULL);
			for (unsigned i = 0; i < count; i++) {
				memset(urls[i], i % 2 ? '"' : 'a', length);
				urls[i][length] = '\0';
				struct ing_visit_step *s = add_step(urls[i], ING_VIA_REDIRECT);
				answer(s, 302);
				s->waited = (struct ing_visit_wait){.total_ms = UINT32_MAX,
					.robots_ms = UINT32_MAX,
					.host_ms = UINT32_MAX,
					.before = UINT32_MAX};
			}
			const char *text = visits(&origin, &row);
			json_t *o = ing_json_parse(
				text, strlen(text), &(struct ing_json_limits){0}, NULL);
			size_t kept = json_array_size(json_object_get(o, "urls"));
			assert_int_equal(kept + (size_t)ing_json_get_number(o, "left_out"), count);
			assert_true(kept > 0);
			json_decref(o);
			tear_down(NULL);
		}
	set_up(NULL);
}

int main(void)
{
#define VISITS(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		VISITS(the_usual_ones_take_no_room_for_urls_that_the_row_has),
		VISITS(tries_of_a_url_are_one_entry),
		VISITS(nothing_asked_is_an_empty_list),
		VISITS(a_url_of_which_all_is_known_is_an_empty_object),
		VISITS(the_query_of_a_service_is_left_out),
		VISITS(it_stays_within_its_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
