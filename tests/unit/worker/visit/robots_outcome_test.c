/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of cases: what robots is told of a visit's outcome, and which answers are examined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "worker/gate/robots/robots.h"
#include "worker/model/exchange.h"
#include "worker/model/findings.h"
#include "worker/visit/robots_outcome.h"
#include "worker/visit/visit.h"

#define VISIT_WORDS "the visit's words"
#define FETCH_WORDS "the transfer's words"
#define EXAM_WORDS "the examiner's words"

static char rules; /* its address is that of rules */

enum found { NOTHING, RULES, NO_RULES };

struct told {
	enum ing_status outcome;
	int http_status;
	unsigned retry_after_s;
	const char *detail;
	bool txt;
};

/* clang-format off */
static const struct {
	const char *name;
	/* the visit */
	enum ing_status status;
	unsigned redirects, retry_after_s;
	int redirect_status;
	bool lost;
	/* its last exchange */
	bool exchange;
	enum ing_status outcome;
	int http_status; /* 0: not answered */
	/* the examiner */
	enum found found;
	enum ing_exam exam;
	struct told want;
} cases[] = {
	/* answers */
	{.name = "rules", .exchange = true, .http_status = 200, .found = RULES,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 200, .txt = true}},
	{.name = "rules behind a redirect", .redirects = 1, .redirect_status = 301, .exchange = true,
		.http_status = 203, .found = RULES,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 203, .txt = true}},
	{.name = "an empty file", .exchange = true, .http_status = 204,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 204}},
	{.name = "the first part of a long file", .exchange = true,
		.outcome = ING_STATUS_BODY_TOO_LARGE, .http_status = 200, .found = RULES,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 200, .detail = FETCH_WORDS,
			.txt = true}},
	{.name = "no file", .exchange = true, .http_status = 404,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 404}},
	{.name = "no file, in a body that was cut short", .exchange = true,
		.outcome = ING_STATUS_TRUNCATED_BODY, .http_status = 410,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 410, .detail = FETCH_WORDS}},
	{.name = "a server in trouble", .exchange = true, .outcome = ING_STATUS_READ_TIMEOUT,
		.http_status = 503, .status = ING_STATUS_READ_TIMEOUT,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 503, .detail = FETCH_WORDS}},
	{.name = "a 2xx that was cut short", .exchange = true, .outcome = ING_STATUS_TRUNCATED_BODY,
		.http_status = 200, .want = {.outcome = ING_STATUS_TRUNCATED_BODY,
			.http_status = 200, .detail = FETCH_WORDS}},
	/* 304 does not say where to go */
	{.name = "not modified", .exchange = true, .http_status = 304,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 304}},
	/* no answer */
	{.name = "no connection", .exchange = true, .outcome = ING_STATUS_CONNECT_ERROR,
		.want = {.outcome = ING_STATUS_CONNECT_ERROR, .detail = FETCH_WORDS}},
	{.name = "no connection behind a redirect", .redirects = 1, .redirect_status = 302,
		.exchange = true, .outcome = ING_STATUS_CONNECT_ERROR,
		.want = {.outcome = ING_STATUS_CONNECT_ERROR, .http_status = 302,
			.detail = FETCH_WORDS}},
	{.name = "an inner address", .exchange = true, .outcome = ING_STATUS_BLOCKED_ADDRESS,
		.want = {.outcome = ING_STATUS_BLOCKED_ADDRESS, .detail = FETCH_WORDS}},
	/* redirects that lead nowhere are as good as no file */
	{.name = "too many redirects", .status = ING_STATUS_REDIRECTS_EXCEEDED, .redirects = 5,
		.redirect_status = 307, .exchange = true, .http_status = 307,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 307}},
	{.name = "a redirect without a URL", .status = ING_STATUS_BAD_REDIRECT,
		.redirect_status = 302, .exchange = true, .http_status = 302,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 302}},
	{.name = "a redirect to an inner address", .redirects = 1, .redirect_status = 308,
		.exchange = true, .outcome = ING_STATUS_BLOCKED_ADDRESS,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 308}},
	{.name = "a redirect to what is no URL", .redirects = 1, .redirect_status = 308,
		.exchange = true, .outcome = ING_STATUS_INVALID_URL,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 308}},
	{.name = "a redirect to a blocked host", .status = ING_STATUS_SKIP_URL_BLOCKLIST,
		.redirects = 1, .redirect_status = 301,
		.want = {.outcome = ING_STATUS_SUCCESS, .http_status = 301}},
	/* but nobody knows what is behind one that was not followed for want of time */
	{.name = "a redirect that comes too late", .status = ING_STATUS_TIMEOUT,
		.redirect_status = 301, .exchange = true, .http_status = 301,
		.want = {.outcome = ING_STATUS_TIMEOUT, .http_status = 301,
			.detail = VISIT_WORDS}},
	{.name = "a redirect to a host that is held", .status = ING_STATUS_HOST_BACKOFF,
		.redirects = 1, .redirect_status = 301, .retry_after_s = 60,
		.want = {.outcome = ING_STATUS_HOST_BACKOFF, .retry_after_s = 60,
			.detail = VISIT_WORDS}},
	/* not asked */
	{.name = "a host that is held", .status = ING_STATUS_HOST_BACKOFF, .retry_after_s = 300,
		.want = {.outcome = ING_STATUS_HOST_BACKOFF, .retry_after_s = 300,
			.detail = VISIT_WORDS}},
	{.name = "a host that is blocked", .status = ING_STATUS_SKIP_URL_BLOCKLIST,
		.want = {.outcome = ING_STATUS_SKIP_URL_BLOCKLIST, .detail = VISIT_WORDS}},
	{.name = "any other rule", .status = ING_STATUS_SKIP_WALL,
		.want = {.outcome = ING_STATUS_SKIP_URL_BLOCKLIST, .detail = VISIT_WORDS}},
	/* examiners */
	{.name = "a body that is not decoded", .exchange = true, .http_status = 200,
		.found = NO_RULES, .exam = ING_EXAM_BAD_ENCODING,
		.want = {.outcome = ING_STATUS_BAD_CONTENT_ENCODING, .http_status = 200,
			.detail = EXAM_WORDS}},
	{.name = "a body that kills its examiner", .exchange = true, .http_status = 200,
		.found = NO_RULES, .exam = ING_EXAM_CRASH,
		.want = {.outcome = ING_STATUS_PARSE_CRASH, .http_status = 200,
			.detail = EXAM_WORDS}},
	{.name = "a body that takes too long", .exchange = true, .http_status = 200,
		.found = NO_RULES, .exam = ING_EXAM_TIMEOUT,
		.want = {.outcome = ING_STATUS_PARSE_TIMEOUT, .http_status = 200,
			.detail = EXAM_WORDS}},
	{.name = "a body that is gone from the disk", .exchange = true, .http_status = 200,
		.found = NO_RULES, .exam = ING_EXAM_UNREADABLE,
		.want = {.outcome = ING_STATUS_WORKER_ERROR, .http_status = 200,
			.detail = EXAM_WORDS}},
	{.name = "an examiner that says nothing", .exchange = true, .http_status = 200,
		.found = NO_RULES, .exam = ING_EXAM_OK,
		.want = {.outcome = ING_STATUS_PARSE_CRASH, .http_status = 200,
			.detail = EXAM_WORDS}},
	{.name = "an examiner that fails and has rules", .exchange = true, .http_status = 200,
		.found = RULES, .exam = ING_EXAM_CRASH,
		.want = {.outcome = ING_STATUS_PARSE_CRASH, .http_status = 200,
			.detail = EXAM_WORDS}},
	{.name = "an examiner that fails at a part", .exchange = true,
		.outcome = ING_STATUS_BODY_TOO_LARGE, .http_status = 200, .found = NO_RULES,
		.exam = ING_EXAM_BAD_ENCODING,
		.want = {.outcome = ING_STATUS_BAD_CONTENT_ENCODING, .http_status = 200,
			.detail = EXAM_WORDS}},
	/* what is in no archive is not believed */
	{.name = "rules that are lost", .lost = true, .exchange = true, .http_status = 200,
		.found = RULES, .want = {.outcome = ING_STATUS_WORKER_ERROR,
			.detail = "its body cannot be read back"}},
	{.name = "a redirect that is lost", .lost = true, .redirect_status = 301, .exchange = true,
		.http_status = 301, .want = {.outcome = ING_STATUS_WORKER_ERROR,
			.detail = "its body cannot be read back"}},
	{.name = "lost before the visit's end", .lost = true,
		.want = {.outcome = ING_STATUS_WORKER_ERROR,
			.detail = "its body cannot be read back"}},
};

static const struct {
	int http_status; /* 0: not answered */
	enum ing_status outcome;
	size_t body_bytes;
	bool want;
} bodies[] = {
	{.http_status = 200, .body_bytes = 1, .want = true},
	{.http_status = 299, .body_bytes = 1, .want = true},
	{.http_status = 200, .outcome = ING_STATUS_BODY_TOO_LARGE, .body_bytes = 1, .want = true},
	{.http_status = 200},
	{.http_status = 200, .outcome = ING_STATUS_BODY_TOO_LARGE},
	{.http_status = 200, .outcome = ING_STATUS_TRUNCATED_BODY, .body_bytes = 1},
	{.http_status = 199, .body_bytes = 1},
	{.http_status = 300, .body_bytes = 1},
	{.http_status = 404, .body_bytes = 1},
	{.outcome = ING_STATUS_CONNECT_ERROR, .body_bytes = 1},
};
/* clang-format on */

static struct ing_exchange make_exchange(int http_status, enum ing_status outcome)
{
	struct ing_exchange ex = {
		.outcome = outcome,
		.answered = http_status != 0,
		.http_status = http_status,
		.body_fd = -1,
	};
	if (outcome != ING_STATUS_SUCCESS)
		snprintf(ex.detail, sizeof(ex.detail), "%s", FETCH_WORDS);
	return ex;
}

static void check_words(const char *name, const char *got, const char *want)
{
	if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0))
		fail_msg("%s: said %s, not %s", name, got != NULL ? got : "nothing",
			want != NULL ? want : "nothing");
}

static void check_told(
	const char *name, const struct ing_robots_answer *got, const struct told *want)
{
	check_words(name, ing_status_slug(got->outcome), ing_status_slug(want->outcome));
	check_words(name, got->detail, want->detail);
	if (got->http_status != want->http_status)
		fail_msg("%s: HTTP %d, not %d", name, got->http_status, want->http_status);
	if (got->retry_after_s != want->retry_after_s)
		fail_msg("%s: again in %u s, not %u s", name, got->retry_after_s,
			want->retry_after_s);
	if (got->txt != (want->txt ? (struct ing_robots_txt *)(void *)&rules : NULL))
		fail_msg("%s: %s rules", name, want->txt ? "no" : "unwanted");
}

static void robots_is_told_of_each_outcome(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_exchange ex = make_exchange(cases[i].http_status, cases[i].outcome);
		char words[] = EXAM_WORDS;
		struct ing_findings findings = {.exam = cases[i].exam, .detail = words};
		if (cases[i].found == RULES)
			findings.robots.txt = (struct ing_robots_txt *)(void *)&rules;
		const struct ing_visit_outcome o = {
			.end = ING_VISIT_ENDED,
			.status = cases[i].status,
			.detail = VISIT_WORDS,
			.retry_after_s = cases[i].retry_after_s,
			.exchange = cases[i].exchange ? &ex : NULL,
			.redirects = cases[i].redirects,
			.redirect_status = cases[i].redirect_status,
		};
		const struct ing_robots_answer told = ing_robots_outcome(
			&o, cases[i].found != NOTHING ? &findings : NULL, cases[i].lost);
		check_told(cases[i].name, &told, &cases[i].want);
	}
}

static void only_bodies_of_2xx_are_examined(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(bodies); i++) {
		struct ing_exchange ex = make_exchange(bodies[i].http_status, bodies[i].outcome);
		ex.body_bytes = bodies[i].body_bytes;
		if (ing_robots_outcome_needs_exam(&ex) != bodies[i].want)
			fail_msg("HTTP %d, %s, %zu bytes: %s", bodies[i].http_status,
				ing_status_slug(bodies[i].outcome), bodies[i].body_bytes,
				bodies[i].want ? "not examined" : "examined");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(robots_is_told_of_each_outcome),
		cmocka_unit_test(only_bodies_of_2xx_are_examined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
