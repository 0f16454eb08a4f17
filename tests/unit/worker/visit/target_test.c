/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which URLs are asked for, as tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/worker/visit/judge.h"
#include "worker/model/limits.h"
#include "worker/visit/target.h"

static void where_a_request_may_start(void **state)
{
	(void)state;
	static const struct {
		const char *base_url, *url;
	} cases[] = {
		{" HTTP://EXAMPLE.com:80/a#b ", "http://example.com/a"},
		{"https://example.com", "https://example.com/"},
		{"example.com/a", NULL},
		{"ftp://example.com/", NULL},
		{"javascript:alert(1)", NULL},
		{"http://", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_decision d = ing_target_start(cases[i].base_url, NULL, NULL);
		if (cases[i].url != NULL) {
			assert_int_equal(d.step, ING_STEP_LINK);
			assert_string_equal(d.url, cases[i].url);
		} else {
			assert_int_equal(d.step, ING_STEP_END);
			assert_int_equal(d.status, ING_STATUS_INVALID_URL);
		}
		free(d.url);
	}
}

static void a_start_over_eight_kibibytes_is_no_start(void **state)
{
	(void)state;
	char url[8300];
	memset(url, 'a', sizeof(url));
	memcpy(url, "http://h/", 9);
	url[sizeof(url) - 1] = '\0';
	assert_int_equal(ing_target_start(url, NULL, NULL).status, ING_STATUS_INVALID_URL);
}

static void rules_may_refuse_a_start(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		enum ing_status status; /* SUCCESS: none of them does */
	} cases[] = {
		{"/listed", ING_STATUS_SKIP_URL_BLOCKLIST},
		{"/wall", ING_STATUS_SKIP_WALL},
		{"/cookie", ING_STATUS_BLOCKED_COOKIE},
		{"/captcha", ING_STATUS_SKIP_WALL},
		{"/signin", ING_STATUS_SKIP_WALL},
		{"/check", ING_STATUS_SKIP_WALL},
		{"/pass/wall", ING_STATUS_SUCCESS},
		{"/pass/cookie", ING_STATUS_SUCCESS},
		{"/free", ING_STATUS_SUCCESS},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char url[64] = "https://h.example";
		strncat(url, cases[i].path, 40);
		struct ing_decision d = ing_target_start(url, judge_by_words, NULL);
		bool refused = cases[i].status != ING_STATUS_SUCCESS;
		assert_int_equal(d.step, refused ? ING_STEP_END : ING_STEP_LINK);
		assert_int_equal(d.status, cases[i].status);
		assert_int_equal(d.url == NULL, refused);
		free(d.url);
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
		struct ing_decision d = ing_target_start(cases[i].url, NULL, NULL);
		assert_string_equal(d.url, cases[i].clean);
		assert_int_equal(d.dropped_userinfo, cases[i].dropped);
		free(d.url);
	}
}

static void rules_may_change_while_a_url_waits(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *url;
		enum ing_via via;
		enum ing_status status; /* SUCCESS: go on */
	} cases[] = {
		{.url = "https://r.example/fine", .via = ING_VIA_START,
			.status = ING_STATUS_SUCCESS},
		{.url = "https://r.example/listed", .via = ING_VIA_AGAIN,
			.status = ING_STATUS_SKIP_URL_BLOCKLIST},
		{.url = "https://r.example/wall", .via = ING_VIA_LINK,
			.status = ING_STATUS_SKIP_WALL},
		{.url = "https://r.example/wall", .via = ING_VIA_REDIRECT,
			.status = ING_STATUS_BLOCKED_WALL},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_decision end = {0};
		bool refused = ing_target_is_refused(
			cases[i].url, cases[i].via, judge_by_words, NULL, &end);
		assert_int_equal(refused, cases[i].status != ING_STATUS_SUCCESS);
		assert_string_equal(ing_status_slug(end.status), ing_status_slug(cases[i].status));
		assert_false(ing_target_is_refused(cases[i].url, cases[i].via, NULL, NULL, &end));
	}
}

/* What a Location of 100 KB would come to nobody computes. */
static void a_location_is_read_up_to_a_length(void **state)
{
	(void)state;
	static const struct {
		size_t bytes;
		const char *want;
	} cases[] = {{2 * ING_MAX_URL_BYTES, "https://o.example/x?"},
		{2 * ING_MAX_URL_BYTES + 2, NULL}, {60000, NULL}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char location[60001];
		bool dropped;
		for (size_t k = 0; k + 2 < cases[i].bytes; k += 2)
			memcpy(location + k, "./", 2);
		memcpy(location + cases[i].bytes - 2, "x?", 3);
		char *to = ing_target_of_redirect("https://o.example/a", location, &dropped);
		if (cases[i].want == NULL)
			assert_null(to);
		else
			assert_string_equal(to, cases[i].want);
		free(to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_a_request_may_start),
		cmocka_unit_test(a_start_over_eight_kibibytes_is_no_start),
		cmocka_unit_test(rules_may_refuse_a_start),
		cmocka_unit_test(user_information_goes_no_further),
		cmocka_unit_test(rules_may_change_while_a_url_waits),
		cmocka_unit_test(a_location_is_read_up_to_a_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
