/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What comes after an answer, as tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/worker/visit/judge.h"
#include "worker/visit/answer.h"

static bool asked_before(void *ctx, const char *url)
{
	const char *known = ctx;
	return known != NULL && strcmp(known, url) == 0;
}

struct fetch_case {
	const char *name;
	struct ing_visit_answer answer;
	unsigned redirects;
	const char *known;
	enum ing_step step;
	enum ing_status status;
	const char *url;
};

#define OK ING_STATUS_SUCCESS
/* clang-format off */
static const struct fetch_case fetches[] = {
	{.name = "a body", .answer = {OK, true, 200, NULL, false, 5, NULL},
		.step = ING_STEP_EXAMINE},
	{.name = "226 counts as 200", .answer = {OK, true, 226, NULL, false, 5, NULL},
		.step = ING_STEP_EXAMINE},
	{.name = "no byte", .answer = {OK, true, 200, NULL, false, 0, NULL}, .step = ING_STEP_END,
		.status = ING_STATUS_EMPTY_BLOB},
	{.name = "404", .answer = {OK, true, 404, NULL, false, 5, "text/plain"}, .step = ING_STEP_END,
		.status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "400 with a page", .answer = {OK, true, 400, NULL, false, 5, "text/html"},
		.step = ING_STEP_WALLS},
	{.name = "404 with a page", .answer = {OK, true, 404, NULL, false, 5, "text/html"},
		.step = ING_STEP_WALLS},
	{.name = "418 with a page", .answer = {OK, true, 418, NULL, false, 5, "text/html"},
		.step = ING_STEP_WALLS},
	{.name = "500 with a page", .answer = {OK, true, 500, NULL, false, 5, "application/xhtml+xml"},
		.step = ING_STEP_WALLS},
	{.name = "520 with a page", .answer = {OK, true, 520, NULL, false, 5, "text/html"},
		.step = ING_STEP_WALLS},
	{.name = "a check of the browser is accepted, not done",
		.answer = {OK, true, 202, NULL, false, 5, "text/html"}, .step = ING_STEP_WALLS},
	{.name = "404 without a page", .answer = {OK, true, 404, NULL, false, 0, "text/html"},
		.step = ING_STEP_END, .status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "204", .answer = {OK, true, 204, NULL, false, 5, "text/html"}, .step = ING_STEP_END,
		.status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "404 cut short is still a 404",
		.answer = {ING_STATUS_TRUNCATED_BODY, true, 404, NULL, false, 5, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "403 with a page",
		.answer = {OK, true, 403, NULL, false, 5, "Text/HTML; charset=x"},
		.step = ING_STEP_WALLS},
	{.name = "503 of no type", .answer = {OK, true, 503, NULL, false, 5, NULL},
		.step = ING_STEP_WALLS},
	{.name = "429 that is no page",
		.answer = {OK, true, 429, NULL, false, 5, "application/json"},
		.step = ING_STEP_END, .status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "401 without a word", .answer = {OK, true, 401, NULL, false, 0, "text/html"},
		.step = ING_STEP_END, .status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "403 cut short",
		.answer = {ING_STATUS_TRUNCATED_BODY, true, 403, NULL, false, 5, "text/html"},
		.step = ING_STEP_END, .status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "206", .answer = {OK, true, 206, NULL, false, 5, NULL}, .step = ING_STEP_END,
		.status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "300 is no redirect", .answer = {OK, true, 300, "/b", false, 5, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_TERMINAL_BAD_STATUS},
	{.name = "relative", .answer = {OK, true, 302, "/b?c#d", false, 0, NULL},
		.step = ING_STEP_REDIRECT, .url = "https://h.example/b?c"},
	{.name = "other scheme of the web",
		.answer = {OK, true, 301, "http://o.example", false, 0, NULL},
		.step = ING_STEP_REDIRECT, .url = "http://o.example/"},
	{.name = "a redirect whose body was cut",
		.answer = {ING_STATUS_TRUNCATED_BODY, true, 303, "/b", false, 1, NULL},
		.step = ING_STEP_REDIRECT, .url = "https://h.example/b"},
	{.name = "no Location", .answer = {OK, true, 302, NULL, false, 0, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_BAD_REDIRECT},
	{.name = "empty Location", .answer = {OK, true, 302, "", false, 0, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_BAD_REDIRECT},
	{.name = "file:", .answer = {OK, true, 302, "file:///etc/passwd", false, 0, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_BAD_REDIRECT},
	{.name = "ftp:", .answer = {OK, true, 302, "ftp://h.example/", false, 0, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_BAD_REDIRECT},
	{.name = "one too many", .answer = {OK, true, 302, "/b", false, 0, NULL}, .redirects = 3,
		.step = ING_STEP_END, .status = ING_STATUS_REDIRECTS_EXCEEDED},
	{.name = "the last allowed", .answer = {OK, true, 302, "/b", false, 0, NULL},
		.redirects = 2, .step = ING_STEP_REDIRECT, .url = "https://h.example/b"},
	{.name = "seen before", .answer = {OK, true, 307, "/b", false, 0, NULL},
		.known = "https://h.example/b", .step = ING_STEP_END,
		.status = ING_STATUS_REDIRECT_LOOP},
	{.name = "seen before, and a cookie set again",
		.answer = {OK, true, 308, "/b", true, 0, NULL}, .known = "https://h.example/b",
		.step = ING_STEP_END, .status = ING_STATUS_BLOCKED_COOKIE},
	{.name = "no connection",
		.answer = {ING_STATUS_CONNECT_ERROR, false, 0, NULL, false, 0, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_CONNECT_ERROR},
	{.name = "guard", .answer = {ING_STATUS_BLOCKED_ADDRESS, false, 0, NULL, false, 0, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_BLOCKED_ADDRESS},
	{.name = "cut body",
		.answer = {ING_STATUS_TRUNCATED_BODY, true, 200, NULL, false, 9, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_TRUNCATED_BODY},
	{.name = "too large",
		.answer = {ING_STATUS_BODY_TOO_LARGE, true, 200, NULL, false, 9, NULL},
		.step = ING_STEP_END, .status = ING_STATUS_BODY_TOO_LARGE},
};
/* clang-format on */

static void after_an_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fetches) / sizeof(fetches[0]); i++) {
		const struct fetch_case *c = &fetches[i];
		char known[64] = "";
		if (c->known != NULL)
			strncpy(known, c->known, sizeof(known) - 1);
		struct ing_answer_view v = {.url = "https://h.example/a",
			.redirects = c->redirects,
			.max_redirects = 3,
			.asked_before = asked_before,
			.ctx = known};
		struct ing_decision d = ing_answer_decide(&v, &c->answer);
		if (d.step != c->step || (d.step == ING_STEP_END && d.status != c->status))
			fail_msg("%s: step %d, status %s", c->name, d.step,
				ing_status_slug(d.status));
		if (c->url != NULL)
			assert_string_equal(d.url, c->url);
		else
			assert_null(d.url);
		free(d.url);
	}
}

/* The URL is known and the limit is reached, so that whatever the rules do not stop ends otherwise:
 * the rules come first. */
static void rules_come_before_loops_and_limits(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		enum ing_status status;
	} cases[] = {
		{"/listed", ING_STATUS_SKIP_URL_BLOCKLIST},
		{"/wall", ING_STATUS_BLOCKED_WALL},
		{"/cookie", ING_STATUS_BLOCKED_COOKIE},
		{"/captcha", ING_STATUS_BLOCKED_CAPTCHA},
		{"/signin", ING_STATUS_BLOCKED_LOGIN},
		{"/check", ING_STATUS_BLOCKED_CHALLENGE},
		{"/pass/wall", ING_STATUS_REDIRECTS_EXCEEDED},
		{"/pass/cookie", ING_STATUS_REDIRECTS_EXCEEDED},
		{"/free", ING_STATUS_REDIRECTS_EXCEEDED},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char url[64] = "https://h.example";
		strncat(url, cases[i].path, 40);
		struct ing_answer_view v = {.url = "https://h.example/a",
			.asked_before = asked_before,
			.verdict = judge_by_words,
			.ctx = url};
		struct ing_visit_answer a = {OK, true, 302, url, false, 0, NULL};
		struct ing_decision d = ing_answer_decide(&v, &a);
		assert_int_equal(d.step, ING_STEP_END);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].status));
		assert_null(d.url);
		if (strcmp(cases[i].path, "/wall") == 0)
			assert_string_equal(d.detail, "so");
	}
}

static void endless_redirects_that_all_set_cookies_are_about_cookies(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		unsigned cookie_redirects;
		bool set_cookie;
		enum ing_status status;
	} cases[] = {
		{.cookie_redirects = 3, .set_cookie = true, .status = ING_STATUS_BLOCKED_COOKIE},
		{.cookie_redirects = 3, .status = ING_STATUS_REDIRECTS_EXCEEDED},
		{.cookie_redirects = 2, .set_cookie = true,
			.status = ING_STATUS_REDIRECTS_EXCEEDED},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_answer_view v = {.url = "https://h.example/a",
			.redirects = 3,
			.cookie_redirects = cases[i].cookie_redirects,
			.max_redirects = 3,
			.asked_before = asked_before};
		struct ing_visit_answer a = {OK, true, 302, "/b", cases[i].set_cookie, 0, NULL};
		struct ing_decision d = ing_answer_decide(&v, &a);
		assert_int_equal(d.step, ING_STEP_END);
		assert_int_equal(d.status, cases[i].status);
	}
}

/* Nobody who reads a result, an archive or another server's log needs to know a password. */
static void user_information_goes_no_further(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *url, *clean;
		bool dropped;
	} cases[] = {
		{.url = "https://user:pw@h.example/a?b@c", .clean = "https://h.example/a?b@c",
			.dropped = true},
		{.url = "https://user@h.example:8080", .clean = "https://h.example:8080/",
			.dropped = true},
		{.url = "https://:pw@[::1]/", .clean = "https://[::1]/", .dropped = true},
		{.url = "https://a@b:c@h.example/", .clean = "https://h.example/", .dropped = true},
		{.url = "https://@h.example/", .clean = "https://h.example/"},
		{.url = "https://h.example/@a", .clean = "https://h.example/@a"},
		{.url = "https://h.example?a@b", .clean = "https://h.example/?a@b"},
		{.url = "https://h.example#a@b", .clean = "https://h.example/"},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_answer_view v = {.url = "https://o.example/",
			.max_redirects = 1,
			.asked_before = asked_before};
		struct ing_visit_answer a = {OK, true, 302, cases[i].url, false, 0, NULL};
		struct ing_decision d = ing_answer_decide(&v, &a);
		assert_string_equal(d.url, cases[i].clean);
		assert_int_equal(d.dropped_userinfo, cases[i].dropped);
		free(d.url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_an_answer),
		cmocka_unit_test(rules_come_before_loops_and_limits),
		cmocka_unit_test(endless_redirects_that_all_set_cookies_are_about_cookies),
		cmocka_unit_test(user_information_goes_no_further),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
