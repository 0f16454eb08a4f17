/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The status page: hostile values stay text wherever they stand, parts that are missing are left out, and its policy has the
 * digests of what it contains. How it looks: tests/scenario/test_status_page.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/base64.h"
#include "common/data/digest.h"
#include "worker/service/status_page.h"

#define EVIL "\"'></td><script>evil()</script>&\x01"

static char *render(const json_t *status, uint64_t silence_ms)
{
	struct ing_buf out;
	ing_buf_init(&out, ING_STATUS_PAGE_BYTES);
	ing_status_page(status, silence_ms, &out);
	assert_false(out.failed);
	return ing_buf_steal(&out);
}

static json_t *evil_status(void)
{
	json_t *s = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:[{s:s, s:b, s:s}]}",
		"instance", EVIL, "state", EVIL, "machine", EVIL, "version", EVIL, "rules", EVIL,
		"now", EVIL, "pid", 7, "uptime_s", 90, "holds", "what", EVIL, "trouble", 1, "words",
		EVIL);
	assert_non_null(s);
	json_t *lane = json_pack(
		"{s:s, s:s, s:s, s:i}", "lane", EVIL, "topic", EVIL, "not_read", EVIL, "jobs", 3);
	json_t *host = json_pack("{s:s, s:s, s:i}", "host", EVIL, "why", EVIL, "waiting", 12345);
	json_t *failure = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "at",
		"2026-01-01T" EVIL, "id", EVIL, "type", EVIL, "lane", EVIL, "status", EVIL, "host",
		EVIL, "url", "javascript:" EVIL, "last_url", "", "message", EVIL);
	json_t *other = json_pack(
		"{s:s, s:s}", "url", "https://a.example/", "last_url", "http://a.example/?" EVIL);
	ing_json_set(s, "lanes", json_pack("[o]", lane));
	ing_json_set(s, "hosts",
		json_pack("{s:[O], s:[o]}", "most_waiting", host, "longest_held", host));
	ing_json_set(s, "failures", json_pack("[o, o]", failure, other));
	ing_json_set(s, "orders",
		json_pack("{s:i, s:i, s:[{s:s, s:s, s:s, s:s, s:s}]}", "count", 1, "held", 3,
			"first", "action", EVIL, "kind", EVIL, "target", EVIL, "why", EVIL, "by",
			EVIL));
	ing_json_set(s, "jobs", json_pack("{s:{s:i}}", "by_state", EVIL, 5));
	ing_json_set(s, "hour", json_pack("{s:i, s:{s:i}}", "results", 3, "by_status", EVIL, 3));
	return s;
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;
	for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
		n++;
	return n;
}

static void hostile_values_stay_text_wherever_they_stand(void **state)
{
	(void)state;
	json_t *s = evil_status();
	char *page = render(s, 0);
	assert_int_equal(count(page, "<script"), 1); /* its own */
	assert_int_equal(count(page, "</script"), 1);
	assert_null(strchr(page, '\x01'));
	assert_null(strstr(page, "href=\"javascript:"));
	/* Instance twice, state, machine, version, rules, now, hold; lane 3, hosts 2 x 2, failure 7 and its url, title of its
	 * time, the other's link twice; a state of jobs and a status. */
	assert_true(count(page, "&lt;script&gt;evil()") >= 30);
	assert_non_null(strstr(page, "12,345"));
	free(page);
	json_decref(s);
}

static void what_is_missing_is_left_out(void **state)
{
	(void)state;
	json_t *s = json_pack("{s:s}", "instance", "w1");
	char *page = render(s, 0);
	assert_non_null(strstr(page, "<h1>w1</h1>"));
	assert_null(strstr(page, "id=\"hosts\""));
	assert_null(strstr(page, "id=\"failures\""));
	assert_null(strstr(page, "class=\"stale\""));
	assert_non_null(strstr(page, "</html>"));
	free(page);
	json_decref(s);
}

static void a_silent_worker_is_said_to_be(void **state)
{
	(void)state;
	json_t *s = json_pack("{s:s}", "instance", "w1");
	char *page = render(s, 14999);
	assert_non_null(
		strstr(page, "has not turned for 14 s: what stands below is what it said before."));
	free(page);
	page = render(NULL, 14999);
	assert_non_null(strstr(page, "has not turned for 14 s: it says nothing."));
	free(page);
	page = render(NULL, 0);
	assert_non_null(strstr(page, "has not said anything yet"));
	free(page);
	json_decref(s);
}

/* Of what stands between two marks of the page. */
static void assert_allowed(const char *policy, const char *page, const char *from, const char *to)
{
	struct ing_digests digests;
	char text[ING_BASE64_CHARS(sizeof(digests.sha256)) + 1];
	const char *begin = strstr(page, from);
	assert_non_null(begin);
	begin += strlen(from);
	const char *end = strstr(begin, to);
	assert_non_null(end);
	ing_digest(ING_DIGEST_SHA256, begin, (size_t)(end - begin), &digests);
	ing_base64_encode(digests.sha256, sizeof(digests.sha256), text);
	assert_non_null(strstr(policy, text));
}

static void the_policy_allows_its_own_style_and_script_alone(void **state)
{
	(void)state;
	char *policy = ing_status_page_policy();
	char *page = render(NULL, 0);
	assert_allowed(policy, page, "<style>", "</style>");
	assert_allowed(policy, page, "<script>", "</script>");
	assert_non_null(strstr(policy, "default-src 'none'"));
	assert_null(strstr(policy, "unsafe"));
	assert_null(strstr(page, " style=\""));
	assert_null(strstr(page, " onclick=\""));
	free(page);
	free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_values_stay_text_wherever_they_stand),
		cmocka_unit_test(what_is_missing_is_left_out),
		cmocka_unit_test(a_silent_worker_is_said_to_be),
		cmocka_unit_test(the_policy_allows_its_own_style_and_script_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
