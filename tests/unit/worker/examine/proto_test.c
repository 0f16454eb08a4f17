/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The examiners' messages: what is put comes back, what is not exactly right is refused.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/net/robots.h"
#include "worker/examine/proto.h"
#include "worker/examine/proto_parts.h"
#include "worker/examine/wire.h"
#include "worker/model/limits.h"

static char *repeat(char c, size_t count)
{
	char *s = ing_alloc(count + 1);
	memset(s, c, count);
	return s;
}

static void set_type(struct ing_findings *f, const char *type)
{
	memset(f->file.mimetype, 0, sizeof(f->file.mimetype));
	memcpy(f->file.mimetype, type, strlen(type));
}

static void fill_findings(struct ing_findings *f)
{
	ing_findings_init(f);
	f->exam = ING_EXAM_OK;
	f->detail = ing_strdup("words");
	f->file.decoded = true;
	f->file.size_bytes = 1ULL << 40;
	memset(f->file.md5hex, 'a', 32);
	memset(f->file.sha1hex, 'b', 40);
	memset(f->file.sha256hex, '0', 64);
	set_type(f, "application/vnd.ms-excel.sheet.macroEnabled.12");
	f->page = (struct ing_page){.status = ING_PAGE_PARSED,
		.title = ing_strdup("Grüße"),
		.next = {.url = ing_strdup("https://example.org/next"),
			.technique = ing_strdup("a site's, by name"),
			.stage = ing_strdup("submitted"),
			.rule = 7},
		.wall = ING_WALL_CHALLENGE,
		.wall_detail = ing_strdup("a bot challenge"),
		.platform = ing_strdup("ojs3"),
		.scope = ing_strdup("article-fulltext"),
		.biblio_json = ing_strdup("{\"title\":\"Grüße\"}"),
		.rules_digest = 0x0123456789abcdef,
		.rule_hits = ing_alloc(2 * sizeof(struct ing_rule_hit)),
		.rule_hit_count = 2};
	f->page.links[ING_LINK_PDF] =
		(struct ing_page_link){.url = ing_strdup("https://example.org/a.pdf?x=1"),
			.technique = ing_strdup("eprints.document_url"),
			.rule = ING_NO_RULE};
	f->page.links[ING_LINK_HTML] =
		(struct ing_page_link){.url = ing_strdup("http://h.example/"),
			.technique = ing_strdup("self"),
			.self = true,
			.rule = 3};
	f->page.rule_hits[0] =
		(struct ing_rule_hit){.rule = 7, .flags = ING_RULE_APPLIED | ING_RULE_MATCHED};
	f->page.rule_hits[1] = (struct ing_rule_hit){.rule = 4000000000, .flags = ING_RULE_FAILED};
	f->pdf = (struct ing_pdf){.status = ing_strdup("success"),
		.error_msg = NULL,
		.text = ing_strdup("one\ftwo\n"),
		.meta_xml = ing_strdup("<x:xmpmeta/>"),
		.info_json = ing_strdup("{}"),
		.page_count = 3,
		.page0_width = 595.276,
		.page0_height = 841.89,
		.permanent_id = ing_strdup("0123456789abcdef0123456789abcdef"),
		.update_id = NULL,
		.pdf_version = ing_strdup("1.7"),
		.created = ing_strdup("2021-02-03T04:05:06+01:00"),
		.word_count = 2};
	static const char robots[] =
		"User-agent: *\nDisallow: /private\nAllow: /\nCrawl-delay: 2\n";
	f->robots.txt = ing_robots_txt_parse(robots, sizeof(robots) - 1, "tester");
	f->robots.cut = true;
	f->xml = (struct ing_xml_found){
		.status = ing_strdup("success"), .jats_xml = ing_strdup("<article>é</article>")};
	f->tei = (struct ing_tei_found){.status = ing_strdup("success"),
		.version = ing_strdup("0.7.2-SNAPSHOT"),
		.fatcat_release = ing_strdup("abcdefghijklmnopqrstuvwx27"),
		.metadata_json = ing_strdup("{\"biblio\":{}}"),
		.text = ing_strdup("<TEI>Grüße</TEI>")};
	f->body = (struct ing_body_found){.data = ing_strndup("%PDF-\0\xff", 7), .bytes = 7};
	f->cpu_us = 1234;
	f->pdf_cpu_us = 5678;
}

static int decode(const struct ing_buf *b, struct ing_findings *ret)
{
	size_t payload;
	if (b->failed ||
		ing_proto_head(b->data, ING_PROTO_REPLY, ING_MAX_REPLY_BYTES, &payload) != 0)
		return -1;
	assert_int_equal(payload, b->len - ING_PROTO_HEAD_BYTES);
	return ing_proto_get_reply(b->data + ING_PROTO_HEAD_BYTES, payload, ret);
}

static void encode(struct ing_buf *b, const struct ing_findings *f)
{
	ing_buf_init(b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(b, f);
}

static void check_link(const struct ing_page_link *a, const struct ing_page_link *b)
{
	assert_string_equal(a->url, b->url);
	assert_string_equal(a->technique, b->technique);
	assert_int_equal(a->stage == NULL, b->stage == NULL);
	if (b->stage != NULL)
		assert_string_equal(a->stage, b->stage);
	assert_int_equal(a->self, b->self);
	assert_int_equal(a->rule, b->rule);
}

static void check_page(const struct ing_page *a, const struct ing_page *b)
{
	assert_string_equal(a->title, b->title);
	check_link(&a->links[ING_LINK_PDF], &b->links[ING_LINK_PDF]);
	check_link(&a->links[ING_LINK_HTML], &b->links[ING_LINK_HTML]);
	assert_null(a->links[ING_LINK_XML].url);
	check_link(&a->next, &b->next);
	assert_int_equal(a->wall, b->wall);
	assert_string_equal(a->wall_detail, b->wall_detail);
	assert_string_equal(a->platform, b->platform);
	assert_string_equal(a->scope, b->scope);
	assert_string_equal(a->biblio_json, b->biblio_json);
	assert_true(a->rules_digest == b->rules_digest);
	assert_int_equal(a->rule_hit_count, 2);
	assert_memory_equal(a->rule_hits, b->rule_hits, 2 * sizeof(struct ing_rule_hit));
}

static void test_reply_round_trip(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	encode(&b, &f);
	assert_int_equal(decode(&b, &g), 0);
	assert_int_equal(g.exam, f.exam);
	assert_string_equal(g.detail, "words");
	assert_memory_equal(&g.file, &f.file, sizeof(f.file));
	assert_int_equal(g.page.status, ING_PAGE_PARSED);
	check_page(&g.page, &f.page);
	assert_string_equal(g.pdf.status, "success");
	assert_null(g.pdf.error_msg);
	assert_string_equal(g.pdf.text, f.pdf.text);
	assert_string_equal(g.pdf.meta_xml, f.pdf.meta_xml);
	assert_string_equal(g.pdf.info_json, "{}");
	assert_int_equal(g.pdf.page_count, 3);
	assert_true(
		g.pdf.page0_width == f.pdf.page0_width && g.pdf.page0_height == f.pdf.page0_height);
	assert_string_equal(g.pdf.permanent_id, f.pdf.permanent_id);
	assert_null(g.pdf.update_id);
	assert_string_equal(g.pdf.pdf_version, "1.7");
	assert_string_equal(g.pdf.created, f.pdf.created);
	assert_int_equal(g.pdf.word_count, 2);
	unsigned line;
	assert_false(ing_robots_txt_allows(g.robots.txt, "http://h/private/x", &line));
	assert_int_equal(line, 2);
	assert_true(ing_robots_txt_allows(g.robots.txt, "http://h/x", &line));
	assert_int_equal(line, 3);
	assert_int_equal(ing_robots_txt_crawl_delay_ms(g.robots.txt), 2000);
	assert_true(g.robots.cut);
	assert_string_equal(g.xml.status, "success");
	assert_null(g.xml.error_msg);
	assert_string_equal(g.xml.jats_xml, f.xml.jats_xml);
	assert_string_equal(g.tei.status, "success");
	assert_null(g.tei.error_msg);
	assert_string_equal(g.tei.version, f.tei.version);
	assert_string_equal(g.tei.fatcat_release, f.tei.fatcat_release);
	assert_string_equal(g.tei.metadata_json, f.tei.metadata_json);
	assert_string_equal(g.tei.text, f.tei.text);
	assert_int_equal(g.body.bytes, 7);
	assert_memory_equal(g.body.data, f.body.data, 7);
	assert_true(g.cpu_us == 1234 && g.pdf_cpu_us == 5678);
	ing_findings_done(&g);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

/* Cut anywhere, or with anything behind it, a reply is refused. */
static void test_reply_must_be_whole(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	encode(&b, &f);
	const char *payload = b.data + ING_PROTO_HEAD_BYTES;
	size_t bytes = b.len - ING_PROTO_HEAD_BYTES;
	for (size_t n = 0; n < bytes; n++) {
		char *cut =
			ing_alloc(n); /* of that size, so that the sanitizer sees a read past it */
		memcpy(cut, payload, n);
		assert_int_equal(ing_proto_get_reply(cut, n, &g), -ING_FAIL_INVALID);
		free(cut);
	}
	char *longer = ing_alloc(bytes + 1);
	memcpy(longer, payload, bytes);
	assert_int_equal(ing_proto_get_reply(longer, bytes + 1, &g), -ING_FAIL_INVALID);
	free(longer);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

/* Every single byte set to every value: decoded or refused, but never believed into nonsense. */
static void test_reply_with_a_wrong_byte(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	encode(&b, &f);
	uint8_t *payload = (uint8_t *)b.data + ING_PROTO_HEAD_BYTES;
	size_t bytes = b.len - ING_PROTO_HEAD_BYTES;
	for (size_t i = 0; i < bytes; i++) {
		uint8_t was = payload[i];
		for (unsigned v = 0; v < 256; v++) {
			payload[i] = (uint8_t)v;
			if (ing_proto_get_reply(payload, bytes, &g) != 0)
				continue;
			assert_true(
				g.exam <= ING_EXAM_UNREADABLE && g.page.status <= ING_PAGE_PART);
			assert_true(g.page.wall <= ING_WALL_CHALLENGE &&
				    g.page.rule_hit_count <= ING_MAX_RULE_HITS);
			assert_int_equal(g.page.next.url == NULL, g.page.next.technique == NULL);
			assert_true(g.pdf.page_count >= 0 && isfinite(g.pdf.page0_width));
			assert_true(strspn(g.file.sha1hex, "0123456789abcdef") == 40);
			assert_true(g.tei.status == NULL || strcmp(g.tei.status, "success") == 0);
			assert_true(
				g.tei.fatcat_release == NULL || strlen(g.tei.fatcat_release) == 26);
			ing_findings_done(&g);
		}
		payload[i] = was;
	}
	ing_findings_done(&f);
	ing_buf_done(&b);
}

struct spoil_case {
	const char *name;
	void (*spoil)(struct ing_findings *f);
	bool refused; /* by the decoder, because the encoder cannot mend it */
};

static void set(char **field, const char *value)
{
	free(*field);
	*field = value != NULL ? ing_strdup(value) : NULL;
}

static void spoil_hex(struct ing_findings *f)
{
	f->file.sha1hex[3] = 'G';
}
static void spoil_short_hex(struct ing_findings *f)
{
	f->file.md5hex[31] = '\0';
}
static void spoil_no_hex(struct ing_findings *f)
{
	f->file.sha256hex[0] = '\0';
}
static void spoil_told_digests(struct ing_findings *f)
{
	f->file.decoded = false;
}
static void spoil_one_told_digest(struct ing_findings *f)
{
	f->file.decoded = false;
	f->file.md5hex[0] = f->file.sha256hex[0] = '\0';
}
static void spoil_no_type(struct ing_findings *f)
{
	f->file.mimetype[0] = '\0';
}
static void spoil_exam(struct ing_findings *f)
{
	f->exam = (enum ing_exam)(ING_EXAM_UNREADABLE + 1);
}
static void spoil_page(struct ing_findings *f)
{
	f->page.status = (enum ing_page_status)77;
}
static void spoil_cpu(struct ing_findings *f)
{
	f->cpu_us = UINT64_MAX - 5;
}
static void spoil_robots_of_nothing(struct ing_findings *f)
{
	f->exam = ING_EXAM_BAD_ENCODING;
}
static void spoil_type(struct ing_findings *f)
{
	set_type(f, "text/html; charset=\"\x01\"");
}
static void spoil_url_scheme(struct ing_findings *f)
{
	set(&f->page.links[ING_LINK_PDF].url, "file:///etc/passwd");
}
static void spoil_url_bytes(struct ing_findings *f)
{
	set(&f->page.next.url, "http://a.example/\r\nX: y");
}
static void spoil_size(struct ing_findings *f)
{
	f->pdf.page0_width = NAN;
	f->pdf.page0_height = -DBL_MAX;
	f->pdf.page_count = -1;
}
static void spoil_ids(struct ing_findings *f)
{
	set(&f->pdf.permanent_id, "0123");
	set(&f->pdf.update_id, "0123456789ABCDEF0123456789ABCDEF");
	set(&f->pdf.pdf_version, "1.7'; --");
	set(&f->pdf.created, "yesterday");
}
static void spoil_title(struct ing_findings *f)
{
	set(&f->page.title, "\xff\xfe title \xc3");
}

static void spoil_technique(struct ing_findings *f)
{
	set(&f->page.next.technique, NULL);
}
static void spoil_wall(struct ing_findings *f)
{
	f->page.wall = (enum ing_wall)99;
}
static void spoil_words(struct ing_findings *f)
{
	set(&f->page.platform, "no platform at all");
	set(&f->page.scope, "");
	set(&f->page.next.stage, "\n");
}
static void spoil_rule_hits(struct ing_findings *f)
{
	f->page.rule_hits[0].flags = UINT32_MAX;
}
static void spoil_release(struct ing_findings *f)
{
	set(&f->tei.fatcat_release, "short");
	set(&f->tei.version, "0.7\n");
}

/* clang-format off */
static const struct spoil_case spoil_cases[] = {
	{.name = "hex with another letter", .spoil = spoil_hex, .refused = true},
	{.name = "hex too short", .spoil = spoil_short_hex, .refused = true},
	{.name = "digest missing", .spoil = spoil_no_hex, .refused = true},
	{.name = "digests of a body as sent", .spoil = spoil_told_digests, .refused = true},
	{.name = "one digest of a body as sent", .spoil = spoil_one_told_digest, .refused = true},
	{.name = "type missing", .spoil = spoil_no_type, .refused = true},
	{.name = "exam out of range", .spoil = spoil_exam, .refused = true},
	{.name = "page status out of range", .spoil = spoil_page, .refused = true},
	{.name = "CPU time of centuries", .spoil = spoil_cpu, .refused = true},
	{.name = "robots.txt that was not decoded", .spoil = spoil_robots_of_nothing,
		.refused = true},
	{.name = "type with parameters", .spoil = spoil_type},
	{.name = "link to a file", .spoil = spoil_url_scheme},
	{.name = "link with a line break", .spoil = spoil_url_bytes},
	{.name = "page of no size", .spoil = spoil_size},
	{.name = "odd identifiers", .spoil = spoil_ids},
	{.name = "title in no encoding", .spoil = spoil_title},
	{.name = "link without technique", .spoil = spoil_technique},
	{.name = "wall of no kind", .spoil = spoil_wall, .refused = true},
	{.name = "odd guesses", .spoil = spoil_words},
	{.name = "rule hits with unknown flags", .spoil = spoil_rule_hits},
	{.name = "a release of five letters", .spoil = spoil_release},
};
/* clang-format on */

static void test_spoilt_findings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(spoil_cases); i++) {
		struct ing_findings f, g;
		struct ing_buf b;
		fill_findings(&f);
		spoil_cases[i].spoil(&f);
		encode(&b, &f);
		int rc = decode(&b, &g);
		if ((rc != 0) != spoil_cases[i].refused)
			fail_msg("%s: %d", spoil_cases[i].name, rc);
		if (rc == 0)
			ing_findings_done(&g);
		ing_findings_done(&f);
		ing_buf_done(&b);
	}
}

/* Rules as a parser would never send them. They go where a reply without any has its flag. */
static void test_robots_rules_are_those_of_a_parser(void **state)
{
	static const struct {
		const char *name;
		/* clang-format off */
		struct ing_robots_rule rules[3];
		uint32_t count, said; /* said: what the list claims to have */
		uint32_t crawl_delay_ms;
		bool good;
	} cases[] = {
		{.name = "in order",
			.rules = {{"/aa", 3, 9, false}, {"/b", 2, 1, true}, {"/b", 2, 1, false}},
			.count = 3, .said = 3, .crawl_delay_ms = INT32_MAX, .good = true},
		{.name = "none", .rules = {{NULL, 0, 0, false}}, .good = true},
		{.name = "the same twice", .rules = {{"/a", 2, 1, true}, {"/a", 2, 1, true}},
			.count = 2, .said = 2, .good = true},
		{.name = "shortest first", .rules = {{"/b", 2, 1, true}, {"/aa", 3, 9, false}},
			.count = 2, .said = 2},
		{.name = "Disallow first", .rules = {{"/b", 2, 1, false}, {"/b", 2, 2, true}},
			.count = 2, .said = 2},
		{.name = "last line first", .rules = {{"/b", 2, 2, true}, {"/b", 2, 1, true}},
			.count = 2, .said = 2},
		{.name = "an empty pattern", .rules = {{"", 0, 1, true}}, .count = 1, .said = 1},
		{.name = "a NUL", .rules = {{"/\0a", 3, 1, true}}, .count = 1, .said = 1},
		{.name = "two lines", .rules = {{"/\na", 3, 1, true}}, .count = 1, .said = 1},
		{.name = "a byte that is escaped", .rules = {{"/\xc3\xa4", 3, 1, true}},
			.count = 1, .said = 1},
		{.name = "line 0", .rules = {{"/", 1, 0, true}}, .count = 1, .said = 1},
		{.name = "a line behind the largest file",
			.rules = {{"/", 1, (512 << 10) + 2, true}}, .count = 1, .said = 1},
		{.name = "a delay of months", .rules = {{"/", 1, 1, true}}, .count = 1, .said = 1,
			.crawl_delay_ms = UINT32_MAX},
		{.name = "more than come", .rules = {{"/", 1, 1, true}}, .count = 1, .said = 2},
		{.name = "fewer than come", .rules = {{"/aa", 3, 1, true}, {"/", 1, 1, true}},
			.count = 2, .said = 1},
		{.name = "a hundred thousand", .rules = {{"/", 1, 1, true}}, .count = 1,
			.said = 100000},
		{.name = "four billion", .rules = {{"/", 1, 1, true}}, .count = 1,
			.said = UINT32_MAX},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_findings f, g;
		struct ing_buf b, with;
		fill_findings(&f);
		ing_robots_txt_free(ING_TAKE(f.robots.txt));
		encode(&b, &f);
		ing_buf_init(&with, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
		size_t tail = 1 + 8 + 8; /* no rules, two CPU times */
		ing_buf_add(
			&with, b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES - tail);
		ing_wire_put_u8(&with, 1);
		ing_wire_put_u8(&with, 0);
		ing_wire_put_u32(&with, cases[i].crawl_delay_ms);
		ing_wire_put_u32(&with, cases[i].said);
		for (uint32_t k = 0; k < cases[i].count; k++) {
			const struct ing_robots_rule *rule = &cases[i].rules[k];
			ing_wire_put_u8(&with, rule->allow);
			ing_wire_put_u32(&with, rule->line);
			ing_wire_put_bytes(&with, rule->pattern, rule->bytes);
		}
		ing_buf_add(&with, b.data + b.len - 16, 16);
		int rc = ing_proto_get_reply(with.data, with.len, &g);
		if ((rc == 0) != cases[i].good)
			fail_msg("%s: %d", cases[i].name, rc);
		assert_int_equal(rc == 0, g.robots.txt != NULL);
		if (rc == 0)
			assert_int_equal(ing_robots_txt_count(g.robots.txt), cases[i].count);
		ing_findings_done(&g);
		ing_findings_done(&f);
		ing_buf_done(&b);
		ing_buf_done(&with);
	}
}

/* As large as a file may make it: all rules arrive. */
static void test_the_longest_robots_file_fits_into_a_reply(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"allow:a\n", "allow:/index.htm\n", "allow:\xff\xff\xff\n"};
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++) {
		struct ing_findings f, g;
		struct ing_buf b, file;
		ing_buf_init(&file, ING_ROBOTS_TXT_MAX_BYTES);
		ing_buf_add_str(&file, "user-agent:*\n");
		while (file.max - file.len > strlen(lines[i]))
			ing_buf_add_str(&file, lines[i]);
		fill_findings(&f);
		ing_robots_txt_free(f.robots.txt);
		f.robots.txt = ing_robots_txt_parse(file.data, file.len, "tester");
		encode(&b, &f);
		assert_int_equal(decode(&b, &g), 0);
		assert_int_equal(
			ing_robots_txt_count(g.robots.txt), ing_robots_txt_count(f.robots.txt));
		assert_true(ing_robots_txt_count(g.robots.txt) > 40000);
		ing_findings_done(&g);
		ing_findings_done(&f);
		ing_buf_done(&b);
		ing_buf_done(&file);
	}
}

static void test_honest_encoder_mends(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	spoil_type(&f);
	spoil_url_scheme(&f);
	spoil_technique(&f);
	spoil_words(&f);
	spoil_rule_hits(&f);
	spoil_size(&f);
	spoil_ids(&f);
	spoil_title(&f);
	encode(&b, &f);
	assert_int_equal(decode(&b, &g), 0);
	assert_string_equal(g.file.mimetype, "application/octet-stream");
	assert_null(g.page.links[ING_LINK_PDF].url);
	assert_null(g.page.links[ING_LINK_PDF].technique);
	assert_null(g.page.next.url);
	assert_null(g.page.platform);
	assert_null(g.page.scope);
	assert_int_equal(g.page.rule_hits[0].flags, ING_RULE_ALL);
	assert_true(g.pdf.page0_width == 0 && g.pdf.page0_height == 0 && g.pdf.page_count == 0);
	assert_null(g.pdf.permanent_id);
	assert_null(g.pdf.update_id);
	assert_null(g.pdf.pdf_version);
	assert_null(g.pdf.created);
	assert_string_equal(g.page.title, "\xef\xbf\xbd\xef\xbf\xbd title \xef\xbf\xbd");
	ing_findings_done(&g);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static void set_repeat(char **field, char c, size_t count)
{
	free(*field);
	*field = repeat(c, count);
}

/* As many characters as may be, of four bytes each: what a writer of JSON copies as it is. */
static char *make_widest_xmp(void)
{
	size_t bytes = (size_t)ING_MAX_PDF_TEXT_CHARS * 4;
	char *s = repeat(' ', bytes);
	for (size_t i = 0; i < bytes; i += 4)
		memcpy(s + i, "\xf0\x9f\x98\x80", 4);
	return s;
}

static char *find_in(const struct ing_buf *b, const char *words)
{
	char *at = memmem(b->data, b->len, words, strlen(words));
	assert_non_null(at);
	return at;
}

/* A result with four megabytes of control characters would keep the loop for a quarter of a second:
 * writing one as JSON is a hundred times the work of writing a letter. */
static void test_xmp_is_short_and_free_of_control_characters(void **state)
{
	static const char words[] = "<x:xmpmeta>\x01\x1f\t\r\n\x7f</x:xmpmeta>";
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	set(&f.pdf.meta_xml, words);
	encode(&b, &f);
	assert_int_equal(decode(&b, &g), 0);
	assert_string_equal(g.pdf.meta_xml, "<x:xmpmeta>  \t\r\n\x7f</x:xmpmeta>");
	ing_findings_done(&g);
	*find_in(&b, "\x7f</x:xmpmeta>") = '\x1b';
	assert_int_not_equal(decode(&b, &g), 0);
	ing_buf_done(&b);

	free(f.pdf.meta_xml);
	f.pdf.meta_xml = make_widest_xmp();
	encode(&b, &f);
	assert_int_equal(decode(&b, &g), 0);
	ing_findings_done(&g);
	memcpy(find_in(&b, "\xf0\x9f\x98\x80"), "four", 4); /* is more characters */
	assert_int_not_equal(decode(&b, &g), 0);
	ing_buf_done(&b);

	set_repeat(&f.pdf.meta_xml, 'x', ING_MAX_PDF_TEXT_CHARS + 1);
	encode(&b, &f);
	assert_int_equal(decode(&b, &g), 0);
	assert_null(g.pdf.meta_xml);
	ing_findings_done(&g);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

/* The largest of everything fits into one reply; what is larger is cut or left out. */
static void test_reply_of_the_largest(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	free(f.pdf.text);
	free(f.pdf.meta_xml);
	free(f.pdf.info_json);
	free(f.page.title);
	free(f.detail);
	f.pdf.text = repeat('t', (size_t)ING_MAX_PDF_TEXT_CHARS * 4 + 100);
	f.pdf.meta_xml = make_widest_xmp();
	f.pdf.info_json = repeat('j', ((size_t)1 << 20) + 1);
	f.page.title = repeat('y', 1001);
	set_repeat(&f.page.biblio_json, 'b', ING_MAX_BIBLIO_BYTES);
	set_repeat(&f.page.wall_detail, 'w', 1 << 20);
	set_repeat(&f.page.next.technique, 't', 1 << 20);
	free(f.page.rule_hits);
	f.page.rule_hits = ing_alloc(600 * sizeof(struct ing_rule_hit));
	f.page.rule_hit_count = 600;
	f.detail = repeat('d', 1 << 20);
	encode(&b, &f);
	assert_int_equal(decode(&b, &g), 0);
	assert_int_equal(strlen(g.pdf.text), ING_MAX_PDF_TEXT_CHARS * 4);
	assert_int_equal(strlen(g.pdf.meta_xml), strlen(f.pdf.meta_xml));
	assert_null(g.pdf.info_json);
	assert_int_equal(strlen(g.page.title), 1000);
	assert_int_equal(strlen(g.page.biblio_json), ING_MAX_BIBLIO_BYTES);
	assert_int_equal(strlen(g.page.wall_detail), ING_MAX_ERROR_CHARS);
	assert_int_equal(strlen(g.page.next.technique), 200);
	assert_int_equal(g.page.rule_hit_count, ING_MAX_RULE_HITS);
	assert_int_equal(strlen(g.detail), ING_MAX_ERROR_CHARS);
	ing_findings_done(&g);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static void test_text_is_made_valid(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name, *wire;
		size_t bytes;
		const char *want; /* NULL: refused */
	} cases[] = {
		{.name = "plain", .wire = "\3\0\0\0abc", .bytes = 7, .want = "abc"},
		{.name = "empty", .wire = "\0\0\0\0", .bytes = 4, .want = ""},
		{.name = "NUL inside", .wire = "\3\0\0\0a\0b", .bytes = 7,
			.want = "a\xef\xbf\xbd" "b"},
		{.name = "surrogate", .wire = "\3\0\0\0\xed\xa0\x80", .bytes = 7,
			.want = "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{.name = "cleaned, then cut to the ceiling",
			.wire = "\5\0\0\0\xff\xff\xff\xff\xff", .bytes = 9,
			.want = "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{.name = "longer than its ceiling", .wire = "\13\0\0\0abcdefghijk", .bytes = 15,
			.want = NULL},
		{.name = "longer than what is left", .wire = "\4\0\0\0abc", .bytes = 7,
			.want = NULL},
		{.name = "length of all but one", .wire = "\376\377\377\377abc", .bytes = 7,
			.want = NULL},
		{.name = "cut length", .wire = "\3\0", .bytes = 2, .want = NULL},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_wire w;
		ing_wire_init(&w, cases[i].wire, cases[i].bytes);
		char *text = ing_wire_text(&w, 10);
		bool same = cases[i].want != NULL ? text != NULL && strcmp(text, cases[i].want) == 0
						  : w.failed;
		if (!same)
			fail_msg("%s: %s", cases[i].name, text != NULL ? text : "NULL");
		free(text);
	}
}

static void test_wire_sticks_to_its_first_fault(void **state)
{
	struct ing_wire w;
	(void)state;
	ing_wire_init(&w, "\1\2\3\4\5", 5);
	assert_int_equal(ing_wire_u8(&w), 1);
	assert_int_equal(ing_wire_u64(&w), 0);
	assert_int_equal(ing_wire_u8(&w), 0); /* there is one, but not for us any more */
	assert_false(ing_wire_end(&w));
}

static void test_frame_heads(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name, *head;
		int want;
		size_t bytes;
	} cases[] = {
		{.name = "good", .head = "IXr\7\5\0\0\0", .want = 0, .bytes = 5},
		{.name = "at the ceiling", .head = "IXr\7\0\1\0\0", .want = 0, .bytes = 256},
		{.name = "over the ceiling", .head = "IXr\7\1\1\0\0", .want = -ING_FAIL_TOO_BIG},
		{.name = "four gigabytes", .head = "IXr\7\377\377\377\377",
			.want = -ING_FAIL_TOO_BIG},
		{.name = "another kind", .head = "IXq\7\5\0\0\0", .want = -ING_FAIL_SYNTAX},
		{.name = "another version", .head = "IXr\4\5\0\0\0", .want = -ING_FAIL_SYNTAX},
		{.name = "not ours", .head = "HTTP/1.1", .want = -ING_FAIL_SYNTAX},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		size_t bytes = 0;
		int rc = ing_proto_head(cases[i].head, ING_PROTO_REPLY, 256, &bytes);
		if (rc != cases[i].want || bytes != cases[i].bytes)
			fail_msg("%s: %d, %zu", cases[i].name, rc, bytes);
	}
}

static void test_question_round_trip(void **state)
{
	struct ing_exam_request q = {.url = "http://example.org/",
		.content_type = NULL,
		.content_encoding = "gzip",
		.want = ING_WANT_LINKS | ING_WANT_PDF,
		.max_body_bytes = 1ULL << 33,
		.max_scrape_bytes = 7,
		.pdf_timeout_ms = 30000,
		.max_ratio = 400,
		.agent = "tester/1.0",
		.body_cut = true};
	struct ing_proto_request o;
	struct ing_buf b;
	size_t payload;
	(void)state;
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_EXAM_REQUEST_BYTES);
	ing_proto_put_request(&b, &q, 40000, 99);
	assert_int_equal(
		ing_proto_head(b.data, ING_PROTO_REQUEST, ING_MAX_EXAM_REQUEST_BYTES, &payload), 0);
	assert_int_equal(ing_proto_get_request(b.data + ING_PROTO_HEAD_BYTES, payload, &o), 0);
	assert_string_equal(o.q.url, q.url);
	assert_null(o.q.content_type);
	assert_string_equal(o.q.content_encoding, "gzip");
	assert_int_equal(o.q.want, q.want);
	assert_true(o.q.max_body_bytes == q.max_body_bytes && o.q.max_scrape_bytes == 7);
	assert_int_equal(o.q.pdf_timeout_ms, 30000);
	assert_int_equal(o.q.max_ratio, 400);
	assert_string_equal(o.q.agent, "tester/1.0");
	assert_true(o.q.body_cut);
	assert_int_equal(o.timeout_ms, 40000);
	assert_int_equal(o.body_bytes, 99);
	ing_proto_request_done(&o);
	for (size_t n = 0; n < payload; n++)
		assert_int_equal(ing_proto_get_request(b.data + ING_PROTO_HEAD_BYTES, n, &o),
			-ING_FAIL_INVALID);
	/* Rules are somebody's. */
	q.want = ING_WANT_ROBOTS;
	q.agent = NULL;
	ing_buf_clear(&b);
	ing_proto_put_request(&b, &q, 40000, 99);
	assert_int_equal(ing_proto_get_request(
				 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &o),
		-ING_FAIL_INVALID);
	ing_buf_done(&b);
}

/* A server may send header values of any length: the question stays within its frame. */
static void test_question_of_the_largest(void **state)
{
	char *url = repeat('u', 9000);
	char *value = repeat('v', 200000);
	struct ing_exam_request q = {
		.url = url, .content_type = value, .content_encoding = value, .agent = value};
	struct ing_proto_request o;
	struct ing_buf b;
	(void)state;
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_EXAM_REQUEST_BYTES);
	ing_proto_put_request(&b, &q, 1, 0);
	assert_false(b.failed);
	assert_int_equal(ing_proto_get_request(
				 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &o),
		0);
	assert_null(o.q.url);
	assert_int_equal(strlen(o.q.content_type), 1024);
	ing_proto_request_done(&o);
	ing_buf_done(&b);
	free(url);
	free(value);
}

static int get_file(const struct ing_buf *b, struct ing_file_meta *file)
{
	return ing_proto_get_file(
		b->data + ING_PROTO_HEAD_BYTES, b->len - ING_PROTO_HEAD_BYTES, file);
}

static void test_file_round_trip(void **state)
{
	struct ing_findings f;
	struct ing_file_meta got;
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_PROTO_FILE_BYTES);
	ing_proto_put_file(&b, &f.file);
	assert_int_equal(get_file(&b, &got), 0);
	assert_string_equal(got.mimetype, f.file.mimetype);
	assert_string_equal(got.sha256hex, f.file.sha256hex);
	assert_int_equal(got.size_bytes, f.file.size_bytes);
	/* Digests are those of a decoded body, or there are none. */
	f.file.decoded = !f.file.decoded;
	ing_buf_clear(&b);
	ing_proto_put_file(&b, &f.file);
	assert_int_equal(get_file(&b, &got), -ING_FAIL_INVALID);
	assert_string_equal(got.mimetype, "");
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static int get_part(const struct ing_buf *b, enum ing_pdf_part part, struct ing_pdf *pdf)
{
	return ing_proto_get_pdf_part(
		b->data + ING_PROTO_HEAD_BYTES, b->len - ING_PROTO_HEAD_BYTES, part, pdf);
}

static void test_pdf_round_trip(void **state)
{
	struct ing_findings f;
	struct ing_pdf pdf = {0};
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf_part(&b, ING_PDF_TEXT, &f.pdf);
	assert_int_equal(get_part(&b, ING_PDF_TEXT, &pdf), 0);
	assert_string_equal(pdf.text, f.pdf.text);
	ing_pdf_done(&pdf);
	/* Without a status it is no answer. */
	set(&f.pdf.status, NULL);
	ing_buf_clear(&b);
	ing_proto_put_pdf_part(&b, ING_PDF_TEXT, &f.pdf);
	assert_int_equal(get_part(&b, ING_PDF_TEXT, &pdf), -ING_FAIL_INVALID);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static void test_pdf_status_is_a_known_one(void **state)
{
	struct ing_findings f;
	struct ing_pdf pdf = {0};
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf_part(&b, ING_PDF_TEXT, &f.pdf);
	char *status = memmem(b.data, b.len, "success", 7);
	assert_non_null(status);
	memcpy(status, "succeed", 7);
	assert_int_equal(get_part(&b, ING_PDF_TEXT, &pdf), -ING_FAIL_INVALID);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static void test_what_archives_hold(void **state)
{
	static const struct {
		const char *contains, *want;
	} cases[] = {
		{"", ""}, {"text/x-tex", "text/x-tex"},
		{"text/x-tex,image/png", "text/x-tex,image/png"},
		{"Text", ""}, /* not sent: it would cost the document its other findings */
	};
	static const char *const lies[] = {
		"text/x-tex,", "text", "a/b,,c/d", "text/<b>", "text/plain, a/b"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_findings f, g;
		struct ing_buf b;
		fill_findings(&f);
		snprintf(f.file.contains, sizeof(f.file.contains), "%s", cases[i].contains);
		encode(&b, &f);
		assert_int_equal(decode(&b, &g), 0);
		assert_string_equal(g.file.contains, cases[i].want);
		ing_findings_done(&g);
		ing_findings_done(&f);
		ing_buf_done(&b);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(lies); i++) {
		struct ing_findings f, g;
		struct ing_buf b;
		char honest[32];
		fill_findings(&f);
		memset(honest, 'q', sizeof(honest));
		honest[1] = '/';
		honest[strlen(lies[i])] = '\0';
		/* As long as the lie, which is put in its place. */
		snprintf(f.file.contains, sizeof(f.file.contains), "%s", honest);
		encode(&b, &f);
		char *at = memmem(b.data, b.len, honest, strlen(honest));
		assert_non_null(at);
		memcpy(at, lies[i], strlen(lies[i]));
		assert_int_equal(decode(&b, &g), -ING_FAIL_INVALID);
		ing_findings_done(&f);
		ing_buf_done(&b);
	}
}

/* A process that was taken over may say anything; what cannot be is refused. */
static void test_xml_that_cannot_be(void **state)
{
	static const struct {
		const char *status, *jats_xml;
		bool good;
	} cases[] = {
		{"success", "<article/>", true},
		{"success", NULL, true},
		{"xml-parse-error", NULL, true},
		{NULL, NULL, true},
		{"xml-parse-error", "<article/>", false},
		{NULL, "<article/>", false},
		{"fine", NULL, false},
		{"succ ess", NULL, false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf b;
		struct ing_wire w;
		struct ing_xml_found found = {0};
		ing_buf_init(&b, 4096);
		ing_wire_put_whole(&b, cases[i].status, 100);
		ing_wire_put_whole(&b, NULL, 100);
		ing_wire_put_whole(&b, cases[i].jats_xml, 100);
		ing_wire_init(&w, b.data, b.len);
		ing_proto_get_xml(&w, &found);
		assert_int_equal(ing_wire_end(&w), cases[i].good);
		ing_xml_found_done(&found);
		ing_buf_done(&b);
	}
}

static void test_main_text_that_cannot_be(void **state)
{
	static const struct {
		const char *status, *tei_xml, *language;
		bool good;
	} cases[] = {
		{"success", "<TEI/>", "en", true},
		{"success", "<TEI/>", "zh-Hant-TW", true},
		{"empty-xml", NULL, NULL, true},
		{"tei-too-large", NULL, "abcdefgh-12345678", true},
		{NULL, NULL, NULL, true},
		{"success", NULL, NULL, false},
		{"empty-xml", "<TEI/>", NULL, false},
		{NULL, "<TEI/>", NULL, false},
		{"page-too-large", NULL, NULL, false},
		{"empty-xml", NULL, "e_n", false},
		{"empty-xml", NULL, "en-", false},
		{"empty-xml", NULL, "-", false},
		{"empty-xml", NULL, "x1-en", false},
		{"empty-xml", NULL, "abcdefghi", false},
		{"empty-xml", NULL, "en-abcdefghi", false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf b;
		struct ing_wire w;
		struct ing_text_found found = {0};
		ing_buf_init(&b, 4096);
		ing_wire_put_whole(&b, cases[i].status, 100);
		ing_wire_put_whole(&b, cases[i].tei_xml, 100);
		ing_wire_put_whole(&b, cases[i].language, 100);
		ing_wire_put_u32(&b, 7);
		ing_wire_init(&w, b.data, b.len);
		ing_proto_get_text(&w, &found);
		assert_int_equal(ing_wire_end(&w), cases[i].good);
		ing_text_found_done(&found);
		ing_buf_done(&b);
	}
}

/* An odd tag does not cost a page its text. */
static void test_main_text_in_an_odd_language(void **state)
{
	struct ing_buf b;
	struct ing_wire w;
	struct ing_text_found got = {0};
	const struct ing_text_found sent = {
		.status = (char[]){"empty-xml"}, .language = (char[]){"x1"}, .word_count = 0};
	(void)state;
	ing_buf_init(&b, 4096);
	ing_proto_put_text(&b, &sent);
	ing_wire_init(&w, b.data, b.len);
	ing_proto_get_text(&w, &got);
	assert_true(ing_wire_end(&w));
	assert_string_equal(got.status, "empty-xml");
	assert_null(got.language);
	ing_text_found_done(&got);
	ing_buf_done(&b);
}

static void set_thumbnail(struct ing_pdf *pdf, const char *begin, const char *end, size_t bytes)
{
	free(pdf->thumbnail.data);
	pdf->thumbnail = (struct ing_pdf_thumbnail){.data = ing_alloc(bytes), .bytes = bytes};
	memcpy(pdf->thumbnail.data, begin, strlen(begin));
	memcpy(pdf->thumbnail.data + bytes - strlen(end), end, strlen(end));
}

/* Each part replaces its own members and no others. */
static void test_pdf_parts_follow_one_another(void **state)
{
	struct ing_findings f;
	struct ing_pdf pdf = {0};
	struct ing_buf b;
	(void)state;
	fill_findings(&f);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf_part(&b, ING_PDF_TEXT, &f.pdf);
	assert_int_equal(get_part(&b, ING_PDF_TEXT, &pdf), 0);
	set(&f.pdf.info_json, "{\"doi\":\"10.1/1\"}");
	set(&f.pdf.status, "bad-unicode");
	ing_buf_clear(&b);
	ing_proto_put_pdf_part(&b, ING_PDF_INFO, &f.pdf);
	assert_int_equal(get_part(&b, ING_PDF_INFO, &pdf), 0);
	set_thumbnail(&f.pdf, "\xff\xd8\xff", "\xff\xd9", 5000);
	ing_buf_clear(&b);
	ing_proto_put_pdf_part(&b, ING_PDF_THUMBNAIL, &f.pdf);
	assert_int_equal(get_part(&b, ING_PDF_THUMBNAIL, &pdf), 0);
	assert_string_equal(pdf.text, f.pdf.text);
	assert_string_equal(pdf.info_json, "{\"doi\":\"10.1/1\"}");
	assert_string_equal(pdf.status, "bad-unicode");
	assert_int_equal(pdf.thumbnail.bytes, 5000);
	assert_memory_equal(pdf.thumbnail.data, f.pdf.thumbnail.data, 5000);
	/* A part that is invalid changes nothing. */
	assert_int_equal(get_part(&b, ING_PDF_INFO, &pdf), -ING_FAIL_INVALID);
	assert_string_equal(pdf.status, "bad-unicode");
	ing_pdf_done(&pdf);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static void test_pdf_thumbnail_is_a_small_jpeg(void **state)
{
	static const struct {
		const char *begin, *end;
		size_t bytes;
		bool good;
	} cases[] = {
		{"\xff\xd8\xff", "\xff\xd9", ING_MIN_THUMBNAIL_BYTES, true},
		{"\xff\xd8\xff", "\xff\xd9", ING_MAX_THUMBNAIL_BYTES, true},
		{"\xff\xd8\xff", "\xff\xd9", ING_MIN_THUMBNAIL_BYTES - 1, false},
		{"\xff\xd8\xff", "\xff\xd9", ING_MAX_THUMBNAIL_BYTES + 1, false},
		{"\x89PNG", "\xff\xd9", 5000, false},
		{"\xff\xd8\xff", "html>", 5000, false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_pdf pdf = {0};
		struct ing_pdf got = {0};
		struct ing_buf b;
		set_thumbnail(&pdf, cases[i].begin, cases[i].end, cases[i].bytes);
		ing_buf_init(&b, ING_MAX_REPLY_BYTES);
		/* The encoder leaves it out. */
		ing_proto_put_pdf_part(&b, ING_PDF_THUMBNAIL, &pdf);
		assert_int_equal(get_part(&b, ING_PDF_THUMBNAIL, &got), 0);
		assert_int_equal(got.thumbnail.data != NULL, cases[i].good);
		ing_pdf_done(&got);
		/* The decoder refuses it. */
		ing_buf_clear(&b);
		size_t at = ing_proto_begin(&b, ING_PROTO_PDF_THUMBNAIL);
		ing_wire_put_bytes(&b, pdf.thumbnail.data, pdf.thumbnail.bytes);
		ing_proto_end(&b, at);
		assert_int_equal(get_part(&b, ING_PDF_THUMBNAIL, &got),
			cases[i].good ? 0 : -ING_FAIL_INVALID);
		ing_pdf_done(&got);
		ing_pdf_done(&pdf);
		ing_buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reply_round_trip),
		cmocka_unit_test(test_xml_that_cannot_be),
		cmocka_unit_test(test_main_text_that_cannot_be),
		cmocka_unit_test(test_main_text_in_an_odd_language),
		cmocka_unit_test(test_what_archives_hold),
		cmocka_unit_test(test_reply_must_be_whole),
		cmocka_unit_test(test_reply_with_a_wrong_byte),
		cmocka_unit_test(test_spoilt_findings),
		cmocka_unit_test(test_robots_rules_are_those_of_a_parser),
		cmocka_unit_test(test_the_longest_robots_file_fits_into_a_reply),
		cmocka_unit_test(test_honest_encoder_mends),
		cmocka_unit_test(test_xmp_is_short_and_free_of_control_characters),
		cmocka_unit_test(test_reply_of_the_largest),
		cmocka_unit_test(test_text_is_made_valid),
		cmocka_unit_test(test_wire_sticks_to_its_first_fault),
		cmocka_unit_test(test_frame_heads),
		cmocka_unit_test(test_question_round_trip),
		cmocka_unit_test(test_question_of_the_largest),
		cmocka_unit_test(test_pdf_round_trip),
		cmocka_unit_test(test_pdf_status_is_a_known_one),
		cmocka_unit_test(test_file_round_trip),
		cmocka_unit_test(test_pdf_parts_follow_one_another),
		cmocka_unit_test(test_pdf_thumbnail_is_a_small_jpeg),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
