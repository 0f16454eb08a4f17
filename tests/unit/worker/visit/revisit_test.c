/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an answer's record may refer to: which answers are looked up, where, and that an answer
 * never waits for a table that cannot be asked; and the cache of originals by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake_gate.h"
#include "stages.h"
#include "common/base/arena.h"
#include "common/data/base32.h"
#include "worker/fetch/fetch.h"
#include "worker/visit/originals.h"
#include "worker/visit/visit.h"

#define A "https://a.example/"
#define BODY "a body that is long enough to be referred to"
#define OTHER_HEX "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
#define DATE "2026-11-20T10:00:00.123456Z"

static const struct ing_archive_settings usual = {
	.dir = "/", .revisits = true, .revisit_min_bytes = 20, .revisit_cache = 2};

static struct ing_visit visit;
static struct ing_arena ar;
static struct ing_visit_steps steps;
static struct ing_work_clock work_clock;
static uv_loop_t loop;
static struct ing_visits *all;
static struct ing_originals *originals;
static unsigned settled;

static char *get_url(struct ing_visit *v)
{
	(void)v;
	return ing_strdup(A);
}

static void on_admitted(struct ing_visit *v, struct ing_visit_params *ret)
{
	(void)v;
	*ret = (struct ing_visit_params){
		.url = A, .arena = &ar, .steps = &steps, .clock = &work_clock, .max_redirects = 2};
}

static bool was_asked_before(const struct ing_visit *v, const char *url)
{
	(void)v;
	return ing_visit_steps_have(&steps, url);
}

static void on_done(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	(void)v;
	(void)o;
}

static void on_settled(struct ing_visit *v)
{
	assert_false(ing_visit_owes(v));
	settled++;
}

static const struct ing_visit_user user = {
	.url = get_url,
	.admitted = on_admitted,
	.asked_before = was_asked_before,
	.done = on_done,
	.settled = on_settled,
};

static int later_s; /* each visit is a second after the one before */

static void begin_visit(void)
{
	later_s++;
	settled = 0;
	ing_visit_steps_init(&steps);
	ing_arena_init(&ar);
	ing_work_clock_init(&work_clock, 60000);
	ing_visit_init(&visit, all, &user, NULL, ING_LANE_REQUESTS);
	ing_visit_start(&visit, A, ING_VIA_START);
	fake_gate_grant();
}

static void end_visit(void)
{
	assert_true(ing_visit_is_idle(&visit));
	ing_visit_steps_done(&steps);
	ing_arena_done(&ar);
}

static void begin(bool with_table)
{
	fake_reset();
	fake_gate_reset();
	assert_int_equal(uv_loop_init(&loop), 0);
	originals = ing_originals_new(&usual);
	all = ing_visits_new(&loop,
		&(struct ing_visits_conf){.host_rules = FAKE_STAGE, .blocked_hosts = FAKE_STAGE});
	ing_visits_wire(all, &(struct ing_visits_stages){.gate = FAKE_STAGE,
				     .robots = FAKE_STAGE,
				     .fetch = FAKE_STAGE,
				     .archive = FAKE_STAGE,
				     .originals = originals,
				     .lookup = with_table ? FAKE_STAGE : NULL});
	begin_visit();
}

static void end(void)
{
	end_visit();
	ing_visits_free(all);
	ing_originals_free(originals);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static void answer_with(const char *body, const char *encoding)
{
	fake_fetch_answer(&(struct fake_answer){.http_status = 200,
		.body = body,
		.body_bytes = strlen(body),
		.content_type = "text/plain",
		.content_encoding = encoding,
		.later_s = later_s});
}

static const char *sha1_hex_of(const char *text, char ret[41])
{
	struct ing_digests d;
	ing_digest(ING_DIGEST_SHA1, text, strlen(text), &d);
	ing_hex_encode(d.sha1, sizeof(d.sha1), ret);
	return ret;
}

static struct ing_row_cdx row_of(const char *sha1hex)
{
	return (struct ing_row_cdx){.url = A,
		.datetime = "20261120100000",
		.sha1hex = sha1hex,
		.mimetype = "text/plain",
		.warc_path = "T-0.warc.gz",
		.warc_csize = 7,
		.warc_offset = 70,
		.record_id = ID,
		.record_date = DATE};
}

static const struct ing_capture *capture(void)
{
	return &steps.last->capture;
}

/* --- from the table --- */

static void the_table_says_what_may_be_referred_to(void **state)
{
	(void)state;
	char hex[41];
	begin(true);
	answer_with(BODY, NULL);
	assert_string_equal(fake.last_asked, "captures " A);
	assert_int_equal(fake.archived.count, 0); /* it waits */
	assert_true(ing_visit_owes(&visit));
	const struct ing_row_cdx rows[] = {row_of(OTHER_HEX), row_of(sha1_hex_of(BODY, hex))};
	fake_lookup_captures_done(rows, 2);
	assert_int_equal(fake.archived.count, 1);
	fake_archive_done();
	assert_int_equal(settled, 1);
	const struct ing_original *original = capture()->original;
	assert_non_null(original);
	assert_true(original->indexed);
	assert_string_equal(original->record.url, A);
	assert_string_equal(original->record.record_id, ID);
	assert_string_equal(original->record.record_date, DATE);
	assert_string_equal(original->row.warc_path, "T-0.warc.gz");
	assert_string_equal(ing_capture_mimetype(capture()), "warc/revisit");
	end();
}

static void another_body_is_archived_whole(void **state)
{
	(void)state;
	begin(true);
	answer_with(BODY, NULL);
	const struct ing_row_cdx row = row_of(OTHER_HEX);
	fake_lookup_captures_done(&row, 1);
	fake_archive_done();
	assert_null(capture()->original);
	assert_string_equal(ing_capture_mimetype(capture()), "text/plain");
	end();
}

/* Of a body with a coding the table has the digest of the decoded one first. */
static void the_body_as_sent_is_compared(void **state)
{
	(void)state;
	char hex[41];
	begin(true);
	answer_with(BODY, "gzip");
	struct ing_row_cdx row = row_of(OTHER_HEX);
	row.cdx_sha1hex = sha1_hex_of(BODY, hex);
	fake_lookup_captures_done(&row, 1);
	fake_archive_done();
	assert_non_null(capture()->original);
	end();
}

static void rows_without_a_record_are_not_referred_to(void **state)
{
	(void)state;
	char hex[41];
	sha1_hex_of(BODY, hex);
	struct ing_row_cdx rows[] = {row_of(hex), row_of(hex), row_of("no digest")};
	rows[0].record_id = NULL;
	rows[1].record_date = NULL;
	begin(true);
	answer_with(BODY, NULL);
	fake_lookup_captures_done(rows, 3);
	fake_archive_done();
	assert_null(capture()->original);
	end();
}

static void only_whole_answers_of_some_size_are_looked_up(void **state)
{
	(void)state;
	static const struct fake_answer answers[] = {
		{.http_status = 200, .body = "short", .body_bytes = 5},
		{.http_status = 200},
		{.http_status = 404, .body = BODY, .body_bytes = sizeof(BODY) - 1},
		{.http_status = 302, .body = BODY, .body_bytes = sizeof(BODY) - 1},
		{.http_status = 200,
			.body = BODY,
			.body_bytes = sizeof(BODY) - 1,
			.outcome = ING_STATUS_TRUNCATED_BODY},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		begin(true);
		fake_fetch_answer(&answers[i]);
		assert_int_equal(fake.questions.count, 0);
		fake_archive_done();
		assert_null(capture()->original);
		end();
	}
}

static void an_answer_does_not_wait_for_a_table_that_is_away(void **state)
{
	(void)state;
	begin(true);
	fake.lookup_blocked = true;
	answer_with(BODY, NULL);
	assert_int_equal(fake.archived.count, 1);
	fake_archive_done();
	end();
	/* Nor once it is to end at once. */
	begin(true);
	answer_with(BODY, NULL);
	assert_int_equal(fake.questions.count, 1);
	ing_visit_cancel(&visit, false);
	assert_int_equal(fake.questions.count, 1);
	ing_visit_cancel(&visit, true);
	assert_int_equal(fake.questions.count, 0);
	assert_int_equal(fake.archived.count, 1);
	fake_archive_done();
	assert_int_equal(settled, 1);
	end();
}

/* --- from memory --- */

static void what_was_archived_a_moment_ago_needs_no_table(void **state)
{
	(void)state;
	char hex[ING_SHA1_HEX_BYTES];
	size_t count = 0;
	struct ing_row_cdx rows[ING_CAPTURE_ROWS];
	begin(false);
	answer_with(BODY, NULL);
	fake_archive_done();
	assert_null(capture()->original);
	char first_date[ING_ISO8601_BYTES];
	char first_dt[ING_DT14_BYTES];
	memcpy(first_date, capture()->record_date, sizeof(first_date));
	memcpy(first_dt, capture()->datetime, sizeof(first_dt));
	for (int i = 0; i < 2; i++) { /* the second refers to the first, and so does the third */
		end_visit();
		begin_visit();
		answer_with(BODY, NULL);
		fake_archive_done();
		const struct ing_original *original = capture()->original;
		assert_non_null(original);
		assert_false(original->indexed);
		assert_string_equal(original->record.record_date, first_date);
		assert_string_equal(original->row.datetime, first_dt);
	}
	/* Its row comes with that of the revisit, should it not be there yet. */
	ing_capture_add_rows(capture(), hex, rows, &count);
	assert_int_equal(count, 2);
	assert_string_equal(rows[1].mimetype, "warc/revisit");
	assert_string_equal(rows[1].record_date, capture()->record_date);
	assert_string_equal(rows[0].mimetype, "text/plain");
	assert_string_equal(rows[0].datetime, first_dt);
	assert_string_equal(rows[0].record_date, first_date);
	assert_string_equal(rows[0].sha1hex, rows[1].sha1hex);
	end();
}

/* The table has one row for a URL and a second, which must be that of the result. */
static void nothing_refers_to_a_record_of_the_same_second(void **state)
{
	(void)state;
	begin(false);
	fake_fetch_answer(&(struct fake_answer){
		.http_status = 200, .body = BODY, .body_bytes = strlen(BODY), .later_s = later_s});
	fake_archive_done();
	char first_dt[ING_DT14_BYTES];
	memcpy(first_dt, capture()->datetime, sizeof(first_dt));
	/* The clock may turn over between the two. */
	for (bool same = false; !same;) {
		end_visit();
		begin_visit();
		later_s--;
		answer_with(BODY, NULL);
		fake_archive_done();
		same = strcmp(capture()->datetime, first_dt) == 0;
		assert_true(same || capture()->original != NULL);
		memcpy(first_dt, capture()->datetime, sizeof(first_dt));
	}
	assert_null(capture()->original);
	end();
}

static void the_same_bytes_in_another_coding_are_not_the_same(void **state)
{
	(void)state;
	begin(false);
	answer_with(BODY, NULL);
	fake_archive_done();
	end_visit();
	begin_visit();
	answer_with(BODY, "gzip");
	fake_archive_done();
	assert_null(capture()->original);
	end();
}

static void nothing_refers_to_what_is_not_on_disk(void **state)
{
	(void)state;
	begin(false);
	answer_with(BODY, NULL);
	fake_archive_lose();
	end_visit();
	begin_visit();
	answer_with(BODY, NULL);
	struct ing_arena other;
	ing_arena_init(&other);
	/* The second is under way: a third does not know of it. */
	assert_null(ing_originals_find(originals, A, false, &other));
	fake_archive_done();
	assert_null(capture()->original);
	assert_non_null(ing_originals_find(originals, A, false, &other));
	ing_arena_done(&other);
	end();
}

/* --- the cache --- */

static void add(struct ing_originals *o, const char *url, const char *warc_name)
{
	struct ing_capture c = {.url = url, .datetime = "20261120100000", .record_date = DATE};
	snprintf(c.archive.warc_name, sizeof(c.archive.warc_name), "%s", warc_name);
	memcpy(c.archive.record_id, ID, sizeof(ID));
	ing_originals_add(o, &c);
}

static void the_cache_forgets_what_was_not_asked_for_longest(void **state)
{
	(void)state;
	struct ing_arena own;
	ing_arena_init(&own);
	struct ing_originals *o = ing_originals_new(&usual); /* room for two */
	add(o, "http://1/", "1.warc.gz");
	add(o, "http://2/", "2.warc.gz");
	assert_non_null(ing_originals_find(o, "http://1/", false, &own));
	add(o, "http://3/", "3.warc.gz");
	assert_null(ing_originals_find(o, "http://2/", false, &own));
	const struct ing_original *first = ing_originals_find(o, "http://1/", false, &own);
	assert_non_null(first);
	/* A newer one of the same URL takes its place; what was found before stays readable. */
	add(o, "http://1/", "4.warc.gz");
	assert_string_equal(first->row.warc_path, "1.warc.gz");
	assert_null(first->row.mimetype);
	assert_string_equal(
		ing_originals_find(o, "http://1/", false, &own)->row.warc_path, "4.warc.gz");
	assert_non_null(ing_originals_find(o, "http://3/", false, &own));
	add(o, "http://5/", ""); /* nothing was archived */
	assert_null(ing_originals_find(o, "http://5/", false, &own));
	ing_originals_free(o);
	const struct ing_archive_settings none = {.dir = "/", .revisits = true};
	o = ing_originals_new(&none);
	add(o, "http://1/", "1.warc.gz");
	assert_null(ing_originals_find(o, "http://1/", false, &own));
	ing_originals_free(o);
	ing_arena_done(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_says_what_may_be_referred_to),
		cmocka_unit_test(another_body_is_archived_whole),
		cmocka_unit_test(the_body_as_sent_is_compared),
		cmocka_unit_test(rows_without_a_record_are_not_referred_to),
		cmocka_unit_test(only_whole_answers_of_some_size_are_looked_up),
		cmocka_unit_test(an_answer_does_not_wait_for_a_table_that_is_away),
		cmocka_unit_test(what_was_archived_a_moment_ago_needs_no_table),
		cmocka_unit_test(nothing_refers_to_a_record_of_the_same_second),
		cmocka_unit_test(the_same_bytes_in_another_coding_are_not_the_same),
		cmocka_unit_test(nothing_refers_to_what_is_not_on_disk),
		cmocka_unit_test(the_cache_forgets_what_was_not_asked_for_longest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
