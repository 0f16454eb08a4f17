/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries of megabytes take turns of the loop, others do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <uv.h>

#include "common/base/clock.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/gate/gate.h"
#include "worker/job/job.h"
#include "worker/visit/visit.h"

#define BIG_BYTES ((size_t)2 << 20)

static uv_loop_t loop;
static struct ing_gate *gate;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static const struct ing_pipeline_conf conf = {.settings = {.max_waiting = 100,
						      .max_hops = 2,
						      .max_redirects = 2,
						      .deadline_ms = 60000,
						      .max_scrape_bytes = 1000},
	.max_unacked = 100,
	.pdf_timeout_ms = 1000,
	.max_body_bytes = 1000};

static void begin(void)
{
	fake_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop,
		&(struct ing_gate_conf){.settings = {.concurrency = 10, .host_concurrency = 1}});
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){0});
	ing_visits_wire(visits, &(struct ing_visits_stages){
					.gate = gate, .fetch = FAKE_STAGE, .archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(&loop, &conf);
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver});
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

static void send_request(unsigned host, int64_t offset)
{
	char request[100];
	int bytes = snprintf(request, sizeof(request),
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://h%u.example/\"}", host);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = offset},
			.value = request,
			.value_bytes = (size_t)bytes,
			.topic = "requests",
			.partition = 3,
			.lane = ING_LANE_REQUESTS});
}

/* So many jobs whose documents have that much text come to disk at the same moment. */
static void end_together(unsigned jobs, size_t text_bytes)
{
	char *text = ing_alloc(text_bytes + 1);
	memset(text, 'x', text_bytes);
	for (unsigned i = 0; i < jobs; i++)
		send_request(i, i);
	fake_turn(&loop, 1);
	assert_int_equal(fake.fetches.count, jobs);
	for (unsigned i = 0; i < jobs; i++)
		fake_fetch_done(200, NULL);
	for (unsigned i = 0; i < jobs; i++)
		fake_exam_done_pdf(text);
	assert_int_equal(fake.archived.count, jobs);
	for (unsigned i = 0; i < jobs; i++)
		fake_archive_done();
	free(text);
}

static size_t count_deliveries(void)
{
	return fake.emitted.count + fake.stored.count;
}

/* Nor is that the turn in which the first was ready, which may have been long already. */
static void a_turn_makes_one_delivery_of_megabytes(void **state)
{
	(void)state;
	begin();
	end_together(4, BIG_BYTES);
	uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_equal(count_deliveries(), 0);
	for (unsigned i = 1; i <= 4; i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
		assert_int_equal(count_deliveries(), i);
	}
	fake_settle();
	assert_int_equal(fake.finished, 4);
	assert_non_null(strstr(fake.last_result, "\"status\":\"success\""));
	end();
}

/* A turn that computes for longer than any delivery should wait for. */
static void on_spin(uv_check_t *check)
{
	uint64_t end_ns = ing_thread_cpu_ns() + 20000000u;
	while (ing_thread_cpu_ns() < end_ns)
		continue;
	uv_check_stop(check);
}

static void a_turn_that_is_long_already_leaves_it_to_the_next(void **state)
{
	uv_check_t spin;
	(void)state;
	begin();
	uv_check_init(&loop, &spin);
	end_together(2, BIG_BYTES);
	uv_run(&loop, UV_RUN_NOWAIT);
	for (unsigned i = 0; i < 2; i++) {
		uv_check_start(&spin, on_spin);
		uv_run(&loop, UV_RUN_NOWAIT); /* delivers, and spins at its end, in the next turn */
		size_t made = count_deliveries();
		uv_run(&loop, UV_RUN_NOWAIT);
		assert_int_equal(count_deliveries(), made);
	}
	while (count_deliveries() < 2)
		uv_run(&loop, UV_RUN_NOWAIT);
	uv_close((uv_handle_t *)&spin, NULL);
	fake_settle();
	assert_int_equal(fake.finished, 2);
	end();
}

/* It is not left for ever. */
static void on_every_spin(uv_check_t *check)
{
	(void)check;
	uint64_t end_ns = ing_thread_cpu_ns() + 10000000u;
	while (ing_thread_cpu_ns() < end_ns)
		continue;
}

static void turns_that_are_all_long_do_not_keep_it_waiting(void **state)
{
	uv_check_t spin;
	(void)state;
	begin();
	uv_check_init(&loop, &spin);
	uv_check_start(&spin, on_every_spin);
	end_together(1, BIG_BYTES);
	for (unsigned turn = 0; turn < 20 && count_deliveries() == 0; turn++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_equal(count_deliveries(), 1);
	uv_close((uv_handle_t *)&spin, NULL);
	fake_settle();
	end();
}

static void several_that_are_not_as_large_share_a_turn(void **state)
{
	(void)state;
	begin();
	end_together(8, BIG_BYTES / 8);
	assert_int_equal(count_deliveries(), 0);
	uv_run(&loop, UV_RUN_NOWAIT);
	uv_run(&loop, UV_RUN_NOWAIT);
	assert_in_range(count_deliveries(), 2, 7);
	while (count_deliveries() < 8)
		uv_run(&loop, UV_RUN_NOWAIT);
	fake_settle();
	assert_int_equal(fake.finished, 8);
	end();
}

static void small_deliveries_need_no_turn(void **state)
{
	(void)state;
	begin();
	end_together(4, 1000);
	assert_int_equal(count_deliveries(), 4);
	fake_settle();
	end();
}

static void revoke_all(void)
{
	ing_pipeline_on_revoked(pipeline, 3, 7);
}

static void stop_at_once(void)
{
	ing_pipeline_drain(pipeline);
	ing_pipeline_cancel(pipeline);
}

static void one_that_waits_for_its_turn_can_be_called_off(void **state)
{
	static void (*const ends[])(void) = {revoke_all, stop_at_once};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(ends); i++) {
		begin();
		end_together(3, BIG_BYTES);
		uv_run(&loop, UV_RUN_NOWAIT);
		uv_run(&loop, UV_RUN_NOWAIT);
		assert_int_equal(count_deliveries(), 1);
		ends[i]();
		fake_settle();
		fake_turn(&loop, 1);
		assert_int_equal(count_deliveries(), 0);
		assert_int_equal(fake.finished, 0);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_makes_one_delivery_of_megabytes),
		cmocka_unit_test(a_turn_that_is_long_already_leaves_it_to_the_next),
		cmocka_unit_test(turns_that_are_all_long_do_not_keep_it_waiting),
		cmocka_unit_test(several_that_are_not_as_large_share_a_turn),
		cmocka_unit_test(small_deliveries_need_no_turn),
		cmocka_unit_test(one_that_waits_for_its_turn_can_be_called_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
