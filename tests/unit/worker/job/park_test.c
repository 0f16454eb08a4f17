/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that wait in a topic: which ones, for how long, what goes with them and comes back, and
 * that one ends with a result when it must not wait any longer. The gate, too, does what the test
 * says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/json.h"
#include "fake_gate.h"
#include "worker/deliver/deliver.h"
#include "worker/job/job.h"
#include "worker/job/result.h"
#include "worker/job/shares.h"

#define ALL_TIERS ((1u << ING_TIERS_) - 1)
#define HOT "https://hot.example/"
#define KEY "sender's key"

static uv_loop_t loop;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static const struct ing_pipeline_conf usual = {
	.settings = {.max_waiting = 40,
		.max_hops = 2,
		.max_redirects = 2,
		.deadline_ms = 60000,
		.host_share = 1,
		.max_attempts = 3,
		.parked_max_age_ms = 1000000,
		.max_scrape_bytes = 1000},
	.weights = {[ING_LANE_REQUESTS] = 1},
	.max_unacked = 100,
	.pdf_timeout_ms = 1000,
	.max_body_bytes = 1000,
	.lane_topics = {[ING_LANE_REQUESTS] = "requests", [ING_LANE_BULK] = "auto"},
	.tier_topics = {"auto", "auto", "auto", "hours", "auto"},
};

static void begin(unsigned tiers)
{
	fake_reset();
	fake_gate_reset();
	fake.tiers = tiers;
	fake.answer_parked = ing_result_answer_parked;
	assert_int_equal(uv_loop_init(&loop), 0);
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){0});
	ing_visits_wire(
		visits, &(struct ing_visits_stages){
				.gate = FAKE_STAGE, .fetch = FAKE_STAGE, .archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(&loop, &usual);
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver});
}

/* The jobs left are called off. */
static void end(void)
{
	ing_pipeline_cancel(pipeline);
	fake_settle();
	assert_true(ing_pipeline_idle(pipeline));
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static struct ing_pipeline_stats stats(void)
{
	struct ing_pipeline_stats s = {0};
	ing_pipeline_stats(pipeline, &s);
	return s;
}

static int64_t wall_ms(void)
{
	struct timespec t = ing_wall_now();
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct sent {
	enum ing_lane lane;
	const char *topic;        /* NULL: requests */
	struct ing_parked parked; /* headers, when it has a host */
};

static void send_as(const char *base_url, const struct sent *sent)
{
	char text[256];
	struct ing_parked_text numbers;
	struct ing_header headers[ING_PARKED_HEADERS];
	size_t count = 0;
	int n = snprintf(
		text, sizeof(text), "{\"ingest_type\":\"file\",\"base_url\":\"%s\"}", base_url);
	struct ing_parked parked = sent->parked;
	parked.origin = "requests";
	if (parked.host != NULL)
		count = ing_parked_format(&parked, &numbers, headers);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = 1},
			.value = text,
			.value_bytes = (size_t)n,
			.key = KEY,
			.key_bytes = strlen(KEY),
			.topic = sent->topic != NULL ? sent->topic : "requests",
			.lane = sent->lane,
			.headers = headers,
			.header_count = count});
}

static void send_url(const char *base_url)
{
	send_as(base_url, &(struct sent){.lane = ING_LANE_REQUESTS});
}

static void fill_share(const char *base_url)
{
	for (unsigned i = 0; i < ING_SHARE_LEAST; i++)
		send_url(base_url);
	assert_int_equal(fake.parked, 0);
}

/* The last one is where it should be, due so long after now. */
static void expect_parked(enum ing_tier tier, int64_t delay_ms, const char *host, unsigned attempt)
{
	int64_t due_ms = fake.last_headers.not_before_ms - wall_ms();
	fake_settle();
	assert_int_equal(fake.last_tier, tier);
	assert_in_range(due_ms, delay_ms - 5000 > 0 ? delay_ms - 5000 : 0, delay_ms);
	assert_string_equal(fake.last_host, host);
	assert_string_equal(fake.last_parked_key, KEY);
	assert_int_equal(fake.last_headers.attempt, attempt);
	assert_null(fake.last_result);
}

static json_t *take_result(const char *status)
{
	fake_settle();
	assert_non_null(fake.last_result);
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "status")), status);
	return o;
}

static void expect_words(const char *status, const char *part)
{
	json_t *o = take_result(status);
	const char *words = json_string_value(json_object_get(o, "error_message"));
	assert_non_null(words);
	if (strstr(words, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", words, part);
	json_decref(o);
}

/* --- shares --- */

static void what_is_beyond_a_hosts_share_is_parked_as_it_came(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fake_gate.pace_ms = 1000;
	fill_share(HOT);
	send_url(HOT "beyond");
	assert_int_equal(fake.parked, 1);
	assert_string_equal(fake.last_parked,
		"{\"ingest_type\":\"file\",\"base_url\":\"https://hot.example/beyond\"}");
	assert_string_equal(fake.last_origin, "requests");
	assert_in_range(fake.last_headers.first_seen_ms, wall_ms() - 5000, wall_ms());
	expect_parked(ING_TIER_1M, ING_SHARE_LEAST * 1000 / 2, "hot.example", 0);
	assert_int_equal(fake.finished, 1);
	assert_int_equal(fake_gate.waiters.count, ING_SHARE_LEAST);
	send_url("https://cold.example/"); /* has its room */
	assert_int_equal(fake_gate.waiters.count, ING_SHARE_LEAST + 1);
	assert_int_equal(stats().parked_share, 1);
	end();
}

static void what_leaves_makes_room(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fill_share(HOT);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 404});
	fake_settle();
	assert_non_null(fake.last_result);
	send_url(HOT);
	assert_int_equal(fake.parked, 0);
	send_url(HOT);
	assert_int_equal(fake.parked, 1);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	send_url(HOT);
	assert_int_equal(fake.parked, 1);
	end();
}

static void who_comes_later_waits_longer(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fake_gate.pace_ms = 100000; /* 16 in memory: 27 min */
	fill_share(HOT);
	unsigned seen[ING_TIERS_] = {0};
	for (unsigned i = 0; i < 900; i++) {
		send_url(HOT);
		seen[fake.last_tier]++;
		fake_settle();
	}
	/* By the whole time that each is expected to wait, 100 s for each that is before it. */
	assert_int_equal(seen[ING_TIER_1M], 0);
	assert_int_equal(seen[ING_TIER_10M], 36 - 16);
	assert_int_equal(seen[ING_TIER_1H], 216 - 36);
	assert_int_equal(seen[ING_TIER_6H], 864 - 216);
	assert_int_equal(seen[ING_TIER_1D], 900 - (864 - 16));
	end();
}

static void what_came_back_is_not_sent_behind_those_that_wait_longer(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fake_gate.pace_ms = 100000;
	fill_share(HOT);
	for (unsigned i = 0; i < 900; i++) {
		send_url(HOT);
		fake_settle();
	}
	send_as(HOT, &(struct sent){.lane = ING_LANE_REQUESTS,
			     .topic = "requests-parked-10m",
			     .parked = {.host = "hot.example"}});
	expect_parked(ING_TIER_10M, 600000, "hot.example", 0);
	send_as(HOT, &(struct sent){.lane = ING_LANE_REQUESTS,
			     .topic = "hours",
			     .parked = {.host = "hot.example"}});
	expect_parked(ING_TIER_6H, 21600000, "hot.example", 0);
	end();
}

static void a_resolver_has_no_share_but_where_it_leads_to_has(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fake_gate.resolver = "doi.example";
	for (unsigned i = 0; i < ING_SHARE_LEAST + 1; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://doi.example/10.1/%u", i);
		send_url(url);
	}
	assert_int_equal(fake.parked, 0);
	for (unsigned i = 0; i < ING_SHARE_LEAST; i++) {
		fake_gate_grant();
		fake_fetch_done(302, HOT);
	}
	assert_int_equal(fake.parked, 0);
	fake_gate_grant();
	fake_fetch_done(200, NULL);
	fake_exam_done_page(HOT "last.pdf");
	assert_int_equal(fake.parked, 0);
	assert_int_equal(fake.stored.count, 0); /* before what was fetched is on disk */
	while (fake.archived.count > 0)
		fake_archive_done();
	assert_int_equal(fake.rows, 1); /* the page is in the index */
	fake_store_done();
	assert_int_equal(fake.parked, 1);
	assert_string_equal(fake.last_parked,
		"{\"ingest_type\":\"file\",\"base_url\":\"https://doi.example/10.1/16\"}");
	expect_parked(ING_TIER_1M, 250, "hot.example", 0);
	assert_int_equal(fake.finished, 1);
	end();
}

/* Else it would ask the resolver in vain each time. */
static void who_came_back_for_a_host_has_its_room_there(void **state)
{
	(void)state;
	static const struct sent back = {.lane = ING_LANE_REQUESTS,
		.topic = "requests-parked-1m",
		.parked = {.host = "hot.example"}};
	begin(ALL_TIERS);
	fake_gate.resolver = "doi.example";
	for (unsigned i = 1; i < ING_SHARE_LEAST; i++)
		send_url(HOT);
	send_as("https://doi.example/10.1/1", &back);
	assert_int_equal(fake.parked, 0);
	send_url(HOT "meanwhile"); /* the room is taken */
	assert_int_equal(fake.parked, 1);
	send_as("https://doi.example/10.1/2", &back);
	assert_int_equal(fake.parked, 2);
	for (unsigned i = 1; i < ING_SHARE_LEAST; i++)
		fake_gate_refuse(ING_GATE_WAITED, 1);
	fake_settle();
	fake.parked = 0;
	fake_gate_grant();
	fake_fetch_done(302, HOT);
	assert_int_equal(fake.parked, 0);
	assert_string_equal(fake_gate.last_url, HOT);
	end();
}

/* Whatever it passes on its way: what comes meanwhile must not take its room. */
static void its_room_is_kept_while_it_is_on_its_way(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	for (unsigned i = 1; i < ING_SHARE_LEAST; i++)
		send_url(HOT);
	send_as("https://mirror.example/1", &(struct sent){.lane = ING_LANE_REQUESTS,
						    .topic = "requests-parked-1m",
						    .parked = {.host = "hot.example"}});
	assert_string_equal(fake_gate.last_url, "https://mirror.example/1");
	send_url(HOT "meanwhile");
	assert_int_equal(fake.parked, 1);
	end();
}

static void what_is_not_due_is_parked_for_the_rest(void **state)
{
	(void)state;
	static const struct {
		int64_t rest_ms;
		enum ing_tier tier;
		int64_t delay_ms;
	} cases[] = {
		{40000, ING_TIER_1M, 40000},
		{900000, ING_TIER_10M, 600000},
		{4000000, ING_TIER_1H, 3600000},
	};
	begin(ALL_TIERS);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		send_as(HOT, &(struct sent){.lane = ING_LANE_REQUESTS,
				     .parked = {.attempt = 1,
					     .host = "hot.example",
					     .not_before_ms = wall_ms() + cases[i].rest_ms}});
		expect_parked(cases[i].tier, cases[i].delay_ms, "hot.example", 1);
	}
	assert_int_equal(fake_gate.waiters.count, 0);
	send_as(HOT, &(struct sent){.lane = ING_LANE_REQUESTS,
			     .parked = {.host = "hot.example", .not_before_ms = wall_ms()}});
	assert_int_equal(fake_gate.waiters.count, 1);
	end();
}

static void a_list_does_not_keep_urgent_requests_out(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fill_share(HOT);
	for (unsigned i = 0; i < ING_SHARE_LEAST; i++)
		send_as(HOT, &(struct sent){.lane = ING_LANE_PRIORITY});
	assert_int_equal(fake.parked, 0);
	send_as(HOT, &(struct sent){.lane = ING_LANE_PRIORITY});
	assert_int_equal(fake.parked, 1);
	end();
}

static void without_a_topic_all_wait_in_memory(void **state)
{
	(void)state;
	begin(0);
	fill_share(HOT);
	send_url(HOT);
	assert_int_equal(fake.parked, 0);
	assert_int_equal(fake_gate.waiters.count, ING_SHARE_LEAST + 1);
	fake_gate_refuse(ING_GATE_HELD, 7200);
	expect_words("host-backoff", "is held");
	end();
}

/* --- retries --- */

static void fail_to_connect(void)
{
	for (;;) {
		fake_gate_grant();
		fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_CONNECT_ERROR});
		if (fake_gate.waiters.count == 0)
			return;
	}
}

static void a_passing_failure_is_tried_three_times_in_all(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	send_url(HOT);
	fail_to_connect();
	expect_parked(ING_TIER_1H, 3600000, "hot.example", 1);
	struct sent again = {.lane = ING_LANE_REQUESTS, .topic = "requests-parked-1h"};
	again.parked = (struct ing_parked){.attempt = 1,
		.host = "hot.example",
		.first_seen_ms = fake.last_headers.first_seen_ms,
		.replays = 2};
	send_as(HOT, &again);
	fail_to_connect();
	expect_parked(ING_TIER_1H, 3600000, "hot.example", 2);
	assert_int_equal(fake.last_headers.first_seen_ms, again.parked.first_seen_ms);
	assert_int_equal(fake.last_headers.replays, 2); /* else it might be replayed for ever */
	again.parked.attempt = 2;
	send_as(HOT, &again);
	fail_to_connect();
	expect_words("connect-error", "tried 3 times");
	assert_int_equal(fake.parked, 2);
	assert_int_equal(stats().parked_retry, 2);
	end();
}

static void what_was_parked_for_its_share_has_all_its_tries(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fill_share(HOT);
	send_as(HOT, &(struct sent){.lane = ING_LANE_REQUESTS,
			     .topic = "requests-parked-1m",
			     .parked = {.attempt = 2, .host = "hot.example"}});
	expect_parked(ING_TIER_1M, 250, "hot.example", 2);
	end();
}

static void neither_urgent_nor_lasting_failures_are_parked(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	send_as(HOT, &(struct sent){.lane = ING_LANE_PRIORITY});
	fail_to_connect();
	json_decref(take_result("connect-error"));
	send_url(HOT);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 404});
	json_decref(take_result("terminal-bad-status"));
	send_url("ftp://hot.example/");
	json_decref(take_result("invalid-url"));
	assert_int_equal(fake.parked, 0);
	end();
}

static void a_failure_waits_in_the_longest_tier_there_is(void **state)
{
	(void)state;
	begin(1u << ING_TIER_10M | 1u << ING_TIER_6H);
	send_url(HOT);
	fail_to_connect();
	expect_parked(ING_TIER_10M, 600000, "hot.example", 1);
	end();
}

/* --- hosts that cannot be asked --- */

static void a_held_host_is_waited_for_in_a_tier(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	send_url(HOT);
	fake_gate_refuse(ING_GATE_HELD, 2 * 86400);
	expect_parked(ING_TIER_1D, 86400000, "hot.example", 0); /* no try */
	send_url(HOT);
	fake_gate_refuse(ING_GATE_WAITED, 700);
	expect_parked(ING_TIER_10M, 600000, "hot.example", 0);
	assert_int_equal(stats().parked_held, 2);
	send_as(HOT, &(struct sent){.lane = ING_LANE_PRIORITY});
	fake_gate_refuse(ING_GATE_HELD, 2 * 86400);
	expect_words("host-backoff", "is held");
	end();
}

/* --- the end of waiting --- */

static void who_has_waited_for_too_long_ends_and_says_why(void **state)
{
	(void)state;
	struct sent old = {.lane = ING_LANE_REQUESTS,
		.topic = "requests-parked-1d",
		.parked = {.host = "hot.example", .first_seen_ms = wall_ms() - 1000001}};
	begin(ALL_TIERS);
	send_as(HOT, &old);
	fake_gate_refuse(ING_GATE_HELD, 7200);
	expect_words("host-backoff", "parked.max_age_ms has passed");
	fill_share(HOT);
	send_as(HOT, &old);
	expect_words("host-backoff", "16 requests of this host are before it");
	expect_words("host-backoff", "parked.max_age_ms has passed");
	old.parked.host = "cold.example";
	send_as("https://cold.example/", &old); /* has its room, and is asked once more */
	assert_int_equal(fake_gate.waiters.count, ING_SHARE_LEAST + 1);
	assert_int_equal(fake.parked, 0);
	end();
}

static void a_time_in_the_future_is_not_believed(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	send_as(HOT,
		&(struct sent){.lane = ING_LANE_REQUESTS,
			.topic = "requests-parked-1d",
			.parked = {.host = "hot.example", .first_seen_ms = wall_ms() + 86400000}});
	fake_gate_refuse(ING_GATE_HELD, 7200);
	assert_in_range(fake.last_headers.first_seen_ms, 1, wall_ms());
	end();
}

static void one_that_cannot_be_parked_after_all_gets_a_result(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	fill_share(HOT);
	send_url(HOT "beyond");
	assert_int_equal(fake.emitted.count, 1);
	fake_emit_done(false);
	expect_words("host-backoff", "its topic is gone");
	json_t *o = take_result("host-backoff");
	const json_t *request = json_object_get(o, "request");
	assert_string_equal(json_string_value(json_object_get(request, "base_url")), HOT "beyond");
	json_decref(o);
	assert_int_equal(fake.finished, 1);
	end();
}

/* Anybody may write headers. */
static void a_host_that_is_made_up_harms_nobody(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	for (unsigned i = 0; i < 2 * ING_SHARE_LEAST; i++) {
		send_as(HOT, &(struct sent){.lane = ING_LANE_REQUESTS,
				     .topic = "requests-parked-1m",
				     .parked = {.host = "%n%s;DROP", .attempt = 999}});
		fake_settle();
	}
	assert_int_equal(fake.parked, ING_SHARE_LEAST); /* a share of its own */
	for (unsigned i = 0; i < ING_SHARE_LEAST; i++)
		fake_gate_refuse(ING_GATE_WAITED, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_beyond_a_hosts_share_is_parked_as_it_came),
		cmocka_unit_test(what_leaves_makes_room),
		cmocka_unit_test(who_comes_later_waits_longer),
		cmocka_unit_test(what_came_back_is_not_sent_behind_those_that_wait_longer),
		cmocka_unit_test(a_resolver_has_no_share_but_where_it_leads_to_has),
		cmocka_unit_test(who_came_back_for_a_host_has_its_room_there),
		cmocka_unit_test(its_room_is_kept_while_it_is_on_its_way),
		cmocka_unit_test(what_is_not_due_is_parked_for_the_rest),
		cmocka_unit_test(a_list_does_not_keep_urgent_requests_out),
		cmocka_unit_test(without_a_topic_all_wait_in_memory),
		cmocka_unit_test(a_passing_failure_is_tried_three_times_in_all),
		cmocka_unit_test(what_was_parked_for_its_share_has_all_its_tries),
		cmocka_unit_test(neither_urgent_nor_lasting_failures_are_parked),
		cmocka_unit_test(a_failure_waits_in_the_longest_tier_there_is),
		cmocka_unit_test(a_held_host_is_waited_for_in_a_tier),
		cmocka_unit_test(who_has_waited_for_too_long_ends_and_says_why),
		cmocka_unit_test(a_time_in_the_future_is_not_believed),
		cmocka_unit_test(one_that_cannot_be_parked_after_all_gets_a_result),
		cmocka_unit_test(a_host_that_is_made_up_harms_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
