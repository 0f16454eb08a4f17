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

#include "tests/unit/worker/visit/judge.h"
#include "common/base/macros.h"
#include "worker/job/hop.h"
#include "worker/model/limits.h"

#define OK ING_STATUS_SUCCESS

static bool asked_before(void *ctx, const char *url)
{
	const char *known = ctx;
	return known != NULL && strcmp(known, url) == 0;
}

struct exam_case {
	const char *name;
	enum ing_ingest_type type;
	enum ing_exam exam;
	const char *mimetype; /* NULL: not known */
	bool empty;           /* the body */
	char *next;           /* the page's PDF link */
	unsigned landings;
	const char *known;
	enum ing_step step;
	enum ing_status status;
	const char *url;
};

static char link_pdf[] = "https://h.example/x y.pdf";
static char link_js[] = "javascript:void(0)";
static const struct exam_case exams[] = {
	{.name = "the document",
		.type = ING_INGEST_PDF,
		.mimetype = "application/pdf",
		.status = OK},
	{.name = "a landing page",
		.type = ING_INGEST_PDF,
		.mimetype = "text/html",
		.next = link_pdf,
		.step = ING_STEP_LINK,
		.url = "https://h.example/x%20y.pdf"},
	{.name = "XHTML",
		.type = ING_INGEST_PDF,
		.mimetype = "application/xhtml+xml",
		.next = link_pdf,
		.step = ING_STEP_LINK,
		.url = "https://h.example/x%20y.pdf"},
	{.name = "no link",
		.type = ING_INGEST_PDF,
		.mimetype = "text/html",
		.status = ING_STATUS_NO_PDF_LINK},
	{.name = "a link to nowhere",
		.type = ING_INGEST_PDF,
		.mimetype = "text/html",
		.next = link_js,
		.status = ING_STATUS_NO_PDF_LINK},
	{.name = "seen before",
		.type = ING_INGEST_PDF,
		.mimetype = "text/html",
		.next = link_pdf,
		.known = "https://h.example/x%20y.pdf",
		.status = ING_STATUS_LINK_LOOP},
	{.name = "the last page allowed",
		.type = ING_INGEST_PDF,
		.mimetype = "text/html",
		.next = link_pdf,
		.landings = 1,
		.step = ING_STEP_LINK,
		.url = "https://h.example/x%20y.pdf"},
	{.name = "one page too many",
		.type = ING_INGEST_PDF,
		.mimetype = "text/html",
		.next = link_pdf,
		.landings = 2,
		.status = ING_STATUS_MAX_HOPS_EXCEEDED},
	{.name = "an image",
		.type = ING_INGEST_PDF,
		.mimetype = "image/png",
		.status = ING_STATUS_WRONG_MIMETYPE},
	{.name = "a page, as asked",
		.type = ING_INGEST_HTML,
		.mimetype = "text/html",
		.next = link_pdf,
		.status = OK},
	{.name = "a PDF for a page",
		.type = ING_INGEST_HTML,
		.mimetype = "application/pdf",
		.status = ING_STATUS_WRONG_MIMETYPE},
	{.name = "a source file",
		.type = ING_INGEST_SRC,
		.mimetype = "application/x-tar",
		.status = OK},
	{.name = "a page for a source file",
		.type = ING_INGEST_SRC,
		.mimetype = "text/html",
		.next = link_pdf,
		.status = ING_STATUS_WRONG_MIMETYPE},
	{.name = "a component that is XML",
		.type = ING_INGEST_COMPONENT,
		.mimetype = "application/xml",
		.status = OK},
	{.name = "a page without a component",
		.type = ING_INGEST_COMPONENT,
		.mimetype = "text/html",
		.next = link_pdf,
		.status = ING_STATUS_WRONG_MIMETYPE},
	{.name = "nothing after decoding",
		.type = ING_INGEST_PDF,
		.mimetype = "application/x-empty",
		.empty = true,
		.status = ING_STATUS_EMPTY_BLOB},
	{.name = "coding",
		.type = ING_INGEST_PDF,
		.exam = ING_EXAM_BAD_ENCODING,
		.status = ING_STATUS_BAD_CONTENT_ENCODING},
	{.name = "bomb",
		.type = ING_INGEST_PDF,
		.exam = ING_EXAM_TOO_LARGE,
		.status = ING_STATUS_BODY_TOO_LARGE},
	{.name = "crash",
		.type = ING_INGEST_PDF,
		.exam = ING_EXAM_CRASH,
		.status = ING_STATUS_PARSE_CRASH},
	{.name = "hang",
		.type = ING_INGEST_PDF,
		.exam = ING_EXAM_TIMEOUT,
		.status = ING_STATUS_PARSE_TIMEOUT},
};

/* Of a page that an html request may end at. */
static char full_text[] = "article-fulltext";

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
			.asked_before = asked_before,
			.ctx = known};
		struct ing_request r = {.type = c->type};
		struct ing_findings f = {.exam = c->exam};
		if (c->mimetype != NULL)
			strncpy(f.file.mimetype, c->mimetype, sizeof(f.file.mimetype) - 1);
		f.file.size_bytes = c->empty ? 0 : 9;
		f.page.links[ING_LINK_PDF].url = c->next;
		f.page.scope = full_text;
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		if (d.step != c->step || (d.step == ING_STEP_END && d.status != c->status))
			fail_msg("%s: step %d, status %s", c->name, d.step,
				ing_status_slug(d.status));
		if (d.step == ING_STEP_END)
			assert_int_equal(
				d.is_document, d.status == ING_STATUS_SUCCESS ||
						       d.status == ING_STATUS_WRONG_MIMETYPE);
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
	struct ing_hop_view v = {.url = "x", .max_hops = 2, .asked_before = asked_before};
	struct ing_findings f = {.exam = ING_EXAM_OK,
		.file = {.mimetype = "text/html",
			.sha1hex = "aa00000000000000000000000000000000000000",
			.size_bytes = 1},
		.page.scope = full_text};
	struct ing_request r = {.type = ING_INGEST_HTML, .expect_mimetypes = mimetypes};
	assert_int_equal(ing_hop_after_examine(&v, &r, &f).status, ING_STATUS_WRONG_MIMETYPE);
	r = (struct ing_request){
		.type = ING_INGEST_HTML, .expect_sha1 = "AA00000000000000000000000000000000000000"};
	assert_int_equal(ing_hop_after_examine(&v, &r, &f).status, ING_STATUS_SUCCESS);
	assert_true(ing_hop_hash_matches(&r, &f.file));
	r.expect_sha1 = "bb00000000000000000000000000000000000000";
	assert_false(ing_hop_hash_matches(&r, &f.file));
}

/* The URL is known and both limits are reached, so that whatever the rules do not stop ends
 * otherwise: the rules come first. */
static struct ing_hop_view judged_view(const char *url, char *known)
{
	return (struct ing_hop_view){
		.url = url, .asked_before = asked_before, .verdict = judge_by_words, .ctx = known};
}

static void rules_come_before_loops_and_limits(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		enum ing_status status;
	} cases[] = {
		{"/listed", ING_STATUS_SKIP_URL_BLOCKLIST},
		{"/wall", ING_STATUS_SKIP_WALL},
		{"/cookie", ING_STATUS_BLOCKED_COOKIE},
		{"/captcha", ING_STATUS_SKIP_WALL},
		{"/signin", ING_STATUS_SKIP_WALL},
		{"/check", ING_STATUS_SKIP_WALL},
		{"/pass/wall", ING_STATUS_LINK_LOOP},
		{"/pass/cookie", ING_STATUS_LINK_LOOP},
		{"/free", ING_STATUS_LINK_LOOP},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char url[64] = "https://h.example";
		strncat(url, cases[i].path, 40);
		struct ing_hop_view v = judged_view("https://h.example/a", url);
		struct ing_request r = {.type = ING_INGEST_PDF};
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page.links[ING_LINK_PDF].url = url};
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		assert_int_equal(d.step, ING_STEP_END);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].status));
		assert_null(d.url);
		if (strcmp(cases[i].path, "/wall") == 0)
			assert_string_equal(d.detail, "so");
	}
}

struct page_case {
	const char *name;
	enum ing_ingest_type type;
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
#define LINK(u)                                                                                    \
	{                                                                                          \
		.url = u, .technique = how                                                         \
	}
#define SELF                                                                                       \
	{                                                                                          \
		.url = itself, .technique = how, .self = true                                      \
	}
#define PDF ING_INGEST_PDF
#define HTML ING_INGEST_HTML
static const struct page_case pages[] = {
	{.name = "a link before a site's rule",
		.type = PDF,
		.pdf = LINK(a_pdf),
		.next = LINK(a_way),
		.step = ING_STEP_LINK,
		.url = a_pdf},
	{.name = "a site's rule without a link",
		.type = PDF,
		.html = LINK(a_page),
		.next = LINK(a_way),
		.step = ING_STEP_LINK,
		.url = a_way},
	{.name = "a site's rule before the page itself",
		.type = PDF,
		.pdf = SELF,
		.next = LINK(a_way),
		.step = ING_STEP_LINK,
		.url = a_way},
	{.name = "only itself",
		.type = PDF,
		.pdf = SELF,
		.known = itself,
		.status = ING_STATUS_LINK_LOOP},
	{.name = "no wall that names the document",
		.type = PDF,
		.pdf = LINK(a_pdf),
		.wall = ING_WALL_COOKIE,
		.step = ING_STEP_LINK,
		.url = a_pdf},
	{.name = "a wall of cookies",
		.type = PDF,
		.wall = ING_WALL_COOKIE,
		.status = ING_STATUS_BLOCKED_COOKIE},
	{.name = "a captcha that names itself",
		.type = PDF,
		.pdf = SELF,
		.wall = ING_WALL_CAPTCHA,
		.known = itself,
		.status = ING_STATUS_BLOCKED_CAPTCHA},
	{.name = "a login",
		.type = PDF,
		.html = LINK(a_page),
		.wall = ING_WALL_LOGIN,
		.status = ING_STATUS_BLOCKED_LOGIN},
	{.name = "a challenge",
		.type = HTML,
		.pdf = LINK(a_pdf),
		.wall = ING_WALL_CHALLENGE,
		.status = ING_STATUS_BLOCKED_CHALLENGE},
	{.name = "the full text elsewhere",
		.type = HTML,
		.pdf = LINK(a_pdf),
		.html = LINK(a_page),
		.next = LINK(a_way),
		.step = ING_STEP_LINK,
		.url = a_page},
	{.name = "the full text here", .type = HTML, .html = SELF, .status = OK},
	{.name = "the full text where we were",
		.type = HTML,
		.html = LINK(a_page),
		.known = a_page,
		.status = OK},
	{.name = "a page for a page",
		.type = HTML,
		.pdf = LINK(a_pdf),
		.next = LINK(a_way),
		.status = OK},
	{.name = "no wall that names the full text",
		.type = HTML,
		.html = LINK(a_page),
		.wall = ING_WALL_LOGIN,
		.step = ING_STEP_LINK,
		.url = a_page},
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
			.url = itself, .max_hops = 2, .asked_before = asked_before, .ctx = known};
		struct ing_request r = {.type = c->type};
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page = {.next = c->next,
				.wall = c->wall,
				.wall_detail = why,
				.scope = full_text}};
		f.page.links[ING_LINK_PDF] = c->pdf;
		f.page.links[ING_LINK_HTML] = c->html;
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		if (d.step != c->step || (d.step == ING_STEP_END && d.status != c->status))
			fail_msg("%s: step %d, status %s", c->name, d.step,
				ing_status_slug(d.status));
		if (d.step == ING_STEP_END)
			assert_int_equal(
				d.is_document, d.status == ING_STATUS_SUCCESS ||
						       d.status == ING_STATUS_WRONG_MIMETYPE);
		if (c->url != NULL)
			assert_string_equal(d.url, c->url);
		else
			assert_null(d.url);
		if (d.step == ING_STEP_END && c->wall != ING_WALL_NONE)
			assert_string_equal(d.detail, "why");
		free(d.url);
	}
}

/* What is on a page decides whether it is the document that an html request asks for. A document it is
 * in any case. */
static void a_page_is_judged_by_its_scope(void **state)
{
	(void)state;
	static const struct {
		const char *scope;
		enum ing_page_status read;
		bool led_here; /* the page's link to the full text was asked for */
		uint32_t words;
		enum ing_status status;
		const char *detail, *scope_after;
	} cases[] = {
		{.scope = "article-fulltext", .status = OK},
		{.scope = "unknown", .status = ING_STATUS_UNKNOWN_SCOPE},
		{.scope = "unknown",
			.read = ING_PAGE_PART,
			.status = ING_STATUS_UNKNOWN_SCOPE,
			.detail = "the page is too costly to read whole; only its beginning was"},
		{.scope = NULL,
			.read = ING_PAGE_TOO_LARGE,
			.status = ING_STATUS_UNKNOWN_SCOPE,
			.detail = "the page is over scrape.max_bytes and was not read"},
		{.scope = "landingpage", .words = 5000, .status = ING_STATUS_WRONG_SCOPE},
		{.scope = "landingpage",
			.led_here = true,
			.words = 1201,
			.status = OK,
			.scope_after = "article-fulltext"},
		{.scope = "landingpage",
			.led_here = true,
			.words = 1200,
			.status = ING_STATUS_WRONG_SCOPE},
		{.scope = "article-abstract",
			.led_here = true,
			.words = 5000,
			.status = ING_STATUS_WRONG_SCOPE},
		{.scope = "errorpage", .status = ING_STATUS_WRONG_SCOPE},
		{.scope = "of which nobody has heard", .status = ING_STATUS_WRONG_SCOPE},
		{.scope = "blocked-paywall", .status = ING_STATUS_BLOCKED_PAYWALL},
		{.scope = "blocked-forbidden", .status = ING_STATUS_BLOCKED_FORBIDDEN},
		{.scope = "blocked-login", .status = ING_STATUS_BLOCKED_LOGIN},
		{.scope = "blocked-cookie", .status = ING_STATUS_BLOCKED_COOKIE},
		{.scope = "blocked-captcha", .status = ING_STATUS_BLOCKED_CAPTCHA},
	};
	const struct ing_request r = {.type = HTML};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char known[64] = "https://h.example/full";
		const struct ing_hop_view v = {
			.url = itself, .max_hops = 2, .asked_before = asked_before, .ctx = known};
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page.status = cases[i].read,
			.text.word_count = cases[i].words};
		if (cases[i].scope != NULL)
			f.page.scope = ing_strdup(cases[i].scope);
		if (cases[i].led_here)
			f.page.links[ING_LINK_HTML].url = known;
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		assert_int_equal(d.step, ING_STEP_END);
		assert_string_equal(ing_status_slug(d.status), ing_status_slug(cases[i].status));
		assert_true(d.is_document);
		assert_true((d.detail == NULL) == (cases[i].detail == NULL));
		if (d.detail != NULL)
			assert_string_equal(d.detail, cases[i].detail);
		if (cases[i].scope_after != NULL)
			assert_string_equal(f.page.scope, cases[i].scope_after);
		free(f.page.scope);
	}
}

/* Examiners read it as HTML; what they find in it leads nowhere and is no wall. */
static void xml_in_place_of_a_page_is_the_wrong_type(void **state)
{
	(void)state;
	char known[] = "";
	char why[] = "why";
	const struct ing_request r = {.type = HTML};
	const struct ing_hop_view v = {.url = "https://h.example/pass/wall",
		.max_hops = 2,
		.asked_before = asked_before,
		.verdict = judge_by_words,
		.ctx = known};
	struct ing_findings f = {.file = {.mimetype = "application/xml", .size_bytes = 1}};
	assert_int_equal(ing_hop_after_examine(&v, &r, &f).status, ING_STATUS_WRONG_MIMETYPE);
	f.page = (struct ing_page){.wall = ING_WALL_LOGIN, .wall_detail = why};
	assert_int_equal(ing_hop_after_examine(&v, &r, &f).status, ING_STATUS_WRONG_MIMETYPE);
	f.page = (struct ing_page){.links[ING_LINK_HTML] = LINK(a_page)};
	struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
	assert_int_equal(d.step, ING_STEP_END);
	assert_int_equal(d.status, ING_STATUS_WRONG_MIMETYPE);
}

static void a_bad_status_may_be_a_wall(void **state)
{
	(void)state;
	char why[] = "why";
	struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
		.page = {.wall = ING_WALL_CHALLENGE, .wall_detail = why}};
	struct ing_decision d = ing_hop_after_walls(&f);
	assert_int_equal(d.step, ING_STEP_END);
	assert_int_equal(d.status, ING_STATUS_BLOCKED_CHALLENGE);
	assert_string_equal(d.detail, "why");
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
		enum ing_ingest_type type;
		const char *mimetype;
		enum ing_status status;
	} cases[] = {
		{.url = "https://h.example/pass/wall",
			.type = ING_INGEST_PDF,
			.mimetype = "text/html",
			.status = ING_STATUS_BLOCKED_WALL},
		{.url = "https://h.example/pass/captcha",
			.type = ING_INGEST_PDF,
			.mimetype = "text/html",
			.status = ING_STATUS_BLOCKED_CAPTCHA},
		{.url = "https://h.example/pass/cookie",
			.type = ING_INGEST_PDF,
			.mimetype = "text/html",
			.status = ING_STATUS_BLOCKED_COOKIE},
		{.url = "https://h.example/pass/cookie",
			.type = ING_INGEST_HTML,
			.mimetype = "text/html",
			.status = ING_STATUS_BLOCKED_COOKIE},
		{.url = "https://h.example/pass/cookie",
			.type = ING_INGEST_PDF,
			.mimetype = "application/pdf",
			.status = OK},
		{.url = "https://h.example/pass",
			.type = ING_INGEST_PDF,
			.mimetype = "text/html",
			.status = ING_STATUS_NO_PDF_LINK},
		{.url = "https://h.example/pass",
			.type = ING_INGEST_HTML,
			.mimetype = "text/html",
			.status = OK},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_hop_view v = judged_view(cases[i].url, NULL);
		struct ing_request r = {.type = cases[i].type};
		struct ing_findings f = {.file.size_bytes = 1, .page.scope = full_text};
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
		{.url = "https://user:pw@h.example/a?b@c",
			.clean = "https://h.example/a?b@c",
			.dropped = true},
		{.url = "https://user@h.example:8080",
			.clean = "https://h.example:8080/",
			.dropped = true},
		{.url = "https://:pw@[::1]/", .clean = "https://[::1]/", .dropped = true},
		{.url = "https://a@b:c@h.example/", .clean = "https://h.example/", .dropped = true},
		{.url = "https://@h.example/", .clean = "https://h.example/"},
		{.url = "https://h.example/@a", .clean = "https://h.example/@a"},
		{.url = "https://h.example?a@b", .clean = "https://h.example/?a@b"},
		{.url = "https://h.example#a@b", .clean = "https://h.example/"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_hop_view v = {
			.url = "https://o.example/", .max_hops = 1, .asked_before = asked_before};
		struct ing_request r = {.type = ING_INGEST_PDF};
		char link[64];
		strncpy(link, cases[i].url, sizeof(link) - 1);
		link[sizeof(link) - 1] = '\0';
		struct ing_findings f = {.file = {.mimetype = "text/html", .size_bytes = 1},
			.page.links[ING_LINK_PDF].url = link};
		struct ing_decision d = ing_hop_after_examine(&v, &r, &f);
		assert_string_equal(d.url, cases[i].clean);
		assert_int_equal(d.dropped_userinfo, cases[i].dropped);
		free(d.url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_looking_at_a_body),
		cmocka_unit_test(expectations_are_honoured),
		cmocka_unit_test(rules_come_before_loops_and_limits),
		cmocka_unit_test(where_a_page_leads),
		cmocka_unit_test(a_page_is_judged_by_its_scope),
		cmocka_unit_test(xml_in_place_of_a_page_is_the_wrong_type),
		cmocka_unit_test(a_bad_status_may_be_a_wall),
		cmocka_unit_test(a_chain_that_ends_with_a_page_of_a_wall),
		cmocka_unit_test(user_information_goes_no_further),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
