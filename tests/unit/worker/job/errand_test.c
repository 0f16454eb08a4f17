/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errands for robots.txt among stages that do what each test tells them to: by which way they go,
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
#include "fake_gate.h"
#include "stages.h"
#include "worker/job/errand.h"

#define URL "https://a.example/robots.txt"
#define RULES "User-agent: *\nDisallow: /x\n"

static struct ing_errands *errands;
static unsigned lines; /* of CDX */
static char last_line_url[128];
static int token; /* its address is one */

static const struct ing_errand_conf usual = {
	.max_redirects = 5,
	.max_body_bytes = 1000,
	.max_decoded_bytes = 500,
	.deadline_ms = 60000,
	.hostrules = FAKE_STAGE,
	.hostblocks = FAKE_STAGE,
};

static void on_cdx(void *ctx, const struct ing_cdx *row)
{
	(void)ctx;
	lines++;
	snprintf(last_line_url, sizeof(last_line_url), "%s", row->url);
}

static const struct ing_stages all_stages = {
	.gate = FAKE_STAGE,
	.robots = FAKE_STAGE,
	.fetch = FAKE_STAGE,
	.archive = FAKE_STAGE,
	.store = FAKE_STAGE,
	.on_cdx = on_cdx,
};

static void begin(const struct ing_errand_conf *conf, const struct ing_stages *stages)
{
	fake_reset();
	fake_gate_reset();
	lines = 0;
	errands = ing_errands_new(conf);
	ing_errands_wire(errands, stages);
	assert_true(ing_errands_idle(errands));
	ing_errands_get_robots(errands, URL, &token);
	assert_false(ing_errands_idle(errands));
}

static void end(void)
{
	assert_true(ing_errands_idle(errands));
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding, 0);
	ing_errands_free(errands);
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
	assert_int_equal(lines, 0);
	fake_archive_done();
	assert_int_equal(lines, 1);
	assert_string_equal(last_line_url, URL);
	assert_int_equal(fake.stored.count, 1);
	assert_int_equal(fake.told_count, 0);
	fake_store_done();
	assert_string_equal(fake.told_body, RULES);
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void without_archive_and_store_it_is_believed_at_once(void **state)
{
	(void)state;
	struct ing_stages stages = all_stages;
	stages.archive = NULL;
	stages.store = NULL;
	begin(&usual, &stages);
	answer(200, NULL, RULES);
	assert_int_equal(lines, 0);
	assert_string_equal(fake.told_body, RULES);
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void the_table_has_no_row_of_a_404(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	answer(404, NULL, "not here");
	fake_archive_done();
	assert_int_equal(lines, 1);
	assert_int_equal(fake.stored.count, 0);
	assert_int_equal(fake.told.body_bytes, 0);
	expect_told(ING_STATUS_SUCCESS, 404);
}

static void redirects_are_followed_through_the_gate(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	ing_errands_hurry(errands, (struct ing_robots_entry *)(void *)&token, ING_LANE_PRIORITY);
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
	fake_settle();
	assert_int_equal(lines, 6);
	assert_string_equal(last_line_url, "https://b.example/5");
	assert_string_equal(fake.told_body, RULES);
	expect_told(ING_STATUS_SUCCESS, 200);
}

/* Nobody knows what is behind it: not as if there were no file. */
static void a_redirect_that_comes_too_late_is_no_answer(void **state)
{
	(void)state;
	struct ing_errand_conf conf = usual;
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
	fake_settle();
	assert_int_equal(lines, 3); /* each try is kept */
	expect_told(ING_STATUS_SUCCESS, 200);
	begin(&usual, &all_stages);
	for (int i = 0; i < 6; i++) { /* three more than a request's own URL has */
		assert_in_range(fake_gate.ticket.delay_ms, i == 0 ? 0 : 750 << (i - 1),
			i == 0 ? 0 : 1250 << (i - 1));
		fake_gate_grant();
		fake_fetch_answer(&(struct fake_answer){
			.outcome = ING_STATUS_CONNECT_ERROR, .passing = true});
	}
	assert_string_equal(fake.told_words, "a test's failure");
	expect_told(ING_STATUS_CONNECT_ERROR, 0);
}

static void an_errand_is_as_urgent_as_who_waits_for_it(void **state)
{
	(void)state;
	struct ing_robots_entry *entry = (struct ing_robots_entry *)(void *)&token;
	begin(&usual, &all_stages);
	ing_errands_hurry(errands, entry, ING_LANE_DAILY);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_DAILY);
	assert_true(fake_gate.ticket.again);
	assert_int_equal(fake_gate.waiters.count, 1);
	ing_errands_hurry(errands, entry, ING_LANE_BULK);
	ing_errands_hurry(errands, FAKE_STAGE, ING_LANE_PRIORITY); /* another's */
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_DAILY);
	/* What it waits for between two tries it still waits for. */
	answer(500, NULL, NULL);
	fake_settle();
	ing_errands_hurry(errands, entry, ING_LANE_REQUESTS);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_REQUESTS);
	assert_in_range(fake_gate.ticket.delay_ms, 500, 1250);
	/* While it is asked for there is nothing to hurry but what comes later. */
	fake_gate_grant();
	ing_errands_hurry(errands, entry, ING_LANE_PRIORITY);
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

/* gzip of RULES */
static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0x0b, 0x2d, 0x4e, 0x2d, 0xd2, 0x4d, 0x4c, 0x4f, 0xcd, 0x2b, 0xb1, 0x52, 0xd0, 0xe2, 0x72,
	0xc9, 0x2c, 0x4e, 0xcc, 0xc9, 0xc9, 0x2f, 0xb7, 0x52, 0xd0, 0xaf, 0xe0, 0x02, 0x00, 0xdf,
	0x99, 0x83, 0xb7, 0x1b, 0x00, 0x00, 0x00};

static void a_coded_body_is_decoded(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 200,
		.body = packed,
		.body_bytes = sizeof(packed),
		.content_encoding = "gzip"});
	fake_settle();
	/* The row has both digests: of what it says, and of what was sent. */
	assert_string_equal(fake.last_row_sha1hex, "69e295eae67fc04226a48d791426a2c6e67a6004");
	assert_string_equal(fake.last_row_cdx_sha1hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(fake.told_body, RULES);
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void what_was_cut_counts_as_far_as_it_goes(void **state)
{
	(void)state;
	/* by fetch, as it was sent */
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_BODY_TOO_LARGE,
		.http_status = 200,
		.body = RULES "Disallow: /on",
		.body_bytes = strlen(RULES) + 13});
	fake_settle();
	assert_string_equal(fake.told_body, RULES); /* which was /only/this */
	expect_told(ING_STATUS_SUCCESS, 200);
	/* by us: as many lines as the parser wants */
	char large[800];
	memset(large, '#', sizeof(large));
	large[450] = '\n';
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){
		.http_status = 200, .body = large, .body_bytes = sizeof(large)});
	fake_settle();
	assert_int_equal(fake.told.body_bytes, 451);
	expect_told(ING_STATUS_SUCCESS, 200);
	/* the middle of a coded one */
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_BODY_TOO_LARGE,
		.http_status = 200,
		.body = packed,
		.body_bytes = sizeof(packed) - 9,
		.content_encoding = "gzip"});
	fake_settle();
	assert_string_equal(fake.last_row_cdx_sha1hex, "");
	expect_told(ING_STATUS_SUCCESS, 200);
}

static void a_broken_body_is_no_file(void **state)
{
	(void)state;
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){.http_status = 200,
		.body = packed,
		.body_bytes = sizeof(packed) - 9,
		.content_encoding = "gzip"});
	fake_settle();
	expect_told(ING_STATUS_BAD_CONTENT_ENCODING, 200);
	/* lost on the way, three times */
	begin(&usual, &all_stages);
	for (int i = 0; i < 3; i++) {
		fake_gate_grant();
		fake_fetch_answer(&(struct fake_answer){.outcome = ING_STATUS_TRUNCATED_BODY,
			.http_status = 200,
			.body = RULES,
			.body_bytes = strlen(RULES),
			.passing = true});
		fake_settle();
	}
	expect_told(ING_STATUS_TRUNCATED_BODY, 200);
	/* of a 404 nobody minds */
	begin(&usual, &all_stages);
	fake_gate_grant();
	fake_fetch_answer(&(struct fake_answer){
		.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 404, .passing = true});
	fake_settle();
	expect_told(ING_STATUS_SUCCESS, 404);
}

/* --- calling off --- */

static void errands_can_be_called_off_at_any_point(void **state)
{
	(void)state;
	for (int step = 0; step < 4; step++) {
		begin(&usual, &all_stages);
		if (step >= 1)
			fake_gate_grant();
		if (step >= 2)
			fake_fetch_answer(&(struct fake_answer){
				.http_status = 200, .body = RULES, .body_bytes = strlen(RULES)});
		if (step >= 3)
			fake_archive_done();
		ing_errands_cancel(errands);
		ing_errands_cancel(errands);
		assert_int_equal(fake.fetches.count, 0);
		assert_int_equal(ing_errands_idle(errands), step < 2);
		fake_settle();
		assert_int_equal(fake.told_count, 0);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_believed_when_it_is_kept),
		cmocka_unit_test(without_archive_and_store_it_is_believed_at_once),
		cmocka_unit_test(the_table_has_no_row_of_a_404),
		cmocka_unit_test(redirects_are_followed_through_the_gate),
		cmocka_unit_test(a_redirect_that_comes_too_late_is_no_answer),
		cmocka_unit_test(redirects_that_lead_nowhere_are_told_as_such),
		cmocka_unit_test(what_passes_is_tried_again),
		cmocka_unit_test(an_errand_is_as_urgent_as_who_waits_for_it),
		cmocka_unit_test(a_host_that_is_held_cannot_be_asked),
		cmocka_unit_test(a_host_that_is_blocked_is_not_asked),
		cmocka_unit_test(certificates_may_go_unverified_where_a_rule_says_so),
		cmocka_unit_test(a_coded_body_is_decoded),
		cmocka_unit_test(what_was_cut_counts_as_far_as_it_goes),
		cmocka_unit_test(a_broken_body_is_no_file),
		cmocka_unit_test(errands_can_be_called_off_at_any_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
