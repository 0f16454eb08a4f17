/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pipeline among stages that do what each test tells them to: the order of a job's end, and
 * that calling it off at any point neither loses nor repeats a callback. The gate and the loop are
 * the real ones; stages.c has the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/data/json.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/job.h"
#include "worker/job/result_short.h"
#include "worker/rules/rule_stats.h"

static const char pdf_request[] = "{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\","
				  "\"link_source\":\"doi\",\"link_source_id\":\"10.1/x\"}";

static uv_loop_t loop;
static struct ing_gate *gate;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static const struct ing_pipeline_conf usual = {.settings = {.max_waiting = 100,
						       .max_hops = 2,
						       .max_redirects = 2,
						       .deadline_ms = 60000,
						       .max_scrape_bytes = 1000},
	.max_unacked = 100,
	.pdf_timeout_ms = 1000,
	.max_body_bytes = 1000};

static void begin(const struct ing_pipeline_conf *conf, unsigned max_wait_ms)
{
	fake_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop, &(struct ing_gate_conf){.settings = {.concurrency = 10,
								   .host_concurrency = 1,
								   .max_wait_ms = max_wait_ms}});
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){0});
	ing_visits_wire(visits, &(struct ing_visits_stages){
					.gate = gate, .fetch = FAKE_STAGE, .archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(&loop, conf);
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver});
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
	assert_int_equal(gate_stats().waiting + gate_stats().holding, 0);
	assert_int_equal(fake.fetches.count + fake.exams.count, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
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

static void send_bytes(int64_t offset, const char *value, size_t bytes)
{
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = offset},
			.value = value,
			.value_bytes = bytes,
			.topic = "requests",
			.partition = 3,
			.lane = ING_LANE_REQUESTS});
}

static void send_request(int64_t offset, const char *text)
{
	send_bytes(offset, text, strlen(text));
}

static json_t *last_result(void)
{
	json_t *o = json_loads(fake.last_result, 0, NULL);
	assert_non_null(o);
	return o;
}

static void expect_status(const char *slug, bool with_hops)
{
	json_t *o = last_result();
	assert_string_equal(json_string_value(json_object_get(o, "status")), slug);
	assert_int_equal(json_object_get(o, "hops") != NULL, with_hops);
	assert_int_equal(json_object_get(o, "terminal") != NULL, with_hops);
	json_decref(o);
}

/* --- the steps of a usual life: redirect, landing page, document with text --- */

enum step {
	WAITING,
	FETCHING,
	GATED,
	FETCHING_AGAIN,
	EXAMINING,
	EXAMINING_PDF,
	ARCHIVING,
	EMITTING,
	STORING,
	COMMITTING,
	ENDED,
};

/* Bring one job as far as `until`. */
static void live(enum step until)
{
	send_request(1, pdf_request);
	if (until == WAITING)
		return;
	turn(1);
	assert_int_equal(fake.fetches.count, 1);
	if (until == FETCHING)
		return;
	fake_fetch_done(302, "https://a.example/landing");
	if (until == GATED)
		return;
	turn(1);
	if (until == FETCHING_AGAIN)
		return;
	fake_archive_done();
	fake_fetch_done(200, NULL);
	if (until == EXAMINING)
		return;
	fake_exam_done_page("https://a.example/p.pdf");
	turn(1);
	fake_fetch_done(200, NULL);
	if (until == EXAMINING_PDF)
		return;
	fake_exam_done_pdf("words");
	assert_int_equal(fake.stored.count, 0); /* not before every exchange is on disk */
	if (until == ARCHIVING)
		return;
	while (fake.archived.count > 0)
		fake_archive_done();
	assert_int_equal(fake.stored.count, 0); /* not before the text is acknowledged */
	assert_int_equal(fake.emitted.count, 1);
	if (until == EMITTING)
		return;
	fake_emit_done(true);
	assert_int_equal(fake.emitted.count, 0); /* not before the rows are committed */
	if (until == STORING)
		return;
	fake_store_done();
	assert_int_equal(fake.emitted.count, 1);
	assert_int_equal(fake.finished, 0);
	if (until == COMMITTING)
		return;
	fake_emit_done(true);
}

static void a_job_ends_in_the_durable_order(void **state)
{
	(void)state;
	begin(&usual, 0);
	live(ENDED);
	assert_int_equal(fake.finished, 1);
	assert_int_equal(fake.last_finished.offset, 1);
	json_t *o = last_result();
	assert_true(json_is_true(json_object_get(o, "hit")));
	assert_int_equal(json_array_size(json_object_get(o, "hops")), 3);
	json_decref(o);
	end();
}

/* An earlier process has stored it and died before it committed it; the message itself may have
 * expired. */
static void a_stored_answer_is_committed_and_nothing_fetched(void **state)
{
	(void)state;
	begin(&usual, 0);
	char value[] = "{\"status\":\"success\"}";
	const struct ing_answer answer = {.message = {.output = ING_OUTPUT_RESULTS,
						  .value = value,
						  .value_bytes = strlen(value)}};
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = 5},
			.lane = ING_LANE_REQUESTS,
			.answer = &answer});
	turn(1);
	assert_int_equal(fake.fetches.count + fake.stored.count, 0);
	assert_int_equal(fake.emitted.count, 1);
	assert_string_equal(fake.last_result, value);
	assert_false(ing_pipeline_idle(pipeline));
	fake_emit_done(true);
	assert_int_equal(fake.last_finished.offset, 5);
	assert_int_equal(fake.pruned, 1);
	end();
}

/* --- answers that cannot be read back --- */

static void expect_worker_error_without_document(void)
{
	fake_settle();
	assert_int_equal(fake.finished, 1);
	expect_status("worker-error", true);
	json_t *o = last_result();
	assert_true(json_is_false(json_object_get(o, "hit")));
	assert_null(json_object_get(o, "file_meta"));
	assert_null(json_object_get(o, "pdf_meta"));
	assert_null(json_object_get(json_object_get(o, "terminal"), "terminal_sha1hex"));
	assert_non_null(strstr(json_string_value(json_object_get(o, "error_message")), "archived"));
	json_decref(o);
	end();
}

static void no_success_without_its_record(void **state)
{
	(void)state;
	begin(&usual, 0);
	live(ARCHIVING);
	while (fake.archived.count > 1)
		fake_archive_done();
	fake_archive_lose();                     /* the document */
	assert_int_equal(fake.emitted.count, 0); /* no text of what nobody can check */
	assert_int_equal(fake.stored.count, 1);
	fake_store_done();
	expect_worker_error_without_document();
}

static void no_success_without_the_record_of_a_step_before(void **state)
{
	(void)state;
	begin(&usual, 0);
	live(GATED);
	fake_archive_lose(); /* the redirect, while the job is on its way */
	turn(1);
	fake_fetch_done(200, NULL);
	fake_exam_done_pdf("words");
	expect_worker_error_without_document();
}

static void an_examiner_that_cannot_read_the_body_blames_the_worker(void **state)
{
	(void)state;
	begin(&usual, 0);
	send_request(1, pdf_request);
	turn(1);
	fake_fetch_done(200, NULL);
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = ING_EXAM_UNREADABLE;
	fake_exam_done(&f, "");
	fake_settle();
	expect_status("worker-error", true);
	end();
}

static void a_wall_that_cannot_be_read_blames_the_worker(void **state)
{
	(void)state;
	begin(&usual, 0);
	send_request(1, pdf_request);
	turn(1);
	fake_fetch_done(403, NULL);
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = ING_EXAM_UNREADABLE;
	fake_exam_done(&f, "");
	fake_settle();
	expect_status("worker-error", true);
	end();
}

/* --- calling off --- */

static void revoke_partition(void)
{
	ing_pipeline_on_revoked(pipeline, 3, 6); /* another epoch's: nothing happens */
	ing_pipeline_on_revoked(pipeline, 3, 7);
}

static void stop_at_once(void)
{
	ing_pipeline_drain(pipeline);
	ing_pipeline_cancel(pipeline);
	ing_pipeline_cancel(pipeline);
}

static void revoke_then_stop(void)
{
	revoke_partition();
	stop_at_once();
}

static void a_job_can_be_called_off_at_any_point(void **state)
{
	(void)state;
	void (*const ways[])(void) = {revoke_partition, stop_at_once, revoke_then_stop};
	for (size_t way = 0; way < ING_ARRAY_LEN(ways); way++) {
		for (enum step step = WAITING; step < ENDED; step++) {
			begin(&usual, 0);
			live(step);
			size_t owed = fake.emitted.count;
			assert_true(owed == 0 || fake_emit_is_wanted());
			ways[way]();
			/* A result that has not left yet does not leave any more. */
			assert_true(owed == 0 || !fake_emit_is_wanted());
			/* Nobody wants it, but its server goes on with it. */
			bool runs_on = fake.fetches.count > 0;
			assert_true(!runs_on ||
				    (ways[way] == revoke_partition && fake.exams.count == 0));
			if (runs_on)
				fake_fetch_done(200, NULL);
			assert_int_equal(fake.fetches.count + fake.exams.count, 0);
			bool waits = fake.archived.count + fake.stored.count + owed > 0;
			assert_int_equal(ing_pipeline_idle(pipeline), !waits);
			turn(1);
			/* What was handed over comes back; nothing new is sent, nothing
			 * finished. */
			assert_int_equal(fake.emitted.count, owed);
			fake_settle();
			assert_int_equal(fake.finished, 0);
			end();
		}
	}
}

static void draining_lets_finish_what_was_admitted(void **state)
{
	(void)state;
	begin(&usual, 0);
	live(EXAMINING);
	send_request(2, pdf_request);
	ing_pipeline_drain(pipeline);
	send_request(3, pdf_request); /* a straggler: comes again to the next owner */
	fake_exam_done_page(NULL);
	fake_settle();
	assert_int_equal(fake.finished, 1);
	assert_int_equal(fake.last_finished.offset, 1);
	expect_status("no-pdf-link", true);
	end();
}

/* --- limits --- */

static void the_deadline_ends_an_examination(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.deadline_ms = 30;
	begin(&conf, 0);
	send_request(1, pdf_request);
	turn(1);
	fake_fetch_done(200, NULL);
	assert_int_equal(fake.exams.count, 1);
	turn(250);
	assert_int_equal(fake.exams.count, 0);
	fake_settle();
	assert_int_equal(fake.finished, 1);
	expect_status("timeout", true);
	end();
}

static void waiting_for_an_examiner_is_no_work(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.deadline_ms = 100;
	begin(&conf, 0);
	fake.examiners_busy = true;
	send_request(1, pdf_request);
	turn(1);
	fake_fetch_done(200, NULL);
	turn(400);
	assert_int_equal(fake.exams.count, 1);
	fake_exam_taken(true);
	fake_exam_taken(false); /* its examiner is lost */
	turn(400);
	assert_int_equal(fake.exams.count, 1);
	fake_exam_taken(true);
	fake_exam_done_page(NULL);
	fake_settle();
	expect_status("no-pdf-link", true);

	send_request(2, pdf_request);
	turn(1);
	fake_fetch_done(200, NULL);
	fake_exam_taken(true); /* from now on it is */
	turn(400);
	assert_int_equal(fake.exams.count, 0);
	fake_settle();
	expect_status("timeout", true);
	assert_int_equal(fake.finished, 2);
	end();
}

/* The wait has cost nothing of the deadline: there is all of it for the pages after this one. */
static void a_page_that_waited_is_followed(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.deadline_ms = 100;
	begin(&conf, 0);
	fake.examiners_busy = true;
	send_request(1, pdf_request);
	turn(1);
	fake_fetch_done(200, NULL);
	turn(400);
	fake_exam_taken(true);
	fake_exam_done_page("https://a.example/1.pdf");
	turn(5);
	assert_int_equal(fake.fetches.count, 1);
	fake_fetch_done(200, NULL);
	fake_exam_taken(true);
	fake_exam_done_pdf("text");
	fake_settle();
	expect_status("success", true);
	end();
}

static void a_document_that_no_examiner_took_is_the_workers_trouble(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.deadline_ms = 200;
	begin(&conf, 0);
	fake.examiners_busy = true;
	send_request(1, pdf_request);
	turn(1);
	fake_fetch_done(200, NULL);
	fake_exam_done_badly(ING_EXAM_NOT_STARTED, "no examiner");
	fake_settle();
	expect_status("worker-error", true);
	json_t *o = last_result();
	assert_string_equal(json_string_value(json_object_get(o, "error_message")), "no examiner");
	json_decref(o);

	send_request(2, pdf_request);
	turn(5);
	fake_fetch_done(403, NULL); /* it may be a wall */
	fake_exam_done_badly(ING_EXAM_NOT_STARTED, "no examiner");
	fake_settle();
	expect_status("worker-error", true);

	send_request(3, pdf_request);
	turn(5);
	fake_fetch_done(503, NULL); /* whatever it is, the next try may go better */
	turn(400);                  /* and there is all the time for it that there was */
	fake_exam_done_badly(ING_EXAM_NOT_STARTED, "no examiner");
	assert_int_equal(fake.exams.count, 0);
	assert_int_equal(gate_stats().waiting, 1);
	assert_int_equal(fake.finished, 2);
	ing_pipeline_cancel(pipeline);
	fake_settle();
	end();
}

static void a_host_that_does_not_move_ends_the_wait(void **state)
{
	(void)state;
	begin(&usual, 30);
	send_request(1, pdf_request);
	turn(1);
	send_request(2, pdf_request);
	turn(60);
	fake_settle();
	assert_int_equal(fake.finished, 1);
	assert_int_equal(fake.last_finished.offset, 2);
	expect_status("host-backoff", false);
	fake_fetch_done(404, NULL);
	fake_settle();
	expect_status("terminal-bad-status", true);
	end();
}

static void some_end_without_a_fetch(void **state)
{
	(void)state;
	begin(&usual, 0);
	send_request(1, "{\"ingest_type\":\"pdf\",\"base_url\":\"gopher://a.example/\"}");
	fake_settle();
	expect_status("invalid-url", false);
	send_request(2, "{\"ingest_type\":\"fileset\",\"base_url\":\"https://a.example/\"}");
	fake_settle();
	expect_status("not-implemented", false);
	assert_int_equal(fake.finished, 2);
	end();
}

static void redirects_and_links_have_their_own_limits(void **state)
{
	(void)state;
	begin(&usual, 0);
	send_request(1, pdf_request);
	for (int page = 0; page < 3; page++) {
		char url[64];
		for (int r = 0; r < 2; r++) {
			turn(1);
			snprintf(url, sizeof(url), "https://a.example/%d/%d", page, r);
			fake_fetch_done(301, url);
		}
		turn(1);
		fake_fetch_done(200, NULL);
		snprintf(url, sizeof(url), "https://a.example/%d", page + 1);
		fake_exam_done_page(url);
	}
	fake_settle();
	expect_status("max-hops-exceeded", true);
	end();
}

/* --- what the broker refuses --- */

static void a_refused_result_is_sent_shorter(void **state)
{
	(void)state;
	for (int second = 0; second < 2; second++) {
		begin(&usual, 0);
		live(COMMITTING);
		fake_emit_done(false);
		assert_int_equal(fake.finished, 0);
		assert_int_equal(fake.emitted.count, 1);
		expect_status("result-too-large", false);
		fake_emit_done(second != 0);
		if (second == 0) { /* its position is committed without a result */
			assert_int_equal(fake.finished, 0);
			fake_emit_done(true);
		}
		assert_int_equal(fake.finished, 1);
		end();
	}
}

static void the_log_of_a_refusal_holds_no_password(void **state)
{
	(void)state;
	static const char *const urls[] = {
		"https://user:secret@a.example/", "https://user:secret@a.example:port/"};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		char text[512] = "";
		FILE *log = tmpfile();
		int before = dup(STDERR_FILENO);
		begin(&usual, 0);
		snprintf(text, sizeof(text), "{\"ingest_type\":\"fileset\",\"base_url\":\"%s\"}",
			urls[i]);
		send_request(1, text);
		fake_store_done();
		assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
		fake_emit_done(false);
		assert_true(dup2(before, STDERR_FILENO) >= 0);
		fake_emit_done(true);
		rewind(log);
		text[fread(text, 1, sizeof(text) - 1, log)] = '\0';
		assert_non_null(strstr(text, "was refused for good"));
		assert_null(strstr(text, "secret"));
		fclose(log);
		close(before);
		end();
	}
}

static void the_unreadable_goes_to_the_dead_letters(void **state)
{
	(void)state;
	begin(&usual, 0);
	send_bytes(1, "{\"ingest_type\":\0", 16);
	send_request(2, "[]");
	assert_int_equal(fake.emitted.count, 2);
	assert_false(ing_pipeline_idle(pipeline));
	fake_emit_done(true);
	assert_int_equal(fake.last_finished.offset, 1);
	assert_true(fake_emit_is_wanted());
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_false(fake_emit_is_wanted());
	fake_emit_done(false);
	assert_int_equal(fake.finished, 1); /* the next owner has it */
	end();
}

/* --- backpressure --- */

static void intake_pauses_at_the_ceiling_and_goes_on_below(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.max_waiting = 32;
	begin(&conf, 0);
	for (int i = 0; i < 32; i++) {
		assert_false(fake.paused[ING_LANE_REQUESTS]);
		send_request(i, pdf_request);
	}
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	for (int i = 0; i < 3; i++) {
		turn(120);
		assert_true(fake.paused[ING_LANE_REQUESTS]);
		fake_fetch_done(404, NULL);
		fake_settle();
	}
	turn(120);
	assert_false(fake.paused[ING_LANE_REQUESTS]); /* a sixteenth is free, and one more */
	stop_at_once();
	fake_settle();
	end();
}

static void requests_are_weighed_not_only_counted(void **state)
{
	(void)state;
	struct ing_pipeline_conf conf = usual;
	conf.settings.max_waiting = 100000;
	begin(&conf, 0);
	size_t bytes = (size_t)1 << 20;
	char *large = ing_alloc(bytes + 1);
	memset(large, ' ', bytes);
	memcpy(large, pdf_request, sizeof(pdf_request) - 1);
	int taken = 0;
	while (!fake.paused[ING_LANE_REQUESTS] && taken < 1000)
		send_bytes(taken++, large, bytes);
	assert_int_equal(taken, 256);
	free(large);
	stop_at_once();
	end();
}

static void full_stages_hold_the_gate(void **state)
{
	(void)state;
	begin(&usual, 0);
	fake.exam_places = 1;
	static const char *const urls[] = {"https://b.example/", "https://c.example/"};
	for (int i = 0; i < 2; i++) {
		char text[128];
		snprintf(text, sizeof(text), "{\"ingest_type\":\"pdf\",\"base_url\":\"%s\"}",
			urls[i]);
		send_request(i, text);
	}
	turn(1);
	fake_fetch_done(200, NULL);
	fake_fetch_done(200, NULL);
	send_request(5, pdf_request);
	turn(120);
	assert_int_equal(fake.fetches.count, 0); /* two bodies wait to be looked into */
	fake_exam_done_page(NULL);
	turn(5);
	assert_int_equal(fake.fetches.count, 1);
	fake_exam_done_page(NULL);
	fake.blocked = true;
	turn(120);
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	assert_string_equal(ing_pipeline_blocked_by(pipeline), "database");
	fake.blocked = false;
	turn(120);
	assert_false(fake.paused[ING_LANE_REQUESTS]);
	assert_null(ing_pipeline_blocked_by(pipeline));
	fake.spool_blocked = true;
	turn(120);
	assert_string_equal(ing_pipeline_blocked_by(pipeline), "disk");
	fake.spool_blocked = false;
	turn(120);
	assert_null(ing_pipeline_blocked_by(pipeline));
	fake_fetch_done(404, NULL);
	fake_settle();
	assert_int_equal(fake.finished, 3);
	end();
}

/* A page with a link by the rule of that number, and what rules did on it. */
static void answer_page(const char *title, const char *biblio, uint32_t rule, const char *next)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.page.status = ING_PAGE_PARSED;
	f.page.title = ing_strdup(title);
	f.page.biblio_json = biblio != NULL ? ing_strdup(biblio) : NULL;
	f.page.rules_digest = 5;
	f.page.rule_hits = ing_alloc(2 * sizeof(*f.page.rule_hits));
	f.page.rule_hit_count = 2;
	f.page.rule_hits[0] = (struct ing_rule_hit){rule, ING_RULE_APPLIED | ING_RULE_MATCHED};
	f.page.rule_hits[1] = (struct ing_rule_hit){99, ING_RULE_APPLIED}; /* a lie */
	if (next != NULL)
		f.page.links[ING_LINK_PDF] = (struct ing_page_link){.url = ing_strdup(next),
			.technique = ing_strdup("by a rule"),
			.rule = rule};
	fake_exam_done(&f, "text/html");
}

static json_int_t stat_of(const struct ing_rule_stats *rs, const char *rule, const char *what)
{
	struct ing_buf text;
	ing_buf_init(&text, 1 << 20);
	ing_rule_stats_json(rs, &text);
	json_t *o = json_loads(ing_buf_str(&text), 0, NULL);
	json_t *counters = json_object_get(json_object_get(o, "rules"), rule);
	json_int_t n = json_integer_value(json_object_get(counters, what));
	json_decref(o);
	ing_buf_done(&text);
	return n;
}

static void what_rules_led_to_is_counted(void **state)
{
	static const char *const names[] = {"a", "b"};
	struct ing_pipeline_conf conf = usual;
	(void)state;
	conf.rule_stats = ing_rule_stats_new();
	ing_rule_stats_set_rules(conf.rule_stats, 5, names, 2);
	begin(&conf, 0);
	/* Through both rules to the document, and only the second page has a title of its own. */
	send_request(1, pdf_request);
	turn(5);
	fake_fetch_done(200, NULL);
	answer_page("Redirecting", NULL, 0, "https://a.example/2");
	turn(5);
	fake_fetch_done(200, NULL);
	answer_page("Site", "{\"title\":\"Own\",\"x\":1}", 1, "https://a.example/3.pdf");
	turn(5);
	fake_fetch_done(200, NULL);
	fake_exam_done_pdf("text");
	fake_settle();
	json_t *o = last_result();
	json_t *biblio = json_object_get(o, "html_biblio");
	assert_string_equal(json_string_value(json_object_get(biblio, "title")), "Own");
	assert_int_equal(json_object_size(biblio), 1);
	json_decref(o);
	/* And through the first to nothing. */
	send_request(2, pdf_request);
	turn(5);
	fake_fetch_done(200, NULL);
	answer_page("Redirecting", NULL, 0, "https://a.example/2");
	turn(5);
	fake_fetch_done(404, NULL);
	fake_settle();
	assert_int_equal(stat_of(conf.rule_stats, "a", "applied"), 2);
	assert_int_equal(stat_of(conf.rule_stats, "a", "matched"), 2);
	assert_int_equal(stat_of(conf.rule_stats, "a", "led_to_document"), 1);
	assert_int_equal(stat_of(conf.rule_stats, "b", "led_to_document"), 1);
	end();
	ing_rule_stats_free(conf.rule_stats);
}

static void a_refusal_is_examined_for_walls_alone(void **state)
{
	(void)state;
	begin(&usual, 0);
	send_request(1, pdf_request);
	turn(5);
	fake_fetch_done(403, NULL);
	assert_int_equal(fake.last_want, ING_WANT_WALLS);
	struct ing_findings f;
	ing_findings_init(&f);
	f.page.status = ING_PAGE_PARSED;
	f.page.wall = ING_WALL_CHALLENGE;
	f.page.wall_detail = ing_strdup("a check of the browser");
	fake_exam_done(&f, "text/html");
	fake_settle();
	expect_status("blocked-challenge", true);
	json_t *o = last_result();
	assert_string_equal(
		json_string_value(json_object_get(o, "error_message")), "a check of the browser");
	assert_null(json_object_get(o, "file_meta"));
	assert_null(json_object_get(o, "extract_next_hop"));
	json_decref(o);
	send_request(2, pdf_request);
	turn(5);
	fake_fetch_done(403, NULL);
	fake_exam_done_page("https://a.example/2.pdf"); /* whatever it links to */
	fake_settle();
	expect_status("terminal-bad-status", true);
	end();
}

static const struct claim {
	const char *name, *content_encoding, *body;
	struct ing_file_meta file; /* what the examiner says */
	const char *status, *sha1hex;
	unsigned false_findings;
} claims[] = {
	{.name = "as sent",
		.body = "ten bytes.",
		.file = {.size_bytes = 10},
		.status = "success",
		.sha1hex = "7ded44ec6461ec2ce9e318cbbe644d85e202f99b"},
	{.name = "as sent, but of another length",
		.body = "ten bytes.",
		.file = {.size_bytes = 11},
		.status = "parse-crash",
		.false_findings = 1},
	{.name = "as sent, though it has a coding",
		.content_encoding = "gzip",
		.body = "\x1f\x8b\x08 bytes.",
		.file = {.size_bytes = 10},
		.status = "parse-crash",
		.false_findings = 1},
	{.name = "decoded, though it has none",
		.body = "ten bytes.",
		.file = {.decoded = true, .size_bytes = 10},
		.status = "parse-crash",
		.false_findings = 1},
	{.name = "decoded",
		.content_encoding = "gzip",
		.body = "ten bytes.",
		.file = {.decoded = true, .size_bytes = 77},
		.status = "success",
		.sha1hex = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
	{.name = "decoded to more than may be",
		.content_encoding = "gzip",
		.body = "ten bytes.",
		.file = {.decoded = true, .size_bytes = UINT64_MAX},
		.status = "parse-crash",
		.false_findings = 1},
	{.name = "gzip that was not said",
		.body = "\x1f\x8b\x08 bytes.",
		.file = {.decoded = true, .size_bytes = 77},
		.status = "success",
		.sha1hex = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
};

/* Ask for a PDF, and have an examiner say `file` of it. */
static void answer_claim(const char *request, const struct claim *c)
{
	send_request(1, request);
	turn(5);
	fake_fetch_answer(&(struct fake_answer){.http_status = 200,
		.body = c->body,
		.body_bytes = strlen(c->body),
		.content_encoding = c->content_encoding});
	struct ing_findings f;
	ing_findings_init(&f);
	f.file = c->file;
	if (f.file.decoded) {
		memset(f.file.md5hex, 'a', sizeof(f.file.md5hex) - 1);
		memset(f.file.sha1hex, 'b', sizeof(f.file.sha1hex) - 1);
		memset(f.file.sha256hex, 'c', sizeof(f.file.sha256hex) - 1);
	}
	memcpy(f.file.mimetype, "application/pdf", sizeof("application/pdf"));
	f.pdf.status = ing_strdup("success");
	f.pdf.text = ing_strdup("words");
	fake_exam_says(&f);
	fake_settle();
}

/* Digests of a body as sent are those that were taken here; an examiner's are believed where it
 * decoded something, and what contradicts the body is its crash. */
static void an_examiner_is_believed_of_what_it_decoded_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(claims); i++) {
		const struct claim *c = &claims[i];
		begin(&usual, 0);
		answer_claim(pdf_request, c);
		assert_int_equal(fake.finished, 1);
		print_message("%s\n", c->name);
		expect_status(c->status, true);
		assert_int_equal(fake.false_findings, c->false_findings);
		json_t *o = last_result();
		json_t *file = json_object_get(o, "file_meta");
		json_t *terminal = json_object_get(o, "terminal");
		assert_int_equal(file != NULL, c->sha1hex != NULL);
		assert_int_equal(json_object_get(o, "pdf_meta") != NULL, c->sha1hex != NULL);
		if (c->sha1hex != NULL) {
			assert_string_equal(
				json_string_value(json_object_get(file, "sha1hex")), c->sha1hex);
			assert_string_equal(
				json_string_value(json_object_get(terminal, "terminal_sha1hex")),
				c->sha1hex);
			assert_int_equal(json_integer_value(json_object_get(file, "size_bytes")),
				c->file.size_bytes);
		}
		json_decref(o);
		end();
	}
}

/* Nobody could look into it, but what it is was known before: as an examiner said, and checked in the
 * same way. */
static void a_document_that_kills_its_examiner_keeps_its_digests(void **state)
{
	static const struct {
		enum ing_exam exam;
		const char *mimetype; /* "": not known by then */
		uint64_t size_bytes;
		const char *status;
		bool has_file;
	} cases[] = {
		{ING_EXAM_CRASH, "application/pdf", 10, "parse-crash", true},
		{ING_EXAM_TIMEOUT, "text/html", 10, "parse-timeout", true},
		{ING_EXAM_CRASH, "application/pdf", 11, "parse-crash", false},
		{ING_EXAM_CRASH, "", 0, "parse-crash", false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_findings f;
		begin(&usual, 0);
		send_request(1, pdf_request);
		turn(5);
		fake_fetch_answer(&(struct fake_answer){
			.http_status = 200, .body = "ten bytes.", .body_bytes = 10});
		ing_findings_init(&f);
		f.exam = cases[i].exam;
		f.file.size_bytes = cases[i].size_bytes;
		snprintf(f.file.mimetype, sizeof(f.file.mimetype), "%s", cases[i].mimetype);
		fake_exam_says(&f);
		fake_settle();
		expect_status(cases[i].status, true);
		json_t *o = last_result();
		json_t *file = json_object_get(o, "file_meta");
		assert_int_equal(file != NULL, cases[i].has_file);
		assert_int_equal(json_object_get(o, "cdx") != NULL, cases[i].has_file);
		assert_null(json_object_get(o, "pdf_meta"));
		if (file != NULL) {
			assert_string_equal(json_string_value(json_object_get(file, "sha1hex")),
				claims[0].sha1hex);
			assert_string_equal(json_string_value(json_object_get(file, "mimetype")),
				cases[i].mimetype);
		}
		json_decref(o);
		end();
	}
}

static void an_expected_hash_is_held_against_what_was_sent(void **state)
{
	static const struct {
		const char *hash, *status;
	} cases[] = {
		{"7DED44EC6461EC2CE9E318CBBE644D85E202F99B", "success"},
		{"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "mismatch-hash"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char request[300];
		snprintf(request, sizeof(request),
			"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\","
			"\"expect_hash\":{\"sha1hex\":\"%s\"}}",
			cases[i].hash);
		begin(&usual, 0);
		answer_claim(request, &claims[0]);
		expect_status(cases[i].status, true);
		json_t *o = last_result();
		assert_non_null(json_object_get(o, "file_meta"));
		json_decref(o);
		end();
	}
}

/* Only a PDF has what a PDF's reader finds: neither a page on the way, whose text would stay in
 * memory, nor one that is the document. */
static void a_page_that_claims_a_pdfs_text_has_none(void **state)
{
	static const char html_request[] =
		"{\"ingest_type\":\"html\",\"base_url\":\"https://a.example/\"}";
	const char *const requests[] = {pdf_request, html_request};
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&usual, 0);
		send_request(1, requests[i]);
		for (int page = 0; page < 2; page++) {
			struct ing_findings f;
			char url[40];
			turn(5);
			fake_fetch_done(200, NULL);
			ing_findings_init(&f);
			f.page.status = ING_PAGE_PARSED;
			f.page.scope = ing_strdup("article-fulltext");
			f.pdf.status = ing_strdup("success");
			f.pdf.text = ing_strdup("words of no PDF");
			snprintf(url, sizeof(url), "https://a.example/%d", page);
			f.page.links[i == 0 || page == 1 ? ING_LINK_PDF : ING_LINK_HTML] =
				(struct ing_page_link){.url = ing_strdup(url),
					.technique = ing_strdup("a lie"),
					.rule = ING_NO_RULE};
			fake_exam_done(&f, "text/html");
		}
		if (i == 0) {
			turn(5);
			fake_fetch_done(200, NULL);
			fake_exam_done_page(NULL);
		}
		fake_settle();
		expect_status(i == 0 ? "no-pdf-link" : "success", true);
		json_t *o = last_result();
		assert_null(json_object_get(o, "pdf_meta"));
		json_decref(o);
		end();
	}
}

/* A body that this worker cannot read back has no digests, and that is nobody else's fault. */
static void a_body_that_cannot_be_read_back_ends_as_our_own_trouble(void **state)
{
	(void)state;
	begin(&usual, 0);
	fake.unreadable = true;
	answer_claim(pdf_request, &claims[0]);
	expect_status("worker-error", true);
	assert_int_equal(fake.false_findings, 0);
	json_t *o = last_result();
	assert_null(json_object_get(o, "file_meta"));
	assert_null(json_object_get(o, "pdf_meta"));
	json_decref(o);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_ends_in_the_durable_order),
		cmocka_unit_test(a_stored_answer_is_committed_and_nothing_fetched),
		cmocka_unit_test(no_success_without_its_record),
		cmocka_unit_test(no_success_without_the_record_of_a_step_before),
		cmocka_unit_test(an_examiner_that_cannot_read_the_body_blames_the_worker),
		cmocka_unit_test(a_wall_that_cannot_be_read_blames_the_worker),
		cmocka_unit_test(a_job_can_be_called_off_at_any_point),
		cmocka_unit_test(draining_lets_finish_what_was_admitted),
		cmocka_unit_test(the_deadline_ends_an_examination),
		cmocka_unit_test(waiting_for_an_examiner_is_no_work),
		cmocka_unit_test(a_page_that_waited_is_followed),
		cmocka_unit_test(a_document_that_no_examiner_took_is_the_workers_trouble),
		cmocka_unit_test(a_host_that_does_not_move_ends_the_wait),
		cmocka_unit_test(some_end_without_a_fetch),
		cmocka_unit_test(redirects_and_links_have_their_own_limits),
		cmocka_unit_test(a_refused_result_is_sent_shorter),
		cmocka_unit_test(the_log_of_a_refusal_holds_no_password),
		cmocka_unit_test(the_unreadable_goes_to_the_dead_letters),
		cmocka_unit_test(intake_pauses_at_the_ceiling_and_goes_on_below),
		cmocka_unit_test(requests_are_weighed_not_only_counted),
		cmocka_unit_test(full_stages_hold_the_gate),
		cmocka_unit_test(what_rules_led_to_is_counted),
		cmocka_unit_test(a_refusal_is_examined_for_walls_alone),
		cmocka_unit_test(an_examiner_is_believed_of_what_it_decoded_alone),
		cmocka_unit_test(a_document_that_kills_its_examiner_keeps_its_digests),
		cmocka_unit_test(an_expected_hash_is_held_against_what_was_sent),
		cmocka_unit_test(a_page_that_claims_a_pdfs_text_has_none),
		cmocka_unit_test(a_body_that_cannot_be_read_back_ends_as_our_own_trouble),
	};
	fake_shorten = ing_result_shorten;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
