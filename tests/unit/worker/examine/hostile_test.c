/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The real examiner, with the real parsers, before the hostile set (tests/data/hostile/make.py):
 * every body comes back within its deadline and its memory with a verdict, and the good document
 * after it is read as if nothing had been.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/net/robots.h"
#include "pool_harness.h"

#ifdef ING_SANITIZED
#	define TIMEOUT_MS 6000u
#	define MEMORY_BYTES ((size_t)0)
#else
#	define TIMEOUT_MS 4000u
#	define MEMORY_BYTES ((size_t)512 << 20)
#endif
#define SLACK_MS 1500u /* to kill, reap, fork and hand back */

#define OK (1u << ING_EXAM_OK)
#define BAD_ENCODING (1u << ING_EXAM_BAD_ENCODING)
#define TOO_LARGE (1u << ING_EXAM_TOO_LARGE)
#define CRASH (1u << ING_EXAM_CRASH)
#define TIMEOUT (1u << ING_EXAM_TIMEOUT)

/* clang-format off */
static const struct hostile {
	const char *file, *content_type, *content_encoding;
	unsigned exams;         /* that are right, as bits */
	const char *mimetype;   /* begins with; NULL: any */
	const char *pdf_status; /* any of these words; NULL: not a PDF */
	bool keeps_text;        /* "Words that stay", whatever becomes of the rest */
} hostiles[] = {
	{.file = "truncated.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "parse-error"},
	{.file = "encrypted.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "parse-error"},
	{.file = "zip-renamed.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/zip"},
	{.file = "page-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf",
		.pdf_status = "empty-pdf empty-page0 parse-error success error-timeout bad-pdf"},
	{.file = "many-pages.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf",
		.pdf_status = "success text-too-large error-timeout bad-pdf"},
	{.file = "object-loop.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf",
		.pdf_status = "empty-pdf empty-page0 parse-error success error-timeout bad-pdf"},
	{.file = "form-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success error-timeout bad-pdf"},
	{.file = "flate-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success error-timeout bad-pdf"},
	{.file = "font-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success error-timeout bad-pdf"},
	{.file = "nested-arrays.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf",
		.pdf_status = "success parse-error empty-page0 error-timeout bad-pdf"},
	{.file = "text-flood.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf",
		.pdf_status = "success text-too-large error-timeout bad-pdf"},
	{.file = "huge-page.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "info-keys.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "info-value.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "info-nested.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "image-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "pattern-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "dash-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success", .keeps_text = true},
	{.file = "group-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success error-timeout bad-pdf"},
	{.file = "shading-bomb.pdf", .content_type = "application/pdf", .exams = OK,
		.mimetype = "application/pdf", .pdf_status = "success error-timeout bad-pdf"},
	{.file = "garbage.pdf", .content_type = "application/pdf", .exams = OK,
		.pdf_status = "parse-error"},
	{.file = "mutated-1.pdf", .content_type = "application/pdf", .exams = OK,
		.pdf_status = "success parse-error empty-pdf empty-page0"},
	{.file = "mutated-2.pdf", .content_type = "application/pdf", .exams = OK,
		.pdf_status = "success parse-error empty-pdf empty-page0"},
	{.file = "mutated-3.pdf", .content_type = "application/pdf", .exams = OK,
		.pdf_status = "success parse-error empty-pdf empty-page0"},
	{.file = "deep.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "attributes.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "formatting.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "tables.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "names.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "text.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "unclosed.html", .content_type = "text/html", .exams = OK | TIMEOUT | CRASH},
	{.file = "entity-bomb.xml", .content_type = "text/xml", .exams = OK},
	{.file = "external-entity.xml", .content_type = "text/xml", .exams = OK},
	{.file = "garbage.bin", .exams = OK},
	{.file = "bomb.html.gz", .content_type = "text/html", .content_encoding = "gzip",
		.exams = TOO_LARGE | CRASH},
	{.file = "bomb.html.gz", .content_type = "text/html", .exams = TOO_LARGE | OK},
	{.file = "cut.pdf.gz", .content_type = "application/pdf", .content_encoding = "gzip",
		.exams = BAD_ENCODING},
	{.file = "garbage.bin", .content_type = "text/html", .content_encoding = "br",
		.exams = BAD_ENCODING},
	{.file = "garbage.bin", .content_type = "text/html", .content_encoding = "deflate",
		.exams = BAD_ENCODING},
	{.file = "garbage.bin", .content_type = "text/html",
		.content_encoding = "gzip, gzip, gzip, gzip, gzip", .exams = BAD_ENCODING},
	{.file = "idle.gz.gz", .content_type = "text/html", .content_encoding = "gzip, gzip",
		.exams = BAD_ENCODING},
	{.file = "idle.gz.gz", .content_type = "text/html", .content_encoding = "gzip, gzip, gzip",
		.exams = BAD_ENCODING},
	{.file = "good.pdf", .content_type = "text/html", .content_encoding = "zstd-of-the-future",
		.exams = BAD_ENCODING | OK, .pdf_status = "success"},
};
/* clang-format on */

static struct harness h;

static char *read_hostile(const char *name, size_t *ret_bytes)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", HOSTILE_DIR, name);
	FILE *f = fopen(path, "rb");
	if (f == NULL)
		fail_msg("%s: not there", path);
	fseek(f, 0, SEEK_END);
	size_t bytes = (size_t)ftell(f);
	rewind(f);
	char *data = ing_alloc(bytes);
	assert_int_equal(fread(data, 1, bytes, f), bytes);
	fclose(f);
	*ret_bytes = bytes;
	return data;
}

static const struct answer *ask(const struct hostile *x)
{
	const struct ing_exam_request q = {.url = "http://example.org/dir/page",
		.content_type = x->content_type,
		.content_encoding = x->content_encoding,
		.want = ING_WANT_LINKS | ING_WANT_PDF | ING_WANT_TEXT,
		.max_body_bytes = (uint64_t)128 << 20,
		.max_scrape_bytes = (uint64_t)16 << 20};
	size_t bytes;
	char *data = read_hostile(x->file, &bytes);
	const struct answer *a = harness_ask(&h, data, bytes, &q);
	free(data);
	harness_run(&h, &h.answered, h.asked, 60000);
	return a;
}

static void assert_still_good(void)
{
	static const struct hostile good = {.file = "good.pdf", .content_type = "application/pdf"};
	const struct ing_findings *f = &ask(&good)->f;
	assert_int_equal(f->exam, ING_EXAM_OK);
	assert_string_equal(f->pdf.status, "success");
	assert_non_null(strstr(f->pdf.text, "A good document, with some words in it."));
	static const char page[] = "<!DOCTYPE html><html><head><title>Still here</title>"
				   "<meta name=citation_pdf_url content='../a.pdf'></head></html>";
	const struct ing_findings *g = harness_get(&h, page);
	assert_int_equal(g->exam, ING_EXAM_OK);
	assert_string_equal(g->page.title, "Still here");
	assert_string_equal(g->page.links[ING_LINK_PDF].url, "http://example.org/a.pdf");
}

/* What is wrong with the answer, or NULL. */
static const char *judge(const struct hostile *x, const struct answer *a, unsigned took_ms)
{
	const struct ing_findings *f = &a->f;
	if (took_ms > TIMEOUT_MS + SLACK_MS)
		return "took too long";
	if ((x->exams & (1u << f->exam)) == 0)
		return "has another exam";
	if (f->exam != ING_EXAM_OK)
		return f->detail == NULL ? "has no detail" : NULL;
	if (x->mimetype != NULL && strncmp(f->file.mimetype, x->mimetype, strlen(x->mimetype)) != 0)
		return "is of another type";
	if (f->file.size_bytes == 0 || strlen(f->file.sha256hex) != (f->file.decoded ? 64 : 0))
		return "has no facts";
	bool is_pdf = strcmp(f->file.mimetype, "application/pdf") == 0;
	if (is_pdf != (f->pdf.status != NULL))
		return "has a status out of place";
	if (is_pdf && (x->pdf_status == NULL || strstr(x->pdf_status, f->pdf.status) == NULL))
		return "has another status";
	if (x->keeps_text &&
		(f->pdf.text == NULL || strstr(f->pdf.text, "Words that stay") == NULL))
		return "has lost its text";
	return NULL;
}

static void test_hostile_set(void **state)
{
	struct ing_pool_conf conf = {
		.settings = {.processes = 1,
			.recycle_after =
				3, /* the hostile one and two good ones; then its memory is known */
			.timeout_ms = TIMEOUT_MS,
			.max_wait_ms = 600000,
			.memory_bytes = MEMORY_BYTES},
		.examiner_path = EXAMINER,
		.capacity = 256,
		.rules_fd = -1};
	unsigned wrong = 0;
	(void)state;
	harness_start(&h, &conf);
	assert_still_good();
	for (size_t i = 0; i < ING_ARRAY_LEN(hostiles); i++) {
		uint64_t start_ms = ing_now_ms();
		const struct answer *a = ask(&hostiles[i]);
		unsigned took_ms = (unsigned)(a->at_ms - start_ms);
		const char *fault = judge(&hostiles[i], a, took_ms);
		print_message("%-20s %5u ms  exam %d  %s  page %d  pdf %s%s  %s%s%s\n",
			hostiles[i].file, took_ms, (int)a->f.exam, a->f.file.mimetype,
			(int)a->f.page.status, a->f.pdf.status ? a->f.pdf.status : "-",
			a->f.pdf.has_page0_thumbnail ? " drawn" : "",
			a->f.detail ? a->f.detail : "",
			a->f.pdf.error_msg ? a->f.pdf.error_msg : "", fault ? "  WRONG" : "");
		if (fault != NULL) {
			print_error("%s %s\n", hostiles[i].file, fault);
			wrong++;
		}
		assert_still_good();
	}
	struct ing_pool_stats s;
	ing_pool_stats(h.pool, &s);
	assert_int_equal(s.zygotes, 1);
	harness_stop(&h);
	assert_int_equal(wrong, 0);
#ifndef ING_SANITIZED
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used); /* the largest process that there was */
	print_message("largest process: %ld MiB\n", used.ru_maxrss >> 10);
	assert_true((size_t)used.ru_maxrss << 10 <= MEMORY_BYTES);
#endif
}

/* The sandbox leaves what honest documents need: poppler's tables for fonts that are named only. */
static void test_tables_within_the_sandbox(void **state)
{
	static const struct hostile chinese = {.file = "chinese.pdf"};
	struct ing_pool_conf conf = {.settings = {.processes = 1,
					     .recycle_after = 1000,
					     .timeout_ms = TIMEOUT_MS,
					     .max_wait_ms = 600000,
					     .memory_bytes = MEMORY_BYTES},
		.examiner_path = EXAMINER,
		.capacity = 256,
		.rules_fd = -1};
	(void)state;
	harness_start(&h, &conf);
	const struct ing_findings *f = &ask(&chinese)->f;
	assert_int_equal(f->exam, ING_EXAM_OK);
	assert_string_equal(f->pdf.status, "success");
	assert_non_null(strstr(f->pdf.text, "\u4e2d\u6587"));
	harness_stop(&h);
}

static const struct ing_findings *ask_robots(const char *coding, const void *body, size_t bytes)
{
	const struct ing_exam_request q = {.url = "http://example.org/robots.txt",
		.content_encoding = coding,
		.want = ING_WANT_ROBOTS,
		.max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		.agent = "tester/1.0 (+https://tests.example/)"};
	const struct answer *a = harness_ask(&h, body, bytes, &q);
	harness_run(&h, &h.answered, h.asked, 60000);
	return &a->f;
}

/* Rules come whole through the sandbox, and what costs time to decode does not cost the
 * examiner. */
static void test_robots_files(void **state)
{
	static const char rules[] = "User-agent: tester\nDisallow: /private\nCrawl-delay: 2\n";
	struct ing_pool_conf conf = {.settings = {.processes = 1,
					     .recycle_after = 1000,
					     .timeout_ms = TIMEOUT_MS,
					     .max_wait_ms = 600000,
					     .memory_bytes = MEMORY_BYTES},
		.examiner_path = EXAMINER,
		.capacity = 256,
		.rules_fd = -1};
	size_t bytes;
	char *idle = read_hostile("idle.gz.gz", &bytes);
	(void)state;
	harness_start(&h, &conf);
	for (int i = 0; i < 2; i++) {
		const struct ing_findings *f = ask_robots(NULL, rules, sizeof(rules) - 1);
		unsigned line;
		assert_int_equal(f->exam, ING_EXAM_OK);
		assert_false(ing_robots_txt_allows(f->robots.txt, "http://h/private/x", &line));
		assert_int_equal(line, 2);
		assert_int_equal(ing_robots_txt_crawl_delay_ms(f->robots.txt), 2000);
		f = ask_robots(i == 0 ? "gzip, gzip" : "gzip, gzip, gzip", idle, bytes);
		assert_int_equal(f->exam, ING_EXAM_BAD_ENCODING);
		assert_null(f->robots.txt);
	}
	struct ing_pool_stats s;
	ing_pool_stats(h.pool, &s);
	assert_int_equal(s.forks, 1);
	assert_int_equal(s.crashes + s.timeouts, 0);
	harness_stop(&h);
	free(idle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_set),
		cmocka_unit_test(test_tables_within_the_sandbox),
		cmocka_unit_test(test_robots_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
