/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Visits among stages that do what each test tells them to: what the owner is told, in which order,
 * what is owed, and that cancelling at any point leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fake_gate.h"
#include "stages.h"
#include "common/base/arena.h"
#include "common/base/clock.h"
#include "worker/fetch/fetch.h"
#include "worker/visit/visit.h"

#define A "https://a.example/"
#define B "https://b.example/"

/* An owner of up to two visits. */
static struct owner {
	struct ing_visit visits[2];
	struct ing_arena ar;
	struct ing_visit_steps steps;
	struct ing_work_clock clock;
	unsigned work_ms;
	char told[200]; /* what the visits have called, in order */
	struct ing_visit_outcome outcome;
	char detail[100];
	int http_status; /* of the outcome's exchange; -1: there is none */
} owner;

static uv_loop_t loop;
static struct ing_visits *all;

static void note(const char *what)
{
	size_t used = strlen(owner.told);
	snprintf(owner.told + used, sizeof(owner.told) - used, "%s%s", used > 0 ? " " : "", what);
}

static char *get_url(struct ing_visit *v)
{
	return ing_strdup(v == &owner.visits[0] ? A : B);
}

static void on_admitted(struct ing_visit *v, struct ing_visit_params *ret)
{
	note("admitted");
	*ret = (struct ing_visit_params){
		.url = v == &owner.visits[0] ? A : B,
		.arena = &owner.ar,
		.steps = &owner.steps,
		.clock = &owner.clock,
		.referer = "https://from.example/",
		.max_redirects = 2,
		.max_body_bytes = 77,
	};
}

static void on_changed(struct ing_visit *v)
{
	note(v->state == ING_VISIT_TRANSFER ? "transfer" : "waits");
}

static bool was_asked_before(const struct ing_visit *v, const char *url)
{
	(void)v;
	return ing_visit_steps_have(&owner.steps, url);
}

static void on_done(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	(void)v;
	note("done");
	owner.outcome = *o;
	snprintf(owner.detail, sizeof(owner.detail), "%s", o->detail != NULL ? o->detail : "");
	owner.http_status = o->exchange != NULL ? o->exchange->http_status : -1;
}

static void on_settled(struct ing_visit *v)
{
	assert_false(ing_visit_owes(v));
	note("settled");
}

static const struct ing_visit_user user = {
	.url = get_url,
	.admitted = on_admitted,
	.changed = on_changed,
	.asked_before = was_asked_before,
	.done = on_done,
	.settled = on_settled,
};

static void begin_with(unsigned work_ms)
{
	fake_reset();
	fake_gate_reset();
	owner = (struct owner){0};
	ing_visit_steps_init(&owner.steps);
	ing_arena_init(&owner.ar);
	ing_work_clock_init(&owner.clock, work_ms);
	assert_int_equal(uv_loop_init(&loop), 0);
	all = ing_visits_new(&loop,
		&(struct ing_visits_conf){.host_rules = FAKE_STAGE, .blocked_hosts = FAKE_STAGE});
	ing_visits_wire(all, &(struct ing_visits_stages){.gate = FAKE_STAGE,
				     .robots = FAKE_STAGE,
				     .fetch = FAKE_STAGE,
				     .archive = FAKE_STAGE});
	for (size_t i = 0; i < ING_ARRAY_LEN(owner.visits); i++)
		ing_visit_init(&owner.visits[i], all, &user, &owner, ING_LANE_DAILY);
}

static void begin(void)
{
	begin_with(60000);
}

static void start(void)
{
	ing_visit_start(&owner.visits[0], A, ING_VIA_START);
}

static void end(void)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(owner.visits); i++)
		assert_true(ing_visit_is_idle(&owner.visits[i]));
	assert_int_equal(fake_gate.waiters.count + fake_gate.holding, 0);
	assert_int_equal(owner.clock.working, 0);
	ing_visits_free(all);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	ing_visit_steps_done(&owner.steps);
	ing_arena_done(&owner.ar);
	fake_reset();
}

static void expect_end(enum ing_status status, const char *told)
{
	assert_string_equal(owner.told, told);
	assert_int_equal(owner.outcome.end, ING_VISIT_ENDED);
	assert_string_equal(ing_status_slug(owner.outcome.status), ing_status_slug(status));
}

/* --- the way --- */

static void a_visit_goes_through_every_stage(void **state)
{
	(void)state;
	begin();
	start();
	assert_string_equal(fake_gate.last_url, A);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_DAILY);
	assert_true(fake_gate.ticket.robots_known);
	assert_false(fake_gate.ticket.again);
	assert_int_equal(fake.asked, 1);
	assert_string_equal(owner.told, "");
	fake_gate_grant();
	assert_int_equal(fake.asked, 2); /* once more, when it is admitted */
	assert_string_equal(fake.last_referer, "https://from.example/");
	assert_int_equal(fake.last_max_body_bytes, 77);
	fake_fetch_answer(&(struct fake_answer){.http_status = 200,
		.body = "body",
		.body_bytes = 4,
		.content_type = "Text/HTML; charset=x",
		.content_encoding = "gzip"});
	assert_string_equal(owner.told, "admitted transfer done");
	assert_int_equal(owner.outcome.end, ING_VISIT_EXAMINE);
	assert_int_equal(owner.http_status, 200);
	assert_false(ing_visit_is_idle(&owner.visits[0])); /* its record is under way */
	fake_archive_done();
	assert_string_equal(owner.told, "admitted transfer done settled");
	const struct ing_visit_step *step = owner.steps.first;
	assert_int_equal(owner.steps.count, 1);
	assert_string_equal(step->capture.mimetype, "text/html");
	assert_string_equal(step->capture.archive.warc_name, "T-1.warc.gz");
	assert_true(step->answered && step->capture.coded);
	assert_int_equal(strlen(step->capture.datetime), 14);
	end();
}

static void redirects_and_tries_are_steps(void **state)
{
	static const struct {
		const char *url;
		enum ing_via via;
	} want[] = {
		{A, ING_VIA_START},
		{A, ING_VIA_AGAIN},
		{B "1", ING_VIA_REDIRECT},
		{B "2", ING_VIA_REDIRECT},
	};
	(void)state;
	begin();
	start();
	fake_gate_grant();
	fake_fetch_done(500, NULL);
	assert_true(fake_gate.ticket.again);
	assert_in_range(fake_gate.ticket.delay_ms, 700, 1250);
	fake_gate_grant();
	fake_fetch_done(302, "https://me@b.example/1#x");
	assert_false(fake_gate.ticket.again);
	assert_int_equal(fake_gate.ticket.delay_ms, 0);
	fake_gate_grant();
	assert_string_equal(fake.last_referer, A);
	fake_fetch_done(302, B "2");
	fake_gate_grant();
	assert_string_equal(fake.last_referer, B "1");
	fake_fetch_done(301, B "3");
	assert_int_equal(owner.http_status, 301);
	assert_int_equal(owner.outcome.redirects, 2);
	assert_int_equal(owner.outcome.redirect_status, 301);
	assert_true(owner.outcome.dropped_userinfo);
	const struct ing_visit_step *step = owner.steps.first;
	for (size_t i = 0; i < ING_ARRAY_LEN(want); i++, step = step->next) {
		assert_string_equal(step->url, want[i].url);
		assert_int_equal(step->via, want[i].via);
		assert_ptr_equal(step->visit, &owner.visits[0]);
	}
	assert_null(step);
	fake_settle();
	expect_end(ING_STATUS_REDIRECTS_EXCEEDED,
		"admitted transfer waits transfer waits transfer waits transfer done settled");
	end();
}

static void a_url_asked_for_by_another_visit_is_a_loop(void **state)
{
	(void)state;
	begin();
	start();
	ing_visit_start(&owner.visits[1], B, ING_VIA_LINK);
	fake_gate_grant();
	fake_gate_grant();
	fake_fetch_done(302, B);
	assert_string_equal(
		ing_status_slug(owner.outcome.status), ing_status_slug(ING_STATUS_REDIRECT_LOOP));
	assert_int_equal(owner.clock.working, 1); /* the other goes on */
	fake_fetch_done(404, NULL);
	assert_string_equal(ing_status_slug(owner.outcome.status),
		ing_status_slug(ING_STATUS_TERMINAL_BAD_STATUS));
	fake_settle();
	end();
}

static void a_wall_is_for_the_owner_to_see(void **state)
{
	(void)state;
	for (int is_wall = 0; is_wall < 2; is_wall++) {
		begin();
		start();
		fake_gate_grant();
		fake_fetch_done(503, NULL);
		assert_int_equal(owner.outcome.end, ING_VISIT_WALLS);
		fake_settle();
		if (is_wall == 0) {
			assert_true(ing_visit_again(&owner.visits[0]));
			fake_gate_grant();
			fake_fetch_done(403, NULL); /* which is no better later */
			assert_int_equal(owner.outcome.end, ING_VISIT_WALLS);
			assert_false(ing_visit_again(&owner.visits[0]));
			fake_settle();
		}
		end();
	}
}

/* --- what is not asked for --- */

static void what_robots_forbids_ends_before_admission(void **state)
{
	(void)state;
	begin();
	fake.robots = (struct ing_robots_view){
		.verdict = ING_ROBOTS_DISALLOWED, .retry_after_s = 9, .detail = "line 3"};
	start();
	expect_end(ING_STATUS_SKIP_ROBOTS, "done");
	assert_int_equal(owner.outcome.retry_after_s, 9);
	assert_string_equal(owner.detail, "line 3");
	assert_null(owner.steps.first);
	end();
}

static void a_host_that_cannot_be_asked_is_a_step(void **state)
{
	(void)state;
	begin();
	fake.robots = (struct ing_robots_view){
		.verdict = ING_ROBOTS_FAILED, .outcome = ING_STATUS_CONNECT_ERROR};
	start();
	expect_end(ING_STATUS_CONNECT_ERROR, "admitted done");
	assert_int_equal(owner.steps.count, 1);
	assert_string_equal(owner.steps.last->url, A);
	assert_false(owner.steps.last->answered);
	end();
}

static void who_waits_is_asked_about_again(void **state)
{
	(void)state;
	begin();
	start();
	fake.blocked_host = "a.example";
	fake_gate_grant();
	expect_end(ING_STATUS_SKIP_URL_BLOCKLIST, "admitted done");
	assert_int_equal(fake_gate.left_without, 1);
	assert_null(owner.steps.first);
	end();
	begin();
	start();
	fake_gate_refuse(ING_GATE_HELD, 0);
	expect_end(ING_STATUS_HOST_BACKOFF, "done");
	assert_int_equal(owner.outcome.retry_after_s, 1);
	end();
}

static void no_time_is_left_for_a_redirect(void **state)
{
	(void)state;
	begin_with(1);
	start();
	fake_gate_grant();
	fake_turn(&loop, 3);
	fake_fetch_done(302, B);
	fake_settle();
	expect_end(ING_STATUS_TIMEOUT, "admitted transfer done settled");
	end();
}

/* --- lost answers, lanes, cancelling --- */

static void a_lost_answer_is_known_when_settled(void **state)
{
	(void)state;
	begin();
	start();
	fake_gate_grant();
	fake_fetch_done(302, B);
	assert_false(ing_visit_has_lost_answer(&owner.visits[0]));
	fake_archive_lose();
	assert_true(ing_visit_has_lost_answer(&owner.visits[0]));
	assert_string_equal(owner.told, "admitted transfer waits settled");
	ing_visit_cancel(&owner.visits[0], false);
	end();
}

static void a_lane_counts_at_once(void **state)
{
	(void)state;
	begin();
	start();
	ing_visit_set_lane(&owner.visits[0], ING_LANE_PRIORITY);
	assert_int_equal(fake_gate.waiters.count, 1);
	assert_int_equal(fake_gate.ticket.lane, ING_LANE_PRIORITY);
	ing_visit_cancel(&owner.visits[0], false);
	end();
}

enum point { ROBOTS, WOKEN, GATE, TRANSFER, AGAIN, ARCHIVE, POINTS };

static void bring_to(enum point point)
{
	if (point <= WOKEN)
		fake.robots.verdict = ING_ROBOTS_PENDING;
	start();
	if (point == WOKEN)
		fake_robots_done();
	if (point <= GATE)
		return;
	fake_gate_grant();
	if (point == AGAIN)
		fake_fetch_done(500, NULL);
	if (point == ARCHIVE)
		fake_fetch_done(404, NULL);
}

static void a_visit_can_be_cancelled_at_any_point(void **state)
{
	(void)state;
	for (int at_once = 0; at_once < 2; at_once++) {
		for (enum point point = ROBOTS; point < POINTS; point++) {
			begin();
			bring_to(point);
			struct ing_visit *v = &owner.visits[0];
			ing_visit_cancel(v, at_once != 0);
			bool transfers = point == TRANSFER && at_once == 0;
			assert_int_equal(fake.fetches.count, transfers ? 1 : 0);
			assert_int_equal(
				ing_visit_owes(v), transfers || point == AGAIN || point == ARCHIVE);
			if (point == TRANSFER && at_once == 1)
				assert_int_equal(fake_gate.report.kind, ING_ANSWER_CANCELLED);
			owner.told[0] = '\0';
			bool owes = ing_visit_owes(v);
			if (transfers)
				fake_fetch_done(200, NULL); /* nobody keeps it */
			fake_settle();
			fake_turn(&loop, 1);
			assert_string_equal(owner.told, owes ? "settled" : "");
			end();
		}
	}
}

static void a_cancelled_transfer_may_be_broken_off_later(void **state)
{
	(void)state;
	begin();
	bring_to(TRANSFER);
	ing_visit_cancel(&owner.visits[0], false);
	assert_int_equal(fake_gate.holding, 1);
	ing_visit_cancel(&owner.visits[0], true);
	assert_int_equal(fake_gate.report.kind, ING_ANSWER_CANCELLED);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_visit_goes_through_every_stage),
		cmocka_unit_test(redirects_and_tries_are_steps),
		cmocka_unit_test(a_url_asked_for_by_another_visit_is_a_loop),
		cmocka_unit_test(a_wall_is_for_the_owner_to_see),
		cmocka_unit_test(what_robots_forbids_ends_before_admission),
		cmocka_unit_test(a_host_that_cannot_be_asked_is_a_step),
		cmocka_unit_test(who_waits_is_asked_about_again),
		cmocka_unit_test(no_time_is_left_for_a_redirect),
		cmocka_unit_test(a_lost_answer_is_known_when_settled),
		cmocka_unit_test(a_lane_counts_at_once),
		cmocka_unit_test(a_visit_can_be_cancelled_at_any_point),
		cmocka_unit_test(a_cancelled_transfer_may_be_broken_off_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
