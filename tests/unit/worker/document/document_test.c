/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The whole look into a body: coding, digests, type, page; and what each failure leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/net/robots.h"
#include "worker/document/document.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"
#include "worker/rules/rule_files.h"

#define PAGE                                                                                       \
	"<!doctype html><title>Tides</title>"                                                      \
	"<meta name=citation_pdf_url content=/7.pdf>"
/* PAGE as gzip wrote it. */
static const unsigned char page_gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0xb3, 0x51, 0x4c, 0xc9, 0x4f, 0x2e, 0xa9, 0x2c, 0x48, 0x55, 0xc8, 0x28, 0xc9, 0xcd, 0xb1,
	0xb3, 0x29, 0xc9, 0x2c, 0xc9, 0x49, 0xb5, 0x0b, 0xc9, 0x4c, 0x49, 0x2d, 0xb6, 0xd1, 0x87,
	0x70, 0x6c, 0x72, 0x53, 0x4b, 0x12, 0x15, 0xf2, 0x12, 0x73, 0x53, 0x6d, 0x93, 0x33, 0x4b,
	0x12, 0x4b, 0x32, 0xf3, 0xf3, 0xe2, 0x0b, 0x52, 0xd2, 0xe2, 0x4b, 0x8b, 0x72, 0x14, 0x92,
	0xf3, 0xf3, 0x4a, 0x52, 0xf3, 0x4a, 0x6c, 0xf5, 0xcd, 0xf5, 0x80, 0x42, 0x76, 0x00, 0x57,
	0x02, 0x59, 0xf1, 0x4e, 0x00, 0x00, 0x00};

static const struct ing_exam_request plain = {
	.url = "https://a.example/7",
	.content_type = "text/html",
	.want = ING_WANT_LINKS,
	.max_body_bytes = 1 << 20,
	.max_scrape_bytes = 1 << 16,
};

static struct ing_document_body body;
static struct ing_findings got;

static void look(struct ing_exam_request q, const void *data, size_t bytes)
{
	ing_findings_init(&got);
	ing_document_examine(&q, data, bytes, &body, &got);
}

static void done(void)
{
	ing_document_body_done(&body);
	ing_document_body_done(&body);
	ing_findings_done(&got);
}

static void assert_page(void)
{
	assert_int_equal(got.exam, ING_EXAM_OK);
	assert_null(got.detail);
	assert_int_equal(body.bytes, strlen(PAGE));
	assert_memory_equal(body.data, PAGE, strlen(PAGE));
	assert_int_equal(got.file.size_bytes, strlen(PAGE));
	assert_string_equal(got.file.mimetype, "text/html");
	assert_int_equal(got.page.status, ING_PAGE_PARSED);
	assert_string_equal(got.page.title, "Tides");
	assert_string_equal(got.page.links[ING_LINK_PDF].url, "https://a.example/7.pdf");
	assert_string_equal(got.page.links[ING_LINK_PDF].technique, "citation_pdf_url");
}

static void assert_digests(void)
{
	assert_true(body.owned && got.file.decoded);
	assert_string_equal(got.file.md5hex, "bc4b66c47f7d7566030357e7af770329");
	assert_string_equal(got.file.sha1hex, "87dd28fbfd105e830ffc5edbdcfebe47446a1945");
	assert_string_equal(got.file.sha256hex,
		"f78befa70ce421deff9aea6d33b6f145e4792f2b1d3ecbb9cae404032cd6d1a8");
}

/* Its digests are somebody else's to take. */
static void a_page_as_it_is(void **state)
{
	(void)state;
	look(plain, PAGE, strlen(PAGE));
	assert_page();
	assert_false(body.owned || got.file.decoded);
	assert_string_equal(got.file.md5hex, "");
	assert_string_equal(got.file.sha1hex, "");
	assert_string_equal(got.file.sha256hex, "");
	assert_null(got.pdf.status);
	done();
}

static void a_page_with_a_coding(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	q.content_encoding = "gzip";
	look(q, page_gz, sizeof(page_gz));
	assert_page();
	assert_digests();
	done();
	look(q, PAGE, strlen(PAGE)); /* only said to be gzip */
	assert_page();
	assert_digests();
	done();
	look(plain, page_gz, sizeof(page_gz)); /* gzip without saying so */
	assert_page();
	assert_digests();
	done();
}

static void gzip_that_is_the_document_stays(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	q.content_type = "application/gzip";
	look(q, page_gz, sizeof(page_gz));
	assert_string_equal(got.file.mimetype, "application/gzip");
	assert_int_equal(body.bytes, sizeof(page_gz));
	done();
	q.content_type = "text/html"; /* cut: not decodable, so left alone */
	look(q, page_gz, sizeof(page_gz) - 9);
	assert_int_equal(got.exam, ING_EXAM_OK);
	assert_string_equal(got.file.mimetype, "application/gzip");
	done();
}

static void a_body_is_handed_back_without_its_coding(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	q.want = ING_WANT_BODY;
	q.content_encoding = "gzip";
	look(q, page_gz, sizeof(page_gz));
	assert_int_equal(got.exam, ING_EXAM_OK);
	assert_int_equal(got.body.bytes, strlen(PAGE));
	assert_memory_equal(got.body.data, PAGE, strlen(PAGE));
	assert_digests();
	assert_int_equal(got.page.status, ING_PAGE_NONE); /* nothing else */
	done();
	look(plain, page_gz, sizeof(page_gz));
	assert_null(got.body.data); /* not asked */
	done();
	q.content_encoding = NULL;
	look(q, PAGE, strlen(PAGE));
	assert_null(got.body.data); /* there already */
	done();
}

static const struct {
	const char *encoding;
	uint64_t max_body;
	size_t cut;
	enum ing_exam want;
} failures[] = {
	{.encoding = "gzip", .max_body = 1 << 20, .cut = 9, .want = ING_EXAM_BAD_ENCODING},
	{.encoding = "br", .max_body = 1 << 20, .want = ING_EXAM_BAD_ENCODING},
	{.encoding = "compress", .max_body = 1 << 20, .want = ING_EXAM_BAD_ENCODING},
	{.encoding = "gzip", .max_body = sizeof(PAGE) - 2, .want = ING_EXAM_TOO_LARGE},
	{.max_body = 10, .want = ING_EXAM_TOO_LARGE},
};

static void what_cannot_be_decoded_has_no_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(failures); i++) {
		struct ing_exam_request q = plain;
		q.content_encoding = failures[i].encoding;
		q.max_body_bytes = failures[i].max_body;
		q.content_type = NULL;
		look(q, page_gz, sizeof(page_gz) - failures[i].cut);
		assert_int_equal(got.exam, failures[i].want);
		assert_non_null(got.detail);
		assert_int_equal(got.file.size_bytes, 0);
		assert_string_equal(got.file.mimetype, "");
		assert_int_equal(body.bytes, 0);
		assert_int_equal(got.page.status, ING_PAGE_NONE);
		done();
	}
}

static void nothing_is_a_document(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	for (int i = 0; i < 2; i++) {
		look(q, "", 0);
		assert_int_equal(got.exam, ING_EXAM_OK);
		assert_int_equal(got.file.size_bytes, 0);
		assert_string_equal(got.file.mimetype, "application/x-empty");
		assert_string_equal(
			got.file.sha1hex, i == 0 ? "" : "da39a3ee5e6b4b0d3255bfef95601890afd80709");
		assert_int_equal(got.page.status, ING_PAGE_NONE);
		done();
		q.content_encoding = "gzip";
	}
}

static void pages_are_read_only_within_limits_and_on_demand(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	q.max_scrape_bytes = strlen(PAGE) - 1;
	look(q, PAGE, strlen(PAGE));
	assert_int_equal(got.page.status, ING_PAGE_TOO_LARGE);
	assert_null(got.page.links[ING_LINK_PDF].url);
	done();
	q = plain;
	q.want = ING_WANT_PDF;
	look(q, PAGE, strlen(PAGE));
	assert_int_equal(got.page.status, ING_PAGE_NONE);
	done();
	look(plain, "{\"a\": 1}", 8);
	assert_int_equal(got.page.status, ING_PAGE_NONE);
	done();

	struct ing_buf deep;
	ing_buf_init(&deep, 1 << 20);
	ing_buf_add_str(&deep, PAGE);
	for (int i = 0; i < 1000; i++)
		ing_buf_add_str(&deep, "<div>");
	look(plain, deep.data, deep.len);
	assert_int_equal(got.page.status, ING_PAGE_PARSED);
	assert_string_equal(got.page.links[ING_LINK_PDF].url, "https://a.example/7.pdf");
	done();
	ing_buf_clear(&deep);
	ing_buf_add_str(&deep, PAGE);
	ing_buf_add_str(&deep, "<p>");
	for (int i = 0; i < 300; i++)
		ing_buf_printf(&deep, "<b id=%d>", i);
	for (int i = 0; i < 3000; i++)
		ing_buf_add_str(&deep, "<p>x");
	look(plain, deep.data, deep.len);
	assert_int_equal(got.page.status, ING_PAGE_PART);
	assert_string_equal(got.page.links[ING_LINK_PDF].url, "https://a.example/7.pdf");
	done();
	ing_buf_done(&deep);
}

static void charset_of_the_header_counts(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	q.content_type = "text/html; charset=windows-1251";
	look(q, "<!doctype html><title>\xcf\xf0</title>", 32);
	assert_string_equal(got.page.title, "Пр");
	done();
}

/* A record that no message can hold has fewer references, and all else. */
static void a_record_over_the_limit_is_cut(void **state)
{
	(void)state;
	struct ing_exam_request q = plain;
	struct ing_buf page;
	q.max_scrape_bytes = 64 << 20;
	q.max_body_bytes = 64 << 20;
	ing_buf_init(&page, 64 << 20);
	ing_buf_add_str(&page, "<!doctype html><meta name=citation_title content=Tides>"
			       "<meta name=citation_author content=\"Ada Lovelace\">");
	char quotes[501] = "";
	memset(quotes, '"', sizeof(quotes) - 1); /* two bytes each in JSON */
	for (int i = 0; i < 3000; i++)
		ing_buf_printf(&page, "<meta name=citation_reference content='%d %s'>", i, quotes);
	look(q, page.data, page.len);
	assert_non_null(got.page.biblio_json);
	assert_true(strlen(got.page.biblio_json) <= ING_MAX_BIBLIO_BYTES);
	assert_non_null(strstr(got.page.biblio_json, "\"raw_references\":[\"0 "));
	assert_null(strstr(got.page.biblio_json, "null"));
	assert_non_null(strstr(got.page.biblio_json, "\"contribs\":[{\"name\":\"Ada Lovelace\"}]"));
	done();
	ing_buf_done(&page);
}

static bool rule_did(uint32_t rule, unsigned flags)
{
	for (uint32_t i = 0; i < got.page.rule_hit_count; i++)
		if (got.page.rule_hits[i].rule == rule)
			return (got.page.rule_hits[i].flags & flags) == flags;
	return false;
}

static void rules_find_what_signals_do_not(void **state)
{
	(void)state;
	static const char page[] =
		"<!doctype html><title>T</title><a class=doc href=/8.pdf>PDF</a>";
	look(plain, page, strlen(page));
	const struct ing_page_link *link = &got.page.links[ING_LINK_PDF];
	assert_string_equal(link->url, "https://a.example/8.pdf");
	assert_string_equal(link->technique, "doc");
	assert_true(got.page.rules_digest != 0);
	assert_true(rule_did(link->rule, ING_RULE_APPLIED | ING_RULE_MATCHED));
	assert_int_equal(got.page.wall, ING_WALL_NONE);
	done();
}

static void walls_are_seen_alone_when_asked_so(void **state)
{
	(void)state;
	static const char page[] =
		"<!doctype html><title>Robot?</title><a class=doc href=/8.pdf>PDF</a>"
		"<meta name=citation_title content=x>";
	struct ing_exam_request q = plain;
	look(q, page, strlen(page));
	assert_int_equal(got.page.wall, ING_WALL_CAPTCHA);
	assert_string_equal(got.page.wall_detail, "a captcha");
	assert_non_null(got.page.links[ING_LINK_PDF].url);
	assert_non_null(got.page.biblio_json);
	done();
	q.want = ING_WANT_WALLS;
	look(q, page, strlen(page));
	assert_int_equal(got.page.wall, ING_WALL_CAPTCHA);
	assert_null(got.page.links[ING_LINK_PDF].url);
	assert_null(got.page.biblio_json);
	done();
}

static void add_rules(struct ing_rule_files *files, enum ing_rule_kind kind, const char *text)
{
	char path[] = "/tmp/document-rules-XXXXXX";
	struct ing_error err = {0};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(ing_rule_files_read(files, kind, path, &err), 0);
	unlink(path);
}

/* As the zygote gets them. */
static int load_rules(void **state)
{
	struct ing_rule_files files;
	struct ing_error err = {0};
	int fd = -1;
	(void)state;
	ing_rule_files_init(&files);
	add_rules(&files, ING_RULES_LINKS, "pdf:\n  - {technique: doc, selector: a.doc}\n");
	add_rules(&files, ING_RULES_WALLS,
		"- {name: robot, title: '^Robot', verdict: captcha, why: a captcha}\n");
	int rc = ing_rule_files_to_fd(&files, &fd, &err);
	if (rc == 0)
		rc = ing_document_load_rules(fd, &err);
	if (fd >= 0)
		close(fd);
	ing_rule_files_done(&files);
	return rc;
}

/* --- robots.txt --- */

#define RULES "User-agent: *\nDisallow: /private\n"
/* RULES and "Disallow: /" as gzip wrote them. */
static const unsigned char rules_gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0x0b, 0x2d, 0x4e, 0x2d, 0xd2, 0x4d, 0x4c, 0x4f, 0xcd, 0x2b, 0xb1, 0x52, 0xd0, 0xe2, 0x72,
	0xc9, 0x2c, 0x4e, 0xcc, 0xc9, 0xc9, 0x2f, 0xb7, 0x52, 0xd0, 0x2f, 0x28, 0xca, 0x2c, 0x4b,
	0x2c, 0x49, 0x45, 0x16, 0x02, 0x00, 0x29, 0x4c, 0x1b, 0x65, 0x2c, 0x00, 0x00, 0x00};
/* A hundred thousand empty stored blocks as gzip, in gzip. */
static const unsigned char idle_gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0xed, 0xc6, 0xc1, 0x09, 0x00, 0x20, 0x0c, 0x04, 0xc1, 0xf8, 0x4b, 0x17, 0x29, 0xd8, 0xa2,
	0x95, 0x04, 0xbb, 0x70, 0x16, 0x6e, 0xb8, 0xda, 0x19, 0xd3, 0xe9, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xe0, 0x5f, 0xd6, 0x7b, 0xd3, 0x05, 0xc7, 0xe7, 0xc6, 0x8b, 0x37, 0xa1, 0x07,
	0x00};

static void look_at_robots(const char *coding, bool cut, const void *data, size_t bytes)
{
	look((struct ing_exam_request){.url = "https://a.example/robots.txt",
		     .content_type = "text/html",
		     .content_encoding = coding,
		     .want = ING_WANT_ROBOTS,
		     .max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		     .agent = "tester/1.0",
		     .body_cut = cut},
		data, bytes);
}

static void expect_rules(uint32_t count, bool cut)
{
	assert_int_equal(got.exam, ING_EXAM_OK);
	assert_non_null(got.robots.txt);
	assert_int_equal(ing_robots_txt_count(got.robots.txt), count);
	assert_int_equal(got.robots.cut, cut);
	assert_int_equal(got.page.status, ING_PAGE_NONE);
	assert_string_equal(got.file.mimetype, "text/plain");
	assert_int_equal(strlen(got.file.md5hex), got.file.decoded ? 32 : 0);
	assert_int_equal(strlen(got.file.sha256hex), got.file.decoded ? 64 : 0);
	done();
}

static void a_page_names_its_resources_on_demand(void **state)
{
	static const char html[] =
		"<!doctype html><title>x</title><img src=/i.png><p style='a:url(b)'>";
	struct ing_exam_request q = plain;
	(void)state;
	look(q, html, sizeof(html) - 1);
	assert_int_equal(got.resources.total, 0);
	done();
	q.want |= ING_WANT_RESOURCES;
	look(q, html, sizeof(html) - 1);
	assert_int_equal(got.resources.total, 2);
	assert_int_equal(got.resources.count, 2);
	assert_string_equal(got.resources.items[0].url, "https://a.example/i.png");
	assert_string_equal(got.resources.items[1].url, "https://a.example/b");
	assert_string_equal(got.page.title, "x");
	done();
}

static void xml_is_read_on_demand(void **state)
{
	static const char jats[] = "<article dtd-version=\"1.2\" t=\"\xfc\"/>";
	struct ing_exam_request q = plain;
	(void)state;
	q.content_type = "application/xml; charset=windows-1252";
	look(q, jats, sizeof(jats) - 1);
	assert_string_equal(got.file.mimetype, "application/jats+xml");
	assert_null(got.xml.status);
	done();
	q.want |= ING_WANT_XML;
	look(q, jats, sizeof(jats) - 1);
	assert_string_equal(got.xml.status, "success");
	assert_non_null(strstr(got.xml.jats_xml, "t=\"\xc3\xbc\""));
	assert_int_equal(got.page.status, ING_PAGE_NONE);
	done();
	/* No document of its own. */
	look(q, PAGE, strlen(PAGE));
	assert_null(got.xml.status);
	done();
}

static void archives_are_looked_into_on_demand(void **state)
{
	struct ing_exam_request q = plain;
	(void)state;
	q.content_type = "application/gzip";
	look(q, page_gz, sizeof(page_gz));
	assert_string_equal(got.file.mimetype, "application/gzip");
	assert_string_equal(got.file.contains, "");
	done();
	q.want |= ING_WANT_CONTENTS;
	look(q, page_gz, sizeof(page_gz));
	assert_string_equal(got.file.contains, "text/html");
	done();
	/* What was compressed for the way is no archive. */
	q.content_encoding = "gzip";
	look(q, page_gz, sizeof(page_gz));
	assert_string_equal(got.file.mimetype, "text/html");
	assert_string_equal(got.file.contains, "");
	done();
}

static void a_style_sheet_names_its_resources(void **state)
{
	static const char css[] = "@import 'x.css';a{b:url(c.png)}";
	struct ing_exam_request q = plain;
	(void)state;
	q.url = "https://a.example/css/s.css";
	q.want = ING_WANT_STYLE;
	look(q, css, sizeof(css) - 1);
	assert_int_equal(got.exam, ING_EXAM_OK);
	assert_int_equal(got.resources.count, 2);
	assert_string_equal(got.resources.items[0].url, "https://a.example/css/x.css");
	assert_int_equal(got.resources.items[0].type, ING_RESOURCE_STYLESHEET);
	assert_string_equal(got.resources.items[1].url, "https://a.example/css/c.png");
	assert_int_equal(got.page.status, ING_PAGE_NONE);
	done();
}

static void a_robots_file_becomes_rules(void **state)
{
	(void)state;
	look_at_robots(NULL, false, RULES "Disallow: /", strlen(RULES) + 11);
	assert_int_equal(got.file.size_bytes, strlen(RULES) + 11);
	assert_false(got.file.decoded);
	expect_rules(2, false);
	look_at_robots("gzip", false, rules_gz, sizeof(rules_gz));
	assert_int_equal(got.file.size_bytes, strlen(RULES) + 11);
	assert_string_equal(got.file.sha1hex, "d1efad7d28c0dcc64bf29f9b2b4b69b58d6846e6");
	expect_rules(2, false);
	look_at_robots("gzip", false, RULES, strlen(RULES)); /* which it is not */
	expect_rules(1, false);
	look_at_robots("br", false, "", 0);
	expect_rules(0, false);
}

/* The last line of a file that was cut would forbid everything. */
static void the_last_line_of_a_cut_robots_file_does_not_count(void **state)
{
	(void)state;
	look_at_robots(NULL, true, RULES "Disallow: /", strlen(RULES) + 11);
	expect_rules(1, true);
	look_at_robots("gzip", true, rules_gz, sizeof(rules_gz));
	expect_rules(1, true);
	look_at_robots("gzip", true, rules_gz, sizeof(rules_gz) - 9);
	assert_int_equal(got.exam, ING_EXAM_OK);
	assert_true(got.robots.cut);
	done();
	look_at_robots(NULL, true, "Disallow: /nothing-whole-at-all", 31);
	expect_rules(0, true);
}

static void a_long_robots_file_counts_up_to_the_limit(void **state)
{
	static const char end[] = "Disallow: /private/x";
	(void)state;
	for (size_t over = 0; over < 2; over++) {
		struct ing_buf file;
		ing_buf_init(&file, ING_ROBOTS_TXT_MAX_BYTES + over);
		ing_buf_add_str(&file, RULES);
		while (file.max - file.len > sizeof(end))
			ing_buf_add_char(&file, '#');
		ing_buf_add_char(&file, '\n');
		ing_buf_add_str(&file, end);
		look_at_robots(NULL, false, file.data, file.len);
		assert_int_equal(got.file.size_bytes, ING_ROBOTS_TXT_MAX_BYTES);
		expect_rules(over == 0 ? 2 : 1, over == 1);
		ing_buf_done(&file);
	}
}

static void a_robots_file_that_cannot_be_decoded_has_no_rules(void **state)
{
	/* clang-format off */
	static const struct {
		const char *coding;
		const void *data;
		size_t bytes;
		const char *words;
	} cases[] = {
		{.coding = "gzip", .data = rules_gz, .bytes = sizeof(rules_gz) - 9,
			.words = "ends early"},
		{.coding = "xyz", .data = RULES, .bytes = sizeof(RULES) - 1,
			.words = "not understood"},
		{.coding = "br", .data = RULES, .bytes = sizeof(RULES) - 1, .words = "damaged"},
		{.coding = "gzip, gzip, gzip", .data = idle_gz, .bytes = sizeof(idle_gz),
			.words = "not understood"},
		{.coding = "gzip, gzip", .data = idle_gz, .bytes = sizeof(idle_gz),
			.words = "takes more work"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		look_at_robots(cases[i].coding, false, cases[i].data, cases[i].bytes);
		assert_int_equal(got.exam, ING_EXAM_BAD_ENCODING);
		assert_null(got.robots.txt);
		assert_non_null(strstr(got.detail, cases[i].words));
		assert_string_equal(got.file.sha1hex, "");
		done();
	}
}

/* Found in the page that is parsed once, where it is asked for. */
static void the_main_text_of_a_page_is_found_on_demand(void **state)
{
	static const char page[] =
		"<!doctype html><html lang=pt_BR><title>Tides</title><nav>Home</nav><article>"
		"<p>Words that are the main text of this page, and more of them, so that there is "
		"something to be kept, whatever else there may be on it.</article>";
	static const char bare[] = "<!doctype html><title>Tides</title><img src=x>";
	struct ing_exam_request q = plain;
	(void)state;
	look(q, page, sizeof(page) - 1);
	assert_null(got.text.status);
	done();
	q.want |= ING_WANT_TEXT;
	look(q, page, sizeof(page) - 1);
	assert_string_equal(got.text.status, "success");
	assert_string_equal(got.text.language, "pt-BR");
	assert_int_equal(got.text.word_count, 28);
	assert_non_null(strstr(got.text.tei_xml, "<p>Words that are"));
	assert_null(strstr(got.text.tei_xml, "Home"));
	assert_non_null(strstr(ing_document_plain_text(), "whatever else"));
	assert_string_equal(got.page.scope, "unknown");
	done();
	look(q, bare, sizeof(bare) - 1);
	assert_string_equal(got.text.status, "empty-xml");
	assert_null(got.text.tei_xml);
	assert_string_equal(got.page.scope, "stub");
	done();
	q.max_scrape_bytes = 10;
	look(q, page, sizeof(page) - 1);
	assert_null(got.text.status);
	assert_int_equal(got.page.status, ING_PAGE_TOO_LARGE);
	done();
}

/* An answer is read by the reader that the asker names, whatever it looks like. */
static void an_answer_about_a_publication_is_read_on_demand(void **state)
{
	static const char xml[] =
		"<responseWrapper><resultList><result><pmid>5</pmid><title>T</title>"
		"</result></resultList></responseWrapper>";
	static const char pdf[] = "%PDF-1.4";
	const struct ing_publication_ask ask = {
		.reader = ING_READ_EUROPEPMC, .type = ING_PART_TYPE_EUROPEPMC};
	struct ing_exam_request q = plain;
	(void)state;
	look(q, xml, sizeof(xml) - 1);
	assert_null(got.publication.status);
	done();
	q.want = ING_WANT_PUBLICATION;
	q.publication = &ask;
	look(q, xml, sizeof(xml) - 1);
	assert_string_equal(got.publication.status, "success");
	assert_int_equal(got.publication.offer_count, 2);
	assert_string_equal(got.publication.offers[1].text, "T");
	assert_null(got.xml.status);
	done();
	look(q, PAGE, strlen(PAGE));
	assert_string_equal(got.publication.status, "bad-answer");
	done();
	/* Once it has been read. */
	q.want |= ING_WANT_PDF;
	look(q, pdf, sizeof(pdf) - 1);
	assert_null(got.publication.status);
	ing_document_read_pdf(&q, &body, &got);
	assert_string_equal(got.publication.status, "bad-answer");
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_as_it_is),
		cmocka_unit_test(a_page_with_a_coding),
		cmocka_unit_test(gzip_that_is_the_document_stays),
		cmocka_unit_test(a_body_is_handed_back_without_its_coding),
		cmocka_unit_test(what_cannot_be_decoded_has_no_file),
		cmocka_unit_test(nothing_is_a_document),
		cmocka_unit_test(pages_are_read_only_within_limits_and_on_demand),
		cmocka_unit_test(the_main_text_of_a_page_is_found_on_demand),
		cmocka_unit_test(charset_of_the_header_counts),
		cmocka_unit_test(a_record_over_the_limit_is_cut),
		cmocka_unit_test(rules_find_what_signals_do_not),
		cmocka_unit_test(walls_are_seen_alone_when_asked_so),
		cmocka_unit_test(a_page_names_its_resources_on_demand),
		cmocka_unit_test(xml_is_read_on_demand),
		cmocka_unit_test(archives_are_looked_into_on_demand),
		cmocka_unit_test(a_style_sheet_names_its_resources),
		cmocka_unit_test(a_robots_file_becomes_rules),
		cmocka_unit_test(the_last_line_of_a_cut_robots_file_does_not_count),
		cmocka_unit_test(a_long_robots_file_counts_up_to_the_limit),
		cmocka_unit_test(a_robots_file_that_cannot_be_decoded_has_no_rules),
		cmocka_unit_test(an_answer_about_a_publication_is_read_on_demand),
	};
	return cmocka_run_group_tests(tests, load_rules, NULL);
}
