/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests under operators' orders: what begins no transfer, what waits where, what is parked, and when a worker
 * that is drained has finished. The gate does what the test says.
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
#include "worker/fleet/orders.h"
#include "worker/job/job.h"
#include "worker/job/result.h"
#include "worker/job/shares.h"

#define ALL_TIERS ((1u << ING_TIERS_) - 1)
#define HOT "https://hot.example/"
#define COLD "https://cold.example/"

static uv_loop_t loop;
static struct ing_deliver *deliver;
static struct ing_orders *orders;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;
static int64_t next_offset;

static const struct ing_pipeline_conf usual = {
	.settings = {.max_waiting = 40,
		.max_hops = 2,
		.max_redirects = 2,
		.deadline_ms = 60000,
		.host_share = 1,
		.max_attempts = 3,
		.parked_max_age_ms = 1000000,
		.max_scrape_bytes = 1000},
	.weights = {[ING_LANE_REQUESTS] = 1, [ING_LANE_BULK] = 1},
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
	next_offset = 1;
	assert_int_equal(uv_loop_init(&loop), 0);
	orders = ing_orders_new("one");
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){.orders = orders});
	ing_visits_wire(
		visits, &(struct ing_visits_stages){
				.gate = FAKE_STAGE, .fetch = FAKE_STAGE, .archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(&loop, &usual);
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver,
					    .orders = orders});
}

/* The jobs left are called off. */
static void end(void)
{
	ing_pipeline_cancel(pipeline);
	fake_settle();
	assert_true(ing_pipeline_idle(pipeline));
	assert_int_equal(ing_visits_held_by_orders(visits), 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	ing_orders_free(orders);
	fake_reset();
}

static struct ing_pipeline_stats stats(void)
{
	struct ing_pipeline_stats s = {0};
	ing_pipeline_stats(pipeline, &s);
	return s;
}

/* The orders are these from now on. */
static void give(const struct ing_order *list, size_t count)
{
	assert_int_equal(ing_orders_replace(orders, list, count, ing_now_ms()), 0);
	ing_pipeline_on_orders(pipeline);
	fake_turn(&loop, 5);
}

static void give_one(enum ing_order_kind kind, const char *target, enum ing_order_action action)
{
	give(&(struct ing_order){.kind = kind, .target = target, .action = action}, 1);
}

struct sent {
	enum ing_lane lane;
	const char *topic; /* NULL: requests */
	const char *host;  /* that it was parked for; NULL: it was not */
	int64_t first_seen_ms;
};

static void send_as(const char *base_url, const struct sent *sent)
{
	char text[256];
	struct ing_parked_text numbers;
	struct ing_header headers[ING_PARKED_HEADERS];
	size_t count = 0;
	int n = snprintf(
		text, sizeof(text), "{\"ingest_type\":\"file\",\"base_url\":\"%s\"}", base_url);
	const struct ing_parked parked = {
		.host = sent->host, .first_seen_ms = sent->first_seen_ms, .origin = "requests"};
	if (sent->host != NULL)
		count = ing_parked_format(&parked, &numbers, headers);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){
			.token = {.partition_index = 3, .epoch = 7, .offset = next_offset++},
			.value = text,
			.value_bytes = (size_t)n,
			.topic = sent->topic != NULL ? sent->topic : "requests",
			.lane = sent->lane,
			.headers = headers,
			.header_count = count});
}

static void send_url(const char *base_url)
{
	send_as(base_url, &(struct sent){.lane = ING_LANE_REQUESTS});
}

static void expect_waiting(size_t in_gate, unsigned held)
{
	assert_int_equal(fake_gate.waiters.count, in_gate);
	assert_int_equal(ing_visits_held_by_orders(visits), held);
	assert_int_equal(stats().held_by_orders, held);
}

/* What `ingestctl explain request` is told of the message. */
static void expect_explained(int64_t offset, const char *waits_for)
{
	json_t *o = ing_pipeline_explain(pipeline, "t", 3, offset);
	const json_t *visit = json_array_get(json_object_get(o, "visits"), 0);
	assert_string_equal(ing_json_get_text(visit, "for"), waits_for);
	json_decref(o);
}

/* --- hosts --- */

static void what_waits_for_an_order_is_explained_so(void **state)
{
	(void)state;
	begin(0);
	send_url(HOT); /* in the gate's queue */
	send_url(COLD);
	expect_explained(1, "host");
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_PAUSE);
	send_url(HOT);
	expect_explained(1, "order");
	expect_explained(2, "host");
	expect_explained(3, "order");
	give_one(ING_TARGET_LANE, "requests", ING_ACTION_PAUSE);
	expect_explained(2, "order");
	give_one(ING_TARGET_INSTANCE, "one", ING_ACTION_PAUSE);
	expect_explained(2, "order");
	give(NULL, 0);
	fake_gate_grant();
	expect_explained(1, "transfer");
	fake_settle();
	end();
}

static void a_paused_host_is_in_no_queue(void **state)
{
	(void)state;
	begin(0);
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_PAUSE);
	send_url(HOT "1");
	send_url(COLD "1");
	send_url(HOT "2");
	expect_waiting(1, 2);
	give(NULL, 0);
	expect_waiting(3, 0);
	end();
}

/* Those that were in the gate's queue when the order came give their turn back, without having been admitted, and so
 * without blame or rest for the host. */
static void a_pause_finds_those_in_the_queue_at_their_turn(void **state)
{
	(void)state;
	begin(0);
	for (int i = 0; i < 3; i++)
		send_url(HOT);
	expect_waiting(3, 0);
	give_one(ING_TARGET_HOST, ".example", ING_ACTION_PAUSE);
	expect_waiting(3, 0);
	for (unsigned i = 0; i < 3; i++) {
		fake_gate_grant();
		expect_waiting(2 - i, i + 1);
		assert_int_equal(fake_gate.left_without, i + 1);
	}
	assert_int_equal(fake.fetches.count, 0);
	assert_int_equal(stats().by_state[ING_JOB_WAITING], 3);
	give_one(ING_TARGET_HOST, "other.example", ING_ACTION_PAUSE);
	expect_waiting(3, 0);
	fake_gate_grant();
	assert_int_equal(fake.fetches.count, 1);
	end();
}

static void what_is_being_transferred_is_finished(void **state)
{
	(void)state;
	begin(0);
	send_url(HOT);
	fake_gate_grant();
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_PAUSE);
	fake_fetch_done(404, NULL);
	fake_settle();
	assert_non_null(fake.last_result);
	end();
}

static void a_redirect_to_a_paused_host_waits(void **state)
{
	(void)state;
	begin(0);
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_PAUSE);
	send_url(COLD);
	fake_gate_grant();
	fake_fetch_done(302, HOT);
	expect_waiting(0, 1);
	assert_int_equal(stats().by_state[ING_JOB_GATED], 1);
	give(NULL, 0);
	expect_waiting(1, 0);
	fake_settle();
	end();
}

/* What is in memory when the order comes is finished, also where it is sent later. */
static void new_requests_of_a_drained_host_are_parked(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	send_url(HOT "1");
	send_url(COLD "1");
	fake_turn(&loop, 5);
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_DRAIN);
	send_url(HOT "2");
	assert_int_equal(fake.parked, 1);
	assert_int_equal(fake.last_tier, ING_TIER_10M);
	assert_string_equal(fake.last_host, "hot.example");
	send_as(HOT "3", &(struct sent){.lane = ING_LANE_PRIORITY});
	assert_int_equal(fake.parked, 2);
	send_url(COLD "2");
	expect_waiting(3, 0);
	fake_gate_grant();
	fake_gate_grant();
	fake_gate_grant();
	fake_fetch_done(404, NULL);      /* the one that was there */
	fake_fetch_done(302, HOT "old"); /* the same */
	fake_fetch_done(302, HOT "new"); /* came later */
	expect_waiting(1, 0);
	fake_settle();
	assert_int_equal(fake.parked, 3);
	assert_int_equal(stats().parked_order, 3);
	assert_string_equal(fake.last_host, "hot.example");
	end();
}

/* Where nothing can be parked they wait in memory. */
static void without_tiers_new_requests_of_a_drained_host_wait(void **state)
{
	(void)state;
	begin(0);
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_DRAIN);
	send_url(HOT);
	expect_waiting(0, 1);
	give(NULL, 0);
	expect_waiting(1, 0);
	end();
}

static void nobody_is_too_old_because_of_an_order(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	const struct sent old = {.lane = ING_LANE_REQUESTS,
		.topic = "requests-parked-10m",
		.host = "hot.example",
		.first_seen_ms = 1000};
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_DRAIN);
	send_as(HOT, &old);
	assert_int_equal(fake.parked, 1);
	assert_int_equal(fake.last_headers.first_seen_ms, 1000);
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_PAUSE);
	for (unsigned i = 0; i < ING_SHARE_LEAST; i++)
		send_url(HOT);
	send_as(HOT, &old); /* and there is no room */
	assert_int_equal(fake.parked, 2);
	assert_int_equal(fake.last_tier, ING_TIER_10M);
	give_one(ING_TARGET_LANE, "requests", ING_ACTION_DRAIN);
	send_as(COLD, &(struct sent){.lane = ING_LANE_REQUESTS,
			      .topic = "requests-parked-10m",
			      .host = "cold.example",
			      .first_seen_ms = 1000});
	assert_int_equal(fake.parked, 3);
	assert_null(fake.last_result);
	end();
}

static void a_paused_host_has_its_share_of_memory_and_no_more(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	give_one(ING_TARGET_HOST, "hot.example", ING_ACTION_PAUSE);
	for (unsigned i = 0; i < ING_SHARE_LEAST + 5; i++)
		send_url(HOT);
	assert_int_equal(fake.parked, 5);
	assert_int_equal(fake.last_tier, ING_TIER_10M);
	expect_waiting(0, ING_SHARE_LEAST);
	end();
}

/* --- lanes --- */

static void a_paused_lane_is_not_read_and_begins_nothing(void **state)
{
	(void)state;
	begin(ALL_TIERS);
	send_as(HOT "1", &(struct sent){.lane = ING_LANE_BULK});
	give_one(ING_TARGET_LANE, "bulk", ING_ACTION_PAUSE);
	assert_true(fake.held[ING_LANE_BULK]);
	assert_false(fake.held[ING_LANE_REQUESTS]);
	assert_false(fake.paused[ING_LANE_BULK]); /* parked messages of it come, and go */
	send_as(HOT "2", &(struct sent){.lane = ING_LANE_BULK,
				 .topic = "requests-parked-1m",
				 .host = "hot.example"});
	assert_int_equal(fake.parked, 1);
	assert_string_equal(fake.last_origin, "requests-bulk");
	send_url(HOT "3");
	expect_waiting(2, 0);
	fake_gate_grant();
	expect_waiting(1, 1);
	fake_gate_grant();
	assert_int_equal(fake.fetches.count, 1); /* the other lane's */
	give(NULL, 0);
	assert_false(fake.held[ING_LANE_BULK]);
	expect_waiting(1, 0);
	fake_fetch_done(404, NULL);
	fake_settle();
	end();
}

static void a_drained_lane_finishes_what_is_in_memory(void **state)
{
	(void)state;
	begin(0);
	send_as(HOT "1", &(struct sent){.lane = ING_LANE_BULK});
	fake_turn(&loop, 5);
	give_one(ING_TARGET_LANE, "bulk", ING_ACTION_DRAIN);
	assert_true(fake.held[ING_LANE_BULK]);
	fake_gate_grant();
	assert_int_equal(fake.fetches.count, 1);
	fake_fetch_done(404, NULL);
	fake_settle();
	assert_non_null(fake.last_result);
	end();
}

/* --- the instance --- */

static void a_paused_instance_reads_nothing(void **state)
{
	(void)state;
	begin(0);
	give_one(ING_TARGET_INSTANCE, "one", ING_ACTION_PAUSE);
	assert_true(fake.paused[ING_LANE_REQUESTS] && fake.paused[ING_LANE_PRIORITY]);
	struct ing_flow flow;
	ing_pipeline_flow(pipeline, &flow);
	assert_int_equal(flow.hold, ING_FLOW_ORDER);
	assert_int_equal(flow.lanes[ING_LANE_BULK].pause, ING_PAUSE_ORDER);
	assert_int_equal(stats().hold_ms, 0); /* nobody is to be alarmed */
	give_one(ING_TARGET_INSTANCE, "one", ING_ACTION_DRAIN);
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	ing_pipeline_flow(pipeline, &flow);
	assert_int_equal(flow.hold, ING_FLOW_OPEN); /* what it has is finished */
	give(NULL, 0);
	assert_false(fake.paused[ING_LANE_REQUESTS]);
	end();
}

static void an_instance_is_drained_when_only_the_held_are_left(void **state)
{
	(void)state;
	begin(0);
	assert_true(ing_pipeline_is_drained(pipeline));
	send_url(HOT);
	send_url(COLD);
	assert_false(ing_pipeline_is_drained(pipeline)); /* they wait for their turn */
	fake_gate_grant();
	fake_fetch_done(404, NULL);
	assert_false(ing_pipeline_is_drained(pipeline));
	give_one(ING_TARGET_HOST, "cold.example", ING_ACTION_PAUSE);
	fake_gate_grant();
	expect_waiting(0, 1);
	assert_false(ing_pipeline_is_drained(pipeline)); /* a result is on its way */
	fake_settle();
	assert_true(ing_pipeline_is_drained(pipeline));
	ing_pipeline_drain(pipeline); /* SIGTERM: nor is it waited for */
	assert_int_equal(stats().jobs, 0);
	end();
}

static void a_paused_instance_does_not_wait_at_its_end(void **state)
{
	(void)state;
	begin(0);
	send_url(COLD);
	fake_gate_grant();
	fake_fetch_done(302, HOT);
	fake_settle();
	give_one(ING_TARGET_INSTANCE, "one", ING_ACTION_PAUSE);
	ing_pipeline_drain(pipeline);
	assert_int_equal(stats().jobs, 0);
	end();
}

/* Orders that change while thousands wait are looked at a few at a time. */
static void many_that_wait_ask_anew_without_holding_the_loop_up(void **state)
{
	(void)state;
	begin(0);
	give_one(ING_TARGET_LANE, "requests", ING_ACTION_PAUSE);
	for (int i = 0; i < 900; i++)
		send_url(i % 2 == 0 ? HOT : COLD);
	expect_waiting(0, 900);
	const struct ing_order both[] = {
		{.kind = ING_TARGET_HOST, .target = "hot.example", .action = ING_ACTION_PAUSE},
		{.kind = ING_TARGET_LANE, .target = "daily", .action = ING_ACTION_PAUSE}};
	give(both, 2);
	for (int i = 0; i < 1000 && fake_gate.waiters.count < 450; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	expect_waiting(450, 450);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_for_an_order_is_explained_so),
		cmocka_unit_test(a_paused_host_is_in_no_queue),
		cmocka_unit_test(a_pause_finds_those_in_the_queue_at_their_turn),
		cmocka_unit_test(what_is_being_transferred_is_finished),
		cmocka_unit_test(a_redirect_to_a_paused_host_waits),
		cmocka_unit_test(new_requests_of_a_drained_host_are_parked),
		cmocka_unit_test(without_tiers_new_requests_of_a_drained_host_wait),
		cmocka_unit_test(nobody_is_too_old_because_of_an_order),
		cmocka_unit_test(a_paused_host_has_its_share_of_memory_and_no_more),
		cmocka_unit_test(a_paused_lane_is_not_read_and_begins_nothing),
		cmocka_unit_test(a_drained_lane_finishes_what_is_in_memory),
		cmocka_unit_test(a_paused_instance_reads_nothing),
		cmocka_unit_test(an_instance_is_drained_when_only_the_held_are_left),
		cmocka_unit_test(a_paused_instance_does_not_wait_at_its_end),
		cmocka_unit_test(many_that_wait_ask_anew_without_holding_the_loop_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
