/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Robots fetches among stages that do what each test tells them to: by which way they go,
 * what is told in the end, and that calling them off leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/record/cdx.h"
#include "common/base/clock.h"
#include "common/net/robots.h"
#include "fake_gate.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/visit/robots_fetch.h"
#include "worker/visit/visit.h"

#define URL "https://a.example/robots.txt"
#define RULES "User-agent: *\nDisallow: /x\n"

static uv_loop_t loop;
static struct ing_visits *visits;
static struct ing_robots_fetches *fetches;
static struct ing_deliver *deliver;
static bool with_store = true;
static unsigned lines; /* of CDX */
static char last_line_url[128];
static int token; /* its address is one */

static const struct ing_robots_fetch_conf usual = {
	.max_redirects = 5,
	.max_body_bytes = 1000,
	.agent = "tester/1.0 (+https://tests.example/)",
	.deadline_ms = 60000,
};

static const struct ing_visits_stages visit_stages = {
	.gate = FAKE_STAGE,
	.robots = FAKE_STAGE,
	.fetch = FAKE_STAGE,
	.archive = FAKE_STAGE,
};

static void on_cdx(void *ctx, const struct ing_cdx *row)
{
	(void)ctx;
	lines++;
	snprintf(last_line_url, sizeof(last_line_url), "%s", row->url);
}

static const struct ing_robots_fetch_stages all_stages = {
	.robots = FAKE_STAGE,
	.pool = FAKE_STAGE,
};

static void begin_with(const struct ing_robots_fetch_conf *conf,
	const struct ing_robots_fetch_stages *stages, const struct ing_visits_stages *of_visits)
{
	struct ing_robots_fetch_stages all = *stages;
	fake_reset();
	fake_gate_reset();
	lines = 0;
	assert_int_equal(uv_loop_init(&loop), 0);
	visits = ing_visits_new(&loop,
		&(struct ing_visits_conf){.host_rules = FAKE_STAGE, .blocked_hosts = FAKE_STAGE});
	ing_visits_wire(visits, of_visits);
	deliver = fake_deliver_new(with_store, on_cdx);
	all.visits = visits;
	all.deliver = deliver;
	fetches = ing_robots_fetches_new(conf);
	ing_robots_fetches_wire(fetches, &all);
	assert_true(ing_robots_fetches_idle(fetches));
	ing_robots_fetch_start(fetches, URL, &token);
	assert_false(ing_robots_fetches_idle(fetches));
}

static void begin(
	const struct ing_robots_fetch_conf *conf, const struct ing_robots_fetch_stages *stages)
{
	begin_with(conf, stages, &visit_stages);
}

static void end(void)
{
	assert_true(ing_robots_fetches_idle(fetches));
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding, 0);
	ing_robots_fetches_free(fetches);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

/* Through the gate, and an answer of this status. */
static void answer(int http_status, const char *location, const char *body)
{
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){
		.http_status = http_status,
		.location = location,
		.body = body,
		.body_bytes = body != NULL ? strlen(body) : 0,
		.content_type = "Text/Plain; charset=utf-8",
	});
}

static void expect_told(enum ing_status outcome, int http_status)
{
	assert_int_equal(fake.told_count, 1);
	assert_ptr_equal(fake.told_token, &token);
	assert_string_equal(ing_status_slug(fake.told.outcome), ing_status_slug(outcome));
	assert_int_equal(fake.told.http_status, http_status);
	end();
}

/* --- the way --- */

static void a_file_is_believed_when_it_is_kept(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	assert_string_equal(fake_gate.last_url, URL);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_BULK);
	assert_true(fake_gate.ticket.again); /* before all who wait for it */
	answer(200, NULL, RULES);
	assert_int_equal(fake.last_max_body_bytes, 1000);
	assert_int_equal(fake_gate.report.kind, ING_ANSWER_GOOD);
	assert_int_equal(fake_gate.holding, 0);
	assert_int_equal(fake.archived.count, 1);
	assert_int_equal(fake.exams.count, 1); /* side by side */
	assert_int_equal(fake.last_want, ING_WANT_ROBOTS);
	assert_string_equal(fake.last_agent, "tester/1.0 (+https://tests.example/)");
	assert_false(fake.last_body_cut);
	fake_archive_done();
	assert_int_equal(lines, 0); /* the row needs what the examiner knows */
	fake_exam_done_robots(RULES);
	assert_int_equal(lines, 1);
	assert_string_equal(last_line_url, URL);
	assert_int_equal(fake.stored.count, 1);
	assert_int_equal(fake.told_count, 0);
	fake_store_done();
	assert_int_equal(fake.told_rules, 1);
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void the_record_may_be_done_last(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	answer(200, NULL, RULES);
	fake_exam_done_robots(RULES);
	assert_int_equal(lines, 0);
	assert_int_equal(fake.told_count, 0);
	fake_archive_done();
	assert_int_equal(lines, 1);
	fake_store_done();
	assert_int_equal(fake.told_rules, 1);
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void an_empty_file_needs_no_examiner(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	answer(200, NULL, NULL);
	assert_int_equal(fake.exams.count, 0);
	fake_settle();
	assert_int_equal(fake.told_rules, -1);
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void without_archive_and_store_it_is_believed_when_examined(void **state)
{
	(void)state;
	struct ing_visits_stages of_visits = visit_stages;
	of_visits.archive = NULL;
	with_store = false;
	begin_with(&usual, &all_stages, &of_visits);
	with_store = true;
	answer(200, NULL, RULES);
	assert_int_equal(fake.told_count, 0);
	fake_exam_done_robots(RULES);
	assert_int_equal(lines, 0);
	assert_int_equal(fake.told_rules, 1);
	expect_told(ING_STATUS_SUCCESS, 200);
}

/* Not "parse-crash" or rules that are in no archive: the next try may go better. */
static void a_body_that_cannot_be_read_back_is_trouble_of_ours(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	answer(200, NULL, RULES);
	fake_exam_done_robots(RULES);
	fake_archive_lose();
	assert_int_equal(lines, 0);
	expect_told(ING_STATUS_WORKER_ERROR, 0);

	begin(&usual, &all_stages);
	answer(301, "https://b.example/", NULL);
	fake_archive_lose();
	expect_told(ING_STATUS_WORKER_ERROR, 0);

	begin(&usual, &all_stages);
	answer(200, NULL, RULES);
	fake_archive_done();
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = ING_EXAM_UNREADABLE;
	fake_exam_done(&f, "");
	fake_settle();
	expect_told(ING_STATUS_WORKER_ERROR, 200);
}

static void the_table_has_no_row_of_a_404(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	answer(404, NULL, "not here");
	fake_archive_done();
	assert_int_equal(lines, 1);
	assert_int_equal(fake.stored.count, 0);
	assert_int_equal(fake.told_rules, -1);
	expect_told(ING_STATUS_SUCCESS, 404);
}

static void redirects_are_followed_through_the_gate(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	ing_robots_fetch_raise_lane(
		fetches, (struct ing_robots_entry *)(void *)&token, ING_LANE_PRIORITY);
	for (int i = 1; i <= 5; i++) {
		char to[64];
		snprintf(to, sizeof(to), "https://u:p@b.example/%d#f", i);
		answer(301, to, NULL);
		fake_settle();
		snprintf(to, sizeof(to), "https://b.example/%d", i);
		assert_string_equal(fake_gate.last_url, to);
		assert_int_equal(fake_gate.ticket.lane, ING_LANE_PRIORITY);
	}
	answer(200, NULL, RULES);
	fake_exam_done_robots(RULES);
	fake_settle();
	assert_int_equal(lines, 6);
	assert_string_equal(last_line_url, "https://b.example/5");
	assert_int_equal(fake.told_rules, 1);
	expect_told(ING_STATUS_SUCCESS, 200);
}

/* Nobody knows what is behind it: not as if there were no file. */
static void a_redirect_that_comes_too_late_is_no_answer(void **state)
{
	(void)state;
	struct ing_robots_fetch_conf conf = usual;
	conf.deadline_ms = 1;
	begin(&conf, &all_stages);
	fake_gate_grant();
	uint64_t late_ms = ing_now_ms() + 2;
	while (ing_now_ms() < late_ms)
		;
	fake_fetch_done(301, "https://b.example/robots.txt");
	fake_settle();
	expect_told(ING_STATUS_TIMEOUT, 301);
}

static void redirects_that_lead_nowhere_are_told_as_such(void **state)
{
	(void)state;
	static const char *const nowhere[] = {
		NULL, "ftp://a.example/", "https://blocked.example/", URL};
	for (size_t i = 0; i < ING_ARRAY_LEN(nowhere); i++) {
		begin(&usual, &all_stages);
		fake.blocked_host = "blocked.example";
		answer(302, nowhere[i], NULL);
		fake_settle();
		expect_told(ING_STATUS_SUCCESS, 302);
	}
	begin(&usual, &all_stages);
	for (int i = 0; i < 6; i++) {
		answer(307, i % 2 == 0 ? URL "?" : URL, NULL);
		fake_settle();
	}
	expect_told(ING_STATUS_SUCCESS, 307);
	/* to an address that is not the web's, or to a host that was blocked on the way */
	for (int way = 0; way < 2; way++) {
		begin(&usual, &all_stages);
		answer(308, "https://inside.example/", NULL);
		fake_settle();
		if (way == 0)
			fake.blocked_host = "inside.example";
		fake_gate_grant();
		if (way == 1)
			fake_fetch_answer(
				&(struct fake_answer){.outcome = ING_STATUS_BLOCKED_ADDRESS});
		expect_told(ING_STATUS_SUCCESS, 308);
	}
}

static void what_passes_is_tried_again(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	answer(503, NULL, NULL);
	assert_int_equal(fake_gate.report.kind, ING_ANSWER_THROTTLED);
	fake_settle();
	assert_int_equal(fake_gate.ticket.delay_ms, 0);
	answer(500, NULL, NULL);
	fake_settle();
	assert_in_range(fake_gate.ticket.delay_ms, 1500, 2500);
	answer(200, NULL, RULES);
	fake_exam_done_robots(RULES);
	fake_settle();
	assert_int_equal(lines, 3); /* each try is kept */
	expect_told(ING_STATUS_SUCCESS, 200);
	begin(&usual, &all_stages);
	for (int i = 0; i < 6; i++) { /* three more than a request's own URL has */
		assert_in_range(fake_gate.ticket.delay_ms, i == 0 ? 0 : 750 << (i - 1),
			i == 0 ? 0 : 1250 << (i - 1));
		fake_gate_grant();
		fake_fetch_answer(&(struct fake_answer){
			.outcome = ING_STATUS_CONNECT_ERROR, .transient = true});
	}
	assert_string_equal(fake.told_words, "a test's failure");
	expect_told(ING_STATUS_CONNECT_ERROR, 0);
}

static void a_fetch_is_as_urgent_as_who_waits_for_it(void **state)
{
	(void)state;
	struct ing_robots_entry *entry = (struct ing_robots_entry *)(void *)&token;
	begin(&usual, &all_stages);
	ing_robots_fetch_raise_lane(fetches, entry, ING_LANE_DAILY);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_DAILY);
	assert_true(fake_gate.ticket.again);
	assert_int_equal(fake_gate.waiters.count, 1);
	ing_robots_fetch_raise_lane(fetches, entry, ING_LANE_BULK);
	ing_robots_fetch_raise_lane(fetches, FAKE_STAGE, ING_LANE_PRIORITY); /* another's */
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_DAILY);
	/* What it waits for between two tries it still waits for. */
	answer(500, NULL, NULL);
	fake_settle();
	ing_robots_fetch_raise_lane(fetches, entry, ING_LANE_REQUESTS);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_REQUESTS);
	assert_in_range(fake_gate.ticket.delay_ms, 500, 1250);
	/* While it is asked for there is nothing to hurry but what comes later. */
	fake_gate_grant();
	ing_robots_fetch_raise_lane(fetches, entry, ING_LANE_PRIORITY);
	assert_int_equal(fake_gate.holding, 1);
	fake_fetch_answer(&(struct fake_answer){.http_status = 302, .location = "/2"});
	fake_settle();
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_PRIORITY);
	assert_int_equal(fake_gate.ticket.delay_ms, 0);
	answer(404, NULL, NULL);
	fake_settle();
	expect_told(ING_STATUS_SUCCESS, 404);
}

/* --- what cannot be asked --- */

static void a_host_that_is_held_cannot_be_asked(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	fake_gate_refuse(ING_GATE_HELD, 300);
	assert_int_equal(fake.told.retry_after_s, 300);
	assert_non_null(strstr(fake.told_words, "held"));
	expect_told(ING_STATUS_HOST_BACKOFF, 0);
}

static void a_host_that_is_blocked_is_not_asked(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	fake.blocked_host = "a.example";
	fake_gate_grant();
	assert_int_equal(fake.fetches.count, 0);
	assert_non_null(strstr(fake.told_words, "operator"));
	expect_told(ING_STATUS_SKIP_URL_BLOCKLIST, 0);
}

static void certificates_may_go_unverified_where_a_rule_says_so(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	fake.rule = (struct ing_host_rule){.host = "a.example", .tls_fallback = ING_CHOICE_YES};
	answer(404, NULL, NULL);
	assert_true(fake.last_tls_fallback);
	fake_settle();
	expect_told(ING_STATUS_SUCCESS, 404);
}

/* --- bodies --- */

static void begin_body(enum ing_status outcome, const char *coding)
{
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = outcome,
		.http_status = 200,
		.body = "as it was sent",
		.body_bytes = 14,
		.content_encoding = coding});
}

static void a_coded_body_is_the_examiners(void **state)
{
	(void)state;
	begin_body(ING_STATUS_SUCCESS, "gzip");
	assert_string_equal(fake.last_encoding, "gzip");
	fake_exam_done_robots(RULES);
	fake_settle();
	/* The row has both digests: of what it says, and of what was sent. */
	assert_string_equal(fake.last_row_sha1hex, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
	assert_string_equal(fake.last_row_cdx_sha1hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void an_examiners_digest_of_what_had_no_coding_is_not_believed(void **state)
{
	struct ing_findings f;
	(void)state;
	begin_body(ING_STATUS_SUCCESS, NULL);
	ing_findings_init(&f);
	f.robots.txt = ing_robots_txt_parse(RULES, strlen(RULES), "tester");
	f.file.decoded = true;
	memset(f.file.sha1hex, 'b', sizeof(f.file.sha1hex) - 1);
	fake_exam_says(&f);
	fake_settle();
	assert_string_equal(fake.last_row_sha1hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(fake.last_row_cdx_sha1hex, "");
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void what_was_cut_counts_as_far_as_it_goes(void **state)
{
	(void)state;
	begin_body(ING_STATUS_BODY_TOO_LARGE, NULL);
	assert_true(fake.last_body_cut);
	fake_exam_done_robots(RULES);
	fake_settle();
	assert_int_equal(fake.told_rules, 1);
	/* The digest is that of a part: the row has none but the record's. */
	assert_string_equal(fake.last_row_sha1hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(fake.last_row_cdx_sha1hex, "");
	expect_told(ING_STATUS_SUCCESS, 200);
}

/* Each of them is kept, has its row, and is no file: the cache takes it as unreachable. */
static void what_an_examiner_cannot_read_is_no_file(void **state)
{
	static const struct {
		enum ing_exam exam;
		enum ing_status told;
	} cases[] = {
		{ING_EXAM_BAD_ENCODING, ING_STATUS_BAD_CONTENT_ENCODING},
		{ING_EXAM_TOO_LARGE, ING_STATUS_BODY_TOO_LARGE},
		{ING_EXAM_CRASH, ING_STATUS_PARSE_CRASH},
		{ING_EXAM_TIMEOUT, ING_STATUS_PARSE_TIMEOUT},
		{ING_EXAM_NOT_STARTED, ING_STATUS_WORKER_ERROR},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		begin_body(ING_STATUS_SUCCESS, "gzip");
		fake_exam_done_badly(cases[i].exam, "the examiner's words");
		fake_settle();
		assert_int_equal(lines, 1);
		assert_int_equal(fake.rows, 1);
		assert_string_equal(fake.last_row_cdx_sha1hex, "");
		assert_string_equal(fake.told_words, "the examiner's words");
		assert_int_equal(fake.told_rules, -1);
		expect_told(cases[i].told, 200);
	}
	/* An answer to another question, which only one that was taken over would give. */
	begin_body(ING_STATUS_SUCCESS, NULL);
	fake_exam_done_pdf("text");
	fake_settle();
	assert_int_equal(fake.told_rules, -1);
	expect_told(ING_STATUS_PARSE_CRASH, 200);
}

static void a_broken_body_is_no_file(void **state)
{
	(void)state;
	/* lost on the way, three times */
	begin(&usual, &all_stages);
	for (int i = 0; i < 3; i++) {
		fake_gate_grant();
		fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_TRUNCATED_BODY,
			.http_status = 200,
			.body = RULES,
			.body_bytes = strlen(RULES),
			.transient = true});
		assert_int_equal(fake.exams.count, 0);
		fake_settle();
	}
	expect_told(ING_STATUS_TRUNCATED_BODY, 200);
	/* of a 404 nobody minds */
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){
		.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 404, .transient = true});
	fake_settle();
	expect_told(ING_STATUS_SUCCESS, 404);
}

/* --- calling off --- */

static void fetches_can_be_called_off_at_any_point(void **state)
{
	(void)state;
	for (int step = 0; step < 6; step++) {
		begin(&usual, &all_stages);
		if (step >= 1)
			fake_gate_grant();
		if (step >= 2)
			fake_fetch_answer(&(struct fake_answer){
				.http_status = 200, .body = RULES, .body_bytes = strlen(RULES)});
		if (step == 3 || step == 5)
			fake_archive_done();
		if (step >= 4)
			fake_exam_done_robots(RULES);
		ing_robots_fetches_cancel(fetches);
		ing_robots_fetches_cancel(fetches);
		assert_int_equal(fake.fetches.count, 0);
		assert_int_equal(fake.exams.count, 0);
		/* Of what threads have in hand the callback is still owed. */
		assert_int_equal(ing_robots_fetches_idle(fetches), step < 2 || step == 3);
		fake_settle();
		assert_int_equal(fake.told_count, 0);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_believed_when_it_is_kept),
		cmocka_unit_test(the_record_may_be_done_last),
		cmocka_unit_test(an_empty_file_needs_no_examiner),
		cmocka_unit_test(without_archive_and_store_it_is_believed_when_examined),
		cmocka_unit_test(a_body_that_cannot_be_read_back_is_trouble_of_ours),
		cmocka_unit_test(the_table_has_no_row_of_a_404),
		cmocka_unit_test(redirects_are_followed_through_the_gate),
		cmocka_unit_test(a_redirect_that_comes_too_late_is_no_answer),
		cmocka_unit_test(redirects_that_lead_nowhere_are_told_as_such),
		cmocka_unit_test(what_passes_is_tried_again),
		cmocka_unit_test(a_fetch_is_as_urgent_as_who_waits_for_it),
		cmocka_unit_test(a_host_that_is_held_cannot_be_asked),
		cmocka_unit_test(a_host_that_is_blocked_is_not_asked),
		cmocka_unit_test(certificates_may_go_unverified_where_a_rule_says_so),
		cmocka_unit_test(a_coded_body_is_the_examiners),
		cmocka_unit_test(an_examiners_digest_of_what_had_no_coding_is_not_believed),
		cmocka_unit_test(what_was_cut_counts_as_far_as_it_goes),
		cmocka_unit_test(what_an_examiner_cannot_read_is_no_file),
		cmocka_unit_test(a_broken_body_is_no_file),
		cmocka_unit_test(fetches_can_be_called_off_at_any_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
