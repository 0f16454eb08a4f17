/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hop loop's decisions as tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/job/hop.h"
#include "worker/model/limits.h"

static bool visited(void *ctx, const char *url)
{
	const char *known = ctx;
	return known != NULL && strcmp(known, url) == 0;
}

struct fetch_case {
	const char *name;
	struct ing_answer answer;
	unsigned redirects;
	const char *known;
	enum ing_step step;
	enum ing_status status;
	const char *url;
};

#define OK ING_STATUS_SUCCESS
static const struct fetch_case fetches[] = {
	{"a body", {OK, true, 200, NULL, false, 5, NULL}, 0, NULL, ING_STEP_EXAMINE, 0, NULL},
	{"226 counts as 200", {OK, true, 226, NULL, false, 5, NULL}, 0, NULL, ING_STEP_EXAMINE, 0,
		NULL},
	{"no byte", {OK, true, 200, NULL, false, 0, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_EMPTY_BLOB, NULL},
	{"404", {OK, true, 404, NULL, false, 5, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"404 cut short is still a 404",
		{ING_STATUS_TRUNCATED_BODY, true, 404, NULL, false, 5, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"403 with a page", {OK, true, 403, NULL, false, 5, "Text/HTML; charset=x"}, 0, NULL,
		ING_STEP_WALLS, 0, NULL},
	{"503 of no type", {OK, true, 503, NULL, false, 5, NULL}, 0, NULL, ING_STEP_WALLS, 0, NULL},
	{"429 that is no page", {OK, true, 429, NULL, false, 5, "application/json"}, 0, NULL,
		ING_STEP_END, ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"401 without a word", {OK, true, 401, NULL, false, 0, "text/html"}, 0, NULL, ING_STEP_END,
		ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"403 cut short", {ING_STATUS_TRUNCATED_BODY, true, 403, NULL, false, 5, "text/html"}, 0,
		NULL, ING_STEP_END, ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"206", {OK, true, 206, NULL, false, 5, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"300 is no redirect", {OK, true, 300, "/b", false, 5, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_TERMINAL_BAD_STATUS, NULL},
	{"relative", {OK, true, 302, "/b?c#d", false, 0, NULL}, 0, NULL, ING_STEP_REDIRECT, 0,
		"https://h.example/b?c"},
	{"other scheme of the web", {OK, true, 301, "http://o.example", false, 0, NULL}, 0, NULL,
		ING_STEP_REDIRECT, 0, "http://o.example/"},
	{"a redirect whose body was cut",
		{ING_STATUS_TRUNCATED_BODY, true, 303, "/b", false, 1, NULL}, 0, NULL,
		ING_STEP_REDIRECT, 0, "https://h.example/b"},
	{"no Location", {OK, true, 302, NULL, false, 0, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_BAD_REDIRECT, NULL},
	{"empty Location", {OK, true, 302, "", false, 0, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_BAD_REDIRECT, NULL},
	{"file:", {OK, true, 302, "file:///etc/passwd", false, 0, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_BAD_REDIRECT, NULL},
	{"ftp:", {OK, true, 302, "ftp://h.example/", false, 0, NULL}, 0, NULL, ING_STEP_END,
		ING_STATUS_BAD_REDIRECT, NULL},
	{"one too many", {OK, true, 302, "/b", false, 0, NULL}, 3, NULL, ING_STEP_END,
		ING_STATUS_REDIRECTS_EXCEEDED, NULL},
	{"the last allowed", {OK, true, 302, "/b", false, 0, NULL}, 2, NULL, ING_STEP_REDIRECT, 0,
		"https://h.example/b"},
	{"seen before", {OK, true, 307, "/b", false, 0, NULL}, 0, "https://h.example/b",
		ING_STEP_END, ING_STATUS_REDIRECT_LOOP, NULL},
	{"seen before, and a cookie set again", {OK, true, 308, "/b", true, 0, NULL}, 0,
		"https://h.example/b", ING_STEP_END, ING_STATUS_BLOCKED_COOKIE, NULL},
	{"no connection", {ING_STATUS_CONNECT_ERROR, false, 0, NULL, false, 0, NULL}, 0, NULL,
		ING_STEP_END, ING_STATUS_CONNECT_ERROR, NULL},
	{"guard", {ING_STATUS_BLOCKED_ADDRESS, false, 0, NULL, false, 0, NULL}, 0, NULL,
		ING_STEP_END, ING_STATUS_BLOCKED_ADDRESS, NULL},
	{"cut body", {ING_STATUS_TRUNCATED_BODY, true, 200, NULL, false, 9, NULL}, 0, NULL,
		ING_STEP_END, ING_STATUS_TRUNCATED_BODY, NULL},
	{"too large", {ING_STATUS_BODY_TOO_LARGE, true, 200, NULL, false, 9, NULL}, 0, NULL,
		ING_STEP_END, ING_STATUS_BODY_TOO_LARGE, NULL},
};

static void after_an_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fetches) / sizeof(fetches[0]); i++) {
		const struct fetch_case *c = &fetches[i];
		char known[64] = "";
		if (c->known != NULL)
			strncpy(known, c->known, sizeof(known) - 1);
		struct ing_hop_view v = {.url = "https://h.example/a",
			.redirects = c->redirects,
			.max_redirects = 3,
			.max_hops = 8,
			.visited = visited,
			.ctx = known};
		struct ing_decision d = ing_hop_after_fetch(&v, &c->answer);
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

struct exam_case {
	const char *name;
	enum ing_type type;
	enum ing_exam exam;
	const char *mimetype;
	uint64_t size;
	char *next;
	unsigned landings;
	const char *known;
	enum ing_step step;
	enum ing_status status;
	const char *url;
};

static char link_pdf[] = "https://h.example/x y.pdf";
static char link_js[] = "javascript:void(0)";
static const struct exam_case exams[] = {
	{"the document", ING_TYPE_PDF, ING_EXAM_OK, "application/pdf", 9, NULL, 0, NULL,
		ING_STEP_END, OK, NULL},
	{"a landing page", ING_TYPE_PDF, ING_EXAM_OK, "text/html", 9, link_pdf, 0, NULL,
		ING_STEP_LINK, 0, "https://h.example/x%20y.pdf"},
	{"XHTML", ING_TYPE_PDF, ING_EXAM_OK, "application/xhtml+xml", 9, link_pdf, 0, NULL,
		ING_STEP_LINK, 0, "https://h.example/x%20y.pdf"},
	{"no link", ING_TYPE_PDF, ING_EXAM_OK, "text/html", 9, NULL, 0, NULL, ING_STEP_END,
		ING_STATUS_NO_PDF_LINK, NULL},
	{"a link to nowhere", ING_TYPE_PDF, ING_EXAM_OK, "text/html", 9, link_js, 0, NULL,
		ING_STEP_END, ING_STATUS_NO_PDF_LINK, NULL},
	{"seen before", ING_TYPE_PDF, ING_EXAM_OK, "text/html", 9, link_pdf, 0,
		"https://h.example/x%20y.pdf", ING_STEP_END, ING_STATUS_LINK_LOOP, NULL},
	{"the last page allowed", ING_TYPE_PDF, ING_EXAM_OK, "text/html", 9, link_pdf, 1, NULL,
		ING_STEP_LINK, 0, "https://h.example/x%20y.pdf"},
	{"one page too many", ING_TYPE_PDF, ING_EXAM_OK, "text/html", 9, link_pdf, 2, NULL,
		ING_STEP_END, ING_STATUS_MAX_HOPS_EXCEEDED, NULL},
	{"an image", ING_TYPE_PDF, ING_EXAM_OK, "image/png", 9, NULL, 0, NULL, ING_STEP_END,
		ING_STATUS_WRONG_MIMETYPE, NULL},
	{"a page, as asked", ING_TYPE_HTML, ING_EXAM_OK, "text/html", 9, link_pdf, 0, NULL,
		ING_STEP_END, OK, NULL},
	{"a PDF for a page", ING_TYPE_HTML, ING_EXAM_OK, "application/pdf", 9, NULL, 0, NULL,
		ING_STEP_END, ING_STATUS_WRONG_MIMETYPE, NULL},
	{"nothing after decoding", ING_TYPE_PDF, ING_EXAM_OK, "application/x-empty", 0, NULL, 0,
		NULL, ING_STEP_END, ING_STATUS_EMPTY_BLOB, NULL},
	{"coding", ING_TYPE_PDF, ING_EXAM_BAD_ENCODING, "", 0, NULL, 0, NULL, ING_STEP_END,
		ING_STATUS_BAD_CONTENT_ENCODING, NULL},
	{"bomb", ING_TYPE_PDF, ING_EXAM_TOO_LARGE, "", 0, NULL, 0, NULL, ING_STEP_END,
		ING_STATUS_BODY_TOO_LARGE, NULL},
	{"crash", ING_TYPE_PDF, ING_EXAM_CRASH, "", 0, NULL, 0, NULL, ING_STEP_END,
		ING_STATUS_PARSE_CRASH, NULL},
	{"hang", ING_TYPE_PDF, ING_EXAM_TIMEOUT, "", 0, NULL, 0, NULL, ING_STEP_END,
		ING_STATUS_PARSE_TIMEOUT, NULL},
};

static void after_looking_at_a_body(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(exams) / sizeof(exams[0]); i++) {
		const struct exam_case *c = &exams[i];
		char known[64] = "";
		if (c->known != NULL)
			strncpy(known, c->known, sizeof(known) - 1);
		struct ing_hop_view v = {.url = "https://h.example/a",
			.landings = c->landings,
			.max_hops = 2,
			.max_redirects = 3,
			.visited = visited,
			.ctx = known};
		struct ing_request r = {.type = c->type};
		struct ing_findings f = {.exam = c->exam};
		strncpy(f.file.mimetype, c->mimetype, sizeof(f.file.mimetype) - 1);
		f.file.size_bytes = c->size;
		f.page.links[ING_LINK_PDF].url = c->next;
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
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

static void expectations_are_honoured(void **state)
{
	(void)state;
	const char *mimetypes[] = {"application/pdf", NULL};
	struct ing_hop_view v = {.url = "x", .max_hops = 2, .visited = visited};
	struct ing_findings f = {.exam = ING_EXAM_OK,
		.file = {.mimetype = "text/html",
			.sha1hex = "aa00000000000000000000000000000000000000",
			.size_bytes = 1}};
	struct ing_request r = {.type = ING_TYPE_HTML, .expect_mimetypes = mimetypes};
	assert_int_equal(ing_hop_after_examine(&v, &r, &f).status, ING_STATUS_WRONG_MIMETYPE);
	r = (struct ing_request){
		.type = ING_TYPE_HTML, .expect_sha1 = "AA00000000000000000000000000000000000000"};
	assert_int_equal(ing_hop_after_examine(&v, &r, &f).status, ING_STATUS_SUCCESS);
	assert_true(ing_hop_hash_expected(&r, &f.file));
	r.expect_sha1 = "bb00000000000000000000000000000000000000";
	assert_false(ing_hop_hash_expected(&r, &f.file));
}

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
		struct ing_decision d = ing_hop_start(cases[i].base_url, NULL, NULL);
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
	assert_int_equal(ing_hop_start(url, NULL, NULL).status, ING_STATUS_INVALID_URL);
}

/* What a URL is, by a word in it; "/pass" makes it a place that one may be sent through. */
static struct ing_url_finding judge(void *ctx, const char *url)
{
	(void)ctx;
	struct ing_url_finding f = {.verdict = ING_URL_NONE, .why = "so"};
	f.only_at_end = strstr(url, "/pass") != NULL;
	if (strstr(url, "/listed") != NULL)
		f.verdict = ING_URL_BLOCKLIST;
	else if (strstr(url, "/wall") != NULL)
		f.verdict = ING_URL_WALL;
	else if (strstr(url, "/cookie") != NULL)
		f.verdict = ING_URL_COOKIE;
	else if (strstr(url, "/captcha") != NULL)
		f.verdict = ING_URL_CAPTCHA;
	else if (strstr(url, "/signin") != NULL)
		f.verdict = ING_URL_LOGIN;
	else if (strstr(url, "/check") != NULL)
		f.verdict = ING_URL_CHALLENGE;
	return f;
}

/* The URL is known and both limits are reached, so that whatever the rules do not stop ends
 * otherwise: the rules come first. */
static struct ing_hop_view judged_view(const char *url, char *known)
{
	return (struct ing_hop_view){
		.url = url, .visited = visited, .verdict = judge, .ctx = known};
}

static void rules_come_before_loops_and_limits(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		enum ing_status start, redirect, link;
	} cases[] = {
		{"/listed", ING_STATUS_SKIP_URL_BLOCKLIST, ING_STATUS_SKIP_URL_BLOCKLIST,
			ING_STATUS_SKIP_URL_BLOCKLIST},
		{"/wall", ING_STATUS_SKIP_WALL, ING_STATUS_BLOCKED_WALL, ING_STATUS_SKIP_WALL},
		{"/cookie", ING_STATUS_BLOCKED_COOKIE, ING_STATUS_BLOCKED_COOKIE,
			ING_STATUS_BLOCKED_COOKIE},
		{"/captcha", ING_STATUS_SKIP_WALL, ING_STATUS_BLOCKED_CAPTCHA,
			ING_STATUS_SKIP_WALL},
		{"/signin", ING_STATUS_SKIP_WALL, ING_STATUS_BLOCKED_LOGIN, ING_STATUS_SKIP_WALL},
		{"/check", ING_STATUS_SKIP_WALL, ING_STATUS_BLOCKED_CHALLENGE,
			ING_STATUS_SKIP_WALL},
		{"/pass/wall", OK, ING_STATUS_REDIRECTS_EXCEEDED, ING_STATUS_LINK_LOOP},
		{"/pass/cookie", OK, ING_STATUS_REDIRECTS_EXCEEDED, ING_STATUS_LINK_LOOP},
		{"/free", OK, ING_STATUS_REDIRECTS_EXCEEDED, ING_STATUS_LINK_LOOP},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char url[64] = "https://h.example";
		strncat(url, cases[i].path, 40);
		struct ing_decision d = ing_hop_start(url, judge, NULL);
		assert_int_equal(d.step, cases[i].start == OK ? ING_STEP_LINK : ING_STEP_END);
		assert_int_equal(d.status, cases[i].start);
		assert_int_equal(d.url == NULL, cases[i].start != OK);
		free(d.url);

		struct ing_hop_view v = judged_view("https://h.example/a", url);
		struct ing_answer a = {OK, true, 302, url, false, 0, NULL};
		d = ing_hop_after_fetch(&v, &a);
		assert_int_equal(d.step, ING_STEP_END);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].redirect));
		assert_null(d.url);
		if (strcmp(cases[i].path, "/wall") == 0)
			assert_string_equal(d.words, "so");

		struct ing_request r = {.type = ING_TYPE_PDF};
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page.links[ING_LINK_PDF].url = url};
		d = ing_hop_after_examine(&v, &r, &f);
		assert_int_equal(d.step, ING_STEP_END);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].link));
		assert_null(d.url);
	}
}

struct page_case {
	const char *name;
	enum ing_type type;
	struct ing_page_link pdf, html, next;
	enum ing_wall wall;
	const char *known;
	enum ing_step step;
	enum ing_status status;
	const char *url;
};

static char a_pdf[] = "https://h.example/a.pdf";
static char a_page[] = "https://h.example/full";
static char a_way[] = "https://h.example/way";
static char itself[] = "https://h.example/a";
static char how[] = "how";
#define NONE                                                                                       \
	{                                                                                          \
		NULL, NULL, NULL, false, 0                                                         \
	}
#define LINK(u)                                                                                    \
	{                                                                                          \
		u, how, NULL, false, 0                                                             \
	}
#define SELF                                                                                       \
	{                                                                                          \
		itself, how, NULL, true, 0                                                         \
	}
#define PDF ING_TYPE_PDF
#define HTML ING_TYPE_HTML
static const struct page_case pages[] = {
	{"a link before a site's rule", PDF, LINK(a_pdf), NONE, LINK(a_way), 0, NULL, ING_STEP_LINK,
		0, a_pdf},
	{"a site's rule without a link", PDF, NONE, LINK(a_page), LINK(a_way), 0, NULL,
		ING_STEP_LINK, 0, a_way},
	{"a site's rule before the page itself", PDF, SELF, NONE, LINK(a_way), 0, NULL,
		ING_STEP_LINK, 0, a_way},
	{"only itself", PDF, SELF, NONE, NONE, 0, itself, ING_STEP_END, ING_STATUS_LINK_LOOP, NULL},
	{"no wall that names the document", PDF, LINK(a_pdf), NONE, NONE, ING_WALL_COOKIE, NULL,
		ING_STEP_LINK, 0, a_pdf},
	{"a wall of cookies", PDF, NONE, NONE, NONE, ING_WALL_COOKIE, NULL, ING_STEP_END,
		ING_STATUS_BLOCKED_COOKIE, NULL},
	{"a captcha that names itself", PDF, SELF, NONE, NONE, ING_WALL_CAPTCHA, itself,
		ING_STEP_END, ING_STATUS_BLOCKED_CAPTCHA, NULL},
	{"a login", PDF, NONE, LINK(a_page), NONE, ING_WALL_LOGIN, NULL, ING_STEP_END,
		ING_STATUS_BLOCKED_LOGIN, NULL},
	{"a challenge", HTML, LINK(a_pdf), NONE, NONE, ING_WALL_CHALLENGE, NULL, ING_STEP_END,
		ING_STATUS_BLOCKED_CHALLENGE, NULL},
	{"the full text elsewhere", HTML, LINK(a_pdf), LINK(a_page), LINK(a_way), 0, NULL,
		ING_STEP_LINK, 0, a_page},
	{"the full text here", HTML, NONE, SELF, NONE, 0, NULL, ING_STEP_END, OK, NULL},
	{"the full text where we were", HTML, NONE, LINK(a_page), NONE, 0, a_page, ING_STEP_END, OK,
		NULL},
	{"a page for a page", HTML, LINK(a_pdf), NONE, LINK(a_way), 0, NULL, ING_STEP_END, OK,
		NULL},
	{"no wall that names the full text", HTML, NONE, LINK(a_page), NONE, ING_WALL_LOGIN, NULL,
		ING_STEP_LINK, 0, a_page},
};

static void where_a_page_leads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const struct page_case *c = &pages[i];
		char known[64] = "";
		char why[] = "why";
		if (c->known != NULL)
			strncpy(known, c->known, sizeof(known) - 1);
		struct ing_hop_view v = {
			.url = itself, .max_hops = 2, .visited = visited, .ctx = known};
		struct ing_request r = {.type = c->type};
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page = {.next = c->next, .wall = c->wall, .wall_why = why}};
		f.page.links[ING_LINK_PDF] = c->pdf;
		f.page.links[ING_LINK_HTML] = c->html;
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		if (d.step != c->step || (d.step == ING_STEP_END && d.status != c->status))
			fail_msg("%s: step %d, status %s", c->name, d.step,
				ing_status_slug(d.status));
		if (c->url != NULL)
			assert_string_equal(d.url, c->url);
		else
			assert_null(d.url);
		if (d.step == ING_STEP_END && c->wall != ING_WALL_NONE)
			assert_string_equal(d.words, "why");
		free(d.url);
	}
}

static void a_bad_status_may_be_a_wall(void **state)
{
	(void)state;
	char why[] = "why";
	struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
		.page = {.wall = ING_WALL_CHALLENGE, .wall_why = why}};
	struct ing_decision d = ing_hop_after_walls(&f);
	assert_int_equal(d.step, ING_STEP_END);
	assert_int_equal(d.status, ING_STATUS_BLOCKED_CHALLENGE);
	assert_string_equal(d.words, "why");
	f.exam = ING_EXAM_CRASH;
	assert_int_equal(ing_hop_after_walls(&f).status, ING_STATUS_TERMINAL_BAD_STATUS);
	f.exam = ING_EXAM_OK;
	f.page.wall = ING_WALL_NONE;
	assert_int_equal(ing_hop_after_walls(&f).status, ING_STATUS_TERMINAL_BAD_STATUS);
}

static void a_chain_that_ends_with_a_page_of_a_wall(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		enum ing_type type;
		const char *mimetype;
		enum ing_status status;
	} cases[] = {
		{"https://h.example/pass/wall", ING_TYPE_PDF, "text/html", ING_STATUS_BLOCKED_WALL},
		{"https://h.example/pass/captcha", ING_TYPE_PDF, "text/html",
			ING_STATUS_BLOCKED_CAPTCHA},
		{"https://h.example/pass/cookie", ING_TYPE_PDF, "text/html",
			ING_STATUS_BLOCKED_COOKIE},
		{"https://h.example/pass/cookie", ING_TYPE_HTML, "text/html",
			ING_STATUS_BLOCKED_COOKIE},
		{"https://h.example/pass/cookie", ING_TYPE_PDF, "application/pdf", OK},
		{"https://h.example/pass", ING_TYPE_PDF, "text/html", ING_STATUS_NO_PDF_LINK},
		{"https://h.example/pass", ING_TYPE_HTML, "text/html", OK},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_hop_view v = judged_view(cases[i].url, NULL);
		struct ing_request r = {.type = cases[i].type};
		struct ing_findings f = {.file.size_bytes = 1};
		strncpy(f.file.mimetype, cases[i].mimetype, sizeof(f.file.mimetype) - 1);
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		assert_int_equal(d.step, ING_STEP_END);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].status));
	}
}

/* Nobody who reads a result, an archive or another server's log needs to know a password. */
static void user_information_goes_no_further(void **state)
{
	(void)state;
	static const struct {
		const char *url, *clean;
		bool dropped;
	} cases[] = {
		{"https://user:pw@h.example/a?b@c", "https://h.example/a?b@c", true},
		{"https://user@h.example:8080", "https://h.example:8080/", true},
		{"https://:pw@[::1]/", "https://[::1]/", true},
		{"https://a@b:c@h.example/", "https://h.example/", true},
		{"https://@h.example/", "https://h.example/", false},
		{"https://h.example/@a", "https://h.example/@a", false},
		{"https://h.example?a@b", "https://h.example/?a@b", false},
		{"https://h.example#a@b", "https://h.example/", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_decision d = ing_hop_start(cases[i].url, NULL, NULL);
		assert_string_equal(d.url, cases[i].clean);
		assert_int_equal(d.dropped_userinfo, cases[i].dropped);
		free(d.url);

		struct ing_hop_view v = {.url = "https://o.example/",
			.max_hops = 1,
			.max_redirects = 1,
			.visited = visited};
		struct ing_answer a = {OK, true, 302, cases[i].url, false, 0, NULL};
		d = ing_hop_after_fetch(&v, &a);
		assert_string_equal(d.url, cases[i].clean);
		assert_int_equal(d.dropped_userinfo, cases[i].dropped);
		free(d.url);

		struct ing_request r = {.type = ING_TYPE_PDF};
		char link[64];
		strncpy(link, cases[i].url, sizeof(link) - 1);
		link[sizeof(link) - 1] = '\0';
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page.links[ING_LINK_PDF].url = link};
		d = ing_hop_after_examine(&v, &r, &f);
		assert_string_equal(d.url, cases[i].clean);
		assert_int_equal(d.dropped_userinfo, cases[i].dropped);
		free(d.url);
	}
}

static void rules_may_change_while_a_url_waits(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		enum ing_hop_via via;
		enum ing_status status; /* SUCCESS: go on */
	} cases[] = {
		{"https://r.example/fine", ING_VIA_START, ING_STATUS_SUCCESS},
		{"https://r.example/listed", ING_VIA_AGAIN, ING_STATUS_SKIP_URL_BLOCKLIST},
		{"https://r.example/wall", ING_VIA_LINK, ING_STATUS_SKIP_WALL},
		{"https://r.example/wall", ING_VIA_REDIRECT, ING_STATUS_BLOCKED_WALL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_decision d = ing_hop_recheck(cases[i].url, cases[i].via, judge, NULL);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].status));
		assert_int_equal(d.step,
			cases[i].status == ING_STATUS_SUCCESS ? ING_STEP_LINK : ING_STEP_END);
		assert_null(d.url);
		assert_int_equal(ing_hop_recheck(cases[i].url, cases[i].via, NULL, NULL).step,
			ING_STEP_LINK);
	}
}

static void endless_redirects_that_all_set_cookies_are_about_cookies(void **state)
{
	(void)state;
	static const struct {
		unsigned cookie_redirects;
		bool set_cookie;
		enum ing_status status;
	} cases[] = {
		{3, true, ING_STATUS_BLOCKED_COOKIE},
		{3, false, ING_STATUS_REDIRECTS_EXCEEDED},
		{2, true, ING_STATUS_REDIRECTS_EXCEEDED},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_hop_view v = {.url = "https://h.example/a",
			.redirects = 3,
			.cookie_redirects = cases[i].cookie_redirects,
			.max_redirects = 3,
			.visited = visited};
		struct ing_answer a = {OK, true, 302, "/b", cases[i].set_cookie, 0, NULL};
		struct ing_decision d = ing_hop_after_fetch(&v, &a);
		assert_int_equal(d.step, ING_STEP_END);
		assert_int_equal(d.status, cases[i].status);
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
		char *to = ing_hop_redirect_target("https://o.example/a", location, &dropped);
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
		cmocka_unit_test(after_an_answer),
		cmocka_unit_test(endless_redirects_that_all_set_cookies_are_about_cookies),
		cmocka_unit_test(after_looking_at_a_body),
		cmocka_unit_test(expectations_are_honoured),
		cmocka_unit_test(where_a_request_may_start),
		cmocka_unit_test(rules_come_before_loops_and_limits),
		cmocka_unit_test(where_a_page_leads),
		cmocka_unit_test(a_bad_status_may_be_a_wall),
		cmocka_unit_test(a_chain_that_ends_with_a_page_of_a_wall),
		cmocka_unit_test(user_information_goes_no_further),
		cmocka_unit_test(rules_may_change_while_a_url_waits),
		cmocka_unit_test(a_start_over_eight_kibibytes_is_no_start),
		cmocka_unit_test(a_location_is_read_up_to_a_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
