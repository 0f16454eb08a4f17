/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Findings that are well formed and untrue: the input chooses what an examiner says of every body
 * of a request (sizes, digests, types, links, records, rules, an Info dictionary), the protocol
 * carries it, and a job among made-up stages uses it. Whatever is said: the request gets one
 * result, of a known status, after a bounded number of fetches; and the digests of a body as sent
 * are those of its bytes.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/data/json.h"
#include "fake_gate.h"
#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/proto.h"
#include "worker/job/job.h"
#include "worker/rules/rule_stats.h"
#include "worker/model/limits.h"

FUZZ_BUDGET(.cpu_us = 10000, .cpu_byte_ns = 5000, .heap_kb = 5000, .heap_byte = 500);

#define MAX_HOPS 3
#define MAX_STEPS 64
#define MAX_BODY_BYTES 1000
#define RULES_DIGEST 7

/* Choices, one byte each; zeros once they are used up. */
struct choices {
	const uint8_t *at;
	size_t left;
};

static unsigned choose(struct choices *c, unsigned count)
{
	if (c->left == 0)
		return 0;
	c->left--;
	return *c->at++ % count;
}

#define PICK(c, list) ((list)[choose(c, ING_ARRAY_LEN(list))])

/* What is sent. */
static const struct body {
	const char *bytes, *content_encoding;
} bodies[] = {
	{"ten bytes.", NULL},
	{"ten bytes.", "gzip"},
	{"ten bytes.", "identity"},
	{"\x1f\x8b\x08 begins as gzip", NULL},
	{"<!doctype html><title>A page</title>", NULL},
	{"%PDF-1.4 or so", "br"},
};

/* Whether there is something that could be decoded. */
static bool is_coded(const struct body *body)
{
	bool gzip = memcmp(body->bytes, "\x1f\x8b\x08", 3) == 0;
	return gzip ||
	       (body->content_encoding != NULL && strcmp(body->content_encoding, "identity") != 0);
}

/* --- lies --- */

static char *repeat(const char *front, const char *unit, size_t count, const char *back)
{
	struct ing_buf b;
	ing_buf_init(&b, (size_t)32 << 20);
	ing_buf_add_str(&b, front);
	for (size_t i = 0; i < count; i++)
		ing_buf_add_str(&b, unit);
	ing_buf_add_str(&b, back);
	ing_must(!b.failed);
	return ing_buf_steal(&b);
}

/* Some of the input itself, as text. */
static char *raw_text(struct choices *c)
{
	size_t bytes = ING_MIN(c->left, (size_t)choose(c, 64));
	bytes = ING_MIN(bytes, c->left);
	char *s = ing_alloc(bytes + 1);
	memcpy(s, c->at, bytes);
	for (size_t i = 0; i < bytes; i++)
		s[i] = s[i] == '\0' ? ' ' : s[i];
	c->at += bytes;
	c->left -= bytes;
	return s;
}

static char *lie_json(struct choices *c)
{
	switch (choose(c, 12)) {
	case 0:
		return NULL;
	case 1:
		return ing_strdup(
			"{\"title\":\"A title\",\"doi\":\"10.1/x\",\"release_year\":2021}");
	case 2:
		return ing_strdup("{\"Title\":\"A title\",\"Author\":\"B\",\"doi\":\"10.1/x\"}");
	case 3:
		return repeat("", "[", 50000, "");
	case 4:
		return repeat("{\"title\":", "{\"a\":", 30000, "1");
	case 5:
		return ing_strdup("{\"title\":7,\"Title\":[],\"Author\":{},\"contribs\":\"x\","
				  "\"release_year\":\"MMXXI\",\"release_date\":\"soon\"}");
	case 6:
		return repeat("{\"title\":\"T\",\"raw_references\":[", "\"r\",", 20000, "\"r\"]}");
	case 7:
		return repeat("{\"Title\":\"", "x", 300000, "\"}");
	case 8:
		return repeat("{\"title\":\"T\"", ",\"x\":1", 10000, "}");
	case 9:
		return ing_strdup("{\"title\":\"\\u0000\\ud800\",\"Title\":\"\\u0000\"}");
	case 10:
		return ing_strdup("[{}]");
	default:
		return raw_text(c);
	}
}

static char *lie_url(struct choices *c)
{
	static const char *const urls[] = {"https://a.example/", "https://a.example/1.pdf",
		"https://b.example/2", "https://b.example/3", "https://b.example/4",
		"http://user:password@c.example/", "http://a.example:80/#f", "http://[::1]/",
		"http://127.0.0.1/", "https://a.example/%00", "http:///",
		"https://a.example/../../x", "HTTP://A.EXAMPLE/", "http://xn--a.example/",
		"javascript:alert(1)", ""};
	unsigned kind = choose(c, 8);
	if (kind == 0)
		return repeat("https://a.example/", "long/", 1600, "");
	return kind == 1 ? raw_text(c) : ing_strdup(PICK(c, urls));
}

static struct ing_page_link lie_link(struct choices *c)
{
	if (choose(c, 3) == 0)
		return (struct ing_page_link){.rule = ING_NO_RULE};
	return (struct ing_page_link){.url = lie_url(c),
		.technique = choose(c, 4) == 0 ? raw_text(c) : ing_strdup("citation_pdf_url"),
		.stage = choose(c, 2) == 0 ? NULL : ing_strdup("published"),
		.self = choose(c, 3) == 1,
		.rule = choose(c, 2) == 0 ? choose(c, 4) : ING_NO_RULE - choose(c, 3)};
}

static void lie_file(struct choices *c, const struct body *body, struct ing_file_meta *ret)
{
	static const char *const types[] = {"application/pdf", "text/html", "text/html",
		"text/html", "text/xml", "image/png", "application/x-empty",
		"application/xhtml+xml", ""};
	/* Mostly the truth, or no job would come far. */
	const uint64_t size = strlen(body->bytes);
	const uint64_t sizes[] = {size, size, size, size, size, 0, size + 1, UINT64_MAX};
	ret->decoded = is_coded(body) != (choose(c, 6) == 5);
	ret->size_bytes = PICK(c, sizes);
	/* As the protocol wants them, mostly. */
	unsigned digests = choose(c, 8);
	bool tell = digests == 7 ? !ret->decoded : ret->decoded;
	if (tell) {
		memset(ret->md5hex, 'a', sizeof(ret->md5hex) - 1);
		memset(ret->sha1hex, 'b', sizeof(ret->sha1hex) - 1);
		memset(ret->sha256hex, 'c', sizeof(ret->sha256hex) - 1);
	}
	snprintf(ret->mimetype, sizeof(ret->mimetype), "%s", PICK(c, types));
}

static void lie_uses(struct choices *c, struct ing_page *ret)
{
	static const uint32_t counts[] = {0, 1, ING_MAX_RULE_HITS, ING_MAX_RULE_HITS + 1};
	ret->rules_digest = choose(c, 2) == 0 ? RULES_DIGEST : UINT64_MAX;
	ret->rule_hit_count = PICK(c, counts);
	ret->rule_hits = ing_alloc((ret->rule_hit_count + 1) * sizeof(*ret->rule_hits));
	uint32_t first = choose(c, 2) == 0 ? 0 : UINT32_MAX - 100;
	for (uint32_t i = 0; i < ret->rule_hit_count; i++)
		ret->rule_hits[i] =
			(struct ing_rule_hit){.rule = first + i, .flags = i % (ING_RULE_ALL + 1)};
}

static void lie_page(struct choices *c, struct ing_page *ret)
{
	ret->status = (enum ing_page_status)choose(c, ING_PAGE_PART + 1);
	ret->title = choose(c, 3) == 0 ? NULL : raw_text(c);
	for (size_t i = 0; i < ING_LINK_KINDS_; i++)
		ret->links[i] = lie_link(c);
	ret->next = lie_link(c);
	ret->wall = (enum ing_wall)(choose(c, 4) == 0 ? choose(c, ING_WALL_CHALLENGE + 1) : 0);
	ret->wall_detail = choose(c, 3) == 0 ? raw_text(c) : NULL;
	ret->platform = choose(c, 3) == 0 ? raw_text(c) : NULL;
	ret->scope = choose(c, 3) == 0 ? ing_strdup("article-fulltext") : NULL;
	ret->biblio_json = lie_json(c);
	lie_uses(c, ret);
}

static void lie_pdf(struct choices *c, struct ing_pdf *ret)
{
	static const char *const statuses[] = {ING_PDF_STATUSES};
	static const int pages[] = {0, 1, 2147483647};
	static const double points[] = {0, 612, 1e9};
	if (choose(c, 2) == 0)
		return;
	ret->status = ing_strdup(PICK(c, statuses));
	ret->error_msg = choose(c, 3) == 0 ? raw_text(c) : NULL;
	ret->text = choose(c, 3) == 0   ? NULL
		    : choose(c, 4) == 0 ? repeat("", "words ", 50000, "")
					: raw_text(c);
	ret->meta_xml = choose(c, 3) == 0 ? repeat("<x>", "y", 150000, "</x>") : raw_text(c);
	ret->info_json = lie_json(c);
	ret->page_count = PICK(c, pages);
	ret->page0_width = PICK(c, points);
	ret->page0_height = PICK(c, points);
	ret->created = choose(c, 2) == 0 ? NULL : ing_strdup("9999-99-99T99:99:99+99:99");
	ret->pdf_version = choose(c, 2) == 0 ? NULL : ing_strdup("....");
	ret->word_count = choose(c, 2) == 0 ? 0 : UINT32_MAX;
}

/* What comes out of the worker's end of an examiner's socket: what cannot be carried is a crash. */
static void lie(struct choices *c, const struct body *body, struct ing_findings *ret)
{
	struct ing_findings f;
	struct ing_buf b;
	ing_findings_init(&f);
	f.exam = (enum ing_exam)(choose(c, 8) == 7 ? choose(c, ING_EXAM_TIMEOUT + 1) : 0);
	f.detail = choose(c, 4) == 0 ? raw_text(c) : NULL;
	lie_file(c, body, &f.file);
	lie_page(c, &f.page);
	lie_pdf(c, &f.pdf);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&b, &f);
	ing_must(!b.failed);
	ing_findings_done(&f);
	if (ing_proto_get_reply(b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, ret) !=
		0) {
		ing_findings_init(ret);
		ret->exam = ING_EXAM_CRASH;
		ret->detail = ing_strdup("garbage");
	}
	ing_buf_done(&b);
}

/* --- the request --- */

static uv_loop_t loop;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;
static struct ing_rule_stats *rule_stats;

static void begin(void)
{
	static const char *const names[] = {"one", "two"};
	fake_reset();
	fake_gate_reset();
	ing_must(uv_loop_init(&loop) == 0);
	rule_stats = ing_rule_stats_new();
	ing_rule_stats_set_rules(rule_stats, RULES_DIGEST, names, ING_ARRAY_LEN(names));
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop,
		&(struct ing_visits_conf){.host_rules = FAKE_STAGE, .blocked_hosts = FAKE_STAGE});
	ing_visits_wire(visits, &(struct ing_visits_stages){.gate = FAKE_STAGE,
					.robots = FAKE_STAGE,
					.fetch = FAKE_STAGE,
					.archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(
		&loop, &(struct ing_pipeline_conf){.settings = {.max_waiting = 10,
							   .max_hops = MAX_HOPS,
							   .max_redirects = 2,
							   .deadline_ms = 3600000,
							   .max_scrape_bytes = 1000},
			       .max_unacked = 10,
			       .max_body_bytes = MAX_BODY_BYTES,
			       .rule_stats = rule_stats});
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver});
}

static void end(void)
{
	ing_must(ing_pipeline_idle(pipeline));
	ing_must(fake_gate.waiters.count + fake_gate.holding == 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	ing_rule_stats_free(rule_stats);
	uv_run(&loop, UV_RUN_DEFAULT);
	ing_must(uv_loop_close(&loop) == 0);
	fake_reset();
}

static void send_request(struct choices *c)
{
	static const char *const requests[] = {
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}",
		"{\"ingest_type\":\"html\",\"base_url\":\"https://a.example/\"}",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"expect_hash\":"
		"{\"sha1hex\":\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}}",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"expect_mimetypes\":"
		"[\"application/pdf\"]}",
	};
	const char *text = PICK(c, requests);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 1, .epoch = 1, .offset = 1},
			.value = text,
			.value_bytes = strlen(text),
			.topic = "requests",
			.lane = ING_LANE_REQUESTS});
}

/* The last body that was sent. */
static const struct body *answer_fetch(struct choices *c)
{
	static const int statuses[] = {200, 200, 200, 226, 403};
	const struct body *body = &PICK(c, bodies);
	fake_fetch_answer(&(struct fake_answer){.http_status = PICK(c, statuses),
		.body = body->bytes,
		.body_bytes = strlen(body->bytes),
		.content_type = "text/html",
		.content_encoding = body->content_encoding});
	return body;
}

static const char *text_at(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static bool is_status(const char *slug)
{
	for (int i = 0; i < ING_STATUS_COUNT_; i++) {
		if (strcmp(ing_status_slug((enum ing_status)i), slug) == 0)
			return true;
	}
	return false;
}

static void check_digests(const json_t *file, const struct body *body)
{
	struct ing_digests d;
	char hex[ING_SHA1_HEX_BYTES];
	json_int_t size = json_integer_value(json_object_get(file, "size_bytes"));
	ing_must(size > 0 && size <= MAX_BODY_BYTES);
	if (is_coded(body))
		return; /* then an examiner's word is all there is */
	ing_digest(ING_DIGEST_SHA1, body->bytes, strlen(body->bytes), &d);
	ing_hex_encode(d.sha1, sizeof(d.sha1), hex);
	ing_must(strcmp(text_at(file, "sha1hex"), hex) == 0);
	ing_must(size == (json_int_t)strlen(body->bytes));
}

static void check_result(const struct body *last)
{
	ing_must(fake.finished == 1 && fake.last_result != NULL);
	json_t *o = json_loads(fake.last_result, JSON_ALLOW_NUL, NULL);
	ing_must(json_is_object(o) && is_status(text_at(o, "status")));
	const json_t *file = json_object_get(o, "file_meta");
	bool hit = json_is_true(json_object_get(o, "hit"));
	ing_must(hit == (strcmp(text_at(o, "status"), "success") == 0));
	ing_must(!hit || file != NULL);
	if (file != NULL)
		check_digests(file, last);
	json_decref(o);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct choices c = {.at = data, .left = size};
	const struct body *last = NULL;
	unsigned fetches = 0;
	begin();
	send_request(&c);
	for (int step = 0; fake.finished == 0; step++) {
		ing_must(step < MAX_STEPS);
		if (fake_gate.waiters.count > 0)
			fake_gate_grant();
		if (fake.fetches.count > 0) {
			fetches++;
			last = answer_fetch(&c);
		}
		if (fake.exams.count > 0) {
			struct ing_findings f;
			lie(&c, last, &f);
			fake_exam_says(&f);
		}
		fake_settle();
		if (fake_gate.waiters.count == 0 && fake.finished == 0)
			fake_turn(&loop, 1);
	}
	/* Four tries of the last, and the landing pages. */
	ing_must(fetches <= 1 + MAX_HOPS + 4);
	check_result(last);
	end();
}
