/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job between its decided status and its delivery: GROBID reads its document, or is not asked.
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
#include "worker/job/job.h"

static uv_loop_t loop;
static struct ing_gate *gate;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static void begin(bool with_grobid)
{
	static const struct ing_pipeline_conf conf = {
		.settings = {.max_waiting = 100, .max_hops = 2, .deadline_ms = 60000},
		.max_unacked = 100,
		.pdf_timeout_ms = 1000,
		.max_body_bytes = 1000};
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
					    .deliver = deliver,
					    .grobid = with_grobid ? FAKE_STAGE : NULL});
}

static void end(void)
{
	assert_true(ing_pipeline_idle(pipeline));
	assert_int_equal(fake.readings.count, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	ing_gate_free(gate);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static uint64_t deriving(void)
{
	struct ing_pipeline_stats s;
	ing_pipeline_stats(pipeline, &s);
	return s.by_state[ING_JOB_DERIVING];
}

static void receive(int64_t offset, const char *type, const char *host)
{
	char text[200];
	snprintf(text, sizeof(text), "{\"ingest_type\":\"%s\",\"base_url\":\"https://%s/\"}", type,
		host);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = offset},
			.value = text,
			.value_bytes = strlen(text),
			.topic = "requests",
			.partition = 3,
			.lane = ING_LANE_REQUESTS});
	fake_turn(&loop, 1);
}

/* A request whose document is found and archived. */
static void find_pdf(int64_t offset, const char *host)
{
	receive(offset, "pdf", host);
	fake_fetch_done(200, NULL);
	fake_exam_done_pdf("words");
	fake_archive_done();
}

static json_t *last_grobid(void)
{
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_non_null(o);
	json_t *grobid = ing_json_ref(json_object_get(o, "grobid"));
	json_decref(o);
	return grobid;
}

static void grobid_comes_before_anything_is_delivered(void **state)
{
	(void)state;
	begin(true);
	find_pdf(1, "a.example");
	assert_int_equal(fake.readings.count, 1);
	assert_int_equal(deriving(), 1);
	assert_int_equal(fake.emitted.count + fake.stored.count, 0);
	fake_turn(&loop, 150);
	assert_false(ing_pipeline_idle(pipeline));
	fake_grobid_done("success", 200, "<TEI/>");
	assert_int_equal(deriving(), 0);
	fake_settle();
	assert_int_equal(fake.finished, 1);
	json_t *o = last_grobid();
	assert_string_equal(ing_json_get_text(o, "status"), "success");
	assert_int_equal(ing_json_get_number(o, "status_code"), 200);
	assert_string_equal(ing_json_get_text(o, "grobid_version"), "0.7.2");
	json_decref(o);
	end();
}

static void a_failure_of_grobid_fails_nothing_else(void **state)
{
	(void)state;
	begin(true);
	find_pdf(1, "a.example");
	fake_grobid_done("error-connect", -2, NULL);
	fake_settle();
	json_t *o = last_grobid();
	assert_string_equal(ing_json_get_text(o, "status"), "error-connect");
	assert_int_equal(ing_json_get_number(o, "status_code"), -2);
	assert_string_equal(ing_json_get_text(o, "error_msg"), "words");
	json_decref(o);
	o = json_loads(fake.last_result, 0, NULL);
	assert_true(json_is_true(json_object_get(o, "hit")));
	json_decref(o);
	end();
}

/* Neither a page, nor a document that is not what was asked for, nor where there is no GROBID. */
static void not_everything_is_for_grobid(void **state)
{
	(void)state;
	begin(true);
	receive(1, "pdf", "a.example");
	fake_fetch_done(200, NULL);
	fake_exam_done_page(NULL);
	fake_settle();
	receive(2, "html", "b.example");
	fake_fetch_done(200, NULL);
	fake_exam_done_page(NULL);
	fake_settle();
	receive(3, "src", "c.example");
	fake_fetch_done(200, NULL);
	fake_exam_done_pdf("words");
	fake_settle();
	assert_int_equal(fake.finished, 3);
	assert_int_equal(fake.readings.count, 0);
	assert_null(last_grobid());
	end();
	begin(false);
	find_pdf(1, "a.example");
	fake_settle();
	assert_int_equal(fake.finished, 1);
	assert_null(last_grobid());
	end();
}

static void a_body_that_was_lost_is_not_read(void **state)
{
	(void)state;
	begin(true);
	receive(1, "pdf", "a.example");
	fake_fetch_done(200, NULL);
	fake_exam_done_pdf("words");
	fake_archive_lose();
	assert_int_equal(fake.readings.count, 0);
	fake_settle();
	assert_int_equal(fake.finished, 1);
	end();
}

static void revoke_partition(void)
{
	ing_pipeline_on_revoked(pipeline, 3, 7);
}

static void stop_at_once(void)
{
	ing_pipeline_drain(pipeline);
	assert_int_equal(fake.readings.count, 1); /* it may end in time */
	ing_pipeline_cancel(pipeline);
}

static void what_grobid_reads_can_be_called_off(void **state)
{
	void (*const ways[])(void) = {revoke_partition, stop_at_once};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		begin(true);
		find_pdf(1, "a.example");
		ways[i]();
		assert_int_equal(fake.readings.count, 0);
		assert_true(ing_pipeline_idle(pipeline));
		fake_settle();
		assert_int_equal(fake.finished, 0);
		end();
	}
}

/* Nothing more is fetched than can wait; who is to blame is said when it does not move. */
static void a_full_grobid_holds_the_gate(void **state)
{
	(void)state;
	begin(true);
	find_pdf(1, "a.example");
	fake.grobid_full = true;
	fake_turn(&loop, 150);
	receive(2, "html", "b.example");
	fake_turn(&loop, 150);
	assert_int_equal(fake.fetches.count, 0);
	assert_null(ing_pipeline_blocked_by(pipeline));
	fake.grobid_blocks = true;
	fake_turn(&loop, 150);
	assert_string_equal(ing_pipeline_blocked_by(pipeline), "GROBID");
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	fake.grobid_full = fake.grobid_blocks = false;
	fake_grobid_done("success", 200, "<TEI/>");
	fake_turn(&loop, 150);
	assert_null(ing_pipeline_blocked_by(pipeline));
	assert_int_equal(fake.fetches.count, 1);
	fake_fetch_done(404, NULL);
	fake_settle();
	assert_int_equal(fake.finished, 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grobid_comes_before_anything_is_delivered),
		cmocka_unit_test(a_failure_of_grobid_fails_nothing_else),
		cmocka_unit_test(not_everything_is_for_grobid),
		cmocka_unit_test(a_body_that_was_lost_is_not_read),
		cmocka_unit_test(what_grobid_reads_can_be_called_off),
		cmocka_unit_test(a_full_grobid_holds_the_gate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
