/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cache of robots.txt: what follows from each answer and for how long, who waits and is woken,
 * what is kept and what is evicted, and whose rules count where. Time is a variable here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/report.h"
#include "common/net/robots.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/robots/robots.h"
#include "worker/rules/rule_files.h"

#define SECOND_MS ((uint64_t)1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

#define AGENT "testbot/1.0 (+https://tests.example/robot)"
#define PUBLIC "https://a.example/public"
#define PRIVATE "https://a.example/private"
#define RULES "User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"

/* --- a getter that writes down what it is asked for, and a clock --- */

static uint64_t clock_ms;

static uint64_t read_clock(void)
{
	return clock_ms;
}

static struct {
	char url[400];
	void *token;
	unsigned count;
} gotten; /* the last get() */

static void get(void *ctx, const char *url, void *token)
{
	assert_ptr_equal(ctx, &gotten);
	snprintf(gotten.url, sizeof(gotten.url), "%s", url);
	gotten.token = token;
	gotten.count++;
}

/* A waiter that counts. */
struct client {
	struct ing_robots_waiter waiter;
	unsigned woken;
	unsigned turn; /* among all that were woken */
};

static unsigned turns;

static void on_done(struct ing_robots_waiter *w)
{
	struct client *c = ING_CONTAINER(w, struct client, waiter);
	assert_null(w->entry);
	c->woken++;
	c->turn = turns++;
}

static struct ing_robots *new_robots(size_t max_entries, size_t max_bytes)
{
	const struct ing_robots_conf conf = {
		.obey = true,
		.max_entries = max_entries,
		.max_bytes = max_bytes,
		.fetch = get,
		.ctx = &gotten,
		.now_ms = read_clock,
	};
	memset(&gotten, 0, sizeof(gotten));
	clock_ms = 1000000;
	struct ing_robots *r = ing_robots_new(&conf);
	ing_robots_wire(r, on_done);
	return r;
}

static struct ing_robots *new_default(void)
{
	return new_robots(1000, (size_t)64 << 20);
}

/* Files as an examiner hands them over, all kept until the end. */
static struct {
	struct ing_robots_txt *files[500];
	size_t count;
} parsed;

static const struct ing_robots_txt *parse(const char *body)
{
	assert_true(parsed.count < ING_ARRAY_LEN(parsed.files));
	parsed.files[parsed.count] = ing_robots_txt_parse(body, strlen(body), AGENT);
	return parsed.files[parsed.count++];
}

static int free_parsed(void **state)
{
	(void)state;
	while (parsed.count > 0)
		ing_robots_txt_free(parsed.files[--parsed.count]);
	return 0;
}

static struct ing_robots_answer http(int status, const char *body)
{
	return (struct ing_robots_answer){
		.outcome = ING_STATUS_SUCCESS, .http_status = status, .txt = parse(body)};
}

static void got(struct ing_robots *r, int status, const char *body)
{
	struct ing_robots_answer a = http(status, body);
	ing_robots_fetched(r, gotten.token, &a);
}

/* Ask, and answer what is asked for with a; then the verdict. */
static struct ing_robots_view ask_with(
	struct ing_robots *r, const char *url, const struct ing_robots_answer *a)
{
	struct client c = {0};
	struct ing_robots_view v = ing_robots_ask(r, url, &c.waiter);
	if (v.verdict != ING_ROBOTS_PENDING)
		return v;
	ing_robots_fetched(r, gotten.token, a);
	assert_int_equal(c.woken, 1);
	return ing_robots_ask(r, url, &c.waiter);
}

/* The verdict there is; a fetch would be an error. */
static struct ing_robots_view ask_known(struct ing_robots *r, const char *url)
{
	struct client c = {0};
	unsigned before = gotten.count;
	struct ing_robots_view v = ing_robots_ask(r, url, &c.waiter);
	assert_int_not_equal(v.verdict, ING_ROBOTS_PENDING);
	assert_int_equal(gotten.count, before);
	return v;
}

static bool is_due(struct ing_robots *r, const char *url)
{
	struct client c = {0};
	unsigned before = gotten.count;
	struct ing_robots_view v = ing_robots_ask(r, url, &c.waiter);
	ing_robots_leave(&c.waiter);
	assert_int_equal(v.verdict == ING_ROBOTS_PENDING, gotten.count == before + 1);
	return gotten.count > before;
}

/* --- what follows from an answer --- */

static const struct {
	const char *name;
	enum ing_status outcome;
	int http_status;
	const char *body;
	enum ing_robots_verdict open, closed; /* of PUBLIC and PRIVATE */
	const char *detail;                   /* of PRIVATE */
	uint64_t lasts_ms;
	const char *verdict; /* as operators see it */
} answers[] = {
	{"200", ING_STATUS_SUCCESS, 200, RULES, ING_ROBOTS_ALLOWED, ING_ROBOTS_DISALLOWED,
		"robots.txt line 2 disallows it", DAY_MS, "rules"},
	{"200 and empty", ING_STATUS_SUCCESS, 200, "", ING_ROBOTS_ALLOWED, ING_ROBOTS_ALLOWED, NULL,
		DAY_MS, "rules"},
	{"200 and a page", ING_STATUS_SUCCESS, 200, "<!doctype html><p>no such page",
		ING_ROBOTS_ALLOWED, ING_ROBOTS_ALLOWED, NULL, DAY_MS, "rules"},
	{"226", ING_STATUS_SUCCESS, 226, RULES, ING_ROBOTS_ALLOWED, ING_ROBOTS_DISALLOWED,
		"robots.txt line 2 disallows it", DAY_MS, "rules"},
#define ALLOW_ALL ING_ROBOTS_ALLOWED, ING_ROBOTS_ALLOWED, NULL, DAY_MS, "allow-all"
	{"301 without end", ING_STATUS_SUCCESS, 301, RULES, ALLOW_ALL},
	{"304", ING_STATUS_SUCCESS, 304, "", ALLOW_ALL},
	{"400", ING_STATUS_SUCCESS, 400, RULES, ALLOW_ALL},
	{"401", ING_STATUS_SUCCESS, 401, RULES, ALLOW_ALL},
	{"403", ING_STATUS_SUCCESS, 403, RULES, ALLOW_ALL},
	{"404", ING_STATUS_SUCCESS, 404, RULES, ALLOW_ALL},
	{"410", ING_STATUS_SUCCESS, 410, "", ALLOW_ALL},
	{"428", ING_STATUS_SUCCESS, 428, "", ALLOW_ALL},
	{"451", ING_STATUS_SUCCESS, 451, "", ALLOW_ALL},
	{"499", ING_STATUS_SUCCESS, 499, "", ALLOW_ALL},
	{"six redirects", ING_STATUS_REDIRECTS_EXCEEDED, 302, "", ALLOW_ALL},
	{"a loop", ING_STATUS_REDIRECT_LOOP, 302, "", ALLOW_ALL},
	{"no location", ING_STATUS_BAD_REDIRECT, 302, "", ALLOW_ALL},
	{"redirect to a wall", ING_STATUS_BLOCKED_LOGIN, 302, "", ALLOW_ALL},
	{"redirect to a block", ING_STATUS_SKIP_URL_BLOCKLIST, 302, "", ALLOW_ALL},
	{"redirect inside", ING_STATUS_BLOCKED_ADDRESS, 302, "", ALLOW_ALL},
	{"redirect to no URL", ING_STATUS_INVALID_URL, 302, "", ALLOW_ALL},
#define UNREACHABLE(detail)                                                                        \
	ING_ROBOTS_DISALLOWED, ING_ROBOTS_DISALLOWED, "robots.txt is unreachable (" detail ")",    \
		5 * MINUTE_MS, "unreachable"
	{"429", ING_STATUS_SUCCESS, 429, "", UNREACHABLE("HTTP 429")},
	{"500", ING_STATUS_SUCCESS, 500, RULES, UNREACHABLE("HTTP 500")},
	{"503", ING_STATUS_SUCCESS, 503, "", UNREACHABLE("HTTP 503")},
	{"599", ING_STATUS_SUCCESS, 599, "", UNREACHABLE("HTTP 599")},
	{"status 0", ING_STATUS_SUCCESS, 0, "", UNREACHABLE("HTTP 0")},
	{"status 199", ING_STATUS_SUCCESS, 199, "", UNREACHABLE("HTTP 199")},
	{"status 999", ING_STATUS_SUCCESS, 999, "", UNREACHABLE("HTTP 999")},
	{"reset", ING_STATUS_READ_ERROR, 0, "", UNREACHABLE("read-error")},
	{"stalled", ING_STATUS_READ_TIMEOUT, 200, "", UNREACHABLE("read-timeout")},
	{"broken off", ING_STATUS_TRUNCATED_BODY, 200, RULES, UNREACHABLE("truncated-body")},
	{"too slow", ING_STATUS_TIMEOUT, 0, "", UNREACHABLE("timeout")},
	{"header flood", ING_STATUS_HEADERS_TOO_LARGE, 0, "", UNREACHABLE("headers-too-large")},
	{"bad gzip", ING_STATUS_BAD_CONTENT_ENCODING, 200, "", UNREACHABLE("bad-content-encoding")},
	{"gzip bomb", ING_STATUS_BODY_TOO_LARGE, 200, "", UNREACHABLE("body-too-large")},
	{"killed its examiner", ING_STATUS_PARSE_CRASH, 200, "", UNREACHABLE("parse-crash")},
	{"kept its examiner", ING_STATUS_PARSE_TIMEOUT, 200, "", UNREACHABLE("parse-timeout")},
	{"redirect to a dead host", ING_STATUS_CONNECT_ERROR, 301, "",
		UNREACHABLE("connect-error")},
	{"redirect to a bad certificate", ING_STATUS_TLS_ERROR, 301, "", UNREACHABLE("tls-error")},
	{"redirect to no host", ING_STATUS_INVALID_HOST_RESOLUTION, 301, "",
		UNREACHABLE("invalid-host-resolution")},
#define FAILED                                                                                     \
	ING_ROBOTS_FAILED, ING_ROBOTS_FAILED, "robots.txt could not be fetched: because",          \
		30 * SECOND_MS, "failed"
	{"refused", ING_STATUS_CONNECT_ERROR, 0, "", FAILED},
	{"bad certificate", ING_STATUS_TLS_ERROR, 0, "", FAILED},
	{"no such host", ING_STATUS_INVALID_HOST_RESOLUTION, 0, "", FAILED},
	{"private address", ING_STATUS_BLOCKED_ADDRESS, 0, "", FAILED},
	{"no URL", ING_STATUS_INVALID_URL, 0, "", FAILED},
	{"host blocked", ING_STATUS_SKIP_URL_BLOCKLIST, 0, "", FAILED},
	{"at a wall", ING_STATUS_SKIP_WALL, 0, "", FAILED},
	{"our disk is full", ING_STATUS_WORKER_ERROR, 0, "", FAILED},
	{"no examiner is free", ING_STATUS_WORKER_ERROR, 200, "", FAILED},
};

static void check_view(
	const char *name, const struct ing_robots_view *v, enum ing_robots_verdict want)
{
	if (v->verdict != want)
		fail_msg("%s: verdict %d", name, v->verdict);
	if ((v->detail != NULL) != (want == ING_ROBOTS_DISALLOWED || want == ING_ROBOTS_FAILED))
		fail_msg("%s: detail %s", name, v->detail != NULL ? v->detail : "lack");
}

static void what_follows_from_an_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		const char *name = answers[i].name;
		struct ing_robots *r = new_default();
		struct ing_robots_info info;
		struct ing_robots_answer a = http(answers[i].http_status, answers[i].body);
		a.outcome = answers[i].outcome;
		a.detail = "because";
		struct ing_robots_view v = ask_with(r, PUBLIC, &a);
		check_view(name, &v, answers[i].open);
		assert_string_equal(gotten.url, "https://a.example/robots.txt");
		v = ask_known(r, PRIVATE);
		check_view(name, &v, answers[i].closed);
		if (v.detail != NULL && strcmp(v.detail, answers[i].detail) != 0)
			fail_msg("%s: %s", name, v.detail);
		if (v.verdict == ING_ROBOTS_FAILED)
			assert_int_equal(v.outcome, answers[i].outcome);
		ing_robots_explain(r, "a.example", &info);
		assert_string_equal(info.verdict, answers[i].verdict);
		if (info.expires_ms != answers[i].lasts_ms)
			fail_msg("%s: lasts %llu ms", name, (unsigned long long)info.expires_ms);
		bool failed = v.verdict == ING_ROBOTS_FAILED;
		bool in_the_way = failed || strcmp(info.verdict, "unreachable") == 0;
		assert_string_equal(info.detail, in_the_way ? v.detail : "");
		assert_string_equal(info.outcome != NULL ? info.outcome : "",
			failed ? ing_status_slug(v.outcome) : "");
		clock_ms += answers[i].lasts_ms - 1;
		assert_false(is_due(r, PUBLIC));
		clock_ms++;
		assert_true(is_due(r, PUBLIC));
		ing_robots_free(r);
	}
}

static void every_status_has_a_verdict(void **state)
{
	(void)state;
	for (int st = 0; st < ING_STATUS_COUNT_; st++) {
		struct ing_robots *r = new_default();
		struct ing_robots_answer a = {.outcome = (enum ing_status)st};
		struct ing_robots_view v = ask_with(r, PUBLIC, &a);
		assert_int_not_equal(v.verdict, ING_ROBOTS_PENDING);
		assert_int_equal(v.verdict == ING_ROBOTS_ALLOWED, v.detail == NULL);
		ing_robots_free(r);
	}
}

static void a_gate_without_a_turn_says_when(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		unsigned said_s;
		uint64_t lasts_ms;
		unsigned first_s, last_s; /* what is said at first, and shortly before the end */
	} cases[] = {
		{.lasts_ms = 1 * SECOND_MS, .first_s = 1, .last_s = 1},
		{.said_s = 1, .lasts_ms = 1 * SECOND_MS, .first_s = 1, .last_s = 1},
		{.said_s = 90, .lasts_ms = 90 * SECOND_MS, .first_s = 90, .last_s = 1},
		{.said_s = 3600, .lasts_ms = HOUR_MS, .first_s = 3600, .last_s = 1},
		{.said_s = 86400, .lasts_ms = HOUR_MS, .first_s = 86400,
			.last_s = 86400 - 3600 + 1},
		{.said_s = UINT32_MAX, .lasts_ms = HOUR_MS, .first_s = UINT32_MAX,
			.last_s = UINT32_MAX - 3600 + 1},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_robots *r = new_default();
		const struct ing_robots_answer a = {
			.outcome = ING_STATUS_HOST_BACKOFF, .retry_after_s = cases[i].said_s};
		struct ing_robots_view v = ask_with(r, PUBLIC, &a);
		assert_int_equal(v.verdict, ING_ROBOTS_FAILED);
		assert_int_equal(v.outcome, ING_STATUS_HOST_BACKOFF);
		assert_int_equal(v.retry_after_s, cases[i].first_s);
		clock_ms += cases[i].lasts_ms - 1;
		assert_int_equal(ask_known(r, PUBLIC).retry_after_s, cases[i].last_s);
		clock_ms++;
		assert_true(is_due(r, PUBLIC));
		ing_robots_free(r);
	}
}

static void the_unreachable_are_asked_less_and_less_often(void **state)
{
	(void)state;
	static const uint64_t waits[] = {5, 10, 20, 40, 60, 60, 60}; /* minutes */
	struct ing_robots *r = new_default();
	struct ing_robots_answer bad = http(503, "");
	struct ing_robots_answer good = http(200, RULES);
	for (unsigned round = 0; round < 2; round++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(waits); i++) {
			struct ing_robots_view v = ask_with(r, PRIVATE, &bad);
			assert_int_equal(v.verdict, ING_ROBOTS_DISALLOWED);
			clock_ms += waits[i] * MINUTE_MS - 1;
			ask_known(r, PUBLIC);
			clock_ms++;
		}
		ask_with(r, PUBLIC, &good); /* from the beginning, next time */
		clock_ms += DAY_MS;
	}
	ing_robots_free(r);
}

static void when_the_unreachable_are_asked_again_is_said(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_answer bad = http(500, "");
	assert_int_equal(ask_with(r, PUBLIC, &bad).retry_after_s, 300);
	clock_ms += 10 * SECOND_MS + 1;
	assert_int_equal(ask_known(r, PUBLIC).retry_after_s, 290);
	struct ing_robots_answer good = http(200, RULES);
	clock_ms += HOUR_MS;
	assert_int_equal(ask_with(r, PRIVATE, &good).retry_after_s, 0);
	ing_robots_free(r);
}

/* Unreachable at every attempt until `until_ms`. */
static struct ing_robots_view stay_unreachable(struct ing_robots *r, uint64_t until_ms)
{
	struct ing_robots_answer bad = http(503, "");
	struct ing_robots_view v = ask_with(r, PRIVATE, &bad);
	while (clock_ms + HOUR_MS < until_ms) {
		clock_ms += HOUR_MS;
		v = ask_with(r, PRIVATE, &bad);
	}
	clock_ms = until_ms;
	return v;
}

static void old_rules_are_used_on_for_a_month(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_answer good = http(200, RULES);
	struct ing_robots_answer bad = http(503, "");
	struct ing_robots_info info;
	ask_with(r, PUBLIC, &good);
	uint64_t had_ms = clock_ms;
	clock_ms += DAY_MS;
	assert_int_equal(ask_with(r, PUBLIC, &bad).verdict, ING_ROBOTS_ALLOWED);
	struct ing_robots_view v = ask_known(r, PRIVATE);
	assert_string_equal(v.detail, "robots.txt line 2 disallows it");
	assert_int_equal(ask_known(r, PUBLIC).crawl_delay_ms, 7000);
	ing_robots_explain(r, "a.example", &info);
	assert_string_equal(info.verdict, "rules");
	assert_int_equal(info.http_status, 503);
	assert_int_equal(info.age_ms, DAY_MS);
	assert_int_equal(info.expires_ms, 5 * MINUTE_MS);
	assert_int_equal(info.crawl_delay_ms, 7000);
	v = stay_unreachable(r, had_ms + 30 * DAY_MS - 1);
	assert_int_equal(v.verdict, ING_ROBOTS_DISALLOWED);
	assert_int_equal(ing_robots_ask(r, PRIVATE, NULL).verdict, ING_ROBOTS_DISALLOWED);
	clock_ms++;
	v = ing_robots_ask(r, PRIVATE, NULL);
	assert_int_equal(v.verdict, ING_ROBOTS_ALLOWED);
	assert_int_equal(v.crawl_delay_ms, 0);
	ing_robots_explain(r, "a.example", &info);
	assert_string_equal(info.verdict, "allow-all");
	assert_int_equal(info.crawl_delay_ms, 0);
	ing_robots_free(r);
}

static void after_a_month_of_silence_all_is_allowed(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	uint64_t first_ms = clock_ms;
	assert_int_equal(
		stay_unreachable(r, first_ms + 30 * DAY_MS - 1).verdict, ING_ROBOTS_DISALLOWED);
	assert_int_equal(ing_robots_ask(r, PRIVATE, NULL).verdict, ING_ROBOTS_DISALLOWED);
	clock_ms++;
	assert_int_equal(ing_robots_ask(r, PRIVATE, NULL).verdict, ING_ROBOTS_ALLOWED);
	/* A word from it, and what it says counts again. */
	clock_ms += HOUR_MS;
	struct ing_robots_answer good = http(200, RULES);
	assert_int_equal(ask_with(r, PRIVATE, &good).verdict, ING_ROBOTS_DISALLOWED);
	ing_robots_free(r);
}

static void a_file_that_was_never_there_is_no_old_copy(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_answer none = http(404, "");
	struct ing_robots_answer bad = http(503, "");
	assert_int_equal(ask_with(r, PUBLIC, &none).verdict, ING_ROBOTS_ALLOWED);
	clock_ms += DAY_MS;
	assert_int_equal(ask_with(r, PUBLIC, &bad).verdict, ING_ROBOTS_DISALLOWED);
	ing_robots_free(r);
}

static void a_file_that_was_withdrawn_is_forgotten(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_answer good = http(200, RULES);
	struct ing_robots_answer none = http(404, "");
	struct ing_robots_answer bad = http(503, "");
	ask_with(r, PUBLIC, &good);
	clock_ms += DAY_MS;
	assert_int_equal(ask_with(r, PRIVATE, &none).verdict, ING_ROBOTS_ALLOWED);
	clock_ms += DAY_MS;
	struct ing_robots_view v = ask_with(r, PUBLIC, &bad);
	assert_int_equal(v.verdict, ING_ROBOTS_DISALLOWED);
	assert_string_equal(v.detail, "robots.txt is unreachable (HTTP 503)");
	ing_robots_free(r);
}

static void a_failure_keeps_the_old_rules_for_later(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_answer good = http(200, RULES);
	struct ing_robots_answer bad = http(503, "");
	const struct ing_robots_answer dead = {.outcome = ING_STATUS_CONNECT_ERROR};
	ask_with(r, PUBLIC, &good);
	clock_ms += DAY_MS;
	struct ing_robots_view v = ask_with(r, PUBLIC, &dead);
	assert_int_equal(v.verdict, ING_ROBOTS_FAILED);
	assert_non_null(strstr(v.detail, ing_status_meaning(ING_STATUS_CONNECT_ERROR)));
	clock_ms += 30 * SECOND_MS;
	assert_int_equal(ask_with(r, PUBLIC, &bad).verdict, ING_ROBOTS_ALLOWED);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_DISALLOWED);
	ing_robots_free(r);
}

/* --- which file --- */

static void each_authority_has_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *url, *file; /* NULL: one that was asked for before */
	} cases[] = {
		{"https://a.example/x?y#z", "https://a.example/robots.txt"},
		{"HTTPS://A.Example:443/", NULL},
		{"https://user:secret@a.example/", NULL},
		{"http://a.example/", "http://a.example/robots.txt"},
		{"http://a.example:80/x", NULL},
		{"https://a.example:8443/", "https://a.example:8443/robots.txt"},
		{"https://www.a.example/", "https://www.a.example/robots.txt"},
		{"https://b\xc3\xbc"
		 "cher.example/",
			"https://xn--bcher-kva.example/robots.txt"},
		{"http://[2001:db8::1]:81/", "http://[2001:db8::1]:81/robots.txt"},
		{"http://127.1/", "http://127.0.0.1/robots.txt"},
		{"http://2130706433/", NULL},
	};
	struct ing_robots *r = new_default();
	struct ing_robots_answer a = http(404, "");
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		unsigned before = gotten.count;
		assert_int_equal(ask_with(r, cases[i].url, &a).verdict, ING_ROBOTS_ALLOWED);
		if ((gotten.count > before) != (cases[i].file != NULL))
			fail_msg("%s", cases[i].url);
		if (cases[i].file != NULL)
			assert_string_equal(gotten.url, cases[i].file);
	}
	ing_robots_free(r);
}

static void robots_txt_itself_needs_no_robots_txt(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	assert_int_equal(ask_known(r, "https://a.example/robots.txt").verdict, ING_ROBOTS_ALLOWED);
	assert_int_equal(
		ask_known(r, "https://a.example/robots.txt?x#y").verdict, ING_ROBOTS_ALLOWED);
	assert_true(is_due(r, "https://a.example/x/robots.txt"));
	ing_robots_free(r);
}

static void what_is_no_web_url_has_no_verdict(void **state)
{
	(void)state;
	static const char *const urls[] = {"", "a.example", "ftp://a.example/",
		"mailto:a@a.example", "file:///etc", "http://"};
	struct ing_robots *r = new_default();
	char longest[2000] = "http://";
	memset(longest + 7, 'a', sizeof(longest) - 8);
	for (size_t i = 0; i <= ING_ARRAY_LEN(urls); i++) {
		struct ing_robots_view v =
			ask_known(r, i < ING_ARRAY_LEN(urls) ? urls[i] : longest);
		assert_int_equal(v.verdict, ING_ROBOTS_FAILED);
		assert_int_equal(v.outcome, ING_STATUS_INVALID_URL);
		assert_non_null(v.detail);
	}
	ing_robots_free(r);
}

/* --- whose word counts --- */

static struct ing_host_rules *load_rules(const char *text)
{
	struct ing_host_rules *rules = NULL;
	struct ing_report report;
	struct ing_rule_files files;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	files.items[0] = (struct ing_rule_file){.kind = ING_RULES_HOSTS,
		.path = ing_strdup("hosts.yaml"),
		.text = ing_strdup(text),
		.bytes = strlen(text)};
	files.count = 1;
	assert_int_equal(ing_host_rules_load_files(&files, &rules, &report), 0);
	ing_rule_files_done(&files);
	ing_report_done(&report);
	return rules;
}

static void where_robots_are_ignored_nothing_is_asked_for(void **state)
{
	(void)state;
	struct ing_host_rules *rules =
		load_rules("- {host: .polite.example, robots: obey, why: w}\n");
	const struct ing_robots_conf conf = {.obey = false,
		.max_entries = 10,
		.max_bytes = 1 << 20,
		.host_rules = rules,
		.fetch = get,
		.ctx = &gotten,
		.now_ms = read_clock};
	struct ing_robots_info info;
	memset(&gotten, 0, sizeof(gotten));
	struct ing_robots *r = ing_robots_new(&conf);
	ing_robots_wire(r, on_done);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_ALLOWED);
	ing_robots_explain(r, "a.example", &info);
	assert_true(info.known);
	assert_string_equal(info.verdict, "ignored");
	struct ing_robots_answer good = http(200, RULES);
	assert_int_equal(ask_with(r, "https://www.polite.example/private", &good).verdict,
		ING_ROBOTS_DISALLOWED);
	ing_robots_free(r);
	ing_host_rules_free(rules);
}

static void rules_about_hosts_may_change(void **state)
{
	(void)state;
	struct ing_host_rules *rules = load_rules("- {host: a.example, robots: ignore, why: w}\n");
	struct ing_host_rules *unsaid = load_rules("- {host: a.example, delay_ms: 5, why: w}\n");
	struct ing_robots *r = new_default();
	struct client c = {0};
	assert_int_equal(ing_robots_ask(r, PRIVATE, &c.waiter).verdict, ING_ROBOTS_PENDING);
	ing_robots_set_host_rules(r, rules);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_ALLOWED);
	assert_int_equal(c.woken, 0);
	got(r, 200, RULES);
	assert_int_equal(c.woken, 1);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_ALLOWED);
	ing_robots_set_host_rules(r, unsaid);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_DISALLOWED);
	ing_robots_set_host_rules(r, NULL);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_DISALLOWED);
	ing_robots_free(r);
	ing_host_rules_free(rules);
	ing_host_rules_free(unsaid);
}

static void the_group_of_our_product_token_counts(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_answer a = http(200, "User-agent: *\nDisallow: /\n\n"
					       "User-agent: TestBot\nCrawl-delay: 2.5\n"
					       "Disallow: /private\n");
	struct ing_robots_view v = ask_with(r, PUBLIC, &a);
	assert_int_equal(v.verdict, ING_ROBOTS_ALLOWED);
	assert_int_equal(v.crawl_delay_ms, 2500);
	v = ask_known(r, PRIVATE);
	assert_string_equal(v.detail, "robots.txt line 6 disallows it");
	assert_int_equal(v.crawl_delay_ms, 2500);
	ing_robots_free(r);
}

/* --- waiting --- */

static void one_file_is_got_once_for_all(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_stats stats;
	struct client clients[5];
	memset(clients, 0, sizeof(clients));
	turns = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(clients); i++) {
		assert_int_equal(
			ing_robots_ask(r, PUBLIC, &clients[i].waiter).verdict, ING_ROBOTS_PENDING);
	}
	assert_int_equal(gotten.count, 1);
	ing_robots_leave(&clients[1].waiter); /* the first, the last, and one in between */
	ing_robots_leave(&clients[1].waiter);
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.waiting, 4);
	ing_robots_leave(&clients[4].waiter);
	got(r, 200, RULES);
	assert_int_equal(clients[0].turn, 0);
	assert_int_equal(clients[2].turn, 1);
	assert_int_equal(clients[3].turn, 2);
	assert_int_equal(clients[0].woken + clients[2].woken + clients[3].woken, 3);
	assert_int_equal(clients[1].woken + clients[4].woken, 0);
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.waiting, 0);
	ing_robots_free(r);
}

static void a_file_nobody_waits_for_any_more_is_kept(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	assert_true(is_due(r, PUBLIC)); /* asks and leaves */
	struct client c = {0};
	assert_int_equal(ing_robots_ask(r, PUBLIC, &c.waiter).verdict, ING_ROBOTS_PENDING);
	assert_int_equal(gotten.count, 1); /* it is still under way */
	ing_robots_leave(&c.waiter);
	got(r, 200, RULES);
	assert_int_equal(ask_known(r, PRIVATE).verdict, ING_ROBOTS_DISALLOWED);
	ing_robots_free(r);
}

/* Asks again when woken, and makes another leave. */
struct busy_client {
	struct ing_robots_waiter waiter;
	struct ing_robots *robots;
	struct ing_robots_waiter *other; /* to leave */
	uint64_t takes_ms;
	unsigned woken, pending;
};

static void on_busy_done(struct ing_robots_waiter *w)
{
	struct busy_client *c = ING_CONTAINER(w, struct busy_client, waiter);
	c->woken++;
	clock_ms += c->takes_ms;
	if (c->other != NULL)
		ing_robots_leave(c->other);
	c->pending += ing_robots_ask(c->robots, PUBLIC, w).verdict == ING_ROBOTS_PENDING;
}

static void the_woken_may_ask_and_make_others_leave(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	ing_robots_wire(r, on_busy_done);
	struct busy_client clients[4];
	memset(clients, 0, sizeof(clients));
	for (size_t i = 0; i < ING_ARRAY_LEN(clients); i++) {
		clients[i].robots = r;
		ing_robots_ask(r, PUBLIC, &clients[i].waiter);
	}
	clients[0].other = &clients[3].waiter; /* the last */
	clients[1].other = &clients[2].waiter; /* the next, and last by now */
	got(r, 200, RULES);
	assert_int_equal(clients[0].woken, 1);
	assert_int_equal(clients[1].woken, 1);
	assert_int_equal(clients[2].woken + clients[3].woken, 0);
	assert_int_equal(clients[0].pending + clients[1].pending, 0);
	assert_int_equal(gotten.count, 1);
	ing_robots_free(r);
}

/* A verdict of one second, and waking that takes longer: who comes too late waits for the next. */
static void a_verdict_may_end_while_its_waiters_are_woken(void **state)
{
	(void)state;
	struct ing_robots *r = new_robots(1, (size_t)1 << 20);
	ing_robots_wire(r, on_busy_done);
	struct busy_client clients[3];
	memset(clients, 0, sizeof(clients));
	for (size_t i = 0; i < ING_ARRAY_LEN(clients); i++) {
		clients[i].robots = r;
		clients[i].takes_ms = 400;
		ing_robots_ask(r, PUBLIC, &clients[i].waiter);
	}
	const struct ing_robots_answer a = {.outcome = ING_STATUS_HOST_BACKOFF, .retry_after_s = 1};
	ing_robots_fetched(r, gotten.token, &a);
	assert_int_equal(gotten.count, 2);
	assert_int_equal(clients[0].pending + clients[1].pending, 0);
	assert_int_equal(clients[2].pending, 1);
	void *token = gotten.token;
	struct ing_robots_answer good = http(200, RULES);
	ing_robots_wire(r, on_done);
	ask_with(r, "https://b.example/", &good); /* the cache is full, and it must not go */
	ing_robots_wire(r, on_busy_done);
	ing_robots_fetched(r, token, &good);
	assert_int_equal(clients[0].woken + clients[1].woken, 2);
	assert_int_equal(clients[2].woken, 2);
	assert_int_equal(clients[2].pending, 1);
	ing_robots_free(r);
}

static void a_hundred_thousand_wait_for_one_file(void **state)
{
	(void)state;
	enum { COUNT = 100000 };
	struct ing_robots *r = new_default();
	struct ing_robots_stats stats;
	struct client *clients = ing_alloc(COUNT * sizeof(*clients));
	turns = 0;
	for (size_t i = 0; i < COUNT; i++) {
		ing_robots_ask(r, PUBLIC, &clients[i].waiter);
	}
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.waiting, COUNT);
	assert_int_equal(stats.entries, 1);
	for (size_t i = 0; i < COUNT; i += 2)
		ing_robots_leave(&clients[i].waiter);
	got(r, 200, RULES);
	assert_int_equal(gotten.count, 1);
	assert_int_equal(turns, COUNT / 2);
	for (size_t i = 1; i < COUNT; i += 2)
		assert_int_equal(clients[i].turn, i / 2);
	free(clients);
	ing_robots_free(r);
}

/* --- what is kept --- */

static const char *host_url(unsigned number)
{
	static char url[60];
	snprintf(url, sizeof(url), "https://h%u.example/private", number);
	return url;
}

static void the_least_recently_used_go_first(void **state)
{
	(void)state;
	struct ing_robots *r = new_robots(3, (size_t)1 << 20);
	struct ing_robots_answer a = http(200, RULES);
	struct ing_robots_stats stats;
	for (unsigned i = 0; i < 3; i++)
		ask_with(r, host_url(i), &a);
	ask_known(r, host_url(0));
	ask_with(r, host_url(3), &a); /* in place of 1 */
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.entries, 3);
	ask_known(r, host_url(2));
	ask_known(r, host_url(3));
	ask_known(r, host_url(0));
	assert_int_equal(ing_robots_ask(r, host_url(1), NULL).verdict, ING_ROBOTS_PENDING);
	assert_true(is_due(r, host_url(1)));
	ing_robots_free(r);
}

static void who_is_waited_for_is_not_evicted(void **state)
{
	(void)state;
	enum { COUNT = 10 };
	struct ing_robots *r = new_robots(3, (size_t)1 << 20);
	struct ing_robots_stats stats;
	struct client clients[COUNT];
	void *tokens[COUNT];
	memset(clients, 0, sizeof(clients));
	for (unsigned i = 0; i < COUNT; i++) {
		ing_robots_ask(r, host_url(i), &clients[i].waiter);
		tokens[i] = gotten.token;
	}
	ing_robots_leave(&clients[4].waiter); /* its token is out all the same */
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.entries, COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		struct ing_robots_answer a = http(200, RULES);
		ing_robots_fetched(r, tokens[i], &a);
		assert_int_equal(clients[i].woken, i != 4);
		assert_int_equal(ask_known(r, host_url(i)).verdict, ING_ROBOTS_DISALLOWED);
	}
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.entries, 3);
	ing_robots_free(r);
}

/* Its token is out anew, so its place in the list has to be given up. */
static void who_is_asked_for_again_is_not_evicted(void **state)
{
	(void)state;
	struct ing_robots *r = new_robots(1, (size_t)1 << 20);
	struct ing_robots_answer a = http(200, RULES);
	struct ing_robots_stats stats;
	struct client c = {0};
	ask_with(r, host_url(0), &a);
	clock_ms += DAY_MS;
	assert_int_equal(ing_robots_ask(r, host_url(0), &c.waiter).verdict, ING_ROBOTS_PENDING);
	void *token = gotten.token;
	for (unsigned i = 1; i < 4; i++)
		ask_with(r, host_url(i), &a);
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.entries, 2);
	ing_robots_fetched(r, token, &a);
	assert_int_equal(c.woken, 1);
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.entries, 1);
	ing_robots_free(r);
}

static void bytes_are_bounded_too(void **state)
{
	(void)state;
	char body[20000] = "User-agent: *\n";
	for (size_t used = strlen(body); used + 40 < sizeof(body); used = strlen(body))
		snprintf(body + used, sizeof(body) - used, "Disallow: /private/%zu\n", used);
	struct ing_robots *r = new_robots(1000, 200000);
	struct ing_robots_stats stats;
	struct ing_robots_answer a = http(200, body);
	for (unsigned i = 0; i < 100; i++) {
		ask_with(r, host_url(i), &a);
		ing_robots_stats(r, &stats);
		assert_true(stats.bytes <= 200000 + 100000); /* one more than fits */
	}
	assert_in_range(stats.entries, 1, 50);
	ing_robots_free(r);
	/* One that is larger than all that may be kept: still, who asked gets its verdict. */
	r = new_robots(1000, 100);
	ask_with(r, host_url(0), &a);
	ask_known(r, host_url(0));
	ask_with(r, host_url(1), &a);
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.entries, 1);
	ing_robots_free(r);
}

/* --- for operators --- */

static void what_operators_are_told(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_info info;
	struct client c = {0};
	ing_robots_explain(r, "a.example", &info);
	assert_false(info.known);
	ing_robots_ask(r, "http://www.a.example/", &c.waiter);
	ing_robots_explain(r, "a.example", &info);
	assert_true(info.known);
	assert_string_equal(info.url, "http://www.a.example/robots.txt");
	assert_string_equal(info.verdict, "pending");
	assert_int_equal(info.waiting, 1);
	assert_int_equal(info.age_ms, 0);
	got(r, 200, RULES);
	clock_ms += HOUR_MS;
	ing_robots_explain(r, "www.A.example", &info);
	assert_string_equal(info.verdict, "rules");
	assert_int_equal(info.http_status, 200);
	assert_int_equal(info.age_ms, HOUR_MS);
	assert_int_equal(info.expires_ms, 23 * HOUR_MS);
	assert_int_equal(info.crawl_delay_ms, 7000);
	assert_int_equal(info.waiting, 0);
	assert_true(info.bytes > 0);
	clock_ms += 2 * DAY_MS;
	ing_robots_explain(r, "a.example", &info);
	assert_int_equal(info.expires_ms, 0);
	struct ing_robots_answer none = http(404, "");
	ask_with(r, "https://a.example/", &none);
	ing_robots_explain(r, "a.example", &info);
	assert_string_equal(info.url, "https://a.example/robots.txt");
	ask_with(r, "https://a.example:8443/", &none);
	ing_robots_explain(r, "a.example:8443", &info);
	assert_string_equal(info.url, "https://a.example:8443/robots.txt");
	ing_robots_explain(r, "", &info);
	assert_false(info.known);
	ing_robots_free(r);
	ing_robots_free(NULL);
}

static void operators_are_told_what_is_in_the_way(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_info info;
	struct ing_robots_answer none = http(404, "");
	struct ing_robots_answer refused = {
		.outcome = ING_STATUS_CONNECT_ERROR, .detail = "connection refused"};
	ask_with(r, "https://a.example/", &none);
	ask_with(r, "http://a.example/", &refused);
	ing_robots_explain(r, "a.example", &info);
	assert_string_equal(info.url, "http://a.example/robots.txt");
	assert_string_equal(info.verdict, "failed");
	assert_string_equal(info.outcome, "connect-error");
	assert_string_equal(info.detail, "robots.txt could not be fetched: connection refused");
	clock_ms += info.expires_ms; /* nothing is any more */
	ing_robots_explain(r, "a.example", &info);
	assert_string_equal(info.url, "https://a.example/robots.txt");
	ing_robots_free(r);
}

static void what_is_counted(void **state)
{
	(void)state;
	struct ing_robots *r = new_default();
	struct ing_robots_stats stats;
	struct ing_robots_answer good = http(200, RULES);
	struct ing_robots_answer bad = http(503, "");
	ask_with(r, PUBLIC, &good);
	ask_known(r, PRIVATE);
	ing_robots_ask(r, PRIVATE, NULL);
	ask_with(r, "https://b.example/", &bad);
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.fetched, 2);
	assert_int_equal(stats.hits, 3);
	assert_int_equal(stats.disallowed, 2);
	assert_int_equal(stats.unreachable, 1);
	assert_int_equal(stats.entries, 2);
	assert_true(stats.bytes > 0);
	size_t bytes = stats.bytes;
	clock_ms += DAY_MS;
	ask_with(r, PUBLIC, &good); /* the same once more takes no more */
	ing_robots_stats(r, &stats);
	assert_int_equal(stats.fetched, 3);
	assert_int_equal(stats.bytes, bytes);
	ing_robots_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_follows_from_an_answer),
		cmocka_unit_test(every_status_has_a_verdict),
		cmocka_unit_test(a_gate_without_a_turn_says_when),
		cmocka_unit_test(the_unreachable_are_asked_less_and_less_often),
		cmocka_unit_test(when_the_unreachable_are_asked_again_is_said),
		cmocka_unit_test(old_rules_are_used_on_for_a_month),
		cmocka_unit_test(after_a_month_of_silence_all_is_allowed),
		cmocka_unit_test(a_file_that_was_never_there_is_no_old_copy),
		cmocka_unit_test(a_file_that_was_withdrawn_is_forgotten),
		cmocka_unit_test(a_failure_keeps_the_old_rules_for_later),
		cmocka_unit_test(each_authority_has_its_own),
		cmocka_unit_test(robots_txt_itself_needs_no_robots_txt),
		cmocka_unit_test(what_is_no_web_url_has_no_verdict),
		cmocka_unit_test(where_robots_are_ignored_nothing_is_asked_for),
		cmocka_unit_test(rules_about_hosts_may_change),
		cmocka_unit_test(the_group_of_our_product_token_counts),
		cmocka_unit_test(one_file_is_got_once_for_all),
		cmocka_unit_test(a_file_nobody_waits_for_any_more_is_kept),
		cmocka_unit_test(the_woken_may_ask_and_make_others_leave),
		cmocka_unit_test(a_verdict_may_end_while_its_waiters_are_woken),
		cmocka_unit_test(a_hundred_thousand_wait_for_one_file),
		cmocka_unit_test(the_least_recently_used_go_first),
		cmocka_unit_test(who_is_waited_for_is_not_evicted),
		cmocka_unit_test(who_is_asked_for_again_is_not_evicted),
		cmocka_unit_test(bytes_are_bounded_too),
		cmocka_unit_test(what_operators_are_told),
		cmocka_unit_test(operators_are_told_what_is_in_the_way),
		cmocka_unit_test(what_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, free_parsed);
}
