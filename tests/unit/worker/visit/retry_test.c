/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of cases: which answers are worth another try and when, and what hosts are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "worker/visit/retry.h"

#define THROTTLED ING_ANSWER_THROTTLED
#define FAILED ING_ANSWER_FAILED
#define GOOD ING_ANSWER_GOOD
#define NOTHING ING_ANSWER_NONE

/* clang-format off */
static const struct {
	enum ing_status outcome;
	int http_status; /* 0: not answered */
	bool transient;
	unsigned tries; /* in all */
	enum ing_answer_kind kind;
} cases[] = {
	{.outcome = ING_STATUS_SUCCESS, .http_status = 200, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 226, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 302, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 404, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 403, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 999, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 429, .tries = 4, .kind = THROTTLED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 503, .tries = 4, .kind = THROTTLED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 500, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 501, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 502, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 504, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 505, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 519, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 520, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 527, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 528, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_SUCCESS, .http_status = 530, .tries = 3, .kind = FAILED},
	/* a bad status is what counts, however its body ended */
	{.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 404, .transient = true, .tries = 1,
		.kind = FAILED},
	{.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 302, .transient = true, .tries = 1,
		.kind = FAILED},
	{.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 503, .transient = true, .tries = 4,
		.kind = THROTTLED},
	{.outcome = ING_STATUS_READ_TIMEOUT, .http_status = 500, .transient = true, .tries = 3,
		.kind = FAILED},
	{.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 200, .transient = true, .tries = 3,
		.kind = FAILED},
	{.outcome = ING_STATUS_READ_ERROR, .http_status = 200, .transient = true, .tries = 3,
		.kind = FAILED},
	{.outcome = ING_STATUS_READ_TIMEOUT, .http_status = 200, .transient = true, .tries = 2,
		.kind = FAILED},
	{.outcome = ING_STATUS_BODY_TOO_LARGE, .http_status = 200, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_HEADERS_TOO_LARGE, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_CONNECT_ERROR, .transient = true, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_CONNECT_ERROR, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_READ_ERROR, .transient = true, .tries = 3, .kind = FAILED},
	{.outcome = ING_STATUS_READ_ERROR, .tries = 1, .kind = FAILED},
	{.outcome = ING_STATUS_READ_TIMEOUT, .transient = true, .tries = 2, .kind = FAILED},
	{.outcome = ING_STATUS_TLS_ERROR, .transient = true, .tries = 2, .kind = FAILED},
	{.outcome = ING_STATUS_TLS_ERROR, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_INVALID_HOST_RESOLUTION, .transient = true, .tries = 2,
		.kind = NOTHING},
	{.outcome = ING_STATUS_INVALID_HOST_RESOLUTION, .tries = 1, .kind = NOTHING},
	{.outcome = ING_STATUS_BLOCKED_ADDRESS, .tries = 1, .kind = NOTHING},
	{.outcome = ING_STATUS_BLOCKED_ADDRESS, .transient = true, .tries = 1, .kind = NOTHING},
	{.outcome = ING_STATUS_INVALID_URL, .tries = 1, .kind = NOTHING},
	/* trouble of this worker opens no breaker; a host that was not asked owes no pause */
	{.outcome = ING_STATUS_WORKER_ERROR, .http_status = 200, .transient = true, .tries = 3,
		.kind = GOOD},
	{.outcome = ING_STATUS_WORKER_ERROR, .http_status = 200, .tries = 1, .kind = GOOD},
	{.outcome = ING_STATUS_WORKER_ERROR, .transient = true, .tries = 3, .kind = NOTHING},
	{.outcome = ING_STATUS_WORKER_ERROR, .http_status = 404, .transient = true, .tries = 1,
		.kind = GOOD},
	{.outcome = ING_STATUS_WORKER_ERROR, .http_status = 500, .transient = true, .tries = 3,
		.kind = FAILED},
	{.outcome = ING_STATUS_WORKER_ERROR, .http_status = 503, .transient = true, .tries = 4,
		.kind = THROTTLED},
};
/* clang-format on */

static struct ing_exchange exchange_of(size_t i)
{
	return (struct ing_exchange){
		.outcome = cases[i].outcome,
		.answered = cases[i].http_status != 0,
		.http_status = cases[i].http_status,
		.transient = cases[i].transient,
		.retry_after_s = 7,
		.dns_us = 2000,
		.total_us = 12999,
	};
}

static void what_may_pass_is_tried_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_exchange ex = exchange_of(i);
		unsigned tries = 1;
		unsigned delay_ms;
		while (tries < 100 && ing_retry_worth(&ex, tries, 0, 0, &delay_ms))
			tries++;
		if (tries != cases[i].tries)
			fail_msg("case %zu (%s, %d): %u tries, want %u", i,
				ing_status_slug(ex.outcome), ex.http_status, tries, cases[i].tries);
	}
}

/* However often there was no descriptor, the tries of the table are all still to come. */
static void a_try_without_a_descriptor_is_none(void **state)
{
	(void)state;
	struct ing_exchange ex = {
		.outcome = ING_STATUS_WORKER_ERROR, .transient = true, .no_descriptor = true};
	unsigned delay_ms = 0;
	for (unsigned tries = 1; tries < 50; tries++) {
		assert_true(ing_retry_worth(&ex, tries, 0, 0, &delay_ms));
		assert_int_equal(delay_ms, 750); /* and it is waited no longer for it */
	}
	assert_int_equal(ing_retry_report(&ex).kind, NOTHING);
	ex.answered = true;
	ex.http_status = 404; /* which is all that there is to know */
	assert_false(ing_retry_worth(&ex, 1, 0, 0, &delay_ms));
}

static void hosts_are_told_how_they_did(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_exchange ex = exchange_of(i);
		struct ing_gate_report report = ing_retry_report(&ex);
		if (report.kind != cases[i].kind)
			fail_msg("case %zu (%s, %d): kind %d, want %d", i,
				ing_status_slug(ex.outcome), ex.http_status, (int)report.kind,
				(int)cases[i].kind);
		assert_int_equal(report.http_status, ex.http_status);
		assert_string_equal(report.outcome, ing_status_slug(ex.outcome));
		assert_int_equal(report.retry_after_s, ex.answered ? 7 : -1);
		assert_int_equal(report.response_ms, 10); /* without the look-up of the name */
	}
}

static void waits_double_within_a_quarter(void **state)
{
	(void)state;
	const struct ing_exchange ex = {
		.outcome = ING_STATUS_CONNECT_ERROR, .transient = true, .total_us = 5, .dns_us = 9};
	unsigned delay_ms;
	assert_true(ing_retry_worth(&ex, 1, 0, 0, &delay_ms));
	assert_int_equal(delay_ms, 750);
	assert_true(ing_retry_worth(&ex, 1, 0, 500, &delay_ms));
	assert_int_equal(delay_ms, 1250);
	assert_true(ing_retry_worth(&ex, 1, 0, 501, &delay_ms));
	assert_int_equal(delay_ms, 750);
	assert_true(ing_retry_worth(&ex, 2, 0, 1000, &delay_ms));
	assert_int_equal(delay_ms, 2500);
	assert_true(ing_retry_worth(&ex, 2, 0, UINT32_MAX, &delay_ms));
	assert_in_range(delay_ms, 1500, 2500);
	assert_int_equal(ing_retry_report(&ex).response_ms, 0);
}

/* Else the second try would only be told of the first one's failure. */
static void a_name_is_asked_for_again_when_its_failure_is_forgotten(void **state)
{
	(void)state;
	const struct ing_exchange ex = {
		.outcome = ING_STATUS_INVALID_HOST_RESOLUTION, .transient = true};
	unsigned delay_ms;
	assert_true(ing_retry_worth(&ex, 1, 0, 0, &delay_ms));
	assert_int_equal(delay_ms, ING_FETCH_NAME_FAILURE_MS + 750);
}

static void who_was_told_to_wait_waits_with_the_host(void **state)
{
	(void)state;
	const struct ing_exchange ex = {.outcome = ING_STATUS_SUCCESS,
		.answered = true,
		.http_status = 429,
		.retry_after_s = -1};
	unsigned delay_ms = 1;
	assert_true(ing_retry_worth(&ex, 3, 0, 5, &delay_ms));
	assert_int_equal(delay_ms, 0);
	assert_false(ing_retry_worth(&ex, 4, 0, 5, &delay_ms));
	assert_int_equal(ing_retry_report(&ex).retry_after_s, -1);
}

static void who_asks_for_many_may_have_more_tries(void **state)
{
	(void)state;
	unsigned delay_ms;
	struct ing_exchange down = {.outcome = ING_STATUS_CONNECT_ERROR, .transient = true};
	unsigned most = ing_status_tries(ING_STATUS_CONNECT_ERROR);
	assert_true(ing_retry_worth(&down, most + 1, 2, 0, &delay_ms));
	assert_false(ing_retry_worth(&down, most + 2, 2, 0, &delay_ms));
	struct ing_exchange gone = {.outcome = ING_STATUS_INVALID_HOST_RESOLUTION};
	assert_false(ing_retry_worth(&gone, 1, 2, 0, &delay_ms));
	struct ing_exchange answered = {
		.outcome = ING_STATUS_SUCCESS, .answered = true, .http_status = 404};
	assert_false(ing_retry_worth(&answered, 1, 2, 0, &delay_ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asks_for_many_may_have_more_tries),
		cmocka_unit_test(what_may_pass_is_tried_again),
		cmocka_unit_test(a_try_without_a_descriptor_is_none),
		cmocka_unit_test(hosts_are_told_how_they_did),
		cmocka_unit_test(waits_double_within_a_quarter),
		cmocka_unit_test(a_name_is_asked_for_again_when_its_failure_is_forgotten),
		cmocka_unit_test(who_was_told_to_wait_waits_with_the_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
